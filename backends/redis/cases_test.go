package redis_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/redis"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
)

func serveOne(t testing.TB, options redis.Options) (*goredis.Client, *redis.Store) {
	client := dial(t, goredis.Options{Addr: servertest.Redis(t).Addr})
	return client, open(t, client, options)
}

// CASES 9, 12 and 13: whatever a key holds, it is a key.
func TestKeysCantBreakTheProtocol(t *testing.T) {
	client, store := serveOne(t, redis.Options{})
	count(t, store, one("canary", 1))
	keys := []string{"x 0 0 1\r\nFLUSHALL\r\n", "*1\r\n$8\r\nFLUSHALL\r\n", "clé", "cle", " Λ#m", "", "\x00", "a b", "ERROR", "{x}", strings.Repeat("k", 100_000)}
	var batch []wrstats.Increment
	var want []wrstats.Value
	for i, key := range keys {
		batch, want = append(batch, one(key, int64(i+1))), append(want, found(int64(i+1)))
	}
	count(t, store, batch...)
	require.Equal(t, want, get(t, store, keys...))
	require.Equal(t, []wrstats.Value{found(1)}, get(t, store, "canary"))
	require.EqualValues(t, len(keys)+1, client.DBSize(t.Context()).Val())
}

// CASES 23.
func TestLargeDeltasAreExact(t *testing.T) {
	_, store := serveOne(t, redis.Options{})
	for _, delta := range []int64{1 << 32, 1 << 53, 1<<53 + 1, math.MaxInt64 - 1<<40} {
		key := fmt.Sprint(delta)
		count(t, store, one(key, delta), one(key, 3))
		count(t, store, one(key, 4))
		require.Equal(t, []wrstats.Value{found(delta + 7)}, get(t, store, key))
	}
}

func TestANegativeDeltaIsNotSent(t *testing.T) {
	_, store := serveOne(t, redis.Options{})
	lost, err := incr(t, store, one("a", -1), one("b", 2))
	require.ErrorIs(t, err, redis.ErrNegative)
	require.Zero(t, lost)
	require.Equal(t, []wrstats.Value{{}, found(2)}, get(t, store, "a", "b"))
}

// CASES 24: what is no number is a gap and a counted error, and hides nothing.
func TestWhatIsNoNumberIsAMiss(t *testing.T) {
	t.Parallel()
	for _, serve := range []func(testing.TB) serving{serveTCP, serveRESP2, serveCluster} {
		client := serve(t)(t)
		t.Run(fmt.Sprintf("%T", client), func(t *testing.T) {
			var reported []error
			store := open(t, client, redis.Options{OnError: func(err error) { reported = append(reported, err) }})
			ctx := within(t, patience)
			keys := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}
			for i, text := range []string{"9 ", "0                   ", "10.01", "abc", "", "-5", "9223372036854775808"} {
				require.NoError(t, client.Set(ctx, keys[i], text, time.Hour).Err())
			}
			require.NoError(t, client.RPush(ctx, "h", "7").Err())
			require.NoError(t, client.Expire(ctx, "h", time.Hour).Err())
			count(t, store, one("i", 7))
			want := []wrstats.Value{found(9), found(0), {}, {}, {}, {}, {}, {}, found(7)}
			require.Equal(t, want, get(t, store, keys...))
			require.GreaterOrEqual(t, store.Stats().Errors[redis.NotNumber], int64(5)) // MGET shows no list
			require.Len(t, reported, 1)

			lost, err := incr(t, store, one("d", 3), one("h", 4), one("i", 5))
			require.ErrorIs(t, err, redis.ErrNotNumber)
			require.EqualValues(t, 7, lost)
			require.Equal(t, "abc", client.Get(ctx, "d").Val())
			require.Equal(t, []wrstats.Value{found(12)}, get(t, store, "i"))
		})
	}
}

// CASES 25.
func TestAnOverflowIsCountedAndDoesNotWrap(t *testing.T) {
	t.Parallel()
	for _, serve := range []func(testing.TB) serving{serveTCP, serveCluster} {
		client := serve(t)(t)
		t.Run(fmt.Sprintf("%T", client), func(t *testing.T) {
			store := open(t, client, redis.Options{})
			count(t, store, one("a", math.MaxInt64), one("b", 1))
			lost, err := incr(t, store, one("b", 2), one("a", 1), one("a", 3), one("b", 4))
			require.ErrorIs(t, err, redis.ErrOverflow)
			require.EqualValues(t, 4, lost)
			require.Equal(t, []wrstats.Value{found(math.MaxInt64), found(7)}, get(t, store, "a", "b"))
			require.EqualValues(t, 2, store.Stats().Errors[redis.Overflow])
			lost, err = incr(t, store, one("a", 5))
			require.ErrorIs(t, err, redis.ErrOverflow)
			require.EqualValues(t, 5, lost)
		})
	}
}

