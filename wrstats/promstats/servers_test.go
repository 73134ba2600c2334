package promstats_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/promstats"
)

// patience is for what a busy machine may take.
const patience = 30 * time.Second

// One of two memcacheds is killed, and started again.
func TestAServerThatIsDown(t *testing.T) {
	stays, goes := servertest.Memcached(t), servertest.Memcached(t)
	store, err := memcached.New(memcached.Config{Servers: []string{stays.Addr, goes.Addr}, Timeout: patience})
	require.NoError(t, err)
	t.Cleanup(func() { store.Close() })
	stats, err := wrstats.New(store, wrstats.Config{Prefix: "test", Metrics: []wrstats.Metric{{Name: "runs"}}})
	require.NoError(t, err)
	w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
	const rules = 40
	var names []string
	for i := range rules {
		names = append(names, fmt.Sprint(i))
		require.NoError(t, w.Add("runs", wrstats.Local("rule", names[i]), 5))
	}
	require.NoError(t, w.Close(t.Context()))
	c := newRates(t, &fixture{Reader: stats.NewReader()}, promstats.Options{MaxAge: 1, Timeout: 2 * patience}, runs(names...))
	require.Equal(t, rules, fives(t, c))

	goes.Kill()
	some := fives(t, c)
	require.Positive(t, some)
	require.Less(t, some, rules)
	require.Len(t, scrape(t, c)["rule_runs"], some, "what is not known is not shown as 0")
	require.NotContains(t, scrape(t, c)["wrstats_rates_read_errors_total"], `wrstats_rates_read_errors_total{kind="partial"} 0`)
	require.Contains(t, scrape(t, c)["wrstats_rates_read_errors_total"], `wrstats_rates_read_errors_total{kind="failed"} 0`)

	goes.Restart()
	require.Eventually(t, func() bool {
		series, err := tryScrape(c)
		return err == nil && len(series["rule_runs"]) == rules
	}, patience, 20*time.Millisecond, "the others are 0 now, which is known")
	require.Equal(t, some, fives(t, c))
}

// fives counts the rules that are shown to have run five times.
func fives(t *testing.T, c *promstats.Rates) (n int) {
	t.Helper()
	for _, series := range scrape(t, c)["rule_runs"] {
		if strings.HasSuffix(series, " 5") {
			n++
		}
	}
	return n
}
