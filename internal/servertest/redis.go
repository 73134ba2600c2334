package servertest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	redisSlots  = 16384
	redisWait   = 30 * time.Second // for servers to agree
	redisMoment = 50 * time.Millisecond
)

// RedisUnix starts a redis-server on a unix socket, with these arguments besides.
func RedisUnix(t testing.TB, args ...string) *Server {
	t.Helper()
	path := Binary(t, "redis-server")
	dir := Dir(t)
	socket := filepath.Join(dir, "redis.sock")
	own := []string{"--port", "0", "--unixsocket", socket, "--unixsocketperm", "777", "--save", "", "--appendonly", "no", "--dir", dir}
	return start(t, func() *Server {
		return &Server{Network: "unix", Addr: socket, path: path, args: append(own, args...)}
	})
}

// RedisCluster starts primaries that share the slots of a Cluster between them, and waits until it takes
// commands. Each gets these arguments besides.
func RedisCluster(t testing.TB, primaries int, args ...string) []*Server {
	t.Helper()
	servers := make([]*Server, primaries)
	for i := range servers {
		servers[i] = redisNode(t, args)
		first, last := redisSlots*i/primaries, redisSlots*(i+1)/primaries-1
		servers[i].Redis("CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(first), strconv.Itoa(last))
		if i > 0 {
			servers[i].meet(servers[0])
		}
	}
	for _, s := range servers {
		// Without full coverage the state may be ok before a node knows who has all slots.
		s.agree("cluster_state:ok", fmt.Sprintf("cluster_slots_ok:%d", redisSlots), fmt.Sprintf("cluster_known_nodes:%d", primaries))
	}
	return servers
}

// RedisReplica adds a replica to a primary of a Cluster of so many nodes, and waits until it follows.
func RedisReplica(t testing.TB, primary *Server, nodes int, args ...string) *Server {
	t.Helper()
	s := redisNode(t, args)
	s.meet(primary)
	s.agree("cluster_state:ok", fmt.Sprintf("cluster_known_nodes:%d", nodes+1))
	s.Redis("CLUSTER", "REPLICATE", primary.Redis("CLUSTER", "MYID"))
	s.Until("master_link_status:up", "INFO", "replication")
	return s
}

// redisNode starts a node of a Cluster that has no slots. Its bus is on a port that the kernel chose, too.
func redisNode(t testing.TB, args []string) *Server {
	return redis(t, func() []string {
		own := []string{"--cluster-enabled", "yes", "--cluster-port", freePort(t), "--cluster-node-timeout", "2000"}
		return append(own, args...)
	})
}

func (s *Server) meet(other *Server) {
	host, port, _ := net.SplitHostPort(other.Addr)
	s.Redis("CLUSTER", "MEET", host, port, other.argument("--cluster-port"))
}

func (s *Server) argument(name string) string {
	for i, arg := range s.args {
		if arg == name {
			return s.args[i+1]
		}
	}
	return ""
}

func (s *Server) agree(lines ...string) {
	for _, line := range lines {
		s.Until(line, "CLUSTER", "INFO")
	}
}

// RedisSentinels starts a primary with a replica, both with these arguments besides, and Sentinels that
// watch them under this name. They take a primary for dead after a second.
func RedisSentinels(t testing.TB, name string, sentinels int, args ...string) (primary, replica *Server, watchers []*Server) {
	t.Helper()
	primary = Redis(t, args...)
	host, port, _ := net.SplitHostPort(primary.Addr)
	replica = Redis(t, append([]string{"--replicaof", host + " " + port}, args...)...)
	replica.Until("master_link_status:up", "INFO", "replication")
	for range sentinels {
		watchers = append(watchers, sentinel(t, name, host, port, sentinels/2+1))
	}
	for _, w := range watchers {
		w.Until("num-other-sentinels\n"+strconv.Itoa(sentinels-1), "SENTINEL", "MASTER", name)
		w.Until("num-slaves\n1", "SENTINEL", "MASTER", name)
	}
	return primary, replica, watchers
}

func sentinel(t testing.TB, name, host, port string, quorum int) *Server {
	path := Binary(t, "redis-server")
	dir := Dir(t)
	return start(t, func() *Server {
		own := freePort(t)
		config := fmt.Sprintf("bind 127.0.0.1\nport %s\ndir %s\nsentinel monitor %s %s %s %d\n", own, dir, name, host, port, quorum)
		config += fmt.Sprintf("sentinel down-after-milliseconds %s 1000\nsentinel failover-timeout %s 5000\n", name, name)
		file := filepath.Join(dir, "sentinel.conf")
		if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
			t.Fatalf("servertest: %v", err)
		}
		return &Server{Network: "tcp", Addr: net.JoinHostPort("127.0.0.1", own), path: path, args: []string{file, "--sentinel"}}
	})
}

// Redis runs a command by redis-cli and returns what it prints, or ends the test.
func (s *Server) Redis(args ...string) string {
	s.t.Helper()
	out, err := s.redis(args)
	if err != nil || strings.HasPrefix(out, "ERR") {
		s.t.Fatalf("servertest: redis-cli %q: %v: %s", args, err, out)
	}
	return out
}

// Until runs a command until what it prints contains a text.
func (s *Server) Until(text string, args ...string) {
	s.t.Helper()
	var out string
	for deadline := time.Now().Add(redisWait); time.Now().Before(deadline); time.Sleep(redisMoment) {
		if out, _ = s.redis(args); strings.Contains(strings.ReplaceAll(out, "\r", ""), text) {
			return
		}
	}
	s.t.Fatalf("servertest: redis-cli %q does not come to %q: %s", args, text, out)
}

func (s *Server) redis(args []string) (string, error) {
	host, port, _ := net.SplitHostPort(s.Addr)
	at := []string{"-h", host, "-p", port}
	if s.Network == "unix" {
		at = []string{"-s", s.Addr}
	}
	out, err := exec.Command(Binary(s.t, "redis-cli"), append(at, args...)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}
