package wrstats_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

// observed returns a Reader of values of the metric time, by bucket.
func observed(t *testing.T, buckets map[int][]float64) (*wrstats.Reader, *mapStore) {
	store := newMapStore()
	stats := newObserving(t, store)
	w := stats.NewWriter(byHand)
	for bucket, values := range buckets {
		for _, v := range values {
			require.NoError(t, w.ObserveAt(at(float64(600*bucket)), "time", filter42, v))
		}
	}
	require.NoError(t, w.Close(t.Context()))
	return stats.NewReader(), store
}

func quantiles(t *testing.T, r *wrstats.Reader, now float64, span wrstats.Span, ps ...float64) wrstats.Quantiles {
	q, err := r.QuantilesAt(t.Context(), at(now), wrstats.Query{Metric: "time", Entity: filter42, Span: span}, ps...)
	require.NoError(t, err)
	return q
}

// What stands for the values of tenfold's bins: up to 1, from 1 to 10, to 100, and from that.
var middle = []float64{0.5, 20.0 / 11, 200.0 / 11, 2000.0 / 11}

func TestQuantilesSayHowTheyCameAbout(t *testing.T) {
	r, store := observed(t, map[int][]float64{0: {5, 5, 5, 50}, 1: {50, 50}})
	q := quantiles(t, r, 1300, wrstats.LastWindows(3), 0, 0.5, 0.51, 1)
	requireNear(t, []float64{middle[1], middle[1], middle[2], middle[2]}, q.Values)
	require.Equal(t, 6.0, q.Count)
	require.InDelta(t, 1, q.Min, 1e-9)
	require.InDelta(t, 100, q.Max, 1e-9)
	require.Zero(t, q.Lost)
	require.Equal(t, 1, q.Missing, "nothing was observed in the last")
	require.Equal(t, at(0).UTC(), q.Range.Start)
	require.Len(t, q.Windows, 3)
	require.Equal(t, wrstats.Window{Start: at(0).UTC(), Value: 4, Share: 1, Found: true}, q.Windows[0].Window)
	requireNear(t, []float64{middle[1], middle[1], middle[1], middle[2]}, q.Windows[0].Values)
	requireNear(t, []float64{middle[2], middle[2], middle[2], middle[2]}, q.Windows[1].Values)
	require.Equal(t, wrstats.Window{Start: at(1200).UTC(), Share: 1}, q.Windows[2].Window)
	require.Equal(t, []float64{0, 0, 0, 0}, q.Windows[2].Values)
	require.Len(t, store.gets, 1)
	require.Len(t, store.gets[0], 3*(1+4), "the count and the bins that can be, of each window")

	rate, err := r.RatesAt(t.Context(), at(1300), []wrstats.Query{{Metric: "time", Entity: filter42, Span: wrstats.LastWindows(3)}})
	require.NoError(t, err)
	require.Equal(t, 6.0, rate[0].Total, "the rate of a distribution is that of its observations")
}

func requireNear(t *testing.T, want, got []float64) {
	t.Helper()
	require.InDeltaSlice(t, want, got, 1e-9)
}

func TestTheQuantileIsTheSmallestValueThatAPartDoesNotExceed(t *testing.T) {
	r, _ := observed(t, map[int][]float64{0: {0.9, 5, 5, 5, 5, 50, 50, 50, 50, 500}})
	for p, want := range map[float64]float64{
		0: middle[0], 0.1: middle[0], 0.11: middle[1], 0.5: middle[1], 0.500001: middle[2], 0.9: middle[2], 0.91: middle[3], 1: middle[3],
	} {
		requireNear(t, []float64{want}, quantiles(t, r, 100, wrstats.LastWindows(1), p).Values)
	}
}

// A part that floating point makes a little more of than it is, is still that part.
func TestAPartOfAWholeNumberIsNotRoundedUp(t *testing.T) {
	for _, c := range []struct {
		p       float64
		of, low int
	}{{0.28, 25, 7}, {0.56, 25, 14}, {0.07, 100, 7}, {0.55, 100, 55}, {0.57, 100, 57}} {
		values := slices.Repeat([]float64{5}, c.low)
		values = append(values, slices.Repeat([]float64{500}, c.of-c.low)...)
		r, _ := observed(t, map[int][]float64{0: values})
		requireNear(t, middle[1:2], quantiles(t, r, 100, wrstats.LastWindows(1), c.p).Values)
	}
}

