package faults_test

import (
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/backends/redis"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
)

// timeout is what stores give a server, where a scenario does not say otherwise.
const timeout = 300 * time.Millisecond

// A kind is what speaks for the servers of a backend.
type kind int

const (
	memcacheds kind = iota
	proxied         // memcached behind twemproxy
	redises
	redisCluster
)

// A backend is a way in which counters are kept on servers.
type backend struct {
	name     string
	kind     kind
	protocol memcached.Protocol
}

var backends = []backend{
	{"memcached text", memcacheds, memcached.Text},
	{"memcached meta", memcacheds, memcached.Meta},
	{"memcached by twemproxy", proxied, memcached.Auto},
	{"Redis", redises, 0},
	{"Redis Cluster", redisCluster, 0},
}

// A site is a backend whose servers run.
type site struct {
	backend
	servers []*servertest.Server // that keep counters
	front   *servertest.Server   // twemproxy
}

// start starts servers, with these arguments each. A Redis Cluster has three at least.
func (b backend) start(t testing.TB, servers int, args ...string) *site {
	s := &site{backend: b}
	switch b.kind {
	case redisCluster:
		s.servers = servertest.RedisCluster(t, max(servers, 3), append([]string{"--cluster-require-full-coverage", "no"}, args...)...)
		return s
	case redises:
		for range servers {
			s.servers = append(s.servers, servertest.Redis(t, args...))
		}
		return s
	}
	for range servers {
		s.servers = append(s.servers, servertest.Memcached(t, append([]string{"-t", "2"}, args...)...))
	}
	if b.kind == proxied {
		s.front = servertest.Twemproxy(t, s.addrs()...)
	}
	return s
}

func (s *site) addrs() (addrs []string) {
	for _, server := range s.servers {
		addrs = append(addrs, server.Addr)
	}
	return addrs
}

// entrances are the addresses that clients dial.
func (s *site) entrances() []string {
	if s.front != nil {
		return []string{s.front.Addr}
	}
	return s.addrs()
}

func (b backend) speaksRedis() bool { return b.kind == redises || b.kind == redisCluster }

// open opens a store that reaches the servers by a network. What closes it closes all that it had.
func (s *site) open(t testing.TB, n *network, timeout time.Duration) (store wrstats.Store, closeAll func() error) {
	t.Helper()
	if !s.speaksRedis() {
		store, err := memcached.New(memcached.Config{
			Selector: memcached.Ketama(s.entrances()...), DialContext: n.dial, Timeout: timeout, Protocol: s.protocol,
		})
		require.NoError(t, err)
		return store, store.Close
	}
	client := s.client(n, timeout)
	own := redis.New(client, redis.Options{})
	return own, func() error {
		if err := own.Close(); err != nil {
			return err
		}
		return client.Close()
	}
}

// client is go-redis as it comes, but for the time-outs.
func (s *site) client(n *network, timeout time.Duration) goredis.UniversalClient {
	switch {
	case s.kind == redisCluster:
		return goredis.NewClusterClient(&goredis.ClusterOptions{
			Addrs: s.addrs(), Dialer: n.dial, DialTimeout: timeout, ReadTimeout: timeout, WriteTimeout: timeout,
		})
	case len(s.servers) > 1:
		shards := make(map[string]string)
		for i, addr := range s.addrs() {
			shards[string(rune('a'+i))] = addr
		}
		// A Ring moves the keys of a shard that is down to others, unless it does not look.
		return goredis.NewRing(&goredis.RingOptions{
			Addrs: shards, Dialer: n.dial, DialTimeout: timeout, ReadTimeout: timeout, WriteTimeout: timeout,
			HeartbeatFrequency: 24 * time.Hour,
		})
	}
	return goredis.NewClient(&goredis.Options{
		Addr: s.servers[0].Addr, Dialer: n.dial, DialTimeout: timeout, ReadTimeout: timeout, WriteTimeout: timeout,
	})
}
