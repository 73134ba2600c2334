package wrstats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

var distributionRules = []rule{
	{"what two processes observe has the quantiles of both together", func(t *site) {
		one, other := t.observing(), t.observing()
		writers := []*wrstats.Writer{t.writer(one), t.writer(other)}
		now := at(4000)
		random := rand.New(rand.NewPCG(7, 8))
		var values []float64
		for i := range 5000 {
			v := math.Exp(3 * random.NormFloat64())
			values = append(values, v)
			require.NoError(t, writers[i%2].ObserveAt(now.Add(-time.Duration(i%6)*10*time.Minute), "ms", filter42, v))
		}
		t.sync(writers...)
		slices.Sort(values)
		for _, process := range []*wrstats.Stats{one, other} {
			q := t.quantiles(process, now, filter42)
			require.Equal(t, []float64{5000, 0, 0}, []float64{q.Count, q.Lost, float64(q.Missing)})
			for i, p := range percentiles {
				require.InEpsilon(t, values[int(math.Ceil(p*5000))-1], q.Values[i], 0.0501, "p%v", 100*p)
			}
		}
	}},
	{"a lost bin is told as lost", func(t *site) {
		stats, store := t.observing(), t.connect()
		w := t.writer(stats)
		for range 3 {
			require.NoError(t, w.ObserveAt(at(0), "ms", filter42, 1)) // is the upper bound of bin 0
		}
		require.NoError(t, w.ObserveAt(at(0), "ms", filter42, 500))
		t.sync(w)
		require.Zero(t, t.quantiles(stats, at(1), filter42).Lost)
		require.NoError(t, store.Delete(t.Context(), []string{"local:" + t.prefix + ":ms/0.05/0::0:filter:42"}))
		q := t.quantiles(stats, at(1), filter42)
		require.Equal(t, []float64{4, 0.75}, []float64{q.Count, q.Lost})
		require.InEpsilon(t, 500, q.Values[0], 0.05)
	}},
	{"Reset forgets bins", func(t *site) {
		stats := t.observing()
		w := t.writer(stats)
		other := wrstats.Local("other")
		for _, e := range []wrstats.Entity{filter42, other} {
			require.NoError(t, w.ObserveAt(at(0), "ms", e, 7))
		}
		t.sync(w)
		require.NoError(t, w.ResetAt(t.Context(), at(1), filter42))
		require.NoError(t, w.ObserveAt(at(0), "ms", filter42, 70))
		t.sync(w)
		require.InEpsilon(t, 70, t.quantiles(stats, at(1), filter42).Values[0], 0.05)
		require.Equal(t, 1.0, t.quantiles(stats, at(1), filter42).Count)
		require.Equal(t, 1.0, t.quantiles(stats, at(1), other).Count)
	}},
	{"any bytes may be observed", func(t *site) {
		stats := t.observing()
		w := t.writer(stats)
		e := wrstats.Global("x 0 0 1\r\nflush_all\r\n", " Λ#m", string(make([]byte, 300)))
		require.NoError(t, w.ObserveAt(at(0), "ms", e, 7))
		t.sync(w)
		require.InEpsilon(t, 7, t.quantiles(stats, at(1), e).Values[0], 0.05)
	}},
}

var percentiles = []float64{0.5, 0.9, 0.95, 0.99, 0.999}

// observing returns the Stats of another process, with a distribution.
func (t *site) observing() *wrstats.Stats {
	return t.configured(wrstats.Config{Metrics: []wrstats.Metric{
		{Name: "ms", Distribution: &wrstats.Distribution{Min: 0.001, Max: 100_000}},
	}})
}

// quantiles reads the percentiles of the last six windows.
func (t *site) quantiles(stats *wrstats.Stats, now time.Time, e wrstats.Entity) wrstats.Quantiles {
	t.Helper()
	q, err := stats.NewReader().QuantilesAt(t.Context(), now, wrstats.Query{
		Metric: "ms", Entity: e, Span: wrstats.LastWindows(6),
	}, percentiles...)
	require.NoError(t, err)
	return q
}
