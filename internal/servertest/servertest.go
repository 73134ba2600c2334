// Package servertest runs real servers for the time of a test: memcached, Redis and twemproxy. It also finds a browser.
//
// A test whose server is not installed is skipped, and says so. With WRSTATS_REQUIRE_SERVERS=1 in the
// environment it fails instead, so that a build that means to test against servers can't pass without.
package servertest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// RequireEnv names the environment variable that turns a missing server into a failure when it is 1.
const RequireEnv = "WRSTATS_REQUIRE_SERVERS"

// Binary returns the path of a server's program, or skips the test.
func Binary(t testing.TB, name string) string {
	t.Helper()
	path, err := lookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv(RequireEnv) == "1" {
		t.Fatalf("servertest: %s is not installed, and %s=1", name, RequireEnv)
	}
	t.Skipf("servertest: %s is not installed: %v", name, err)
	return ""
}

// lookPath also looks where distributions put daemons, which is not in every user's PATH.
func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/usr/local/bin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", err
}

// Memcached starts a memcached on a free port of 127.0.0.1, with these arguments besides.
func Memcached(t testing.TB, args ...string) *Server {
	t.Helper()
	path := Binary(t, "memcached")
	return start(t, func() *Server {
		port := freePort(t)
		return &Server{
			Network: "tcp",
			Addr:    net.JoinHostPort("127.0.0.1", port),
			path:    path,
			args:    append([]string{"-l", "127.0.0.1", "-p", port, "-U", "0"}, memcachedArgs(args)...),
		}
	})
}

// MemcachedUnix starts a memcached on a unix socket, with these arguments besides.
func MemcachedUnix(t testing.TB, args ...string) *Server {
	t.Helper()
	path := Binary(t, "memcached")
	socket := filepath.Join(Dir(t), "memcached.sock")
	return start(t, func() *Server {
		return &Server{
			Network: "unix",
			Addr:    socket,
			path:    path,
			args:    append([]string{"-s", socket}, memcachedArgs(args)...),
		}
	})
}

// memcachedArgs adds what memcached insists on when root starts it.
func memcachedArgs(args []string) []string {
	if os.Getuid() != 0 {
		return args
	}
	return append([]string{"-u", "nobody"}, args...)
}

// Redis starts a redis-server on a free port of 127.0.0.1 that keeps nothing on disk and lets a replica
// follow at once, with these arguments besides. Its working directory is its own.
func Redis(t testing.TB, args ...string) *Server {
	t.Helper()
	return redis(t, func() []string { return args })
}

// redis starts a redis-server with the arguments that each try to start it is given.
func redis(t testing.TB, args func() []string) *Server {
	t.Helper()
	path := Binary(t, "redis-server")
	dir := Dir(t)
	return start(t, func() *Server {
		port := freePort(t)
		own := []string{"--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", dir}
		own = append(own, "--repl-diskless-sync-delay", "0")
		return &Server{
			Network: "tcp",
			Addr:    net.JoinHostPort("127.0.0.1", port),
			path:    path,
			args:    append(own, args()...),
		}
	})
}

// Twemproxy starts a nutcracker on a free port of 127.0.0.1 in front of these memcached servers, which
// it spreads keys over.
func Twemproxy(t testing.TB, servers ...string) *Server {
	t.Helper()
	path := Binary(t, "nutcracker")
	dir := Dir(t)
	return start(t, func() *Server {
		addr := net.JoinHostPort("127.0.0.1", freePort(t))
		conf := filepath.Join(dir, "nutcracker.yml")
		if err := os.WriteFile(conf, twemproxyConfig(addr, servers), 0o644); err != nil {
			t.Fatalf("servertest: %v", err)
		}
		return &Server{
			Network: "tcp",
			Addr:    addr,
			path:    path,
			args:    []string{"-c", conf, "-a", "127.0.0.1", "-s", freePort(t)},
		}
	})
}

func twemproxyConfig(listen string, servers []string) []byte {
	conf := fmt.Appendf(nil, "pool:\n  listen: %s\n  hash: fnv1a_64\n  distribution: ketama\n", listen)
	conf = append(conf, "  auto_eject_hosts: false\n  timeout: 10000\n  servers:\n"...)
	for _, server := range servers {
		conf = fmt.Appendf(conf, "   - %s:1\n", server)
	}
	return conf
}

// Dir returns a new directory that goes away with the test, short enough for a unix socket in it, and
// open to the user that a server runs as.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "wr")
	if err != nil {
		t.Fatalf("servertest: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatalf("servertest: %v", err)
	}
	return dir
}

// freePort returns a port that nobody has. It is below those that kernels give to outgoing connections, of
// which one could have it else when a server is to come back at its address.
func freePort(t testing.TB) string {
	t.Helper()
	var err error
	for range 100 {
		port := strconv.Itoa(10000 + rand.N(22000))
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatalf("servertest: %v", err)
	return ""
}
