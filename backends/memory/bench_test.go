package memory_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/internal/versus"
	"github.com/wrstats/go-wrstats/wrstats"
)

// profile returns n keys such as a profiler's: 4 metrics of n/28 filters in 7 windows.
func profile(n int) []string {
	metrics := []string{"count", "matches", "total-time", "total-cond"}
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("local:abusefilter-profile:%s::%d:filter:%d",
			metrics[i%4], 2941000+i/4%7, i/28)
	}
	return keys
}

// increments returns one of 1 for each key, with a TTL of 70 minutes.
func increments(keys []string) []wrstats.Increment {
	batch := make([]wrstats.Increment, len(keys))
	for i, key := range keys {
		batch[i] = wrstats.Increment{Key: key, Delta: 1, TTL: 70 * time.Minute}
	}
	return batch
}

// heap returns the bytes that are live after a collection.
func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// A plain is the rival: a map behind a mutex, as one would write it first.
type plain struct {
	mu sync.Mutex // guards m
	m  map[string]struct{ n, expiry int64 }
}

func (p *plain) incr(batch []wrstats.Increment) {
	now := time.Now().UnixNano()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, inc := range batch {
		c, ok := p.m[inc.Key]
		if !ok || c.expiry <= now {
			c.n, c.expiry = 0, now+int64(inc.TTL)
		}
		c.n += inc.Delta
		p.m[inc.Key] = c
	}
}

func (p *plain) get(keys []string) []wrstats.Value {
	now := time.Now().UnixNano()
	p.mu.Lock()
	defer p.mu.Unlock()
	values := make([]wrstats.Value, len(keys))
	for i, key := range keys {
		if c, ok := p.m[key]; ok && c.expiry > now {
			values[i] = wrstats.Value{N: c.n, Found: true}
		}
	}
	return values
}

// BenchmarkBytes prints what a counter costs, its key included, beside a map's.
func BenchmarkBytes(b *testing.B) {
	for _, n := range []int{8_400, 1_000_000} {
		b.Run(fmt.Sprintf("counters=%d", n), func(b *testing.B) {
			keys := profile(n)
			var ours, rival float64
			for b.Loop() {
				ours, rival = storeBytes(b, keys), mapBytes(keys)
			}
			b.ReportMetric(ours/float64(n), "bytes/counter")
			b.ReportMetric(rival/float64(n), "map-bytes/counter")
			b.ReportMetric(ours/rival, "ratio")
		})
	}
}

func storeBytes(b *testing.B, keys []string) float64 {
	before := heap()
	store := memory.New(memory.Options{})
	for batch := range chunks(increments(keys)) {
		_, err := store.Incr(b.Context(), cloned(batch))
		require.NoError(b, err)
	}
	bytes := heap() - before
	runtime.KeepAlive(store)
	return bytes
}

func mapBytes(keys []string) float64 {
	before := heap()
	m := make(map[string]struct{ n, expiry int64 })
	for _, key := range keys {
		m[strings.Clone(key)] = struct{ n, expiry int64 }{n: 1, expiry: 1}
	}
	bytes := heap() - before
	runtime.KeepAlive(m)
	return bytes
}

func chunks(batch []wrstats.Increment) func(func([]wrstats.Increment) bool) {
	return func(yield func([]wrstats.Increment) bool) {
		for len(batch) > 0 {
			n := min(1200, len(batch))
			if !yield(batch[:n]) {
				return
			}
			batch = batch[n:]
		}
	}
}

func cloned(batch []wrstats.Increment) []wrstats.Increment {
	clone := make([]wrstats.Increment, len(batch))
	for i, inc := range batch {
		inc.Key = strings.Clone(inc.Key)
		clone[i] = inc
	}
	return clone
}

// BenchmarkMix reads and writes on all cores, in calls of 1,200 keys, beside the map. It prints how many
// keys a second that is; an operation is a call.
func BenchmarkMix(b *testing.B) {
	for _, n := range []int{8_400, 1_000_000} {
		keys := profile(n)
		rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, k int) { keys[i], keys[k] = keys[k], keys[i] })
		for i := range keys { // a call's keys lie side by side, as they do for one who has just built them
			keys[i] = strings.Clone(keys[i])
		}
		for _, reads := range []int{7, 3} {
			b.Run(fmt.Sprintf("counters=%d/mix=%d:1", n, reads), func(b *testing.B) { benchmarkMix(b, keys, reads) })
		}
	}
}

func benchmarkMix(b *testing.B, keys []string, reads int) {
	store := memory.New(memory.Options{})
	rival := plain{m: make(map[string]struct{ n, expiry int64 })}
	cores := runtime.GOMAXPROCS(0)
	ours, written := mix(keys, reads,
		func(batch []wrstats.Increment) { _, _ = store.Incr(b.Context(), batch) },
		func(keys []string) { _, _ = store.Get(b.Context(), keys) })
	theirs, _ := mix(keys, reads, rival.incr, func(keys []string) { rival.get(keys) })
	result := versus.Run(b, "map", versus.Parallel(cores, ours), versus.Parallel(cores, theirs))
	b.ReportMetric(call*1e9/result.Nanoseconds, "keys/s")
	values, err := store.Get(b.Context(), keys)
	require.NoError(b, err)
	sum := int64(0)
	for _, v := range values {
		sum += v.N
	}
	require.Equal(b, written.Load(), sum)
}

const call = 1200 // keys

// mix returns what makes n calls, one write to so many reads, and how many keys it has written. All keys
// are written once at first.
func mix(keys []string, reads int, incr func([]wrstats.Increment), get func([]string)) (run func(n int), written *atomic.Int64) {
	batch := increments(keys)
	incr(batch)
	written = new(atomic.Int64)
	written.Add(int64(len(batch)))
	var calls atomic.Int64
	return func(n int) {
		for range n {
			i := int(calls.Add(1))
			at := i * call % (len(keys) - call + 1)
			if i%(reads+1) == 0 {
				incr(batch[at : at+call])
				written.Add(call)
				continue
			}
			get(keys[at : at+call])
		}
	}, written
}
