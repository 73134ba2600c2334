package limiter_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

// slow makes a store of which reads take a while, and which confirms what it is given, and has it, only
// after another while.
func slow(store *mapStore, read, apply time.Duration) {
	store.get = func(ctx context.Context, _ []string) error {
		select {
		case <-time.After(read):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	store.incr = func(_ context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
		r := &receipt{done: make(chan struct{})}
		batch = slices.Clone(batch)
		time.AfterFunc(apply, func() {
			store.apply(batch)
			close(r.done)
		})
		return r, nil
	}
}

func TestNoLimitIsOvershotWithinAProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, goroutines, tries = 100, 64, 5
		store := newMapStore()
		slow(store, 3*time.Millisecond, 7*time.Millisecond)
		l := newLimiter(t, store, limiter.Options{MaxDenials: -1}, perMinute("a", limit))
		var all sync.WaitGroup
		prevs := make(chan int64, goroutines*tries)
		for range goroutines {
			all.Go(func() {
				for range tries {
					d, err := l.Try(t.Context(), op("a", user1, 1))
					if err == nil && d.Allowed {
						prevs <- d.Ops[0].Prev
					}
				}
			})
		}
		all.Wait()
		synctest.Wait()
		close(prevs)
		var got []int64
		for prev := range prevs {
			got = append(got, prev)
		}
		slices.Sort(got)
		require.Len(t, got, limit)
		for i, prev := range got {
			require.EqualValues(t, i, prev, "each is told its own place")
		}
		require.EqualValues(t, limit, store.sum())
		reads := len(slices.DeleteFunc(store.calls(), func(c call) bool { return c.name != "get" }))
		require.LessOrEqual(t, reads, 2*tries+1, "those who wait share a read")
	})
}

func TestADecisionAfterAnotherKnowsOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMapStore()
		slow(store, time.Millisecond, 50*time.Millisecond)
		l := newLimiter(t, store, limiter.Options{}, perMinute("a", 10))
		require.NoError(t, l.Add(t.Context(), op("a", user1, 3)))
		for want := int64(3); want <= 10; want++ {
			d, err := l.Peek(t.Context(), op("a", user1, 1))
			require.NoError(t, err)
			require.Equal(t, want, d.Ops[0].Prev)
			ok, err := l.Allow(t.Context(), "a", user1)
			require.NoError(t, err)
			require.Equal(t, want < 10, ok)
		}
		require.NoError(t, l.Reset(t.Context(), "a", user1))
		d, err := l.Peek(t.Context(), op("a", user1, 1))
		require.NoError(t, err)
		require.EqualValues(t, 0, d.Ops[0].Prev)
	})
}

func TestEntitiesDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMapStore()
		store.get = func(ctx context.Context, keys []string) error {
			if slices.ContainsFunc(keys, contains("user:1")) {
				<-ctx.Done()
			}
			return ctx.Err()
		}
		l := newLimiter(t, store, limiter.Options{}, perMinute("a", 1))
		ctx, cancel := context.WithCancel(t.Context())
		var stuck sync.WaitGroup
		for range 3 {
			stuck.Go(func() { _, _ = l.Allow(ctx, "a", user1) })
		}
		synctest.Wait()
		began := time.Now()
		ok, err := l.Allow(t.Context(), "a", user2)
		require.NoError(t, err)
		require.True(t, ok)
		require.Zero(t, time.Since(began))
		cancel()
		stuck.Wait()
	})
}

func TestAFailureToCountIsOfThoseWhoAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMapStore()
		slow(store, time.Second, time.Second)
		first, take := true, store.incr
		store.incr = func(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
			if first { // which holds the counter while the others wait
				first = false
				return take(ctx, batch)
			}
			return nil, &wrstats.NotSentError{Batch: batch, Err: errDown}
		}
		l := newLimiter(t, store, limiter.Options{}, perMinute("a", 5))
		var all sync.WaitGroup
		var errs [3]error
		for i, amount := range []int64{5, 1} {
			all.Go(func() { _, errs[i] = l.Try(t.Context(), op("a", user1, amount)) })
			synctest.Wait()
		}
		all.Go(func() { errs[2] = l.Add(t.Context(), op("a", user1, 1)) })
		all.Wait()
		require.NoError(t, errs[0])
		require.NoError(t, errs[1], "it is denied")
		require.ErrorIs(t, errs[2], errDown)
	})
}

