package promstats

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wrstats/go-wrstats/wrstats"
)

// Rates is a collector of gauges that are read from a store. All that it shows comes from one read, which is
// one multi-get for all gauges and entities, and which all scrapes within [Options.MaxAge] share. A read
// begins with a scrape, never by itself, and there is one at a time. A scrape waits for it up to
// [Options.Timeout], also when the store does not keep to that, and then shows the values of before, if they
// are not older than [Options.MaxStale].
//
// When a read fails, the values of before are shown likewise. When some of the servers do not answer, what the
// others have is shown: totals and rates miss the windows of those servers, and means have fewer samples.
//
// Beside the gauges there are, for the collector as a whole,
//
//	wrstats_rates_reads_total                   reads that have ended
//	wrstats_rates_read_errors_total{kind}       of those, which failed, or were partial: some servers did not answer
//	wrstats_rates_last_read_timestamp_seconds   when the values were read, as Unix time; 0 before the first
//
// and for each name of a gauge, as long as its values are shown,
//
//	wrstats_rates_windows{gauge}                windows that were asked for, over all entities
//	wrstats_rates_missing_windows{gauge}        of those, which had no key: nothing was recorded, or it is lost
//	wrstats_rates_skipped_entities{gauge}       entities that the labels do not fit, or not tell apart
//
// A Rates has no goroutine but while a read goes on, and nothing to close.
type Rates struct {
	reader *wrstats.Reader
	gauges []shown
	opts   Options
	descs  ratesDescs

	mu              sync.Mutex // guards what follows
	last            *attempt   // nil: none yet
	busy            bool       // the last attempt's goroutine has not ended
	snapshot        *snapshot  // of the last read that had values; nil: none yet
	reads           int64
	failed, partial int64
}

// An attempt is a read that was begun.
type attempt struct {
	began time.Time
	done  chan struct{} // closed when its outcome is known
}

// NewRates returns a collector of gauges that it reads with r. An error names the field that is wrong, or is
// the reader's: of a metric that it does not know, or a span that can't be read. No server is asked.
func NewRates(r *wrstats.Reader, gauges []Gauge, opts Options) (*Rates, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Rates{reader: r, opts: opts, descs: newRatesDescs(opts.ConstLabels)}
	for i := range gauges {
		g, err := newShown(r, &gauges[i], opts.ConstLabels)
		if err != nil {
			return nil, fmt.Errorf("promstats: gauge %d: %w", i, err)
		}
		c.gauges = append(c.gauges, g)
	}
	if err := checkTwins(gauges); err != nil {
		return nil, err
	}
	if err := prometheus.NewRegistry().Register(c); err != nil { // knows all rules about names and labels
		return nil, fmt.Errorf("promstats: %w", err)
	}
	return c, nil
}

// Describe implements [prometheus.Collector].
func (c *Rates) Describe(ch chan<- *prometheus.Desc) {
	for i := range c.gauges {
		ch <- c.gauges[i].desc
	}
	c.descs.describe(ch)
}

// Collect implements [prometheus.Collector].
func (c *Rates) Collect(ch chan<- prometheus.Metric) {
	now := time.Now()
	a := c.attempt(now)
	timer := time.NewTimer(a.began.Add(c.opts.Timeout).Sub(now))
	defer timer.Stop()
	select {
	case <-a.done:
	case <-timer.C:
	}
	for _, m := range c.metrics(time.Now()) {
		ch <- m
	}
}

// attempt returns the read that a scrape is to wait for, which it begins if need be.
func (c *Rates) attempt(now time.Time) *attempt {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy || c.last != nil && now.Sub(c.last.began) < c.opts.MaxAge {
		return c.last
	}
	c.last, c.busy = &attempt{began: now, done: make(chan struct{})}, true
	go c.read(c.last)
	return c.last
}

func (c *Rates) read(a *attempt) {
	ctx, cancel := context.WithTimeout(context.Background(), c.opts.Timeout)
	defer cancel()
	s, err := c.take(ctx, a.began)
	c.publish(s, err)
	close(a.done)
	if err != nil && c.opts.OnError != nil {
		c.opts.OnError(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = false
}

// publish files the outcome of a read. s is nil when it has no values.
func (c *Rates) publish(s *snapshot, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	if s == nil {
		c.failed++
		return
	}
	c.snapshot = s
	if err != nil {
		c.partial++
	}
}

// metrics returns what a scrape shows.
func (c *Rates) metrics(now time.Time) []prometheus.Metric {
	c.mu.Lock()
	defer c.mu.Unlock()
	var at float64
	var metrics []prometheus.Metric
	if s := c.snapshot; s != nil {
		at = float64(s.at.UnixNano()) / float64(time.Second)
		if now.Sub(s.at) <= c.opts.MaxStale {
			metrics = s.metrics[:len(s.metrics):len(s.metrics)]
		}
	}
	return append(metrics,
		constMetric(c.descs.reads, prometheus.CounterValue, float64(c.reads)),
		constMetric(c.descs.errors, prometheus.CounterValue, float64(c.failed), "failed"),
		constMetric(c.descs.errors, prometheus.CounterValue, float64(c.partial), "partial"),
		constMetric(c.descs.at, prometheus.GaugeValue, at),
	)
}
