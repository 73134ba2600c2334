package memcached_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"testing"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
)

func pick(t *testing.T, s memcache.ServerSelector, key string) string {
	t.Helper()
	addr, err := s.PickServer(key)
	require.NoError(t, err)
	return addr.String()
}

func keys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("local:prefix:count::%d:filter:%d", 2941000+i%7, i)
	}
	return keys
}

func TestCRC32PlacesAsASortedServerListDoes(t *testing.T) {
	servers := []string{"127.0.0.3:11211", "127.0.0.1:11212", "127.0.0.1:11211", "[::1]:11213"}
	list := new(memcache.ServerList)
	require.NoError(t, list.SetServers(slices.Sorted(slices.Values(servers))...))
	ours := memcached.CRC32(servers...)
	for _, key := range keys(1000) {
		require.Equal(t, pick(t, list, key), pick(t, ours, key), key)
	}
}

func TestOrderOfServersMeansNothing(t *testing.T) {
	for name, selector := range selectors {
		t.Run(name, func(t *testing.T) {
			abc, cba := selector("a", "b:11212", "c"), selector("c:11211", "b:11212", "a")
			for _, key := range keys(1000) {
				require.Equal(t, pick(t, abc, key), pick(t, cba, key), key)
			}
		})
	}
}

var selectors = map[string]func(...string) memcache.ServerSelector{
	"crc32": memcached.CRC32, "ketama": memcached.Ketama,
}

func TestSelectorsKeepNames(t *testing.T) {
	for name, selector := range selectors {
		t.Run(name, func(t *testing.T) {
			var got []string
			err := selector("cache.invalid", "[::1]", "::2", "/run/m.sock").Each(func(a net.Addr) error {
				got = append(got, a.Network()+" "+a.String())
				return nil
			})
			require.NoError(t, err)
			require.ElementsMatch(t, []string{
				"tcp cache.invalid:11211", "tcp [::1]:11211", "tcp [::2]:11211", "unix /run/m.sock",
			}, got)
		})
	}
}

func TestSelectorsReportWrongServers(t *testing.T) {
	for name, selector := range selectors {
		t.Run(name, func(t *testing.T) {
			_, err := selector().PickServer("a")
			require.ErrorIs(t, err, memcache.ErrNoServers)
			wrong := selector("a", "b:c")
			_, err = wrong.PickServer("a")
			require.ErrorContains(t, err, `"b:c"`)
			require.ErrorContains(t, wrong.Each(func(net.Addr) error { return nil }), `"b:c"`)
		})
	}
}

func TestKetamaAgreesWithLibmemcached(t *testing.T) {
	f, err := os.Open("testdata/ketama.jsonl")
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for cases := 0; lines.Scan(); cases++ {
		var c struct {
			Servers []string
			Picks   map[string]string
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		require.NotEmpty(t, c.Picks)
		ketama := memcached.Ketama(c.Servers...)
		for key, server := range c.Picks {
			require.Equal(t, server, pick(t, ketama, key), "case %d, %s", cases, key)
		}
	}
	require.NoError(t, lines.Err())
}

func TestKetamaMovesFewKeysWhenAServerJoins(t *testing.T) {
	servers := []string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"}
	before, after := memcached.Ketama(servers...), memcached.Ketama(append(servers, "10.0.0.5")...)
	all, moved := keys(20_000), 0
	for _, key := range all {
		from, to := pick(t, before, key), pick(t, after, key)
		if from != to {
			moved++
			require.Equal(t, "10.0.0.5:11211", to, "a key moves to the new server only")
		}
	}
	require.InDelta(t, 1.0/5, float64(moved)/float64(len(all)), 0.06)
}
