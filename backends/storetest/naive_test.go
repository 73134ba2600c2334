package storetest_test

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

// A clock moves when it is told to.
type clock struct{ passed atomic.Int64 }

func (c *clock) now() time.Duration   { return time.Duration(c.passed.Load()) }
func (c *clock) pass(d time.Duration) { c.passed.Add(int64(d)) }

// A naive store is the shortest that keeps all rules.
type naive struct {
	clock    *clock
	mu       sync.Mutex // guards what follows
	counters map[string]counter
	closed   bool
}

type counter struct {
	n    int64
	ends time.Duration
}

func newNaive(c *clock) *naive { return &naive{clock: c, counters: map[string]counter{}} }

func (s *naive) Incr(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
	err := s.each(ctx, len(batch), func(i int, now time.Duration) {
		c, ok := s.counters[batch[i].Key]
		if !ok || c.ends <= now {
			c = counter{ends: now + max(batch[i].TTL, time.Second)}
		}
		c.n += batch[i].Delta
		s.counters[batch[i].Key] = c
	})
	if err != nil {
		return nil, &wrstats.NotSentError{Batch: batch, Err: err}
	}
	return nil, nil
}

func (s *naive) Get(ctx context.Context, keys []string) ([]wrstats.Value, error) {
	values := make([]wrstats.Value, len(keys))
	err := s.each(ctx, len(keys), func(i int, now time.Duration) {
		if c, ok := s.counters[keys[i]]; ok && c.ends > now {
			values[i] = wrstats.Value{N: c.n, Found: true}
		}
	})
	if err != nil {
		return nil, err
	}
	return values, nil
}

func (s *naive) Delete(ctx context.Context, keys []string) error {
	return s.each(ctx, len(keys), func(i int, _ time.Duration) { delete(s.counters, keys[i]) })
}

func (s *naive) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// each calls f for 0 to n-1 under the lock.
func (s *naive) each(ctx context.Context, n int, f func(i int, now time.Duration)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return wrstats.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range n {
		f(i, s.clock.now())
	}
	return nil
}
