package wrstats_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

// record adds one event at each instant and returns a Reader of them.
func record(t *testing.T, metric string, seconds ...float64) (*wrstats.Reader, *mapStore) {
	store := newMapStore()
	stats := newStats(t, store)
	w := stats.NewWriter(byHand)
	for _, s := range seconds {
		require.NoError(t, w.AddAt(at(s), metric, filter42, 1))
	}
	require.NoError(t, w.Close(t.Context()))
	return stats.NewReader(), store
}

// read returns the rate of one query at an instant.
func read(t *testing.T, r *wrstats.Reader, seconds float64, metric string, span wrstats.Span) wrstats.Rate {
	rates, err := r.RatesAt(t.Context(), at(seconds), []wrstats.Query{{Metric: metric, Entity: filter42, Span: span}})
	require.NoError(t, err)
	require.Len(t, rates, 1)
	return rates[0]
}

func repeat(n int, seconds float64) (all []float64) {
	for range n {
		all = append(all, seconds)
	}
	return all
}

func TestTotals(t *testing.T) {
	sixty := repeat(60, 0.5)
	for _, c := range []struct {
		rule   string
		events []float64
		now    float64
		span   wrstats.Span
		want   float64
	}{
		{"60 events at the start, an hour that holds them", sixty, 1200, wrstats.Last(time.Hour), 60},
		{"just before they leave", sixty, 3599, wrstats.Last(time.Hour), 60},
		{"half of their window has left", sixty, 3900, wrstats.Last(time.Hour), 30},
		{"all of it has left", sixty, 4200, wrstats.Last(time.Hour), 0},
		{"the six windows of the hour, whole", sixty, 3599, wrstats.LastWindows(6), 60},
		{"the six windows after them", sixty, 3600, wrstats.LastWindows(6), 0},
		{"ten events, a silence longer than the span, one event", append(repeat(10, 5), 8000), 8001, wrstats.Last(time.Hour), 1},
		{"an event at the very instant of the read", []float64{600}, 600, wrstats.Last(time.Hour), 1},
		{"an event at the very instant of the read, one window", []float64{600}, 600, wrstats.LastWindows(1), 1},
		{"events after now do not count", []float64{1300}, 1100, wrstats.Last(time.Hour), 0},
		{"the clock set back from 1000 to 400", []float64{1000, 400}, 400, wrstats.Last(time.Hour), 1},
		{"an edge belongs to one of two ranges: the first", []float64{600}, 5000, wrstats.Between(at(0), at(600)), 0},
		{"an edge belongs to one of two ranges: the second", []float64{600}, 5000, wrstats.Between(at(600), at(1200)), 1},
		{"a range in the future", []float64{1300}, 1100, wrstats.Between(at(2000), at(3000)), 0},
		{"before 1970", []float64{-300}, 0, wrstats.Last(time.Hour), 1},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r, _ := record(t, "count", c.events...)
			require.Equal(t, c.want, read(t, r, c.now, "count", c.span).Total)
		})
	}
}

func TestARateSaysHowItCameAbout(t *testing.T) {
	r, _ := record(t, "count", append(repeat(60, 0.5), 3800)...)
	rate := read(t, r, 3900, "count", wrstats.Last(time.Hour))
	require.Equal(t, 31.0, rate.Total)
	require.Equal(t, at(300).UTC(), rate.Range.Start.UTC())
	require.Equal(t, at(3900).UTC(), rate.Range.End.UTC())
	require.Len(t, rate.Windows, 7)
	require.Equal(t, wrstats.Window{Start: at(0).UTC(), Value: 60, Share: 0.5, Found: true}, rate.Windows[0])
	require.Equal(t, wrstats.Window{Start: at(600).UTC(), Share: 1}, rate.Windows[1])
	require.Equal(t, wrstats.Window{Start: at(3600).UTC(), Value: 1, Share: 1, Found: true}, rate.Windows[6])
	require.Equal(t, 5, rate.Missing())
	require.InDelta(t, 31.0/3600, rate.PerSecond(), 1e-12)
	require.InDelta(t, 31.0/60, rate.PerMinute(), 1e-12)
	require.InDelta(t, 31.0, rate.PerHour(), 1e-12)
	require.InDelta(t, 31.0*24, rate.PerDay(), 1e-9)
}

