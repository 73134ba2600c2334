package limiter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

var errDown = errors.New("the server is down")

func contains(part string) func(string) bool {
	return func(s string) bool { return strings.Contains(s, part) }
}

func TestWhenTheStoreFails(t *testing.T) {
	for _, c := range []struct {
		rule  string
		opts  limiter.Options
		allow bool
	}{
		{"the default denies", limiter.Options{}, false},
		{"FailOpen allows", limiter.Options{FailOpen: true}, true},
		{"Shadow allows", limiter.Options{Shadow: true}, true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			var heard []error
			c.opts.OnError = func(err error) { heard = append(heard, err) }
			c.opts.OnDenied = func(limiter.Decision) { t.Error("nothing is over its limit") }
			store := newMapStore()
			store.get = func(context.Context, []string) error { return errDown }
			l := newLimiter(t, store, c.opts, perMinute("a", 3))
			d, err := l.Try(t.Context(), op("a", user1, 1))
			require.ErrorIs(t, err, errDown)
			require.EqualError(t, err, "limiter: read: the server is down")
			require.Equal(t, []error{err}, heard)
			require.Equal(t, c.allow, d.Allowed)
			require.Equal(t, []limiter.OpDecision{{Op: op("a", user1, 1), Limit: 3, Allowed: c.opts.FailOpen, Unread: true}}, d.Ops)
			require.Empty(t, store.stored(), "nothing is counted")

			require.NoError(t, l.Add(t.Context(), op("a", user1, 2)), "Add does not read")
			store.get = nil
			d, err = l.Try(t.Context(), op("a", user1, 1))
			require.NoError(t, err)
			require.True(t, d.Allowed)
			require.EqualValues(t, 2, d.Ops[0].Prev)
		})
	}
}

func TestWhenTheStoreDoesNotTakeWhatIsCounted(t *testing.T) {
	for _, open := range []bool{false, true} {
		t.Run(fmt.Sprintf("FailOpen=%v", open), func(t *testing.T) {
			var heard []error
			store := newMapStore()
			store.incr = func(_ context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
				return nil, &wrstats.NotSentError{Batch: batch, Err: errDown}
			}
			l := newLimiter(t, store, limiter.Options{FailOpen: open, OnError: func(err error) { heard = append(heard, err) }}, perMinute("a", 3))
			d, err := l.Try(t.Context(), op("a", user1, 1))
			require.ErrorIs(t, err, errDown)
			require.ErrorContains(t, err, "limiter: count: ")
			require.Equal(t, []error{err}, heard)
			require.Equal(t, open, d.Allowed)
			require.True(t, d.Ops[0].Allowed, "it is within its limit")
			require.ErrorIs(t, l.Add(t.Context(), op("a", user1, 1)), errDown)
			d, err = l.Try(t.Context(), op("a", user1, 0))
			require.NoError(t, err, "there is nothing to count")
			require.True(t, d.Allowed)
		})
	}
}

func TestWhenSomeServersFail(t *testing.T) {
	partial := fmt.Errorf("one of them: %w", wrstats.ErrPartial)
	for _, open := range []bool{false, true} {
		t.Run(fmt.Sprintf("FailOpen=%v", open), func(t *testing.T) {
			store := newMapStore()
			l := newLimiter(t, store, limiter.Options{FailOpen: open, MaxDenials: -1}, perMinute("a", 3))
			require.NoError(t, l.Add(t.Context(), op("a", user1, 2)))
			store.get = func(context.Context, []string) error { return partial }

			d, err := l.Try(t.Context(), op("a", user1, 1))
			require.ErrorIs(t, err, wrstats.ErrPartial)
			require.Equal(t, open, d.Allowed, "there may be more than was found")
			require.EqualValues(t, 2, d.Ops[0].Prev)
			require.True(t, d.Ops[0].Allowed)
			require.EqualValues(t, map[bool]int64{false: 2, true: 3}[open], store.sum())

			d, err = l.Try(t.Context(), op("a", user1, 2))
			require.ErrorIs(t, err, wrstats.ErrPartial)
			require.False(t, d.Allowed, "what was found is enough to deny")
			require.False(t, d.Ops[0].Allowed)
			require.Positive(t, d.RetryAfter())
		})
	}
}

