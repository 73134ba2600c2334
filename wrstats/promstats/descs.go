package promstats

import "github.com/prometheus/client_golang/prometheus"

// ratesDescs are what Rates tells of itself.
type ratesDescs struct {
	reads, errors, at         *prometheus.Desc
	windows, missing, skipped *prometheus.Desc // for each name of a gauge
}

func newRatesDescs(labels prometheus.Labels) ratesDescs {
	desc := func(name, help string, label ...string) *prometheus.Desc {
		return prometheus.NewDesc("wrstats_rates_"+name, help, label, labels)
	}
	return ratesDescs{
		reads: desc("reads_total", "Reads of the store that have ended."),
		errors: desc("read_errors_total",
			"Reads of the store that failed, or were partial: some of its servers did not answer.", "kind"),
		at: desc("last_read_timestamp_seconds",
			"When the values that are shown were read, as Unix time; 0 before the first."),
		windows: desc("windows", "Windows that were asked for, over all entities of the gauge.", "gauge"),
		missing: desc("missing_windows",
			"Windows that had no key: nothing was recorded in them, or it is lost.", "gauge"),
		skipped: desc("skipped_entities",
			"Entities that the labels of the gauge do not fit, or not tell apart.", "gauge"),
	}
}

func (d *ratesDescs) describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{d.reads, d.errors, d.at, d.windows, d.missing, d.skipped} {
		ch <- desc
	}
}
