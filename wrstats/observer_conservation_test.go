package wrstats_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

func TestObservationsThatWereNotSentAreSentLater(t *testing.T) {
	w, store := newObservingWriter(t, byHand)
	store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) {
		return nil, &wrstats.NotSentError{Batch: batch, Err: errDown}
	})
	require.NoError(t, w.ObserveAt(at(0), "time", filter42, 5))
	require.ErrorIs(t, w.Flush(t.Context()), errDown)
	require.NoError(t, w.ObserveAt(at(0), "time", filter42, 50))
	require.Equal(t, wrstats.WriterStats{Added: 4, Pending: 4, Errors: 1}, w.Stats())
	store.fail(nil)
	require.NoError(t, w.Flush(t.Context()))
	stored, _ := store.stored()
	require.Equal(t, map[string]int64{key("time", 0): 2, binKey("time", 1, 0): 1, binKey("time", 2, 0): 1}, stored)
	require.Equal(t, wrstats.WriterStats{Added: 4, Flushed: 4, Flushes: 1, Errors: 1}, w.Stats())
}

func TestNoObservationIsLostBetweenObserveAndFlush(t *testing.T) {
	const goroutines = 4
	each := 100_000
	if testing.Short() {
		each /= 10
	}
	store := newMapStore()
	stats, err := wrstats.New(store, wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{
		{Name: "time", Distribution: &tenfold, Sequences: []wrstats.Sequence{{Step: 2 * time.Millisecond, Retention: time.Minute}}},
	}})
	require.NoError(t, err)
	w := stats.NewWriter(byHand)
	o, err := w.Distribution("time", filter42)
	require.NoError(t, err)
	errs := make([]error, goroutines+1)
	stop := make(chan struct{})
	var observing, flushing sync.WaitGroup
	flushing.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				errs[goroutines] = errors.Join(errs[goroutines], w.Flush(context.Background()))
				runtime.Gosched()
			}
		}
	})
	for g := range goroutines {
		observing.Go(func() {
			for i := range each {
				switch v := float64(i % 900); i % 8 {
				case 0:
					errs[g] = errors.Join(errs[g], w.Observe("time", filter42, v))
				case 1:
					errs[g] = errors.Join(errs[g], w.Observe("time", wrstats.Local(strconv.Itoa(i%7)), v))
				case 2:
					errs[g] = errors.Join(errs[g], w.AddAllAt(time.Now(), []wrstats.Addition{o.Addition(v)}))
				default:
					o.Observe(v)
				}
			}
		})
	}
	observing.Wait()
	close(stop)
	flushing.Wait()
	require.NoError(t, errors.Join(errs...))
	require.NoError(t, w.Close(t.Context()))
	stored, sum := store.stored()
	all := int64(goroutines * each)
	require.Equal(t, 2*all, sum)
	var inBins int64
	for key, n := range stored {
		if strings.Contains(key, ":time/") {
			inBins += n
		}
	}
	require.Equal(t, all, inBins)
	s := w.Stats()
	require.Equal(t, wrstats.WriterStats{Added: float64(2 * all), Flushed: float64(2 * all), Flushes: s.Flushes}, s)
}

func TestObservationsAreConservedWhateverTheStoreDoes(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for range 30 {
		store := newMapStore()
		w := newObserving(t, store).NewWriter(wrstats.WriterOptions{FlushInterval: -1, MaxPending: 1 + random.IntN(60)})
		added := 0.0
		store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) {
			r, err := failSomehow(random, store, batch)
			if r == nil {
				return nil, err
			}
			close(r.done)
			return r, err
		})
		for range 300 {
			switch random.IntN(6) {
			case 0:
				_ = w.Flush(t.Context())
			case 1:
				if random.IntN(10) == 0 {
					require.NoError(t, w.ResetAt(t.Context(), at(-1e9), wrstats.Local("0"))) // of nothing that is stored
				}
			default:
				e := wrstats.Local(strconv.Itoa(random.IntN(5)))
				require.NoError(t, w.ObserveAt(at(float64(600*random.IntN(3))), "time", e, math.Exp(8*random.Float64())))
				added += 2
			}
			s := w.Stats()
			require.Equal(t, added, s.Added, "seed %d", seed)
			require.Equal(t, s.Added, s.Flushed+s.Lost+s.Dropped+s.Pending, "seed %d", seed)
		}
		store.fail(nil)
		_ = w.Close(t.Context()) // with the error of what is lost
		s := w.Stats()
		require.Equal(t, s.Added, s.Flushed+s.Lost+s.Dropped, "seed %d", seed)
		_, sum := store.stored()
		require.LessOrEqual(t, float64(sum), s.Added, "seed %d", seed)
		require.GreaterOrEqual(t, float64(sum)+s.Lost+s.Dropped, s.Added, "seed %d", seed)
	}
}
