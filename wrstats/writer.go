package wrstats

import (
	"context"
	"sync"
	"time"
)

// The defaults of [WriterOptions].
const (
	DefaultFlushInterval = time.Second
	DefaultFlushTimeout  = 5 * time.Second
	DefaultMaxPending    = 1 << 18
)

// WriterOptions tune a [Writer]. The zero value is right for most.
type WriterOptions struct {
	// FlushInterval is how often the Writer flushes by itself; 0: DefaultFlushInterval; negative:
	// only Flush, Sync and Close do.
	FlushInterval time.Duration

	// FlushTimeout bounds one flush in the background; 0 or less: DefaultFlushTimeout.
	FlushTimeout time.Duration

	// MaxPending is the most (counter, bucket) pairs that are held at once, a pair taking some 300
	// bytes; 0 or less: DefaultMaxPending. What would take more is dropped and counted. Each bin of a
	// distribution that was hit is a counter; an entity of one takes a pair a sequence more, and one for
	// each 32 bins that can be. While a store refuses what it is given, up to as many again can be held: what
	// came back, and what the same counters count meanwhile.
	MaxPending int

	// OnError hears why a flush in the background failed, and of each batch that is lost later; nil:
	// failures are counted only. A goroutine of its own calls it, with one error after the other; while
	// it is slow some are left out. Close waits until it returns, so it must not call Close.
	OnError func(error)
}

func (o WriterOptions) withDefaults() WriterOptions {
	if o.FlushInterval == 0 {
		o.FlushInterval = DefaultFlushInterval
	}
	if o.FlushTimeout <= 0 {
		o.FlushTimeout = DefaultFlushTimeout
	}
	if o.MaxPending <= 0 {
		o.MaxPending = DefaultMaxPending
	}
	return o
}

// A Writer buffers increments in memory and hands them to the store in the background. Counting
// never waits for the store. All methods are safe for concurrent use.
//
// Nothing that Add took is lost before a flush, and an increment belongs to the bucket of its own time.
// Values are added up in billionths of their metric's resolution, and fractions of a unit are carried
// until they make one. From a flush on it is at most once: what may have reached a server is never sent
// twice, and [WriterStats] says what was lost. What certainly did not reach one stays in the buffer for
// the next flush. At most 64 batches are unconfirmed at once; then the buffer waits.
//
// An entity that is not touched from one flush to the next leaves the buffer. A fraction of a unit that
// it carries stays with its handle, if it has one, and else is dropped when its bucket has ended.
//
// A Writer has a few goroutines, and holds what it did not flush: Close it.
type Writer struct {
	stats  *Stats
	opts   WriterOptions
	buffer buffer
	byName map[string]*family
	sender sender

	stop     chan struct{} // closed when Close begins
	loops    sync.WaitGroup
	reports  reports
	closing  sync.Once
	closeErr error
}

// NewWriter returns a Writer and starts its goroutines.
func (s *Stats) NewWriter(opts WriterOptions) *Writer {
	w := &Writer{
		stats:  s,
		opts:   opts.withDefaults(),
		byName: make(map[string]*family, len(s.metrics)),
		stop:   make(chan struct{}),
	}
	w.buffer.limit = w.opts.MaxPending
	now := time.Now()
	for i := range s.config.Metrics {
		f := newFamily(&w.buffer, &s.config.Metrics[i], now)
		w.buffer.families = append(w.buffer.families, f)
		w.byName[f.Name] = f
	}
	w.reports.start(w.opts.OnError)
	w.sender.init(s, &w.buffer, w.reports.add)
	w.loops.Go(w.advanceLoop)
	if w.opts.FlushInterval > 0 {
		w.loops.Go(w.flushLoop)
	}
	return w
}

// Add adds v, in the metric's unit, to the present buckets of an entity. It touches memory only, and
// allocates nothing for an entity that is in the buffer. At the edge of a bucket it may be off by as
// much as a timer of the runtime is late, usually less than a few milliseconds.
//
// The error wraps [ErrUnknownMetric], [ErrWrongKind], [ErrInvalidValue] or [ErrClosed]. What is dropped because
// MaxPending is reached is no error, but counted in [WriterStats.Dropped].
func (w *Writer) Add(metric string, e Entity, v float64) error {
	f, err := w.family(metric, added)
	if err != nil {
		return err
	}
	if c := f.known(e); c != nil {
		return c.add(v)
	}
	w.buffer.mu.Lock()
	defer w.buffer.mu.Unlock()
	return w.buffer.add(f.counter(e), f.present.start, v)
}

// AddAt is Add for what happened at t, which may be long ago or to come: it goes to the buckets that
// t belongs to, exactly.
func (w *Writer) AddAt(t time.Time, metric string, e Entity, v float64) error {
	f, err := w.family(metric, added)
	if err != nil {
		return err
	}
	if err := checkInstant(t); err != nil {
		return w.buffer.refuse(1, err)
	}
	w.buffer.mu.Lock()
	defer w.buffer.mu.Unlock()
	return w.buffer.add(f.counter(e), f.intervalOf(t), v)
}

// Counter returns a handle for counting one metric of one entity in a hot path. The error wraps
// [ErrUnknownMetric], [ErrWrongKind] or [ErrClosed].
func (w *Writer) Counter(metric string, e Entity) (*Counter, error) {
	f, err := w.family(metric, added)
	if err != nil {
		return nil, err
	}
	return w.handle(f, e)
}

