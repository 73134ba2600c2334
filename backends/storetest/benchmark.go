package storetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

const (
	benchWrites = 1200 // the counters of one action of a profiler of 300 rules
	benchReads  = 7200 // an hour of 10-minute windows of 300 rules
)

// Benchmark measures an Incr of 1,200 counters until it is confirmed, and a Get of 7,200. It checks
// outside the timed part that what was written is there.
func Benchmark(b *testing.B, open func(testing.TB) wrstats.Store) {
	b.Run(fmt.Sprintf("counters=%d/op=incr", benchWrites), func(b *testing.B) { benchmarkIncr(b, open) })
	b.Run(fmt.Sprintf("counters=%d/op=get", benchReads), func(b *testing.B) { benchmarkGet(b, open) })
}

func benchmarkIncr(b *testing.B, open func(testing.TB) wrstats.Store) {
	t := newTrial(b, Suite{Open: open}, "A store keeps what is written to it.")
	keys, rounds := t.profile(benchWrites), int64(0)
	batch := increments(keys)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		receipt, err := t.store.Incr(ctx, batch)
		if err == nil && receipt != nil {
			_, err = receipt.Wait(ctx)
		}
		if err != nil {
			b.Fatal(err)
		}
		rounds++
	}
	b.ReportMetric(float64(rounds*benchWrites)/b.Elapsed().Seconds(), "keys/s")
	for i, v := range t.get(keys...) {
		require.Equal(t, found(int64(i+1)*rounds), v)
	}
}

func benchmarkGet(b *testing.B, open func(testing.TB) wrstats.Store) {
	t := newTrial(b, Suite{Open: open}, "A store keeps what is written to it.")
	keys, rounds := t.profile(benchReads), 0
	t.incr(increments(keys)...)
	var values []wrstats.Value
	var err error
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if values, err = t.store.Get(ctx, keys); err != nil {
			b.Fatal(err)
		}
		rounds++
	}
	b.ReportMetric(float64(rounds*benchReads)/b.Elapsed().Seconds(), "keys/s")
	for i, v := range values {
		require.Equal(t, found(int64(i+1)), v)
	}
}

// profile returns n keys as a profiler's are: 4 metrics of n/4 filters in a window.
func (t *trial) profile(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("%stotal-time:%d:2941000:filter:%d", t.prefix, i%4, i/4)
	}
	return keys
}
