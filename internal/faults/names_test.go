package faults_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

// commands are what names must not become. Each byte alone is a name, too.
var commands = []string{
	"x 0 0 1\r\nflush_all\r\n", "\r\nflush_all\r\n", "\nflush_all\n", "a\r\nset canary 0 0 1\r\n9\r\n", "\r\nmn\r\nmd canary q\r\n",
	"*1\r\n$8\r\nFLUSHALL\r\n", "\r\nFLUSHALL\r\n", "\r\n*2\r\n$3\r\nDEL\r\n$6\r\ncanary\r\n", " noreply\r\nquit\r\n", "\x00\r\n\x00quit\r\n",
	"{x}", "}{", "END\r\n", "ERROR\r\n", "VALUE a 0 1\r\n1\r\n", "-ERR\r\n", "$-1\r\n",
}

// TestNamesAreNoProtocol counts under names that are bytes of protocols, wherever there can be a name.
func TestNamesAreNoProtocol(t *testing.T) {
	skipShort(t)
	t.Parallel()
	names := commands
	for i := range 256 {
		names = append(names, string([]byte{byte(i)}), string([]byte{'a', byte(i), 'b'}))
	}
	for _, b := range backends {
		t.Run("no name becomes protocol/"+b.name, func(t *testing.T) {
			t.Parallel()
			l := newLoad(t, b.start(t, 1))
			store, closeAll := l.site.open(t, l.network, patience)
			defer closeAll()
			canary := newNamed(t, store, "canary", "", "count", wrstats.DefaultKeys)
			canary.count(wrstats.Local("canary"), 5)
			for i, keys := range []wrstats.KeyFormat{wrstats.DefaultKeys, wrstats.MediaWikiKeys} {
				newNamed(t, store, fmt.Sprint("entity", i), "", "count", keys).countAll(names)
				for j, name := range commands {
					newNamed(t, store, name, "", "count", keys).count(wrstats.Local("p", fmt.Sprint(i, j)), 2)
					newNamed(t, store, fmt.Sprint("keyspace", i), name, "count", keys).count(wrstats.Local("k", fmt.Sprint(j)), 3)
					newNamed(t, store, fmt.Sprint("metric", i), "", name, keys).count(wrstats.Global("m", fmt.Sprint(j)), 4)
				}
			}
			require.EqualValues(t, 5, canary.read(wrstats.Local("canary")))
			results.add(row{scenario: "no name becomes protocol", backend: b.name, verdict: fmt.Sprintf("held: %d names", 2*(len(names)+3*len(commands)))})
		})
	}
}

// A named is a service whose names are what they are.
type named struct {
	testing.TB
	stats  *wrstats.Stats
	metric string
}

func newNamed(t testing.TB, store wrstats.Store, prefix, keyspace, metric string, keys wrstats.KeyFormat) *named {
	t.Helper()
	stats, err := wrstats.New(store, wrstats.Config{Prefix: prefix, Keyspace: keyspace, Keys: keys, Metrics: []wrstats.Metric{{Name: metric}}})
	require.NoError(t, err)
	return &named{t, stats, metric}
}

// count adds so much to what was there, and requires to read it.
func (n *named) count(e wrstats.Entity, v float64) {
	n.Helper()
	before := n.read(e)
	w := n.stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
	require.NoError(n, w.Add(n.metric, e, v))
	require.NoError(n, w.Close(n.Context()), "%q of %q", n.metric, e)
	require.Equal(n, before+v, n.read(e), "%q", e)
}

// countAll counts each name another number of times, and requires to read it. Names are numbered, since a
// space and an underscore are the same to MediaWiki.
func (n *named) countAll(names []string) {
	n.Helper()
	w := n.stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
	var qs []wrstats.Query
	for i, name := range names {
		e := wrstats.Local("e", fmt.Sprint(i), name)
		require.NoError(n, w.Add(n.metric, e, float64(i)))
		qs = append(qs, wrstats.Query{Metric: n.metric, Entity: e, Span: wrstats.LastWindows(2)})
	}
	require.NoError(n, w.Close(n.Context()))
	rates, err := n.stats.NewReader().Rates(n.Context(), qs)
	require.NoError(n, err)
	for i, rate := range rates {
		require.EqualValues(n, i, rate.Total, "%q", names[i])
	}
}

func (n *named) read(e wrstats.Entity) float64 {
	n.Helper()
	rate, err := n.stats.NewReader().Rate(n.Context(), wrstats.Query{Metric: n.metric, Entity: e, Span: wrstats.LastWindows(2)})
	require.NoError(n, err)
	return rate.Total
}