// The largest is found beside however many others.
func TestTheLargestOfVeryManyIsFound(t *testing.T) {
	r, store := observed(t, map[int][]float64{0: {5, 500}})
	require.Contains(t, store.counts, binKey("time", 1, 0))
	store.counts[binKey("time", 1, 0)] = 1 << 51
	requireNear(t, []float64{middle[1], middle[3]}, quantiles(t, r, 100, wrstats.LastWindows(1), 0.999999, 1).Values)
}

func TestAWindowAtTheEdgeCountsInProportion(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	store := newMapStore()
	stats, err := wrstats.New(store, wrstats.Config{Prefix: "p", Metrics: []wrstats.Metric{
		{Name: "time", Distribution: &wrstats.Distribution{Min: 1e-3, Max: 1e6, RelativeError: 0.02}},
	}})
	require.NoError(t, err)
	w := stats.NewWriter(byHand)
	type weighted struct{ value, weight float64 }
	for _, now := range []float64{3900, 3750, 4199} { // the first window has a half, three quarters, a 600th of itself
		var all []weighted
		e := wrstats.Local(fmt.Sprint(now))
		share := (4200 - now) / 600
		for i := range 20_000 {
			window := i % 7
			v := math.Exp(float64(window%3) + random.NormFloat64())
			require.NoError(t, w.ObserveAt(at(float64(600*window)), "time", e, v))
			weight := 1.0
			if window == 0 {
				weight = share
			}
			all = append(all, weighted{v, weight})
		}
		require.NoError(t, w.Flush(t.Context()))
		q, err := stats.NewReader().QuantilesAt(t.Context(), at(now), wrstats.Query{Metric: "time", Entity: e, Span: wrstats.Last(time.Hour)}, percentiles...)
		require.NoError(t, err)
		sort.Slice(all, func(i, j int) bool { return all[i].value < all[j].value })
		total := 0.0
		for _, v := range all {
			total += v.weight
		}
		require.Equal(t, math.Round(total), q.Count)
		for i, p := range percentiles {
			sum, exact := 0.0, 0.0
			for _, v := range all {
				if exact = v.value; sum+v.weight >= p*total-1e-6 {
					break
				}
				sum += v.weight
			}
			require.InEpsilon(t, exact, q.Values[i], 0.02*(1+1e-3), "p%v at %v", 100*p, now)
		}
	}
	require.NoError(t, w.Close(t.Context()))
}

func TestWhereNothingWasObservedAllIsZero(t *testing.T) {
	r, _ := observed(t, nil)
	q := quantiles(t, r, 1000, wrstats.LastWindows(2), 0.5, 0.99)
	require.Equal(t, []float64{0, 0}, q.Values)
	require.Equal(t, 2, q.Missing)
	require.Equal(t, []float64{0, 0, 0, 0}, []float64{q.Count, q.Min, q.Max, q.Lost})

	r, _ = observed(t, map[int][]float64{0: {5}})
	q = quantiles(t, r, 1000, wrstats.LastWindows(2))
	require.Empty(t, q.Values, "no quantile is asked for")
	require.Equal(t, 1.0, q.Count)
}

func TestOutOfMinAndMaxCountsAsThem(t *testing.T) {
	r, _ := observed(t, map[int][]float64{0: {0, -7, 1e9}})
	q := quantiles(t, r, 100, wrstats.LastWindows(1), 0, 1)
	requireNear(t, []float64{middle[0], middle[3]}, q.Values)
	require.Equal(t, []float64{0.5, 900}, []float64{q.Min, q.Max})
}

