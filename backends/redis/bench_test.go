package redis_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/redis"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/internal/versus"
	"github.com/wrstats/go-wrstats/wrstats"
)

const (
	benchCounters = 1200 // what AbuseFilter's profiler counts an edit
	benchKeys     = 7200 // six windows of each
	benchBatches  = 32   // of new counters, before the server forgets them
)

// BenchmarkIncr is a batch to its confirmation, beside a pipeline of go-redis's of SET NX EX and INCRBY for
// each counter, one of INCRBY alone, which leaves a counter without a TTL when it was not there, and the
// bytes of the former ready-made down a raw socket.
func BenchmarkIncr(b *testing.B) {
	for _, state := range []string{"existing", "new"} {
		for _, rival := range []string{"pair", "incrby", "raw"} {
			if state == "new" && rival == "incrby" {
				continue
			}
			b.Run(fmt.Sprintf("counters=%d/%s/rival=%s", benchCounters, state, rival), func(b *testing.B) {
				bench := newIncrBench(b, serveBench(b), state == "new")
				rivals := map[string]func(int){"pair": bench.pair, "incrby": bench.incrby, "raw": bench.raw}
				versus.Run(b, rival, bench.ours, rivals[rival])
				bench.check(b)
			})
		}
	}
}

// BenchmarkIncrCluster is the same on three nodes, where each counter takes a command of its own.
func BenchmarkIncrCluster(b *testing.B) {
	bench := newIncrBench(b, clusterClient(b, servertest.RedisCluster(b, 3)), false)
	versus.Run(b, "pair", bench.ours, bench.pair)
	bench.check(b)
}

// BenchmarkGet is a read of many counters, beside a pipeline of go-redis's of a GET each, its MGET, and the
// bytes of the MGET ready-made down a raw socket.
func BenchmarkGet(b *testing.B) {
	for _, rival := range []string{"get", "mget", "raw"} {
		b.Run(fmt.Sprintf("keys=%d/rival=%s", benchKeys, rival), func(b *testing.B) {
			bench := newGetBench(b, serveBench(b))
			rivals := map[string]func(int){"get": bench.gets, "mget": bench.mget, "raw": bench.raw}
			versus.Run(b, rival, bench.ours, rivals[rival])
		})
	}
}

func serveBench(b *testing.B) *goredis.Client {
	return dial(b, goredis.Options{Addr: servertest.Redis(b).Addr})
}

type incrBench struct {
	testing.TB
	client  goredis.UniversalClient
	store   *redis.Store
	batches [][]wrstats.Increment // one if the counters are to exist
	done    int                   // batches that ours wrote
	turns   [3]int                // of the rivals
	socket  net.Conn
	scripts [][]byte
}

