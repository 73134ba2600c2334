package redis_test

import (
	"context"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/redis"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
)

// patience is how long a call may take in a test.
const patience = 30 * time.Second

// open makes a store on a client, and closes both with the test.
func open(t testing.TB, client goredis.UniversalClient, options redis.Options) *redis.Store {
	t.Helper()
	store := redis.New(client, options)
	t.Cleanup(func() {
		_ = store.Close()
		_ = client.Close()
	})
	return store
}

// dial makes a client of a server that has more patience than the default.
func dial(t testing.TB, options goredis.Options) *goredis.Client {
	t.Helper()
	if options.ReadTimeout == 0 {
		options.ReadTimeout, options.WriteTimeout, options.PoolTimeout = patience, patience, patience
	}
	client := goredis.NewClient(&options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// incr hands a batch over and waits for its receipt.
func incr(t testing.TB, store wrstats.Store, batch ...wrstats.Increment) (lost int64, err error) {
	t.Helper()
	receipt, err := store.Incr(within(t, patience), batch)
	if receipt == nil {
		return 0, err
	}
	require.NoError(t, err)
	return receipt.Wait(within(t, patience))
}

// count increments, and requires that all of it is applied.
func count(t testing.TB, store wrstats.Store, batch ...wrstats.Increment) {
	t.Helper()
	lost, err := incr(t, store, batch...)
	require.NoError(t, err)
	require.Zero(t, lost)
}

func get(t testing.TB, store wrstats.Store, keys ...string) []wrstats.Value {
	t.Helper()
	values, err := store.Get(within(t, patience), keys)
	require.NoError(t, err)
	return values
}

func one(key string, delta int64) wrstats.Increment {
	return wrstats.Increment{Key: key, Delta: delta, TTL: time.Hour}
}

func found(n int64) wrstats.Value { return wrstats.Value{N: n, Found: true} }

// endless returns the keys of a server that have no TTL.
func endless(t testing.TB, client *goredis.Client) (keys []string) {
	t.Helper()
	ctx := within(t, patience)
	for cursor := uint64(0); ; {
		page, next, err := client.Scan(ctx, cursor, "*", 10_000).Result()
		require.NoError(t, err)
		pipe, ttls := client.Pipeline(), make([]*goredis.DurationCmd, len(page))
		for i, key := range page {
			ttls[i] = pipe.PTTL(ctx, key)
		}
		_, err = pipe.Exec(ctx)
		require.NoError(t, err)
		for i, ttl := range ttls {
			if ttl.Val() == -1 {
				keys = append(keys, page[i])
			}
		}
		if cursor = next; cursor == 0 {
			return keys
		}
	}
}

// scanAtEnd requires when the test ends that every key of these servers has a TTL.
func scanAtEnd(t testing.TB, clients ...*goredis.Client) {
	t.Cleanup(func() {
		for _, client := range clients {
			require.Empty(t, endless(t, client), "keys without a TTL on %s", client.Options().Addr)
		}
	})
}

// clusterClient makes a client of a Cluster.
func clusterClient(t testing.TB, servers []*servertest.Server) *goredis.ClusterClient {
	options := goredis.ClusterOptions{ReadTimeout: patience, WriteTimeout: patience, PoolTimeout: patience}
	for _, s := range servers {
		options.Addrs = append(options.Addrs, s.Addr)
	}
	client := goredis.NewClusterClient(&options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// ringClient makes a client that spreads keys over servers.
func ringClient(t testing.TB, servers []*servertest.Server) *goredis.Ring {
	options := goredis.RingOptions{Addrs: make(map[string]string), ReadTimeout: patience, WriteTimeout: patience}
	for _, s := range servers {
		options.Addrs[s.Addr] = s.Addr
	}
	options.HeartbeatFrequency = time.Hour // a loaded machine is no dead shard
	ring := goredis.NewRing(&options)
	t.Cleanup(func() { _ = ring.Close() })
	return ring
}

// failoverClient makes a client that asks Sentinels where the primary is.
func failoverClient(t testing.TB, name string, watchers []*servertest.Server) *goredis.Client {
	options := goredis.FailoverOptions{MasterName: name, ReadTimeout: patience, WriteTimeout: patience, PoolTimeout: patience}
	for _, w := range watchers {
		options.SentinelAddrs = append(options.SentinelAddrs, w.Addr)
	}
	client := goredis.NewFailoverClient(&options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// clients makes a client of each server.
func clients(t testing.TB, servers []*servertest.Server) []*goredis.Client {
	clients := make([]*goredis.Client, len(servers))
	for i, s := range servers {
		clients[i] = dial(t, goredis.Options{Addr: s.Addr})
	}
	return clients
}
