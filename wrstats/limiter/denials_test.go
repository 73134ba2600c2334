package limiter_test

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

func TestAKnownDenialAsksNothing(t *testing.T) {
	store := newMapStore()
	l := newLimiter(t, store, limiter.Options{}, perMinute("a", 3))
	try := func(seconds float64, amount int64) limiter.Decision {
		t.Helper()
		d, err := l.TryAt(t.Context(), at(seconds), op("a", user1, amount))
		require.NoError(t, err)
		return d
	}
	require.True(t, try(0, 3).Allowed)
	first := try(0, 1)
	require.False(t, first.Allowed)
	store.forget()

	require.Equal(t, first, try(0, 1))
	later := try(30, 1)
	require.Equal(t, first.RetryAfter()-30*time.Second, later.RetryAfter())
	require.False(t, try(30, 2).Allowed)
	require.Empty(t, store.calls())

	require.True(t, try(30, 0).Allowed, "a smaller amount is not known to be denied")
	require.Len(t, store.calls(), 1)
	store.forget()
	now := at(0).Add(first.RetryAfter())
	d, err := l.TryAt(t.Context(), now.Add(-1), op("a", user1, 1))
	require.NoError(t, err)
	require.False(t, d.Allowed)
	require.Empty(t, store.calls())
	d, err = l.TryAt(t.Context(), now, op("a", user1, 1))
	require.NoError(t, err)
	require.True(t, d.Allowed)
	require.Equal(t, []call{{"get", 31}, {"incr", 1}}, store.calls())
}

func TestAKnownDenialOfABatchDeniesIt(t *testing.T) {
	store := newMapStore()
	l := newLimiter(t, store, limiter.Options{}, perMinute("a", 1), perMinute("b", 5))
	now := at(0)
	require.NoError(t, l.AddAt(t.Context(), now, op("a", user1, 1), op("b", user2, 2)))
	batch := []limiter.Op{op("b", user2, 1), op("a", user1, 1)}
	d, err := l.TryAt(t.Context(), now, batch...)
	require.NoError(t, err)
	require.EqualValues(t, 2, d.Ops[0].Prev)
	require.False(t, d.Ops[0].Unread)
	store.forget()
	d, err = l.TryAt(t.Context(), now, batch...)
	require.NoError(t, err)
	require.False(t, d.Allowed)
	require.Equal(t, []bool{true, false}, allowed(d))
	require.Equal(t, limiter.OpDecision{Op: batch[0], Limit: 5, Prev: 2, New: 3, Allowed: true}, d.Ops[0])
	require.False(t, d.Ops[1].Unread)
	require.Empty(t, store.calls())
}

// How long a batch is denied is only known when all of it is.
func TestAKnownDenialOfOneOpDoesNotSayHowLongABatchIsDenied(t *testing.T) {
	store := newMapStore()
	l := newLimiter(t, store, limiter.Options{}, perMinute("short", 1), limiter.Condition{Name: "long", Limit: 1, Window: time.Hour})
	now := at(0)
	both := []limiter.Op{op("short", user1, 1), op("long", user1, 1)}
	try := func(ops ...limiter.Op) limiter.Decision {
		d, err := l.TryAt(t.Context(), now, ops...)
		require.NoError(t, err)
		return d
	}
	require.True(t, try(both...).Allowed)
	require.Less(t, try(both[:1]...).RetryAfter(), time.Hour)
	for range 2 { // read, and remembered
		d := try(both...)
		require.False(t, d.Allowed)
		require.Greater(t, d.RetryAfter(), time.Hour)
		require.Equal(t, []bool{false, false}, allowed(d))
		store.forget()
	}
	try(both...)
	require.Empty(t, store.calls())
	wait := try(both...).RetryAfter()
	now = now.Add(wait - 1)
	require.False(t, try(both...).Allowed)
	now = now.Add(1)
	require.True(t, try(both...).Allowed)
}

func TestDenialsAreNotRememberedByOption(t *testing.T) {
	store := newMapStore()
	l := newLimiter(t, store, limiter.Options{MaxDenials: -1}, perMinute("a", 0))
	for range 3 {
		ok, err := l.Allow(t.Context(), "a", user1)
		require.NoError(t, err)
		require.False(t, ok)
	}
	require.Len(t, store.calls(), 3)
}

func TestPeekAlwaysAsks(t *testing.T) {
	store := newMapStore()
	l := newLimiter(t, store, limiter.Options{}, perMinute("a", 0))
	for range 3 {
		d, err := l.Peek(t.Context(), op("a", user1, 1))
		require.NoError(t, err)
		require.False(t, d.Allowed)
	}
	require.Len(t, store.calls(), 3)
}

