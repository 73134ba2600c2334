package memcached_test

import (
	"strings"
	"testing"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
)

// real runs a test on a memcached, in each protocol.
func real(t *testing.T, test func(t *testing.T, server *servertest.Server, store *memcached.Store)) {
	t.Helper()
	t.Parallel()
	for protocol, name := range protocolNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := servertest.Memcached(t)
			test(t, server, open(t, memcached.Config{Servers: []string{server.Addr}, Protocol: protocol}))
		})
	}
}

func newStats(t *testing.T, store wrstats.Store, m wrstats.Metric) *wrstats.Stats {
	t.Helper()
	stats, err := wrstats.New(store, wrstats.Config{Prefix: "test", Metrics: []wrstats.Metric{m}})
	require.NoError(t, err)
	return stats
}

// write adds values by a Writer, and waits until they are stored.
func write(t *testing.T, stats *wrstats.Stats, metric string, values map[wrstats.Entity]float64) {
	t.Helper()
	w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
	for entity, v := range values {
		require.NoError(t, w.Add(metric, entity, v))
	}
	require.NoError(t, w.Close(within(t, patience)))
}

func total(t *testing.T, stats *wrstats.Stats, metric string, entity wrstats.Entity) float64 {
	t.Helper()
	rate, err := stats.NewReader().Rate(within(t, patience), wrstats.Query{
		Metric: metric, Entity: entity, Span: wrstats.LastWindows(2),
	})
	require.NoError(t, err)
	return rate.Total
}

func TestEntitiesOfAnyBytes(t *testing.T) {
	real(t, func(t *testing.T, server *servertest.Server, store *memcached.Store) {
		client := memcache.New(server.Addr)
		require.NoError(t, client.Set(&memcache.Item{Key: "canary", Value: []byte("1")}))
		want := make(map[wrstats.Entity]float64)
		for i, name := range []string{
			"x 0 0 1\r\nflush_all\r\n", "clé", "cle", " Λ#m", "ERROR", "END", "VALUE", "", "a b", "a_b", "\x00", "\xff", "noreply",
			strings.Repeat("é", 126), strings.Repeat("x", 299) + "a", strings.Repeat("x", 299) + "b",
		} {
			want[wrstats.Local(name)] = float64(i + 1)
		}
		stats := newStats(t, store, wrstats.Metric{Name: "count"})
		write(t, stats, "count", want)
		for entity, n := range want {
			require.Equal(t, n, total(t, stats, "count", entity), "%q", entity)
		}
		_, err := client.Get("canary")
		require.NoError(t, err, "the canary is still there")
	})
}

func TestRoutePrefixCountsAsPartOfTheKey(t *testing.T) {
	const prefix = "/region/a/" // 10 bytes; memcached itself takes it as part of the key
	for protocol, name := range protocolNames {
		t.Run(name, func(t *testing.T) {
			server := servertest.Memcached(t)
			store := open(t, memcached.Config{Servers: []string{server.Addr}, RoutePrefix: prefix, Protocol: protocol})
			fits, over := strings.Repeat("f", 240), strings.Repeat("o", 245)
			lost, err := incr(t, store, one(fits, 3), one(over, 4))
			require.ErrorIs(t, err, memcached.ErrKey)
			require.Equal(t, int64(4), lost)
			require.Equal(t, []wrstats.Value{found(3), {}}, get(t, store, fits, over))
			require.Empty(t, failures(stats(store)), "255 bytes never went out")

			item, err := memcache.New(server.Addr).Get(prefix + fits)
			require.NoError(t, err)
			require.Equal(t, "3", string(item.Value))
			require.NoError(t, store.Delete(within(t, patience), []string{fits}))
			require.Equal(t, []wrstats.Value{{}}, get(t, store, fits))
		})
	}
}

// failures are the replies that are errors.
func failures(s memcached.ServerStats) map[memcached.Kind]int64 {
	failures := make(map[memcached.Kind]int64)
	for kind, n := range s.Replies {
		if kind >= memcached.NotNumber {
			failures[kind] = n
		}
	}
	return failures
}

func TestOddKeyInAReadCostsNobodyElse(t *testing.T) {
	real(t, func(t *testing.T, _ *servertest.Server, store *memcached.Store) {
		lost, err := incr(t, store, one("good", 5), one("a b", 7))
		require.ErrorIs(t, err, memcached.ErrKey)
		require.Equal(t, int64(7), lost)
		require.Equal(t, []wrstats.Value{found(5), {}}, get(t, store, "good", "a b"))
		require.Equal(t, int64(2), store.Stats().Refused)

		stats := newStats(t, store, wrstats.Metric{Name: "count"})
		write(t, stats, "count", map[wrstats.Entity]float64{wrstats.Local("good"): 5, wrstats.Local("a b"): 7})
		require.Equal(t, 5.0, total(t, stats, "count", wrstats.Local("good")))
		require.Equal(t, 7.0, total(t, stats, "count", wrstats.Local("a b")))
	})
}

func TestHugeCallsEnd(t *testing.T) {
	t.Parallel()
	for _, protocol := range spoken {
		t.Run(protocolNames[protocol], func(t *testing.T) {
			t.Parallel()
			store := open(t, memcached.Config{Servers: []string{servertest.Memcached(t, memory...).Addr}, Protocol: protocol})
			all := make([]string, 100_000)
			for i := range all {
				all[i] = longKey(i)
			}
			batch := make([]wrstats.Increment, 400_000)
			for i := range batch {
				batch[i] = one(all[i%len(all)], 1)
			}
			count(t, store, batch...)
			for i, v := range get(t, store, all...) {
				require.Equal(t, found(4), v, "%d", i)
			}
			require.NoError(t, store.Delete(within(t, patience), all))
			require.Equal(t, make([]wrstats.Value, len(all)), get(t, store, all...))
		})
	}
}

func TestSelectorOfTheCallers(t *testing.T) {
	addrs := three(t)
	list := new(memcache.ServerList)
	require.NoError(t, list.SetServers(addrs...))
	store := open(t, memcached.Config{Selector: list})
	all := keys(100)
	for _, key := range all {
		count(t, store, one(key, 2))
	}
	items, err := memcache.NewFromSelector(list).GetMulti(all)
	require.NoError(t, err)
	require.Len(t, items, len(all), "keys land where a gomemcache user's do")
	require.Len(t, store.Stats().Servers, 3)

	require.NoError(t, list.SetServers())
	_, err = store.Incr(within(t, patience), []wrstats.Increment{one("a", 1)})
	require.ErrorIs(t, err, memcache.ErrNoServers)
	_, err = store.Get(within(t, patience), []string{"a"})
	require.ErrorIs(t, err, memcache.ErrNoServers)
}
