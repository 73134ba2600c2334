package memcached_test

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/backends/storetest"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
)

// memory is enough for what the suite writes.
var memory = []string{"-m", "256"}

var (
	auto, text, meta = memcached.Auto, memcached.Text, memcached.Meta
	protocolNames    = map[memcached.Protocol]string{auto: "auto", text: "text", meta: "meta"}
	spoken           = []memcached.Protocol{text, meta} // auto is one of them when it has asked
)

// A kind is a kind of server, and the protocols to talk to it.
type kind struct {
	name      string
	protocols []memcached.Protocol
	serve     func(t testing.TB) memcached.Config
}

func TestConformance(t *testing.T) {
	conform(t, []kind{
		{"tcp", []memcached.Protocol{auto, text, meta}, serveTCP},
		{"unix", []memcached.Protocol{text, meta}, serveUnix},
		{"tls", []memcached.Protocol{text, meta}, serveTLS},
		{"login", []memcached.Protocol{text, meta}, serveLogin},
		{"three", []memcached.Protocol{text, meta}, serveThree},
		{"ketama", []memcached.Protocol{auto}, serveKetama},
		{"twemproxy", []memcached.Protocol{auto, text}, serveTwemproxy},
	})
}

func TestConformanceWithoutAServer(t *testing.T) {
	conform(t, []kind{{"fake", []memcached.Protocol{auto, text, meta}, serveFake}})
}

// conform runs the rules of storetest on all kinds.
func conform(t *testing.T, kinds []kind) {
	t.Parallel()
	suites := make(map[string]storetest.Suite)
	for _, k := range kinds {
		config := k.serve(t)
		config.Timeout = patience
		for _, protocol := range k.protocols {
			config.Protocol = protocol
			suites[k.name+"/"+protocolNames[protocol]] = suite(config)
		}
	}
	storetest.RunAll(t, suites)
}

func suite(config memcached.Config) storetest.Suite {
	return storetest.Suite{Open: func(t testing.TB) wrstats.Store { return open(t, config) }}
}

func serveFake(t testing.TB) memcached.Config {
	return memcached.Config{Servers: []string{newFake(t, nil).addr}}
}

func serveTCP(t testing.TB) memcached.Config {
	return memcached.Config{Servers: []string{servertest.Memcached(t, memory...).Addr}}
}

func serveUnix(t testing.TB) memcached.Config {
	return memcached.Config{Servers: []string{servertest.MemcachedUnix(t, memory...).Addr}}
}

func serveThree(t testing.TB) memcached.Config { return memcached.Config{Servers: three(t)} }

func serveKetama(t testing.TB) memcached.Config {
	return memcached.Config{Selector: memcached.Ketama(three(t)...)}
}

func serveTwemproxy(t testing.TB) memcached.Config {
	return memcached.Config{Servers: []string{servertest.Twemproxy(t, three(t)...).Addr}}
}

func three(t testing.TB) []string {
	servers := make([]string, 3)
	for i := range servers {
		servers[i] = servertest.Memcached(t, memory...).Addr
	}
	return servers
}

func serveTLS(t testing.TB) memcached.Config {
	chain, key, pool := certificate(t)
	server := servertest.Memcached(t, append(memory, "-Z", "-o", "ssl_chain_cert="+chain+",ssl_key="+key)...)
	return memcached.Config{Servers: []string{server.Addr}, TLS: &tls.Config{RootCAs: pool}}
}

func serveLogin(t testing.TB) memcached.Config {
	file := filepath.Join(servertest.Dir(t), "logins")
	require.NoError(t, os.WriteFile(file, []byte("other:one\nwriter:s3cret\n"), 0o644))
	server := servertest.Memcached(t, append(memory, "-Y", file)...)
	return memcached.Config{Servers: []string{server.Addr}, Username: "writer", Password: "s3cret"}
}
