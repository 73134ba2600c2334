package faults_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
)

// TestEviction counts ten times what the servers have room for, each counter once. Then each is right, or
// missing.
func TestEviction(t *testing.T) {
	skipShort(t)
	t.Parallel()
	n := choose(30_000, 100_000)
	for _, b := range backends {
		t.Run("servers evict/"+b.name, func(t *testing.T) {
			t.Parallel()
			s := b.start(t, 1, tiny[b.kind]...)
			s.limitMemory(n*15/len(s.servers) + 256<<10)
			l := newLoad(t, s)
			a := l.overfill(n)
			found := l.rightOrMissing(n)
			require.Less(t, found, n*3/4, "little was evicted")
			require.Positive(t, found)
			s.limitMemory(0) // or what is read now evicts the rest
			results.add(row{
				scenario: "servers evict: room for a few only", backend: b.name, added: a.Added, stored: sumOf(l.records()), lost: a.Lost,
				verdict: fmt.Sprintf("held: %d of %d counters are left, and right", found, n),
			})
		})
	}
}

func evicted(i int) wrstats.Entity { return wrstats.Local(secret, strconv.Itoa(i), "x") }

// overfill counts each of n entities once. A server that finds nothing to evict may refuse, and that is told.
func (l *load) overfill(n int) wrstats.WriterStats {
	w := l.stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
	for i := range n {
		require.NoError(l, w.Add("count", evicted(i), float64(1+i%7)))
		if i%(n/20) == 0 {
			_ = w.Sync(l.Context())
		}
	}
	_ = w.Close(l.Context())
	a := w.Stats()
	require.Equal(l, a.Added, a.Flushed+a.Lost)
	return a
}

// rightOrMissing returns how many are there, and requires that these are right.
func (l *load) rightOrMissing(n int) (found int) {
	qs := make([]wrstats.Query, n)
	for i := range qs {
		qs[i] = wrstats.Query{Metric: "count", Entity: evicted(i), Span: wrstats.LastWindows(2)}
	}
	rates, err := l.stats.NewReader().Rates(l.Context(), qs)
	require.NoError(l, err)
	for i, rate := range rates {
		if rate.Missing() == len(rate.Windows) {
			require.Zero(l, rate.Total)
			continue
		}
		found++
		require.EqualValues(l, 1+i%7, rate.Total, "counter %d", i)
	}
	return found
}

var tiny = map[kind][]string{
	memcacheds: {"-m", "1", "-I", "512k"}, proxied: {"-m", "1", "-I", "512k"},
	redises: {"--maxmemory-policy", "allkeys-lru"}, redisCluster: {"--maxmemory-policy", "allkeys-lru"},
}

// limitMemory leaves each Redis so much room beyond what it uses; 0: all it wants.
func (s *site) limitMemory(room int) {
	for _, server := range s.servers {
		if s.speaksRedis() {
			limit := 0
			if room > 0 {
				limit = usedMemory(server) + room
			}
			server.Redis("CONFIG", "SET", "maxmemory", strconv.Itoa(limit))
		}
	}
}

func usedMemory(server *servertest.Server) (bytes int) {
	for _, line := range strings.Split(server.Redis("INFO", "memory"), "\n") {
		if used, ok := strings.CutPrefix(line, "used_memory:"); ok {
			bytes, _ = strconv.Atoi(strings.TrimSpace(used))
		}
	}
	return bytes
}
