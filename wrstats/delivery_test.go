package wrstats_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

var errDown = errors.New("down")

func TestWhatWasNotSentIsSentLater(t *testing.T) {
	w, store := newWriter(t, byHand)
	require.NoError(t, w.AddAt(at(0), "count", filter42, 3))
	require.NoError(t, w.AddAt(at(600), "count", filter42, 4))
	store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) {
		return nil, &wrstats.NotSentError{Batch: batch, Err: errDown}
	})
	require.ErrorIs(t, w.Flush(t.Context()), errDown)
	require.NoError(t, w.AddAt(at(1), "count", filter42, 5))
	require.ErrorIs(t, w.Flush(t.Context()), errDown)
	require.Equal(t, wrstats.WriterStats{Added: 12, Pending: 12, Errors: 2}, w.Stats())

	store.fail(nil)
	require.NoError(t, w.Flush(t.Context()))
	stored, _ := store.stored()
	require.Equal(t, map[string]int64{key("count", 0): 8, key("count", 1): 4}, stored)
	require.Equal(t, wrstats.WriterStats{Added: 12, Flushed: 12, Flushes: 1, Errors: 2}, w.Stats())
	require.NoError(t, w.Flush(t.Context()))
	require.Len(t, store.batches, 3, "and not once more")
}

// A caller of Flush may recover from a store that panics, again and again.
func TestAStoreThatPanicsHasLostItsBatch(t *testing.T) {
	const times = 100 // more than may be unconfirmed at once
	w, store := newWriter(t, byHand)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	store.fail(func([]wrstats.Increment) (wrstats.Receipt, error) { panic("the store") })
	for range times {
		require.NoError(t, w.AddAt(at(0), "count", filter42, 3))
		require.PanicsWithValue(t, "the store", func() { _ = w.Flush(ctx) })
	}
	require.Equal(t, wrstats.WriterStats{Added: 3 * times, Lost: 3 * times, Errors: times}, w.Stats())

	store.fail(nil)
	require.NoError(t, w.AddAt(at(0), "count", filter42, 4))
	require.NoError(t, w.Sync(ctx))
	_, sum := store.stored()
	require.EqualValues(t, 4, sum)
}

func TestWhatMayHaveBeenSentIsNeverSentAgain(t *testing.T) {
	for _, c := range []struct {
		rule    string
		incr    func(batch []wrstats.Increment) (wrstats.Receipt, error)
		lost    float64
		pending float64
	}{
		{"an error without a receipt", func([]wrstats.Increment) (wrstats.Receipt, error) {
			return nil, errDown
		}, 7, 0},
		{"a part was not sent, and nothing is known of the rest", func(batch []wrstats.Increment) (wrstats.Receipt, error) {
			return nil, &wrstats.NotSentError{Batch: batch[1:], Err: errDown}
		}, 3, 4},
		{"a part was not sent, and the rest was applied", func(batch []wrstats.Increment) (wrstats.Receipt, error) {
			return resolved(0, nil), &wrstats.NotSentError{Batch: batch[1:], Err: errDown}
		}, 0, 4},
		{"a receipt that says lost", func([]wrstats.Increment) (wrstats.Receipt, error) {
			return resolved(5, errDown), nil
		}, 5, 0},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w, store := newWriter(t, byHand)
			require.NoError(t, w.AddAt(at(0), "count", filter42, 3))
			require.NoError(t, w.AddAt(at(600), "count", filter42, 4))
			store.fail(c.incr)
			require.ErrorIs(t, w.Sync(t.Context()), errDown)
			stats := w.Stats()
			require.Equal(t, c.lost, stats.Lost)
			require.Equal(t, c.pending, stats.Pending)
			require.Equal(t, 7-c.lost-c.pending, stats.Flushed)

			store.fail(nil)
			require.NoError(t, w.Flush(t.Context()))
			_, sum := store.stored()
			require.EqualValues(t, c.pending, sum)
		})
	}
}

