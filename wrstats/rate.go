package wrstats

import (
	"time"

	"github.com/wrstats/go-wrstats/timewindow"
)

// A Rate is what a metric of an entity came to in a span of time.
type Rate struct {
	Total   float64          // in the metric's unit, rounded to its resolution
	Range   timewindow.Range // what the span was
	Windows []Window         // that the range touches, oldest first
	step    time.Duration
}

// A Window is a bucket as a reader sees it.
type Window struct {
	Start time.Time
	Value float64 // the whole bucket, in the metric's unit
	Share float64 // the part of it that belongs to the range, 0 to 1
	Found bool    // whether the store had it; a window without a share is not asked for
}

// PerSecond returns the total divided by the length of the range in seconds; 0 for a range of no
// length, which LastWindows(1) has at the very start of a window.
func (r Rate) PerSecond() float64 { return r.per(time.Second) }

// PerMinute is PerSecond for a minute.
func (r Rate) PerMinute() float64 { return r.per(time.Minute) }

// PerHour is PerSecond for an hour.
func (r Rate) PerHour() float64 { return r.per(time.Hour) }

// PerDay is PerSecond for 24 hours.
func (r Rate) PerDay() float64 { return r.per(24 * time.Hour) }

func (r Rate) per(unit time.Duration) float64 {
	length := r.Range.Duration()
	if length <= 0 {
		return 0
	}
	return r.Total / (float64(length) / float64(unit))
}

// Missing returns how many windows with a share had no key: nothing was recorded in them, or the key
// is lost.
func (r Rate) Missing() int {
	missing := 0
	for _, w := range r.Windows {
		if w.Share > 0 && !w.Found {
			missing++
		}
	}
	return missing
}

// Per returns the mean of r over other, such as milliseconds a run, over those windows alone that both
// have, so that a lost key costs samples and does not bend the mean. The two are to be read over the same
// span. ok is false when there is no window that both have, when other is 0 in all of them, or when the
// two have windows of different width.
func (r Rate) Per(other Rate) (mean float64, ok bool) {
	if r.step != other.step {
		return 0, false
	}
	var above, below float64
	others := other.Windows
	for _, w := range r.Windows {
		for len(others) > 0 && others[0].Start.Before(w.Start) {
			others = others[1:]
		}
		if len(others) == 0 {
			break
		}
		if o := others[0]; o.Start.Equal(w.Start) && o.Found && w.Found {
			above += w.Value * w.Share
			below += o.Value * o.Share
		}
	}
	if below == 0 {
		return 0, false
	}
	return above / below, true
}
