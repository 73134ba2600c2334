package wrstats_test

import (
	"context"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/internal/versus"
	"github.com/wrstats/go-wrstats/wrstats"
)

// The rival of the hot path is Prometheus' Go client, the counter that most services have. Each
// benchmark runs both in rounds, one after the other, so that both see the same noise, and prints
// ours, the rival's and the ratio (less than 1: ours is faster).

func BenchmarkCounterAdd(b *testing.B) {
	for _, value := range []float64{1, 0.25} {
		b.Run("value="+strconv.FormatFloat(value, 'g', -1, 64), func(b *testing.B) { benchmarkCounterAdd(b, 1, value) })
	}
	b.Run("goroutines=all", func(b *testing.B) { benchmarkCounterAdd(b, runtime.GOMAXPROCS(0), 1) })
}

func benchmarkCounterAdd(b *testing.B, goroutines int, value float64) {
	w, entities := benchWriter(b)
	counter, err := w.Counter("count", entities[0])
	require.NoError(b, err)
	rival := prometheus.NewCounter(prometheus.CounterOpts{Name: "rival"})
	result := versus.Run(b, "prometheus",
		versus.Parallel(goroutines, func(n int) {
			for range n {
				counter.Add(value)
			}
		}),
		versus.Parallel(goroutines, func(n int) {
			for range n {
				rival.Add(value)
			}
		}))
	require.Equal(b, float64(result.Done)*value, w.Stats().Added)
}

// By name both have 300 entities, of two components here and two labels there.
func BenchmarkWriterAdd(b *testing.B) {
	for _, goroutines := range []int{1, runtime.GOMAXPROCS(0)} {
		cpus := "/goroutines=" + strconv.Itoa(goroutines)
		b.Run("entity=at-hand"+cpus, func(b *testing.B) {
			benchmarkWriterAdd(b, goroutines, func(w *wrstats.Writer, entities []wrstats.Entity, n int) {
				for i := range n {
					_ = w.Add("count", entities[i%len(entities)], 1)
				}
			})
		})
		b.Run("entity=made-there"+cpus, func(b *testing.B) {
			ids := benchIDs()
			benchmarkWriterAdd(b, goroutines, func(w *wrstats.Writer, _ []wrstats.Entity, n int) {
				for i := range n {
					_ = w.Add("count", wrstats.Local("filter", ids[i%len(ids)]), 1)
				}
			})
		})
	}
}

func benchmarkWriterAdd(b *testing.B, goroutines int, add func(w *wrstats.Writer, entities []wrstats.Entity, n int)) {
	w, entities := benchWriter(b)
	ids := benchIDs()
	rival := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rival"}, []string{"kind", "id"})
	result := versus.Run(b, "prometheus",
		versus.Parallel(goroutines, func(n int) { add(w, entities, n) }),
		versus.Parallel(goroutines, func(n int) {
			for i := range n {
				rival.WithLabelValues("filter", ids[i%len(ids)]).Add(1)
			}
		}))
	require.EqualValues(b, result.Done, w.Stats().Added)
}

// BenchmarkFlush is what a flush costs the process, on a store that takes no time.
func BenchmarkFlush(b *testing.B) {
	w, entities := benchWriter(b)
	var counters []*wrstats.Counter
	for _, metric := range []string{"count", "matches", "total-time", "total-cond"} {
		for _, e := range entities {
			c, err := w.Counter(metric, e)
			require.NoError(b, err)
			counters = append(counters, c)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, c := range counters {
			c.Add(1)
		}
		if err := w.Flush(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(counters)), "ns/counter")
	require.Equal(b, w.Stats().Added, w.Stats().Flushed)
	require.GreaterOrEqual(b, w.Stats().Flushed, float64(b.N*len(counters)))
}

func benchIDs() []string {
	ids := make([]string, 300)
	for i := range ids {
		ids[i] = strconv.Itoa(i)
	}
	return ids
}

func benchWriter(b *testing.B) (*wrstats.Writer, []wrstats.Entity) {
	stats, err := wrstats.New(sink{}, wrstats.Config{Prefix: "bench", Metrics: []wrstats.Metric{
		{Name: "count"}, {Name: "matches"}, {Name: "total-time", Resolution: 0.001}, {Name: "total-cond"},
	}})
	require.NoError(b, err)
	w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
	b.Cleanup(func() { require.NoError(b, w.Close(context.Background())) })
	var entities []wrstats.Entity
	for _, id := range benchIDs() {
		entities = append(entities, wrstats.Local("filter", id))
	}
	return w, entities
}

// A sink is a store that forgets.
type sink struct{}

func (sink) Incr(context.Context, []wrstats.Increment) (wrstats.Receipt, error) { return nil, nil }
func (sink) Get(_ context.Context, keys []string) ([]wrstats.Value, error) {
	return make([]wrstats.Value, len(keys)), nil
}
func (sink) Delete(context.Context, []string) error { return nil }
func (sink) Close() error                           { return nil }

// BenchmarkRates reads the hour of 1,200 counters, 8,400 keys, from a store that takes no time.
func BenchmarkRates(b *testing.B) {
	_, entities := benchWriter(b)
	stats := newStats(b, sink{})
	var queries []wrstats.Query
	for _, e := range entities {
		for _, metric := range []string{"count", "time", "count", "time"} {
			queries = append(queries, wrstats.Query{Metric: metric, Entity: e, Span: wrstats.Last(time.Hour)})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := stats.NewReader().Rates(b.Context(), queries); err != nil {
			b.Fatal(err)
		}
	}
}
