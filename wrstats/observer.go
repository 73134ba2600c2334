package wrstats

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// An Observer is a handle for observing values of one entity in a hot path, of a metric that has a
// [Distribution]. [Writer.Distribution] makes it. What [Counter] says holds for it: observing touches
// memory only, is one atomic addition as a rule, and is safe for concurrent use. A value of a bin that was
// not hit before, or not since the last flush but one, takes a short lock.
//
// NaN is refused. What is refused, and what comes after the Writer's Close, is counted in
// [WriterStats.Rejected].
//
// An Observer that was handed out keeps its bins, some 8 bytes each and 300 for those that were hit.
type Observer struct {
	table binTable
	bins  []atomic.Pointer[Counter] // by position; nil until they are hit
	count *Counter                  // stands for the Observer in its family and has the keys of the count; never counts itself
	made  []*Counter                // of bins; guarded by buffer.mu, as is awake
	awake int                       // of made

	tallies []tally // of whoever holds sender.sending
}

// newObserver makes count the counter of a new Observer.
func newObserver(count *Counter) *Observer {
	b := count.family.bins
	return &Observer{table: b.table, bins: make([]atomic.Pointer[Counter], len(b.names)), count: count}
}

// Observe counts v, in the metric's unit, in the buckets of the present. As to edges it is like
// [Counter.Add].
func (o *Observer) Observe(v float64) {
	if position, ok := o.table.find(v); ok {
		if c := o.bins[position].Load(); c != nil {
			if n := c.live.Add(nano); n >= 0 && n < liveLimit {
				return
			}
			_ = c.family.buffer.settle(c)
			return
		}
	}
	_ = o.observe(v)
}

// ObserveAt counts v in the buckets that t belongs to, exactly.
func (o *Observer) ObserveAt(t time.Time, v float64) { _ = o.observeAt(t, v) }

// Addition returns what observes v when [Writer.AddAllAt] is given it, for observing many values at one
// instant together. It may be kept and used again, and its Value changed to how often v is observed. That of NaN
// is refused there.
func (o *Observer) Addition(v float64) Addition {
	if position, ok := o.table.find(v); ok {
		if c := o.bins[position].Load(); c != nil {
			return Addition{c, 1}
		}
	}
	return o.addition(v)
}

// addition is the long way of Addition.
func (o *Observer) addition(v float64) Addition {
	c, err := o.bin(v)
	if err != nil {
		return Addition{o.at(0), math.NaN()} // for AddAllAt to refuse it
	}
	return Addition{c, 1}
}

// observe is the long way of Observe.
func (o *Observer) observe(v float64) error {
	c, err := o.bin(v)
	if err != nil {
		return o.count.family.buffer.refuse(1, err)
	}
	return c.add(1)
}

func (o *Observer) observeAt(t time.Time, v float64) error {
	c, err := o.bin(v)
	if err != nil {
		return o.count.family.buffer.refuse(1, err)
	}
	return c.addAt(t, 1)
}

// bin returns the counter of the bin that v counts in.
func (o *Observer) bin(v float64) (*Counter, error) {
	f := o.count.family
	position, ok := f.bins.position(v)
	if !ok {
		return nil, fmt.Errorf("%w: %v of metric %q", ErrInvalidValue, v, f.Name)
	}
	return o.at(position), nil
}

// at returns the counter of a bin, a new one if need be.
func (o *Observer) at(position int) *Counter {
	if c := o.bins[position].Load(); c != nil {
		return c
	}
	b := o.count.family.buffer
	b.mu.Lock()
	defer b.mu.Unlock()
	return o.atLocked(position)
}

// atLocked is at for who holds buffer.mu.
func (o *Observer) atLocked(position int) *Counter {
	if c := o.bins[position].Load(); c != nil {
		return c
	}
	c := newCounter(o.count.family, o.count.entity)
	c.observer, c.bin = o, position
	o.made = append(o.made, c)
	o.bins[position].Store(c)
	return c
}

// observersBins is how many bins take as much memory as what [WriterOptions.MaxPending] calls a pair.
const observersBins = 32

// room is how many pairs an Observer takes beside those of its bins.
func (o *Observer) room() int { return len(o.count.family.Sequences) + len(o.bins)/observersBins }

// A tally is what an Observer's bins came to in an interval. It is what the count is to be incremented by:
// nobody adds to that itself.
type tally struct {
	start int64
	units int64
}

// tally adds to the Observer's tallies.
func (o *Observer) tally(start, units int64) {
	for i := range o.tallies {
		if t := &o.tallies[i]; t.start == start {
			t.units = capped(t.units, units)
			return
		}
	}
	o.tallies = append(o.tallies, tally{start, units})
}

// Observe counts a value v of a metric that has a [Distribution], in the present buckets of an entity. As
// to edges and memory it is like [Writer.Add]. NaN is refused; values below Min and above Max count in the
// first and the last bin.
//
// The error wraps [ErrUnknownMetric], [ErrWrongKind], [ErrInvalidValue] or [ErrClosed]. What is dropped
// because MaxPending is reached is no error, but counted in [WriterStats.Dropped].
func (w *Writer) Observe(metric string, e Entity, v float64) error {
	o, err := w.observer(metric, e)
	if err != nil {
		return err
	}
	return o.observe(v)
}

// ObserveAt is Observe for what happened at t: it goes to the buckets that t belongs to, exactly.
func (w *Writer) ObserveAt(t time.Time, metric string, e Entity, v float64) error {
	o, err := w.observer(metric, e)
	if err != nil {
		return err
	}
	return o.observeAt(t, v)
}

// Distribution returns a handle for observing values of one entity in a hot path. The error wraps
// [ErrUnknownMetric], [ErrWrongKind] or [ErrClosed].
func (w *Writer) Distribution(metric string, e Entity) (*Observer, error) {
	f, err := w.family(metric, observed)
	if err != nil {
		return nil, err
	}
	c, err := w.handle(f, e)
	if err != nil {
		return nil, err
	}
	return c.observer, nil
}

// observer returns the Observer of an entity, for counting by name.
func (w *Writer) observer(metric string, e Entity) (*Observer, error) {
	f, err := w.family(metric, observed)
	if err != nil {
		return nil, err
	}
	if c := f.known(e); c != nil {
		return c.observer, nil
	}
	w.buffer.mu.Lock()
	defer w.buffer.mu.Unlock()
	return f.counter(e).observer, nil
}
