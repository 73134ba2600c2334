package limiter_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

// RetryAfter is enough, and not more than it must be, for any history, window and number of buckets.
func TestRetryAfterIsEnoughAndNoMore(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		checkRetryAfter(t, random)
	}
}

func FuzzRetryAfter(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { checkRetryAfter(t, rand.New(rand.NewPCG(seed, 0))) })
}

func checkRetryAfter(t *testing.T, random *rand.Rand) {
	t.Helper()
	window := time.Duration(float64(time.Second) * pow10(random, 7)) // a second to four months
	limit := int64(pow10(random, 9))
	opts := limiter.Options{Buckets: 1 + random.IntN(40), MaxDenials: -1}
	store := memory.New(memory.Options{})
	defer store.Close()
	l := newLimiter(t, store, opts, limiter.Condition{Name: "a", Limit: limit, Window: window})
	now := at(random.Float64() * 2e9)
	for range random.IntN(8) {
		past := now.Add(-time.Duration(random.Float64() * 1.1 * float64(window)))
		require.NoError(t, l.AddAt(t.Context(), past, op("a", user1, int64(random.Float64()*float64(limit)))))
	}
	ask := op("a", user1, 1+int64(random.Float64()*float64(limit)))
	d, err := l.PeekAt(t.Context(), now, ask)
	require.NoError(t, err)
	wait := d.RetryAfter()
	if d.Allowed || ask.Amount > limit {
		require.Equal(t, d.Allowed, wait == 0)
		require.Equal(t, ask.Amount > limit, wait == limiter.Never)
		return
	}
	require.Positive(t, wait)
	after, err := l.PeekAt(t.Context(), now.Add(wait), ask)
	require.NoError(t, err)
	require.True(t, after.Allowed, "window %v, limit %d, %+v: %+v", window, limit, opts, d)
	before, err := l.PeekAt(t.Context(), now.Add(wait-max(1, wait/1_000_000)), ask)
	require.NoError(t, err)
	require.False(t, before.Allowed, "window %v, limit %d, %+v: %+v", window, limit, opts, d)
}

// pow10 returns a number from 1 to a power of ten, all orders of magnitude being as likely.
func pow10(random *rand.Rand, power int) float64 {
	x := 1 + 9*random.Float64()
	for range random.IntN(power) {
		x *= 10
	}
	return x
}
