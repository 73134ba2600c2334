package wrstats_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

func TestLostSaysWhatTheBinsDoNotHave(t *testing.T) {
	values := map[int][]float64{0: {5, 5, 5, 50}, 1: {5, 5, 5, 500}}
	for _, c := range []struct {
		rule    string
		lost    []string
		now     float64
		span    wrstats.Span
		want    float64
		count   float64
		missing int
		p       []float64 // 0, 0.5 and 1
	}{
		{"nothing", nil, 1100, wrstats.LastWindows(2), 0, 8, 0, []float64{middle[1], middle[1], middle[3]}},
		{"a bin", []string{binKey("time", 1, 0)}, 1100, wrstats.LastWindows(2), 3.0 / 8, 8, 0, []float64{middle[1], middle[1], middle[3]}},
		{"a bin of both", []string{binKey("time", 1, 0), binKey("time", 1, 1)}, 1100, wrstats.LastWindows(2), 6.0 / 8, 8, 0, []float64{middle[2], middle[2], middle[3]}},
		{"a bin of the window that has a half", []string{binKey("time", 1, 0)}, 3900, wrstats.Last(time.Hour), 1.5 / 6, 6, 5, []float64{middle[1], middle[1], middle[3]}},
		{"all bins of a window", []string{binKey("time", 1, 0), binKey("time", 2, 0)}, 1100, wrstats.LastWindows(2), 4.0 / 8, 8, 0, []float64{middle[1], middle[1], middle[3]}},
		{"all bins", []string{binKey("time", 1, 0), binKey("time", 2, 0), binKey("time", 1, 1), binKey("time", 3, 1)}, 1100, wrstats.LastWindows(2), 1, 8, 0, []float64{0, 0, 0}},
		{"a count, which the bins make up for", []string{key("time", 0)}, 1100, wrstats.LastWindows(2), 0, 8, 1, []float64{middle[1], middle[1], middle[3]}},
		{"a count and a bin of another window", []string{key("time", 0), binKey("time", 3, 1)}, 1100, wrstats.LastWindows(2), 1.0 / 8, 8, 1, []float64{middle[1], middle[1], middle[2]}},
		{"a count and a bin of one window", []string{key("time", 0), binKey("time", 2, 0)}, 1100, wrstats.LastWindows(2), 0, 7, 1, []float64{middle[1], middle[1], middle[3]}},
		{"a whole window", []string{key("time", 0), binKey("time", 1, 0), binKey("time", 2, 0)}, 1100, wrstats.LastWindows(2), 0, 4, 1, []float64{middle[1], middle[1], middle[3]}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r, store := observed(t, values)
			for _, key := range c.lost {
				require.Contains(t, store.counts, key)
			}
			store.gone = func(key string) bool { return slices.Contains(c.lost, key) }
			q := quantiles(t, r, c.now, c.span, 0, 0.5, 1)
			require.InDelta(t, c.want, q.Lost, 1e-12)
			require.Equal(t, c.count, q.Count)
			require.Equal(t, c.missing, q.Missing)
			requireNear(t, c.p, q.Values)
		})
	}
}

func TestBinsThatArriveBeforeTheirCountLoseNothing(t *testing.T) {
	r, store := observed(t, map[int][]float64{0: {5, 5, 50}})
	store.counts[key("time", 0)] = 1
	q := quantiles(t, r, 100, wrstats.LastWindows(1), 0.5)
	require.Zero(t, q.Lost)
	require.Equal(t, 3.0, q.Count)
	require.Equal(t, 3.0, q.Windows[0].Value)
}

func TestQuantilesOfAPartialAnswerComeWithItsError(t *testing.T) {
	r, store := observed(t, map[int][]float64{0: {5, 5, 5, 50}})
	store.getErr = fmt.Errorf("10.0.0.1:11211: %w", wrstats.ErrPartial)
	store.gone = func(k string) bool { return k == binKey("time", 2, 0) }
	q, err := r.Quantiles(t.Context(), wrstats.Query{Metric: "time", Entity: filter42, Span: wrstats.Between(at(0), at(600))}, 1)
	require.ErrorIs(t, err, wrstats.ErrPartial)
	requireNear(t, []float64{middle[1]}, q.Values)
	require.Equal(t, 0.25, q.Lost)

	store.getErr = errDown
	q, err = r.Quantiles(t.Context(), wrstats.Query{Metric: "time", Entity: filter42, Span: wrstats.Last(time.Hour)}, 1)
	require.ErrorIs(t, err, errDown)
	require.Empty(t, q)
}

func TestAnotherErrorsBinsAreNotMixed(t *testing.T) {
	_, store := observed(t, map[int][]float64{0: {5, 5, 50}})
	stats, err := wrstats.New(store, wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{
		{Name: "time", Distribution: &wrstats.Distribution{Min: 0.5, Max: 900, RelativeError: 0.5}},
	}})
	require.NoError(t, err)
	q := quantiles(t, stats.NewReader(), 100, wrstats.LastWindows(1), 0.5)
	require.Equal(t, 1.0, q.Lost)
	require.Equal(t, 3.0, q.Count)
}

func TestAReaderFindsTheBinsWithinItsMinAndMax(t *testing.T) {
	_, store := observed(t, map[int][]float64{0: {5, 5, 5, 50}})
	stats, err := wrstats.New(store, wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{
		{Name: "time", Distribution: &wrstats.Distribution{Min: 2, Max: 9, RelativeError: tenfold.RelativeError}},
	}})
	require.NoError(t, err)
	q := quantiles(t, stats.NewReader(), 100, wrstats.LastWindows(1), 1)
	require.Equal(t, []float64{4, 0.25, 2, 9}, []float64{q.Count, q.Lost, q.Min, q.Max})
	requireNear(t, []float64{2}, q.Values)
}
