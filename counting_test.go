package wrstats_test

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

var filter42 = wrstats.Local("filter", "42")

var countingRules = []rule{
	{"what is added by handle, by name and at an instant is read, to the resolution", func(t *site) {
		stats := t.process()
		w := t.writer(stats)
		ms, err := w.Counter("ms", filter42)
		require.NoError(t, err)
		now := time.Now()
		for range 1000 {
			ms.Add(1.2345)
			ms.Inc()
			ms.AddAt(now, 0.0004)
			require.NoError(t, w.Add("ms", filter42, 2.5))
			require.NoError(t, w.AddAt(now.Add(-20*time.Minute), "ms", filter42, 0.001))
			require.NoError(t, w.Add("count", filter42, 3))
		}
		t.sync(w)
		require.Equal(t, 4735.9, t.hour(stats, time.Now(), "ms", filter42).Total)
		require.Equal(t, 3000.0, t.hour(stats, time.Now(), "count", filter42).Total)
		require.Zero(t, t.hour(stats, time.Now(), "count", wrstats.Local("filter", "43")).Total)
		added := w.Stats()
		require.Equal(t, added.Added, added.Flushed)
	}},
	{"an increment of 2^32+1 and one of 2^53 count exactly that", func(t *site) {
		stats := t.process()
		w := t.writer(stats)
		large := []wrstats.Entity{wrstats.Local("2^32+1"), wrstats.Local("2^53")}
		require.NoError(t, w.AddAt(at(0), "count", large[0], 1<<32+1))
		require.NoError(t, w.AddAt(at(0), "count", large[1], 1<<53))
		t.sync(w)
		require.Equal(t, []float64{4294967297, 1 << 53}, t.counts(stats, at(0), large...))
	}},
	{"two Writers of one process share counters", func(t *site) {
		stats := t.process()
		one, other := t.writer(stats), t.writer(stats)
		require.NoError(t, one.AddAt(at(0), "count", filter42, 5))
		require.NoError(t, other.AddAt(at(1), "count", filter42, 7))
		t.sync(one, other)
		require.Equal(t, []float64{12}, t.counts(stats, at(60), filter42))
	}},
	{"two processes share counters", func(t *site) {
		stats := []*wrstats.Stats{t.process(), t.process()}
		for i := range 10 {
			w := t.writer(stats[i%2])
			require.NoError(t, w.AddAt(at(0), "count", filter42, float64(i)))
			t.sync(w)
		}
		for _, s := range stats {
			require.Equal(t, []float64{45}, t.counts(s, at(60), filter42))
		}
	}},
	{"a local entity is its keyspace's, a global one all keyspaces'", func(t *site) {
		en := t.configured(wrstats.Config{Keyspace: "enwiki", Metrics: metrics})
		de := t.configured(wrstats.Config{Keyspace: "dewiki", Metrics: metrics})
		local, global := wrstats.Local("ip", "192.0.2.7"), wrstats.Global("ip", "192.0.2.7")
		for i, stats := range []*wrstats.Stats{en, de} {
			w := t.writer(stats)
			require.NoError(t, w.AddAt(at(0), "count", local, float64(10*(i+1))))
			require.NoError(t, w.AddAt(at(0), "count", global, float64(i+1)))
			t.sync(w)
		}
		require.Equal(t, []float64{10, 3}, t.counts(en, at(0), local, global))
		require.Equal(t, []float64{20, 3}, t.counts(de, at(0), local, global))
		require.Equal(t, []float64{0, 3}, t.counts(t.process(), at(0), local, global))
	}},
	{"Reset forgets what is stored and pending of an entity, in all metrics, and of no other", func(t *site) {
		stats := t.process()
		w := t.writer(stats)
		other := wrstats.Global("filter", "42")
		add := func(t0 time.Time) {
			require.NoError(t, w.AddAt(t0, "count", filter42, 1))
			require.NoError(t, w.AddAt(t0, "ms", filter42, 1))
			require.NoError(t, w.AddAt(t0, "count", other, 1))
		}
		now := time.Now()
		add(now.Add(-50 * time.Minute))
		t.sync(w)
		add(now)
		require.NoError(t, w.Reset(t.Context(), filter42))
		t.sync(w)
		require.Equal(t, 0, found(t.hour(stats, time.Now(), "count", filter42)))
		require.Equal(t, 0, found(t.hour(stats, time.Now(), "ms", filter42)))
		require.Equal(t, 2, found(t.hour(stats, time.Now(), "count", other)))
		add(now)
		t.sync(w)
		require.Equal(t, []float64{1}, t.counts(stats, time.Now(), filter42), "it counts again")
	}},
	{"Add and Close: it is stored; after that nothing is taken", func(t *site) {
		stats := t.process()
		w := stats.NewWriter(wrstats.WriterOptions{})
		c, err := w.Counter("count", filter42)
		require.NoError(t, err)
		c.AddAt(at(0), 1)
		require.NoError(t, w.Close(t.Context()))
		require.NoError(t, w.Close(t.Context()), "again is fine")
		require.ErrorIs(t, w.Add("count", filter42, 1), wrstats.ErrClosed)
		require.ErrorIs(t, w.AddAt(at(0), "count", filter42, 1), wrstats.ErrClosed)
		require.ErrorIs(t, w.Sync(t.Context()), wrstats.ErrClosed)
		c.AddAt(at(0), 1)
		require.Equal(t, []float64{1}, t.counts(stats, at(0), filter42))
		require.Equal(t, wrstats.WriterStats{Added: 1, Flushed: 1, Flushes: 1, Rejected: 3}, w.Stats())
	}},
	{"3,000 adds, Flush, Sync: 3,000", func(t *site) {
		stats := t.process()
		w := t.writer(stats)
		for i := range 3000 {
			require.NoError(t, w.AddAt(at(float64(i)), "count", filter42, 1))
		}
		require.NoError(t, w.Flush(t.Context()))
		t.sync(w)
		require.Equal(t, []float64{3000}, t.counts(stats, at(3000), filter42))
	}},
	{"a context that is done reads nothing and loses nothing", func(t *site) {
		stats := t.process()
		w := t.writer(stats)
		require.NoError(t, w.AddAt(at(0), "count", filter42, 1))
		done, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, w.Flush(done), context.Canceled)
		_, err := stats.NewReader().Rate(done, wrstats.Query{Metric: "count", Entity: filter42, Span: wrstats.LastWindows(1)})
		require.ErrorIs(t, err, context.Canceled)
		t.sync(w)
		require.Equal(t, []float64{1}, t.counts(stats, at(0), filter42))
	}},
}

// found returns how many windows have a key.
func found(r wrstats.Rate) (n int) {
	for _, w := range r.Windows {
		if w.Found {
			n++
		}
	}
	return n
}
