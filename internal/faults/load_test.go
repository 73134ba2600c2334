package faults_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

// A load is a test of one store on servers that are well: nothing may be lost.
type load struct {
	testing.TB
	site    *site
	network *network
	prefix  string
	stats   *wrstats.Stats
	close   func() error
}

func newLoad(t testing.TB, s *site) *load {
	l := &load{TB: t, site: s, network: newNetwork(t), prefix: "load-" + rand.Text()[:12]}
	store, closeAll := s.open(t, l.network, patience)
	var err error
	l.stats, err = wrstats.New(store, wrstats.Config{Prefix: l.prefix, Metrics: counted})
	require.NoError(t, err)
	l.close = sync.OnceValue(closeAll)
	t.Cleanup(func() { require.NoError(t, l.close()) })
	return l
}

// records returns all that the servers hold, none of it endless.
func (l *load) records() (records []record) {
	for _, server := range l.site.servers {
		for _, rec := range l.site.dump(l, server, l.prefix) {
			require.False(l, rec.endless, "a key without an end")
			records = append(records, rec)
		}
	}
	return records
}

func sumOf(records []record) (sum float64) {
	for _, rec := range records {
		sum += float64(rec.n)
	}
	return sum
}

// file requires that Writers are closed and that nothing was lost, and enters the row.
func (l *load) file(scenario string, stored float64, note string, writers ...*wrstats.Writer) {
	l.Helper()
	file := row{scenario: scenario, backend: l.site.name, stored: stored, verdict: "held" + note}
	for _, w := range writers {
		a := w.Stats()
		require.Equal(l, a.Added, a.Flushed, "%+v", a)
		file.added += a.Added
	}
	results.add(file)
}

func TestManyWriters(t *testing.T) {
	skipShort(t)
	t.Parallel()
	const writers = 100
	rounds := choose(100, 2000)
	for _, b := range backends {
		t.Run("100 writers in one process/"+b.name, func(t *testing.T) {
			t.Parallel()
			l := newLoad(t, b.start(t, 1))
			all := make([]*wrstats.Writer, writers)
			errs := make([]error, writers)
			var busy sync.WaitGroup
			for i := range all {
				all[i] = l.stats.NewWriter(wrstats.WriterOptions{FlushInterval: 50 * time.Millisecond})
				busy.Go(func() { errs[i] = countAndClose(all[i], rounds) })
			}
			busy.Wait()
			for _, err := range errs {
				require.NoError(t, err)
			}
			sums := make(map[int]int64)
			records := l.records()
			for _, rec := range records {
				sums[counterOf(rec.key)] += rec.n
			}
			for i := range counters {
				require.EqualValues(t, writers*rounds, sums[i])
			}
			l.file("100 writers in one process", sumOf(records), "", all...)
		})
	}
}

// countAndClose adds 1 to each counter, so many times.
func countAndClose(w *wrstats.Writer, rounds int) error {
	for round := range rounds {
		for i := range counters {
			if err := w.Add("count", entity(i), 1); err != nil {
				return err
			}
		}
		if round%10 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return w.Close(ctx)
}

// TestManyEntities counts each of a million entities once, and leaves no memory behind. Nothing else runs.
func TestManyEntities(t *testing.T) {
	skipShort(t)
	n := choose(20_000, 1_000_000)
	pause := choose(0, time.Minute/1000) // after each thousandth
	for _, b := range backends {
		t.Run("distinct entities in a minute/"+b.name, func(t *testing.T) {
			l := newLoad(t, b.start(t, 1, roomy[b.kind]...))
			before := heap()
			w := l.stats.NewWriter(wrstats.WriterOptions{})
			began, most := time.Now(), uint64(0)
			for i := range n {
				require.NoError(t, w.Add("count", wrstats.Local(secret, strconv.Itoa(i), "one-shot"), 1))
				if i%(n/1000) == n/1000-1 {
					time.Sleep(pause)
				}
				if i%(n/10) == 0 {
					most = max(most, heap())
				}
			}
			took := time.Since(began)
			require.NoError(t, w.Close(t.Context()))
			require.NoError(t, l.close())
			requireHeap(t, before)
			records := l.records()
			require.Len(t, records, n)
			for _, rec := range records {
				require.EqualValues(t, 1, rec.n)
			}
			note := fmt.Sprintf(": %d in %.1f s, heap %d MiB at most above what it was", n, took.Seconds(), (int64(most)-int64(before))>>20)
			l.file("distinct entities, each once", sumOf(records), note, w)
		})
	}
}

// roomy are arguments of servers that don't evict.
var roomy = map[kind][]string{memcacheds: {"-m", "2048"}, proxied: {"-m", "2048"}}

// heap returns what is reachable.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// requireHeap requires that the heap is back to where it was, but for what a runtime and a test keep.
func requireHeap(t testing.TB, before uint64) {
	t.Helper()
	const slack = 8 << 20
	var now uint64
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if now = heap(); now < before+slack {
			return
		}
	}
	require.Less(t, now, before+slack, "the heap stays large")
}
