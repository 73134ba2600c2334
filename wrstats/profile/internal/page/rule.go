package page

import (
	"slices"
	"time"
)

// A rulePage is what the template is given.
type rulePage struct {
	Frame
	*RulePage
	CanReset bool
}

// HTML renders the page of a rule.
func (p *RulePage) HTML(f Frame, canReset bool) ([]byte, error) {
	return render("rule", rulePage{f, p, canReset})
}

// Charts are those of a rule.
func (p rulePage) Charts() []*Chart {
	step := p.Step()
	return []*Chart{
		countChart("runs", "Runs", p.Windows, step, func(w *Window) float64 { return w.Runs }),
		countChart("matches", "Matches", p.Windows, step, func(w *Window) float64 { return w.Matches }),
		timeChart(p.Windows, step, p.NoTimes),
	}
}

// Newest are the windows, the newest first.
func (p rulePage) Newest() []Window {
	windows := slices.Clone(p.Windows)
	slices.Reverse(windows)
	return windows
}

// ResetLink is where the rule can be reset.
func (p rulePage) ResetLink() string { return Reset{ID: p.Rule.ID}.Action() }

// JSONLink is where the same is as JSON.
func (p rulePage) JSONLink() string { return p.Rule.Page + "&format=json" }

// Mean is the mean time of a window's runs.
func (w Window) Mean() int64 { return w.meanNS() }

// Show shows a count of a window. A count of 0 may be one that is lost, where some are.
func (w Window) Show(n float64) string {
	if n == 0 && w.Incomplete {
		return none
	}
	return number(n)
}

// ShowTime is Show for the time.
func (w Window) ShowTime() string {
	if w.TimeNS == 0 && w.Incomplete {
		return none
	}
	return duration(w.TimeNS)
}

// HasTimes says whether a window's quantiles are of something.
func (w Window) HasTimes() bool { return w.hasTimes(false) }

// State says what there is of a window, in a word or two.
func (w Window) State(now time.Time, step time.Duration) string {
	switch {
	case !w.Found:
		return "nothing found"
	case w.Incomplete:
		return "counters missing"
	case w.Start.Add(step).After(now):
		return "in progress"
	case w.Share < 1:
		return percent(w.Share) + " in range"
	}
	return "whole"
}