func TestARangeOfNoLengthHasNoRate(t *testing.T) {
	r, _ := record(t, "count", 600)
	rate := read(t, r, 600, "count", wrstats.LastWindows(1))
	require.Equal(t, 1.0, rate.Total)
	require.Zero(t, rate.PerSecond())
}

func TestAWindowWithoutAShareIsNotAskedFor(t *testing.T) {
	r, store := record(t, "count", 0)
	rate := read(t, r, 5000, "count", wrstats.Between(at(0), at(600)))
	require.Len(t, rate.Windows, 2)
	require.Zero(t, rate.Missing())
	require.Equal(t, [][]string{{key("count", 0)}}, store.gets)
}

func TestTotalsAreRoundedToTheResolution(t *testing.T) {
	store := newMapStore()
	store.counts[key("time", 0)] = 12345
	r := newStats(t, store).NewReader()
	require.Equal(t, 12.345, read(t, r, 600, "time", wrstats.Last(time.Hour)).Total)
	require.Equal(t, 4.115, read(t, r, 4000, "time", wrstats.Last(time.Hour)).Total) // a third
}

func TestTheSequenceReadIsTheShortestThatReachesBack(t *testing.T) {
	for _, c := range []struct {
		rule string
		span wrstats.Span
		want time.Duration
	}{
		{"a minute", wrstats.Last(time.Minute), 10 * time.Second},
		{"more than a minute", wrstats.Last(time.Minute + 1), 10 * time.Minute},
		{"more than any holds", wrstats.Last(24 * time.Hour), 10 * time.Minute},
		{"a range of seconds that is long ago", wrstats.Between(at(590), at(610)), 10 * time.Minute},
		{"six windows", wrstats.LastWindows(6), 10 * time.Second},
		{"seven windows, which none holds", wrstats.LastWindows(7), 10 * time.Minute},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r, _ := record(t, "fine", 0)
			windows := read(t, r, 86400, "fine", c.span).Windows
			require.Equal(t, c.want, windows[1].Start.Sub(windows[0].Start))
		})
	}
}

func TestASpanThatCannotBeReadIsAnError(t *testing.T) {
	r, store := record(t, "count")
	for _, c := range []struct {
		rule string
		span wrstats.Span
	}{
		{"zero", wrstats.Span{}},
		{"Last of nothing", wrstats.Last(0)},
		{"negative", wrstats.Last(-1)},
		{"the most negative", wrstats.Last(math.MinInt64)},
		{"no windows", wrstats.LastWindows(0)},
		{"negative windows", wrstats.LastWindows(-1)},
		{"too many windows", wrstats.LastWindows(math.MaxInt32)},
		{"empty", wrstats.Between(at(5), at(5))},
		{"backwards", wrstats.Between(at(5), at(4))},
		{"all of time", wrstats.Between(time.Time{}, at(9e9))},
		{"instants beyond any", wrstats.Between(time.Unix(-1<<62, 0), time.Unix(1<<62, 0))},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := r.RatesAt(t.Context(), at(1000), []wrstats.Query{
				{Metric: "count", Entity: filter42, Span: wrstats.Last(time.Hour)},
				{Metric: "count", Entity: filter42, Span: c.span},
			})
			require.ErrorContains(t, err, "Query.Span")
			require.ErrorContains(t, err, "query 1")
		})
	}
	_, err := r.Rate(t.Context(), wrstats.Query{Metric: "cuont", Span: wrstats.Last(time.Hour)})
	require.ErrorIs(t, err, wrstats.ErrUnknownMetric)
	_, err = r.RatesAt(t.Context(), time.Time{}, []wrstats.Query{{Metric: "count", Span: wrstats.Last(time.Hour)}})
	require.ErrorIs(t, err, wrstats.ErrInvalidValue)
	require.Empty(t, store.gets)
}

