package page

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A series is what a line shows of each window.
type series struct {
	kind, name, marker string // the marker is a path around the point that it starts at
	value              func(*Window) int64
}

// quantileSeries are those of a chart of times. Each has a marker of its own shape, so that they are told apart
// without colour.
var quantileSeries = []series{
	{"p99", "p99", "m0 -4.5l4 7h-8z", func(w *Window) int64 { return w.P99NS }},
	{"p95", "p95", "m-3 -3h6v6h-6z", func(w *Window) int64 { return w.P95NS }},
	{"p50", "p50", "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0", func(w *Window) int64 { return w.P50NS }},
}

var meanSeries = []series{{"p50", "mean", quantileSeries[2].marker, (*Window).meanNS}}

// timeChart has a line for each quantile, or, without those, one of the means.
func timeChart(windows []Window, step time.Duration, noQuantiles bool) *Chart {
	all, title := quantileSeries, "Time of a run"
	if noQuantiles {
		all, title = meanSeries, "Mean time of a run"
	}
	most := int64(0)
	for i := range windows {
		for _, one := range all {
			most = max(most, one.value(&windows[i]))
		}
	}
	s, rulers := newScale(float64(most), 0)
	c := newChart("time", title, windows, step, rulers, s, axis)
	for _, one := range all {
		c.Lines = append(c.Lines, newLine(windows, s, one))
	}
	var text []string
	for i := range windows {
		if w := &windows[i]; w.hasTimes(noQuantiles) {
			text = append(text, clock(w.Start, step)+":"+timesInWords(w, all))
		}
	}
	c.Text = words(text)
	return c
}

// timesInWords is what the series show of a window, the lowest first.
func timesInWords(w *Window, all []series) (text string) {
	for _, one := range slices.Backward(all) {
		text += " " + one.name + " " + duration(one.value(w))
	}
	return text
}

func (w *Window) meanNS() int64 {
	switch {
	case w.Runs == 0:
		return 0
	case w.Runs <= 1:
		return w.TimeNS // as a float64 it may be over an int64
	}
	return int64(float64(w.TimeNS)/w.Runs + 0.5)
}

// hasTimes says whether there is something to draw of a window.
func (w *Window) hasTimes(noQuantiles bool) bool {
	return w.Found && w.Runs > 0 && (noQuantiles || w.Unknown < 1)
}

// newLine draws a series, broken where a window has no times.
func newLine(windows []Window, s scale, of series) line {
	var path, markers strings.Builder
	command := "M"
	for i := range windows {
		v := of.value(&windows[i])
		if v == 0 {
			command = "M"
			continue
		}
		x, y := slotX(i, len(windows)), s.y(float64(v))
		fmt.Fprintf(&path, "%s%g %g", command, x, y)
		if len(windows) <= maxMarkers {
			fmt.Fprintf(&markers, "M%g %g%s", x, y, of.marker)
		}
		command = "L"
	}
	return line{
		Kind: of.kind, Name: of.name, Path: path.String(), Markers: markers.String(),
		Marker: "M11 5" + of.marker,
	}
}
