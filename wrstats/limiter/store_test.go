package limiter_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

// A mapStore is a Store in a map that never ends its keys, and whose faults a test sets.
type mapStore struct {
	mu     sync.Mutex // guards what follows
	counts map[string]int64
	ttls   map[string]time.Duration
	made   []call

	// Set before use. The functions may block.
	get     func(ctx context.Context, keys []string) error // before values are read; ErrPartial comes with them
	incr    func(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error)
	deletes error
}

// A call is what a store was asked to do.
type call struct {
	name string // get, incr, delete
	n    int    // keys
}

func newMapStore() *mapStore {
	return &mapStore{counts: make(map[string]int64), ttls: make(map[string]time.Duration)}
}

func (s *mapStore) note(name string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made = append(s.made, call{name, n})
}

func (s *mapStore) Incr(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
	s.note("incr", len(batch))
	if s.incr != nil {
		return s.incr(ctx, batch)
	}
	s.apply(batch)
	return nil, nil
}

func (s *mapStore) apply(batch []wrstats.Increment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, inc := range batch {
		s.counts[inc.Key] += inc.Delta
		s.ttls[inc.Key] = inc.TTL
	}
}

func (s *mapStore) Get(ctx context.Context, keys []string) ([]wrstats.Value, error) {
	s.note("get", len(keys))
	var err error
	if s.get != nil {
		err = s.get(ctx, keys)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	values := make([]wrstats.Value, len(keys))
	for i, key := range keys {
		n, found := s.counts[key]
		values[i] = wrstats.Value{N: n, Found: found}
	}
	return values, err
}

func (s *mapStore) Delete(_ context.Context, keys []string) error {
	s.note("delete", len(keys))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		delete(s.counts, key)
	}
	return s.deletes
}

func (s *mapStore) Close() error { return nil }

func (s *mapStore) calls() []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.made)
}

func (s *mapStore) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made = nil
}

func (s *mapStore) stored() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts)
}

func (s *mapStore) sum() (sum int64) {
	for _, n := range s.stored() {
		sum += n
	}
	return sum
}

// set gives all keys new values.
func (s *mapStore) set(value func(key string) int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.counts {
		s.counts[key] = value(key)
	}
}

// A receipt resolves when done is closed.
type receipt struct {
	done chan struct{}
	lost int64
	err  error
}

func (r *receipt) Wait(ctx context.Context) (int64, error) {
	select {
	case <-r.done:
		return r.lost, r.err
	case <-ctx.Done():
		return r.lost, ctx.Err()
	}
}
