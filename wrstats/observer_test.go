package wrstats_test

import (
	"context"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

// tenfold has bins of powers of ten, whose upper bounds are 1, 10, 100 and 1000: numbers 0 to 3.
var tenfold = wrstats.Distribution{Min: 0.5, Max: 900, RelativeError: 9.0 / 11}

// newObserving returns a Stats of the plain metric count and the distributions time and fine (two sequences).
func newObserving(t testing.TB, store wrstats.Store) *wrstats.Stats {
	stats, err := wrstats.New(store, wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{
		{Name: "count"},
		{Name: "time", Distribution: &tenfold},
		{Name: "fine", Distribution: &tenfold, Sequences: []wrstats.Sequence{{Step: 10 * time.Second, Retention: time.Minute}, {}}},
	}})
	require.NoError(t, err)
	return stats
}

func newObservingWriter(t testing.TB, opts wrstats.WriterOptions) (*wrstats.Writer, *mapStore) {
	store := newMapStore()
	w := newObserving(t, store).NewWriter(opts)
	t.Cleanup(func() { _ = w.Close(context.Background()) })
	return w, store
}

func binKey(metric string, bin, bucket int) string {
	return key(metric+"/0.8181818181818182/"+strconv.Itoa(bin), bucket)
}

// observations are the ways to observe a value at an instant.
var observations = map[string]func(w *wrstats.Writer, o *wrstats.Observer, t time.Time, v float64) error{
	"by name": func(w *wrstats.Writer, _ *wrstats.Observer, t time.Time, v float64) error {
		return w.ObserveAt(t, "time", filter42, v)
	},
	"by handle": func(_ *wrstats.Writer, o *wrstats.Observer, t time.Time, v float64) error {
		o.ObserveAt(t, v)
		return nil
	},
	"with others": func(w *wrstats.Writer, o *wrstats.Observer, t time.Time, v float64) error {
		return w.AddAllAt(t, []wrstats.Addition{o.Addition(v)})
	},
}

func TestAnObservationCountsInItsBinAndInTheCount(t *testing.T) {
	for way, observe := range observations {
		t.Run(way, func(t *testing.T) {
			w, store := newObservingWriter(t, byHand)
			o, err := w.Distribution("time", filter42)
			require.NoError(t, err)
			for _, v := range []float64{5, 5, 10, 10.5, 0, -3, 0.7, 5000, math.Inf(1), math.Inf(-1), 5e-324} {
				require.NoError(t, observe(w, o, at(599.9), v))
			}
			require.NoError(t, observe(w, o, at(600), 50))
			require.Equal(t, wrstats.WriterStats{Added: 24, Pending: 24}, w.Stats())
			require.NoError(t, w.Flush(t.Context()))
			stored, _ := store.stored()
			require.Equal(t, map[string]int64{
				key("time", 0): 11, binKey("time", 0, 0): 5, binKey("time", 1, 0): 3, binKey("time", 2, 0): 1, binKey("time", 3, 0): 2,
				key("time", 1): 1, binKey("time", 2, 1): 1,
			}, stored)
			require.Len(t, store.batches[0], 7, "one increment a key")
			require.Equal(t, wrstats.WriterStats{Added: 24, Flushed: 24, Flushes: 1}, w.Stats())
		})
	}
}

func TestEachSequenceHasItsBins(t *testing.T) {
	w, store := newObservingWriter(t, byHand)
	require.NoError(t, w.ObserveAt(at(15), "fine", filter42, 5))
	require.NoError(t, w.ObserveAt(at(25), "fine", filter42, 5))
	require.Equal(t, 8.0, w.Stats().Added)
	require.NoError(t, w.Flush(t.Context()))
	stored, _ := store.stored()
	s1 := func(key string) string { return strings.Replace(key, "::0:", ":s1:0:", 1) }
	require.Equal(t, map[string]int64{
		key("fine", 1): 1, key("fine", 2): 1, s1(key("fine", 0)): 2,
		binKey("fine", 1, 1): 1, binKey("fine", 1, 2): 1, s1(binKey("fine", 1, 0)): 2,
	}, stored)
	require.Equal(t, 70*time.Second, store.ttls[binKey("fine", 1, 1)])
	require.Equal(t, 70*time.Minute, store.ttls[s1(binKey("fine", 1, 0))])
}

func TestTheTimerMovesObserveToTheNextBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newObservingWriter(t, byHand)
		o, err := w.Distribution("time", filter42)
		require.NoError(t, err)
		bucket := int(time.Now().Unix() / 600)
		time.Sleep(599 * time.Second)
		o.Observe(5)
		require.NoError(t, w.Observe("time", filter42, 50))
		time.Sleep(2 * time.Second)
		o.Observe(5)
		o.Observe(5)
		require.NoError(t, w.Flush(t.Context()))
		stored, _ := store.stored()
		require.Equal(t, map[string]int64{
			key("time", bucket): 2, binKey("time", 1, bucket): 1, binKey("time", 2, bucket): 1,
			key("time", bucket+1): 2, binKey("time", 1, bucket+1): 2,
		}, stored)
	})
}

func TestWhatCannotBeObservedIsRefused(t *testing.T) {
	w, store := newObservingWriter(t, byHand)
	o, err := w.Distribution("time", filter42)
	require.NoError(t, err)
	for i, c := range []struct {
		rule string
		err  error
		want error
	}{
		{"NaN by name", w.Observe("time", filter42, nan()), wrstats.ErrInvalidValue},
		{"NaN at an instant", w.ObserveAt(at(0), "time", filter42, nan()), wrstats.ErrInvalidValue},
		{"NaN with others", w.AddAllAt(at(0), []wrstats.Addition{o.Addition(nan())}), wrstats.ErrInvalidValue},
		{"no instant", w.ObserveAt(time.Time{}, "time", filter42, 1), wrstats.ErrInvalidValue},
		{"an unknown metric", w.Observe("nope", filter42, 1), wrstats.ErrUnknownMetric},
		{"a plain metric", w.Observe("count", filter42, 1), wrstats.ErrWrongKind},
		{"a plain metric at an instant", w.ObserveAt(at(0), "count", filter42, 1), wrstats.ErrWrongKind},
		{"adding to a distribution", w.Add("time", filter42, 1), wrstats.ErrWrongKind},
		{"adding to a distribution at an instant", w.AddAt(at(0), "time", filter42, 1), wrstats.ErrWrongKind},
	} {
		require.ErrorIs(t, c.err, c.want, "case %d: %s", i, c.rule)
	}
	_, err = w.Counter("time", filter42)
	require.ErrorIs(t, err, wrstats.ErrWrongKind)
	require.EqualError(t, err, `wrstats: wrong kind of metric: "time" is a distribution, whose values are observed`)
	_, err = w.Distribution("count", filter42)
	require.ErrorIs(t, err, wrstats.ErrWrongKind)
	require.EqualError(t, err, `wrstats: wrong kind of metric: "count" has no distribution`)
	o.Observe(nan())
	o.ObserveAt(at(0), nan())
	o.ObserveAt(time.Time{}, 1)
	require.NoError(t, w.Flush(t.Context()))
	require.Equal(t, wrstats.WriterStats{Rejected: 14}, w.Stats())
	require.Empty(t, store.batches)

	require.NoError(t, w.Close(t.Context()))
	o.Observe(1)
	o.ObserveAt(at(0), 1)
	require.ErrorIs(t, w.Observe("time", filter42, 1), wrstats.ErrClosed)
	_, err = w.Distribution("time", filter42)
	require.ErrorIs(t, err, wrstats.ErrClosed)
	require.Equal(t, wrstats.WriterStats{Rejected: 17}, w.Stats())
}

func TestResetForgetsBins(t *testing.T) {
	w, store := newObservingWriter(t, byHand)
	other := wrstats.Local("other")
	o, err := w.Distribution("time", filter42)
	require.NoError(t, err)
	for bucket := range 7 {
		o.ObserveAt(at(float64(600*bucket)), 5)
		require.NoError(t, w.ObserveAt(at(float64(600*bucket)), "fine", filter42, 50))
	}
	require.NoError(t, w.ObserveAt(at(3600), "time", other, 5))
	require.NoError(t, w.Flush(t.Context()))
	o.ObserveAt(at(3600), 5)   // pending
	o.ObserveAt(at(3600), 500) // of a bin that is not stored
	require.NoError(t, w.ObserveAt(at(3600), "time", other, 500))
	require.NoError(t, w.ResetAt(t.Context(), at(3600), filter42))
	stats := w.Stats()
	require.Equal(t, 4.0, stats.Dropped)
	require.Equal(t, stats.Added, stats.Flushed+stats.Dropped+stats.Pending)
	require.NoError(t, w.Flush(t.Context()))
	stored, _ := store.stored()
	for key := range stored {
		// Of the shorter sequence, buckets of 10 s, those before the last minute ended.
		require.Truef(t, strings.HasSuffix(key, ":other") || strings.Contains(key, ":fine") && !strings.Contains(key, ":s1:"), "%s", key)
	}
	require.EqualValues(t, 2, stored["local:p:time::6:other"])

	o.ObserveAt(at(3600), 5)
	require.NoError(t, w.Flush(t.Context()))
	stored, _ = store.stored()
	require.EqualValues(t, 1, stored[key("time", 6)], "counts go on")
	require.EqualValues(t, 1, stored[binKey("time", 1, 6)])
}