// handle returns the counter of an entity for a user to keep.
func (w *Writer) handle(f *family, e Entity) (*Counter, error) {
	w.buffer.mu.Lock()
	defer w.buffer.mu.Unlock()
	if w.buffer.closed {
		return nil, ErrClosed
	}
	c := f.counter(e)
	f.handOut(c)
	return c, nil
}

// An Addition is a value to add to a counter.
type Addition struct {
	Counter *Counter
	Value   float64 // in the metric's unit
}

// AddAllAt adds many additions that belong to one instant, as [Counter.AddAt] does each, at a fraction
// of the cost. It keeps nothing of additions. It adds all that is valid, and returns the first error of
// what is not.
func (w *Writer) AddAllAt(t time.Time, additions []Addition) error {
	return w.buffer.addAll(t, additions)
}

func (w *Writer) family(metric string, k kind) (*family, error) {
	if f := w.byName[metric]; f != nil && f.kind() == k {
		return f, nil
	}
	_, err := w.stats.metricOf(metric, k)
	return nil, w.buffer.refuse(1, err)
}

// maxAdvanceSleep bounds how late the Writer sees that the system's clock was set.
const maxAdvanceSleep = time.Second

// advanceLoop moves the buffer into the next interval at each edge.
func (w *Writer) advanceLoop() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-timer.C:
			timer.Reset(min(w.buffer.advance(), maxAdvanceSleep))
		}
	}
}

func (w *Writer) flushLoop() {
	ticker := time.NewTicker(w.opts.FlushInterval)
	defer ticker.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-ticker.C:
			w.flushInBackground()
		}
	}
}

func (w *Writer) flushInBackground() {
	ctx, cancel := context.WithTimeout(context.Background(), w.opts.FlushTimeout)
	defer cancel()
	if err := w.Flush(ctx); err != nil {
		w.reports.add(err)
	}
}

// Flush hands everything buffered to the store, in one batch, and does not wait until the servers have
// applied it. It blocks while another flush is handing over and while the store takes the batch. What
// certainly was not sent stays in the buffer; the error says why.
func (w *Writer) Flush(ctx context.Context) error {
	_, err := w.sender.flush(ctx)
	return err
}

// Sync is Flush, and then waits until the servers have applied all that was handed over. The error says
// what was not sent or is lost.
func (w *Writer) Sync(ctx context.Context) error {
	d, err := w.sender.flush(ctx)
	if werr := w.sender.wait(ctx, d); err == nil {
		err = werr
	}
	return err
}

// Reset forgets what is pending of these entities, which counts as dropped, and deletes what is stored
// of them in the buckets that their sequences reach back to. It waits for what was handed over before.
// What is counted while Reset runs may or may not be forgotten.
func (w *Writer) Reset(ctx context.Context, entities ...Entity) error {
	return w.ResetAt(ctx, time.Now(), entities...)
}

// ResetAt is Reset of the buckets that a read at now would find.
func (w *Writer) ResetAt(ctx context.Context, now time.Time, entities ...Entity) error {
	if err := checkInstant(now); err != nil {
		return err
	}
	return w.sender.reset(ctx, now, entities)
}

// Close stops the Writer, flushes a last time, and waits until the servers have applied everything or
// ctx ends. What the store does not take in that flush is dropped, and what it does not confirm is lost;
// the error says why. Close is idempotent: later calls wait for the first and return its error.
func (w *Writer) Close(ctx context.Context) error {
	w.closing.Do(func() { w.closeErr = w.close(ctx) })
	return w.closeErr
}

func (w *Writer) close(ctx context.Context) error {
	defer context.AfterFunc(ctx, w.sender.abort)()
	close(w.stop)
	w.loops.Wait()
	w.buffer.close()
	err := w.sender.close(ctx)
	if rerr := w.reports.close(ctx); err == nil {
		err = rerr
	}
	return err
}

// WriterStats are a Writer's own counters since it was made. Values are sums in units of their metric's
// resolution; what a metric with several sequences is given counts once for each of them. At any time
// Added = Flushed + Lost + Dropped + Pending, and with what the servers hold in "stored",
// stored <= Added and stored + Lost + Dropped + Pending >= Added, without Reset.
type WriterStats struct {
	Added   float64 // taken by Add and its kin; an observed value is two, for its bin and the count
	Flushed float64 // confirmed by the store
	Lost    float64 // handed over, and failed or of unknown outcome
	Dropped float64 // not handed over: no room, forgotten by Reset, a fraction left over, or Close failed
	Pending float64 // in the buffer, or handed over and not yet confirmed

	Rejected int64 // calls that were refused: invalid value or instant, unknown metric, after Close
	Flushes  int64 // batches that the store took, in whole or in part
	Errors   int64 // flushes that failed and batches that were lost
}

// Stats returns the Writer's counters. It takes time in proportion to the counters in the buffer.
func (w *Writer) Stats() WriterStats {
	a, pending := w.buffer.balance()
	return WriterStats{
		Added:    a.added.float(),
		Flushed:  float64(a.flushed),
		Lost:     float64(a.lost),
		Dropped:  a.dropped.float(),
		Pending:  pending.float(),
		Rejected: a.rejected,
		Flushes:  a.flushes,
		Errors:   a.errors,
	}
}
