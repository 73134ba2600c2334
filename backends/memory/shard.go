package memory

import (
	"math"
	"sync"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

// A shard holds the counters of a part of all hashes. Its methods take the keys of a call, the
// hashes of them all, and which of them are its own.
type shard struct {
	mu     sync.Mutex // guards what follows
	closed bool
	table

	_ [48]byte // keeps the lock off its neighbours' cache lines
}

func (sh *shard) get(own []uint32, hashes []uint64, keys []string, now int64, values []wrstats.Value) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.warm(own, hashes)
	for _, i := range own {
		if e := sh.find(hashes[i], keys[i]); e != nil && e.ends > now {
			values[i] = wrstats.Value{N: e.n, Found: true}
		}
	}
}

// incr returns the instant at which the shard is to be swept.
func (sh *shard) incr(own []uint32, hashes []uint64, batch []wrstats.Increment, now int64, r *refused) int64 {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.warm(own, hashes)
	for _, i := range own {
		if err := sh.apply(hashes[i], &batch[i], now); err != nil {
			r.add(batch[i].Delta, err)
		}
	}
	return sh.sweepAt
}

// apply does one increment, or none of it. The lock is the caller's.
func (sh *shard) apply(hash uint64, inc *wrstats.Increment, now int64) error {
	switch {
	case sh.closed:
		return wrstats.ErrClosed
	case inc.Delta < 0:
		return ErrNegative
	}
	e := sh.find(hash, inc.Key)
	if e == nil {
		return sh.create(hash, inc.Key, inc.Delta, now, end(now, inc.TTL))
	}
	if e.ends <= now {
		sh.revive(e, end(now, inc.TTL))
	}
	if inc.Delta > math.MaxInt64-e.n {
		return ErrOverflow
	}
	e.n += inc.Delta
	return nil
}

// end returns the instant at which a key ends that is created at now.
func end(now int64, ttl time.Duration) int64 {
	return now + min(int64(max(ttl, time.Second)), never-now)
}

func (sh *shard) delete(own []uint32, hashes []uint64, keys []string, now int64) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for _, i := range own {
		if e := sh.find(hashes[i], keys[i]); e != nil {
			sh.remove(e, now)
		}
	}
}

// sweep drops what has ended if that is due and there are moves left, of which it takes those that
// it needs. It returns the instant of the next sweep.
func (sh *shard) sweep(now int64, moves *int) (next int64) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if now >= sh.sweepAt && *moves > 0 {
		*moves -= sh.table.sweep(now)
	}
	return sh.sweepAt
}

// held returns how many keys were not deleted or freed.
func (sh *shard) held() int {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return len(sh.entries) - sh.deleted
}

func (sh *shard) close() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.closed = true
	sh.table = newTable(sh.seed)
}