func TestAnObserverIsThatOfItsEntityForGood(t *testing.T) {
	w, store := newObservingWriter(t, byHand)
	o, err := w.Distribution("time", filter42)
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, w.Observe("time", filter42, 5))
		again, err := w.Distribution("time", filter42)
		require.NoError(t, err)
		require.Same(t, o, again)
		o.Observe(5)
		for range 3 { // it goes to sleep
			require.NoError(t, w.Flush(t.Context()))
			runtime.GC()
		}
	}
	_, sum := store.stored()
	require.EqualValues(t, 2*6, sum)
}

func TestOneShotEntitiesThatWereObservedLeaveTheBuffer(t *testing.T) {
	w := newObserving(t, sink{}).NewWriter(byHand)
	defer w.Close(t.Context())
	before := heap()
	var errs []error
	for i := range 60_000 {
		e := wrstats.Local("one shot", strconv.Itoa(i))
		errs = appendError(errs, w.Observe("time", e, float64(i%1000)))
		if i%3 == 0 {
			o, err := w.Distribution("time", e)
			errs = appendError(errs, err)
			o.Observe(5)
		}
		if i%10_000 == 0 {
			errs = appendError(errs, w.Flush(t.Context()))
		}
	}
	require.Empty(t, errs)
	require.NoError(t, w.Flush(t.Context()))
	require.NoError(t, w.Flush(t.Context()))
	const most = 10 << 20 // all of them are 40 MB and more
	require.Eventually(t, func() bool { return heap()-before < most }, time.Minute, time.Millisecond)
	require.Zero(t, w.Stats().Pending)
	runtime.KeepAlive(w)
}

func TestObserversAreHeldUpToMaxPending(t *testing.T) {
	store := newMapStore()
	stats, err := wrstats.New(store, wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{
		{Name: "time", Distribution: &wrstats.Distribution{Min: 1, Max: 1e6, RelativeError: 0.1}}, // 70 bins
	}})
	require.NoError(t, err)
	w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1, MaxPending: 100})
	store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) {
		return nil, &wrstats.NotSentError{Batch: batch, Err: errDown}
	})
	for round := range 5 {
		for i := range 1000 {
			require.NoError(t, w.ObserveAt(at(0), "time", wrstats.Local(strconv.Itoa(i)), float64(round+1)))
		}
		require.ErrorIs(t, w.Flush(t.Context()), errDown)
	}
	s := w.Stats()
	require.Equal(t, 10_000.0, s.Added)
	require.Equal(t, s.Added, s.Pending+s.Dropped)
	require.GreaterOrEqual(t, s.Pending, 2*20.0, "entities of 5 pairs each")
	require.LessOrEqual(t, s.Pending, 200.0)
	store.fail(nil)
	require.NoError(t, w.Close(t.Context()))
	stored, sum := store.stored()
	require.EqualValues(t, s.Pending, sum)
	require.LessOrEqual(t, len(stored), 104)
	require.Equal(t, w.Stats().Added, w.Stats().Flushed+w.Stats().Dropped)
}

func TestObservingAllocatesNothing(t *testing.T) {
	w, _ := newObservingWriter(t, byHand)
	o, err := w.Distribution("time", filter42)
	require.NoError(t, err)
	additions := []wrstats.Addition{o.Addition(5)}
	now := time.Now()
	for rule, observe := range map[string]func(){
		"a handle":                func() { o.Observe(5) },
		"a handle, out of bounds": func() { o.Observe(5000) },
		"a handle at an instant":  func() { o.ObserveAt(now, 5) },
		"by name":                 func() { _ = w.Observe("time", filter42, 5) },
		"by name at an instant":   func() { _ = w.ObserveAt(now, "time", filter42, 5) },
		"with others":             func() { additions[0] = o.Addition(5); _ = w.AddAllAt(now, additions) },
	} {
		observe()
		require.Zero(t, testing.AllocsPerRun(100, observe), rule)
	}
}
