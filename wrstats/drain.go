package wrstats

import (
	"math"
	"time"
)

// advance moves the buffer to the present interval, so that what was counted before stays in the interval
// before. It returns how long the shortest present interval still goes on.
func (b *buffer) advance() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.advanceLocked()
}

// advanceLocked reads the clock itself: the caller may have waited for mu past an edge.
func (b *buffer) advanceLocked() time.Duration {
	return b.moveTo(time.Now())
}

// moveTo makes the intervals of now the present ones, be they later than those before or earlier: the clock
// may have been set.
func (b *buffer) moveTo(now time.Time) time.Duration {
	if checkInstant(now) != nil {
		return math.MaxInt64
	}
	ns := now.UnixNano()
	next := int64(math.MaxInt64)
	for _, f := range b.families {
		if !f.present.contains(ns) {
			f.advance(now)
		}
		next = min(next, f.present.end-ns)
	}
	return time.Duration(next)
}

// A sample is what a counter counted in an interval: one increment for each sequence. Those of bins make
// the increments of a count as well.
type sample struct {
	counter *Counter
	start   int64
	units   int64
}

// take empties the buffer into dst, and lets the untouched counters go.
func (b *buffer) take(dst []sample) []sample {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tried = len(b.awake) // nobody makes room while the list changes
	if !b.closed {
		b.advanceLocked()
	}
	stay := b.awake[:0]
	for _, c := range b.awake {
		if c.awake {
			dst = b.takeOne(c, dst)
		}
		if c.listed = c.awake; c.listed {
			stay = append(stay, c)
		}
	}
	clear(b.awake[len(stay):])
	b.awake, b.tried = stay, 0
	for _, f := range b.families {
		f.shrink()
	}
	return dst
}

// takeOne takes what a counter has, or lets it go to sleep when it has nothing.
func (b *buffer) takeOne(c *Counter, dst []sample) []sample {
	if b.closed { // which put everything into the cells, and the counter to sleep
		dst = b.drain(c, dst)
		b.release(c)
		return dst
	}
	b.fold(c)
	if len(c.cells) == 0 {
		b.sleep(c)
		return dst
	}
	return b.drain(c, dst)
}

// drain appends the counter's cells to dst, each with the whole units that it and the carry make.
func (b *buffer) drain(c *Counter, dst []sample) []sample {
	n := c.family.increments()
	for _, cell := range c.cells {
		b.account.added.add(cell.quantity, n)
		q, _ := cell.plus(quantity{nano: c.carry})
		b.account.onTheWay += q.units * int64(n)
		c.carry = q.nano
		c.last = cell.start
		dst = append(dst, sample{c, cell.start, q.units})
	}
	b.empty(c)
	return dst
}

// empty takes the cells of a counter away, and the room that was reserved for them. It stays awake, without any.
func (b *buffer) empty(c *Counter) {
	if pairs := len(c.family.Sequences); c.reserved {
		b.held -= pairs * max(1, len(c.cells))
		b.idle += pairs
	}
	c.reserved = false
	c.cells = c.first[:0]
}

// sleep lets an untouched counter go, unless it is being added to or carries a fraction in an interval that
// still goes on.
func (b *buffer) sleep(c *Counter) {
	carries := c.carry != 0 && c.last == c.family.present.start && b.held < b.limit
	if !carries && c.live.CompareAndSwap(0, asleep) {
		b.release(c)
	}
}

// release ends what sleep and close begin. A fraction that no unit was made of stays with a handle, for
// when it is used again, and else is dropped.
func (b *buffer) release(c *Counter) {
	if c.handle {
		c.family.putCarry(c.entity, c.carry)
	} else {
		b.dropCarry(c.family, c.carry)
	}
	c.carry = 0
	b.empty(c)
	b.idle -= len(c.family.Sequences)
	c.awake = false
	c.family.leave(c)
}

// close refuses everything from now on; what has been counted is left for a last take.
func (b *buffer) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.advanceLocked()
	b.closed = true
	b.tried = len(b.awake) // nobody makes room any more
	for _, c := range b.awake {
		if c.awake {
			c.touched.Store(false)
			b.file(c, c.live.Swap(asleep))
		}
	}
}

// forget drops what was counted of an entity and not yet taken.
func (b *buffer) forget(e Entity) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.families {
		b.dropCarry(f, f.takeCarry(e))
		if c := f.byEntity[e]; c != nil {
			c.each(b.forgetCounter)
		}
	}
}

func (b *buffer) forgetCounter(c *Counter) {
	b.fold(c)
	for _, cell := range c.cells {
		b.drop(c, cell.quantity)
	}
	b.empty(c)
	b.dropCarry(c.family, c.carry)
	c.carry = 0
}

// forgetCarries drops what sleeping handles carry, at the very end.
func (b *buffer) forgetCarries() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.families {
		for e := range f.handles {
			b.dropCarry(f, f.takeCarry(e))
		}
	}
}

// balance returns the account with what is in cells and live counted as added, and what is pending.
func (b *buffer) balance() (a account, pending quantity) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a = b.account
	pending = quantity{units: a.onTheWay + a.returned, nano: a.resting}
	for _, c := range b.awake {
		if !c.awake {
			continue
		}
		n := c.family.increments()
		sum := quantity{nano: c.live.Load() &^ asleep}
		for _, cell := range c.cells {
			sum.add(cell.quantity, 1)
		}
		a.added.add(sum, n)
		pending.add(sum, n)
		pending.add(quantity{nano: c.carry}, n)
	}
	return a, pending
}
