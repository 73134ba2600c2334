package wrstats

import (
	"fmt"
	"time"

	"github.com/wrstats/go-wrstats/timewindow"
)

// A Span is the time that a [Query] is about. The zero Span is empty, and an error to read.
type Span struct {
	last       time.Duration
	windows    int
	start, end time.Time
}

// Last is the time from now-d to now. Its older edge usually falls inside a window, which then counts in
// proportion.
func Last(d time.Duration) Span { return Span{last: d} }

// LastWindows is the window in progress and the n-1 before it, whole.
func LastWindows(n int) Span { return Span{windows: n} }

// Between is the time from start, included, to end, excluded.
func Between(start, end time.Time) Span { return Span{start: start.Round(0), end: end.Round(0)} }

// maxWindows bounds what one query reads.
const maxWindows = 1 << 20

// resolve returns the sequence that a span is read from, and the range that it is at now.
func (s Span) resolve(m *Metric, now time.Time) (*Sequence, timewindow.Range, error) {
	seq, r := s.resolveRange(m, now)
	if s.last < 0 || s.windows < 0 || !r.Start.Before(r.End) && s.windows == 0 {
		return nil, r, fmt.Errorf("wrstats: Query.Span is empty or negative: from %v to %v", r.Start, r.End)
	}
	for _, end := range []time.Time{r.Start, r.End} {
		if err := checkInstant(end); err != nil {
			return nil, r, fmt.Errorf("wrstats: Query.Span: %w", err)
		}
	}
	if first, last := r.Buckets(seq.Step); last-first >= maxWindows || last < first {
		return nil, r, fmt.Errorf("wrstats: Query.Span has more than %d windows of %v", maxWindows, seq.Step)
	}
	return seq, r, nil
}

func (s Span) resolveRange(m *Metric, now time.Time) (*Sequence, timewindow.Range) {
	if s.windows > 0 {
		seq := m.sequence(func(seq *Sequence) bool { return seq.Retention/seq.Step >= time.Duration(s.windows) })
		first := timewindow.Index(now, seq.Step) - int64(s.windows-1)
		return seq, timewindow.Range{Start: timewindow.Start(first, seq.Step), End: now}
	}
	r := timewindow.Range{Start: s.start, End: s.end}
	if s.last != 0 {
		r = timewindow.Range{Start: now.Add(-s.last), End: now}
	}
	seq := m.sequence(func(seq *Sequence) bool { return !now.Add(-seq.Retention).After(r.Start) })
	return seq, r
}

// sequence returns the sequence with the shortest life among those that reach far enough, else the
// one that lives longest.
func (m *Metric) sequence(reaches func(*Sequence) bool) *Sequence {
	var best, longest *Sequence
	for i := range m.Sequences {
		seq := &m.Sequences[i]
		if longest == nil || seq.life() > longest.life() {
			longest = seq
		}
		if reaches(seq) && (best == nil || seq.life() < best.life()) {
			best = seq
		}
	}
	if best == nil {
		return longest
	}
	return best
}
