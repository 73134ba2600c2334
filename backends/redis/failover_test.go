package redis_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/redis"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
)

// Two writers count while the primary is killed, and until its replica has taken over. What is stored is
// never more than what was added, and what is missing was reported.
func TestAPrimaryThatIsKilled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule  string
		serve func(testing.TB) (primary *servertest.Server, survivors []*servertest.Server, client func() goredis.UniversalClient)
	}{
		{"behind sentinels", func(t testing.TB) (*servertest.Server, []*servertest.Server, func() goredis.UniversalClient) {
			primary, replica, watchers := servertest.RedisSentinels(t, "counters", 3)
			return primary, []*servertest.Server{replica}, func() goredis.UniversalClient {
				options := goredis.FailoverOptions{MasterName: "counters", ReadTimeout: time.Second, DialerRetries: 1}
				for _, w := range watchers {
					options.SentinelAddrs = append(options.SentinelAddrs, w.Addr)
				}
				return goredis.NewFailoverClient(&options)
			}
		}},
		{"of a cluster", func(t testing.TB) (*servertest.Server, []*servertest.Server, func() goredis.UniversalClient) {
			servers := servertest.RedisCluster(t, 3)
			replica := servertest.RedisReplica(t, servers[0], 3)
			survivors := []*servertest.Server{servers[1], servers[2], replica}
			return servers[0], survivors, func() goredis.UniversalClient {
				options := goredis.ClusterOptions{ReadTimeout: time.Second, DialerRetries: 1}
				for _, s := range servers {
					options.Addrs = append(options.Addrs, s.Addr)
				}
				return goredis.NewClusterClient(&options)
			}
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			primary, survivors, client := c.serve(t)
			scanAtEnd(t, clients(t, survivors)...)
			counting := startCounting(t, client)
			time.Sleep(500 * time.Millisecond)
			primary.Kill()
			counting.untilAllStored(t)
			added, stored, stats := counting.end(t)
			t.Logf("added %v, stored %v, %+v", added, stored, stats)
			require.Equal(t, added, stats.Added)
			require.LessOrEqual(t, stored, added)
			require.Greater(t, stored, added/10)
			require.Positive(t, stats.Errors)
			require.Equal(t, added, stats.Flushed+stats.Lost+stats.Dropped)
			require.LessOrEqual(t, stored, stats.Flushed+stats.Lost)
		})
	}
}

// Two writers on a Cluster, each with a client of its own.
func TestTwoWritersOnAClusterAreExact(t *testing.T) {
	t.Parallel()
	servers := servertest.RedisCluster(t, 3)
	scanAtEnd(t, clients(t, servers)...)
	counting := startCounting(t, func() goredis.UniversalClient { return clusterClient(t, servers) })
	time.Sleep(time.Second)
	added, stored, stats := counting.end(t)
	require.Equal(t, added, stored)
	require.Zero(t, stats.Lost)
	require.Greater(t, added, 1000.0)
}

// A counting is writers that count, and their servers' reader.
type counting struct {
	stats   []*wrstats.Stats
	writers []*wrstats.Writer
	added   []float64
	stop    chan struct{}
	group   sync.WaitGroup
}

const entities = 100

func startCounting(t *testing.T, client func() goredis.UniversalClient) *counting {
	c := &counting{added: make([]float64, 2), stop: make(chan struct{})}
	sequences := []wrstats.Sequence{{Step: time.Hour, Retention: 3 * time.Hour}}
	config := wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{{Name: "m", Sequences: sequences}}}
	for i := range c.added {
		stats, err := wrstats.New(open(t, client(), redis.Options{}), config)
		require.NoError(t, err)
		w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: 5 * time.Millisecond})
		c.stats, c.writers = append(c.stats, stats), append(c.writers, w)
		c.group.Go(func() { c.added[i] = addUntil(c.stop, w) })
	}
	return c
}

func addUntil(stop <-chan struct{}, w *wrstats.Writer) (added float64) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return added
		case <-time.After(time.Millisecond):
		}
		for e := range entities {
			if w.Add("m", wrstats.Local(fmt.Sprint(e)), 1) == nil {
				added++
			}
		}
	}
}

// untilAllStored waits until what is added is stored again, of every entity.
func (c *counting) untilAllStored(t *testing.T) {
	t.Helper()
	before, growing := map[int]float64{}, map[int]bool{}
	for deadline := time.Now().Add(2 * patience); len(growing) < entities && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		totals, err := c.totals(ctx)
		cancel()
		if err != nil {
			clear(before)
			clear(growing)
			continue
		}
		for e, total := range totals {
			if old, ok := before[e]; ok && total > old {
				growing[e] = true
			}
			before[e] = total
		}
	}
	require.Len(t, growing, entities, "entities that are stored again")
}

func (c *counting) totals(ctx context.Context) ([]float64, error) {
	queries := make([]wrstats.Query, entities)
	for e := range queries {
		queries[e] = wrstats.Query{Metric: "m", Entity: wrstats.Local(fmt.Sprint(e)), Span: wrstats.LastWindows(2)}
	}
	rates, err := c.stats[0].NewReader().Rates(ctx, queries)
	totals := make([]float64, len(rates))
	for i, rate := range rates {
		totals[i] = rate.Total
	}
	return totals, err
}

// end stops the writers and sums up.
func (c *counting) end(t *testing.T) (added, stored float64, stats wrstats.WriterStats) {
	t.Helper()
	close(c.stop)
	c.group.Wait()
	for i, w := range c.writers {
		_ = w.Close(within(t, patience))
		s := w.Stats()
		stats.Added += s.Added
		stats.Flushed += s.Flushed
		stats.Lost += s.Lost
		stats.Dropped += s.Dropped
		stats.Errors += s.Errors
		added += c.added[i]
	}
	totals, err := c.totals(within(t, patience))
	require.NoError(t, err)
	for _, total := range totals {
		stored += total
	}
	return added, stored, stats
}
