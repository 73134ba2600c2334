package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats/profile"
)

// A storage is what servers hold, for a test that has all the time to read it.
type storage struct {
	t        *testing.T
	site     site
	profiler *profile.Profiler
	rules    []string
	groups   []string
}

func newStorage(t *testing.T, s site) *storage {
	t.Helper()
	store, err := backends.Open(t.Context(), s.url+generous)
	require.NoError(t, err)
	t.Cleanup(func() { store.Close() })
	rules, err := loadRules("")
	require.NoError(t, err)
	session := session{rules: rules, opts: options{window: 4 * time.Hour, prefix: defaultPrefix}, stderr: io.Discard}
	profiler, err := profile.New(store, session.profileOptions())
	require.NoError(t, err)
	t.Cleanup(func() { profiler.Close(context.Background()) })
	return &storage{t: t, site: s, profiler: profiler, rules: rules.ids(), groups: rules.groupNames()}
}

func (s *storage) profile(at time.Time) profile.Profile {
	s.t.Helper()
	p, err := s.profiler.ProfileAt(s.t.Context(), at, s.rules, s.groups)
	require.NoError(s.t, err)
	return p
}

// awaitBoth waits until edits of the first window are there, and of the last: that of at.
func (s *storage) awaitBoth(at time.Time) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		first, last := false, false
		for _, w := range s.profile(at).Groups[0].Windows {
			first = first || w.Found && w.Start.Equal(generatedStart)
			last = w.Found
		}
		if first && last {
			return
		}
	}
	require.FailNow(s.t, "nothing is stored of one of the processes")
}

// units adds up all counters, past the library, when they have come to rest: a server that goes on may have
// something to read yet.
func (s *storage) units() (sum int64) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		before := sum
		if sum = s.add(); sum == before {
			return sum
		}
		time.Sleep(100 * time.Millisecond)
	}
	require.FailNow(s.t, "what is stored does not come to rest")
	return 0
}

func (s *storage) add() (sum int64) {
	s.t.Helper()
	for _, server := range s.site.servers {
		add := addMemcached
		if strings.HasPrefix(s.site.url, "redis") {
			add = addRedis
		}
		n, err := add(server)
		require.NoError(s.t, err)
		sum += n
	}
	return sum
}

func addRedis(server *servertest.Server) (int64, error) {
	const script = `local n = 0; for _, k in ipairs(redis.call('KEYS', '*')) do n = n + redis.call('GET', k) end; return n`
	return strconv.ParseInt(server.Redis("EVAL", script, "0"), 10, 64)
}

func addMemcached(server *servertest.Server) (sum int64, err error) {
	conn, err := net.DialTimeout("tcp", server.Addr, patience)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	lines := bufio.NewScanner(conn)
	fmt.Fprint(conn, "lru_crawler metadump hash\r\n")
	var keys []string
	for lines.Scan() && lines.Text() != "END" {
		escaped, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "key="), " ")
		key, err := url.PathUnescape(escaped)
		if err != nil {
			return 0, err
		}
		keys = append(keys, key)
	}
	for _, key := range keys {
		fmt.Fprintf(conn, "get %s\r\n", key)
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), "VALUE ") || !lines.Scan() {
			return 0, fmt.Errorf("get %q: %q, %w", key, lines.Text(), lines.Err())
		}
		n, err := strconv.ParseInt(strings.TrimRight(lines.Text(), " "), 10, 64)
		if err != nil || !lines.Scan() || lines.Text() != "END" {
			return 0, fmt.Errorf("get %q: %w, %q", key, err, lines.Text())
		}
		sum += n
	}
	return sum, lines.Err()
}
