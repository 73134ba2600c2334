package backends_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends"
	"github.com/wrstats/go-wrstats/wrstats"
)

func TestOpen(t *testing.T) {
	for _, url := range []string{"memory:", "memory://", "MEMORY:"} {
		t.Run(url, func(t *testing.T) {
			store, err := backends.Open(t.Context(), url)
			require.NoError(t, err)
			_, err = store.Incr(t.Context(), []wrstats.Increment{{Key: "a", Delta: 5, TTL: time.Hour}})
			require.NoError(t, err)
			values, err := store.Get(t.Context(), []string{"a"})
			require.NoError(t, err)
			require.Equal(t, []wrstats.Value{{N: 5, Found: true}}, values)
			require.NoError(t, store.Close())
		})
	}
}

func TestOpenDialsNobody(t *testing.T) {
	for _, url := range []string{
		"memcached://user:secret@127.0.0.1:1,[::1]:2/?timeout=1s&protocol=meta&hash=ketama",
		"memcacheds://127.0.0.1:1", "MEMCACHED:///run/memcached.sock",
		"redis://user:secret@127.0.0.1:1/2", "rediss://127.0.0.1:1", "redis+unix:///run/redis.sock",
		"redis+cluster://127.0.0.1:1,127.0.0.1:2", "redis+sentinel://127.0.0.1:1,127.0.0.1:2/main",
	} {
		t.Run(url, func(t *testing.T) {
			store, err := backends.Open(t.Context(), url)
			require.NoError(t, err)
			require.NoError(t, store.Close())
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct{ rule, url, want string }{
		{"nothing", "", "no backend URL"},
		{"no scheme", "localhost/hunter2", "has no scheme"},
		{"no scheme but a colon", "//user:hunter2@localhost", "has no scheme"},
		{"a scheme there is not", "etcd://user:hunter2@h/", `unknown backend "etcd"; there are: memcached, memcacheds, memory, redis`},
		{"what is no URL", "memory://user:hunter2@h:x", "memory backend URL that can't be parsed; an example is memory:"},
		{"a password with a slash", "memory://user:hunter2/x@h", "memory backend URL that can't be parsed"},
		{"a bad escape", "memory://user:hunter2%zz@h", "memory backend URL that can't be parsed"},
		{"control bytes", "memory:\nhunter2", "memory backend URL that can't be parsed"},
		{"no URL and no scheme there is", "hunter2\n:", "backend URL that can't be parsed; an example is memcached://localhost:11211"},
		{"a Redis URL that can't be parsed", "redis+cluster://user:hunter2@h:x", "redis+cluster backend URL that can't be parsed; an example is redis+cluster://localhost:6379"},
		{"a parameter that memcached has not", "memcached://user:hunter2@h/?tiemout=1s", "tiemout"},
		{"a Redis URL with a bad database", "redis://user:hunter2@h/x", "database"},
		{"a user", "memory://user:hunter2@h", "takes no user"},
		{"a user but no slashes", "memory:user:hunter2@h", "takes no user"},
		{"a user in the path", "memory:///user:hunter2@h", "takes no user"},
		{"a host", "memory://here", `takes no host: "here"`},
		{"a path", "memory:///a/b", `takes no path: "/a/b"`},
		{"a path without slashes", "memory:a", `takes no path: "a"`},
		{"a slash", "memory:/", `takes no path: "/"`},
		{"a parameter", "memory:?shards=hunter2", `takes no parameter: "shards"`},
		{"a parameter after slashes", "memory://?b=1&a=2", `takes no parameter: "a"`},
		{"a question mark", "memory:?", "takes no parameters"},
		{"parameters that can't be parsed", "memory:?%zz=hunter2", "takes no parameters"},
		{"a fragment", "memory:#hunter2", "takes no fragment"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			store, err := backends.Open(t.Context(), c.url)
			require.Nil(t, store)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "hunter2", "a password")
		})
	}
}

func TestOpenTakesItsExamples(t *testing.T) {
	for _, scheme := range []string{
		"memory", "memcached", "memcacheds", "redis", "rediss", "redis+unix", "redis+cluster", "rediss+cluster", "redis+sentinel", "rediss+sentinel",
	} {
		t.Run(scheme, func(t *testing.T) {
			_, err := backends.Open(t.Context(), scheme)
			require.ErrorContains(t, err, "; did you mean "+scheme+":")
			_, url, _ := strings.Cut(err.Error(), "did you mean ")
			store, err := backends.Open(t.Context(), strings.TrimSuffix(url, "?"))
			require.NoError(t, err)
			require.NoError(t, store.Close())
		})
	}
}

func TestOpenSaysWhichURLIsMeant(t *testing.T) {
	for _, c := range []struct{ rule, url, meant string }{
		{"an address at memcached's port", "127.0.0.1:11211", "memcached://127.0.0.1:11211"},
		{"a host at memcached's port", "cache-1.local:11211", "memcached://cache-1.local:11211"},
		{"an IPv6 address", "[::1]:11211", "memcached://[::1]:11211"},
		{"a port alone", ":11211", "memcached://localhost:11211"},
		{"a host at Redis' port", "localhost:6379", "redis://localhost:6379"},
		{"memcached", "memcached", "memcached://localhost:11211"},
		{"Redis", "Redis", "redis://localhost:6379"},
		{"memory", "memory", "memory:"},
		{"another port, which may be a password", "user:4711", ""},
		{"a user", "user:11211@localhost:11211", ""},
		{"a path", "localhost:11211/hunter2", ""},
		{"another name", "hunter2", ""},
		{"nothing", "", ""},
		{"a scheme there is not", "etcd://localhost:11211", ""},
		{"a URL that is wrong elsewhere", "memory://localhost:11211", ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := backends.Open(t.Context(), c.url)
			require.Error(t, err)
			require.NotContains(t, err.Error(), "hunter2")
			require.NotContains(t, err.Error(), "4711")
			if c.meant == "" {
				require.NotContains(t, err.Error(), "did you mean")
				return
			}
			require.True(t, strings.HasSuffix(err.Error(), "; did you mean "+c.meant+"?"), err.Error())
			store, err := backends.Open(t.Context(), c.meant)
			require.NoError(t, err)
			require.NoError(t, store.Close())
		})
	}
}

func TestOpenWithADoneContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := backends.Open(ctx, "memory:")
	require.ErrorIs(t, err, context.Canceled)
}

func ExampleOpen() {
	ctx := context.Background()
	store, err := backends.Open(ctx, "memory:")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	_, _ = store.Incr(ctx, []wrstats.Increment{{Key: "local:web:hits::4901:route:home", Delta: 3, TTL: time.Hour}})
	values, err := store.Get(ctx, []string{"local:web:hits::4901:route:home"})
	fmt.Println(values, err)
	// Output: [{3 true}] <nil>
}
