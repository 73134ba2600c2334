package limiter_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

// A crowd asks for one of "a" each, in a synctest bubble: in the order of ask, each with its own patience.
type crowd struct {
	t               *testing.T
	l               *limiter.Limiter
	all             sync.WaitGroup
	allowed, failed atomic.Int64
}

func (c *crowd) ask(patience time.Duration, entities ...wrstats.Entity) {
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	var ops []limiter.Op
	for _, e := range entities {
		ops = append(ops, op("a", e, 1))
	}
	c.all.Go(func() {
		defer cancel()
		switch d, err := c.l.Try(ctx, ops...); {
		case err != nil:
			c.failed.Add(1)
		case d.Allowed:
			c.allowed.Add(1)
		}
	})
	synctest.Wait()
}

func TestWhoGivesUpIsNotCounted(t *testing.T) {
	for _, failOpen := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			store := newMapStore()
			slow(store, time.Second, time.Second)
			var heard atomic.Int64
			opts := limiter.Options{FailOpen: failOpen, OnError: func(error) { heard.Add(1) }}
			c := &crowd{t: t, l: newLimiter(t, store, opts, perMinute("a", 100))}
			c.ask(time.Hour, user1)             // is read until 1 s, and settled at 2 s
			c.ask(1500*time.Millisecond, user1) // gives up in the queue
			c.ask(2500*time.Millisecond, user1) // gives up while its round is read
			c.ask(3500*time.Millisecond, user1) // is answered at 3 s
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			d, err := c.l.Try(ctx, op("a", user1, 1))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, failOpen, d.Allowed)
			require.Equal(t, limiter.OpDecision{Op: op("a", user1, 1), Limit: 100, Allowed: failOpen, Unread: true}, d.Ops[0])
			c.all.Wait()
			time.Sleep(time.Minute) // all is settled
			require.EqualValues(t, 2, c.allowed.Load())
			require.EqualValues(t, 2, store.sum())
			require.EqualValues(t, 2, c.failed.Load())
			require.EqualValues(t, 3, heard.Load())

			store.forget()
			_, err = c.l.Allow(ctx, "a", user1)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Empty(t, store.calls(), "a context that is done touches nothing")
		})
	}
}

func TestWhenAllHaveGivenUpNothingIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMapStore()
		slow(store, time.Second, time.Second)
		var heard atomic.Int64
		opts := limiter.Options{OnError: func(error) { heard.Add(1) }}
		c := &crowd{t: t, l: newLimiter(t, store, opts, perMinute("a", 100))}
		c.ask(time.Hour, user1)
		c.ask(time.Millisecond, user1)
		c.ask(time.Millisecond, user1)
		c.all.Wait()
		time.Sleep(time.Hour)
		require.Equal(t, []call{{"get", 31}, {"incr", 1}}, store.calls())
		require.EqualValues(t, 2, heard.Load())
	})
}

func TestThoseWhoGiveUpAreNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMapStore()
		hold := make(chan struct{})
		store.get = func(context.Context, []string) error {
			<-hold
			return nil
		}
		c := &crowd{t: t, l: newLimiter(t, store, limiter.Options{}, perMinute("a", 100))}
		c.ask(time.Hour, user1) // which the store holds up
		before := heap()
		for range 100 {
			var impatient sync.WaitGroup
			for range 200 {
				impatient.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
					defer cancel()
					_, _ = c.l.Allow(ctx, "a", user1)
				})
			}
			impatient.Wait()
		}
		require.Less(t, heap()-before, int64(2<<20), "all of them are 10 MB")
		close(hold)
		c.all.Wait()
		require.EqualValues(t, 1, store.sum())
	})
}

func TestWhenAllGiveUpTheReadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMapStore()
		var ended atomic.Int64
		store.get = func(ctx context.Context, _ []string) error {
			<-ctx.Done()
			ended.Add(1)
			return ctx.Err()
		}
		c := &crowd{t: t, l: newLimiter(t, store, limiter.Options{}, perMinute("a", 100))}
		c.ask(1*time.Second, user1)
		c.ask(2*time.Second, user1)
		c.ask(3*time.Second, user1)
		c.all.Wait()
		synctest.Wait()
		require.EqualValues(t, 2, ended.Load(), "the first one's and that of the two who waited")
	}) // which ends when no goroutine is left
}

// Requests that wait for different counters become one round when a batch needs both.
func TestTheRestOfARoundIsAnsweredWhenOneGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMapStore()
		slow(store, time.Second, time.Second)
		c := &crowd{t: t, l: newLimiter(t, store, limiter.Options{}, perMinute("a", 100))}
		c.ask(time.Hour, user1) // until 2 s
		c.ask(time.Hour, user2)
		for range 3 {
			c.ask(2500*time.Millisecond, user1)
		}
		c.ask(time.Hour, user2)
		c.ask(time.Hour, user2)
		c.ask(2500*time.Millisecond, user1, user2)
		c.all.Wait()
		require.EqualValues(t, 4, c.allowed.Load())
		require.EqualValues(t, 4, c.failed.Load())
		time.Sleep(time.Minute) // all is settled
		require.EqualValues(t, 4, store.sum())
	})
}
