package memcached_test

import (
	"testing"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/wrstats"
)

func TestMeasuresAreTheStatsOfEachServer(t *testing.T) {
	a, b := newFake(t, nil), newFake(t, nil)
	store := open(t, memcached.Config{Servers: []string{a.addr, b.addr}, Protocol: meta})
	var batch []wrstats.Increment
	for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "a b"} {
		batch = append(batch, one(key, 1))
	}
	_, _ = incr(t, store, batch...)
	get(t, store, "a", "b")

	stats := store.Stats()
	require.Len(t, stats.Servers, 2)
	measured := valuesOf(store)
	require.Equal(t, map[string]float64{"": 1}, measured["memcached_refused_keys"])
	for _, s := range stats.Servers {
		require.Positive(t, s.Commands)
		for name, n := range map[string]int64{
			"memcached_commands":       s.Commands,
			"memcached_fences":         s.Fences,
			"memcached_pending_fences": s.InFlight,
			"memcached_connections":    s.Connections,
			"memcached_reconnects":     s.Reconnects,
			"memcached_written_bytes":  s.BytesWritten,
			"memcached_read_bytes":     s.BytesRead,
		} {
			require.EqualValues(t, n, measured[name][s.Addr+" "], name)
		}
		for kind := memcached.Created; kind <= memcached.Malformed; kind++ {
			n, there := measured["memcached_replies"][s.Addr+" "+kind.String()+" "]
			require.True(t, there, "also where there was none")
			require.EqualValues(t, s.Replies[kind], n)
		}
	}
}

func TestMeasuresAreTheSameBeforeServersAreKnown(t *testing.T) {
	server := newFake(t, nil)
	list := new(memcache.ServerList)
	require.NoError(t, list.SetServers(server.addr))
	store := open(t, memcached.Config{Selector: list, Protocol: meta})
	before := store.Measures()
	for _, m := range before[:len(before)-1] {
		require.Empty(t, m.Values)
	}
	count(t, store, one("a", 1))
	after := store.Measures()
	require.Len(t, after[0].Values, 1)
	for i := range after {
		after[i].Values, before[i].Values = nil, nil
	}
	require.Equal(t, before, after)
	require.NoError(t, store.Close())
	require.Len(t, store.Measures(), len(before))
}

// valuesOf returns a store's measured values by name and labels, each of which a space ends.
func valuesOf(store wrstats.Measured) map[string]map[string]float64 {
	all := make(map[string]map[string]float64)
	for _, m := range store.Measures() {
		all[m.Name] = make(map[string]float64)
		for _, v := range m.Values {
			labels := ""
			for _, label := range v.Labels {
				labels += label + " "
			}
			all[m.Name][labels] = v.Value
		}
	}
	return all
}
