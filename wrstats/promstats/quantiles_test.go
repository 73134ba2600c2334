package promstats_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/promstats"
)

// quantiles is a gauge of quantiles of some rules.
func quantiles(value promstats.Value, rules ...string) promstats.Gauge {
	g := runs(rules...)
	g.Name, g.Value = "rule_spread", value
	return g
}

// values parses what series show.
func values(t *testing.T, series []string) map[string]float64 {
	t.Helper()
	all := make(map[string]float64)
	for _, s := range series {
		i := strings.LastIndexByte(s, ' ')
		v, err := strconv.ParseFloat(s[i+1:], 64)
		require.NoError(t, err)
		all[s[:i]] = v
	}
	return all
}

func TestQuantilesAreThoseOfTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		for v := range 100 {
			f.observe(t, []string{"rule", "1"}, float64(v+1))
		}
		time.Sleep(20 * time.Minute)
		f.observe(t, []string{"rule", "1"}, 900, 900)
		few, many := quantiles(promstats.Quantiles("spread", 0.99, 0.5), "1", "2"), quantiles(promstats.Quantiles("spread", 0.25, 0.5, 1), "1")
		few.Scale, many.Name = 0.001, "other"
		count, missing := quantiles(promstats.Total("spread"), "1", "2"), quantiles(promstats.Missing("spread"), "1")
		count.Name, missing.Name = "rule_observations", "rule_missing"
		c := newRates(t, f, promstats.Options{}, few, many, count, missing)

		series := scrape(t, c)
		require.Equal(t, 1, f.store.read(), "with the rates")
		got := values(t, series["rule_spread"])
		require.Len(t, got, 2, "none of what was not observed")
		require.InEpsilon(t, 0.9, got[`rule_spread{q="0.99",rule="1"}`], 0.011)
		require.InEpsilon(t, 0.051, got[`rule_spread{q="0.5",rule="1"}`], 0.011)
		exact, err := f.Quantiles(t.Context(), wrstats.Query{Metric: "spread", Entity: wrstats.Local("rule", "1"), Span: wrstats.LastWindows(6)}, 0.25, 0.5, 1)
		require.NoError(t, err)
		require.InEpsilon(t, 900, exact.Values[2], 0.011)
		require.Equal(t, map[string]float64{
			`other{q="0.25",rule="1"}`: exact.Values[0],
			`other{q="0.5",rule="1"}`:  exact.Values[1],
			`other{q="1",rule="1"}`:    exact.Values[2],
		}, values(t, series["other"]))
		require.Equal(t, []string{`rule_observations{rule="1"} 102`, `rule_observations{rule="2"} 0`}, series["rule_observations"])
		require.Equal(t, []string{`rule_missing{rule="1"} 4`}, series["rule_missing"])
		require.Contains(t, series["wrstats_rates_windows"], `wrstats_rates_windows{gauge="rule_spread"} 12`)
		require.Contains(t, series["wrstats_rates_missing_windows"], `wrstats_rates_missing_windows{gauge="rule_spread"} 10`)
	})
}

func TestWindowsToComeAreNotAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		total, spread := runs("1"), quantiles(promstats.Quantiles("spread", 0.5), "1")
		total.Span = wrstats.Between(time.Now().Add(-20*time.Minute), time.Now().Add(time.Hour))
		spread.Span = total.Span
		time.Sleep(time.Second)
		requireShown(t, newRates(t, f, promstats.Options{}, total, spread), "wrstats_rates_windows",
			`wrstats_rates_windows{gauge="rule_runs"} 3`, `wrstats_rates_windows{gauge="rule_spread"} 3`)
	})
}

func TestLostBinsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.observe(t, []string{"rule", "1"}, 1, 1, 1, 1000)
		lost := quantiles(promstats.Lost("spread"), "1", "2")
		lost.Name, lost.Scale = "rule_lost_ratio", 10
		c := newRates(t, f, options, lost, quantiles(promstats.Quantiles("spread", 0.5), "1", "2"))
		const shown = "rule_lost_ratio rule_spread"
		requireShown(t, c, "rule_lost_ratio", `rule_lost_ratio{rule="1"} 0`)

		for _, fault := range []struct {
			loses func(v wrstats.Value) bool
			want  []string
		}{
			{func(v wrstats.Value) bool { return v.N == 1 }, []string{`rule_lost_ratio{rule="1"} 0.25`, `rule_spread{q="0.5",rule="1"} 1`}},
			{func(v wrstats.Value) bool { return v.N == 1 || v.N == 3 }, []string{`rule_lost_ratio{rule="1"} 1`}}, // all bins, and not the count
			{func(wrstats.Value) bool { return true }, nil},
		} {
			f.store.set(func(_ context.Context, values []wrstats.Value) ([]wrstats.Value, error) {
				for i, v := range values {
					if fault.loses(v) {
						values[i] = wrstats.Value{}
					}
				}
				return values, wrstats.ErrPartial
			})
			time.Sleep(10 * time.Second)
			all := scrape(t, c)
			var got []string
			for _, name := range strings.Fields(shown) {
				got = append(got, all[name]...)
			}
			for i, s := range got {
				if strings.HasPrefix(s, "rule_spread") { // within the error of the bin
					require.InEpsilon(t, 1, values(t, got[i:])[`rule_spread{q="0.5",rule="1"}`], 0.011)
					got[i] = `rule_spread{q="0.5",rule="1"} 1`
				}
			}
			require.Equal(t, fault.want, got)
		}
	})
}

func TestWrongQuantilesAreNamed(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct {
		rule   string
		value  promstats.Value
		labels []string
		says   string
	}{
		{"over 1", promstats.Quantiles("spread", 0.5, 1.5), nil, "invalid value"},
		{"a metric without a distribution", promstats.Quantiles("runs", 0.5), nil, "wrong kind"},
		{"what is lost of one", promstats.Lost("runs"), nil, "wrong kind"},
		{"a metric that is not there", promstats.Quantiles("x", 0.5), nil, "unknown metric"},
		{"one twice", promstats.Quantiles("spread", 0.5, 0.9, 0.5), nil, "the Value has a quantile twice"},
		{"none", promstats.Quantiles("spread"), nil, "the Value has no quantile"},
		{"a component with the label of quantiles", promstats.Quantiles("spread", 0.5), []string{"q"}, "duplicate label"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			g := quantiles(c.value, "1")
			if c.labels != nil {
				g.Labels = c.labels
			}
			_, err := promstats.NewRates(f.Reader, []promstats.Gauge{g}, promstats.Options{})
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestQuantilesFollowTheConventions(t *testing.T) {
	f := newFixture(t)
	f.observe(t, []string{"rule", "1"}, 1, 10, 100)
	g := quantiles(promstats.Quantiles("spread", 0.5, 0.95, 0.99), "1")
	g.Name, g.Scale = "rule_run_seconds", 0.001
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(newRates(t, f, promstats.Options{}, g)))
	requireLinted(t, registry)
}
