package limiter

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wrstats/go-wrstats/timewindow"
	"github.com/wrstats/go-wrstats/wrstats"
)

// maxSettle bounds how long a counter waits for the store to confirm what it was given. Stores have shorter
// bounds of their own.
const maxSettle = 10 * time.Second

// runAlone runs a round in the goroutine of its only caller.
func (l *Limiter) runAlone(ctx context.Context, r *round) {
	var receipt wrstats.Receipt
	defer func() {
		if receipt == nil { // also when the store panics
			l.finish(r)
			return
		}
		go func() {
			l.settle(r, receipt)
			l.finish(r)
		}()
	}()
	receipt = l.work(ctx, r.requests)
}

// run runs a round that was queued.
func (l *Limiter) run(r *round) {
	receipt := l.workFor(r)
	l.settle(r, receipt)
	r.cancel()
	l.finish(r)
}

// workFor works for a queued round, and answers its requests. When the store panics, their callers do: as
// one that waits for nobody does, and not the process.
func (l *Limiter) workFor(r *round) wrstats.Receipt {
	ctx := l.queue.begin(r)
	defer func() {
		panicked := recover()
		for _, req := range r.requests {
			req.panicked = panicked
			close(req.answered)
		}
	}()
	return l.work(ctx, r.requests)
}

// finish lets the rounds run that waited for this one.
func (l *Limiter) finish(r *round) {
	for _, next := range l.queue.finish(r) {
		go l.run(next)
	}
}

// settle waits until the store has applied what a round gave it: a read that began before might not have it.
func (l *Limiter) settle(r *round, receipt wrstats.Receipt) {
	if receipt == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxSettle)
	defer cancel()
	lost, err := receipt.Wait(ctx)
	if err == nil && lost <= 0 {
		return
	}
	for _, c := range r.counters { // a denial may be by what is lost
		l.denials.forget(c)
	}
	l.opts.OnError(lostError(lost, err))
}

// lostError says that a store lost what was counted; err may be nil.
func lostError(lost int64, err error) error {
	if err == nil {
		return fmt.Errorf("limiter: of what was counted, %d may be lost", lost)
	}
	return fmt.Errorf("limiter: of what was counted, %d may be lost: %w", lost, err)
}

// work answers requests: it deletes, reads and counts what they ask for, each in one call of the store.
// Those whose callers leave before it judges are not counted.
func (l *Limiter) work(ctx context.Context, requests []*request) wrstats.Receipt {
	requests = l.queue.present(requests)
	date(requests)
	l.wipe(ctx, requests)
	s := newSurvey(requests)
	err := l.read(ctx, s)
	requests = l.queue.present(requests)
	var batch []wrstats.Increment
	for _, req := range requests {
		if req.judge(err, l.opts.FailOpen); req.granted && req.counts {
			batch = l.grant(batch, req, s)
		}
	}
	receipt, err := l.count(ctx, requests, batch)
	if err == nil {
		l.remember(requests)
	}
	return receipt
}

// date makes the present that in which the round has its counters, later than in the rounds before. By the instants
// of the calls a bucket that began meanwhile, and has been counted in, would not be seen.
func date(requests []*request) {
	now := time.Now()
	for _, req := range requests {
		if req.live {
			req.now = now
		}
	}
}

// wipe deletes what requests ask to be reset.
func (l *Limiter) wipe(ctx context.Context, requests []*request) {
	var keys []string
	for _, req := range requests {
		if !req.wipes {
			continue
		}
		for i := range req.claims {
			c := req.claims[i].counter
			l.denials.forget(c)
			first, last := c.rule.buckets(req.now)
			keys = l.appendKeys(keys, c, first, last+1) // the next one too, for processes whose clock is ahead
		}
	}
	if len(keys) == 0 {
		return
	}
	if err := l.store.Delete(ctx, keys); err != nil {
		err = l.failure("reset", err)
		for _, req := range requests {
			if req.wipes {
				req.err = err
			}
		}
	}
}

// read fills a survey in.
func (l *Limiter) read(ctx context.Context, s *survey) error {
	if len(s.sightings) == 0 {
		return nil
	}
	keys := make([]string, 0, s.buckets)
	for _, g := range s.sightings {
		keys = l.appendKeys(keys, g.counter, g.first, g.last)
	}
	values, err := l.store.Get(ctx, keys)
	if err == nil && len(values) != len(keys) {
		err = fmt.Errorf("the store gave %d values for %d keys", len(values), len(keys))
	}
	if err != nil {
		err = l.failure("read", err)
	}
	if len(values) == len(keys) {
		s.fill(values)
	}
	return err
}

// grant counts a request in the survey, for those judged after it, and appends what is to be sent.
func (l *Limiter) grant(batch []wrstats.Increment, req *request, s *survey) []wrstats.Increment {
	for i := range req.claims {
		c := &req.claims[i]
		if c.amount == 0 {
			continue
		}
		bucket := timewindow.Index(req.now, c.rule.step)
		s.add(c.counter, bucket, c.amount)
		l.denials.forget(c.counter)
		batch = append(batch, wrstats.Increment{Key: l.key(c.counter, bucket), Delta: c.amount, TTL: c.rule.ttl})
	}
	return batch
}

// remember keeps what requests were denied by, and what else of their batches says how long they are.
func (l *Limiter) remember(requests []*request) {
	for _, req := range requests {
		if !slices.ContainsFunc(req.claims, func(c claim) bool { return c.denied }) {
			continue
		}
		for i := range req.claims {
			c := &req.claims[i]
			l.denials.remember(c.counter, c.history.clone())
		}
	}
}

// count hands what was granted to the store.
func (l *Limiter) count(ctx context.Context, requests []*request, batch []wrstats.Increment) (wrstats.Receipt, error) {
	if len(batch) == 0 {
		return nil, nil
	}
	receipt, err := l.store.Incr(ctx, batch)
	if err == nil {
		return receipt, nil
	}
	err = l.failure("count", err)
	for _, req := range requests {
		if req.granted && req.counts {
			req.err = err
			req.granted = false // decision has what FailOpen says
		}
	}
	return receipt, err
}

// failure says that the store failed.
func (l *Limiter) failure(what string, err error) error {
	err = fmt.Errorf("limiter: %s: %w", what, err)
	l.opts.OnError(err)
	return err
}
