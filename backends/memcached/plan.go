package memcached

import (
	"slices"
	"sync"
)

// nowhere is the server of an item that is not sent.
const nowhere = -1

// A plan tells which items of a call go to which server. It is to be given back to plans.
type plan struct {
	at      []int32 // the server of each item, or nowhere
	order   []int32 // the items of server 0, then those of server 1, and so on; each in the call's order
	ends    []int32 // of each server, where its items end in order
	scratch []byte  // for placing a key

	unplaced []int32 // items that have no server,
	err      error   // and why the first has none
}

var plans = sync.Pool{New: func() any { return &plan{scratch: make([]byte, 0, maxKey+checksumBlock)} }}

func newPlan(n int) *plan {
	p := plans.Get().(*plan)
	p.at = slices.Grow(p.at[:0], n)[:n]
	p.order = slices.Grow(p.order[:0], n)[:n]
	p.unplaced, p.err = p.unplaced[:0], nil
	return p
}

// fail notes that an item has no server.
func (p *plan) fail(i int, err error) {
	p.unplaced = append(p.unplaced, int32(i))
	if p.err == nil {
		p.err = err
	}
}

// sort makes order and ends of at: a counting sort.
func (p *plan) sort(servers int) {
	p.ends = slices.Grow(p.ends[:0], servers)[:servers]
	clear(p.ends)
	for _, server := range p.at {
		if server != nowhere {
			p.ends[server]++
		}
	}
	sum := int32(0)
	for i, count := range p.ends {
		p.ends[i] = sum
		sum += count
	}
	for i, server := range p.at {
		if server != nowhere {
			p.order[p.ends[server]] = int32(i)
			p.ends[server]++
		}
	}
	p.order = p.order[:sum]
}

// busy returns how many servers have items.
func (p *plan) busy() int {
	n, start := 0, int32(0)
	for _, end := range p.ends {
		if end > start {
			n++
		}
		start = end
	}
	return n
}

// of returns the items of a server, which are valid until p is given back.
func (p *plan) of(server int) []int32 {
	start := int32(0)
	if server > 0 {
		start = p.ends[server-1]
	}
	return p.order[start:p.ends[server]]
}

// A share is the part of a call's items that goes to one server.
type share[T any] struct {
	items []T
	order []int32 // their indexes in items; they are all of items if there are as many
}

func (s share[T]) len() int            { return len(s.order) }
func (s share[T]) at(i int) *T         { return &s.items[s.order[i]] }
func (s share[T]) index(i int) int     { return int(s.order[i]) }
func (s share[T]) from(i int) share[T] { return share[T]{s.items, s.order[i:]} }
func (s share[T]) to(i int) share[T]   { return share[T]{s.items, s.order[:i]} }

// slice returns the items themselves: a part of what the call was given if it is one, else a copy.
func (s share[T]) slice() []T {
	n := len(s.order)
	if n == 0 {
		return nil
	}
	if first := s.order[0]; int(s.order[n-1]-first) == n-1 {
		return s.items[first : int(first)+n]
	}
	items := make([]T, n)
	for i := range items {
		items[i] = *s.at(i)
	}
	return items
}
