package redis_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/redis"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
)

// CASES 49: a reply that comes after the timeout. The client retries, which a plain pipeline shows.
func TestWhatIsNotAnsweredInTimeIsNotSentAgain(t *testing.T) {
	t.Parallel()
	const late, timeout = 1500 * time.Millisecond, time.Second
	for _, c := range []struct {
		rule  string
		serve func(testing.TB, *network) goredis.UniversalClient
	}{
		{"one server", func(t testing.TB, n *network) goredis.UniversalClient {
			return goredis.NewClient(&goredis.Options{Addr: servertest.Redis(t).Addr, Dialer: n.dial, ReadTimeout: timeout})
		}},
		{"ring", func(t testing.TB, n *network) goredis.UniversalClient {
			addrs := map[string]string{"a": servertest.Redis(t).Addr, "b": servertest.Redis(t).Addr}
			return goredis.NewRing(&goredis.RingOptions{Addrs: addrs, Dialer: n.dial, ReadTimeout: timeout, HeartbeatFrequency: time.Hour})
		}},
		{"cluster", func(t testing.TB, n *network) goredis.UniversalClient {
			addr := servertest.RedisCluster(t, 1)[0].Addr
			return goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: []string{addr}, Dialer: n.dial, ReadTimeout: timeout})
		}},
		{"client behind sentinels", func(t testing.TB, n *network) goredis.UniversalClient {
			_, _, watchers := servertest.RedisSentinels(t, "m", 1)
			return goredis.NewFailoverClient(&goredis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{watchers[0].Addr}, Dialer: n.dial, ReadTimeout: timeout})
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			wires := newNetwork()
			client := c.serve(t, wires)
			store := open(t, client, redis.Options{})
			count(t, store, one("warm", 1), one("up", 1), one("a", 0))
			wires.lag.Store(int64(late))
			lost, err := incr(t, store, one("a", 1))
			pipe := client.Pipeline()
			pipe.IncrBy(t.Context(), "b", 1)
			_, _ = pipe.Exec(t.Context())
			wires.lag.Store(0)
			require.EqualValues(t, 1, lost)
			require.Error(t, err)
			time.Sleep(2 * timeout)
			require.Equal(t, []wrstats.Value{found(1)}, get(t, store, "a"))
			if c.rule != "ring" { // whose shards do not retry
				require.Greater(t, get(t, store, "b")[0].N, int64(1), "the client retries")
			}
		})
	}
}

