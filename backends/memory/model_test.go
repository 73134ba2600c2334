package memory_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

// A model is what a store should be: a map.
type model map[string]struct {
	n    int64
	ends time.Time
}

// incr returns the sum of the deltas that do not fit, at most 2^63-1.
func (m model) incr(batch []wrstats.Increment) (lost int64) {
	for _, inc := range batch {
		c, ok := m[inc.Key]
		if !ok || !time.Now().Before(c.ends) {
			c.n, c.ends = 0, time.Now().Add(max(inc.TTL, time.Second))
		}
		if inc.Delta > math.MaxInt64-c.n {
			lost += min(inc.Delta, math.MaxInt64-lost)
		} else {
			c.n += inc.Delta
		}
		m[inc.Key] = c
	}
	return lost
}

func (m model) get(keys []string) []wrstats.Value {
	values := make([]wrstats.Value, len(keys))
	for i, key := range keys {
		if c, ok := m[key]; ok && time.Now().Before(c.ends) {
			values[i] = found(c.n)
		}
	}
	return values
}

// pool returns the keys of a run: of many heads and few tails, of few heads and many tails, and odd ones.
func pool() []string {
	keys := []string{"", ":", ":::::", "a", "a:b:c:d:e", "a:b:c:d:e:", "a:b:c:d:e::"}
	for i := range 40 {
		keys = append(keys,
			fmt.Sprintf("s:p:m::%d:x", i), fmt.Sprintf("s:p:m::7:filter:%d", i), fmt.Sprintf("odd-%d", i))
	}
	return keys
}

// run does random things to a store and to the model, and compares all keys after each.
func run(t *testing.T, seed uint64, steps int) {
	rnd := rand.New(rand.NewPCG(seed, 0))
	store, want, keys := open(t), model{}, pool()
	some := func() []string {
		keys := append([]string(nil), keys...)
		rnd.Shuffle(len(keys), func(i, k int) { keys[i], keys[k] = keys[k], keys[i] })
		return keys[:rnd.IntN(len(keys))]
	}
	for range steps {
		switch rnd.IntN(8) {
		case 0:
			time.Sleep(time.Duration(rnd.Int64N(int64(3 * time.Second))))
		case 1:
			gone := some()
			require.NoError(t, store.Delete(t.Context(), gone))
			for _, key := range gone {
				delete(want, key)
			}
		default:
			compareIncr(t, store, want, randomBatch(rnd, some()))
		}
		require.Equal(t, want.get(keys), get(t, store, keys...), "seed %d", seed)
	}
}

func randomBatch(rnd *rand.Rand, keys []string) []wrstats.Increment {
	batch := make([]wrstats.Increment, len(keys))
	for i := range batch {
		delta := rnd.Int64N(1000)
		if rnd.IntN(100) == 0 {
			delta = math.MaxInt64 - delta
		}
		ttl := time.Duration(rnd.Int64N(int64(6 * time.Second)))
		batch[i] = wrstats.Increment{Key: keys[rnd.IntN(i+1)], Delta: delta, TTL: ttl}
	}
	return batch
}

func compareIncr(t *testing.T, store wrstats.Store, want model, batch []wrstats.Increment) {
	t.Helper()
	receipt, err := store.Incr(t.Context(), batch)
	require.NoError(t, err)
	lost := want.incr(batch)
	if receipt == nil {
		require.Zero(t, lost)
		return
	}
	got, err := receipt.Wait(t.Context())
	require.Error(t, err)
	require.Equal(t, lost, got)
}

func TestBehavesAsAMap(t *testing.T) {
	for range 50 {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { run(t, seed, 200) })
		})
	}
}

func FuzzBehavesAsAMap(f *testing.F) {
	f.Add(uint64(1), uint8(50))
	f.Add(uint64(2), uint8(255))
	f.Fuzz(func(t *testing.T, seed uint64, steps uint8) {
		synctest.Test(t, func(t *testing.T) { run(t, seed, int(steps)) })
	})
}
