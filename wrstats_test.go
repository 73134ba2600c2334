// Package wrstats_test tests the module end to end: writers, stores, readers and profilers through the
// public API, the same on every backend.
package wrstats_test

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
)

// backendsUnderTest are the rows. Start makes a backend ready for a test, and returns what connects
// another process to it. All processes may be given one store where there is but one.
//
// No case waits, and none needs the store's time to move or to stand still: instants are given, and keys
// live for an hour and more. So a server may be shared between cases and a fake one fits as well. Time-outs
// are long, for a machine that is busy.
var backendsUnderTest = []struct {
	name  string
	start func(t *testing.T) (connect func() wrstats.Store)
}{
	{"memory", func(t *testing.T) func() wrstats.Store {
		store := open(t, "memory:")
		return func() wrstats.Store { return store }
	}},
	{"memcached/protocol=text", func(t *testing.T) func() wrstats.Store {
		return processes(t, "memcached://"+servertest.Memcached(t).Addr+"/?timeout=30s&protocol=text")
	}},
	{"memcached/protocol=meta", func(t *testing.T) func() wrstats.Store {
		return processes(t, "memcached://"+servertest.Memcached(t).Addr+"/?timeout=30s&protocol=meta")
	}},
	{"memcached/servers=3", func(t *testing.T) func() wrstats.Store {
		return processes(t, "memcached://"+strings.Join(memcacheds(t), ",")+"/?timeout=30s&hash=ketama")
	}},
	{"memcached/twemproxy", func(t *testing.T) func() wrstats.Store {
		return processes(t, "memcached://"+servertest.Twemproxy(t, memcacheds(t)...).Addr+"/?timeout=30s")
	}},
	{"redis", func(t *testing.T) func() wrstats.Store {
		return processes(t, "redis://"+servertest.Redis(t).Addr+"?read_timeout=30s")
	}},
	{"redis/cluster", func(t *testing.T) func() wrstats.Store {
		return processes(t, "redis+cluster://"+servertest.RedisCluster(t, 3)[0].Addr+"?read_timeout=30s")
	}},
	{"redis/miniredis", func(t *testing.T) func() wrstats.Store {
		return processes(t, "redis://"+miniredis.RunT(t).Addr()+"?read_timeout=30s")
	}},
}

// processes has each process open the backend for itself.
func processes(t *testing.T, url string) (connect func() wrstats.Store) {
	return func() wrstats.Store { return open(t, url) }
}

func memcacheds(t *testing.T) (addrs []string) {
	for range 3 {
		addrs = append(addrs, servertest.Memcached(t).Addr)
	}
	return addrs
}

// open opens a backend by its URL, and closes it when the test ends.
func open(t *testing.T, url string) wrstats.Store {
	store, err := backends.Open(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// A rule is one case: what is promised, and what checks it.
type rule struct {
	name  string
	check func(t *site)
}

func TestEndToEnd(t *testing.T) {
	for _, backend := range backendsUnderTest {
		t.Run(backend.name, func(t *testing.T) {
			connect := backend.start(t)
			for _, rule := range slices.Concat(countingRules, nameRules, windowRules, distributionRules, profileRules, limiterRules, concurrencyRules) {
				t.Run(rule.name, func(t *testing.T) {
					rule.check(&site{T: t, connect: connect, prefix: "test-" + rand.Text()[:12]})
				})
			}
		})
	}
}

// A site is a service of some processes that share counters under a prefix of its own.
type site struct {
	*testing.T
	connect func() wrstats.Store
	prefix  string
}

// The metrics that every process has.
var metrics = []wrstats.Metric{{Name: "count"}, {Name: "matches"}, {Name: "ms", Resolution: 0.001}}

// process returns the Stats of another process.
func (t *site) process() *wrstats.Stats { return t.configured(wrstats.Config{Metrics: metrics}) }

// configured is process with a configuration of its own, but for the prefix.
func (t *site) configured(cfg wrstats.Config) *wrstats.Stats {
	t.Helper()
	cfg.Prefix = t.prefix + cfg.Prefix
	stats, err := wrstats.New(t.connect(), cfg)
	require.NoError(t, err)
	return stats
}

// writer returns a Writer that flushes only when it is told to, until the test ends.
func (t *site) writer(stats *wrstats.Stats) *wrstats.Writer {
	w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
	t.Cleanup(func() { require.NoError(t, w.Close(context.Background())) })
	return w
}

func (t *site) sync(writers ...*wrstats.Writer) {
	t.Helper()
	for _, w := range writers {
		require.NoError(t, w.Sync(t.Context()))
	}
}

// hour reads one metric of an entity over the hour before now.
func (t *site) hour(stats *wrstats.Stats, now time.Time, metric string, e wrstats.Entity) wrstats.Rate {
	t.Helper()
	rates, err := stats.NewReader().RatesAt(t.Context(), now, []wrstats.Query{
		{Metric: metric, Entity: e, Span: wrstats.Last(time.Hour)},
	})
	require.NoError(t, err)
	return rates[0]
}

// counts reads the count of entities over the hour before now, in one read.
func (t *site) counts(stats *wrstats.Stats, now time.Time, entities ...wrstats.Entity) []float64 {
	t.Helper()
	var queries []wrstats.Query
	for _, e := range entities {
		queries = append(queries, wrstats.Query{Metric: "count", Entity: e, Span: wrstats.Last(time.Hour)})
	}
	rates, err := stats.NewReader().RatesAt(t.Context(), now, queries)
	require.NoError(t, err)
	var totals []float64
	for _, r := range rates {
		totals = append(totals, r.Total)
	}
	return totals
}

// at is so many seconds after 1970.
func at(seconds float64) time.Time { return time.Unix(0, int64(seconds*1e9)) }
