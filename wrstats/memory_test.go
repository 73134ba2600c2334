package wrstats_test

import (
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

// heap returns the bytes that are live.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what weak pointers and cleanups held in the first
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestOneShotEntitiesLeaveTheBuffer(t *testing.T) {
	for _, c := range []struct {
		rule     string
		entities int
		count    func(w *wrstats.Writer, e wrstats.Entity) error
	}{
		{"by name", 250_000, func(w *wrstats.Writer, e wrstats.Entity) error { return w.Add("count", e, 1) }},
		{"at an instant", 250_000, func(w *wrstats.Writer, e wrstats.Entity) error { return w.AddAt(at(0), "count", e, 1.5) }},
		{"by a handle", 250_000, func(w *wrstats.Writer, e wrstats.Entity) error {
			c, err := w.Counter("count", e)
			if err == nil {
				c.Inc()
			}
			return err
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			stats := newStats(t, sink{})
			w := stats.NewWriter(byHand)
			defer w.Close(t.Context())
			before := heap()
			var errs []error
			for i := range c.entities {
				errs = appendError(errs, c.count(w, wrstats.Local("one shot", strconv.Itoa(i))))
				if i%10_000 == 0 {
					errs = appendError(errs, w.Flush(t.Context()))
				}
			}
			require.Empty(t, errs)
			require.NoError(t, w.Flush(t.Context()))
			require.NoError(t, w.Flush(t.Context()))
			const most = 20 << 20 // all of them are 75 MB and more
			// The runtime lets handles go in its own time.
			require.Eventually(t, func() bool { return heap()-before < most }, time.Minute, time.Millisecond)
			require.Zero(t, w.Stats().Pending)
			runtime.KeepAlive(w)
		})
	}
}

func appendError(errs []error, err error) []error {
	if err != nil {
		return append(errs, err)
	}
	return errs
}

func TestAHandleIsTheCounterOfItsEntityForGood(t *testing.T) {
	w, store := newWriter(t, byHand)
	c, err := w.Counter("count", filter42)
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, w.Add("count", filter42, 0.5))
		again, err := w.Counter("count", filter42)
		require.NoError(t, err)
		require.Same(t, c, again)
		c.Add(0.5)    // the same fraction
		for range 3 { // it goes to sleep
			require.NoError(t, w.Flush(t.Context()))
			runtime.GC()
		}
	}
	_, sum := store.stored()
	require.EqualValues(t, 3, sum)
}

func TestAHandleKeepsItsFractionOverAnyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newWriter(t, wrstats.WriterOptions{})
		c, err := w.Counter("count", filter42)
		require.NoError(t, err)
		for range 10 {
			c.Add(0.4)
			time.Sleep(time.Hour)
		}
		_, sum := store.stored()
		require.EqualValues(t, 4, sum)
		c.Add(0.25)
		require.NoError(t, w.Close(t.Context()))
		require.Equal(t, 0.25, w.Stats().Dropped)
	})
}

func TestTheFractionOfAHandleThatIsLetGoIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := newWriter(t, wrstats.WriterOptions{})
		for i := range 100 {
			c, err := w.Counter("count", wrstats.Local(strconv.Itoa(i)))
			require.NoError(t, err)
			c.Add(0.5)
		}
		time.Sleep(time.Minute)
		require.Equal(t, 50.0, w.Stats().Pending, "its bucket still goes on")
		time.Sleep(time.Hour)
		for range 1000 { // the runtime tells in its own time
			runtime.GC()
			if w.Stats().Pending == 0 {
				break
			}
		}
		require.Equal(t, 50.0, w.Stats().Dropped)
		require.Zero(t, w.Stats().Pending)
	})
}

func TestHandlesThatAreNotKeptCarryTheirFractions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newWriter(t, wrstats.WriterOptions{})
		for range 10 {
			c, err := w.Counter("count", filter42)
			require.NoError(t, err)
			c.Add(0.4)
			time.Sleep(10 * time.Second)
			runtime.GC()
		}
		_, sum := store.stored()
		require.EqualValues(t, 4, sum)
	})
}

