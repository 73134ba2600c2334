package memory

import (
	"hash/maphash"
	"time"
)

const (
	minSlots      = 8
	sweepInterval = int64(time.Second) // a table is not swept more often
	sweepMoves    = 1 << 14            // entries that one call moves for the sake of others: about a millisecond
)

// sweep frees what has ended. A call moves so many entries for the sake of others and leaves what
// remains to the next call, so that none has to pay for a large store. All counters of a shard that
// have ended at once are freed without moving anything.
func (s *Store) sweep(now int64) {
	if !s.sweeping.TryLock() {
		return
	}
	defer s.sweeping.Unlock()
	s.sweepAt.Store(never)
	moves := sweepMoves
	for i := range s.shards {
		s.sweepBy(s.shards[i].sweep(now, &moves))
	}
}

// sweepBy makes a sweep due at an instant, if none is due before.
func (s *Store) sweepBy(at int64) {
	for {
		next := s.sweepAt.Load()
		if at >= next || s.sweepAt.CompareAndSwap(next, at) {
			return
		}
	}
}

// sweep drops the dead if they are a good part of all, and returns how many entries it moved.
func (t *table) sweep(now int64) (moved int) {
	dead, next := t.deleted, int64(never)
	for i := range t.heads {
		h := &t.heads[i]
		if h.latest > now {
			next = min(next, h.latest)
			continue
		}
		dead += h.count
	}
	moved = t.drop(dead, now)
	t.sweepAt = max(next, now+sweepInterval)
	return moved
}

// drop frees what the dead take if that is worth it, which it is when they are a quarter of all: so
// no dead entry costs the moving of more than three others. It returns how many it moved.
func (t *table) drop(dead int, now int64) (moved int) {
	switch {
	case dead == 0, 4*dead < len(t.entries):
		return 0
	case dead == len(t.entries):
		*t = newTable(t.seed)
		return 0
	}
	t.rebuild(now)
	return len(t.entries)
}

// full reports whether one more entry would be over three quarters of the slots.
func (t *table) full() bool { return 4*(len(t.entries)+1) > 3*len(t.slots) }

// rebuild leaves the dead behind and makes room for a third more than the living, or more.
func (t *table) rebuild(now int64) {
	old := *t
	*t = newTable(old.seed)
	alive, bytes := old.measure(now)
	slots := minSlots
	for 16*(alive+1) > 9*slots {
		slots *= 2
	}
	t.slots = make([]uint32, slots)
	t.entries = make([]entry, 0, alive)
	t.tails = make([]byte, 0, bytes)
	t.fill(&old, now)
}

// measure counts the entries that are alive, and the bytes of their tails.
func (t *table) measure(now int64) (alive, bytes int) {
	for i := range t.entries {
		if t.entries[i].ends > now {
			alive++
			bytes += len(t.tail(i))
		}
	}
	return alive, bytes
}

// fill adds the entries of another table that are alive.
func (t *table) fill(old *table, now int64) {
	var key []byte
	for i, e := range old.entries {
		if e.ends <= now {
			continue
		}
		name, tail := old.heads[e.head].name, old.tail(i)
		key = append(append(key[:0], name...), tail...)
		e.tail, e.head = uint32(len(t.tails)), t.intern(name, e.ends)
		t.add(maphash.Bytes(t.seed, key), e)
		t.tails = append(t.tails, tail...)
	}
}
