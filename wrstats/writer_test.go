package wrstats_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

var (
	filter42 = wrstats.Local("filter", "42")
	byHand   = wrstats.WriterOptions{FlushInterval: -1}
)

// newStats returns a Stats of the metrics count, time (resolution 0.001) and fine (two sequences).
func newStats(t testing.TB, store wrstats.Store) *wrstats.Stats {
	stats, err := wrstats.New(store, wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{
		{Name: "count"},
		{Name: "time", Resolution: 0.001},
		{Name: "fine", Sequences: []wrstats.Sequence{{Step: 10 * time.Second, Retention: time.Minute}, {}}},
	}})
	require.NoError(t, err)
	return stats
}

// newWriter returns a Writer on a new store, which the test's end closes.
func newWriter(t testing.TB, opts wrstats.WriterOptions) (*wrstats.Writer, *mapStore) {
	store := newMapStore()
	w := newStats(t, store).NewWriter(opts)
	t.Cleanup(func() { _ = w.Close(context.Background()) })
	return w, store
}

func key(metric string, bucket int) string {
	return fmt.Sprintf("local:p:%s::%d:filter:42", metric, bucket)
}

func TestAnIncrementBelongsToTheBucketOfItsOwnTime(t *testing.T) {
	for _, c := range []struct {
		rule string
		at   []float64
		want map[string]int64
	}{
		{"just before an edge, flushed after it", []float64{599.9}, map[string]int64{key("count", 0): 1}},
		{"on an edge", []float64{600}, map[string]int64{key("count", 1): 1}},
		{"at 0 and at 1200 by a writer that lives on", []float64{0, 1200}, map[string]int64{key("count", 0): 1, key("count", 2): 1}},
		{"the clock set back from 1000 to 400", []float64{1000, 400}, map[string]int64{key("count", 1): 1, key("count", 0): 1}},
		{"before 1970", []float64{-1, -600, -601}, map[string]int64{key("count", -1): 2, key("count", -2): 1}},
		{"in turn", []float64{0, 700, 1, 701, 2}, map[string]int64{key("count", 0): 3, key("count", 1): 2}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w, store := newWriter(t, byHand)
			counter, err := w.Counter("count", filter42)
			require.NoError(t, err)
			for i, seconds := range c.at {
				switch i % 3 { // each way to give an instant
				case 0:
					require.NoError(t, w.AddAt(at(seconds), "count", filter42, 1))
				case 1:
					counter.AddAt(at(seconds), 1)
				case 2:
					require.NoError(t, w.AddAllAt(at(seconds), []wrstats.Addition{{Counter: counter, Value: 1}}))
				}
			}
			require.NoError(t, w.Flush(t.Context()))
			stored, _ := store.stored()
			require.Equal(t, c.want, stored)
		})
	}
}

func TestTheTimerMovesAddToTheNextBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newWriter(t, byHand)
		c, err := w.Counter("count", filter42)
		require.NoError(t, err)
		start := time.Now() // of a bucket: midnight
		bucket := int(start.Unix() / 600)

		time.Sleep(599 * time.Second)
		c.Add(1)
		require.NoError(t, w.Add("count", filter42, 1))
		c.Add(0.25) // less than a unit: carried over the edge
		time.Sleep(2 * time.Second)
		c.Add(10)
		require.NoError(t, w.Add("count", filter42, 10))
		c.Add(0.75)
		require.NoError(t, w.Flush(t.Context()))

		stored, _ := store.stored()
		require.Equal(t, map[string]int64{key("count", bucket): 2, key("count", bucket+1): 21}, stored)
	})
}

func TestTheTimerTurnsWhileAFlushIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		w, store := newWriter(t, wrstats.WriterOptions{FlushTimeout: time.Hour})
		store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) {
			<-stuck
			store.apply(batch)
			return nil, nil
		})
		bucket := int(time.Now().Unix() / 600)
		c, err := w.Counter("count", filter42)
		require.NoError(t, err)
		c.Inc()
		time.Sleep(590 * time.Second) // the first flush hangs since second 1
		c.Add(10)
		time.Sleep(20 * time.Second)
		c.Add(100)
		close(stuck)
		require.NoError(t, w.Close(t.Context()))

		stored, _ := store.stored()
		require.Equal(t, map[string]int64{key("count", bucket): 11, key("count", bucket+1): 100}, stored)
	})
}

