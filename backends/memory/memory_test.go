package memory_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/backends/storetest"
	"github.com/wrstats/go-wrstats/wrstats"
)

func open(testing.TB) wrstats.Store { return memory.New(memory.Options{}) }

func TestConformance(t *testing.T) {
	for _, rule := range storetest.Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { rule.Check(t, storetest.Suite{Open: open}) })
		})
	}
}

func BenchmarkStore(b *testing.B) { storetest.Benchmark(b, open) }

func TestEnds(t *testing.T) {
	const never = math.MaxInt64
	var neighbours []wrstats.Increment // that live on, so that no sweep hides what is dead
	for i := range 4000 {
		neighbours = append(neighbours, wrstats.Increment{Key: fmt.Sprint(i), TTL: never})
	}
	for _, c := range []struct {
		rule  string
		ttl   time.Duration
		after time.Duration
		found bool
	}{
		{"alive until the instant of its end", 3 * time.Second, 3*time.Second - 1, true},
		{"gone at the instant of its end", 3 * time.Second, 3 * time.Second, false},
		{"below a second: alive for a second", time.Nanosecond, time.Second - 1, true},
		{"below a second: gone after a second", time.Nanosecond, time.Second, false},
		{"zero counts as a second", 0, time.Second - 1, true},
		{"zero ends", 0, time.Second, false},
		{"negative counts as a second", -time.Hour, time.Second - 1, true},
		{"negative ends", -time.Hour, time.Second, false},
		{"a year is a year", 365 * 24 * time.Hour, 365*24*time.Hour - 1, true},
		{"the longest does not overflow", never, 100 * 365 * 24 * time.Hour, true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := open(t)
				time.Sleep(time.Second) // so that now is not 0
				incr(t, store, neighbours...)
				a := wrstats.Increment{Key: "a", Delta: 5, TTL: c.ttl}
				incr(t, store, a)
				time.Sleep(c.after)
				require.Equal(t, c.found, get(t, store, "a")[0].Found)
				incr(t, store, a)
				require.Equal(t, found(map[bool]int64{true: 10, false: 5}[c.found]), get(t, store, "a")[0])
			})
		})
	}
}

func TestLaterWritesDoNotRenewAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := open(t)
		for range 3600 {
			incr(t, store, wrstats.Increment{Key: "a", Delta: 1, TTL: time.Hour})
			time.Sleep(time.Second)
		}
		require.Equal(t, wrstats.Value{}, get(t, store, "a")[0])
		incr(t, store, wrstats.Increment{Key: "a", Delta: 1, TTL: time.Hour})
		require.Equal(t, found(1), get(t, store, "a")[0])
	})
}

func TestRefusedIncrements(t *testing.T) {
	const most = math.MaxInt64
	for _, c := range []struct {
		rule   string
		deltas []int64 // of one key, in one batch
		want   wrstats.Value
		lost   int64
		err    error
	}{
		{"2^63-1 is held", []int64{most}, found(most), 0, nil},
		{"2^63-1 plus 0", []int64{most, 0}, found(most), 0, nil},
		{"2^63-1 plus 1 is no wrap", []int64{most, 1}, found(most), 1, memory.ErrOverflow},
		{"what still fits counts", []int64{most - 5, 6, 5}, found(most), 6, memory.ErrOverflow},
		{"lost stops at 2^63-1", []int64{most, most, most}, found(most), most, memory.ErrOverflow},
		{"negative creates nothing", []int64{-1}, wrstats.Value{}, 0, memory.ErrNegative},
		{"negative changes nothing", []int64{5, math.MinInt64, -5}, found(5), 0, memory.ErrNegative},
		{"the first reason is told", []int64{most, 1, -1}, found(most), 1, memory.ErrOverflow},
		{"2^32+1 on any platform", []int64{1<<32 + 1}, found(4294967297), 0, nil},
	} {
		t.Run(c.rule, func(t *testing.T) {
			store, batch := open(t), []wrstats.Increment(nil)
			for _, delta := range c.deltas {
				batch = append(batch, wrstats.Increment{Key: "a", Delta: delta, TTL: time.Hour})
			}
			batch = append(batch, wrstats.Increment{Key: "b", Delta: 3, TTL: time.Hour})
			receipt, err := store.Incr(t.Context(), batch)
			require.NoError(t, err)
			require.Equal(t, []wrstats.Value{c.want, found(3)}, get(t, store, "a", "b"))
			if c.err == nil {
				require.Nil(t, receipt)
				return
			}
			lost, err := receipt.Wait(t.Context())
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.lost, lost)
		})
	}
}