// CASES 32.
func TestWindowsOfOneEntityAreInSlotsOfTheirOwn(t *testing.T) {
	t.Parallel()
	client := serveCluster(t)(t).(*goredis.ClusterClient)
	store := open(t, client, redis.Options{})
	stats, err := wrstats.New(store, wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{{Name: "m"}}})
	require.NoError(t, err)
	w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
	now := time.Now()
	for i := range 7 {
		require.NoError(t, w.AddAt(now.Add(-time.Duration(i)*10*time.Minute), "m", wrstats.Local("e"), 1))
	}
	require.NoError(t, w.Close(within(t, patience)))
	rates, err := stats.NewReader().RatesAt(within(t, patience), now, []wrstats.Query{{Metric: "m", Entity: wrstats.Local("e"), Span: wrstats.LastWindows(7)}})
	require.NoError(t, err)
	require.Equal(t, 7.0, rates[0].Total)
	var used atomic.Int64
	require.NoError(t, client.ForEachMaster(within(t, patience), func(ctx context.Context, node *goredis.Client) error {
		if node.DBSize(ctx).Val() > 0 {
			used.Add(1)
		}
		return nil
	}))
	require.Greater(t, used.Load(), int64(1), "several nodes hold windows")
}

// A user who may not touch one key of a batch, or of a read, has the others.
func TestAKeyThatIsForbiddenCostsNoOther(t *testing.T) {
	server := servertest.Redis(t)
	rule := "ACL SETUSER writer on >s3cret ~mine:* +eval +evalsha +exists +set +incrby +get +mget +unlink"
	server.Redis(strings.Fields(rule)...)
	store := open(t, dial(t, goredis.Options{Addr: server.Addr, Username: "writer", Password: "s3cret"}), redis.Options{})
	lost, err := incr(t, store, one("mine:a", 1), one("other", 2), one("mine:b", 4))
	require.EqualValues(t, 2, lost)
	reply := new(redis.ReplyError)
	require.ErrorAs(t, err, &reply)
	require.Equal(t, "NOPERM", reply.Code)
	require.NotContains(t, err.Error(), "other")
	values, err := store.Get(within(t, patience), []string{"mine:a", "other", "mine:b"})
	require.ErrorIs(t, err, wrstats.ErrPartial)
	require.Equal(t, []wrstats.Value{found(1), {}, found(4)}, values)
	scanAtEnd(t, dial(t, goredis.Options{Addr: server.Addr}))
}

// A user who may not create keys makes none, above all none without a TTL.
func TestAUserWhoMayNotCreateKeysMakesNone(t *testing.T) {
	t.Parallel()
	for _, without := range []string{"-set", "-exists", "-incrby", "-evalsha -eval", "-eval"} {
		t.Run(without, func(t *testing.T) {
			server := servertest.Redis(t)
			server.Redis(strings.Fields("ACL SETUSER writer on >s3cret ~* +@all " + without)...)
			store := open(t, dial(t, goredis.Options{Addr: server.Addr, Username: "writer", Password: "s3cret"}), redis.Options{})
			_, _ = incr(t, store, one("a", 1), one("b", 2)) // SET alone can do that
			lost, err := incr(t, store, one("a", 1), one("b", 2))
			require.Error(t, err)
			require.EqualValues(t, 3, lost)
			admin := dial(t, goredis.Options{Addr: server.Addr})
			require.Empty(t, endless(t, admin))
		})
	}
}

func TestAReplicaTakesNoWrites(t *testing.T) {
	t.Parallel()
	primary := servertest.Redis(t)
	replica := servertest.Redis(t, "--replicaof", strings.ReplaceAll(primary.Addr, ":", " "))
	replica.Until("master_link_status:up", "INFO", "replication")
	client := dial(t, goredis.Options{Addr: replica.Addr})
	store := open(t, client, redis.Options{})
	for range 2 {
		lost, err := incr(t, store, one("a", 1), one("b", 2))
		require.ErrorContains(t, err, "READONLY")
		require.EqualValues(t, 3, lost)
		require.Zero(t, client.PoolStats().IdleConns, "the connection is not kept")
	}
}

