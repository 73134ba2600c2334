package limiter_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

var (
	user1 = wrstats.Local("user", "1")
	user2 = wrstats.Local("user", "2")
	ip    = wrstats.Global("ip", "192.0.2.7")
)

// at returns an instant in Unix seconds.
func at(seconds float64) time.Time { return time.Unix(0, int64(seconds*1e9)) }

// perMinute is a condition of that name.
func perMinute(name string, limit int64) limiter.Condition {
	return limiter.Condition{Name: name, Limit: limit, Window: time.Minute}
}

func op(condition string, e wrstats.Entity, amount int64) limiter.Op {
	return limiter.Op{Condition: condition, Entity: e, Amount: amount}
}

func newLimiter(t *testing.T, store wrstats.Store, opts limiter.Options, conditions ...limiter.Condition) *limiter.Limiter {
	t.Helper()
	l, err := limiter.New(store, conditions, opts)
	require.NoError(t, err)
	return l
}

func TestOpsThatAreWrongDecideNothing(t *testing.T) {
	store := newMapStore()
	l := newLimiter(t, store, limiter.Options{FailOpen: true, Shadow: true}, perMinute("a", 1))
	for _, c := range []struct {
		rule string
		op   limiter.Op
		err  error
	}{
		{"a condition that is not there", op("b", user1, 1), limiter.ErrUnknownCondition},
		{"a negative amount", op("a", user1, -1), limiter.ErrInvalidAmount},
		{"an amount over 2^53", op("a", user1, limiter.MaxAmount+1), limiter.ErrInvalidAmount},
	} {
		t.Run(c.rule, func(t *testing.T) {
			ops := []limiter.Op{op("a", user2, 1), c.op}
			for _, ask := range []func(context.Context, ...limiter.Op) (limiter.Decision, error){l.Try, l.Peek} {
				d, err := ask(t.Context(), ops...)
				require.ErrorIs(t, err, c.err)
				require.Zero(t, d)
			}
			require.ErrorIs(t, l.Add(t.Context(), ops...), c.err)
		})
	}
	require.ErrorIs(t, l.Reset(t.Context(), "b", user1), limiter.ErrUnknownCondition)
	_, err := l.Allow(t.Context(), "b", user1)
	require.ErrorIs(t, err, limiter.ErrUnknownCondition)
	require.Empty(t, store.calls())
}

func TestABatchWithoutOpsIsAllowed(t *testing.T) {
	store := newMapStore()
	l := newLimiter(t, store, limiter.Options{}, perMinute("a", 0))
	d, err := l.Try(t.Context())
	require.NoError(t, err)
	require.True(t, d.Allowed)
	require.Empty(t, d.Ops)
	require.NoError(t, l.Add(t.Context()))
	require.Empty(t, store.calls())
}

// A step asks at an instant, and says what is to be answered.
type step struct {
	at      float64
	amount  int64
	allowed bool
	prev    int64
	retry   time.Duration
}

func TestAWindowRolls(t *testing.T) {
	for _, c := range []struct {
		rule    string
		limit   int64
		buckets int
		steps   []step
	}{
		{"up to the limit, and then again as the oldest slides out", 3, 6, []step{
			{at: 100, amount: 1, allowed: true, prev: 0},
			{at: 110, amount: 1, allowed: true, prev: 1},
			{at: 120, amount: 1, allowed: true, prev: 2},
			{at: 120, amount: 1, prev: 3, retry: 45*time.Second + 1}, // half of the bucket from 100 to 110 is 1, rounded
			{at: 165, amount: 1, prev: 3, retry: 1},
			{at: 165.000000001, amount: 1, allowed: true, prev: 2},
		}},
		{"an amount of several waits for several", 10, 6, []step{
			{at: 0, amount: 5, allowed: true, prev: 0},
			{at: 30, amount: 5, allowed: true, prev: 5},
			{at: 31, amount: 6, prev: 10, retry: 60*time.Second + 1}, // the first 5 are gone, and less than 9/10 of the others are left
		}},
		{"0 checks", 3, 6, []step{
			{at: 0, amount: 3, allowed: true, prev: 0},
			{at: 0, amount: 0, allowed: true, prev: 3},
			{at: 0, amount: 1, prev: 3, retry: 61666666667},
			{at: 0, amount: 0, allowed: true, prev: 3},
		}},
		{"a limit of 0 denies all, for ever", 0, 6, []step{
			{at: 0, amount: 1, prev: 0, retry: limiter.Never},
			{at: 0, amount: 0, allowed: true, prev: 0},
		}},
		{"what is over the limit by itself is never allowed", 3, 6, []step{
			{at: 0, amount: 4, prev: 0, retry: limiter.Never},
			{at: 0, amount: 1, allowed: true, prev: 0},
			{at: 0, amount: limiter.MaxAmount, prev: 1, retry: limiter.Never},
		}},
		{"one bucket", 2, 1, []step{
			{at: 0, amount: 2, allowed: true, prev: 0},
			{at: 30, amount: 1, prev: 2, retry: 45*time.Second + 1},
			{at: 119, amount: 2, allowed: true, prev: 0},
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			l := newLimiter(t, newMapStore(), limiter.Options{Buckets: c.buckets}, perMinute("a", c.limit))
			for i, s := range c.steps {
				d, err := l.TryAt(t.Context(), at(s.at), op("a", user1, s.amount))
				require.NoError(t, err)
				want := limiter.OpDecision{
					Op: op("a", user1, s.amount), Limit: c.limit, Prev: s.prev, New: s.prev + s.amount, Allowed: s.allowed, RetryAfter: s.retry,
				}
				require.Equal(t, limiter.Decision{Allowed: s.allowed, Ops: []limiter.OpDecision{want}}, d, "step %d", i)
			}
		})
	}
}