func TestEachSequenceHasItsBuckets(t *testing.T) {
	w, store := newWriter(t, byHand)
	for _, seconds := range []float64{0, 9.9, 10, 599.9, 600} {
		require.NoError(t, w.AddAt(at(seconds), "fine", wrstats.Global("x"), 1))
	}
	require.NoError(t, w.Flush(t.Context()))
	stored, _ := store.stored()
	require.Equal(t, map[string]int64{
		"global:p:fine::0:x": 2, "global:p:fine::1:x": 1, "global:p:fine::59:x": 1, "global:p:fine::60:x": 1,
		"global:p:fine:s1:0:x": 4, "global:p:fine:s1:1:x": 1,
	}, stored)
	require.Equal(t, 70*time.Second, store.ttls["global:p:fine::0:x"])
	require.Equal(t, 70*time.Minute, store.ttls["global:p:fine:s1:0:x"])
	stats := w.Stats()
	require.Equal(t, 10.0, stats.Added) // once for each sequence
	require.Equal(t, 10.0, stats.Flushed)
}

func TestFractionsAreCarriedUntilTheyMakeAUnit(t *testing.T) {
	for _, c := range []struct {
		rule   string
		metric string
		value  float64
		times  int
		want   int64
	}{
		{"ten adds of 0.4 at resolution 1", "count", 0.4, 10, 4},
		{"a thousand of 0.0004 at 0.001", "time", 0.0004, 1000, 400},
		{"1.2345 ten times at 0.001", "time", 1.2345, 10, 12345},
		{"one add of 0.4", "count", 0.4, 1, 0},
		{"0.1 ten times", "count", 0.1, 10, 1},
		{"a third, a million times", "count", 1.0 / 3, 1_000_000, 333_333},
		{"whole values", "time", 27465.2, 7, 192_256_400},
	} {
		for _, flushEach := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/flush each=%v", c.rule, flushEach), func(t *testing.T) {
				if flushEach && c.times > 10_000 {
					c.times, c.want = c.times/1000, c.want/1000
				}
				w, store := newWriter(t, byHand)
				counter, err := w.Counter(c.metric, filter42)
				require.NoError(t, err)
				for i := range c.times {
					switch i % 3 {
					case 0:
						require.NoError(t, w.AddAt(at(0), c.metric, filter42, c.value))
					case 1:
						counter.AddAt(at(1), c.value)
					case 2:
						require.NoError(t, w.AddAllAt(at(2), []wrstats.Addition{{Counter: counter, Value: c.value}}))
					}
					if flushEach {
						require.NoError(t, w.Flush(t.Context()))
					}
				}
				require.NoError(t, w.Flush(t.Context()))
				stored, _ := store.stored()
				require.Equal(t, map[string]int64{key(c.metric, 0): c.want}, stored)
			})
		}
	}
}

func TestDecimalFractionsAddUpExactly(t *testing.T) {
	for value, want := range map[float64]int64{0.57: 57, 2.01: 201, 4.1: 410, 4.35: 435, 1234567.89: 123456789} {
		w, store := newWriter(t, byHand)
		c, err := w.Counter("count", filter42)
		require.NoError(t, err)
		for range 100 {
			c.Add(value)
		}
		require.NoError(t, w.Flush(t.Context()))
		require.NoError(t, w.Flush(t.Context()))
		_, sum := store.stored()
		require.Equal(t, want, sum, value)
	}
	// Divided by the resolution this is a little less than whole.
	w, store := newWriter(t, byHand)
	require.NoError(t, w.AddAt(at(0), "time", filter42, 731329960582.841))
	require.NoError(t, w.Flush(t.Context()))
	stored, _ := store.stored()
	require.Equal(t, map[string]int64{key("time", 0): 731329960582841}, stored)
}

func TestATouchedCounterIsSentThoughItIsZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // no edge passes
		w, store := newWriter(t, byHand)
		c, err := w.Counter("count", filter42)
		require.NoError(t, err)
		for range 3 {
			c.Add(0)
			require.NoError(t, w.Add("count", wrstats.Local("by name"), 0))
			require.NoError(t, w.Add("count", wrstats.Local("small"), 1e-12))
			require.NoError(t, w.Flush(t.Context()))
			require.Len(t, store.batches[len(store.batches)-1], 3)
		}
		stored, _ := store.stored()
		require.Len(t, stored, 3)
		require.NoError(t, w.Flush(t.Context()))
		require.Len(t, store.batches, 3, "what was not touched is not sent again")
	})
}

