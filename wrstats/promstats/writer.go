package promstats

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/wrstats/go-wrstats/wrstats"
)

// A Writer is a [wrstats.Writer], or what has one and tells of it, such as a profile.Profiler.
type Writer interface{ Stats() wrstats.WriterStats }

// NewWriter returns a collector of a Writer's own counters, [wrstats.WriterStats], with these labels on each;
// nil: none. Those called units are sums of values in units of their metric's resolution, for all
// metrics of the Writer. At any scrape
//
//	added_units_total = flushed_units_total + lost_units_total + dropped_units_total + pending_units
//
// A scrape costs what [wrstats.Writer.Stats] does: it goes through the counters in the buffer, touches no
// store, and holds up no counting but what needs the buffer's lock. It may go on after the Writer's Close.
func NewWriter(w Writer, labels prometheus.Labels) prometheus.Collector {
	c := &writerCollector{writer: w}
	for _, s := range writerSeries {
		c.descs = append(c.descs, prometheus.NewDesc("wrstats_writer_"+s.name, s.help, nil, labels))
	}
	return c
}

type writerCollector struct {
	writer Writer
	descs  []*prometheus.Desc // of writerSeries
}

var writerSeries = [...]struct {
	name, help string
	kind       prometheus.ValueType
	of         func(*wrstats.WriterStats) float64
}{
	{"added_units_total", "Units that the Writer took.", prometheus.CounterValue,
		func(s *wrstats.WriterStats) float64 { return s.Added }},
	{"flushed_units_total", "Units that the store confirmed.", prometheus.CounterValue,
		func(s *wrstats.WriterStats) float64 { return s.Flushed }},
	{"lost_units_total", "Units that were handed to the store, and failed or are of unknown outcome.", prometheus.CounterValue,
		func(s *wrstats.WriterStats) float64 { return s.Lost }},
	{"dropped_units_total", "Units that were not handed to the store, for want of room or by a reset.", prometheus.CounterValue,
		func(s *wrstats.WriterStats) float64 { return s.Dropped }},
	{"pending_units", "Units in the buffer, or handed to the store and not yet confirmed.", prometheus.GaugeValue,
		func(s *wrstats.WriterStats) float64 { return s.Pending }},
	{"rejected_calls_total", "Calls that the Writer refused.", prometheus.CounterValue,
		func(s *wrstats.WriterStats) float64 { return float64(s.Rejected) }},
	{"flushes_total", "Batches that the store took, in whole or in part.", prometheus.CounterValue,
		func(s *wrstats.WriterStats) float64 { return float64(s.Flushes) }},
	{"errors_total", "Flushes that failed, and batches that were lost.", prometheus.CounterValue,
		func(s *wrstats.WriterStats) float64 { return float64(s.Errors) }},
}

func (c *writerCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range c.descs {
		ch <- desc
	}
}

func (c *writerCollector) Collect(ch chan<- prometheus.Metric) {
	stats := c.writer.Stats()
	for i, s := range writerSeries {
		ch <- constMetric(c.descs[i], s.kind, s.of(&stats))
	}
}

// constMetric returns a metric, or what makes the scrape fail and say why.
func constMetric(desc *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) prometheus.Metric {
	m, err := prometheus.NewConstMetric(desc, kind, v, labels...)
	if err != nil {
		return prometheus.NewInvalidMetric(desc, err)
	}
	return m
}