func resolved(lost int64, err error) *receipt {
	r := &receipt{done: make(chan struct{}), lost: lost, err: err}
	close(r.done)
	return r
}

func TestUnitsArePendingUntilTheReceiptSaysMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []error
		w, store := newWriter(t, wrstats.WriterOptions{FlushInterval: -1, OnError: func(err error) { heard = append(heard, err) }})
		open := &receipt{done: make(chan struct{})}
		store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) { return open, nil })
		require.NoError(t, w.Add("count", filter42, 7))
		require.NoError(t, w.Flush(t.Context()))
		require.Equal(t, wrstats.WriterStats{Added: 7, Pending: 7, Flushes: 1}, w.Stats())

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, w.Sync(ctx), context.DeadlineExceeded, "Sync waits as long as it may")

		open.lost = 2
		close(open.done)
		synctest.Wait()
		require.Equal(t, wrstats.WriterStats{Added: 7, Flushed: 5, Lost: 2, Flushes: 1, Errors: 1}, w.Stats())
		require.Len(t, heard, 1)
		require.EqualError(t, heard[0], "wrstats: 2 units of a batch are lost")
	})
}

func TestAStoreThatNeverConfirmsIsGivenNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newWriter(t, wrstats.WriterOptions{FlushTimeout: time.Second})
		never := make(chan struct{})
		store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) {
			return &receipt{done: never, all: sumOf(batch)}, nil
		})
		for range 1000 {
			require.NoError(t, w.Add("count", filter42, 1))
			time.Sleep(time.Second)
		}
		require.Equal(t, 1000.0, w.Stats().Pending)
		require.LessOrEqual(t, len(store.batches), 64)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, w.Close(ctx), context.DeadlineExceeded)
		stats := w.Stats()
		require.Equal(t, 1000.0, stats.Lost+stats.Dropped)
		require.Zero(t, stats.Pending)
	})
}

func TestAConfirmedBatchMakesRoomForAnother(t *testing.T) {
	w, store := newWriter(t, byHand)
	store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) {
		store.apply(batch)
		return resolved(0, nil), nil
	})
	for range 200 {
		require.NoError(t, w.Add("count", filter42, 1))
		require.NoError(t, w.Sync(t.Context()))
	}
	require.Equal(t, wrstats.WriterStats{Added: 200, Flushed: 200, Flushes: 200}, w.Stats())
}

func TestTheBackgroundFlushesAndTellsOfErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []error
		w, store := newWriter(t, wrstats.WriterOptions{OnError: func(err error) { heard = append(heard, err) }})
		require.NoError(t, w.Add("count", filter42, 1))
		time.Sleep(wrstats.DefaultFlushInterval + time.Millisecond)
		_, sum := store.stored()
		require.EqualValues(t, 1, sum)

		store.fail(func([]wrstats.Increment) (wrstats.Receipt, error) { return nil, errDown })
		require.NoError(t, w.Add("count", filter42, 1))
		time.Sleep(wrstats.DefaultFlushInterval)
		synctest.Wait()
		require.Len(t, heard, 1)
		require.ErrorIs(t, heard[0], errDown)
		require.Equal(t, wrstats.WriterStats{Added: 2, Flushed: 1, Lost: 1, Flushes: 1, Errors: 1}, w.Stats())
	})
}

func TestAddIsNotHeldUpByAStoreThatStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newWriter(t, wrstats.WriterOptions{FlushTimeout: time.Minute})
		store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) {
			time.Sleep(10 * time.Second)
			store.apply(batch)
			return nil, nil
		})
		c, err := w.Counter("count", filter42)
		require.NoError(t, err)
		begin, goroutines := time.Now(), runtime.NumGoroutine()
		for i := range 100_000 { // in no time of the fake clock: nothing waits
			c.Inc()
			require.NoError(t, w.Add("count", wrstats.Local(strconv.Itoa(i%100)), 1))
			if i%10_000 == 0 {
				time.Sleep(time.Second)
			}
		}
		require.Equal(t, 10*time.Second, time.Since(begin))
		require.LessOrEqual(t, runtime.NumGoroutine(), goroutines)
		require.NoError(t, w.Close(t.Context()))
		_, sum := store.stored()
		require.EqualValues(t, 200_000, sum)
	})
}

func TestCloseWaitsForTheWritersGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newWriter(t, wrstats.WriterOptions{OnError: func(error) { time.Sleep(time.Minute) }})
		store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) {
			return nil, &wrstats.NotSentError{Batch: batch, Err: errDown}
		})
		require.NoError(t, w.Add("count", filter42, 1))
		time.Sleep(wrstats.DefaultFlushInterval)
		synctest.Wait() // OnError is running
		store.fail(nil)
		begin := time.Now()
		require.NoError(t, w.Close(t.Context()))
		require.Equal(t, time.Minute, time.Since(begin))
		require.Equal(t, 1.0, w.Stats().Flushed)
	})
}

func TestCloseGivesUpWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newWriter(t, byHand)
		store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) {
			return nil, &wrstats.NotSentError{Batch: batch, Err: errDown}
		})
		require.NoError(t, w.Add("count", filter42, 7))
		require.ErrorIs(t, w.Close(t.Context()), errDown)
		require.Equal(t, wrstats.WriterStats{Added: 7, Dropped: 7, Errors: 1}, w.Stats())

		done, cancel := context.WithCancel(t.Context())
		cancel()
		w, _ = newWriter(t, byHand)
		require.NoError(t, w.Add("count", filter42, 7))
		require.ErrorIs(t, w.Close(done), context.Canceled)
		require.Equal(t, wrstats.WriterStats{Added: 7, Dropped: 7, Errors: 1}, w.Stats())
	})
}

func TestAFlushUnderACancelledContextTouchesNothing(t *testing.T) {
	w, store := newWriter(t, byHand)
	require.NoError(t, w.Add("count", filter42, 7))
	done, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, w.Flush(done), context.Canceled)
	require.Empty(t, store.batches)
	require.Equal(t, 7.0, w.Stats().Pending)
}

func TestReset(t *testing.T) {
	w, store := newWriter(t, byHand)
	other := wrstats.Local("filter", "43")
	now := at(7200)
	for _, e := range []wrstats.Entity{filter42, other} {
		for _, seconds := range []float64{0, 3000, 6600, 7200} {
			require.NoError(t, w.AddAt(at(seconds), "count", e, 1))
		}
	}
	require.NoError(t, w.Flush(t.Context()))
	store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) {
		return nil, &wrstats.NotSentError{Batch: batch, Err: errDown}
	})
	for _, e := range []wrstats.Entity{filter42, other} {
		require.NoError(t, w.AddAt(now, "count", e, 10))
	}
	require.Error(t, w.Flush(t.Context()))
	for _, e := range []wrstats.Entity{filter42, other} {
		require.NoError(t, w.AddAt(now, "count", e, 100.5))
	}
	require.NoError(t, w.ResetAt(t.Context(), now, filter42))
	require.Equal(t, 110.5, w.Stats().Dropped)

	store.fail(nil)
	require.NoError(t, w.Flush(t.Context()))
	stored, _ := store.stored()
	require.Equal(t, map[string]int64{
		key("count", 0):              1, // out of reach of any read by then
		"local:p:count::0:filter:43": 1, "local:p:count::5:filter:43": 1,
		"local:p:count::11:filter:43": 1, "local:p:count::12:filter:43": 111,
	}, stored)
}

