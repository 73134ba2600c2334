package wrstats

import (
	"fmt"
	"math"
	"time"

	"github.com/wrstats/go-wrstats/timewindow"
)

// An interval is a piece of time, in Unix nanoseconds, that lies within one bucket of each sequence of a
// metric: it reaches from one edge of any sequence to the next. What was counted in it has one key a
// sequence.
type interval struct{ start, end int64 }

func (s interval) contains(t int64) bool { return s.start <= t && t < s.end }

// intervalOf returns the interval of an instant of [earliest, latest).
func intervalOf(sequences []Sequence, t time.Time) interval {
	s := interval{math.MinInt64, math.MaxInt64}
	for _, seq := range sequences {
		start := timewindow.Start(timewindow.Index(t, seq.Step), seq.Step).UnixNano()
		s.start = max(s.start, start)
		s.end = min(s.end, start+int64(seq.Step))
	}
	return s
}

// The instants that can be counted at: their intervals are int64 nanoseconds, and so is everything
// within MaxRetention of them.
var (
	earliest = time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2250, 1, 1, 0, 0, 0, 0, time.UTC)
)

func checkInstant(t time.Time) error {
	if t.Before(earliest) || !t.Before(latest) {
		return fmt.Errorf("%w: the instant %v", ErrInvalidValue, t)
	}
	return nil
}
