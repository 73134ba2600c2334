package page

import "time"

// state says how whole a profile is, in words.
type state struct {
	Lacking int // rules with windows that lack counters
	Blind   int // rules some of whose times are unknown
}

func newState(o *Overview) state {
	var s state
	for i := range o.Rules {
		r := &o.Rules[i]
		switch {
		case r.Incomplete > 0:
			s.Lacking++
		case r.Blind():
			s.Blind++
		}
	}
	if o.NoTimes {
		s.Blind = 0
	}
	return s
}

// Range says what the head's range is, such as "hour" after "the last".
func (h Head) Range() string { return last(h.Read.Sub(h.From)) }

// Step is the width of a window.
func (h Head) Step() time.Duration { return time.Duration(h.StepNS) }

// Span is the width of a window in words.
func (h Head) Span() string { return Span(h.Step()) }

// FromDate is the day that the range begins at, where that is not the one that it ends at.
func (h Head) FromDate() string {
	from, to := h.From.UTC(), h.Read.UTC()
	if from.YearDay() == to.YearDay() && from.Year() == to.Year() {
		return ""
	}
	return from.Format("2 January") + ", "
}
