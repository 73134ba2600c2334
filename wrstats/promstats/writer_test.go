package promstats_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/promstats"
)

// newWriter returns a Writer that only flushes when it is told to.
func newWriter(t *testing.T, store wrstats.Store) *wrstats.Writer {
	t.Helper()
	stats, err := wrstats.New(store, wrstats.Config{Prefix: "test", Metrics: []wrstats.Metric{{Name: "runs"}}})
	require.NoError(t, err)
	w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1, MaxPending: 1})
	t.Cleanup(func() { _ = w.Close(context.Background()) })
	return w
}

func TestWriterFollowsTheConventions(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	for _, name := range []string{"a", "b"} {
		w := newWriter(t, memory.New(memory.Options{}))
		require.NoError(t, registry.Register(promstats.NewWriter(w, prometheus.Labels{"writer": name})))
	}
	requireLinted(t, registry)
}

// lossy is a store that takes everything and loses it.
type lossy struct{ wrstats.Store }

type lostReceipt int64

func (lossy) Incr(_ context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
	var lost lostReceipt
	for _, inc := range batch {
		lost += lostReceipt(inc.Delta)
	}
	return lost, nil
}

func (n lostReceipt) Wait(context.Context) (int64, error) { return int64(n), errDown }

func TestEachCounterOfAWriterIsShown(t *testing.T) {
	inner := memory.New(memory.Options{})
	store := &switched{now: inner}
	w := newWriter(t, store)
	add := func(v float64, name string) { _ = w.Add("runs", wrstats.Local(name), v) }

	add(5, "a")
	require.NoError(t, w.Sync(t.Context()))
	store.now = lossy{inner}
	add(7, "a")
	require.ErrorIs(t, w.Sync(t.Context()), errDown)
	add(11, "a")
	add(13, "b") // there is no room
	add(-1, "a")
	require.NoError(t, testutil.CollectAndCompare(promstats.NewWriter(w, prometheus.Labels{"job_name": "x"}), strings.NewReader(`
# HELP wrstats_writer_added_units_total Units that the Writer took.
# TYPE wrstats_writer_added_units_total counter
wrstats_writer_added_units_total{job_name="x"} 36
# HELP wrstats_writer_dropped_units_total Units that were not handed to the store, for want of room or by a reset.
# TYPE wrstats_writer_dropped_units_total counter
wrstats_writer_dropped_units_total{job_name="x"} 13
# HELP wrstats_writer_errors_total Flushes that failed, and batches that were lost.
# TYPE wrstats_writer_errors_total counter
wrstats_writer_errors_total{job_name="x"} 1
# HELP wrstats_writer_flushed_units_total Units that the store confirmed.
# TYPE wrstats_writer_flushed_units_total counter
wrstats_writer_flushed_units_total{job_name="x"} 5
# HELP wrstats_writer_flushes_total Batches that the store took, in whole or in part.
# TYPE wrstats_writer_flushes_total counter
wrstats_writer_flushes_total{job_name="x"} 2
# HELP wrstats_writer_lost_units_total Units that were handed to the store, and failed or are of unknown outcome.
# TYPE wrstats_writer_lost_units_total counter
wrstats_writer_lost_units_total{job_name="x"} 7
# HELP wrstats_writer_pending_units Units in the buffer, or handed to the store and not yet confirmed.
# TYPE wrstats_writer_pending_units gauge
wrstats_writer_pending_units{job_name="x"} 11
# HELP wrstats_writer_rejected_calls_total Calls that the Writer refused.
# TYPE wrstats_writer_rejected_calls_total counter
wrstats_writer_rejected_calls_total{job_name="x"} 1
`)))
}

// A switched store passes increments on to another, which a test changes between flushes.
type switched struct{ now wrstats.Store }

func (s *switched) Incr(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
	return s.now.Incr(ctx, batch)
}
func (s *switched) Get(ctx context.Context, keys []string) ([]wrstats.Value, error) {
	return s.now.Get(ctx, keys)
}
func (s *switched) Delete(ctx context.Context, keys []string) error { return s.now.Delete(ctx, keys) }
func (s *switched) Close() error                                    { return s.now.Close() }

func TestAWriterCountsOnWhileItIsScraped(t *testing.T) {
	w := newWriter(t, memory.New(memory.Options{}))
	registry := prometheus.NewRegistry()
	require.NoError(t, registry.Register(promstats.NewWriter(w, nil)))
	counter, err := w.Counter("runs", wrstats.Local("a"))
	require.NoError(t, err)
	const adders, scrapers, each = 4, 4, 200
	var group sync.WaitGroup
	errs := make(chan error, scrapers*each)
	for range adders {
		group.Go(func() {
			for range 100 * each {
				counter.Inc()
			}
		})
	}
	for range scrapers {
		group.Go(func() {
			for range each {
				_, err := registry.Gather()
				errs <- err
			}
		})
	}
	group.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.NoError(t, w.Close(t.Context()))
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP wrstats_writer_flushed_units_total Units that the store confirmed.
# TYPE wrstats_writer_flushed_units_total counter
wrstats_writer_flushed_units_total 80000
`), "wrstats_writer_flushed_units_total"))
}