func TestAllQueriesAreOneReadThatAsksForEachKeyOnce(t *testing.T) {
	r, store := record(t, "count", 0, 700)
	q := wrstats.Query{Metric: "count", Entity: filter42, Span: wrstats.LastWindows(2)}
	other := wrstats.Query{Metric: "count", Entity: wrstats.Global("x"), Span: wrstats.LastWindows(1)}
	rates, err := r.RatesAt(t.Context(), at(1000), []wrstats.Query{q, other, q})
	require.NoError(t, err)
	require.Equal(t, 2.0, rates[0].Total)
	require.Zero(t, rates[1].Total)
	require.Equal(t, rates[0], rates[2])
	require.Equal(t, [][]string{{key("count", 0), key("count", 1), "global:p:count::1:x"}}, store.gets)

	rates, err = r.Rates(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, rates)
	require.Len(t, store.gets, 1)
}

func TestPerDividesOverTheWindowsThatBothHave(t *testing.T) {
	const now = 3700 // the hour touches windows 0 to 6; all shares
	var keys []string
	for bucket := 1; bucket <= 6; bucket++ {
		keys = append(keys, key("count", bucket), key("time", bucket))
	}
	for _, lost := range append(keys, "") {
		for age := 0.0; age < 3600; age += 333 {
			t.Run(fmt.Sprintf("lost=%s/age=%v", lost, age), func(t *testing.T) {
				store := newMapStore()
				for i, key := range keys { // five matches in a hundred runs
					store.counts[key] = []int64{100, 5000}[i%2]
				}
				delete(store.counts, lost)
				r := newStats(t, store).NewReader()
				runs := read(t, r, now+age, "count", wrstats.LastWindows(6))
				matches := read(t, r, now+age, "time", wrstats.LastWindows(6))
				if age == 0 {
					missing := map[bool]int{true: 1}[lost != ""]
					require.Equal(t, missing, runs.Missing()+matches.Missing())
				}
				mean, ok := matches.Per(runs)
				if !ok {
					require.Greater(t, age, 2400.0, "at least a window has both")
					return
				}
				require.InDelta(t, 0.05, mean, 1e-12)
			})
		}
	}
}

func TestPerOfWhatCannotBeDivided(t *testing.T) {
	r, _ := record(t, "count", 0)
	count := read(t, r, 100, "count", wrstats.Last(time.Hour))
	none := read(t, r, 100, "time", wrstats.Last(time.Hour))
	later := read(t, r, 90_000, "count", wrstats.Last(time.Hour))
	r, _ = record(t, "fine", 0)
	fine := read(t, r, 100, "fine", wrstats.Last(time.Minute))
	for _, other := range []wrstats.Rate{none, later, fine, {}} {
		_, ok := count.Per(other)
		require.False(t, ok)
	}
	mean, ok := count.Per(count)
	require.True(t, ok)
	require.Equal(t, 1.0, mean)
}

func TestALostKeyDoesNotBendAMean(t *testing.T) {
	store := newMapStore()
	store.counts[key("time", 0)] = 600_000
	store.counts[key("time", 1)] = 600_000
	store.counts[key("count", 0)] = 60 // that of window 1 is lost
	r := newStats(t, store).NewReader()
	mean, ok := read(t, r, 1200, "time", wrstats.Last(time.Hour)).Per(read(t, r, 1200, "count", wrstats.Last(time.Hour)))
	require.True(t, ok)
	require.Equal(t, 10.0, mean)
}

func TestAPartialAnswerComesWithItsError(t *testing.T) {
	r, store := record(t, "count", 0, 700)
	store.getErr = fmt.Errorf("10.0.0.1:11211: %w", wrstats.ErrPartial)
	store.gone = func(k string) bool { return k == key("count", 1) }
	rate, err := r.Rate(t.Context(), wrstats.Query{Metric: "count", Entity: filter42, Span: wrstats.Between(at(0), at(1200))})
	require.ErrorIs(t, err, wrstats.ErrPartial)
	require.ErrorContains(t, err, "10.0.0.1:11211")
	require.Equal(t, 1.0, rate.Total)
	require.Equal(t, 1, rate.Missing())
}

func TestAnyOtherErrorComesAlone(t *testing.T) {
	r, store := record(t, "count", 0)
	store.getErr = errors.New("no route")
	rates, err := r.Rates(t.Context(), []wrstats.Query{{Metric: "count", Entity: filter42, Span: wrstats.Last(time.Hour)}})
	require.ErrorIs(t, err, store.getErr)
	require.Nil(t, rates)
}
