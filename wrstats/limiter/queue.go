package limiter

import (
	"context"
	"slices"
	"sync"
)

// A queue lets the rounds of one counter run one after the other, and those of different counters side by
// side. Requests that arrive while a round has one of their counters wait together for the next one.
type queue struct {
	mu    sync.Mutex // guards gates, and what gate, round and request say it guards
	gates map[counter]*gate
	made  int64 // rounds
}

// A gate stands at each counter that a round has or waits for. queue.mu guards it.
type gate struct {
	rounds []*round  // in the order that they have the counter; the first may be running
	few    [2]*round // where rounds begins
}

// last returns the round that has the counter after all others; nil: there is none.
func (g *gate) last() *round {
	if g == nil {
		return nil
	}
	return g.rounds[len(g.rounds)-1]
}

// A round is requests that are answered by one read and counted by one write. One that waits does so for
// older ones, and for those that run, so that rounds never wait for each other.
type round struct {
	number   int64 // the order that rounds are made in
	requests []*request
	counters []counter // of the requests, each once

	// Guarded by queue.mu, like requests and counters until it runs.
	running bool
	present int                // requests whose callers have not left
	ahead   int                // gates at which a round that runs is right before this one
	waiting int                // gates at which one that waits is
	cancel  context.CancelFunc // ends the round's work; nil: it does not run, or has its only caller's context
}

// enter queues a request. It returns a round if that can run at once, which is then of this request alone;
// else request.answered tells when another goroutine has answered it.
func (q *queue) enter(req *request) *round {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.open(req)
	if r == nil {
		q.made++
		r = &round{number: q.made}
	}
	q.admit(r, req)
	if r.ahead+r.waiting == 0 {
		q.start(r)
		return r
	}
	req.answered = make(chan struct{})
	return nil
}

// open returns the round that a request may join; nil: it needs one of its own. That is the youngest of
// those that wait and are last at one of its counters, if it need not wait for a younger one then. A
// younger one that runs does no harm while the round has to wait for one that does not run yet; but
// the round that is next must not be kept from running by what comes and goes.
func (q *queue) open(req *request) *round {
	var open, running *round
	for i := range req.claims {
		switch r := q.gates[req.claims[i].counter].last(); {
		case r == nil:
		case r.running:
			running = younger(running, r)
		default:
			open = younger(open, r)
		}
	}
	if open != nil && open.waiting == 0 && younger(open, running) != open {
		return nil
	}
	return open
}

// younger returns the round that was made later; nil is older than all.
func younger(a, b *round) *round {
	if a == nil || b != nil && b.number > a.number {
		return b
	}
	return a
}

// admit takes a request into a round that waits, or is new.
func (q *queue) admit(r *round, req *request) {
	req.round = r
	r.requests = append(r.requests, req)
	r.present++
	if q.gates == nil {
		q.gates = make(map[counter]*gate)
	}
	for i := range req.claims {
		c := req.claims[i].counter
		g := q.gates[c]
		switch before := g.last(); {
		case before == r:
			continue
		case before == nil:
			g = &gate{}
			g.rounds = g.few[:0]
			q.gates[c] = g
		case before.running:
			r.ahead++
		default:
			r.waiting++
		}
		g.rounds = append(g.rounds, r)
		r.counters = append(r.counters, c)
	}
}

// start gives a round its counters: it is the first at all of them.
func (q *queue) start(r *round) {
	r.running = true
	for _, c := range r.counters {
		if g := q.gates[c]; len(g.rounds) > 1 {
			g.rounds[1].waiting--
			g.rounds[1].ahead++
		}
	}
}

// finish takes the counters from a round, and returns the rounds that can run now.
func (q *queue) finish(r *round) (ready []*round) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range r.counters {
		g := q.gates[c]
		if len(g.rounds) == 1 {
			delete(q.gates, c)
			continue
		}
		g.rounds = slices.Delete(g.rounds, 0, 1)
		next := g.rounds[0]
		if next.ahead--; next.ahead+next.waiting == 0 {
			q.start(next)
			ready = append(ready, next)
		}
	}
	return ready
}

// begin returns a context for a queued round, which ends when all callers of its requests have left.
func (q *queue) begin(r *round) context.Context {
	q.mu.Lock()
	defer q.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	return ctx
}

// present returns the requests whose callers have not left.
func (q *queue) present(requests []*request) []*request {
	if len(requests) == 1 && requests[0].answered == nil { // it runs in its caller
		return requests
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	present := make([]*request, 0, len(requests))
	for _, req := range requests {
		if !req.left {
			present = append(present, req)
		}
	}
	return present
}

// leave notes that the caller of a queued request does not wait any more. A round that waits for long does not
// keep those who have left.
func (q *queue) leave(req *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	req.left = true
	r := req.round
	r.present--
	if !r.running && len(r.requests) > 2*r.present {
		r.requests = slices.DeleteFunc(r.requests, func(req *request) bool { return req.left })
	}
	if r.present == 0 && r.cancel != nil {
		r.cancel()
	}
}