func TestDeleteWhereThereIsNoUnlink(t *testing.T) {
	server := servertest.Redis(t, "--rename-command", "UNLINK", "")
	store := open(t, dial(t, goredis.Options{Addr: server.Addr}), redis.Options{})
	count(t, store, one("a", 1), one("b", 2))
	require.NoError(t, store.Delete(t.Context(), []string{"a", "absent"}))
	require.Equal(t, []wrstats.Value{{}, found(2)}, get(t, store, "a", "b"))
	require.EqualValues(t, 2, store.Stats().Deleted)
}

func TestACallEndsWithItsContextThoughNobodyAnswers(t *testing.T) {
	servers := []*servertest.Server{servertest.Redis(t), servertest.Redis(t)}
	store := open(t, ringClient(t, servers), redis.Options{})
	var batch []wrstats.Increment
	var keys []string
	for i := range 100 { // a Ring of other addresses may have few keys on one of two
		key := fmt.Sprint("k", i)
		batch, keys = append(batch, one(key, 1)), append(keys, key)
	}
	count(t, store, batch...)
	servers[0].Stop()
	values, err := store.Get(within(t, time.Second), keys)
	require.ErrorIs(t, err, wrstats.ErrPartial)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, servers[0].Addr)
	require.Contains(t, values, found(1))
	require.Contains(t, values, wrstats.Value{})
	require.ErrorIs(t, store.Delete(within(t, time.Second), keys), context.DeadlineExceeded)
	servers[1].Stop()
	values, err = store.Get(within(t, time.Second), keys)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, wrstats.ErrPartial)
	require.Nil(t, values)
	servers[0].Continue()
	servers[1].Continue()
}

// CASES 43 and 48: a server that answers nothing holds no more than so many goroutines.
func TestAServerThatStallsHoldsFewGoroutines(t *testing.T) {
	server := servertest.Redis(t)
	before := runtime.NumGoroutine()
	client := goredis.NewClient(&goredis.Options{Addr: server.Addr, ReadTimeout: 2 * time.Second, PoolTimeout: 2 * time.Second, MaxRetries: -1})
	store := redis.New(client, redis.Options{})
	count(t, store, one("a", 1))
	server.Stop()
	var group sync.WaitGroup
	for range 500 {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			_, _ = store.Incr(ctx, []wrstats.Increment{one("a", 1)})
			_, _ = store.Get(ctx, []string{"a"})
		})
	}
	group.Wait()
	require.Less(t, runtime.NumGoroutine()-before, 150)
	require.NoError(t, store.Close()) // waits for the client's timeouts
	require.NoError(t, client.Close())
	server.Continue()
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}

func TestCloseLeavesTheCallersClientOpen(t *testing.T) {
	client, store := serveOne(t, redis.Options{})
	require.NoError(t, store.Close())
	require.NoError(t, client.Ping(t.Context()).Err())
}

func TestStatsCount(t *testing.T) {
	_, store := serveOne(t, redis.Options{})
	count(t, store, one("a", 1), one("b", 2))
	get(t, store, "a", "b", "c")
	require.Equal(t, redis.Stats{Sent: 2, Read: 3, Errors: map[redis.Kind]int64{}}, store.Stats())
}

func TestMeasuresAreTheStats(t *testing.T) {
	_, store := serveOne(t, redis.Options{})
	count(t, store, one("a", 1), one("b", 2), one("c", 2))
	_, _ = incr(t, store, one("a", -1))
	get(t, store, "a", "b", "c", "d")
	require.NoError(t, store.Delete(t.Context(), []string{"a", "b"}))
	want := map[string]float64{
		"redis_sent_increments": 3, "redis_unsent_increments": 0, "redis_failed_increments": 1,
		"redis_read_keys": 4, "redis_deleted_keys": 2,
		"redis_errors network": 0, "redis_errors refused": 0, "redis_errors not a number": 0,
		"redis_errors overflow": 0, "redis_errors negative": 1,
	}
	for range 2 {
		got := make(map[string]float64)
		for _, m := range store.Measures() {
			for _, v := range m.Values {
				require.Len(t, v.Labels, len(m.Labels))
				got[strings.Join(append([]string{m.Name}, v.Labels...), " ")] = v.Value
			}
		}
		require.Equal(t, want, got)
		require.NoError(t, store.Close())
	}
}