func TestSyncAndCloseTellOfALossThatIsKnownAtOnce(t *testing.T) {
	lose := func([]wrstats.Increment) (wrstats.Receipt, error) { return resolved(1, errDown), nil }
	w, store := newWriter(t, byHand)
	store.fail(lose)
	for range 5000 {
		require.NoError(t, w.Add("count", filter42, 1))
		require.ErrorIs(t, w.Sync(t.Context()), errDown)
	}
	for range 1000 {
		w, store := newWriter(t, byHand)
		store.fail(lose)
		require.NoError(t, w.Add("count", filter42, 1))
		require.ErrorIs(t, w.Close(t.Context()), errDown)
	}
}

func TestErrorsOfSeveralServersAreJoined(t *testing.T) {
	w, store := newWriter(t, byHand)
	for i := range 10 {
		require.NoError(t, w.AddAt(at(600*float64(i)), "count", filter42, 1))
	}
	store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) {
		store.apply(batch[8:])
		return resolved(0, nil), errors.Join(
			&wrstats.NotSentError{Batch: batch[:5], Err: errDown},
			&wrstats.NotSentError{Batch: batch[5:8], Err: errDown})
	})
	require.ErrorIs(t, w.Sync(t.Context()), errDown)
	require.Equal(t, 8.0, w.Stats().Pending)
	store.fail(nil)
	require.NoError(t, w.Sync(t.Context()))
	_, sum := store.stored()
	require.EqualValues(t, 10, sum)
	require.Equal(t, 10.0, w.Stats().Flushed)
}

func TestOnErrorMayUseTheWriterAndHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w *wrstats.Writer
		w, store := newWriter(t, wrstats.WriterOptions{OnError: func(error) {
			_ = w.Sync(context.Background())
			time.Sleep(time.Hour)
		}})
		failing := true
		store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) {
			if failing {
				failing = false
				return resolved(1, errDown), nil
			}
			store.apply(batch)
			return nil, nil
		})
		for range 10 {
			require.NoError(t, w.Add("count", filter42, 1))
			time.Sleep(time.Second)
		}
		synctest.Wait()
		require.Equal(t, 9.0, w.Stats().Flushed)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		require.ErrorIs(t, w.Close(ctx), context.DeadlineExceeded, "OnError has not returned")
		require.Equal(t, time.Minute, time.Since(begin))
		time.Sleep(time.Hour)
	})
}

func TestResetEndsWithItsContext(t *testing.T) {
	w, store := newWriter(t, byHand)
	require.NoError(t, w.Add("count", filter42, 1))
	require.NoError(t, w.Flush(t.Context()))
	done, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, w.Reset(done, filter42), context.Canceled)
	_, sum := store.stored()
	require.EqualValues(t, 1, sum)

	synctest.Test(t, func(t *testing.T) {
		w, store := newWriter(t, byHand)
		store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) {
			return &receipt{done: make(chan struct{}), all: 1}, nil
		})
		require.NoError(t, w.Add("count", filter42, 1))
		require.NoError(t, w.Flush(t.Context()))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, w.Reset(ctx, filter42), context.DeadlineExceeded)
		require.Zero(t, store.deletes)
		_ = w.Close(ctx)
	})
}

func TestResetForgetsWhatIsHeldOfAnyBucket(t *testing.T) {
	w, store := newWriter(t, byHand)
	other := wrstats.Local("filter", "43")
	store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) {
		return nil, &wrstats.NotSentError{Batch: batch, Err: errDown}
	})
	require.NoError(t, w.AddAt(at(0), "count", filter42, 5)) // out of reach of a read at 100000
	require.NoError(t, w.AddAt(at(0), "count", other, 7))
	require.Error(t, w.Flush(t.Context()))
	require.NoError(t, w.ResetAt(t.Context(), at(100_000), filter42))
	require.Equal(t, wrstats.WriterStats{Added: 12, Dropped: 5, Pending: 7, Errors: 1}, w.Stats())
	store.fail(nil)
	require.NoError(t, w.Flush(t.Context()))
	_, sum := store.stored()
	require.EqualValues(t, 7, sum)
}

