package memcached_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/internal/versus"
	"github.com/wrstats/go-wrstats/wrstats"
)

const (
	benchCounters = 1200 // what AbuseFilter's profiler counts an edit
	benchKeys     = 7200 // six windows of each
	benchBatches  = 32   // of new counters, before the servers forget them
)

// BenchmarkIncr is a batch to its confirmation, beside the same bytes sent ready-made down raw sockets
// and a loop of gomemcache's.
func BenchmarkIncr(b *testing.B) {
	for _, servers := range []int{1, 3} {
		for _, protocol := range []memcached.Protocol{text, meta} {
			for _, state := range []string{"existing", "new"} {
				name := fmt.Sprintf("counters=%d/%s/servers=%d/protocol=%s", benchCounters, state, servers, protocolNames[protocol])
				b.Run(name+"/rival=raw", func(b *testing.B) {
					bench := newIncrBench(b, servers, protocol, state == "new")
					versus.Run(b, "raw", bench.ours, bench.raw())
					bench.check(b)
				})
				b.Run(name+"/rival=gomemcache", func(b *testing.B) {
					bench := newIncrBench(b, servers, protocol, state == "new")
					versus.Run(b, "gomemcache", bench.ours, bench.gomemcache)
					bench.check(b)
				})
			}
		}
	}
}

// BenchmarkGet is a read of many counters, beside the same requests sent ready-made down raw sockets and
// a GetMulti of gomemcache's.
func BenchmarkGet(b *testing.B) {
	for _, servers := range []int{1, 3} {
		name := fmt.Sprintf("keys=%d/servers=%d", benchKeys, servers)
		b.Run(name+"/rival=raw", func(b *testing.B) {
			bench := newGetBench(b, servers)
			versus.Run(b, "raw", bench.ours, bench.raw())
		})
		b.Run(name+"/rival=gomemcache", func(b *testing.B) {
			bench := newGetBench(b, servers)
			versus.Run(b, "gomemcache", bench.ours, bench.gomemcache)
		})
	}
}

type incrBench struct {
	testing.TB
	addrs   []string
	record  *recorder
	store   *memcached.Store
	client  *memcache.Client
	batches [][]wrstats.Increment // one if the counters are to exist
	done    int                   // batches that ours wrote
}

func newIncrBench(b *testing.B, servers int, protocol memcached.Protocol, fresh bool) *incrBench {
	bench := &incrBench{TB: b, addrs: benchServers(b, servers), record: new(recorder)}
	bench.store = open(b, memcached.Config{Servers: bench.addrs, Protocol: protocol, DialContext: bench.record.dial})
	bench.client = memcache.New(slices.Sorted(slices.Values(bench.addrs))...)
	bench.client.Timeout = patience
	n := 1
	if fresh {
		n = benchBatches
	}
	for i := range n {
		bench.batches = append(bench.batches, benchBatch(i))
	}
	return bench
}

func benchServers(b *testing.B, n int) []string {
	addrs := make([]string, n)
	for i := range addrs {
		addrs[i] = servertest.Memcached(b, "-m", "256").Addr
	}
	return addrs
}

func benchBatch(bucket int) []wrstats.Increment {
	batch := make([]wrstats.Increment, benchCounters)
	for i := range batch {
		batch[i] = wrstats.Increment{Key: benchKey(2941000+bucket, i), Delta: int64(i%1000 + 1), TTL: 70 * time.Minute}
	}
	return batch
}

func benchKey(bucket, i int) string {
	return fmt.Sprintf("local:abusefilter-profile:total-time::%d:filter:%d", bucket, i)
}

// turn returns the number of a batch that can be written. When all have been, the servers forget them.
func (b *incrBench) turn(done int) int {
	if n := len(b.batches); n > 1 && done%n == 0 {
		if err := b.client.FlushAll(); err != nil {
			b.Fatal(err)
		}
	}
	return done % len(b.batches)
}

func (b *incrBench) ours(n int) {
	for range n {
		receipt, err := b.store.Incr(context.Background(), b.batches[b.turn(b.done)])
		if err == nil && receipt != nil {
			_, err = receipt.Wait(context.Background())
		}
		if err != nil {
			b.Fatal(err)
		}
		b.done++
	}
}

// raw returns what sends what ours sends, and waits for as many fences.
func (b *incrBench) raw() func(n int) {
	b.ours(1) // connects
	scripts := make([][]script, len(b.batches))
	for i := range b.batches {
		scripts[i] = b.record.during(func() { b.ours(1) })
	}
	b.turn(0)
	b.done = 0
	sockets, done := dialRaw(b, b.addrs), 0
	return func(n int) {
		for range n {
			play(b, sockets, scripts[b.turn(done)])
			done++
		}
	}
}

func (b *incrBench) gomemcache(n int) {
	for done := range n {
		for i := range b.batches[0] {
			inc := &b.batches[b.turn(done)][i]
			key := "g" + inc.Key
			_, err := b.client.Increment(key, uint64(inc.Delta))
			if errors.Is(err, memcache.ErrCacheMiss) {
				value := strconv.AppendInt(nil, inc.Delta, 10)
				err = b.client.Add(&memcache.Item{Key: key, Value: value, Expiration: 4201})
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// check reads what ours wrote last.
func (b *incrBench) check(t *testing.B) {
	t.Helper()
	last := b.batches[(b.done-1)%len(b.batches)]
	if len(b.batches) > 1 {
		b.client.FlushAll()
		b.done = 0
		b.ours(1)
		last = b.batches[0]
	}
	for i, v := range get(t, b.store, last[0].Key, last[benchCounters-1].Key) {
		inc := last[i*(benchCounters-1)]
		require.True(t, v.Found)
		require.Zero(t, v.N%inc.Delta, "a whole number of batches")
		require.GreaterOrEqual(t, v.N, inc.Delta)
	}
}

type getBench struct {
	testing.TB
	addrs  []string
	record *recorder
	store  *memcached.Store
	client *memcache.Client
	keys   []string
}

func newGetBench(b *testing.B, servers int) *getBench {
	bench := &getBench{TB: b, addrs: benchServers(b, servers), record: new(recorder)}
	bench.store = open(b, memcached.Config{Servers: bench.addrs, DialContext: bench.record.dial, MaxReadConns: 1})
	bench.client = memcache.New(slices.Sorted(slices.Values(bench.addrs))...)
	bench.client.Timeout = patience
	for bucket := range benchKeys / benchCounters {
		batch := benchBatch(bucket)
		count(b, bench.store, batch...)
		for i := range batch {
			bench.keys = append(bench.keys, batch[i].Key)
		}
	}
	return bench
}

func (b *getBench) ours(n int) {
	for range n {
		values, err := b.store.Get(context.Background(), b.keys)
		if err != nil {
			b.Fatal(err)
		}
		for i := range values {
			if values[i].N != int64(i%benchCounters%1000+1) {
				b.Fatalf("counter %d is %v", i, values[i])
			}
		}
	}
}

func (b *getBench) raw() func(n int) {
	b.ours(1) // connects
	scripts := b.record.during(func() { b.ours(1) })
	sockets := dialRaw(b, b.addrs)
	return func(n int) {
		for range n {
			play(b, sockets, scripts)
		}
	}
}

func (b *getBench) gomemcache(n int) {
	for range n {
		items, err := b.client.GetMulti(b.keys)
		if err != nil || len(items) != len(b.keys) {
			b.Fatal(len(items), err)
		}
	}
}
