package memcached_test

import (
	"crypto/tls"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
)

func TestParseURL(t *testing.T) {
	for _, c := range []struct {
		rule, url string
		want      memcached.Config
	}{
		{"hosts", "memcached://a:11211,b:11212", memcached.Config{Servers: []string{"a:11211", "b:11212"}}},
		{"a slash behind them", "memcached://a:11211,b/", memcached.Config{Servers: []string{"a:11211", "b"}}},
		{"IPv6", "memcached://[::1]:11212,[fe80::1]", memcached.Config{Servers: []string{"[::1]:11212", "[fe80::1]"}}},
		{"sockets", "memcached:///run/a.sock,/run/b.sock?conns=2", memcached.Config{
			Servers: []string{"/run/a.sock", "/run/b.sock"}, MaxReadConns: 2,
		}},
		{"a login", "memcached://me:pa%40s%2Fs@a", memcached.Config{Servers: []string{"a"}, Username: "me", Password: "pa@s/s"}},
		{"a login for a socket", "memcached://me:pass@/run/a.sock", memcached.Config{
			Servers: []string{"/run/a.sock"}, Username: "me", Password: "pass",
		}},
		{"TLS", "memcacheds://a", memcached.Config{Servers: []string{"a"}, TLS: new(tls.Config)}},
		{"all parameters", "memcached://a,b/?timeout=1s&protocol=meta&route=/codfw/mw-stats/&hash=ketama&conns=3", memcached.Config{
			Selector: memcached.Ketama("a", "b"), Timeout: time.Second, Protocol: memcached.Meta,
			RoutePrefix: "/codfw/mw-stats/", MaxReadConns: 3,
		}},
		{"the default hash", "memcached://b,a?hash=crc32", memcached.Config{Selector: memcached.CRC32("a", "b")}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got, err := memcached.ParseURL(c.url)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			store, err := memcached.Open(c.url)
			require.NoError(t, err)
			require.NoError(t, store.Close())
		})
	}
}

func TestParseURLNamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ rule, url, name string }{
		{"another scheme", "redis://me:s3cret@a", "scheme"},
		{"no scheme", "a:11211", "scheme"},
		{"no servers", "memcached://me:s3cret@", "servers"},
		{"no servers but a slash", "memcached:///", "servers"},
		{"an empty server", "memcached://me:s3cret@a,,b", "server number 2"},
		{"a port too high", "memcached://me:s3cret@a:1,b:65536", "server number 2: port"},
		{"a port that is none", "memcached://me:s3cret@a:x", "port"},
		{"a path behind hosts", "memcached://me:s3cret@a/b", "path"},
		{"an unknown parameter", "memcached://me:s3cret@a?retries=1", `"retries"`},
		{"a parameter twice", "memcached://me:s3cret@a?conns=1&conns=2", `"conns"`},
		{"a timeout without a unit", "memcached://me:s3cret@a?timeout=250", `"timeout"`},
		{"a timeout of nothing", "memcached://me:s3cret@a?timeout=0s", `"timeout"`},
		{"no such protocol", "memcached://me:s3cret@a?protocol=binary", `"protocol"`},
		{"no such hash", "memcached://me:s3cret@a?hash=md5", `"hash"`},
		{"a route without its slash", "memcached://me:s3cret@a?route=/codfw/mw", `"route"`},
		{"no connections", "memcached://me:s3cret@a?conns=0", `"conns"`},
		{"a bad escape in the password", "memcached://me:s3cret%zz@a", "password"},
		{"a question mark in the password", "memcached://me:x?s3cret@a", "@"},
		{"a hash in the password", "memcached://me:x#s3cret@a", "#"},
		{"a password alone", "memcached://:s3cret@a", "Username"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := memcached.Open(c.url)
			require.ErrorContains(t, err, c.name)
			require.NotContains(t, err.Error(), "s3cret")
		})
	}
}
