package limiter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

// A Limiter decides by its conditions. All methods are safe for concurrent use. It has nothing to close;
// what it is counting when its store closes is lost. Stores that confirm what they were given later cost
// it a goroutine a decision for that time.
//
// A method that takes a context blocks for a round trip to the store, after the earlier decisions of this
// process about the same counters: one that waits for others is answered together with all who wait
// for the same. When its context ends first, the call returns as for a store that failed, and what it
// asked for may have been counted.
type Limiter struct {
	store      wrstats.Store
	opts       Options
	conditions []Condition
	rules      map[string]*rule
	queue      queue
	denials    denials
}

// New returns a Limiter over a store. An error names the field that is wrong.
func New(store wrstats.Store, conditions []Condition, opts Options) (*Limiter, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	if len(conditions) == 0 {
		return nil, errors.New("limiter: conditions: there are none")
	}
	l := &Limiter{
		store:      store,
		opts:       opts,
		conditions: append([]Condition(nil), conditions...),
		rules:      make(map[string]*rule, len(conditions)),
		denials:    denials{limit: opts.MaxDenials},
	}
	cfg := wrstats.Config{Prefix: opts.Prefix, Keyspace: opts.Keyspace, Keys: opts.Keys}
	for i, c := range conditions {
		r := newRule(c, opts.Buckets)
		if problem := r.problem(); problem != "" {
			return nil, fmt.Errorf("limiter: conditions[%d].%s", i, problem)
		}
		if l.rules[c.Name] != nil {
			return nil, fmt.Errorf("limiter: conditions[%d].Name: %q is another condition's", i, c.Name)
		}
		l.rules[c.Name] = &r
		cfg.Metrics = append(cfg.Metrics, r.metric())
	}
	if _, err := wrstats.New(store, cfg); err != nil { // which knows what keys can be
		return nil, fmt.Errorf("limiter: conditions as metrics: %w", err)
	}
	return l, nil
}

// Conditions returns what New was given.
func (l *Limiter) Conditions() []Condition { return append([]Condition(nil), l.conditions...) }

// Allow is [Limiter.Try] of an amount of 1.
func (l *Limiter) Allow(ctx context.Context, condition string, e wrstats.Entity) (bool, error) {
	d, err := l.Try(ctx, Op{Condition: condition, Entity: e, Amount: 1})
	return d.Allowed, err
}

// Try asks for a batch of amounts: all are counted if all are allowed, else none. Amounts for the same
// condition and entity add up. Without ops it allows, and asks nothing.
//
// An error wraps [ErrUnknownCondition] or [ErrInvalidAmount], and then nothing is decided; or the store
// failed, and the Decision is by [Options.FailOpen]. When the store fails while it takes the amounts, they may
// have been counted.
func (l *Limiter) Try(ctx context.Context, ops ...Op) (Decision, error) {
	return l.answer(ctx, &request{now: time.Now(), live: true, asks: true, counts: true}, ops)
}

// TryAt is Try at another instant, exactly: what was counted in later buckets than that of now is not in it.
func (l *Limiter) TryAt(ctx context.Context, now time.Time, ops ...Op) (Decision, error) {
	return l.answer(ctx, &request{now: now, asks: true, counts: true}, ops)
}

// Peek decides as Try does, and counts nothing. It always asks the store.
func (l *Limiter) Peek(ctx context.Context, ops ...Op) (Decision, error) {
	return l.answer(ctx, &request{now: time.Now(), live: true, asks: true}, ops)
}

// PeekAt is Peek at another instant, exactly.
func (l *Limiter) PeekAt(ctx context.Context, now time.Time, ops ...Op) (Decision, error) {
	return l.answer(ctx, &request{now: now, asks: true}, ops)
}

// Add counts without asking: what has happened anyway.
func (l *Limiter) Add(ctx context.Context, ops ...Op) error {
	_, err := l.answer(ctx, &request{now: time.Now(), live: true, counts: true}, ops)
	return err
}

// AddAt is Add at another instant, exactly.
func (l *Limiter) AddAt(ctx context.Context, now time.Time, ops ...Op) error {
	_, err := l.answer(ctx, &request{now: now, counts: true}, ops)
	return err
}

// Reset forgets what was counted of an entity under a condition, in this process and in the store.
// Other processes may deny for what they remember until its RetryAfter has passed.
func (l *Limiter) Reset(ctx context.Context, condition string, e wrstats.Entity) error {
	_, err := l.answer(ctx, &request{now: time.Now(), live: true, wipes: true}, []Op{{Condition: condition, Entity: e}})
	return err
}

// ResetAt forgets the buckets that a decision at now would read, and the next one: another process's clock may
// be ahead.
func (l *Limiter) ResetAt(ctx context.Context, now time.Time, condition string, e wrstats.Entity) error {
	_, err := l.answer(ctx, &request{now: now, wipes: true}, []Op{{Condition: condition, Entity: e}})
	return err
}