func TestABatchIsAllOrNothing(t *testing.T) {
	store := newMapStore()
	l := newLimiter(t, store, limiter.Options{}, perMinute("edit", 10), perMinute("links", 100))
	now := at(1000)
	require.NoError(t, l.AddAt(t.Context(), now, op("edit", user1, 10)))
	store.forget()

	d, err := l.TryAt(t.Context(), now, op("edit", user2, 1), op("edit", user1, 1), op("links", user1, 7))
	require.NoError(t, err)
	require.False(t, d.Allowed)
	require.Equal(t, []bool{true, false, true}, allowed(d))
	require.Equal(t, []call{{name: "get", n: 3 * 31}}, store.calls(), "one read, and nothing counted")

	d, err = l.TryAt(t.Context(), now, op("edit", user2, 4), op("links", user2, 50), op("edit", user2, 6), op("edit", ip, 10))
	require.NoError(t, err)
	require.True(t, d.Allowed)
	require.Equal(t, []int64{10, 50, 10, 10}, news(d), "amounts of one condition and entity add up")

	d, err = l.TryAt(t.Context(), now, op("links", user2, 1), op("links", user2, 50))
	require.NoError(t, err)
	require.False(t, d.Allowed)
	require.Equal(t, []bool{false, false}, allowed(d))
	require.Equal(t, []int64{101, 101}, news(d))
}

func allowed(d limiter.Decision) (all []bool) {
	for _, o := range d.Ops {
		all = append(all, o.Allowed)
	}
	return all
}

func news(d limiter.Decision) (all []int64) {
	for _, o := range d.Ops {
		all = append(all, o.New)
	}
	return all
}

func TestPeekCountsNothing(t *testing.T) {
	store := newMapStore()
	l := newLimiter(t, store, limiter.Options{}, perMinute("a", 2))
	for range 3 {
		d, err := l.Peek(t.Context(), op("a", user1, 2))
		require.NoError(t, err)
		require.True(t, d.Allowed)
		require.EqualValues(t, 0, d.Ops[0].Prev)
	}
	require.Empty(t, store.stored())
}

func TestResetForgets(t *testing.T) {
	store := newMapStore()
	l := newLimiter(t, store, limiter.Options{}, perMinute("a", 1), perMinute("b", 1))
	for _, e := range []wrstats.Entity{user1, user2} {
		ok, err := l.Allow(t.Context(), "a", e)
		require.NoError(t, err)
		require.True(t, ok)
		ok, err = l.Allow(t.Context(), "a", e)
		require.NoError(t, err)
		require.False(t, ok)
	}
	require.NoError(t, l.Reset(t.Context(), "a", user1))
	for e, want := range map[wrstats.Entity]bool{user1: true, user2: false} {
		ok, err := l.Allow(t.Context(), "a", e)
		require.NoError(t, err)
		require.Equal(t, want, ok, e)
	}
}

