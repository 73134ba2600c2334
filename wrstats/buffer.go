package wrstats

import (
	"fmt"
	"sync"
	"time"
)

// A buffer holds what has been counted and was not yet taken for a flush.
//
// A Counter is awake while the buffer refers to it, and goes to sleep when it was not touched from one
// flush to the next. Adding to one that is awake is one atomic addition; everything else takes mu.
type buffer struct {
	mu       sync.Mutex // guards the rest, and what Counter and family say it guards
	families []*family
	awake    []*Counter // and those that were put to sleep to make room, until the next take
	tried    int        // how many of awake were asked to make room since the last take
	held     int        // (counter, bucket) pairs, those of Writer.returned too
	idle     int        // pairs that awake counters without one take when they are added to, unasked
	limit    int        // of held and idle
	closed   bool
	account  account
}

// An account says where everything is that was added. What a metric with several sequences is given
// counts once for each of them, since each is stored and can be lost for itself. A unit is on the way
// from the take that it was in until it is returned, dropped, flushed or lost.
type account struct {
	added, dropped quantity // added: without what is in a cell or live
	resting        int64    // billionths of a unit that sleeping handles carry
	onTheWay       int64    // units, like the next three
	returned       int64
	flushed, lost  int64
	rejected       int64 // calls
	flushes        int64
	errors         int64
}

// arrived files units that were on the way.
func (a *account) arrived(flushed, lost int64) {
	a.onTheWay -= flushed + lost
	a.flushed = capped(a.flushed, flushed)
	a.lost = capped(a.lost, lost)
}

// record changes the account.
func (b *buffer) record(change func(*account)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.account)
}

// reserve makes room for one (counter, bucket) pair that is kept elsewhere; false where there is none.
func (b *buffer) reserve() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held >= b.limit {
		return false
	}
	b.held++
	return true
}

// unreserve gives n pairs back.
func (b *buffer) unreserve(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= n
}

// add counts v in an interval. The caller holds mu, as in all that follows but take.
func (b *buffer) add(c *Counter, start int64, v float64) error {
	if b.closed {
		b.account.rejected++
		return ErrClosed
	}
	q, ok := c.family.quantity(v)
	if !ok {
		b.account.rejected++
		return fmt.Errorf("%w: %v of metric %q", ErrInvalidValue, v, c.family.Name)
	}
	if !b.put(c, start, q) {
		b.account.rejected++
		return fmt.Errorf("%w: metric %q passed an int64 between two flushes", ErrInvalidValue, c.family.Name)
	}
	return nil
}

// put counts a quantity in an interval, or drops it where there is no room. ok is false when the cell
// can't hold it.
func (b *buffer) put(c *Counter, start int64, q quantity) (ok bool) {
	cell := b.cell(c, start)
	if cell == nil {
		b.drop(c, q)
		return true
	}
	sum, ok := cell.plus(q)
	if ok {
		cell.quantity = sum
	}
	return ok
}

// cell returns the counter's cell of an interval, waking the counter if need be; nil where the buffer is
// full.
func (b *buffer) cell(c *Counter, start int64) *cell {
	if !c.awake {
		c = c.family.current(c)
	}
	if !c.awake && !b.wake(c) {
		return nil
	}
	last := len(c.cells) - 1
	for i := range c.cells {
		if c.cells[i].start == start {
			c.cells[i], c.cells[last] = c.cells[last], c.cells[i] // where addFast looks
			return &c.cells[last]
		}
	}
	switch pairs := len(c.family.Sequences); {
	case !c.reserved:
		c.reserved = true
		b.held, b.idle = b.held+pairs, b.idle-pairs
	case len(c.cells) > 0:
		if !b.hasRoom() {
			return nil
		}
		b.held += pairs
	}
	c.cells = append(c.cells, cell{start: start})
	return &c.cells[len(c.cells)-1]
}

