package wrstats

import (
	"math"
	"sync/atomic"
	"time"
)

// A Counter is a handle for counting one metric of one entity in a hot path. [Writer.Counter] makes
// it. Its methods touch memory only, and are safe for concurrent use. Adding is one atomic addition as a
// rule; the first after a flush that the counter was not touched before, and a value of more than 70,000
// units of the resolution, take a short lock. What is refused, and what comes after the Writer's
// Close, is counted in [WriterStats.Rejected].
//
// A handle costs its Writer little while it is not used. All handles of an entity are the same Counter.
type Counter struct {
	// What counting at an instant needs is first, on one cache line as a rule; live is a line away, so
	// that those who add to it do not take this line from each other.
	scale  float64 // billionths of a unit in a value of 1
	family *family
	cells  []cell  // what was taken from live or came with an instant of its own; guarded by buffer.mu
	first  [1]cell // where cells begins
	entity Entity

	// live counts, in billionths of a unit, what Add was given since the buffer took it last. It is
	// negative while the counter is asleep: whoever adds to it then sees that in the sum, and wakes it
	// before returning, so that no flush after an Add can miss it.
	live atomic.Int64

	// touched says that there is a cell of the present, so that adding 0 changes nothing. It is
	// written under buffer.mu.
	touched atomic.Bool

	// The rest is guarded by buffer.mu.
	awake    bool
	listed   bool  // it is in buffer.awake
	reserved bool  // its first cell is among buffer.held; a counter that stays awake is not until it has one
	handle   bool  // the user has it: it must stay the entity's only Counter while it is referenced
	carry    int64 // billionths of a unit that did not make a unit yet
	last     int64 // the start of the interval in which it was touched last

	keys keyCache // of whoever holds sender.sending

	observer *Observer // that it is a bin of, or the count of; nil: a counter by itself
	bin      int       // its position

	_ [1]int64 // to whole cache lines, so that the allocator aligns counters to them
}

// newCounter returns a counter that is asleep.
func newCounter(f *family, e Entity) *Counter {
	c := &Counter{family: f, entity: e, scale: nano / f.Resolution}
	c.cells = c.first[:0]
	c.live.Store(asleep)
	return c
}

// name is what stands in its keys for the metric.
func (c *Counter) name() string {
	if o := c.observer; o != nil && c != o.count {
		return c.family.bins.names[c.bin]
	}
	return c.family.Name
}

// each calls do with what counts for a counter of the index: itself, or those bins of the Observer it stands
// for that are awake.
func (c *Counter) each(do func(*Counter)) {
	if c.observer == nil {
		do(c)
		return
	}
	for _, bin := range c.observer.made {
		if bin.awake {
			do(bin)
		}
	}
}

// A cell is what a counter counted in one interval.
type cell struct {
	start int64 // of the interval
	quantity
}

// Inc adds 1.
func (c *Counter) Inc() { c.Add(1) }

// Add adds v, in the metric's unit, to the buckets of the present. At the edge of a bucket it may be
// off by as much as a timer of the runtime is late, usually less than a few milliseconds.
func (c *Counter) Add(v float64) {
	_ = c.add(v)
}

// AddAt adds v to the buckets that t belongs to, exactly.
func (c *Counter) AddAt(t time.Time, v float64) {
	_ = c.addAt(t, v)
}

const (
	asleep    = math.MinInt64
	fastLimit = 1 << 46 // the largest increment for live, some 70,000 units
	liveLimit = 1 << 60 // live is emptied into a cell when it passes this; 100,000 goroutines can add meanwhile
)

func (c *Counter) add(v float64) error {
	x := v * c.scale
	if !(x >= 1 && x < fastLimit) { // NaN too
		return c.addSlow(v)
	}
	if n := c.live.Add(int64(x + 0.5)); n >= 0 && n < liveLimit {
		return nil
	}
	return c.family.buffer.settle(c)
}

// addSlow adds what is no fast increment: 0, which is to be sent too, the very small, the large, and
// the invalid.
func (c *Counter) addSlow(v float64) error {
	if v == 0 && c.touched.Load() {
		return nil
	}
	b := c.family.buffer
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.add(c, c.family.present.start, v); err != nil {
		return err
	}
	c.touched.Store(len(c.cells) > 0)
	return nil
}

func (c *Counter) addAt(t time.Time, v float64) error {
	b := c.family.buffer
	if err := checkInstant(t); err != nil {
		return b.refuse(1, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.add(c, c.family.intervalOf(t), v)
}
