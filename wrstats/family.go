package wrstats

import (
	"maps"
	"runtime"
	"sync"
	"time"
	"weak"
)

// A family is the counters of one metric in a buffer.
type family struct {
	*Metric
	buffer *buffer

	index    sync.RWMutex        // guards byEntity together with buffer.mu: reading takes either, writing both
	byEntity map[Entity]*Counter // those that are awake

	// The rest is guarded by buffer.mu.
	handles   map[Entity]handle // those that a user may have
	awakePeak peak              // of byEntity
	givenPeak peak              // of handles
	present   interval
	requested interval // of intervalOf, the last time
}

// A handle is a counter that a user has, and the fraction of a unit that it carries while it is asleep.
type handle struct {
	counter weak.Pointer[Counter]
	carry   int64
}

func newFamily(b *buffer, m *Metric, now time.Time) *family {
	present := intervalOf(m.Sequences, now)
	return &family{
		Metric:    m,
		buffer:    b,
		byEntity:  make(map[Entity]*Counter),
		handles:   make(map[Entity]handle),
		present:   present,
		requested: present,
	}
}

// increments is how many increments a value makes: one for each sequence, and of a distribution those of a
// bin and of the count.
func (f *family) increments() int {
	if f.bins != nil {
		return 2 * len(f.Sequences)
	}
	return len(f.Sequences)
}

// known returns the counter of an entity if it is awake. It is the hot path of counting by name.
func (f *family) known(e Entity) *Counter {
	f.index.RLock()
	c := f.byEntity[e]
	f.index.RUnlock()
	return c
}

// counter returns the counter of an entity, a new one if need be. The caller holds buffer.mu, as in
// all that follows.
func (f *family) counter(e Entity) *Counter {
	if c := f.byEntity[e]; c != nil {
		return c
	}
	if c := f.handles[e].counter.Value(); c != nil {
		return c
	}
	c := newCounter(f, e)
	if f.bins != nil {
		c.observer = newObserver(c)
	}
	return c
}

// handOut notes that a user has the counter, until the collector finds that nobody has it any more.
func (f *family) handOut(c *Counter) {
	if c.handle {
		return
	}
	c.handle = true
	f.handles[c.entity] = handle{weak.Make(c), f.handles[c.entity].carry}
	runtime.AddCleanup(c, f.letGo, c.entity)
}

// letGo forgets the handle of an entity, unless there is a new one. The runtime calls it.
func (f *family) letGo(e Entity) {
	f.buffer.mu.Lock()
	defer f.buffer.mu.Unlock()
	if f.handles[e].counter.Value() != nil {
		return
	}
	f.buffer.dropCarry(f, f.takeCarry(e))
	f.handles = shrunk(&f.givenPeak, f.handles)
	delete(f.handles, e)
}

// putCarry keeps what a handle carries into its sleep, and takeCarry returns it for the waking.
func (f *family) putCarry(e Entity, carry int64) {
	f.handles[e] = handle{f.handles[e].counter, carry}
	f.buffer.account.resting += carry * int64(f.increments())
}

func (f *family) takeCarry(e Entity) (carry int64) {
	h := f.handles[e]
	if h.carry == 0 {
		return 0
	}
	f.handles[e] = handle{h.counter, 0}
	f.buffer.account.resting -= h.carry * int64(f.increments())
	return h.carry
}

// current returns the counter that an entity has in the buffer, which is not c when c went to sleep
// before the entity was counted by name again; else c.
func (f *family) current(c *Counter) *Counter {
	other := f.byEntity[c.entity]
	switch {
	case other == nil || other.observer == c.observer && c.observer != nil:
		return c
	case c.observer != nil:
		return other.observer.atLocked(c.bin)
	}
	return other
}

// enter and leave keep the index. An Observer is in it while a bin is awake.
func (f *family) enter(c *Counter) {
	if o := c.observer; o != nil {
		if o.awake++; o.awake > 1 {
			return
		}
		f.buffer.held += o.room()
		c = o.count
	}
	f.index.Lock()
	f.byEntity[c.entity] = c
	f.index.Unlock()
}

func (f *family) leave(c *Counter) {
	if o := c.observer; o != nil {
		if o.awake--; o.awake > 0 {
			return
		}
		f.buffer.held -= o.room()
	}
	f.index.Lock()
	delete(f.byEntity, c.entity)
	f.index.Unlock()
}

// intervalOf returns the start of the interval of t, an instant that checkInstant passed.
func (f *family) intervalOf(t time.Time) (start int64) {
	if !f.requested.contains(t.UnixNano()) {
		f.requested = intervalOf(f.Sequences, t)
	}
	return f.requested.start
}

// advance makes the interval of now the present one.
func (f *family) advance(now time.Time) {
	for _, c := range f.byEntity {
		c.each(f.buffer.fold)
	}
	f.present = intervalOf(f.Sequences, now)
}

// shrink gives the memory of an index back that was much larger once.
func (f *family) shrink() {
	smaller := shrunk(&f.awakePeak, f.byEntity)
	f.index.Lock()
	f.byEntity = smaller
	f.index.Unlock()
}

// A peak is the largest that a map has been since it was made.
type peak int

// shrunk returns a map, or a copy if it is far below its peak: a map never gives memory back by itself.
func shrunk[V any](p *peak, m map[Entity]V) map[Entity]V {
	const small = 1024
	*p = max(*p, peak(len(m)))
	if *p < small || len(m) > int(*p)/4 {
		return m
	}
	*p = peak(len(m))
	return maps.Clone(m)
}
