package promstats

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/wrstats/go-wrstats/wrstats"
)

// NewStore returns a collector of what a Store has done, with these labels on each series; nil: none. It
// shows the measures of one that is [wrstats.Measured], as all backends of this module are, and nothing of
// any other. A measure is called wrstats_ and its own name, and has _total at its end unless it is a gauge:
// wrstats_memcached_read_bytes_total{server="10.0.0.1:11211"}.
//
// A scrape touches no server. It may go on after the Store's Close.
func NewStore(store wrstats.Store, labels prometheus.Labels) prometheus.Collector {
	measured, _ := store.(wrstats.Measured)
	return &storeCollector{measured, labels}
}

type storeCollector struct {
	store  wrstats.Measured // nil: it tells nothing
	labels prometheus.Labels
}

func (c *storeCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range c.measures() {
		ch <- c.desc(&m)
	}
}

func (c *storeCollector) Collect(ch chan<- prometheus.Metric) {
	for _, m := range c.measures() {
		desc, kind := c.desc(&m), prometheus.CounterValue
		if m.Gauge {
			kind = prometheus.GaugeValue
		}
		for _, v := range m.Values {
			ch <- constMetric(desc, kind, v.Value, v.Labels...)
		}
	}
}

func (c *storeCollector) measures() []wrstats.Measure {
	if c.store == nil {
		return nil
	}
	return c.store.Measures()
}

func (c *storeCollector) desc(m *wrstats.Measure) *prometheus.Desc {
	name := "wrstats_" + m.Name
	if !m.Gauge {
		name += "_total"
	}
	return prometheus.NewDesc(name, m.Help, m.Labels, c.labels)
}
