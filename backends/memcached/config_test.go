package memcached_test

import (
	"strings"
	"testing"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
)

func TestNewNamesTheFieldThatIsWrong(t *testing.T) {
	one := []string{"a"}
	for _, c := range []struct {
		rule, field string
		config      memcached.Config
	}{
		{"no servers", "Servers", memcached.Config{}},
		{"an empty server", "Servers", memcached.Config{Servers: []string{"a", ""}}},
		{"a server with a space", "Servers", memcached.Config{Servers: []string{"a b"}}},
		{"a port that is none", "Servers", memcached.Config{Servers: []string{"a:memcache"}}},
		{"port 0", "Servers", memcached.Config{Servers: []string{"a:0"}}},
		{"a selector and servers", "Selector", memcached.Config{Servers: one, Selector: new(memcache.ServerList)}},
		{"a ketama of nobody", "Selector", memcached.Config{Selector: memcached.Ketama()}},
		{"a ketama of a wrong server", "Selector", memcached.Config{Selector: memcached.Ketama("a", "b:c")}},
		{"a user without a password", "Password", memcached.Config{Servers: one, Username: "me"}},
		{"a password without a user", "Username", memcached.Config{Servers: one, Password: "s3cret"}},
		{"a space in the password", "Password", memcached.Config{Servers: one, Username: "me", Password: "s3 cret"}},
		{"a line's end in the user", "Username", memcached.Config{Servers: one, Username: "me\r\nflush_all", Password: "s3cret"}},
		{"a route without slashes", "RoutePrefix", memcached.Config{Servers: one, RoutePrefix: "codfw"}},
		{"a route with a space", "RoutePrefix", memcached.Config{Servers: one, RoutePrefix: "/a b/"}},
		{"a route that leaves no room", "RoutePrefix", memcached.Config{Servers: one, RoutePrefix: "/" + strings.Repeat("a", 248) + "/"}},
		{"a negative timeout", "Timeout", memcached.Config{Servers: one, Timeout: -1}},
		{"no such protocol", "Protocol", memcached.Config{Servers: one, Protocol: 3}},
		{"negative connections", "MaxReadConns", memcached.Config{Servers: one, MaxReadConns: -1}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := memcached.New(c.config)
			require.ErrorContains(t, err, "Config."+c.field+":")
			require.NotContains(t, err.Error(), "s3")
		})
	}
}
