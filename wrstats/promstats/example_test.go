package promstats_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile"
	"github.com/wrstats/go-wrstats/wrstats/promstats"
)

// A service that shows the rolling totals and means of two filters.
func ExampleNewRates() {
	ctx := context.Background()
	stats, err := wrstats.New(memory.New(memory.Options{}), wrstats.Config{
		Prefix:  "filters",
		Metrics: []wrstats.Metric{{Name: "runs"}, {Name: "time", Resolution: 0.001}}, // in milliseconds
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	writer := stats.NewWriter(wrstats.WriterOptions{})
	for _, took := range []float64{1.5, 2.5, 11} {
		_ = writer.Add("runs", wrstats.Local("filter", "42"), 1)
		_ = writer.Add("time", wrstats.Local("filter", "42"), took)
	}
	_ = writer.Close(ctx)

	filters := func() []wrstats.Entity { // those there are, as of now
		return []wrstats.Entity{wrstats.Local("filter", "42"), wrstats.Local("filter", "43")}
	}
	rates, err := promstats.NewRates(stats.NewReader(), []promstats.Gauge{{
		Name:     "filter_rolling_runs",
		Help:     "Runs of a filter in the last hour, of all servers.",
		Value:    promstats.Total("runs"),
		Span:     wrstats.Last(time.Hour),
		Entities: filters,
		Labels:   []string{"", "filter"},
	}, {
		Name:     "filter_run_mean_seconds",
		Help:     "Mean duration of a filter's runs in the last hour, of all servers.",
		Value:    promstats.Mean("time", "runs"),
		Scale:    0.001,
		Span:     wrstats.Last(time.Hour),
		Entities: filters,
		Labels:   []string{"", "filter"},
	}}, promstats.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	show(rates, "filter_")
	// Output:
	// # HELP filter_rolling_runs Runs of a filter in the last hour, of all servers.
	// # TYPE filter_rolling_runs gauge
	// filter_rolling_runs{filter="42"} 3
	// filter_rolling_runs{filter="43"} 0
	// # HELP filter_run_mean_seconds Mean duration of a filter's runs in the last hour, of all servers.
	// # TYPE filter_run_mean_seconds gauge
	// filter_run_mean_seconds{filter="42"} 0.005
}

// The rules of a Profiler, and its Writer.
func ExampleNewRates_profiler() {
	ctx := context.Background()
	profiler, err := profile.New(memory.New(memory.Options{}), profile.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	profiler.Record("default", []profile.Run{
		{Rule: "42", Duration: 20 * time.Millisecond, Conditions: 7, Matched: true},
		{Rule: "43", Duration: 2 * time.Millisecond, Conditions: 5},
	})
	_ = profiler.Close(ctx)

	rules := promstats.Of(wrstats.Local("filter", "42"), wrstats.Local("filter", "43"))
	rates, err := promstats.NewRates(profiler.Reader(), []promstats.Gauge{{
		Name:     "rule_match_ratio",
		Help:     "Part of a rule's runs that matched.",
		Value:    promstats.Mean("matches", "count"),
		Span:     wrstats.Last(time.Hour),
		Entities: rules,
		Labels:   []string{"", "rule"},
	}, {
		Name:     "rule_run_mean_seconds",
		Help:     "Mean duration of a rule's runs.",
		Value:    promstats.Mean("total-time", "count"),
		Scale:    0.001,
		Span:     wrstats.Last(time.Hour),
		Entities: rules,
		Labels:   []string{"", "rule"},
	}}, promstats.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	show(rates, "rule_")
	show(promstats.NewWriter(profiler, prometheus.Labels{"writer": "profiler"}), "wrstats_writer_pending", "wrstats_writer_rejected")
	// Output:
	// # HELP rule_match_ratio Part of a rule's runs that matched.
	// # TYPE rule_match_ratio gauge
	// rule_match_ratio{rule="42"} 1
	// rule_match_ratio{rule="43"} 0
	// # HELP rule_run_mean_seconds Mean duration of a rule's runs.
	// # TYPE rule_run_mean_seconds gauge
	// rule_run_mean_seconds{rule="42"} 0.02
	// rule_run_mean_seconds{rule="43"} 0.002
	// # HELP wrstats_writer_pending_units Units in the buffer, or handed to the store and not yet confirmed.
	// # TYPE wrstats_writer_pending_units gauge
	// wrstats_writer_pending_units{writer="profiler"} 0
	// # HELP wrstats_writer_rejected_calls_total Calls that the Writer refused.
	// # TYPE wrstats_writer_rejected_calls_total counter
	// wrstats_writer_rejected_calls_total{writer="profiler"} 0
}

// Quantiles of a distribution, whose bins add up over all processes.
func ExampleQuantiles() {
	ctx := context.Background()
	stats, err := wrstats.New(memory.New(memory.Options{}), wrstats.Config{
		Prefix: "http",
		Metrics: []wrstats.Metric{
			{Name: "seconds", Distribution: &wrstats.Distribution{Min: 0.001, Max: 60, RelativeError: 0.01}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	writer := stats.NewWriter(wrstats.WriterOptions{})
	home := wrstats.Local("/home", "GET")
	for i := range 1000 {
		_ = writer.Observe("seconds", home, float64(i)/1000)
	}
	_ = writer.Close(ctx)

	rates, err := promstats.NewRates(stats.NewReader(), []promstats.Gauge{{
		Name:     "http_rolling_request_seconds",
		Help:     "Duration of requests in the last six windows of ten minutes.",
		Value:    promstats.Quantiles("seconds", 0.5, 0.95, 0.99),
		Span:     wrstats.LastWindows(6),
		Entities: promstats.Of(home),
		Labels:   []string{"route", "method"},
	}, {
		Name:     "http_rolling_requests",
		Help:     "Requests in the last six windows of ten minutes.",
		Value:    promstats.Total("seconds"),
		Span:     wrstats.LastWindows(6),
		Entities: promstats.Of(home),
		Labels:   []string{"route", "method"},
	}}, promstats.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	show(rates, "http_")
	// Output:
	// # HELP http_rolling_request_seconds Duration of requests in the last six windows of ten minutes.
	// # TYPE http_rolling_request_seconds gauge
	// http_rolling_request_seconds{method="GET",q="0.5",route="/home"} 0.502
	// http_rolling_request_seconds{method="GET",q="0.95",route="/home"} 0.951
	// http_rolling_request_seconds{method="GET",q="0.99",route="/home"} 0.99
	// # HELP http_rolling_requests Requests in the last six windows of ten minutes.
	// # TYPE http_rolling_requests gauge
	// http_rolling_requests{method="GET",route="/home"} 1000
}

func ExampleNewWriter() {
	ctx := context.Background()
	stats, err := wrstats.New(memory.New(memory.Options{}), wrstats.Config{
		Prefix: "example", Metrics: []wrstats.Metric{{Name: "runs"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	writer := stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
	defer writer.Close(ctx)
	_ = writer.Add("runs", wrstats.Local("a"), 5)
	_ = writer.Sync(ctx)
	_ = writer.Add("runs", wrstats.Local("a"), 2)
	show(promstats.NewWriter(writer, prometheus.Labels{"writer": "rules"}),
		"wrstats_writer_added", "wrstats_writer_flushed", "wrstats_writer_lost", "wrstats_writer_pending")
	// Output:
	// # HELP wrstats_writer_added_units_total Units that the Writer took.
	// # TYPE wrstats_writer_added_units_total counter
	// wrstats_writer_added_units_total{writer="rules"} 7
	// # HELP wrstats_writer_flushed_units_total Units that the store confirmed.
	// # TYPE wrstats_writer_flushed_units_total counter
	// wrstats_writer_flushed_units_total{writer="rules"} 5
	// # HELP wrstats_writer_lost_units_total Units that were handed to the store, and failed or are of unknown outcome.
	// # TYPE wrstats_writer_lost_units_total counter
	// wrstats_writer_lost_units_total{writer="rules"} 0
	// # HELP wrstats_writer_pending_units Units in the buffer, or handed to the store and not yet confirmed.
	// # TYPE wrstats_writer_pending_units gauge
	// wrstats_writer_pending_units{writer="rules"} 2
}

func ExampleNewStore() {
	ctx := context.Background()
	store := memory.New(memory.Options{})
	_, _ = store.Incr(ctx, []wrstats.Increment{{Key: "a", Delta: 1, TTL: time.Minute}, {Key: "b", Delta: 1, TTL: time.Minute}})
	show(promstats.NewStore(store, nil))
	// Output:
	// # HELP wrstats_memory_keys Keys that are held, with those that have ended and are not freed yet.
	// # TYPE wrstats_memory_keys gauge
	// wrstats_memory_keys 2
}

// show prints what Prometheus would scrape of a collector, of names that begin so; none: of all. Long decimals are
// rounded.
func show(c prometheus.Collector, prefixes ...string) {
	registry := prometheus.NewRegistry()
	if err := registry.Register(c); err != nil {
		fmt.Println(err)
		return
	}
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(answer.Body.String()) {
		name := strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE ")
		begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		if len(prefixes) == 0 || slices.ContainsFunc(prefixes, begins) {
			fmt.Print(decimals.ReplaceAllStringFunc(line, rounded))
		}
	}
}

var decimals = regexp.MustCompile(`[0-9]+\.[0-9]{6,}`)

func rounded(number string) string {
	v, _ := strconv.ParseFloat(number, 64)
	return strconv.FormatFloat(v, 'g', 3, 64)
}