func (b *buffer) drop(c *Counter, q quantity) {
	n := c.family.increments()
	b.account.added.add(q, n)
	b.account.dropped.add(q, n)
}

// dropCarry drops a fraction of a unit, which is among what was added.
func (b *buffer) dropCarry(f *family, carry int64) {
	b.account.dropped.add(quantity{nano: carry}, f.increments())
}

// wake takes a sleeping counter in; false where there is no room.
func (b *buffer) wake(c *Counter) bool {
	if !b.hasRoom() {
		return false
	}
	b.held += len(c.family.Sequences)
	if !c.listed {
		b.awake = append(b.awake, c)
	}
	c.awake, c.listed, c.reserved = true, true, true
	c.carry = c.family.takeCarry(c.entity)
	c.family.enter(c)
	c.live.Add(asleep) // flips the sign, and leaves what was added meanwhile
	return true
}

// hasRoom reports whether there is room for another pair. Where there is none, counters that were not touched
// since the last take make some: they are asked once each, so that it costs little in all.
func (b *buffer) hasRoom() bool {
	for ; b.held+b.idle >= b.limit && b.tried < len(b.awake); b.tried++ {
		if c := b.awake[b.tried]; c.awake && !c.reserved && c.live.CompareAndSwap(0, asleep) {
			b.release(c)
		}
	}
	return b.held+b.idle < b.limit
}

// settle is what a counter calls whose live sum is negative or too large. See Counter.live.
func (b *buffer) settle(c *Counter) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		c.live.Store(asleep)
		b.account.rejected++
		return ErrClosed
	}
	if c.awake {
		b.fold(c)
		return nil
	}
	current := c.family.current(c)
	if current == c && b.wake(c) {
		return nil
	}
	q := quantity{nano: c.live.Swap(asleep) &^ asleep}
	if current == c { // there is no room
		b.drop(c, q)
		return nil
	}
	b.file(current, q.nano)
	return nil
}

// fold moves what an awake counter counted since the last time into the cell of the present.
func (b *buffer) fold(c *Counter) {
	c.touched.Store(false)
	b.file(c, c.live.Swap(0))
}

// file counts billionths of a unit from a counter's live in the present. They were taken: what a cell
// can't hold is dropped.
func (b *buffer) file(c *Counter, n int64) {
	if q := (quantity{nano: n}); n != 0 && !b.put(c, c.family.present.start, q) {
		b.drop(c, q)
	}
}

// addAll is add for many counters at one instant, under one lock. Its loop is the hot path of
// recording what has a time of its own.
func (b *buffer) addAll(t time.Time, additions []Addition) error {
	if err := checkInstant(t); err != nil {
		return b.refuse(len(additions), err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var first error
	ns := t.UnixNano()
	for i := range additions {
		c := additions[i].Counter
		if b.addFast(c, ns, additions[i].Value) {
			continue
		}
		if err := b.addSlow(c, t, additions[i].Value); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// addFast adds to the cell that the counter used last, if that is the one of t and has room.
func (b *buffer) addFast(c *Counter, ns int64, v float64) bool {
	f := c.family
	if f.buffer != b { // mu guards nothing of c then
		return false
	}
	n := len(c.cells)
	if n == 0 || !f.requested.contains(ns) {
		return false
	}
	cell := &c.cells[n-1]
	x := v * c.scale
	if cell.start != f.requested.start || !(x >= 0 && x < fastLimit) || cell.nano >= liveLimit {
		return false
	}
	cell.nano += int64(x + 0.5)
	return true
}

func (b *buffer) addSlow(c *Counter, t time.Time, v float64) error {
	if c.family.buffer != b {
		b.account.rejected++
		return ErrForeignCounter
	}
	return b.add(c, c.family.intervalOf(t), v)
}

// refuse counts n calls that failed with err.
func (b *buffer) refuse(n int, err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.account.rejected += int64(n)
	return err
}
