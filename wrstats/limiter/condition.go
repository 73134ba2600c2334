package limiter

import (
	"fmt"
	"time"

	"github.com/wrstats/go-wrstats/timewindow"
	"github.com/wrstats/go-wrstats/wrstats"
)

// A Condition is how much may happen in a rolling window of time.
type Condition struct {
	Name   string        // required; no two of a Limiter have the same
	Limit  int64         // the most in a window; 0 denies everything; negative is refused
	Window time.Duration // over 0; a bucket of it is at least wrstats.MinStep
}

// A rule is a condition as the Limiter applies it.
type rule struct {
	Condition
	step     time.Duration // of a bucket
	sequence string        // key component: conditions of one name and different windows share no key
	ttl      time.Duration // of a bucket's key
}

func newRule(c Condition, buckets int) rule {
	step := c.Window / time.Duration(buckets)
	life := c.Window + step // after its first write a bucket goes on for a step at most, and counts for a window
	return rule{
		Condition: c,
		step:      step,
		sequence:  fmt.Sprintf("%v/%d", c.Window, buckets),
		ttl:       (life + time.Second - 1).Truncate(time.Second),
	}
}

// problem says what is wrong with a rule; "": nothing.
func (r *rule) problem() string {
	switch {
	case r.Name == "":
		return "Name: is empty"
	case r.Limit < 0:
		return fmt.Sprintf("Limit: %d is negative", r.Limit)
	case r.Window <= 0:
		return fmt.Sprintf("Window: %v is not over 0", r.Window)
	case r.Window > wrstats.MaxRetention:
		return fmt.Sprintf("Window: %v is more than %v", r.Window, wrstats.MaxRetention)
	case r.step < wrstats.MinStep:
		return fmt.Sprintf("Window: %v is too short: a bucket of it would be %v, less than %v", r.Window, r.step, wrstats.MinStep)
	}
	return ""
}

// metric is the rule as the metric whose keys it uses.
func (r *rule) metric() wrstats.Metric {
	return wrstats.Metric{
		Name:      r.Name,
		Sequences: []wrstats.Sequence{{Name: r.sequence, Step: r.step, Retention: r.Window}},
	}
}

// window is the time that counts at now.
func (r *rule) window(now time.Time) timewindow.Range {
	return timewindow.Range{Start: now.Add(-r.Window), End: now}
}

// buckets returns the first and last bucket that counts at now.
func (r *rule) buckets(now time.Time) (first, last int64) {
	return r.window(now).Buckets(r.step)
}

// end returns when a bucket ends.
func (r *rule) end(bucket int64) time.Time { return timewindow.Start(bucket+1, r.step) }