func TestKeysAreExact(t *testing.T) {
	store, keys := open(t), []string{
		"", ":", "::", ":::", "::::", ":::::", "::::::", "a", "a:", ":a", "a:b:c:d", "a:b:c:d:", "a:b:c:d:e",
		"a:b:c:d:e:", "a:b:c:d:e:f", "a:b:c:d:e:f:", "a:b:c:d:e:f:g", "a:b:c:d::e:f", "a:b:c::d:e:f", ":a:b:c:d:e:f",
		"a:b:c:d:ef", "\x00", "a\r\nb", "\xff\xfe", strings.Repeat("k", 127), strings.Repeat("k", 128),
		strings.Repeat("k", 1<<20), strings.Repeat(":", 1000), "a:b:c:d:e:" + strings.Repeat("f", 300),
	}
	for i, key := range keys {
		incr(t, store, wrstats.Increment{Key: key, Delta: int64(i), TTL: time.Hour})
	}
	for i, value := range get(t, store, keys...) {
		require.Equal(t, found(int64(i)), value, "%q", keys[i])
	}
}

func TestIncrOfAStoreThatDoesNotTakeIt(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	closed := open(t)
	require.NoError(t, closed.Close())
	for _, c := range []struct {
		rule  string
		ctx   context.Context
		store wrstats.Store
		err   error
	}{
		{"context done", done, open(t), context.Canceled},
		{"closed", t.Context(), closed, wrstats.ErrClosed},
	} {
		t.Run(c.rule, func(t *testing.T) {
			batch := []wrstats.Increment{{Key: "a", Delta: 1}, {Key: "b", Delta: 2}}
			receipt, err := c.store.Incr(c.ctx, batch)
			require.Nil(t, receipt)
			require.ErrorIs(t, err, c.err)
			unsent := new(wrstats.NotSentError)
			require.ErrorAs(t, err, &unsent)
			require.Equal(t, batch, unsent.Batch)
		})
	}
}

func TestCountsAreExactUnderConcurrency(t *testing.T) {
	const writers, rounds = 8, 200
	store, keys := open(t), profile(500)
	var group sync.WaitGroup
	errs := make([]error, 2*writers)
	for i := range writers {
		group.Go(func() {
			for range rounds {
				_, err := store.Incr(context.Background(), increments(keys))
				errs[i] = cmp.Or(errs[i], err)
			}
		})
		group.Go(func() {
			for range rounds {
				_, err := store.Get(context.Background(), keys)
				errs[writers+i] = cmp.Or(errs[writers+i], err)
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	for _, value := range get(t, store, keys...) {
		require.Equal(t, found(writers*rounds), value)
	}
}

func incr(t testing.TB, store wrstats.Store, batch ...wrstats.Increment) {
	t.Helper()
	receipt, err := store.Incr(context.Background(), batch)
	require.NoError(t, err)
	require.Nil(t, receipt)
}

func get(t testing.TB, store wrstats.Store, keys ...string) []wrstats.Value {
	t.Helper()
	values, err := store.Get(context.Background(), keys)
	require.NoError(t, err)
	return values
}

func found(n int64) wrstats.Value { return wrstats.Value{N: n, Found: true} }

// A closing context is one during whose check the store is closed.
type closing struct {
	context.Context
	store wrstats.Store
}

func (c closing) Err() error { return c.store.Close() }

func TestCloseInTheMiddleOfACall(t *testing.T) {
	store := open(t)
	receipt, err := store.Incr(closing{t.Context(), store}, []wrstats.Increment{{Key: "a", Delta: 2}, {Key: "b", Delta: 3}})
	require.NoError(t, err)
	lost, err := receipt.Wait(t.Context())
	require.ErrorIs(t, err, wrstats.ErrClosed)
	require.EqualValues(t, 5, lost)
	store = open(t)
	incr(t, store, wrstats.Increment{Key: "a", Delta: 2})
	values, err := store.Get(closing{t.Context(), store}, []string{"a"})
	require.ErrorIs(t, err, wrstats.ErrClosed)
	require.Nil(t, values)
}

func TestKeysThatAreHeldAreMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(memory.Options{})
		keys := func() float64 {
			measures := store.Measures()
			require.Len(t, measures, 1)
			require.Equal(t, "memory_keys", measures[0].Name)
			return measures[0].Values[0].Value
		}
		require.Zero(t, keys())
		for i := range 1000 {
			incr(t, store, wrstats.Increment{Key: fmt.Sprint("key", i), Delta: 1, TTL: time.Minute})
		}
		require.Equal(t, 1000.0, keys())
		require.NoError(t, store.Delete(t.Context(), []string{"key1", "key2", "other"}))
		require.Equal(t, 998.0, keys())
		time.Sleep(time.Hour)
		get(t, store, "key1") // which frees
		require.Zero(t, keys())
		incr(t, store, wrstats.Increment{Key: "a", Delta: 1, TTL: time.Minute})
		require.NoError(t, store.Close())
		require.Zero(t, keys())
	})
}
