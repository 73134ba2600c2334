package limiter

import (
	"math"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

// A counter is what is counted of an entity under a rule.
type counter struct {
	rule   *rule
	entity wrstats.Entity
}

// A claim is all that a request asks of one counter, and what it is told.
type claim struct {
	counter
	amount  int64
	history *history // that it is judged by; nil: none was read

	judged     bool
	denied     bool
	prev, next int64
	retryAfter time.Duration
}

// judge compares a claim with what a history has at now.
func (c *claim) judge(h *history, now time.Time) {
	c.judged = true
	c.prev = h.rolling(c.rule, now)
	c.next = plus(c.prev, c.amount)
	if c.denied = !c.fits(c.prev); c.denied {
		c.retryAfter = h.retryAfter(c, now)
	}
}

// fits reports whether a claim is within its limit on top of a rolling count.
func (c *claim) fits(prev int64) bool { return plus(prev, c.amount) <= c.rule.Limit }

// plus adds numbers that are not negative; a sum over an int64 stays at the largest.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