func TestInvalidValuesAreRefusedAndNothingChanges(t *testing.T) {
	for _, c := range []struct {
		rule   string
		metric string
		value  float64
		ok     bool
	}{
		{"negative", "count", -1, false},
		{"a little negative", "count", -1e-300, false},
		{"NaN", "count", math.NaN(), false},
		{"infinite", "count", math.Inf(1), false},
		{"minus infinite", "count", math.Inf(-1), false},
		{"2^53 + 2 units", "count", 1<<53 + 2, false},
		{"2^53 units", "count", 1 << 53, true},
		{"2^53 + 2 units of 0.001", "time", (1<<53 + 2) / 1000.0, false},
		{"2^32 units", "count", 4294967296, true},
		{"minus zero", "count", math.Copysign(0, -1), true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w, store := newWriter(t, byHand)
			counter, err := w.Counter(c.metric, filter42)
			require.NoError(t, err)
			calls := []func() error{
				func() error { return w.Add(c.metric, filter42, c.value) },
				func() error { return w.AddAt(at(0), c.metric, filter42, c.value) },
				func() error { return w.AddAllAt(at(0), []wrstats.Addition{{Counter: counter, Value: c.value}}) },
				func() error { counter.Add(c.value); return nil },
				func() error { counter.AddAt(at(0), c.value); return nil },
			}
			for i, call := range calls {
				err := call()
				if !c.ok && i < 3 {
					require.ErrorIs(t, err, wrstats.ErrInvalidValue)
					continue
				}
				require.NoError(t, err)
			}
			require.NoError(t, w.Flush(t.Context()))
			_, sum := store.stored()
			if c.ok {
				require.Equal(t, int64(c.value)*int64(len(calls)), sum)
				return
			}
			require.Empty(t, store.batches)
			require.EqualValues(t, len(calls), w.Stats().Rejected)
			require.Zero(t, w.Stats().Added)
		})
	}
}

func TestWhatIsNotConfiguredOrNotAnInstantIsRefused(t *testing.T) {
	w, _ := newWriter(t, byHand)
	require.ErrorIs(t, w.Add("cuont", filter42, 1), wrstats.ErrUnknownMetric)
	require.ErrorIs(t, w.AddAt(at(0), "cuont", filter42, 1), wrstats.ErrUnknownMetric)
	_, err := w.Counter("cuont", filter42)
	require.ErrorContains(t, err, `"cuont"`)
	require.ErrorIs(t, w.AddAt(time.Time{}, "count", filter42, 1), wrstats.ErrInvalidValue)
	c, err := w.Counter("count", filter42)
	require.NoError(t, err)
	require.ErrorIs(t, w.AddAllAt(time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC), []wrstats.Addition{{Counter: c, Value: 1}}), wrstats.ErrInvalidValue)
	c.AddAt(time.Time{}, 1)
	require.EqualValues(t, 6, w.Stats().Rejected)

	other, _ := newWriter(t, byHand)
	require.ErrorContains(t, other.AddAllAt(at(0), []wrstats.Addition{{Counter: c, Value: 1}}), "another Writer's")
}

// What a counter holds is its own Writer's to touch. The race detector sees who else does.
func TestACounterOfAnotherWriterIsRefusedWhileItCounts(t *testing.T) {
	const times = 500
	w, _ := newWriter(t, byHand)
	c, err := w.Counter("count", filter42)
	require.NoError(t, err)
	other, _ := newWriter(t, byHand)
	var flushErr error
	var counting sync.WaitGroup
	counting.Go(func() {
		for range times {
			c.AddAt(at(0), 1)
			flushErr = errors.Join(flushErr, w.Flush(context.Background()))
		}
	})
	for range times {
		require.ErrorIs(t, other.AddAllAt(at(0), []wrstats.Addition{{Counter: c, Value: 1}}), wrstats.ErrForeignCounter)
	}
	counting.Wait()
	require.NoError(t, flushErr)
	require.EqualValues(t, times, other.Stats().Rejected)
	require.EqualValues(t, times, w.Stats().Added)
	require.Zero(t, other.Stats().Added)
}

func TestASumBetweenFlushesMayBeLarge(t *testing.T) {
	w, store := newWriter(t, byHand)
	c, err := w.Counter("count", filter42)
	require.NoError(t, err)
	for range 1 << 12 { // 2^63 billionths of a unit after half of them
		c.Add(4.5e6)
	}
	for range 100 {
		require.NoError(t, w.AddAt(time.Now(), "count", filter42, 1<<53))
	}
	require.NoError(t, w.Flush(t.Context()))
	_, sum := store.stored()
	require.Equal(t, int64(1<<12*4_500_000+100*(1<<53)), sum)

	for range 1 << 10 { // together 2^63
		err = w.AddAt(at(0), "count", filter42, 1<<53)
	}
	require.ErrorIs(t, err, wrstats.ErrInvalidValue)
	require.NoError(t, w.Flush(t.Context()))
}

