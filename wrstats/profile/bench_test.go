package profile_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/internal/versus"
	"github.com/wrstats/go-wrstats/wrstats/profile"
)

// An action of 300 rules is 1,200 increments and 300 observed times, beside 1,200 of Prometheus' Go client by
// handles that are at hand, and beside those with 300 of its histogram: what looking the rules up and making two of
// their values costs is ours alone.
func BenchmarkRecord(b *testing.B) {
	runs := benchRuns()
	rivals := make([]prometheus.Counter, 4*len(runs))
	for i := range rivals {
		rivals[i] = prometheus.NewCounter(prometheus.CounterOpts{Name: "rival"})
	}
	theirs := func(n int) {
		for range n {
			for _, c := range rivals {
				c.Add(1)
			}
		}
	}
	histograms := make([]prometheus.Histogram, len(runs))
	for i := range histograms {
		histograms[i] = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "rival", Buckets: prometheus.DefBuckets})
	}
	theirTimes := func(n int) {
		for range n {
			theirs(1)
			for i := range histograms {
				histograms[i].Observe(runs[i].Duration.Seconds())
			}
		}
	}
	now := time.Now()
	for name, record := range map[string]func(p *profile.Profiler){
		"live": func(p *profile.Profiler) { p.Record("default", runs) },
		"at":   func(p *profile.Profiler) { p.RecordAt(now, "default", runs) },
	} {
		b.Run(name+"/rules=300", func(b *testing.B) { benchmarkRecord(b, profile.Options{}, record, "prometheus", theirs) })
		b.Run(name+"/rules=300/rival=histograms", func(b *testing.B) {
			benchmarkRecord(b, profile.Options{}, record, "prometheus", theirTimes)
		})
		b.Run(name+"/rules=300/quantiles=off", func(b *testing.B) {
			off := profile.Options{Quantiles: profile.QuantileOptions{Off: true}}
			benchmarkRecord(b, off, record, "prometheus", theirs)
		})
	}
}

func benchmarkRecord(b *testing.B, opts profile.Options, record func(p *profile.Profiler), rival string, theirs func(n int)) {
	p := benchProfiler(b, opts)
	result := versus.Run(b, rival, func(n int) {
		for range n {
			record(p)
		}
	}, theirs)
	require.NoError(b, p.Sync(b.Context()))
	group, err := p.Group(b.Context(), "default")
	require.NoError(b, err)
	require.EqualValues(b, result.Done, group.Actions)
}

// BenchmarkRules reads the profile of 300 rules, 180,600 keys, and without quantiles 8,400.
func BenchmarkRules(b *testing.B) {
	b.Run("quantiles=on", func(b *testing.B) { benchmarkRules(b, profile.Options{}) })
	b.Run("quantiles=off", func(b *testing.B) {
		benchmarkRules(b, profile.Options{Quantiles: profile.QuantileOptions{Off: true}})
	})
}

func benchmarkRules(b *testing.B, opts profile.Options) {
	p := benchProfiler(b, opts)
	runs := benchRuns()
	now := time.Now()
	var rules []string
	for _, run := range runs {
		rules = append(rules, run.Rule)
	}
	for window := range 7 {
		p.RecordAt(now.Add(-time.Duration(window)*10*time.Minute), "default", runs)
	}
	require.NoError(b, p.Sync(b.Context()))
	b.ReportAllocs()
	for b.Loop() {
		profiles, err := p.RulesAt(b.Context(), now, rules)
		if err != nil || len(profiles) != len(rules) {
			b.Fatal(err)
		}
	}
}

func benchRuns() []profile.Run {
	var runs []profile.Run
	for i := range 300 {
		runs = append(runs, profile.Run{
			Rule:       strconv.Itoa(i),
			Duration:   time.Duration(1000+37*i) * time.Nanosecond,
			Conditions: i % 20,
			Matched:    i%50 == 0,
		})
	}
	return runs
}

func benchProfiler(b *testing.B, opts profile.Options) *profile.Profiler {
	store := memory.New(memory.Options{})
	p, err := profile.New(store, opts)
	require.NoError(b, err)
	b.Cleanup(func() {
		require.NoError(b, p.Close(context.Background()))
		require.NoError(b, store.Close())
	})
	return p
}
