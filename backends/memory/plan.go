package memory

import (
	"iter"
	"slices"
	"sync"
)

// A plan puts the keys of one call in the order of their shards. So each shard is locked once a
// call, not once a key, and the processor can look several keys up at a time, which it does not do
// across a lock: twice the keys a second when they are not in its cache.
type plan struct {
	hashes []uint64 // of the keys, in the call's order
	order  []uint32 // indexes of keys, shard by shard
	ends   []uint32 // of each shard, where its keys end in order
}

var plans = sync.Pool{New: func() any { return new(plan) }}

// newPlan returns a plan for n keys, whose hashes are the caller's to fill in before groups. It is
// to be given back to plans.
func newPlan(n int) *plan {
	p := plans.Get().(*plan)
	p.hashes = slices.Grow(p.hashes[:0], n)[:n]
	p.order = slices.Grow(p.order[:0], n)[:n]
	return p
}

// groups yields each shard that has keys, and which. It begins with that of the first key: calls at
// the same time do not queue for one shard after the other.
func (p *plan) groups(shards, shift int) iter.Seq2[int, []uint32] {
	p.sort(shards, shift)
	return func(yield func(int, []uint32) bool) {
		if len(p.hashes) == 0 {
			return
		}
		first := int(p.hashes[0] >> shift)
		for k := range shards {
			i := (first + k) & (shards - 1)
			if own := p.group(i); len(own) > 0 && !yield(i, own) {
				return
			}
		}
	}
}

func (p *plan) group(i int) []uint32 {
	if i == 0 {
		return p.order[:p.ends[0]]
	}
	return p.order[p.ends[i-1]:p.ends[i]]
}

// sort is a counting sort.
func (p *plan) sort(shards, shift int) {
	p.ends = slices.Grow(p.ends[:0], shards)[:shards]
	clear(p.ends)
	for _, hash := range p.hashes {
		p.ends[hash>>shift]++
	}
	sum := uint32(0)
	for i, count := range p.ends {
		p.ends[i] = sum
		sum += count
	}
	for i, hash := range p.hashes {
		at := &p.ends[hash>>shift]
		p.order[*at] = uint32(i)
		*at++
	}
}
