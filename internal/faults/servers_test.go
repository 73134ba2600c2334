package faults_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/internal/servertest"
)

func TestServers(t *testing.T) { runAll(t, serverScenarios(), false) }

// serverScenarios are what happens to the servers themselves.
func serverScenarios() []scenario {
	return []scenario{
		{
			name:    "a server is killed and restarted",
			inject:  func(r *run) { r.site.servers[0].Kill() },
			heal:    func(r *run) { r.before = r.ledger.total(); r.site.servers[0].Restart() },
			hold:    time.Second,
			forgets: true,
		},
		{
			name:   "a server is stopped, and continued",
			inject: func(r *run) { r.site.servers[0].Stop() },
			heal:   func(r *run) { r.site.servers[0].Continue() },
			hold:   choose(2*time.Second, 10*time.Second),
		},
		{
			name:    "one of three servers is gone for good",
			inject:  func(r *run) { r.orphan(r.site.servers[1]); r.site.servers[1].Kill() },
			hold:    time.Second,
			servers: 3,
		},
		{
			name:    "the proxy is killed and restarted",
			inject:  func(r *run) { r.site.front.Kill() },
			heal:    func(r *run) { r.site.front.Restart() },
			hold:    time.Second,
			servers: 3,
			on:      func(b backend) bool { return b.kind == proxied },
		},
		{
			name:   "a server has reached its limit of connections",
			inject: func(r *run) { r.crowd() },
			heal:   func(r *run) { r.leave() },
			hold:   time.Second,
			args: map[kind][]string{
				memcacheds: {"-c", "24"}, proxied: {"-c", "24"}, redises: {"--maxclients", "24"}, redisCluster: {"--maxclients", "24"},
			},
		},
		{
			name:    "everything is flushed in mid-run",
			inject:  func(r *run) { r.flushAll() },
			heal:    func(*run) {},
			forgets: true,
		},
		{
			name:    "a server moves to another address",
			inject:  func(r *run) { r.move() },
			heal:    func(r *run) { r.moved() },
			forgets: true, // what is read, though not always what is stored
		},
	}
}

// move has the address of the first server lead to another one: a proxy of the same servers, or a server that
// has nothing. In a Cluster a replica at another address takes over.
func (r *run) move() {
	first := r.site.servers[0]
	switch r.site.kind {
	case proxied:
		r.network.move(r.site.front.Addr, servertest.Twemproxy(r, r.site.addrs()...).Addr)
	case redisCluster:
		r.extra = append(r.extra, servertest.RedisReplica(r, first, len(r.site.servers)))
		r.dead = append(r.dead, first)
		first.Kill()
	case redises:
		r.extra = append(r.extra, servertest.Redis(r))
		r.network.move(first.Addr, r.extra[0].Addr)
	default:
		r.extra = append(r.extra, servertest.Memcached(r, "-t", "2"))
		r.network.move(first.Addr, r.extra[0].Addr)
	}
}

// moved waits for a replica that takes over. What it has not heard of is forgotten.
func (r *run) moved() {
	if r.site.kind == redisCluster {
		r.extra[0].Until("role:master", "INFO", "replication")
		r.before = r.ledger.total()
	}
}

// flushAll removes everything from all servers.
func (r *run) flushAll() {
	for _, server := range r.site.servers {
		if r.site.speaksRedis() {
			server.Redis("FLUSHALL")
			continue
		}
		conn, err := net.Dial("tcp", server.Addr)
		require.NoError(r, err)
		defer conn.Close()
		fmt.Fprint(conn, "flush_all\r\n")
		reply := make([]byte, 4)
		_, err = conn.Read(reply)
		require.NoError(r, err)
		require.Equal(r, "OK\r\n", string(reply))
	}
	r.before = r.ledger.total()
}

// crowd takes all connections that the first server has to give, while the services are kept away.
func (r *run) crowd() {
	hello := "version\r\n"
	if r.site.speaksRedis() {
		hello = "PING\r\n"
	}
	r.network.set(fault{refuses: true})
	r.network.reset()
	if r.site.front != nil {
		r.site.front.Kill() // which has connections, too
		defer r.site.front.Restart()
	}
	r.until("the server takes no more connections", func() bool {
		conn, err := net.Dial("tcp", r.site.servers[0].Addr)
		if err != nil {
			return true
		}
		reply := make([]byte, 64)
		_ = conn.SetDeadline(time.Now().Add(patience))
		fmt.Fprint(conn, hello)
		n, err := conn.Read(reply)
		if err != nil || strings.Contains(string(reply[:n]), "ERR") {
			conn.Close()
			return true
		}
		r.hogs = append(r.hogs, conn)
		return false
	})
	r.network.set(fault{})
}

// leave gives them back.
func (r *run) leave() {
	for _, conn := range r.hogs {
		conn.Close()
	}
}
