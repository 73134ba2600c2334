package wrstats

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/wrstats/go-wrstats/timewindow"
)

// maxOpen is how many batches may wait for their Receipt. A store that lags further behind is given no
// more; the buffer holds what is counted meanwhile, merged by counter and bucket.
const maxOpen = 64

// A sender takes what is in a buffer to the store, one batch at a time, and follows what became of it.
type sender struct {
	stats  *Stats
	buffer *buffer
	report func(error) // tells OnError

	ctx   context.Context // ends what is blocked when Close runs out of time
	abort context.CancelFunc

	// Whoever holds the one token of sending owns what follows, and Counter.keys.
	sending  chan struct{}
	closed   bool
	samples  []sample
	tallied  []*Observer // those with tallies
	batch    []Increment
	entities []Entity            // of the increments of batch
	returned map[string]returned // increments that a store did not send, by their key
	scratch  []byte

	slots     chan struct{}  // one for each open delivery
	mu        sync.Mutex     // guards open
	open      []*delivery    // handed over, not yet confirmed, oldest first
	followers sync.WaitGroup // the goroutine of follow
	handed    chan *delivery // what it is given
}

func (s *sender) init(stats *Stats, b *buffer, report func(error)) {
	s.stats, s.buffer, s.report = stats, b, report
	s.ctx, s.abort = context.WithCancel(context.Background())
	s.sending = make(chan struct{}, 1)
	s.returned = make(map[string]returned)
	s.slots = make(chan struct{}, maxOpen)
	s.handed = make(chan *delivery, maxOpen)
	s.followers.Go(s.follow)
}

// A returned increment is one that the next batch is to have.
type returned struct {
	Increment
	entity Entity
}

// acquire takes a place in a channel that counts, and returns what gives it back.
// When ctx ends while it waits, the error says for what.
func acquire(ctx context.Context, places chan struct{}, what string) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for %s: %w", what, ctx.Err())
	}
}

const (
	anotherFlush = "a flush or reset that is under way"
	confirmation = "the store to confirm earlier batches"
)

// flush hands everything buffered to the store. The delivery is what has to be confirmed yet; nil:
// nothing.
func (s *sender) flush(ctx context.Context) (*delivery, error) {
	release, err := acquire(ctx, s.sending, anotherFlush)
	if err != nil {
		return nil, s.failed(fmt.Errorf("wrstats: flush: %w", err))
	}
	defer release()
	if s.closed {
		return nil, ErrClosed
	}
	return s.send(ctx)
}

// send does the work of flush for whoever holds sending.
func (s *sender) send(ctx context.Context) (*delivery, error) {
	ctx, cancel := s.untilAbort(ctx)
	defer cancel()
	release, err := acquire(ctx, s.slots, confirmation)
	if err != nil {
		return nil, s.failed(fmt.Errorf("wrstats: flush: %w", err))
	}
	s.collect()
	if len(s.batch) == 0 {
		release()
		return nil, nil
	}
	receipt, err := s.incr(ctx, release)
	d := s.dispatch(receipt, err, release)
	if err != nil {
		err = s.failed(fmt.Errorf("wrstats: flush: %w", err))
	}
	return d, err
}

// incr gives the batch to the store. When that panics, nobody knows what became of the batch: it is lost, for
// the Writer to be of use to a caller who recovers.
func (s *sender) incr(ctx context.Context, release func()) (receipt Receipt, err error) {
	returned := false
	defer func() {
		if !returned {
			s.dispatch(nil, s.failed(errPanicked), release)
		}
	}()
	receipt, err = s.stats.store.Incr(ctx, s.batch)
	returned = true
	return receipt, err
}

var errPanicked = errors.New("wrstats: the store has panicked")

