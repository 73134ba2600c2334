package wrstats_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

// A mapStore is a Store in a map that never expires, whose faults a test sets.
type mapStore struct {
	mu      sync.Mutex // guards everything
	counts  map[string]int64
	ttls    map[string]time.Duration
	batches [][]wrstats.Increment
	gets    [][]string

	incr    func(batch []wrstats.Increment) (wrstats.Receipt, error) // nil: applies it all
	getErr  error
	gone    func(key string) bool // keys that Get does not find
	deletes int
}

func newMapStore() *mapStore {
	return &mapStore{counts: make(map[string]int64), ttls: make(map[string]time.Duration)}
}

func (s *mapStore) Incr(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return nil, &wrstats.NotSentError{Batch: batch, Err: err}
	}
	s.mu.Lock()
	s.batches = append(s.batches, slices.Clone(batch))
	incr := s.incr
	s.mu.Unlock()
	if incr != nil {
		return incr(batch)
	}
	s.apply(batch)
	return nil, nil
}

func (s *mapStore) apply(batch []wrstats.Increment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, inc := range batch {
		if _, found := s.counts[inc.Key]; !found {
			s.ttls[inc.Key] = inc.TTL
		}
		s.counts[inc.Key] += inc.Delta
	}
}

// fail sets what becomes of batches from now on; nil: they are applied.
func (s *mapStore) fail(incr func(batch []wrstats.Increment) (wrstats.Receipt, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.incr = incr
}

func (s *mapStore) forgetBatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = nil
}

func (s *mapStore) Get(_ context.Context, keys []string) ([]wrstats.Value, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gets = append(s.gets, slices.Clone(keys))
	if s.getErr != nil && !errors.Is(s.getErr, wrstats.ErrPartial) {
		return nil, s.getErr
	}
	values := make([]wrstats.Value, len(keys))
	for i, key := range keys {
		if n, found := s.counts[key]; found && (s.gone == nil || !s.gone(key)) {
			values[i] = wrstats.Value{N: n, Found: true}
		}
	}
	return values, s.getErr
}

func (s *mapStore) Delete(_ context.Context, keys []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deletes++
	for _, key := range keys {
		delete(s.counts, key)
	}
	return nil
}

func (s *mapStore) Close() error { return nil }

// stored returns all counters, and their sum.
func (s *mapStore) stored() (counts map[string]int64, sum int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.counts {
		sum += n
	}
	return maps.Clone(s.counts), sum
}

// A receipt resolves when its test says so.
type receipt struct {
	done chan struct{} // closed when lost and err are set
	lost int64
	err  error
	all  int64
}

func (r *receipt) Wait(ctx context.Context) (int64, error) {
	select {
	case <-r.done:
		return r.lost, r.err
	case <-ctx.Done():
		return r.all, ctx.Err()
	}
}

func sumOf(batch []wrstats.Increment) (sum int64) {
	for _, inc := range batch {
		sum += inc.Delta
	}
	return sum
}

func at(seconds float64) time.Time {
	return time.Unix(0, int64(seconds*1e9))
}
