package faults_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

// TestSoak adds at full speed, flushes each second and reads all the time, on one backend after the other:
// sums are exact, and neither memory, goroutines nor latencies grow.
func TestSoak(t *testing.T) {
	skipShort(t)
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			s := &soaking{load: newLoad(t, b.start(t, 1))}
			s.run(choose(time.Second, *soak), choose(100*time.Millisecond, time.Second))
		})
	}
}

type soaking struct {
	*load
	writer       *wrstats.Writer
	added, reads atomic.Int64
	wrong        atomic.Pointer[string]
	mu           sync.Mutex // guards what follows
	thirds       [3]sample  // of the time
}

// A sample is what was seen in a third of a soak.
type sample struct {
	add, read, flush latencies
	heap             uint64 // the least
	goroutines       int    // the most
}

func (s *soaking) run(length, interval time.Duration) {
	s.writer = s.stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), length)
	defer cancel()
	third := func() *sample {
		return &s.thirds[min(2, 3*time.Since(began)/length)]
	}
	var users sync.WaitGroup
	for range max(1, runtime.GOMAXPROCS(0)-1) {
		users.Go(func() { s.add(ctx, third) })
	}
	users.Go(func() { s.read(ctx, third) })
	s.flush(ctx, interval, third)
	users.Wait()
	took := time.Since(began)
	require.NoError(s, s.writer.Close(context.Background()))
	require.Nil(s, s.wrong.Load())
	s.judge(took)
}

// add counts by handles until the time is over, and looks at the clock now and then.
func (s *soaking) add(ctx context.Context, third func() *sample) {
	var handles [counters]*wrstats.Counter
	for i := range handles {
		handles[i], _ = s.writer.Counter("count", entity(i))
	}
	for ctx.Err() == nil {
		var l latencies
		for range 5000 {
			for _, c := range handles {
				c.Add(1)
			}
			began := time.Now()
			handles[0].Add(1)
			l.add(time.Since(began))
		}
		s.added.Add(5000 * (counters + 1))
		s.mu.Lock()
		third().add.join(&l)
		s.mu.Unlock()
	}
}

// read requires that each answer is of all counters, and never less than the one before.
func (s *soaking) read(ctx context.Context, third func() *sample) {
	r := s.stats.NewReader()
	var before [counters]float64
	for ctx.Err() == nil {
		began := time.Now()
		rates, err := r.Rates(context.Background(), queries())
		took := time.Since(began)
		if err != nil {
			s.complain("read: %v", err)
			return
		}
		for i, rate := range rates {
			if rate.Total < before[i] {
				s.complain("counter %d was %v, and is %v", i, before[i], rate.Total)
			}
			before[i] = rate.Total
		}
		s.reads.Add(1)
		s.mu.Lock()
		third().read.add(took)
		s.mu.Unlock()
	}
}

func (s *soaking) complain(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.wrong.CompareAndSwap(nil, &text)
}

// flush syncs at each interval, and looks at the process meanwhile.
func (s *soaking) flush(ctx context.Context, interval time.Duration, third func() *sample) {
	for tick := time.Tick(interval); ctx.Err() == nil; <-tick {
		now, began := third(), time.Now()
		if err := s.writer.Sync(context.Background()); err != nil {
			s.complain("sync: %v", err)
		}
		took := time.Since(began)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		s.mu.Lock()
		now.flush.add(took)
		now.goroutines = max(now.goroutines, runtime.NumGoroutine())
		if now.heap == 0 || m.HeapAlloc < now.heap {
			now.heap = m.HeapAlloc
		}
		s.mu.Unlock()
	}
}

func (s *soaking) judge(took time.Duration) {
	records := s.records()
	require.EqualValues(s, s.added.Load(), sumOf(records), "the sum is exact")
	first, last := &s.thirds[0], &s.thirds[2]
	require.Less(s, last.heap, first.heap*3/2+16<<20, "memory grows")
	require.LessOrEqual(s, last.goroutines, first.goroutines+8, "goroutines grow")
	if *long { // of a moment, a median says little
		require.Less(s, last.read.quantile(0.5), 3*first.read.quantile(0.5)+5*time.Millisecond, "reads get slower")
		require.Less(s, last.flush.quantile(0.5), 3*first.flush.quantile(0.5)+5*time.Millisecond, "flushes get slower")
	}
	a := s.writer.Stats()
	require.Equal(s, a.Added, a.Flushed)
	results.add(row{
		scenario: "soak: adds at full speed, flushes and reads all the time", backend: s.site.name,
		added: a.Added, stored: sumOf(records), healthy: first.add, fault: last.add,
		verdict: fmt.Sprintf("held: %.1f million adds, %.1f flushes, %.0f reads a second for %v; from the first to the last third: heap %d to %d MiB, goroutines %d to %d, read p50 %v to %v, sync p50 %v to %v",
			float64(s.added.Load())/took.Seconds()/1e6, float64(a.Flushes)/took.Seconds(), float64(s.reads.Load())/took.Seconds(), took.Round(time.Second),
			first.heap>>20, last.heap>>20, first.goroutines, last.goroutines,
			first.read.quantile(0.5), last.read.quantile(0.5), first.flush.quantile(0.5), last.flush.quantile(0.5)),
	})
}
