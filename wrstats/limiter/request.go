package limiter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

// A request is one call of a Limiter on its way through the queue.
type request struct {
	now                 time.Time
	live                bool // now is the present: the instant at which its round has the counters
	asks, counts, wipes bool // what it is to do: read and judge, add its amounts, delete
	ops                 []Op
	claims              []claim // of the ops, one for each counter
	claimOf             []int   // the claim of each op

	answered chan struct{} // closed when what follows is set; nil for one that runs in its caller
	granted  bool
	err      error // the store failed
	panicked any   // what the store panicked with; nil: it did not

	// Guarded by queue.mu.
	round *round
	left  bool // its caller does not wait any more
}

// claim adds up what the ops ask of each counter.
func (l *Limiter) claim(req *request, ops []Op) error {
	req.ops = ops
	req.claims = make([]claim, 0, len(ops))
	req.claimOf = make([]int, len(ops))
	for i, op := range ops {
		r := l.rules[op.Condition]
		if r == nil {
			return fmt.Errorf("%w %q (op %d)", ErrUnknownCondition, op.Condition, i)
		}
		if op.Amount < 0 || op.Amount > MaxAmount {
			return fmt.Errorf("%w %d (op %d)", ErrInvalidAmount, op.Amount, i)
		}
		at := req.find(counter{r, op.Entity})
		req.claims[at].amount = plus(req.claims[at].amount, op.Amount)
		req.claimOf[i] = at
	}
	return nil
}

// find returns the position of a counter's claim, adding one that is new. Batches are small.
func (req *request) find(c counter) int {
	for i := range req.claims {
		if req.claims[i].counter == c {
			return i
		}
	}
	req.claims = append(req.claims, claim{counter: c})
	return len(req.claims) - 1
}

// answer takes a request to its end.
func (l *Limiter) answer(ctx context.Context, req *request, ops []Op) (Decision, error) {
	if err := l.claim(req, ops); err != nil {
		return Decision{}, err
	}
	if len(ops) == 0 {
		return Decision{Allowed: true}, nil
	}
	if err := ctx.Err(); err != nil {
		return l.unanswered(req, err)
	}
	if req.asks && req.counts && l.recall(req) {
		return l.decision(req), nil
	}
	if r := l.queue.enter(req); r != nil {
		l.runAlone(ctx, r)
		return l.decision(req), req.err
	}
	return l.await(ctx, req)
}

// await waits for the answer to a queued request.
func (l *Limiter) await(ctx context.Context, req *request) (Decision, error) {
	select {
	case <-req.answered:
		if req.panicked != nil {
			panic(req.panicked)
		}
		return l.decision(req), req.err
	case <-ctx.Done():
		l.queue.leave(req)
		return l.unanswered(req, ctx.Err())
	}
}

// recall denies by what is remembered, if that suffices: how long to wait takes the histories of all claims.
func (l *Limiter) recall(req *request) (denied bool) {
	for i := range req.claims {
		c := &req.claims[i]
		h, ok := l.denials.recall(c.counter)
		if !ok {
			return false
		}
		c.judge(&h, req.now)
		denied = denied || c.denied
	}
	return denied
}

// judge decides whether a request is granted, by what was read of its claims and how that failed. Servers
// that failed can only have more than was read, so a denial is certain with some of them too.
func (req *request) judge(err error, failOpen bool) {
	if !req.asks {
		req.granted = req.counts
		return
	}
	req.err = err
	if err != nil && !errors.Is(err, wrstats.ErrPartial) {
		return
	}
	req.granted = err == nil || failOpen
	for i := range req.claims {
		c := &req.claims[i]
		c.judge(c.history, req.now)
		req.granted = req.granted && !c.denied
	}
}

// unanswered is the decision of a request whose context ended. Others may still be at work on the request
// itself.
func (l *Limiter) unanswered(req *request, err error) (Decision, error) {
	failed := &request{ops: req.ops, claimOf: req.claimOf, err: l.failure("waiting", err)}
	for i := range req.claims {
		failed.claims = append(failed.claims, claim{counter: req.claims[i].counter})
	}
	return l.decision(failed), failed.err
}
