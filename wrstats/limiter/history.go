package limiter

import (
	"math"
	"slices"
	"time"
)

// A history is what a counter had in consecutive buckets.
type history struct {
	first  int64 // bucket
	counts []int64
}

func (h *history) has(bucket int64) bool {
	return bucket >= h.first && bucket-h.first < int64(len(h.counts))
}

func (h *history) clone() history { return history{h.first, slices.Clone(h.counts)} }

// add counts in a bucket, if the history has it.
func (h *history) add(bucket, amount int64) {
	if h.has(bucket) {
		n := &h.counts[bucket-h.first]
		*n = plus(*n, amount)
	}
}

// rolling returns the count of the window at now: of each bucket the part that it shares with it, added
// up, rounded.
func (h *history) rolling(r *rule, now time.Time) int64 {
	window := r.window(now)
	var sum float64
	for i, n := range h.counts {
		if n > 0 {
			sum += float64(n) * window.Share(h.first+int64(i), r.step, now)
		}
	}
	if sum >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(math.Round(sum))
}

// retryAfter returns the shortest wait from now after which a claim that is denied is allowed, if nothing
// more is counted: as time passes, the oldest bucket slides out of the window.
func (h *history) retryAfter(c *claim, now time.Time) time.Duration {
	if !c.fits(0) {
		return Never
	}
	var newer float64 // in the buckets after i
	for i := len(h.counts) - 1; i >= 0; i-- {
		n := float64(h.counts[i])
		room := float64(c.rule.Limit-c.amount) + 0.5 - newer // rounded, it is within the limit below this
		if n >= room {
			return h.slide(c, now, h.first+int64(i), room/n)
		}
		newer += n
	}
	return 0
}

// slide returns the wait until just less than a part of a bucket is still inside the window. The
// arithmetic may be off by a nanosecond or more; the count itself decides.
func (h *history) slide(c *claim, now time.Time, bucket int64, part float64) time.Duration {
	gone := c.rule.end(bucket).Add(c.rule.Window).Sub(now) // until nothing of it is
	wait := max(gone-time.Duration(part*float64(c.rule.step)), 1)
	for more := time.Duration(1); wait < gone; more *= 2 {
		if c.fits(h.rolling(c.rule, now.Add(wait))) {
			break
		}
		wait += more
	}
	return wait
}