// untilAbort returns a context that ends with ctx, and when Close runs out of time.
func (s *sender) untilAbort(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// collect makes the batch of what is in the buffer and what was returned.
func (s *sender) collect() {
	s.batch, s.entities = recycle(s.batch), recycle(s.entities)
	s.samples = s.buffer.take(recycle(s.samples))
	for _, sample := range s.samples {
		s.tally(sample)
		s.appendIncrements(sample)
	}
	s.appendCounts()
	if len(s.returned) == 0 {
		return
	}
	for _, r := range s.returned {
		s.batch = append(s.batch, r.Increment)
		s.entities = append(s.entities, r.entity)
	}
	s.buffer.unreserve(len(s.returned))
	s.buffer.record(func(a *account) { a.onTheWay, a.returned = a.onTheWay+a.returned, 0 })
	s.returned = make(map[string]returned)
}

// recycle empties a slice for use again, unless it is far larger than what it held last.
func recycle[T any](s []T) []T {
	if cap(s) > 4*len(s)+1024 {
		return nil
	}
	clear(s)
	return s[:0]
}

func (s *sender) appendIncrements(sample sample) {
	c := sample.counter
	keys := s.keys(c, sample.start)
	for i := range c.family.Sequences {
		s.batch = append(s.batch, Increment{keys[i], sample.units, c.family.Sequences[i].ttl()})
		s.entities = append(s.entities, c.entity)
	}
}

// tally notes what a sample of a bin adds to the count of its Observer.
func (s *sender) tally(sample sample) {
	o := sample.counter.observer
	if o == nil {
		return
	}
	if len(o.tallies) == 0 {
		s.tallied = append(s.tallied, o)
	}
	o.tally(sample.start, sample.units)
}

// appendCounts makes increments of the tallies.
func (s *sender) appendCounts() {
	for _, o := range s.tallied {
		for _, t := range o.tallies {
			s.appendIncrements(sample{o.count, t.start, t.units})
		}
		o.tallies = recycle(o.tallies)
	}
	s.tallied = recycle(s.tallied)
}

// A keyCache holds a counter's keys, one a sequence, for the interval they were asked for last.
type keyCache struct {
	start int64
	keys  []string
}

func (s *sender) keys(c *Counter, start int64) []string {
	if cached := &c.keys; cached.keys != nil && cached.start == start {
		return cached.keys
	}
	m, name := c.family.Metric, c.name()
	c.keys.start = start
	c.keys.keys = c.keys.keys[:0]
	for i := range m.Sequences {
		seq := &m.Sequences[i]
		bucket := timewindow.Index(time.Unix(0, start), seq.Step)
		var key string
		key, s.scratch = s.stats.config.key(s.scratch, name, seq, bucket, c.entity)
		c.keys.keys = append(c.keys.keys, key)
	}
	return c.keys.keys
}

// dispatch files a batch that the store was given: what comes back to the buffer, what is applied, lost,
// or followed until that is known, when release is called.
func (s *sender) dispatch(receipt Receipt, err error, release func()) *delivery {
	units := sum(s.batch)
	for _, notSent := range notSentErrors(nil, err) {
		units -= sum(notSent.Batch)
		s.takeBack(notSent.Batch)
	}
	switch {
	case receipt != nil:
		d := &delivery{receipt: receipt, units: units, done: make(chan struct{}), release: release}
		s.track(d)
		return d
	case err != nil:
		s.buffer.record(func(a *account) { a.arrived(0, units) })
	default:
		s.buffer.record(func(a *account) { a.arrived(units, 0); a.flushes++ })
	}
	release()
	return nil
}

// notSentErrors appends all errors of that type in a tree of errors, where a store that joins the errors
// of its servers may have several.
func notSentErrors(dst []*NotSentError, err error) []*NotSentError {
	switch err := err.(type) {
	case *NotSentError:
		return append(dst, err)
	case interface{ Unwrap() error }:
		return notSentErrors(dst, err.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range err.Unwrap() {
			dst = notSentErrors(dst, err)
		}
	}
	return dst
}

func sum(batch []Increment) (units int64) {
	for i := range batch {
		units = capped(units, batch[i].Delta)
	}
	return units
}

// takeBack keeps increments for the next batch, as far as there is room.
func (s *sender) takeBack(batch []Increment) {
	entities := make(map[string]Entity, len(s.batch))
	for i := range s.batch {
		entities[s.batch[i].Key] = s.entities[i]
	}
	for _, inc := range batch {
		old, held := s.returned[inc.Key]
		if old.Delta > math.MaxInt64-inc.Delta || !held && !s.buffer.reserve() {
			s.buffer.record(func(a *account) { a.onTheWay -= inc.Delta; a.dropped.add(quantity{units: inc.Delta}, 1) })
			continue
		}
		s.buffer.record(func(a *account) { a.onTheWay -= inc.Delta; a.returned += inc.Delta })
		inc.Delta += old.Delta
		s.returned[inc.Key] = returned{inc, entities[inc.Key]}
	}
}

// failed counts an error and returns it.
func (s *sender) failed(err error) error {
	s.buffer.record(func(a *account) { a.errors++ })
	return err
}

// reset drops what is held of these entities, and deletes what is stored of them.
func (s *sender) reset(ctx context.Context, now time.Time, entities []Entity) error {
	release, err := acquire(ctx, s.sending, anotherFlush)
	if err != nil {
		return fmt.Errorf("wrstats: reset: %w", err)
	}
	defer release()
	if s.closed {
		return ErrClosed
	}
	ctx, cancel := s.untilAbort(ctx)
	defer cancel()
	_ = s.wait(ctx, nil) // for what was handed over to be there, or lost
	for _, e := range entities {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("wrstats: reset: %w", err)
		}
		s.buffer.forget(e)
		s.forgetReturned(e)
		if err := s.deleteStored(ctx, now, e); err != nil {
			return fmt.Errorf("wrstats: reset: %w", err)
		}
	}
	return nil
}

// deletions is how many keys are deleted at once.
const deletions = 10_000

// deleteStored deletes all buckets of an entity that are alive at now.
func (s *sender) deleteStored(ctx context.Context, now time.Time, e Entity) error {
	for keys := range slices.Chunk(s.appendStored(nil, now, e), deletions) {
		if err := s.stats.store.Delete(ctx, keys); err != nil {
			return err
		}
	}
	return nil
}

// appendStored appends the keys of all buckets of an entity that are alive at now. The next one is
// among them, for processes whose clock is ahead.
func (s *sender) appendStored(keys []string, now time.Time, e Entity) []string {
	for i := range s.stats.config.Metrics {
		m := &s.stats.config.Metrics[i]
		for j := range m.Sequences {
			keys = s.appendStoredOf(keys, m.Name, &m.Sequences[j], now, e)
			if m.bins == nil {
				continue
			}
			for _, bin := range m.bins.names {
				keys = s.appendStoredOf(keys, bin, &m.Sequences[j], now, e)
			}
		}
	}
	return keys
}

// appendStoredOf is appendStored of one sequence of a metric or a bin.
func (s *sender) appendStoredOf(keys []string, name string, seq *Sequence, now time.Time, e Entity) []string {
	first := timewindow.Index(now.Add(-seq.ttl()), seq.Step)
	last := timewindow.Index(now, seq.Step) + 1
	for bucket := first; bucket <= last; bucket++ {
		var key string
		key, s.scratch = s.stats.config.key(s.scratch, name, seq, bucket, e)
		keys = append(keys, key)
	}
	return keys
}

func (s *sender) forgetReturned(e Entity) {
	for key, r := range s.returned {
		if r.entity != e {
			continue
		}
		delete(s.returned, key)
		s.buffer.unreserve(1)
		s.buffer.record(func(a *account) { a.returned -= r.Delta; a.dropped.add(quantity{units: r.Delta}, 1) })
	}
}

// close sends what the buffer, closed by now, still has, waits for the store, and drops the rest.
func (s *sender) close(ctx context.Context) error {
	release, _ := acquire(context.Background(), s.sending, anotherFlush)
	defer release()
	defer s.abort()
	s.closed = true
	d, err := s.send(ctx)
	if werr := s.wait(context.Background(), d); err == nil { // bounded by abort
		err = werr
	}
	close(s.handed)
	s.followers.Wait()
	s.dropUnsent()
	return err
}

// dropUnsent ends what close could not send.
func (s *sender) dropUnsent() {
	s.collect()
	units := sum(s.batch)
	s.buffer.record(func(a *account) { a.onTheWay -= units; a.dropped.add(quantity{units: units}, 1) })
	s.buffer.forgetCarries()
	s.batch, s.entities, s.samples, s.returned = nil, nil, nil, nil
}
