package wrstats_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

var concurrencyRules = []rule{
	{"a million adds by 8 goroutines, under flushes without pause while buckets end, are a million", func(t *site) {
		const goroutines = 8
		adds := 1_000_000 / goroutines
		if testing.Short() {
			adds /= 10
		}
		stats := t.configured(wrstats.Config{Metrics: []wrstats.Metric{
			{Name: "count", Sequences: []wrstats.Sequence{{Step: 100 * time.Millisecond, Retention: time.Hour}}},
		}})
		w := t.writer(stats)
		stop, passed := make(chan struct{}), make(chan struct{}, goroutines)
		var flushing, adding sync.WaitGroup
		var flushErr error
		flushing.Go(func() { flushErr = flushUntil(stop, passed, w) })
		began := time.Now()
		errs := make([]error, goroutines)
		for g := range goroutines {
			adding.Go(func() { errs[g] = add(w, began, passed, g, adds) })
		}
		adding.Wait()
		close(stop)
		flushing.Wait()
		require.NoError(t, errors.Join(append(errs, flushErr)...))
		t.sync(w)

		all := float64(goroutines * adds)
		var sum float64
		for _, total := range t.counts(stats, time.Now(), crowd...) {
			sum += total
		}
		require.Equal(t, all, sum)
		counted := w.Stats()
		require.Equal(t, wrstats.WriterStats{Added: all, Flushed: all, Flushes: counted.Flushes}, counted)
	}},
}

// crowd is whom add counts.
var crowd = []wrstats.Entity{filter42, wrstats.Local("0"), wrstats.Local("1"), wrstats.Local("2"), wrstats.Global("3")}

// add counts n in all: half by a handle that all goroutines share, half by name, and some at an instant.
// It lets flushes pass now and then, which else get no time where there are few processors.
func add(w *wrstats.Writer, began time.Time, passed chan struct{}, goroutine, n int) error {
	shared, err := w.Counter("count", filter42)
	for i := 0; i < n && err == nil; i++ {
		switch {
		case i%100 == 0:
			<-passed
			err = w.AddAt(began.Add(-time.Duration(i)*time.Millisecond), "count", crowd[i/100%len(crowd)], 1)
		case i%2 == 0:
			err = w.Add("count", crowd[1+(i+goroutine)%4], 1)
		default:
			shared.Add(1)
		}
	}
	return err
}

// flushUntil flushes without pause, and after each flush lets as many go on as passed has room for.
func flushUntil(stop, passed chan struct{}, w *wrstats.Writer) (failed error) {
	for {
		select {
		case <-stop:
			return failed
		default:
		}
		failed = errors.Join(failed, w.Flush(context.Background()))
		for len(passed) < cap(passed) {
			passed <- struct{}{}
		}
	}
}
