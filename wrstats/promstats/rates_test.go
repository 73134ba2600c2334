package promstats_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/promstats"
)

func TestValues(t *testing.T) {
	hour := wrstats.Last(time.Hour)
	for _, c := range []struct {
		rule  string
		value promstats.Value
		scale float64
		span  wrstats.Span
		want  []string
	}{
		{"a total", promstats.Total("runs"), 0, hour, []string{`g{rule="1"} 72`, `g{rule="2"} 0`}},
		{"a total scaled", promstats.Total("ms"), 0.001, hour, []string{`g{rule="1"} 0.9`, `g{rule="2"} 0.05`}},
		{"a total of whole windows", promstats.Total("runs"), 0, wrstats.LastWindows(1), []string{`g{rule="1"} 36`, `g{rule="2"} 0`}},
		{"a rate", promstats.PerSecond("runs"), 0, hour, []string{`g{rule="1"} 0.02`, `g{rule="2"} 0`}},
		{"a mean, over the windows that have both, and none where there are none", promstats.Mean("ms", "runs"), 0.001, hour,
			[]string{`g{rule="1"} 0.0125`}},
		{"windows without a key, which no scale means", promstats.Missing("runs"), 0.001, hour, []string{`g{rule="1"} 5`, `g{rule="2"} 7`}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.add(t, "runs", 36, "rule", "1")
				f.add(t, "ms", 450, "rule", "1")
				time.Sleep(20 * time.Minute)
				f.add(t, "runs", 36, "rule", "1")
				f.add(t, "ms", 450, "rule", "1")
				f.add(t, "ms", 50, "rule", "2")
				time.Sleep(10*time.Minute - time.Second)

				g := runs("1", "2")
				g.Name, g.Value, g.Scale, g.Span = "g", c.value, c.scale, c.span
				requireShown(t, newRates(t, f, promstats.Options{}, g), "g", c.want...)
			})
		})
	}
}

func TestOneScrapeIsOneReadOfEachKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.add(t, "runs", 5, "rule", "1")
		total, rate, mean, missing := runs("1", "2"), runs("1", "2"), runs("1", "2"), runs("1", "2")
		rate.Name, rate.Value = "rate", promstats.PerSecond("runs")
		mean.Name, mean.Value = "mean", promstats.Mean("ms", "runs")
		missing.Name, missing.Value = "missing", promstats.Missing("runs")
		c := newRates(t, f, promstats.Options{}, total, rate, mean, missing)
		require.Zero(t, f.store.read(), "not to make the collector")
		scrape(t, c)
		require.Equal(t, 1, f.store.read())
		keys := make(map[string]bool)
		for _, key := range f.store.reads[0] {
			require.False(t, keys[key], "twice")
			keys[key] = true
		}
		require.Len(t, keys, 2*2*6, "two metrics of two entities in six windows")
	})
}

func TestWhatTheCollectorTellsOfItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.add(t, "runs", 5, "rule", "1")
		f.add(t, "ms", 5, "rule", "1")
		mean := runs("1")
		mean.Name, mean.Value = "rule_run_milli", promstats.Mean("ms", "runs")
		odd := runs("1", "1")
		odd.Name, odd.Span = "rule_odd", wrstats.LastWindows(1)
		time.Sleep(1500 * time.Millisecond)
		requireShown(t, newRates(t, f, promstats.Options{ConstLabels: prometheus.Labels{"of": "x"}}, runs("1", "2"), mean, odd),
			"wrstats_rates_reads_total wrstats_rates_read_errors_total wrstats_rates_last_read_timestamp_seconds wrstats_rates_windows "+
				"wrstats_rates_missing_windows wrstats_rates_skipped_entities",
			`wrstats_rates_reads_total{of="x"} 1`,
			`wrstats_rates_read_errors_total{kind="failed",of="x"} 0`,
			`wrstats_rates_read_errors_total{kind="partial",of="x"} 0`,
			`wrstats_rates_last_read_timestamp_seconds{of="x"} 9.466848015e+08`,
			`wrstats_rates_windows{gauge="rule_odd",of="x"} 1`,
			`wrstats_rates_windows{gauge="rule_run_milli",of="x"} 12`,
			`wrstats_rates_windows{gauge="rule_runs",of="x"} 12`,
			`wrstats_rates_missing_windows{gauge="rule_odd",of="x"} 0`,
			`wrstats_rates_missing_windows{gauge="rule_run_milli",of="x"} 10`,
			`wrstats_rates_missing_windows{gauge="rule_runs",of="x"} 11`,
			`wrstats_rates_skipped_entities{gauge="rule_odd",of="x"} 1`,
			`wrstats_rates_skipped_entities{gauge="rule_run_milli",of="x"} 0`,
			`wrstats_rates_skipped_entities{gauge="rule_runs",of="x"} 0`,
		)
	})
}

func TestRatesFollowTheConventions(t *testing.T) {
	f := newFixture(t)
	f.add(t, "runs", 5, "rule", "1")
	f.add(t, "ms", 5, "rule", "1")
	mean, short, long := runs("1", "2"), runs("1", "2"), runs("1", "2")
	mean.Name, mean.Value, mean.Scale = "rule_run_seconds", promstats.Mean("ms", "runs"), 0.001
	short.Name, short.ConstLabels = "rule_rolling_runs", prometheus.Labels{"window": "10m"}
	long.Name, long.ConstLabels = "rule_rolling_runs", prometheus.Labels{"window": "1h"}
	registry := prometheus.NewPedanticRegistry()
	for _, name := range []string{"a", "b"} {
		opts := promstats.Options{ConstLabels: prometheus.Labels{"wiki": name}}
		require.NoError(t, registry.Register(newRates(t, f, opts, mean, short, long)))
	}
	requireLinted(t, registry)
}

func TestEntitiesAreListedForEachRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		rules := []string{"1"}
		g := runs()
		g.Entities = func() (entities []wrstats.Entity) {
			for _, rule := range rules {
				entities = append(entities, wrstats.Local("rule", rule))
			}
			return entities
		}
		c := newRates(t, f, promstats.Options{MaxAge: time.Minute}, g)
		requireShown(t, c, "rule_runs", `rule_runs{rule="1"} 0`)
		rules = []string{"2", "3"}
		requireShown(t, c, "rule_runs", `rule_runs{rule="1"} 0`)
		time.Sleep(time.Minute)
		requireShown(t, c, "rule_runs", `rule_runs{rule="2"} 0`, `rule_runs{rule="3"} 0`)
		rules = nil
		time.Sleep(time.Minute)
		requireShown(t, c, "rule_runs wrstats_rates_windows", `wrstats_rates_windows{gauge="rule_runs"} 0`)
	})
}

func TestNothingToShowIsNothingToRead(t *testing.T) {
	f := newFixture(t)
	requireShown(t, newRates(t, f, promstats.Options{}), "wrstats_rates_reads_total wrstats_rates_windows",
		`wrstats_rates_reads_total 1`)
	require.Zero(t, f.store.read())
}