// Batches over counters that others hold in another order are what ends in deadlock, or in waiting for ever.
func TestBatchesThatShareCountersAllEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const goroutines, tries, limit = 50, 20, 120
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		store := newMapStore()
		slow(store, time.Millisecond, 2*time.Millisecond)
		conditions := []limiter.Condition{perMinute("a", limit), perMinute("b", limit), perMinute("c", limit)}
		l := newLimiter(t, store, limiter.Options{}, conditions...)
		granted := make([]map[[2]int]int64, goroutines)
		var all sync.WaitGroup
		for g := range goroutines {
			granted[g] = make(map[[2]int]int64)
			all.Go(func() {
				random := rand.New(rand.NewPCG(seed, uint64(g)))
				for range tries {
					var ops []limiter.Op
					var counters [][2]int
					for range 1 + random.IntN(4) {
						c := [2]int{random.IntN(3), random.IntN(5)}
						counters = append(counters, c)
						ops = append(ops, op(conditions[c[0]].Name, wrstats.Local(string(rune('0'+c[1]))), 1))
					}
					if d, err := l.Try(t.Context(), ops...); err == nil && d.Allowed {
						for _, c := range counters {
							granted[g][c]++
						}
					}
				}
			})
		}
		all.Wait()
		synctest.Wait()
		sums := make(map[[2]int]int64)
		full := 0
		for _, g := range granted {
			for c, n := range g {
				sums[c] += n
			}
		}
		for c, n := range sums {
			d, err := l.Peek(t.Context(), op(conditions[c[0]].Name, wrstats.Local(string(rune('0'+c[1]))), 0))
			require.NoError(t, err)
			require.Equal(t, n, d.Ops[0].Prev, c)
			require.LessOrEqual(t, n, int64(limit))
			if n == limit {
				full++
			}
		}
		require.NotZero(t, full, "the limits were reached")
	})
}

// A counter that all batches have is decided about in time, though each batch comes with another counter that
// is still being written.
func TestABatchIsNotOvertakenForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const requests = 500
		store := newMapStore()
		slow(store, time.Millisecond, 10*time.Millisecond)
		l := newLimiter(t, store, limiter.Options{}, perMinute("a", 1000), perMinute("b", 1000))
		waits := make([]time.Duration, requests)
		var all sync.WaitGroup
		for i := range requests {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 3 * time.Millisecond)
				user := wrstats.Local(strconv.Itoa(i))
				_, _ = l.Try(t.Context(), op("a", user, 1))
				asked := time.Now()
				_, _ = l.Try(t.Context(), op("a", user, 1), op("b", user1, 1))
				waits[i] = time.Since(asked)
			})
		}
		all.Wait()
		time.Sleep(time.Minute) // all is settled
		require.EqualValues(t, 3*requests, store.sum())
		require.Less(t, slices.Max(waits), 50*time.Millisecond, "a round takes 11 ms, and two may be ahead")
		require.Less(t, len(store.calls()), 3*requests, "those who wait are answered together")
	})
}

// Those who ask at different instants may share a round.
func TestInstantsFarApartShareARound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMapStore()
		slow(store, time.Second, time.Second)
		l := newLimiter(t, store, limiter.Options{}, perMinute("a", 2))
		instants := []float64{0, 1e9, 30, 59, 1e9 + 1, 100, 1e9 + 2, 31, 1e9 - 3}
		var all sync.WaitGroup
		var allowed [3]atomic.Int64
		for _, s := range instants {
			all.Go(func() {
				if d, err := l.TryAt(t.Context(), at(s), op("a", user1, 1)); err == nil && d.Allowed {
					allowed[int(min(s, 200)/100)].Add(1)
				}
			})
			synctest.Wait()
		}
		all.Wait()
		require.EqualValues(t, []int64{2, 1, 3}, []int64{allowed[0].Load(), allowed[1].Load(), allowed[2].Load()})
		time.Sleep(time.Minute) // all is settled
	})
}
