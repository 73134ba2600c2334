package memory

import (
	"hash/maphash"
	"math"
	"runtime"
	"slices"
	"strings"
)

const (
	never   = math.MaxInt64 // the instant that does not come
	deleted = math.MinInt64 // the end of an entry that was deleted
)

// A table is an open-addressing hash table whose large parts hold no pointers, so that a million
// counters are nothing to the garbage collector: slots lead to entries, and an entry to the two
// parts of its key, the head in heads and the tail in tails.
//
// An entry that has ended or was deleted is dead. It stays until the table is rebuilt; until then
// its key finds it, and an increment of the key starts it anew in place.
type table struct {
	seed    maphash.Seed
	slots   []uint32 // a power of two of them, or none; see slot
	entries []entry
	tails   []byte // in the order of entries
	heads   []head
	byName  map[string]uint32 // indexes of heads
	deleted int               // how many entries are
	sweepAt int64             // before this instant there is nothing to sweep
}

type entry struct {
	tail uint32 // where its tail begins; it ends where the next entry's begins
	head uint32 // index in heads
	n    int64
	ends int64 // instant, or deleted
}

// A head is what the keys of one window begin with, up to and including the colon after the bucket.
// They end together: when the latest of their ends has passed, all the entries of the head are dead.
type head struct {
	name   string
	latest int64
	count  int // its entries that are not deleted
}

func newTable(seed maphash.Seed) table { return table{seed: seed, sweepAt: never} }

// split returns the length of a key's head: up to and including the fifth colon, the one after the
// bucket in scope:prefix:metric:sequence:bucket:components. With fewer colons the head is empty.
func split(key string) int {
	colons := 0
	for i := range len(key) {
		if key[i] != ':' {
			continue
		}
		if colons++; colons == 5 {
			return i + 1
		}
	}
	return 0
}

// slot returns what leads to an entry; 0 is a free slot. The low bits hold the entry's index + 1,
// which is below the number of slots. The bits above hold a part of the hash that chose neither
// shard nor slot, so that the entries of other keys are seldom looked at.
func slot(hash uint64, index int, mask uint32) uint32 {
	return uint32(hash>>24)&^mask | uint32(index+1)
}

// warm loads the first slots of some hashes, at once rather than one after another.
func (t *table) warm(own []uint32, hashes []uint64) {
	if len(t.slots) == 0 {
		return
	}
	mask, loaded := uint32(len(t.slots)-1), uint32(0)
	for _, i := range own {
		loaded |= t.slots[uint32(hashes[i])&mask]
	}
	runtime.KeepAlive(loaded)
}

// find returns the entry of a key, dead or alive, or nil.
func (t *table) find(hash uint64, key string) *entry {
	if len(t.slots) == 0 {
		return nil
	}
	mask := uint32(len(t.slots) - 1)
	tag := slot(hash, -1, mask)
	for at := uint32(hash) & mask; ; at = (at + 1) & mask {
		found := t.slots[at]
		if found == 0 {
			return nil
		}
		if found&^mask != tag {
			continue
		}
		if i := int(found&mask) - 1; t.holds(i, key) {
			return &t.entries[i]
		}
	}
}

// holds reports whether the entry at an index is that of a key, byte for byte.
func (t *table) holds(i int, key string) bool {
	tail, ok := strings.CutPrefix(key, t.heads[t.entries[i].head].name)
	return ok && tail == string(t.tail(i))
}

func (t *table) tail(i int) []byte {
	if i+1 == len(t.entries) {
		return t.tails[t.entries[i].tail:]
	}
	return t.tails[t.entries[i].tail:t.entries[i+1].tail]
}

// create adds the entry of a key that has none.
func (t *table) create(hash uint64, key string, delta, now, ends int64) error {
	if t.full() {
		t.rebuild(now)
	}
	size := split(key)
	name, tail := key[:size], key[size:]
	if !fits(uint64(len(t.tails)), uint64(len(tail))) {
		return ErrFull
	}
	t.add(hash, entry{tail: uint32(len(t.tails)), head: t.intern(name, ends), n: delta, ends: ends})
	t.tails = append(room(t.tails, len(tail)), tail...)
	return nil
}

// fits reports whether an entry can say where its tail begins, and the next entry where it ends.
func fits(have, more uint64) bool { return have+more <= math.MaxUint32 }

// intern returns the index of the head that gets one more entry, which has this end.
func (t *table) intern(name string, ends int64) uint32 {
	i, ok := t.byName[name]
	if !ok {
		if t.byName == nil {
			t.byName = make(map[string]uint32)
		}
		i, name = uint32(len(t.heads)), strings.Clone(name)
		t.byName[name] = i
		t.heads = append(room(t.heads, 1), head{name: name})
	}
	t.heads[i].count++
	t.extend(i, ends)
	return i
}

func (t *table) extend(i uint32, ends int64) {
	h := &t.heads[i]
	h.latest = max(h.latest, ends)
	t.sweepAt = min(t.sweepAt, h.latest)
}

// add takes a free slot; there is one.
func (t *table) add(hash uint64, e entry) {
	mask := uint32(len(t.slots) - 1)
	at := uint32(hash) & mask
	for t.slots[at] != 0 {
		at = (at + 1) & mask
	}
	t.slots[at] = slot(hash, len(t.entries), mask)
	t.entries = append(room(t.entries, 1), e)
}

// revive starts a dead entry anew.
func (t *table) revive(e *entry, ends int64) {
	if e.ends == deleted {
		t.deleted--
		t.heads[e.head].count++
	}
	e.n, e.ends = 0, ends
	t.extend(e.head, ends)
}

// remove makes an entry dead.
func (t *table) remove(e *entry, now int64) {
	if e.ends == deleted {
		return
	}
	e.ends = deleted
	t.heads[e.head].count--
	t.deleted++
	t.drop(t.deleted, now)
}

// room returns s with capacity for n more. It grows by a quarter; doubling, as append does, would
// leave a quarter of a small store's memory unused.
func room[T any](s []T, n int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	size := len(s) + n
	return append(slices.Grow([]T(nil), size+size/4), s...)
}
