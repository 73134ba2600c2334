package memory

import (
	"context"
	"hash/maphash"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

const (
	shardsPerProc = 16
	maxShards     = 256 // each shard has its own copy of every head
)

// Options configure a [Store]. There is nothing to choose yet; the zero value is the default.
type Options struct{}

// A Store is a [wrstats.Store] in the memory of the process. All of its methods may be called by
// many goroutines at once, and wait for nothing but short locks. Make one with [New]; the zero Store
// does not work.
type Store struct {
	start  time.Time // instants are nanoseconds from here, on the monotonic clock
	seed   maphash.Seed
	shift  int // the bits of a hash from here up are the number of its shard
	shards []shard
	closed atomic.Bool

	sweepAt  atomic.Int64 // before this instant no shard has anything to sweep
	sweeping sync.Mutex   // held by the one call that sweeps
}

var _ wrstats.Store = (*Store)(nil)

// New returns an empty Store.
func New(_ Options) *Store {
	log := bits.Len(uint(min(shardsPerProc*runtime.GOMAXPROCS(0), maxShards) - 1))
	s := &Store{
		start:  time.Now(),
		seed:   maphash.MakeSeed(),
		shift:  64 - log,
		shards: make([]shard, 1<<log),
	}
	for i := range s.shards {
		s.shards[i].table = newTable(s.seed)
	}
	s.sweepAt.Store(never)
	return s
}

// Incr applies the batch before it returns. The Receipt is nil unless an increment was refused, for
// [ErrOverflow], [ErrNegative] or [ErrFull]; all others have been applied then, too. A key ends
// exactly its TTL after its first write, and an increment after that starts it anew. A TTL below a
// second counts as a second. Keys may have any length and hold any bytes.
//
// When ctx is done or the Store is closed, nothing is applied and the error is a
// [*wrstats.NotSentError] of the whole batch.
func (s *Store) Incr(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
	if err := s.check(ctx); err != nil {
		return nil, &wrstats.NotSentError{Batch: batch, Err: err}
	}
	now := s.now()
	p := newPlan(len(batch))
	defer plans.Put(p)
	for i := range batch {
		p.hashes[i] = maphash.String(s.seed, batch[i].Key)
	}
	var r refused
	for i, own := range p.groups(len(s.shards), s.shift) {
		s.sweepBy(s.shards[i].incr(own, p.hashes, batch, now, &r))
	}
	return r.receipt(), nil
}

// Get reads counters: one Value a key, in the order of keys, which may repeat. What it returns is
// all that it allocates.
func (s *Store) Get(ctx context.Context, keys []string) ([]wrstats.Value, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	now := s.now()
	p := s.plan(keys)
	defer plans.Put(p)
	values := make([]wrstats.Value, len(keys))
	for i, own := range p.groups(len(s.shards), s.shift) {
		s.shards[i].get(own, p.hashes, keys, now, values)
	}
	if s.closed.Load() { // in the meantime: what was not found may have been there
		return nil, wrstats.ErrClosed
	}
	return values, nil
}

// Delete removes keys. A key that is not there is no error.
func (s *Store) Delete(ctx context.Context, keys []string) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	now := s.now()
	p := s.plan(keys)
	defer plans.Put(p)
	for i, own := range p.groups(len(s.shards), s.shift) {
		s.shards[i].delete(own, p.hashes, keys, now)
	}
	return nil
}

// Close releases all counters. It returns nil, and does nothing when it is called again. What an
// Incr at the same time could not apply any more, its Receipt tells.
func (s *Store) Close() error {
	s.closed.Store(true)
	for i := range s.shards {
		s.shards[i].close()
	}
	return nil
}

func (s *Store) check(ctx context.Context) error {
	if s.closed.Load() {
		return wrstats.ErrClosed
	}
	return ctx.Err()
}

func (s *Store) plan(keys []string) *plan {
	p := newPlan(len(keys))
	for i, key := range keys {
		p.hashes[i] = maphash.String(s.seed, key)
	}
	return p
}

// now reads the clock, which each call does once, and sweeps if that is due.
func (s *Store) now() int64 {
	now := int64(time.Since(s.start))
	if now >= s.sweepAt.Load() {
		s.sweep(now)
	}
	return now
}
