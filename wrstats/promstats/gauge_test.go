package promstats_test

import (
	"math"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/promstats"
)

func TestWrongGaugesAreNamed(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct {
		rule   string
		change func(g *promstats.Gauge)
		says   string
	}{
		{"no name", func(g *promstats.Gauge) { g.Name = "" }, "Name is required"},
		{"a colon", func(g *promstats.Gauge) { g.Name = "a:b" }, "Name has characters"},
		{"a name that begins with a digit", func(g *promstats.Gauge) { g.Name = "1a" }, "Name has characters"},
		{"a counter's name", func(g *promstats.Gauge) { g.Name = "runs_total" }, "Name must not end in _total"},
		{"a histogram's name", func(g *promstats.Gauge) { g.Name = "runs_bucket" }, "Name must not end in _total"},
		{"no help", func(g *promstats.Gauge) { g.Help = "" }, "Help is required"},
		{"no value", func(g *promstats.Gauge) { g.Value = promstats.Value{} }, "Value is required"},
		{"a metric that is not there", func(g *promstats.Gauge) { g.Value = promstats.Total("walks") }, "unknown metric"},
		{"a mean by a metric that is not there", func(g *promstats.Gauge) { g.Value = promstats.Mean("ms", "walks") }, "unknown metric"},
		{"a negative scale", func(g *promstats.Gauge) { g.Scale = -1 }, "Scale"},
		{"a scale that is no number", func(g *promstats.Gauge) { g.Scale = math.NaN() }, "Scale"},
		{"no span", func(g *promstats.Gauge) { g.Span = wrstats.Span{} }, "Span is empty"},
		{"no entities", func(g *promstats.Gauge) { g.Entities = nil }, "Entities is required"},
		{"a label that is no name", func(g *promstats.Gauge) { g.Labels = []string{"a-b"} }, `Labels, "a-b"`},
		{"a label of Prometheus' own", func(g *promstats.Gauge) { g.Labels = []string{"__a"} }, `Labels, "__a"`},
		{"a label of histograms", func(g *promstats.Gauge) { g.Labels = []string{"le"} }, `Labels, "le"`},
		{"a label twice", func(g *promstats.Gauge) { g.Labels = []string{"a", "", "a"} }, `Labels, "a" is there twice`},
		{"a constant label that is a component's", func(g *promstats.Gauge) { g.ConstLabels = prometheus.Labels{"rule": "x"} }, "duplicate label"},
		{"a constant label that is no name", func(g *promstats.Gauge) { g.ConstLabels = prometheus.Labels{"__x": "x"} }, "not a valid label name"},
		{"a constant label of the options", func(g *promstats.Gauge) { g.ConstLabels = prometheus.Labels{"wiki": "x"} }, `ConstLabels, "wiki"`},
		{"another's name", func(g *promstats.Gauge) { g.Name = "other" }, "gauge 1: Name and ConstLabels are another's"},
		{"another's name with other labels", func(g *promstats.Gauge) {
			g.Name, g.Labels, g.ConstLabels = "other", []string{"x"}, prometheus.Labels{"window": "1h"}
		}, "other"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			other, g := runs("1"), runs("1")
			other.Name = "other"
			gauges := []promstats.Gauge{other, g}
			opts := promstats.Options{ConstLabels: prometheus.Labels{"wiki": "en"}}
			_, err := promstats.NewRates(f.Reader, gauges, opts)
			require.NoError(t, err)
			c.change(&gauges[1])
			_, err = promstats.NewRates(f.Reader, gauges, opts)
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, "promstats: ")
		})
	}
}

func TestWrongOptionsAreNamed(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct {
		says string
		opts promstats.Options
	}{
		{"Options.MaxAge", promstats.Options{MaxAge: -1}},
		{"Options.MaxStale", promstats.Options{MaxStale: -1}},
		{"Options.MaxStale", promstats.Options{MaxStale: promstats.DefaultMaxAge - 1}},
		{"Options.MaxStale", promstats.Options{MaxAge: time.Hour, MaxStale: time.Minute}},
		{"Options.Timeout", promstats.Options{Timeout: -1}},
		{"wrstats_rates_reads_total", promstats.Options{ConstLabels: prometheus.Labels{"a-b": "\xff"}}},
	} {
		_, err := promstats.NewRates(f.Reader, nil, c.opts)
		require.ErrorContains(t, err, c.says)
	}
	_, err := promstats.NewRates(f.Reader, nil, promstats.Options{MaxAge: time.Hour})
	require.NoError(t, err, "MaxStale is as long")
}

func TestCollectorsOfAClosedStoreCanBeMade(t *testing.T) {
	f := newFixture(t)
	require.NoError(t, f.store.Close())
	c := newRates(t, f, promstats.Options{}, runs("1"))
	requireShown(t, c, "rule_runs wrstats_rates_read_errors_total",
		`wrstats_rates_read_errors_total{kind="failed"} 1`, `wrstats_rates_read_errors_total{kind="partial"} 0`)
}

func TestLabels(t *testing.T) {
	local, global := wrstats.Local, wrstats.Global
	for _, c := range []struct {
		rule     string
		labels   []string
		entities []wrstats.Entity
		want     []string
		skipped  string
	}{
		{"a label for each component", []string{"kind", "id"}, []wrstats.Entity{local("a", "1"), local("b", "1")},
			[]string{`g{id="1",kind="a"} 0`, `g{id="1",kind="b"} 0`}, "0"},
		{"a component that is left out", []string{"", "id"}, []wrstats.Entity{local("a", "1")}, []string{`g{id="1"} 0`}, "0"},
		{"two that no label tells apart", []string{"", "id"}, []wrstats.Entity{local("a", "1"), local("b", "1"), local("c", "2")},
			[]string{`g{id="1"} 0`, `g{id="2"} 0`}, "1"},
		{"an entity twice", []string{"id"}, []wrstats.Entity{local("a"), local("a")}, []string{`g{id="a"} 0`}, "1"},
		{"local and global", []string{"id"}, []wrstats.Entity{local("a"), global("a"), global("b")},
			[]string{`g{id="a"} 0`, `g{id="b"} 0`}, "1"},
		{"too few and too many components", []string{"id", "x"}, []wrstats.Entity{local("a"), local("a", "b", "c"), local()}, nil, "3"},
		{"no components", nil, []wrstats.Entity{local()}, []string{`g 0`}, "0"},
		{"an empty component", []string{"id"}, []wrstats.Entity{local("")}, []string{`g{id=""} 0`}, "0"},
		{"components that run into each other", []string{"x", "y"}, []wrstats.Entity{local("ab", "c"), local("a", "bc"), local("", "abc")},
			[]string{`g{x="",y="abc"} 0`, `g{x="a",y="bc"} 0`, `g{x="ab",y="c"} 0`}, "0"},
		{"what the text format escapes", []string{"id"}, []wrstats.Entity{local("a\"b\\\nc")}, []string{`g{id="a\"b\\\nc"} 0`}, "0"},
		{"bytes that are not UTF-8", []string{"id"}, []wrstats.Entity{local("a\xff"), local("a\xfe")}, []string{"g{id=\"a\uFFFD\"} 0"}, "1"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			g := runs()
			g.Name, g.Labels, g.Entities = "g", c.labels, promstats.Of(c.entities...)
			rates := newRates(t, newFixture(t), promstats.Options{}, g)
			requireShown(t, rates, "g wrstats_rates_skipped_entities",
				append(c.want, `wrstats_rates_skipped_entities{gauge="g"} `+c.skipped)...)
		})
	}
}
