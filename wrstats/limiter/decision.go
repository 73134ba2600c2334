package limiter

import (
	"math"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

// An Op is an amount of a condition that an entity asks for.
type Op struct {
	Condition string
	Entity    wrstats.Entity
	Amount    int64 // 0 checks and counts nothing; up to MaxAmount; negative is refused
}

// A Decision is the answer to a batch of ops.
type Decision struct {
	Allowed bool         // all or nothing; by Options.FailOpen when the store failed, always in shadow mode
	Ops     []OpDecision // in the order of the ops
}

// RetryAfter returns the longest of the ops: how long to wait before trying the batch again. It is 0 when no
// count denies, so also when the store failed: how long that lasts nobody knows.
func (d Decision) RetryAfter() time.Duration {
	var longest time.Duration
	for i := range d.Ops {
		longest = max(longest, d.Ops[i].RetryAfter)
	}
	return longest
}

// Never is the RetryAfter of what no waiting helps: an amount that is over the limit by itself.
const Never time.Duration = math.MaxInt64

// An OpDecision is what a [Decision] says of one of its ops.
type OpDecision struct {
	Op    Op
	Limit int64 // of the condition

	// Prev is the rolling count before, and New what it is with all amounts that the batch has for the
	// same condition and entity.
	Prev, New int64

	Allowed bool // by its own condition: false for those that deny the batch

	// RetryAfter is 0 when allowed or Unread. Waiting exactly so long is enough, if nobody else counts meanwhile, or has
	// counted later than the instant of the decision: by a clock that is ahead, or was set back since. For a denial
	// that is remembered, what other processes have counted since it was read comes on top, as do Prev and New.
	RetryAfter time.Duration

	// Unread says that the decision was made without the count: the store failed. Prev and New are 0 then.
	Unread bool
}

// decision is what a request came to.
func (l *Limiter) decision(req *request) Decision {
	denied := false
	for i := range req.claims {
		denied = denied || req.claims[i].denied
	}
	failed := req.err != nil && !req.granted && !denied
	d := Decision{Allowed: req.granted || failed && l.opts.FailOpen, Ops: make([]OpDecision, len(req.ops))}
	for i, op := range req.ops {
		c := &req.claims[req.claimOf[i]]
		d.Ops[i] = OpDecision{
			Op:         op,
			Limit:      c.rule.Limit,
			Prev:       c.prev,
			New:        c.next,
			Allowed:    !c.denied && (c.judged || !failed || d.Allowed),
			RetryAfter: c.retryAfter,
			Unread:     !c.judged,
		}
	}
	d.Allowed = d.Allowed || l.opts.Shadow
	if denied {
		l.opts.OnDenied(d)
	}
	return d
}