func TestWhatHasNoQuantilesIsAnError(t *testing.T) {
	r, store := observed(t, nil)
	hour := wrstats.Last(time.Hour)
	for _, c := range []struct {
		rule  string
		query wrstats.Query
		ps    []float64
		want  error
		text  string
	}{
		{"p below 0", wrstats.Query{Metric: "time", Span: hour}, []float64{0.5, -0.1}, wrstats.ErrInvalidValue, "the quantile -0.1"},
		{"p over 1", wrstats.Query{Metric: "time", Span: hour}, []float64{99}, wrstats.ErrInvalidValue, "the quantile 99"},
		{"p that is no number", wrstats.Query{Metric: "time", Span: hour}, []float64{nan()}, wrstats.ErrInvalidValue, "the quantile NaN"},
		{"a plain metric", wrstats.Query{Metric: "count", Span: hour}, []float64{0.5}, wrstats.ErrWrongKind, `"count" has no distribution (query 0)`},
		{"an unknown metric", wrstats.Query{Metric: "nope", Span: hour}, []float64{0.5}, wrstats.ErrUnknownMetric, "nope"},
		{"no span", wrstats.Query{Metric: "time"}, []float64{0.5}, nil, "Query.Span is empty"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			q, err := r.Quantiles(t.Context(), c.query, c.ps...)
			require.ErrorContains(t, err, c.text)
			require.Empty(t, q)
			if c.want != nil {
				require.ErrorIs(t, err, c.want)
			}
		})
	}
	require.Empty(t, store.gets)
}

func TestRatesAndQuantilesOfManyAreOneReadThatAsksForEachKeyOnce(t *testing.T) {
	r, store := observed(t, map[int][]float64{0: {5}, 1: {50, 50}})
	hour := wrstats.Query{Metric: "time", Entity: filter42, Span: wrstats.Last(time.Hour)}
	two := wrstats.Query{Metric: "time", Entity: filter42, Span: wrstats.LastWindows(2)}
	other := wrstats.Query{Metric: "time", Entity: wrstats.Local("other"), Span: wrstats.LastWindows(2)}
	answer, err := r.ReadAt(t.Context(), at(1100), wrstats.Request{
		Rates:     []wrstats.Query{two, {Metric: "count", Entity: filter42, Span: wrstats.LastWindows(2)}},
		Quantiles: []wrstats.Query{hour, other, two},
		Ps:        []float64{1},
	})
	require.NoError(t, err)
	require.Len(t, store.gets, 1)
	keys := make(map[string]bool)
	for _, key := range store.gets[0] {
		require.False(t, keys[key], "twice: %s", key)
		keys[key] = true
	}
	// 7 windows of the hour, which the two are among, two of the other entity, and two of count.
	require.Len(t, keys, 7*5+2*5+2, "%v", slices.Sorted(maps.Keys(keys)))
	require.Equal(t, 3.0, answer.Rates[0].Total)
	require.Len(t, answer.Quantiles, 3)
	requireNear(t, []float64{middle[2]}, answer.Quantiles[0].Values)
	require.Equal(t, []float64{0}, answer.Quantiles[1].Values)
	require.Equal(t, 3.0, answer.Quantiles[2].Count)

	answer, err = r.Read(t.Context(), wrstats.Request{})
	require.NoError(t, err)
	require.Empty(t, answer)
	require.Len(t, store.gets, 1)
}

func TestBinsAreSpelledAsMediaWikiDoesToo(t *testing.T) {
	store := newMapStore()
	stats, err := wrstats.New(store, wrstats.Config{
		Prefix: "p", Keyspace: "enwiki", Keys: wrstats.MediaWikiKeys,
		Metrics: []wrstats.Metric{{Name: "time", Distribution: &tenfold}},
	})
	require.NoError(t, err)
	w := stats.NewWriter(byHand)
	long := wrstats.Local(strings.Repeat("a b", 100))
	for _, e := range []wrstats.Entity{filter42, long} {
		require.NoError(t, w.ObserveAt(at(0), "time", e, 5))
	}
	require.NoError(t, w.Close(t.Context()))
	require.Contains(t, store.counts, "enwiki:p:time/0.8181818181818182/1::0:filter:42")
	for _, e := range []wrstats.Entity{filter42, long} {
		q, err := stats.NewReader().QuantilesAt(t.Context(), at(1), wrstats.Query{Metric: "time", Entity: e, Span: wrstats.LastWindows(1)}, 1)
		require.NoError(t, err)
		requireNear(t, []float64{middle[1]}, q.Values)
	}
}