func TestWhatCantBeSentComesBack(t *testing.T) {
	t.Parallel()
	batch := []wrstats.Increment{one("a", 1), one("b", 2)}
	refused := func(t testing.TB, store wrstats.Store, ctx context.Context) error {
		receipt, err := store.Incr(ctx, batch)
		require.Nil(t, receipt)
		unsent := new(wrstats.NotSentError)
		require.ErrorAs(t, err, &unsent)
		require.ElementsMatch(t, batch, unsent.Batch)
		return err
	}
	t.Run("the server is down", func(t *testing.T) {
		server := servertest.Redis(t)
		server.Kill()
		store := open(t, goredis.NewClient(&goredis.Options{Addr: server.Addr}), redis.Options{})
		require.ErrorContains(t, refused(t, store, t.Context()), server.Addr)
		require.EqualValues(t, 2, store.Stats().Unsent)
		require.Zero(t, store.Stats().Sent)
	})
	t.Run("the Cluster is down", func(t *testing.T) {
		servers := servertest.RedisCluster(t, 1)
		store := open(t, goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: []string{servers[0].Addr}}), redis.Options{})
		count(t, store, one("c", 1))
		servers[0].Kill()
		_, port, _ := net.SplitHostPort(servers[0].Addr)
		require.ErrorContains(t, refused(t, store, t.Context()), ":"+port)
	})
	t.Run("the password is wrong", func(t *testing.T) {
		server := servertest.Redis(t, "--requirepass", "s3cret")
		store := open(t, goredis.NewClient(&goredis.Options{Addr: server.Addr, Password: "wr0ng"}), redis.Options{})
		err := refused(t, store, t.Context())
		require.ErrorContains(t, err, "WRONGPASS")
		require.NotContains(t, err.Error(), "wr0ng")
		_, err = store.Get(t.Context(), []string{"a"})
		require.ErrorContains(t, err, "WRONGPASS")
		require.ErrorContains(t, store.Delete(t.Context(), []string{"a"}), "WRONGPASS")
	})
	t.Run("all connections are in use", func(t *testing.T) {
		server := servertest.Redis(t)
		options := goredis.Options{Addr: server.Addr, PoolSize: 1, MaxActiveConns: 1, PoolTimeout: 50 * time.Millisecond, MaxRetries: -1, ReadTimeout: patience}
		store := open(t, goredis.NewClient(&options), redis.Options{})
		count(t, store, one("c", 1))
		server.Stop()
		receipt, err := store.Incr(t.Context(), batch)
		require.NoError(t, err)
		require.ErrorIs(t, refused(t, store, t.Context()), goredis.ErrPoolTimeout)
		server.Continue()
		lost, err := receipt.Wait(t.Context())
		require.NoError(t, err)
		require.Zero(t, lost)
	})
	t.Run("the client is closed", func(t *testing.T) {
		client := dial(t, goredis.Options{Addr: servertest.Redis(t).Addr})
		store := open(t, client, redis.Options{})
		require.NoError(t, client.Close())
		require.ErrorIs(t, refused(t, store, t.Context()), goredis.ErrClosed)
	})
	t.Run("the context ends first", func(t *testing.T) {
		server, wires := servertest.Redis(t), newNetwork()
		store := open(t, dial(t, goredis.Options{Addr: server.Addr, Dialer: wires.dial}), redis.Options{})
		wires.block.Store(true)
		require.ErrorIs(t, refused(t, store, within(t, 50*time.Millisecond)), context.DeadlineExceeded)
		wires.block.Store(false)
		require.NoError(t, store.Close())
		again := open(t, dial(t, goredis.Options{Addr: server.Addr}), redis.Options{})
		require.Equal(t, make([]wrstats.Value, 2), get(t, again, "a", "b"))
	})
}

func TestAServerThatIsDownCostsItsOwnShareOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule  string
		serve func(testing.TB) ([]*servertest.Server, goredis.UniversalClient)
	}{
		{"ring", func(t testing.TB) ([]*servertest.Server, goredis.UniversalClient) {
			servers := []*servertest.Server{servertest.Redis(t), servertest.Redis(t), servertest.Redis(t)}
			return servers, ringClient(t, servers)
		}},
		{"cluster", func(t testing.TB) ([]*servertest.Server, goredis.UniversalClient) {
			servers := servertest.RedisCluster(t, 3, "--cluster-require-full-coverage", "no")
			return servers, clusterClient(t, servers)
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			servers, client := c.serve(t)
			store := open(t, client, redis.Options{})
			var batch []wrstats.Increment
			var keys []string
			for i := range 100 { // a Ring of other addresses spreads few keys over two of three
				key := fmt.Sprint("k", i)
				batch, keys = append(batch, one(key, 1)), append(keys, key)
			}
			count(t, store, batch...)
			servers[1].Kill()

			receipt, err := store.Incr(within(t, patience), batch)
			unsent := new(wrstats.NotSentError)
			require.ErrorAs(t, err, &unsent)
			require.ErrorContains(t, err, servers[1].Addr)
			lost, err := receipt.Wait(within(t, patience))
			require.NoError(t, err)
			require.Zero(t, lost)

			values, err := store.Get(within(t, patience), keys)
			require.ErrorIs(t, err, wrstats.ErrPartial)
			require.ErrorContains(t, err, servers[1].Addr)
			for i, v := range values {
				want := found(2)
				if contains(unsent.Batch, keys[i]) {
					want = wrstats.Value{}
				}
				require.Equal(t, want, v, keys[i])
			}
			require.NotEmpty(t, unsent.Batch)
			require.Less(t, len(unsent.Batch), len(batch))
			require.ErrorContains(t, store.Delete(within(t, patience), keys), servers[1].Addr)
		})
	}
}

