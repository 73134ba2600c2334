package promstats_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/promstats"
)

// BenchmarkCollect collects four gauges of 300 rules: 1,200 series, of 4,200 keys.
func BenchmarkCollect(b *testing.B) {
	stats, err := wrstats.New(memory.New(memory.Options{}), wrstats.Config{
		Prefix:  "bench",
		Metrics: []wrstats.Metric{{Name: "runs"}, {Name: "ms", Resolution: 0.001}},
	})
	require.NoError(b, err)
	w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
	var rules []wrstats.Entity
	for i := range 300 {
		rules = append(rules, wrstats.Local("rule", fmt.Sprint(i)))
		require.NoError(b, w.Add("runs", rules[i], 1))
		require.NoError(b, w.Add("ms", rules[i], 1))
	}
	require.NoError(b, w.Close(b.Context()))
	var gauges []promstats.Gauge
	for i, v := range []promstats.Value{
		promstats.Total("runs"), promstats.PerSecond("runs"), promstats.Mean("ms", "runs"), promstats.Missing("runs"),
	} {
		gauges = append(gauges, promstats.Gauge{
			Name: fmt.Sprint("gauge_", i), Help: "A gauge.", Value: v, Span: wrstats.Last(time.Hour),
			Entities: promstats.Of(rules...), Labels: []string{"", "rule"},
		})
	}
	for _, c := range []struct {
		name   string
		maxAge time.Duration
	}{{"read=each", 1}, {"read=shared", time.Hour}} {
		rates, err := promstats.NewRates(stats.NewReader(), gauges, promstats.Options{MaxAge: c.maxAge})
		require.NoError(b, err)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			metrics := make(chan prometheus.Metric, 2000)
			for b.Loop() {
				rates.Collect(metrics)
				require.Len(b, metrics, 1200+3*4+4)
				for len(metrics) > 0 {
					<-metrics
				}
			}
		})
	}
}
