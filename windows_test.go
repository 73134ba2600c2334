package wrstats_test

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

var windowRules = []rule{
	{"after silence for longer than the window, one event is 1", func(t *site) {
		stats := t.process()
		w := t.writer(stats)
		for second := range 10 {
			require.NoError(t, w.AddAt(at(float64(second)), "count", filter42, 1))
		}
		require.NoError(t, w.AddAt(at(5000), "count", filter42, 1))
		t.sync(w)
		require.Equal(t, []float64{1}, t.counts(stats, at(5000), filter42))
		require.Equal(t, []float64{10}, t.counts(stats, at(10), filter42))
	}},
	{"an hour holds a bucket until its older edge has passed all of it", func(t *site) {
		stats := t.process()
		w := t.writer(stats)
		for event := range 60 {
			require.NoError(t, w.AddAt(at(float64(event)/60), "count", filter42, 1))
		}
		t.sync(w)
		for now, want := range map[float64]float64{0: 60, 1200: 60, 3599: 60, 3600: 60, 3900: 30, 4200: 0, 5000: 0, -1: 0} {
			require.Equal(t, []float64{want}, t.counts(stats, at(now), filter42), "at %v", now)
		}
	}},
	{"a Writer that lives on files each event into the bucket of its time", func(t *site) {
		stats := t.process()
		w := t.writer(stats)
		for _, second := range []float64{0, 1200, 599.999999999} {
			require.NoError(t, w.AddAt(at(second), "count", filter42, 1))
			t.sync(w)
		}
		require.Equal(t, []float64{2, 0, 1}, t.buckets(stats, 1200, 3))
	}},
	{"a clock that is set back files events into the earlier bucket", func(t *site) {
		stats := t.process()
		w := t.writer(stats)
		c, err := w.Counter("count", filter42)
		require.NoError(t, err)
		for _, second := range []float64{1000, 400, 1000, -1} {
			c.AddAt(at(second), 1)
		}
		t.sync(w)
		require.Equal(t, []float64{1, 1, 2}, t.buckets(stats, 1000, 3))
		require.Equal(t, []float64{2}, t.counts(stats, at(400), filter42))
	}},
	{"a lost key bends no mean at any age, and is told as missing", func(t *site) {
		stats, store := t.process(), t.connect()
		w := t.writer(stats)
		adds := []struct {
			metric string
			value  float64
		}{{"count", 100}, {"matches", 5}}
		for window := range 6 {
			for _, add := range adds {
				require.NoError(t, w.AddAt(at(float64(600*window)), add.metric, filter42, add.value))
			}
		}
		t.sync(w)
		t.meanIs(0.05, 0, stats)
		for window := range 6 {
			for _, add := range adds {
				key := fmt.Sprintf("local:%s:%s::%d:filter:42", t.prefix, add.metric, window)
				require.NoError(t, store.Delete(t.Context(), []string{key}))
				t.meanIs(0.05, 1, stats)
				require.NoError(t, w.AddAt(at(float64(600*window)), add.metric, filter42, add.value))
				t.sync(w)
			}
		}
		t.meanIs(0.05, 0, stats)
	}},
}

// meanIs asserts how many matches a count there are in the windows of 0 to 3600 s, of which some are
// missing.
func (t *site) meanIs(want float64, missing int, stats *wrstats.Stats) {
	t.Helper()
	for now := 3000; now < 6000; now += 191 {
		hour := wrstats.Between(at(max(0, float64(now-3600))), at(min(3600, float64(now))))
		rates, err := stats.NewReader().RatesAt(t.Context(), at(float64(now)), []wrstats.Query{
			{Metric: "matches", Entity: filter42, Span: hour},
			{Metric: "count", Entity: filter42, Span: hour},
		})
		require.NoError(t, err)
		mean, ok := rates[0].Per(rates[1])
		require.True(t, ok)
		require.InDelta(t, want, mean, 1e-12, "at %d", now)
		if now < 3600 {
			require.Equal(t, missing, rates[0].Missing()+rates[1].Missing(), "at %d", now)
		}
	}
}

// buckets returns the last n windows of the count at a second, each whole.
func (t *site) buckets(stats *wrstats.Stats, now float64, n int) (values []float64) {
	t.Helper()
	rates, err := stats.NewReader().RatesAt(t.Context(), at(now), []wrstats.Query{
		{Metric: "count", Entity: filter42, Span: wrstats.LastWindows(n)},
	})
	require.NoError(t, err)
	for i, w := range rates[0].Windows {
		require.Equal(t, rates[0].Windows[0].Start.Add(time.Duration(i)*10*time.Minute), w.Start)
		values = append(values, w.Value)
	}
	return values
}
