package page

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// The plot of a chart within its view box.
const (
	chartWidth, chartHeight  = 360, 190
	plotLeft, plotRight      = 54, 352
	plotTop, plotBottom      = 12, 160
	chartLabels, chartRulers = 5, 4 // at most, about
	maxMarkers               = 60   // windows, over which lines have no markers
)

// A Chart is one of a rule's values over its windows.
type Chart struct {
	Name, Title, Text string // Text: what it shows, in words
	Width, Height     int
	Left, Right, Base int
	Rulers            []ruler // lines that go across, with their values
	Labels            []label // of windows
	Bars              []shape // whole windows; those that lack counters; the one in progress
	Lines             []line
	Gaps              string // path of marks at windows that nothing was found of
}

type ruler struct {
	Y    float64
	Text string
}

type label struct {
	X    float64
	Text string
}

// A shape is a path of a kind, which is its class.
type shape struct{ Kind, Path string }

// A line is a series with markers, named at its side.
type line struct {
	Kind, Name, Path, Markers string
	Marker                    string // one, for the key
}

// A scale places the values from 0 to top in a plot.
type scale struct{ top float64 }

func (s scale) y(v float64) float64 {
	return round1(plotBottom - v/s.top*(plotBottom-plotTop))
}

// newScale returns a scale that has room for a value, and the round values of its rulers, which are least apart at
// least.
func newScale(most, least float64) (s scale, rulers []float64) {
	if most <= 0 {
		return scale{1}, []float64{0}
	}
	raw := max(least, most/chartRulers)
	magnitude := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * magnitude
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*magnitude >= raw*0.999 && (magnitude >= 10 || m != 2.5 || least < 1) {
			step = m * magnitude
			break
		}
	}
	for i := 0.0; ; i++ {
		rulers = append(rulers, i*step)
		if i*step >= most {
			return scale{i * step}, rulers
		}
	}
}

func round1(v float64) float64 { return math.Round(v*10) / 10 }

// newChart is a chart with its frame, and nothing in it yet.
func newChart(name, title string, windows []Window, step time.Duration, rulers []float64, s scale, show func(float64) string) *Chart {
	c := &Chart{
		Name: name, Title: title,
		Width: chartWidth, Height: chartHeight, Left: plotLeft, Right: plotRight, Base: plotBottom,
	}
	for _, v := range rulers {
		c.Rulers = append(c.Rulers, ruler{s.y(v), show(v)})
	}
	every := max(1, (len(windows)+chartLabels-1)/chartLabels)
	var gaps strings.Builder
	for i := range windows {
		x := slotX(i, len(windows))
		if i%every == 0 {
			c.Labels = append(c.Labels, label{x, clock(windows[i].Start, step)})
		}
		if !windows[i].Found {
			fmt.Fprintf(&gaps, "M%g %dl4 -4m-4 0l4 4", x-2, plotBottom-3)
		}
	}
	c.Gaps = gaps.String()
	return c
}

// slotX is the middle of a window.
func slotX(i, n int) float64 {
	return round1(plotLeft + (float64(i)+0.5)*(plotRight-plotLeft)/float64(n))
}

// countChart has a bar for each window.
func countChart(name, title string, windows []Window, step time.Duration, value func(*Window) float64) *Chart {
	most := 0.0
	for i := range windows {
		most = max(most, value(&windows[i]))
	}
	s, rulers := newScale(most, 1)
	c := newChart(name, title, windows, step, rulers, s, number)
	var whole, lacking, now strings.Builder
	width := math.Max(0.5, round1(float64(plotRight-plotLeft)/float64(max(1, len(windows)))*0.72))
	var text []string
	for i := range windows {
		w := &windows[i]
		if !w.Found {
			continue
		}
		to := &whole
		switch {
		case w.Incomplete:
			to = &lacking
		case i == len(windows)-1:
			to = &now
		}
		fmt.Fprintf(to, "M%g %dV%gh%gV%dz", round1(slotX(i, len(windows))-width/2), plotBottom, s.y(value(w)), width, plotBottom)
		text = append(text, clock(w.Start, step)+": "+number(value(w)))
	}
	c.Bars = []shape{{"whole", whole.String()}, {"lacking", lacking.String()}, {"now", now.String()}}
	c.Text = words(text)
	return c
}

// words joins what a chart shows, as far as that is bearable to hear: the table beside it has all.
func words(text []string) string {
	switch {
	case len(text) == 0:
		return "Nothing was found in any window."
	case len(text) > MaxSparkWindows:
		text = append([]string{"the last windows"}, text[len(text)-MaxSparkWindows:]...)
	}
	return strings.Join(text, "; ") + "."
}