// The clock of another process may be ahead.
func TestResetForgetsTheNextBucketToo(t *testing.T) {
	l := newLimiter(t, newMapStore(), limiter.Options{}, perMinute("a", 1))
	require.NoError(t, l.AddAt(t.Context(), at(2), op("a", user1, 1)))
	require.NoError(t, l.ResetAt(t.Context(), at(1.9), "a", user1))
	d, err := l.PeekAt(t.Context(), at(2), op("a", user1, 1))
	require.NoError(t, err)
	require.True(t, d.Allowed)
}

func TestCountsBeyondAllBoundsAreOverTheLimit(t *testing.T) {
	store := newMapStore()
	l := newLimiter(t, store, limiter.Options{MaxDenials: -1}, perMinute("a", math.MaxInt64))
	ops := make([]limiter.Op, 1025)
	for i := range ops {
		ops[i] = op("a", user1, limiter.MaxAmount)
	}
	d, err := l.TryAt(t.Context(), at(0), ops[:1000]...)
	require.NoError(t, err)
	require.True(t, d.Allowed)
	d, err = l.PeekAt(t.Context(), at(0), ops...)
	require.NoError(t, err)
	require.EqualValues(t, int64(math.MaxInt64), d.Ops[0].New)
	store.set(func(string) int64 { return math.MaxInt64 })
	d, err = l.PeekAt(t.Context(), at(0), op("a", user1, 1))
	require.NoError(t, err)
	require.EqualValues(t, int64(math.MaxInt64), d.Ops[0].Prev)
}

func TestCountsBelowZeroAreZero(t *testing.T) {
	store := newMapStore()
	l := newLimiter(t, store, limiter.Options{}, perMinute("a", 2))
	require.NoError(t, l.AddAt(t.Context(), at(0), op("a", user1, 2)))
	require.NoError(t, l.AddAt(t.Context(), at(10), op("a", user1, 1)))
	peek := func() limiter.OpDecision {
		d, err := l.PeekAt(t.Context(), at(10), op("a", user1, 1))
		require.NoError(t, err)
		return d.Ops[0]
	}
	store.set(func(key string) int64 { return store.counts[key]*4 - 6 }) // 2 and -2
	require.EqualValues(t, 2, peek().Prev)
	negative := peek().RetryAfter
	store.set(func(key string) int64 { return max(0, store.counts[key]) })
	require.Positive(t, negative)
	require.Equal(t, peek().RetryAfter, negative)
}

func TestAKeyEndsWhenItsBucketHasLeftTheWindow(t *testing.T) {
	for _, c := range []struct {
		window  time.Duration
		buckets int
		ttl     time.Duration
	}{
		{time.Minute, 30, 62 * time.Second},
		{time.Minute, 1, 2 * time.Minute},
		{time.Second, 30, 2 * time.Second}, // 1.033 s, rounded up
		{31 * 24 * time.Hour, 31, 32 * 24 * time.Hour},
	} {
		store := newMapStore()
		l := newLimiter(t, store, limiter.Options{Buckets: c.buckets}, limiter.Condition{Name: "a", Limit: 1, Window: c.window})
		require.NoError(t, l.Add(t.Context(), op("a", user1, 1)))
		require.Len(t, store.ttls, 1)
		for _, ttl := range store.ttls {
			require.Equal(t, c.ttl, ttl, c.window)
		}
	}
}

func TestTryTakesTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, newMapStore(), limiter.Options{}, perMinute("a", 1))
		for range 10 {
			d, err := l.Try(t.Context(), op("a", user1, 1))
			require.NoError(t, err)
			require.True(t, d.Allowed)
			d, err = l.Try(t.Context(), op("a", user1, 1))
			require.NoError(t, err)
			require.False(t, d.Allowed)
			require.Equal(t, d.Ops[0].RetryAfter, d.RetryAfter())
			time.Sleep(d.RetryAfter() - time.Nanosecond)
			ok, err := l.Allow(t.Context(), "a", user1)
			require.NoError(t, err)
			require.False(t, ok)
			time.Sleep(time.Nanosecond)
		}
	})
}

func TestInstantsAtTheEndsOfTime(t *testing.T) {
	for _, now := range []time.Time{{}, time.Unix(0, 0), time.Unix(-1<<40, 0), time.Unix(1<<40, 0), time.Unix(1<<60, 0)} {
		l := newLimiter(t, newMapStore(), limiter.Options{}, perMinute("a", 1))
		for _, want := range []bool{true, false} {
			d, err := l.TryAt(t.Context(), now, op("a", user1, 1))
			require.NoError(t, err)
			require.Equal(t, want, d.Allowed, now)
		}
	}
}
