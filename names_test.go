package wrstats_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

var nameRules = []rule{
	{"components are told apart, whatever they hold and however many there are", func(t *site) {
		t.distinct(
			wrstats.Local("a:b", "c"), wrstats.Local("a", "b:c"), wrstats.Local("a", "b", "c"),
			wrstats.Local("a", "b", "c", ""), wrstats.Local(""), wrstats.Local(),
			wrstats.Global("a:b", "c"), wrstats.Global("a", "b:c"), wrstats.Global(), wrstats.Local("global"),
		)
	}},
	{"a name that is a command is counted, and runs nothing", func(t *site) {
		canary := wrstats.Global("canary")
		stats := t.process()
		w := t.writer(stats)
		require.NoError(t, w.AddAt(at(0), "count", canary, 5))
		t.sync(w)
		t.distinct(
			wrstats.Local("x 0 0 1\r\nflush_all\r\n"), wrstats.Local("\r\nflush_all\r\n"), wrstats.Local("*1\r\n$8\r\nFLUSHALL\r\n"),
			wrstats.Local("\n"), wrstats.Local("\x00"), wrstats.Local(" "), wrstats.Local("noreply"),
		)
		require.Equal(t, []float64{5}, t.counts(stats, at(0), canary))
	}},
	{"long names are told apart by their last byte", func(t *site) {
		long := strings.Repeat("x", 299)
		hash := sha256.Sum256([]byte(long + "a"))
		t.distinct(
			wrstats.Local(strings.Repeat("é", 126)), wrstats.Local(long+"a"), wrstats.Local(long+"b"), wrstats.Local(long, "a"),
			wrstats.Local(strings.Repeat("x", 100_000)), wrstats.Global(long+"a"),
			wrstats.Local("#"+hex.EncodeToString(hash[:16])), // what the key of the first long one ends in
		)
	}},
	{"letters with and without an accent, and words of protocols, are ordinary names", func(t *site) {
		t.distinct(
			wrstats.Local("clé"), wrstats.Local("cle"), wrstats.Local(" Λ#m"), wrstats.Local("Λ#m"), wrstats.Local("#m"),
			wrstats.Local("ERROR"), wrstats.Local("END"), wrstats.Local("VALUE"), wrstats.Local("end"), wrstats.Local("{a}"),
			wrstats.Local("%20"), wrstats.Local(" "), wrstats.Local("_"), wrstats.Local("\xff"), wrstats.Local("%FF"),
		)
	}},
	{"one odd name in a read does not cost the others", func(t *site) {
		stats := t.process()
		w := t.writer(stats)
		good, odd := wrstats.Local("good"), wrstats.Local("a b")
		require.NoError(t, w.AddAt(at(0), "count", good, 5))
		require.NoError(t, w.AddAt(at(0), "count", odd, 7))
		t.sync(w)
		never := wrstats.Local("\r\n")
		require.Equal(t, []float64{5, 7, 0, 5}, t.counts(stats, at(0), good, odd, never, good))
	}},
	{"metrics, sequences and prefixes of any name or window never share a key", func(t *site) {
		window := func(name string, d time.Duration) wrstats.Sequence {
			return wrstats.Sequence{Name: name, Step: d / 60, Retention: d}
		}
		minute, hour := window("", time.Minute), window("", time.Hour)
		stats := t.configured(wrstats.Config{Metrics: []wrstats.Metric{
			{Name: "2 a minute", Sequences: []wrstats.Sequence{minute}},
			{Name: "5 an hour", Sequences: []wrstats.Sequence{hour}},
			{Name: "5", Sequences: []wrstats.Sequence{window("an hour", time.Hour)}},
			{Name: "both", Sequences: []wrstats.Sequence{minute, hour}},
			{Name: "both:s1", Sequences: []wrstats.Sequence{hour}},
		}})
		other := t.configured(wrstats.Config{Prefix: ":both", Metrics: []wrstats.Metric{{Name: "s1"}, {Name: "both"}}})
		w := t.writer(stats)
		for _, metric := range []string{"2 a minute", "5 an hour", "5", "both"} {
			require.NoError(t, w.AddAt(at(0), metric, filter42, 1))
		}
		t.sync(w)
		r := stats.NewReader()
		for metric, want := range map[string]float64{"2 a minute": 1, "5 an hour": 1, "5": 1, "both": 1, "both:s1": 0} {
			for _, d := range []time.Duration{time.Minute, time.Hour} {
				rates, err := r.RatesAt(t.Context(), at(0), []wrstats.Query{{Metric: metric, Entity: filter42, Span: wrstats.Last(d)}})
				require.NoError(t, err)
				require.Equal(t, want, rates[0].Total, "%s, the last %v", metric, d)
			}
		}
		require.Zero(t, t.hour(other, at(0), "s1", filter42).Total)
		require.Zero(t, t.hour(other, at(0), "both", filter42).Total)
	}},
}

// distinct asserts that entities are as many counters: the i-th is counted i+1 times.
func (t *site) distinct(entities ...wrstats.Entity) {
	t.Helper()
	stats := t.process()
	w := t.writer(stats)
	var want []float64
	for i, e := range entities {
		want = append(want, float64(i+1))
		require.NoError(t, w.AddAt(at(0), "count", e, want[i]))
	}
	t.sync(w)
	got := t.counts(stats, at(0), entities...)
	for i, e := range entities {
		require.Equal(t, want[i], got[i], "the count of %.50q", e)
	}
}
