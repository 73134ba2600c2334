package promstats_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/promstats"
)

var errDown = errors.New("server is down")

// A tap is a Store whose reads are kept, and go wrong as a test says.
type tap struct {
	wrstats.Store

	mu    sync.Mutex // guards what follows
	reads [][]string // their keys
	fault func(ctx context.Context, values []wrstats.Value) ([]wrstats.Value, error)
}

func (s *tap) Get(ctx context.Context, keys []string) ([]wrstats.Value, error) {
	values, err := s.Store.Get(ctx, keys)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.reads = append(s.reads, keys)
	fault := s.fault
	s.mu.Unlock()
	if fault == nil {
		return values, nil
	}
	return fault(ctx, values)
}

// set makes reads go wrong from now on; nil: not any more.
func (s *tap) set(fault func(ctx context.Context, values []wrstats.Value) ([]wrstats.Value, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

func (s *tap) read() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.reads)
}

func down(context.Context, []wrstats.Value) ([]wrstats.Value, error) { return nil, errDown }

// A fixture has three metrics in a tapped memory store.
type fixture struct {
	*wrstats.Reader
	store *tap
	stats *wrstats.Stats
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	store := &tap{Store: memory.New(memory.Options{})}
	stats, err := wrstats.New(store, wrstats.Config{
		Prefix: "test",
		Metrics: []wrstats.Metric{
			{Name: "runs"},
			{Name: "ms", Resolution: 0.001},
			{Name: "spread", Distribution: &wrstats.Distribution{Min: 1, Max: 1000, RelativeError: 0.01}},
		},
	})
	require.NoError(t, err)
	return &fixture{stats.NewReader(), store, stats}
}

// add stores what is added to a metric of an entity now.
func (f *fixture) add(t *testing.T, metric string, v float64, components ...string) {
	t.Helper()
	w := f.stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
	require.NoError(t, w.AddAt(time.Now(), metric, wrstats.Local(components...), v))
	require.NoError(t, w.Close(t.Context()))
}

// observe stores observed values of an entity.
func (f *fixture) observe(t *testing.T, components []string, values ...float64) {
	t.Helper()
	w := f.stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
	for _, v := range values {
		require.NoError(t, w.ObserveAt(time.Now(), "spread", wrstats.Local(components...), v))
	}
	require.NoError(t, w.Close(t.Context()))
}

// runs is a gauge of the total of runs of some rules.
func runs(rules ...string) promstats.Gauge {
	var entities []wrstats.Entity
	for _, rule := range rules {
		entities = append(entities, wrstats.Local("rule", rule))
	}
	return promstats.Gauge{
		Name: "rule_runs", Help: "Runs.", Value: promstats.Total("runs"), Span: wrstats.LastWindows(6),
		Entities: promstats.Of(entities...), Labels: []string{"", "rule"},
	}
}

func newRates(t *testing.T, f *fixture, opts promstats.Options, gauges ...promstats.Gauge) *promstats.Rates {
	t.Helper()
	c, err := promstats.NewRates(f.Reader, gauges, opts)
	require.NoError(t, err)
	return c
}

// requireShown compares what a scrape shows of some names with what it should.
func requireShown(t *testing.T, c prometheus.Collector, names string, want ...string) {
	t.Helper()
	all := scrape(t, c)
	var got []string
	for _, name := range strings.Fields(names) {
		got = append(got, all[name]...)
	}
	require.Equal(t, want, got)
}

// scrape returns the series that a scrape shows, in the text format, by their names.
func scrape(t *testing.T, c prometheus.Collector) map[string][]string {
	t.Helper()
	series, err := tryScrape(c)
	require.NoError(t, err)
	return series
}

// tryScrape may be called by any goroutine.
func tryScrape(c prometheus.Collector) (map[string][]string, error) {
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(c); err != nil {
		return nil, err
	}
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	if answer.Code != http.StatusOK {
		return nil, errors.New(answer.Body.String())
	}
	series := make(map[string][]string)
	for line := range strings.Lines(answer.Body.String()) {
		if name := line[:strings.IndexAny(line, "{ ")]; name != "#" {
			series[name] = append(series[name], strings.TrimSpace(line))
		}
	}
	return series, nil
}