func TestResetForgetsTheFractionOfAHandle(t *testing.T) {
	w, store := newWriter(t, byHand)
	c, err := w.Counter("count", filter42)
	require.NoError(t, err)
	for range 2 {
		c.Add(0.5)
		for range 3 { // it goes to sleep
			require.NoError(t, w.Flush(t.Context()))
		}
		require.NoError(t, w.Reset(t.Context(), filter42))
	}
	_, sum := store.stored()
	require.Zero(t, sum)
	require.Equal(t, 1.0, w.Stats().Dropped)
	require.Zero(t, w.Stats().Pending)
}

// TestWhateverTheStoreDoes runs random adds and flushes against a store that fails in every way it may.
func TestWhateverTheStoreDoes(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		w, store := newWriter(t, wrstats.WriterOptions{FlushInterval: -1, MaxPending: 40})
		var mu sync.Mutex // guards open
		var open []*receipt
		store.fail(func(batch []wrstats.Increment) (wrstats.Receipt, error) {
			r, err := failSomehow(random, store, batch)
			if r == nil {
				return nil, err
			}
			mu.Lock()
			open = append(open, r)
			mu.Unlock()
			return r, err
		})
		added := make(map[string]int64)
		for range 300 {
			switch random.IntN(10) {
			case 0:
				_ = w.Flush(t.Context())
			case 1:
				if len(open) > 0 {
					close(open[0].done)
					open = open[1:]
				}
			default:
				bucket, id, n := random.IntN(3), random.IntN(30), random.IntN(5)
				e := wrstats.Local("filter", strconv.Itoa(id))
				require.NoError(t, w.AddAt(at(float64(600*bucket)), "count", e, float64(n)))
				added["local:p:count::"+strconv.Itoa(bucket)+":filter:"+strconv.Itoa(id)] += int64(n)
			}
			if random.IntN(8) == 0 {
				requireConserved(t, seed, w, store, added)
			}
		}
		for _, r := range open {
			close(r.done)
		}
		store.fail(nil)
		_ = w.Close(t.Context()) // with the error of what is lost
		requireConserved(t, seed, w, store, added)
		require.Zero(t, w.Stats().Pending, "seed %d", seed)
	}
}

// failSomehow splits a batch into what was applied, what is lost, maybe applied all the same, and what
// was not sent, and says so in one of the ways that a Store may.
func failSomehow(random *rand.Rand, store *mapStore, batch []wrstats.Increment) (*receipt, error) {
	sent := random.IntN(len(batch) + 1)
	applied := random.IntN(sent + 1)
	store.apply(batch[:applied])
	lost := sumOf(batch[applied:sent])
	if random.IntN(2) == 0 {
		store.apply(batch[applied:sent])
	}
	var err error
	if sent < len(batch) {
		err = &wrstats.NotSentError{Batch: batch[sent:], Err: errDown}
	}
	r := &receipt{done: make(chan struct{}), lost: lost}
	if lost > 0 {
		r.err = errDown
	}
	if random.IntN(4) == 0 && err != nil {
		return nil, err // nothing is known of the rest
	}
	if lost == 0 && err == nil && random.IntN(2) == 0 {
		return nil, nil
	}
	return r, err
}

func requireConserved(t *testing.T, seed uint64, w *wrstats.Writer, store *mapStore, added map[string]int64) {
	t.Helper()
	stored, sum := store.stored()
	total := 0.0
	for key, n := range added {
		require.LessOrEqual(t, stored[key], n, "seed %d: stored at most what was added", seed)
		total += float64(n)
	}
	stats := w.Stats()
	require.Equal(t, total, stats.Added, "seed %d", seed)
	require.Equal(t, total, stats.Flushed+stats.Lost+stats.Dropped+stats.Pending, "seed %d", seed)
	require.GreaterOrEqual(t, float64(sum)+stats.Lost+stats.Dropped+stats.Pending, total, "seed %d", seed)
}