func TestAFractionIsDroppedWhenItsBucketIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newWriter(t, wrstats.WriterOptions{})
		require.NoError(t, w.Add("count", filter42, 0.5))
		time.Sleep(5 * time.Minute)
		require.Equal(t, 0.5, w.Stats().Pending)
		require.NoError(t, w.Add("count", filter42, 0.75))
		time.Sleep(10 * time.Minute)
		_, sum := store.stored()
		require.EqualValues(t, 1, sum)
		stats := w.Stats()
		require.Equal(t, 0.25, stats.Dropped)
		require.Zero(t, stats.Pending)
	})
}

func TestAStoreThatIsDownForAnHourCostsNoMoreThanMaxPending(t *testing.T) {
	const limit = 10_000
	synctest.Test(t, func(t *testing.T) {
		w, store := newWriter(t, wrstats.WriterOptions{MaxPending: limit, FlushInterval: 30 * time.Second})
		largest := 0
		store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) {
			largest = max(largest, len(batch))
			store.forgetBatches()
			return nil, &wrstats.NotSentError{Batch: batch, Err: errDown}
		})
		before := heap()
		var errs []error
		for i := range 1_000_000 {
			errs = appendError(errs, w.Add("count", wrstats.Local("ip", strconv.Itoa(i)), 1))
			if i%278 == 0 {
				time.Sleep(time.Second) // an hour in all
			}
		}
		require.Empty(t, errs)
		synctest.Wait()
		require.LessOrEqual(t, largest, limit)
		stats := w.Stats()
		require.LessOrEqual(t, stats.Pending, float64(limit))
		require.Equal(t, 1_000_000-stats.Pending, stats.Dropped)
		require.Less(t, heap()-before, int64(limit*1000))

		store.fail(nil)
		require.NoError(t, w.Sync(t.Context()))
		_, sum := store.stored()
		require.EqualValues(t, stats.Pending, sum, "what was held is sent")
		require.NoError(t, w.Add("count", filter42, 1))
		require.NoError(t, w.Sync(t.Context()))
		_, sum = store.stored()
		require.EqualValues(t, stats.Pending+1, sum, "and there is room again")
	})
}

func TestMaxPendingCountsBucketsOfACounterAndItsSequences(t *testing.T) {
	for metric, want := range map[string]float64{"count": 10, "fine": 10} { // fine has two sequences
		w, store := newWriter(t, wrstats.WriterOptions{FlushInterval: -1, MaxPending: 10})
		for round := range 3 { // what a flush takes makes room
			for bucket := range 100 {
				require.NoError(t, w.AddAt(at(600*float64(bucket)), metric, filter42, 1))
			}
			require.Equal(t, want, w.Stats().Pending)
			require.NoError(t, w.Flush(t.Context()))
			_, sum := store.stored()
			require.EqualValues(t, want*float64(round+1), sum)
		}
	}
}

// Counters that are used all the time stay in the buffer from one flush to the next, and count there.
func TestMaxPendingBoundsBatchesOfWhatIsUsedAllTheTime(t *testing.T) {
	const limit, entities = 100, 1000
	for _, metric := range []string{"count", "fine", "observed"} {
		store := newMapStore()
		stats, err := wrstats.New(store, wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{
			{Name: "count"},
			{Name: "fine", Sequences: []wrstats.Sequence{{Step: 10 * time.Second, Retention: time.Minute}, {}}},
			{Name: "observed", Distribution: &wrstats.Distribution{Min: 1, Max: 10, RelativeError: 0.1}},
		}})
		require.NoError(t, err)
		w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1, MaxPending: limit})
		defer w.Close(t.Context())
		largest := 0
		store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) {
			largest = max(largest, len(batch))
			return nil, nil
		})
		for round := range 20 {
			for i := range entities {
				e := wrstats.Local(strconv.Itoa(i))
				if metric == "observed" {
					require.NoError(t, w.Observe(metric, e, float64(1+i%7)))
				} else {
					require.NoError(t, w.Add(metric, e, 1))
				}
			}
			require.NoError(t, w.Flush(t.Context()))
			require.LessOrEqual(t, largest, limit+1, "%s, round %d", metric, round)
			a := w.Stats()
			require.Equal(t, a.Added, a.Flushed+a.Dropped, "%+v", a)
		}
	}
}