func TestClose(t *testing.T) {
	w, store := newWriter(t, byHand)
	c, err := w.Counter("count", filter42)
	require.NoError(t, err)
	c.Add(1)
	require.NoError(t, w.Add("count", wrstats.Local("other"), 0.5))
	require.NoError(t, w.Close(t.Context()))
	_, sum := store.stored()
	require.EqualValues(t, 1, sum, "what was added is stored")

	require.NoError(t, w.Close(t.Context()), "again is fine")
	require.ErrorIs(t, w.Add("count", filter42, 1), wrstats.ErrClosed)
	require.ErrorIs(t, w.Add("count", wrstats.Local("new"), 1), wrstats.ErrClosed)
	require.ErrorIs(t, w.AddAt(at(0), "count", filter42, 1), wrstats.ErrClosed)
	require.ErrorIs(t, w.AddAllAt(at(0), []wrstats.Addition{{Counter: c, Value: 1}}), wrstats.ErrClosed)
	require.ErrorIs(t, w.Flush(t.Context()), wrstats.ErrClosed)
	require.ErrorIs(t, w.Sync(t.Context()), wrstats.ErrClosed)
	require.ErrorIs(t, w.Reset(t.Context(), filter42), wrstats.ErrClosed)
	_, err = w.Counter("count", filter42)
	require.ErrorIs(t, err, wrstats.ErrClosed)
	c.Add(1)
	c.Add(0)
	c.AddAt(at(0), 1)
	require.Equal(t, wrstats.WriterStats{Added: 1.5, Flushed: 1, Dropped: 0.5, Flushes: 1, Rejected: 7}, w.Stats())
}

func TestSyncWaitsUntilAllIsApplied(t *testing.T) {
	w, store := newWriter(t, byHand)
	c, err := w.Counter("count", filter42)
	require.NoError(t, err)
	for range 3000 {
		c.Inc()
	}
	require.NoError(t, w.Flush(t.Context()))
	require.NoError(t, w.Sync(t.Context()))
	_, sum := store.stored()
	require.EqualValues(t, 3000, sum)
}

func TestNoIncrementIsLostBetweenAddAndFlush(t *testing.T) {
	const goroutines, adds = 8, 125_000
	w, store := newWriter(t, byHand)
	stop := make(chan struct{})
	var flusher, adders sync.WaitGroup
	var flushErr error
	flusher.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				flushErr = errors.Join(flushErr, w.Flush(t.Context()))
			}
		}
	})
	errs := make([]error, goroutines)
	for g := range goroutines {
		adders.Go(func() { errs[g] = addInEveryWay(w, g, adds) })
	}
	adders.Wait()
	require.NoError(t, w.Flush(t.Context()), "what was added before a flush is in it")
	_, sum := store.stored()
	close(stop)
	flusher.Wait()
	require.NoError(t, errors.Join(append(errs, flushErr)...))
	require.EqualValues(t, goroutines*adds, sum)
	stats := w.Stats()
	require.EqualValues(t, goroutines*adds, stats.Added)
	require.EqualValues(t, goroutines*adds, stats.Flushed)
	require.Zero(t, stats.Pending)
}

// addInEveryWay adds n in all, to a few entities that come and go, as fast as it can.
func addInEveryWay(w *wrstats.Writer, seed, n int) error {
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	shared, err := w.Counter("count", filter42)
	if err != nil {
		return err
	}
	for i := range n {
		entity := wrstats.Local("e", strconv.Itoa(random.IntN(500))) // which go to sleep and wake all the while
		switch {
		case i%64 == 0: // a handle of its own, which is let go
			var c *wrstats.Counter
			if c, err = w.Counter("count", entity); err == nil {
				c.Inc()
			}
		case i%16 == 0: // at another time: the edge between two buckets passes all the while
			err = w.AddAt(at(float64(i)/10), "count", entity, 1)
		case i%2 == 0:
			err = w.Add("count", entity, 1)
		default:
			shared.Add(0.5)
			shared.Add(0.5)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func TestBucketEdgesPassWhileCounting(t *testing.T) {
	store := newMapStore()
	stats, err := wrstats.New(store, wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{{
		Name:      "count",
		Sequences: []wrstats.Sequence{{Step: time.Millisecond, Retention: time.Second}},
	}}})
	require.NoError(t, err)
	w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: 3 * time.Millisecond})
	added := int64(0)
	for buckets := 0; buckets < 20; buckets = bucketsOf(store, ":filter:42") { // counted in the present alone
		var adders sync.WaitGroup
		errs := make([]error, 4)
		for g := range errs {
			adders.Go(func() { errs[g] = addInEveryWay(w, g, 20_000) })
		}
		adders.Wait()
		require.NoError(t, errors.Join(errs...))
		require.NoError(t, w.Flush(t.Context()))
		added += 4 * 20_000
	}
	require.NoError(t, w.Close(t.Context()))
	_, sum := store.stored()
	require.Equal(t, added, sum)
}

func bucketsOf(store *mapStore, entity string) (n int) {
	counts, _ := store.stored()
	for key := range counts {
		if strings.HasSuffix(key, entity) {
			n++
		}
	}
	return n
}