func TestAStoreThatGivesTheWrongNumberOfValuesFails(t *testing.T) {
	l := newLimiter(t, oneValue{newMapStore()}, limiter.Options{}, perMinute("a", 3))
	d, err := l.Try(t.Context(), op("a", user1, 1))
	require.EqualError(t, err, "limiter: read: the store gave 1 values for 31 keys")
	require.False(t, d.Allowed)
}

type oneValue struct{ *mapStore }

func (oneValue) Get(context.Context, []string) ([]wrstats.Value, error) {
	return make([]wrstats.Value, 1), nil
}

func TestResetTellsOfAFailure(t *testing.T) {
	store := newMapStore()
	store.deletes = errDown
	l := newLimiter(t, store, limiter.Options{}, perMinute("a", 3))
	require.EqualError(t, l.Reset(t.Context(), "a", user1), "limiter: reset: the server is down")
}

func TestWhatIsLostOnItsWayIsHeardOf(t *testing.T) {
	for _, c := range []struct {
		reason error // of the store
		heard  string
	}{
		{errDown, "limiter: of what was counted, 2 may be lost: the server is down"},
		{nil, "limiter: of what was counted, 2 may be lost"},
	} {
		synctest.Test(t, func(t *testing.T) {
			heard := make(chan error, 10)
			store := newMapStore()
			sent := &receipt{done: make(chan struct{}), lost: 2, err: c.reason}
			store.incr = func(context.Context, []wrstats.Increment) (wrstats.Receipt, error) { return sent, nil }
			l := newLimiter(t, store, limiter.Options{OnError: func(err error) { heard <- err }}, perMinute("a", 3))
			d, err := l.Try(t.Context(), op("a", user1, 2))
			require.NoError(t, err)
			require.True(t, d.Allowed)
			require.Empty(t, heard)
			close(sent.done)
			err = <-heard
			require.EqualError(t, err, c.heard)
			require.Equal(t, c.reason != nil, errors.Is(err, errDown))
		})
	}
}

func TestAReceiptThatNeverComesHoldsACounterUpForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var heard []error
		store := newMapStore()
		store.incr = func(context.Context, []wrstats.Increment) (wrstats.Receipt, error) {
			return &receipt{done: make(chan struct{}), lost: 1}, nil
		}
		l := newLimiter(t, store, limiter.Options{OnError: func(err error) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, err)
		}}, perMinute("a", 3))
		for range 2 {
			ok, err := l.Allow(t.Context(), "a", user1)
			require.NoError(t, err)
			require.True(t, ok)
		}
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		require.Len(t, heard, 2)
		require.ErrorIs(t, heard[0], context.DeadlineExceeded)
	})
}

func TestShadowDecidesAndAllows(t *testing.T) {
	var denials []limiter.Decision
	store := newMapStore()
	l := newLimiter(t, store, limiter.Options{Shadow: true, OnDenied: func(d limiter.Decision) { denials = append(denials, d) }}, perMinute("a", 2))
	for i := range int64(5) {
		d, err := l.TryAt(t.Context(), at(0), op("a", user1, 1))
		require.NoError(t, err)
		require.True(t, d.Allowed)
		require.Equal(t, i < 2, d.Ops[0].Allowed)
		require.Equal(t, min(i, 2), d.Ops[0].Prev, "as if it were denied")
	}
	require.Len(t, denials, 3)
	require.True(t, denials[0].Allowed)
	require.False(t, denials[0].Ops[0].Allowed)
	require.Equal(t, int64(2), store.sum())
}

func TestOnDeniedHearsOfEachDenial(t *testing.T) {
	var denials []limiter.Decision
	l := newLimiter(t, newMapStore(), limiter.Options{OnDenied: func(d limiter.Decision) { denials = append(denials, d) }}, perMinute("a", 1))
	for range 3 {
		d, err := l.TryAt(t.Context(), at(0), op("a", user1, 1), op("a", user2, 0))
		require.NoError(t, err)
		if !d.Allowed {
			require.Equal(t, d, denials[len(denials)-1])
		}
	}
	require.Len(t, denials, 2)
}