func TestADenialThatIsKnownIsKeptWithoutForgettingOthers(t *testing.T) {
	store := newMapStore()
	l := newLimiter(t, store, limiter.Options{MaxDenials: 2}, perMinute("a", 0))
	for _, e := range []wrstats.Entity{user1, user2, user2, user2} {
		_, err := l.PeekAt(t.Context(), at(0), op("a", e, 1))
		require.NoError(t, err)
	}
	store.forget()
	for _, e := range []wrstats.Entity{user1, user2} {
		_, err := l.TryAt(t.Context(), at(0), op("a", e, 1))
		require.NoError(t, err)
	}
	require.Empty(t, store.calls())
}

// What the process itself does to a counter is known to it.
func TestADenialIsForgottenWhenTheCounterChanges(t *testing.T) {
	for _, c := range []struct {
		rule   string
		change func(l *limiter.Limiter) error
		prev   int64
	}{
		{"by Add", func(l *limiter.Limiter) error { return l.AddAt(t.Context(), at(0), op("a", user1, 4)) }, 7},
		{"by Reset", func(l *limiter.Limiter) error { return l.ResetAt(t.Context(), at(0), "a", user1) }, 0},
		{"by a smaller amount", func(l *limiter.Limiter) error {
			_, err := l.TryAt(t.Context(), at(0), op("a", user1, 1))
			return err
		}, 4},
	} {
		t.Run(c.rule, func(t *testing.T) {
			l := newLimiter(t, newMapStore(), limiter.Options{}, perMinute("a", 5))
			require.NoError(t, l.AddAt(t.Context(), at(0), op("a", user1, 3)))
			d, err := l.TryAt(t.Context(), at(0), op("a", user1, 5))
			require.NoError(t, err)
			require.False(t, d.Allowed)
			require.NoError(t, c.change(l))
			d, err = l.TryAt(t.Context(), at(0), op("a", user1, 5))
			require.NoError(t, err)
			require.Equal(t, c.prev, d.Ops[0].Prev)
		})
	}
}

// What was denied only on account of what the store did not take, or lost, is not denied for longer.
func TestADenialByWhatIsNotStoredIsNotRemembered(t *testing.T) {
	for rule, outcome := range map[string]func([]wrstats.Increment) (wrstats.Receipt, error){
		"not sent": func(batch []wrstats.Increment) (wrstats.Receipt, error) {
			return nil, &wrstats.NotSentError{Batch: batch, Err: errDown}
		},
		"lost": func([]wrstats.Increment) (wrstats.Receipt, error) {
			lost := &receipt{done: make(chan struct{}), lost: 6}
			time.AfterFunc(time.Second, func() { close(lost.done) })
			return lost, nil
		},
	} {
		t.Run(rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newMapStore()
				slow(store, time.Second, time.Second)
				l := newLimiter(t, store, limiter.Options{}, perMinute("a", 10))
				try := func(amount int64) limiter.Decision {
					d, _ := l.TryAt(t.Context(), at(0), op("a", user1, amount))
					return d
				}
				var all sync.WaitGroup
				all.Go(func() { try(0) }) // which holds the counter while the others come
				synctest.Wait()
				take := store.incr
				store.incr = func(_ context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) { return outcome(batch) }
				var denied limiter.Decision
				all.Go(func() { try(6) })
				synctest.Wait()
				all.Go(func() { denied = try(6) })
				all.Wait()
				require.False(t, denied.Ops[0].Allowed, "the other was judged before")
				time.Sleep(time.Minute)
				store.incr = take
				require.True(t, try(6).Allowed)
				time.Sleep(time.Minute) // all is settled
			})
		})
	}
}

func TestARaisedLimitIsNotDeniedByWhatALowerOneRemembers(t *testing.T) {
	store := newMapStore()
	lower := newLimiter(t, store, limiter.Options{}, perMinute("a", 1))
	for range 2 {
		_, err := lower.Allow(t.Context(), "a", user1)
		require.NoError(t, err)
	}
	higher := newLimiter(t, store, limiter.Options{}, perMinute("a", 2))
	d, err := higher.Try(t.Context(), op("a", user1, 1))
	require.NoError(t, err)
	require.True(t, d.Allowed)
	require.EqualValues(t, 1, d.Ops[0].Prev, "the counter is the same")
}

func TestMemoryOfDenialsIsBounded(t *testing.T) {
	const bound = 100
	store := newMapStore()
	l := newLimiter(t, store, limiter.Options{MaxDenials: bound}, perMinute("a", 0))
	deny := func(i int) {
		d, err := l.TryAt(t.Context(), at(0), op("a", wrstats.Local(strconv.Itoa(i)), 1))
		require.NoError(t, err)
		require.False(t, d.Allowed)
	}
	before := heap()
	for i := range 20_000 {
		deny(i)
	}
	store.forget()
	left := heap() - before
	require.Less(t, left, int64(1<<20), "all of them are 8 MB")
	store.forget()
	for i := range 20_000 {
		deny(i)
	}
	require.InDelta(t, 20_000-bound, len(store.calls()), bound, "some are known")
	runtime.KeepAlive(l)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
