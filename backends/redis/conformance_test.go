package redis_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"

	"github.com/wrstats/go-wrstats/backends/redis"
	"github.com/wrstats/go-wrstats/backends/storetest"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
)

func TestConformanceOfMiniredis(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	scanAtEnd(t, dial(t, goredis.Options{Addr: server.Addr()}))
	suite := storetest.Suite{
		Open: func(t testing.TB) wrstats.Store {
			return open(t, dial(t, goredis.Options{Addr: server.Addr()}), redis.Options{})
		},
		Sleep: server.FastForward,
	}
	for _, rule := range storetest.Rules() {
		if rule.Name == "large-deltas" && strconv.IntSize == 32 {
			continue // miniredis counts in an int
		}
		if rule.Name == "400000-increments" {
			continue // miniredis's Lua takes 10 s for them, or a minute on a busy machine; TestConformance has them
		}
		t.Run(rule.Name, func(t *testing.T) { rule.Check(t, suite) })
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	cluster := serveCluster(t)
	suites := make(map[string]storetest.Suite)
	for name, client := range map[string]serving{
		"tcp":              serveTCP(t),
		"tcp RESP2":        serveRESP2(t),
		"unix":             serveUnix(t),
		"password":         servePassword(t),
		"user of a prefix": serveUser(t),
		"ring":             serveRing(t),
		"cluster":          cluster,
		"another client":   other(cluster),
		"sentinels":        serveSentinels(t),
	} {
		suites[name] = storetest.Suite{Open: func(t testing.TB) wrstats.Store { return open(t, client(t), redis.Options{}) }}
	}
	storetest.RunAll(t, suites)
}

// A serving makes clients of servers that end with the test.
type serving = func(testing.TB) goredis.UniversalClient

func serveTCP(t testing.TB) serving {
	return serve(t, goredis.Options{Addr: servertest.Redis(t).Addr})
}

func serveRESP2(t testing.TB) serving {
	return serve(t, goredis.Options{Addr: servertest.Redis(t).Addr, Protocol: 2})
}

func serveUnix(t testing.TB) serving {
	return serve(t, goredis.Options{Network: "unix", Addr: servertest.RedisUnix(t).Addr})
}

func servePassword(t testing.TB) serving {
	return serve(t, goredis.Options{Addr: servertest.Redis(t, "--requirepass", "s3cret").Addr, Password: "s3cret", DB: 3})
}

// serveUser's user may touch no keys but those of the suite, and use no commands but those that the package
// says.
func serveUser(t testing.TB) serving {
	server := servertest.Redis(t)
	rule := "ACL SETUSER writer on >s3cret ~*toretest:* +eval +evalsha +exists +set +incrby +get +mget +unlink"
	server.Redis(strings.Fields(rule)...)
	scanAtEnd(t, dial(t, goredis.Options{Addr: server.Addr}))
	return func(t testing.TB) goredis.UniversalClient {
		return dial(t, goredis.Options{Addr: server.Addr, Username: "writer", Password: "s3cret"})
	}
}

func serve(t testing.TB, options goredis.Options) serving {
	scanAtEnd(t, dial(t, options))
	return func(t testing.TB) goredis.UniversalClient { return dial(t, options) }
}

func serveRing(t testing.TB) serving {
	servers := []*servertest.Server{servertest.Redis(t), servertest.Redis(t), servertest.Redis(t)}
	scanAtEnd(t, clients(t, servers)...)
	return func(t testing.TB) goredis.UniversalClient { return ringClient(t, servers) }
}

func serveCluster(t testing.TB) serving {
	servers := servertest.RedisCluster(t, 3)
	scanAtEnd(t, clients(t, servers)...)
	return func(t testing.TB) goredis.UniversalClient { return clusterClient(t, servers) }
}

// other's client is none of go-redis's own, so nothing is known of it.
func other(client serving) serving {
	return func(t testing.TB) goredis.UniversalClient { return struct{ goredis.UniversalClient }{client(t)} }
}

func serveSentinels(t testing.TB) serving {
	primary, replica, watchers := servertest.RedisSentinels(t, "counters", 1)
	scanAtEnd(t, clients(t, []*servertest.Server{primary, replica})...)
	return func(t testing.TB) goredis.UniversalClient { return failoverClient(t, "counters", watchers) }
}