// What is not used any more makes room for what is new, without a flush between.
func TestIdleCountersMakeRoomForNewOnes(t *testing.T) {
	const limit = 100
	w, store := newWriter(t, wrstats.WriterOptions{FlushInterval: -1, MaxPending: limit})
	for round := range 10 {
		for i := range limit {
			require.NoError(t, w.Add("count", wrstats.Local(strconv.Itoa(round), strconv.Itoa(i)), 1))
		}
		require.NoError(t, w.Flush(t.Context()))
	}
	_, sum := store.stored()
	require.EqualValues(t, 10*limit, sum)
	require.Zero(t, w.Stats().Dropped)
}

func TestWhatWasNotSentNeedsNoMoreRoomThanItHad(t *testing.T) {
	for _, limit := range []int{1, 1000} {
		w, store := newWriter(t, wrstats.WriterOptions{FlushInterval: -1, MaxPending: limit})
		store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) {
			return nil, &wrstats.NotSentError{Batch: batch, Err: errDown}
		})
		for round := range 3 { // hot counters all the while
			for i := range limit {
				require.NoError(t, w.AddAt(at(0), "count", wrstats.Local(strconv.Itoa(i)), 1))
			}
			require.Error(t, w.Flush(t.Context()))
			require.Equal(t, float64(limit*(round+1)), w.Stats().Pending)
		}
		require.NoError(t, w.AddAt(at(0), "count", wrstats.Local("one more"), 1))
		require.Equal(t, 1.0, w.Stats().Dropped)
		store.fail(nil)
		require.NoError(t, w.Flush(t.Context()))
		_, sum := store.stored()
		require.EqualValues(t, 3*limit, sum)
	}
}

func TestWritersLeaveNothingBehind(t *testing.T) {
	store := newMapStore()
	stats := newStats(t, store)
	for range 1000 {
		w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: time.Millisecond})
		require.NoError(t, w.Add("count", filter42, 1))
		require.NoError(t, w.Close(t.Context()))
	}
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	require.NotContains(t, string(stacks), "wrstats.(*Writer)")
	require.NotContains(t, string(stacks), "wrstats.(*sender)")
	_, sum := store.stored()
	require.EqualValues(t, 1000, sum)
}

func TestCountingAllocatesNothing(t *testing.T) {
	w := newStats(t, sink{}).NewWriter(byHand)
	defer w.Close(t.Context())
	c, err := w.Counter("time", filter42)
	require.NoError(t, err)
	name := strconv.Itoa(42)
	for _, f := range []struct {
		rule string
		call func()
	}{
		{"by handle", func() { c.Add(1.25); c.Inc(); c.Add(0) }},
		{"by name", func() { _ = w.Add("time", filter42, 1) }},
		{"by a name made there and then", func() { _ = w.Add("time", wrstats.Local("filter", name), 1) }},
		{"at an instant", func() { c.AddAt(at(0), 1) }},
	} {
		f.call()
		require.Zero(t, testing.AllocsPerRun(100, f.call), f.rule)
	}
}

func TestAFlushAllocatesNothingForACounter(t *testing.T) {
	w := newStats(t, sink{}).NewWriter(byHand)
	defer w.Close(t.Context())
	var counters []*wrstats.Counter
	for i := range 100 {
		c, err := w.Counter("fine", wrstats.Local(strconv.Itoa(i)))
		require.NoError(t, err)
		counters = append(counters, c)
	}
	flush := func(counters []*wrstats.Counter) func() {
		return func() {
			for _, c := range counters {
				c.AddAt(at(0), 1)
			}
			_ = w.Flush(t.Context())
		}
	}
	flush(counters)()
	require.Equal(t, testing.AllocsPerRun(100, flush(counters[:1])), testing.AllocsPerRun(100, flush(counters)))
}
