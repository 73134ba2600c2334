package promstats_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/backends/redis"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/promstats"
)

func TestStoresOfAllBackendsFollowTheConventions(t *testing.T) {
	client := goredis.NewClient(&goredis.Options{Addr: miniredis.RunT(t).Addr()})
	t.Cleanup(func() { client.Close() })
	onRedis := redis.New(client, redis.Options{})
	onMemcached, err := memcached.New(memcached.Config{Servers: []string{"127.0.0.1:1", "127.0.0.1:2"}})
	require.NoError(t, err)
	for _, c := range []struct {
		backend string
		store   wrstats.Store
		series  int
	}{
		{"memory", memory.New(memory.Options{}), 1},
		{"redis", onRedis, 5 + 5},
		{"memcached, two servers", onMemcached, 1 + 2*(7+10)},
	} {
		t.Run(c.backend, func(t *testing.T) {
			registry := prometheus.NewPedanticRegistry()
			require.NoError(t, registry.Register(promstats.NewStore(c.store, prometheus.Labels{"pool": "a"})))
			require.NoError(t, registry.Register(promstats.NewStore(c.store, prometheus.Labels{"pool": "b"})))
			requireLinted(t, registry)
			for range 2 {
				n, err := testutil.GatherAndCount(registry)
				require.NoError(t, err)
				require.Equal(t, 2*c.series, n)
				require.NoError(t, c.store.Close())
			}
		})
	}
}

func TestCountersOfRedisAreShown(t *testing.T) {
	client := goredis.NewClient(&goredis.Options{Addr: miniredis.RunT(t).Addr()})
	t.Cleanup(func() { client.Close() })
	store := redis.New(client, redis.Options{})
	t.Cleanup(func() { store.Close() })
	_, err := store.Get(t.Context(), []string{"a", "b", "c"})
	require.NoError(t, err)
	require.NoError(t, testutil.CollectAndCompare(promstats.NewStore(store, prometheus.Labels{"pool": "a"}), strings.NewReader(`
# HELP wrstats_redis_errors_total Errors by kind: calls to a server, or increments and keys where it is theirs.
# TYPE wrstats_redis_errors_total counter
wrstats_redis_errors_total{kind="negative",pool="a"} 0
wrstats_redis_errors_total{kind="network",pool="a"} 0
wrstats_redis_errors_total{kind="not a number",pool="a"} 0
wrstats_redis_errors_total{kind="overflow",pool="a"} 0
wrstats_redis_errors_total{kind="refused",pool="a"} 0
# HELP wrstats_redis_read_keys_total Keys that were asked for.
# TYPE wrstats_redis_read_keys_total counter
wrstats_redis_read_keys_total{pool="a"} 3
`), "wrstats_redis_errors_total", "wrstats_redis_read_keys_total"))
}

// A strange store measures what it is told to.
type strange struct {
	wrstats.Store
	measures []wrstats.Measure
}

func (s strange) Measures() []wrstats.Measure { return s.measures }

func TestStoresOfOthers(t *testing.T) {
	hits := wrstats.Measure{Name: "x_hits", Help: "Hits.", Labels: []string{"zone"}}
	with := func(values ...wrstats.MeasuredValue) wrstats.Measure {
		m := hits
		m.Values = values
		return m
	}
	for _, c := range []struct {
		rule  string
		store wrstats.Store
		count int
		fails string
	}{
		{"one that tells nothing is shown as nothing", struct{ wrstats.Store }{memory.New(memory.Options{})}, 0, ""},
		{"a measure without values", strange{measures: []wrstats.Measure{hits}}, 0, ""},
		{"a value", strange{measures: []wrstats.Measure{with(wrstats.MeasuredValue{Labels: []string{"a"}, Value: 1})}}, 1, ""},
		{"a value without its label fails the scrape and nothing else", strange{measures: []wrstats.Measure{with(wrstats.MeasuredValue{Value: 1})}}, 0, "expected 1 label values"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			registry := prometheus.NewPedanticRegistry()
			require.NoError(t, registry.Register(promstats.NewStore(c.store, nil)))
			n, err := testutil.GatherAndCount(registry)
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.count, n)
		})
	}
}

func TestNoBackendComesWithThePackage(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, other := range []string{"go-wrstats/backends", "go-redis", "gomemcache"} {
		require.NotContains(t, string(out), other)
	}
	require.Contains(t, string(out), "prometheus/client_golang")
}

// requireLinted requires that Prometheus' own linter has nothing to say, and that all is well described.
func requireLinted(t *testing.T, gatherer prometheus.Gatherer) {
	t.Helper()
	problems, err := testutil.GatherAndLint(gatherer)
	require.NoError(t, err)
	require.Empty(t, problems)
}