func contains(batch []wrstats.Increment, key string) bool {
	for _, inc := range batch {
		if inc.Key == key {
			return true
		}
	}
	return false
}

func TestIncrWaitsForNoReply(t *testing.T) {
	server := servertest.Redis(t)
	store := open(t, dial(t, goredis.Options{Addr: server.Addr}), redis.Options{})
	count(t, store, one("a", 1))
	server.Stop()
	receipt, err := store.Incr(within(t, time.Second), []wrstats.Increment{one("a", 2), one("b", 3)})
	require.NoError(t, err)
	lost, err := receipt.Wait(within(t, 20*time.Millisecond))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.EqualValues(t, 5, lost, "what is open")
	server.Continue()
	lost, err = receipt.Wait(within(t, patience))
	require.NoError(t, err)
	require.Zero(t, lost)
	require.Equal(t, []wrstats.Value{found(3), found(3)}, get(t, store, "a", "b"))
}

func TestABrokenConnectionIsReplaced(t *testing.T) {
	server := servertest.Redis(t)
	var reported []error
	options := redis.Options{OnError: func(err error) { reported = append(reported, err) }}
	store := open(t, goredis.NewClient(&goredis.Options{Addr: server.Addr, ReadTimeout: time.Second}), options)
	count(t, store, one("a", 1))
	server.Stop()
	receipt, err := store.Incr(t.Context(), []wrstats.Increment{one("a", 7)})
	require.NoError(t, err)
	server.Restart()
	lost, err := receipt.Wait(t.Context())
	require.EqualValues(t, 7, lost)
	require.ErrorContains(t, err, server.Addr)
	op := new(redis.OpError)
	require.True(t, errors.As(err, &op))
	require.Equal(t, "incr", op.Op)
	count(t, store, one("a", 2))
	require.Equal(t, []wrstats.Value{found(2)}, get(t, store, "a"))
	require.Len(t, reported, 1)
	require.EqualValues(t, 1, store.Stats().Failed)
	require.EqualValues(t, 3, store.Stats().Sent)
}

func TestANewServerLearnsTheScript(t *testing.T) {
	server := servertest.Redis(t)
	client := dial(t, goredis.Options{Addr: server.Addr})
	store := open(t, client, redis.Options{})
	for i := range int64(3) {
		require.NoError(t, client.ScriptFlush(t.Context()).Err())
		count(t, store, one("a", 1))
		require.Equal(t, []wrstats.Value{found(i + 1)}, get(t, store, "a"))
	}
}

func TestTheContextMayEndWhenIncrHasReturned(t *testing.T) {
	server := servertest.Redis(t)
	client := dial(t, goredis.Options{Addr: server.Addr})
	store := open(t, client, redis.Options{})
	count(t, store, one("a", 1))
	require.NoError(t, client.ScriptFlush(t.Context()).Err()) // so that there is more to send
	server.Stop()
	ctx, cancel := context.WithCancel(t.Context())
	receipt, err := store.Incr(ctx, []wrstats.Increment{one("a", 1)})
	require.NoError(t, err)
	cancel()
	server.Continue()
	lost, err := receipt.Wait(within(t, patience))
	require.NoError(t, err)
	require.Zero(t, lost)
	require.Equal(t, []wrstats.Value{found(2)}, get(t, store, "a"))
}

func TestCloseWaitsForWhatIsOpen(t *testing.T) {
	server := servertest.Redis(t)
	store := open(t, dial(t, goredis.Options{Addr: server.Addr, ReadTimeout: 300 * time.Millisecond}), redis.Options{})
	count(t, store, one("a", 1))
	server.Stop()
	receipt, err := store.Incr(t.Context(), []wrstats.Increment{one("a", 2)})
	require.NoError(t, err)
	require.NoError(t, store.Close())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	lost, err := receipt.Wait(ended)
	require.NotErrorIs(t, err, context.Canceled, "it is known by now")
	require.EqualValues(t, 2, lost)
	server.Continue()
}
