package wrstats_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/DataDog/sketches-go/ddsketch"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/internal/versus"
	"github.com/wrstats/go-wrstats/wrstats"
)

// Observing is beside a Counter's Add, which it is to take no more than twice of, a histogram of Prometheus'
// Go client with the 11 buckets that it has by default, and DataDog's sketch, which is for one goroutine.
func BenchmarkObserve(b *testing.B) {
	values := benchTimes()
	counter := func(b *testing.B) func(n int) {
		w, entities := benchWriter(b)
		c, err := w.Counter("count", entities[0])
		require.NoError(b, err)
		return func(n int) {
			for range n {
				c.Add(1)
			}
		}
	}
	histogram := func(b *testing.B) func(n int) {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "rival", Buckets: prometheus.DefBuckets})
		return func(n int) {
			for i := range n {
				h.Observe(values[i%len(values)])
			}
		}
	}
	sketch := func(b *testing.B) func(n int) {
		s, err := ddsketch.NewDefaultDDSketch(0.05)
		require.NoError(b, err)
		return func(n int) {
			for i := range n {
				_ = s.Add(values[i%len(values)])
			}
		}
	}
	for _, rival := range []struct {
		name       string
		goroutines int
		open       func(b *testing.B) func(n int)
	}{
		{"counter", 1, counter},
		{"counter", runtime.GOMAXPROCS(0), counter},
		{"prometheus", 1, histogram},
		{"prometheus", runtime.GOMAXPROCS(0), histogram},
		{"ddsketch", 1, sketch},
	} {
		b.Run("rival="+rival.name+"/goroutines="+strconv.Itoa(rival.goroutines), func(b *testing.B) {
			w, o := benchObserver(b)
			result := versus.Run(b, rival.name,
				versus.Parallel(rival.goroutines, func(n int) {
					for i := range n {
						o.Observe(values[i%len(values)])
					}
				}),
				versus.Parallel(rival.goroutines, rival.open(b)))
			require.EqualValues(b, 2*result.Done, w.Stats().Added)
		})
	}
}

// benchTimes are times in seconds around a millisecond, the power of two of them.
func benchTimes() []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, 1024)
	for i := range values {
		values[i] = 0.001 * (0.01 + r.ExpFloat64())
	}
	return values
}

var seconds = wrstats.Metric{Name: "seconds", Distribution: &wrstats.Distribution{Min: 1e-5, Max: 10}}

func benchObserver(b *testing.B) (*wrstats.Writer, *wrstats.Observer) {
	stats, err := wrstats.New(sink{}, wrstats.Config{Prefix: "bench", Metrics: []wrstats.Metric{seconds}})
	require.NoError(b, err)
	w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
	b.Cleanup(func() { require.NoError(b, w.Close(context.Background())) })
	o, err := w.Distribution("seconds", filter42)
	require.NoError(b, err)
	return w, o
}

// BenchmarkQuantiles reads three quantiles of the hour, of 140 bins, of one entity and of 300: 987 and
// 296,100 keys.
func BenchmarkQuantiles(b *testing.B) {
	for _, entities := range []int{1, 300} {
		b.Run("entities="+strconv.Itoa(entities), func(b *testing.B) {
			store := memory.New(memory.Options{})
			defer store.Close()
			stats, err := wrstats.New(store, wrstats.Config{Prefix: "bench", Metrics: []wrstats.Metric{seconds}})
			require.NoError(b, err)
			w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
			now := time.Now()
			var queries []wrstats.Query
			for id := range entities {
				e := wrstats.Local("filter", strconv.Itoa(id))
				queries = append(queries, wrstats.Query{Metric: "seconds", Entity: e, Span: wrstats.Last(time.Hour)})
				for window := range 7 {
					for _, v := range benchTimes()[:100] {
						require.NoError(b, w.ObserveAt(now.Add(-time.Duration(window)*10*time.Minute), "seconds", e, v))
					}
				}
			}
			require.NoError(b, w.Close(b.Context()))
			b.ReportAllocs()
			for b.Loop() {
				all, err := stats.NewReader().QuantilesOf(b.Context(), now, queries, 0.5, 0.95, 0.99)
				if err != nil || len(all) != entities || all[0].Missing > 0 {
					b.Fatal(err)
				}
			}
		})
	}
}
