package timewindow

import "time"

// A Range is the time from Start, included, to End, excluded.
type Range struct{ Start, End time.Time }

// Duration returns End - Start, the nearest [time.Duration] where that is over 292 years. It is
// negative when End is before Start.
func (r Range) Duration() time.Duration { return r.End.Sub(r.Start) }

// Buckets returns the first and the last bucket that the range touches, Index(Start) and Index(End),
// both included: what happens at the very instant End, read at that instant, is in the last one.
func (r Range) Buckets(step time.Duration) (first, last int64) {
	return Index(r.Start, step), Index(r.End, step)
}

// Share returns which part of a bucket's count, as it stands at now, belongs to the range: a number
// from 0 to 1, taking the count to be spread evenly.
//
// Nothing has been counted in the future, so the bucket is taken to end at the earlier of its end and
// now; the share is the part of that time which the range overlaps. A bucket that starts after now has
// share 0. When now is exactly the bucket's start, all that its count can hold happened at now: the
// share is then 1 for a range that ends there, so that an increment made at the very instant of a read
// counts, and for one that began earlier and is still going on; it is 0 for the others, so that
// adjacent ranges never both have it.
func (r Range) Share(index int64, step time.Duration, now time.Time) float64 {
	start := Start(index, step)
	if now.Equal(start) {
		return r.shareOfInstant(start)
	}
	end := earlier(start.Add(step), now)
	overlap := earlier(r.End, end).Sub(later(r.Start, start))
	if overlap <= 0 || !end.After(start) {
		return 0
	}
	return float64(overlap) / float64(end.Sub(start))
}

func (r Range) shareOfInstant(t time.Time) float64 {
	ends := r.End.Equal(t) && !r.Start.After(t)
	if ends || r.Start.Before(t) && r.End.After(t) {
		return 1
	}
	return 0
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