func newIncrBench(b *testing.B, client goredis.UniversalClient, fresh bool) *incrBench {
	bench := &incrBench{TB: b, client: client, store: open(b, client, redis.Options{})}
	n := 1
	if fresh {
		n = benchBatches
	}
	for i := range n {
		bench.batches = append(bench.batches, benchBatch(i))
	}
	return bench
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

// turn returns the number of a batch that can be written. When all have been, the server forgets them.
func (b *incrBench) turn(done *int) int {
	n := len(b.batches)
	if n > 1 && *done%n == 0 {
		if err := b.client.FlushAll(context.Background()).Err(); err != nil {
			b.Fatal(err)
		}
	}
	*done++
	return (*done - 1) % n
}

func (b *incrBench) ours(n int) {
	for range n {
		receipt, err := b.store.Incr(context.Background(), b.batches[b.turn(&b.done)])
		if err == nil && receipt != nil {
			_, err = receipt.Wait(context.Background())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func (b *incrBench) pair(n int) {
	ctx := context.Background()
	for range n {
		pipe := b.client.Pipeline()
		for i, batch := 0, b.batches[b.turn(&b.turns[0])]; i < len(batch); i++ {
			key := "p" + batch[i].Key
			pipe.SetNX(ctx, key, 0, batch[i].TTL)
			pipe.IncrBy(ctx, key, batch[i].Delta)
		}
		b.exec(pipe)
	}
}

func (b *incrBench) incrby(n int) {
	ctx := context.Background()
	for range n {
		pipe := b.client.Pipeline()
		for i, batch := 0, b.batches[b.turn(&b.turns[1])]; i < len(batch); i++ {
			pipe.IncrBy(ctx, "i"+batch[i].Key, batch[i].Delta)
		}
		b.exec(pipe)
	}
}

func (b *incrBench) exec(pipe goredis.Pipeliner) {
	if _, err := pipe.Exec(context.Background()); err != nil {
		b.Fatal(err)
	}
}

func (b *incrBench) raw(n int) {
	if b.socket == nil {
		b.socket = dialRaw(b, b.client)
		for _, batch := range b.batches {
			b.scripts = append(b.scripts, script(batch))
		}
	}
	for range n {
		play(b, b.socket, b.scripts[b.turn(&b.turns[2])])
	}
}

// script is what pair sends, and a fence.
func script(batch []wrstats.Increment) []byte {
	var out []byte
	for _, inc := range batch {
		key := "r" + inc.Key
		out = appendCommand(out, "set", key, "0", "ex", "4200", "nx")
		out = appendCommand(out, "incrby", key, strconv.FormatInt(inc.Delta, 10))
	}
	return appendCommand(out, "echo", fence)
}

// check reads what ours wrote last.
func (b *incrBench) check(t *testing.B) {
	t.Helper()
	if len(b.batches) > 1 {
		b.done = 0
		b.ours(1)
	}
	batch := b.batches[0]
	for i, v := range get(t, b.store, batch[0].Key, batch[benchCounters-1].Key) {
		inc := batch[i*(benchCounters-1)]
		require.Equal(t, inc.Delta*int64(b.done), v.N)
	}
}

type getBench struct {
	testing.TB
	client *goredis.Client
	store  *redis.Store
	keys   []string
	socket net.Conn
	script []byte
}

func newGetBench(b *testing.B, client *goredis.Client) *getBench {
	bench := &getBench{TB: b, client: client, store: open(b, client, redis.Options{})}
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

func (b *getBench) gets(n int) {
	ctx := context.Background()
	for range n {
		pipe := b.client.Pipeline()
		cmds := make([]*goredis.StringCmd, len(b.keys))
		for i, key := range b.keys {
			cmds[i] = pipe.Get(ctx, key)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			b.Fatal(err)
		}
		for i, cmd := range cmds {
			if v, err := cmd.Int64(); err != nil || v != int64(i%benchCounters%1000+1) {
				b.Fatal(v, err)
			}
		}
	}
}

func (b *getBench) mget(n int) {
	for range n {
		values, err := b.client.MGet(context.Background(), b.keys...).Result()
		if err != nil {
			b.Fatal(err)
		}
		for i, value := range values {
			v, err := strconv.ParseInt(value.(string), 10, 64)
			if err != nil || v != int64(i%benchCounters%1000+1) {
				b.Fatal(v, err)
			}
		}
	}
}

func (b *getBench) raw(n int) {
	if b.socket == nil {
		b.socket = dialRaw(b, b.client)
		b.script = appendCommand(appendCommand(nil, append([]string{"mget"}, b.keys...)...), "echo", fence)
	}
	for range n {
		play(b, b.socket, b.script)
	}
}

const fence = "the end of it"

func appendCommand(out []byte, args ...string) []byte {
	out = fmt.Appendf(out, "*%d\r\n", len(args))
	for _, arg := range args {
		out = fmt.Appendf(out, "$%d\r\n%s\r\n", len(arg), arg)
	}
	return out
}

func dialRaw(b testing.TB, client goredis.UniversalClient) net.Conn {
	conn, err := net.Dial("tcp", client.(*goredis.Client).Options().Addr)
	require.NoError(b, err)
	b.Cleanup(func() { conn.Close() })
	return conn
}

// play sends a script and reads until its fence comes back.
func play(b testing.TB, conn net.Conn, script []byte) {
	written := make(chan error, 1)
	go func() {
		_, err := conn.Write(script)
		written <- err
	}()
	r := bufio.NewReaderSize(conn, 1<<16)
	for {
		line, err := r.ReadSlice('\n')
		if err != nil && err != io.EOF {
			b.Fatal(err)
		}
		if string(line) == fence+"\r\n" {
			break
		}
	}
	if err := <-written; err != nil {
		b.Fatal(err)
	}
}
