package redis_test

import (
	"net/url"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/redis"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
)

func TestOpenNamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ rule, url, want string }{
		{"no host", "redis://", "host: none"},
		{"an empty host of several", "redis+cluster://a:1,,b:2", "host: one is empty"},
		{"several hosts of one server", "redis://a:1,b:2", "host: several"},
		{"a port alone", "redis://:6379", "host: one is empty"},
		{"a host before a socket", "redis+unix://run/redis.sock", "host: a socket has none"},
		{"no name of a primary", "redis+sentinel://a:1", "path: no name"},
		{"a database of a Cluster", "redis+cluster://a:1/2", "path: a Cluster"},
		{"a database that is no number", "redis://a/s3cret", "database: not a number"},
		{"two databases", "redis://a/1/2", "path: more than a database"},
		{"a parameter that is none", "redis://a?read_timeut=1s", `parameter: "read_timeut" is none`},
		{"a parameter that is none, of a Cluster", "redis+cluster://a,b?db=1", `parameter: "db" is none`},
		{"a number that is none", "redis://a?pool_size=s3cret", `parameter: "pool_size": not a number`},
		{"connections without end", "redis://a?pool_size=99999999", `parameter: "pool_size": over 10000`},
		{"idle connections without end", "redis+cluster://a,b?pool_size=3&min_idle_conns=10001", `parameter: "min_idle_conns": over 10000`},
		{"a duration that is none", "redis+cluster://a?read_timeout=s3cret", `parameter: "read_timeout": not a duration`},
		{"a boolean that is none", "redis+sentinel://a/m?pool_fifo=s3cret", `parameter: "pool_fifo": not a boolean`},
		{"reads from replicas", "redis+sentinel://a/m?replica_only=true", "parameter: counters"},
		{"a fragment", "redis://a#s3cret", "fragment"},
		{"no slashes", "redis:s3cret", "no //"},
		{"a password with a slash", "redis://u:12/s3cret@a:6379", "user or password"},
		{"a password with a question mark", "redis://u:12?s3cret@a:6379", "user or password"},
		{"a password with a hash", "redis://u:12#s3cret@a:6379", "user or password"},
		{"parameters that can't be parsed", "redis://a?s3cret=%zz", "parameters"},
		{"another scheme", "s3cret://a", "unknown scheme"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			u, err := url.Parse(c.url)
			require.NoError(t, err)
			_, err = redis.Open(t.Context(), u)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "s3cret")
		})
	}
}

func TestOpenFindsTheServers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule  string
		serve func(testing.TB) string
	}{
		{"user, password and database", func(t testing.TB) string {
			server := servertest.Redis(t)
			server.Redis("ACL", "SETUSER", "me", "on", ">p@ss/:word", "~*", "+@all")
			return "redis://me:p%40ss%2F%3Aword@" + server.Addr + "/2?read_timeout=10s&pool_size=3"
		}},
		{"socket", func(t testing.TB) string { return "redis+unix://" + servertest.RedisUnix(t).Addr + "?db=1" }},
		{"Cluster", func(t testing.TB) string {
			servers := servertest.RedisCluster(t, 3)
			dead := servertest.Redis(t)
			dead.Kill()
			return "redis+cluster://" + dead.Addr + "," + servers[1].Addr + "," + servers[2].Addr + "?dialer_retries=1"
		}},
		{"Sentinels", func(t testing.TB) string {
			_, _, watchers := servertest.RedisSentinels(t, "my-counters", 1)
			return "redis+sentinel://" + watchers[0].Addr + "/my-counters/3"
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			u, err := url.Parse(c.serve(t))
			require.NoError(t, err)
			store, err := redis.Open(t.Context(), u)
			require.NoError(t, err)
			count(t, store, one("a", 1), one("b", 2))
			require.Equal(t, []wrstats.Value{found(1), found(2)}, get(t, store, "a", "b"))
			require.NoError(t, store.Close())
			require.NoError(t, store.Close())
		})
	}
}

func TestCloseClosesTheClientOfOpen(t *testing.T) {
	server := servertest.Redis(t)
	u, err := url.Parse("redis://" + server.Addr)
	require.NoError(t, err)
	store, err := redis.Open(t.Context(), u)
	require.NoError(t, err)
	count(t, store, one("a", 1))
	server.Until("connected_clients:2", "INFO", "clients") // with the one that asks
	require.NoError(t, store.Close())
	require.Contains(t, server.Redis("INFO", "clients"), "connected_clients:1\r")
	runtime.KeepAlive(store) // what is collected is closed, too
}
