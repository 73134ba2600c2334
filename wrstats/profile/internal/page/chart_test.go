package page

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAScaleHasRoomAndRoundRulers(t *testing.T) {
	for _, c := range []struct {
		most, least float64
		want        []float64
	}{
		{0, 1, []float64{0}},
		{1, 1, []float64{0, 1}},
		{3, 1, []float64{0, 1, 2, 3}},
		{4, 1, []float64{0, 1, 2, 3, 4}},
		{9, 1, []float64{0, 5, 10}}, // not 2.5 of what is counted
		{80, 1, []float64{0, 20, 40, 60, 80}},
		{81, 1, []float64{0, 25, 50, 75, 100}},
		{1000, 1, []float64{0, 250, 500, 750, 1000}},
		{9e-3, 0, []float64{0, 2.5e-3, 5e-3, 7.5e-3, 10e-3}},
	} {
		s, rulers := newScale(c.most, c.least)
		require.InDeltaSlice(t, c.want, rulers, 1e-9, "%v", c.most)
		require.GreaterOrEqual(t, s.top, c.most)
	}
	for most := 1.0; most < 1e12; most *= 1.37 {
		s, rulers := newScale(math.Floor(most), 1)
		require.LessOrEqual(t, len(rulers), 7)
		require.InDelta(t, plotTop, s.y(s.top), 1e-9)
		require.InDelta(t, plotBottom, s.y(0), 1e-9)
	}
}

// windows are of these many runs, ten minutes each; -1: nothing was found.
func windows(runs ...float64) (all []Window) {
	start := time.Date(2020, 1, 1, 12, 0, 0, 0, time.UTC)
	for i, n := range runs {
		w := Window{Start: start.Add(time.Duration(i) * 10 * time.Minute), Share: 1, Found: n >= 0, Runs: max(0, n)}
		w.TimeNS, w.P50NS, w.P95NS, w.P99NS = int64(w.Runs)*1e6, int64(w.Runs), 2*int64(w.Runs), 3*int64(w.Runs)
		all = append(all, w)
	}
	return all
}

func TestBarsTellWholeLackingAndUnfinishedWindowsApart(t *testing.T) {
	all := windows(4, -1, 2, 3)
	all[2].Incomplete = true
	c := countChart("runs", "Runs", all, 10*time.Minute, func(w *Window) float64 { return w.Runs })
	bars := make(map[string]int)
	for _, b := range c.Bars {
		bars[b.Kind] = strings.Count(b.Path, "M")
	}
	require.Equal(t, map[string]int{"whole": 1, "lacking": 1, "now": 1}, bars)
	require.Equal(t, 2, strings.Count(c.Gaps, "l"), "one cross")
	require.Equal(t, "12:00: 4; 12:20: 2; 12:30: 3.", c.Text)

	r := Row{}
	r.SetWindows(all)
	s := r.Spark()
	require.Equal(t, "M0 22v-22h6v22z", s.Whole)
	require.Equal(t, "M16 22v-11h6v11z", s.Lacking)
	require.Equal(t, "M24 22v-17h6v17z", s.Now)
	require.Equal(t, "M10 22v-2h2v2z", s.Nothing)
	require.Equal(t, "4, none, 2, 3", s.Text)
}

func TestLinesBreakWhereNothingIsKnown(t *testing.T) {
	c := timeChart(windows(4, 5, -1, 3), 10*time.Minute, false)
	require.Len(t, c.Lines, 3)
	for _, l := range c.Lines {
		require.Equal(t, 2, strings.Count(l.Path, "M"), l.Name)
		require.Equal(t, 1, strings.Count(l.Path, "L"), l.Name)
		require.Equal(t, 3, strings.Count(l.Markers, "M"), l.Name)
	}
	require.Equal(t, "12:00: p50 4 ns p95 8 ns p99 12 ns; 12:10: p50 5 ns p95 10 ns p99 15 ns; 12:30: p50 3 ns p95 6 ns p99 9 ns.", spaced(c.Text))

	c = timeChart(windows(4, 5), 10*time.Minute, true)
	require.Len(t, c.Lines, 1)
	require.Equal(t, "12:00: mean 1.00 ms; 12:10: mean 1.00 ms.", spaced(c.Text))
	require.Equal(t, "Nothing was found in any window.", timeChart(nil, time.Minute, false).Text)
}

func TestTheLongestTimeHasAPlaceInAChart(t *testing.T) {
	all := windows(1)
	all[0].TimeNS = math.MaxInt64
	require.Equal(t, int64(math.MaxInt64), all[0].Mean())
	c := timeChart(all, 10*time.Minute, true)
	require.Equal(t, "12:00: mean 106752 d.", spaced(c.Text))
	require.Greater(t, len(c.Rulers), 1)
	for _, r := range c.Rulers {
		require.NotContains(t, r.Text, "−")
		require.GreaterOrEqual(t, r.Y, float64(plotTop))
	}
}

func TestChartsOfManyWindowsStayReadable(t *testing.T) {
	all := windows(make([]float64, 500)...)
	c := countChart("runs", "Runs", all, 10*time.Minute, func(w *Window) float64 { return w.Runs })
	require.LessOrEqual(t, len(c.Labels), chartLabels)
	require.Less(t, len(c.Text), 500)
	all = windows(1, 2, 3)
	for len(all) <= maxMarkers {
		all = append(all, all...)
	}
	require.Empty(t, timeChart(all, 10*time.Minute, false).Lines[0].Markers)
}
