package wrstats

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Query asks for one metric of one entity over a span of time.
type Query struct {
	Metric string
	Entity Entity
	Span   Span
}

// A Reader reads rolling totals and rates, and quantiles of distributions. It has no state and nothing to
// close, and is safe for concurrent use.
//
// A query is read from the sequence with the shortest life whose retention reaches back to the span's
// start (for [LastWindows]: that holds so many windows), else from the one that lives longest.
type Reader struct{ stats *Stats }

// NewReader returns a Reader.
func (s *Stats) NewReader() *Reader { return &Reader{s} }

// Rate is [Reader.Rates] of one query.
func (r *Reader) Rate(ctx context.Context, q Query) (Rate, error) {
	rates, err := r.Rates(ctx, []Query{q})
	if len(rates) == 0 {
		return Rate{}, err
	}
	return rates[0], err
}

// Rates answers all queries as of now with one read of the store, which asks for each key once. The
// answers are in the order of the queries. It blocks as long as the store's Get does.
//
// When some of the servers fail, the error wraps [ErrPartial] and the rates come with it; the windows
// of those servers are not Found. Any other error comes alone: it wraps [ErrUnknownMetric], or
// [ErrInvalidValue] for an instant, tells which query has a span that can't be read, or is the store's.
func (r *Reader) Rates(ctx context.Context, qs []Query) ([]Rate, error) {
	return r.RatesAt(ctx, time.Now(), qs)
}

// RatesAt is Rates as of another instant, exactly.
func (r *Reader) RatesAt(ctx context.Context, now time.Time, qs []Query) ([]Rate, error) {
	answer, err := r.ReadAt(ctx, now, Request{Rates: qs})
	return answer.Rates, err
}

// Quantiles reads quantiles of one query as of now: the p-quantile for each p from 0 to 1, such as 0.99, of
// a metric that has a [Distribution]. What it asks for and its errors are those of [Reader.Read].
func (r *Reader) Quantiles(ctx context.Context, q Query, ps ...float64) (Quantiles, error) {
	return r.QuantilesAt(ctx, time.Now(), q, ps...)
}

// QuantilesAt is Quantiles as of another instant, exactly.
func (r *Reader) QuantilesAt(ctx context.Context, now time.Time, q Query, ps ...float64) (Quantiles, error) {
	all, err := r.QuantilesOf(ctx, now, []Query{q}, ps...)
	if len(all) == 0 {
		return Quantiles{}, err
	}
	return all[0], err
}

// QuantilesOf answers many queries as of an instant, exactly, with one read of the store.
func (r *Reader) QuantilesOf(ctx context.Context, now time.Time, qs []Query, ps ...float64) ([]Quantiles, error) {
	answer, err := r.ReadAt(ctx, now, Request{Quantiles: qs, Ps: ps})
	return answer.Quantiles, err
}

// A Request is what one read of the store answers.
type Request struct {
	Rates     []Query
	Quantiles []Query   // of metrics that have a Distribution
	Ps        []float64 // which quantiles, each from 0 to 1
}

// An Answer has the answers to the queries of a [Request], in their order.
type Answer struct {
	Rates     []Rate
	Quantiles []Quantiles
}

// Read answers a request as of now with one read of the store, which asks for each key once: a rate and
// the quantiles of the same span cost what the quantiles do. A query for quantiles asks for a key for each
// window and bin: 987 of an hour in 7 windows and 140 bins, with the count.
//
// Errors are those of [Reader.Rates]; one for quantiles of a metric without a distribution wraps
// [ErrWrongKind], and one for a p outside 0 to 1 [ErrInvalidValue].
func (r *Reader) Read(ctx context.Context, req Request) (Answer, error) {
	return r.ReadAt(ctx, time.Now(), req)
}

// ReadAt is Read as of another instant, exactly.
func (r *Reader) ReadAt(ctx context.Context, now time.Time, req Request) (Answer, error) {
	p, err := r.stats.plan(now, req)
	if err != nil || len(req.Rates)+len(req.Quantiles) == 0 {
		return Answer{}, err
	}
	values, err := r.stats.store.Get(ctx, p.keys)
	if err != nil && !errors.Is(err, ErrPartial) {
		return Answer{}, fmt.Errorf("wrstats: read: %w", err)
	}
	if err != nil {
		err = fmt.Errorf("wrstats: read: %w", err)
	}
	if len(values) != len(p.keys) {
		return Answer{}, errors.Join(err, fmt.Errorf("wrstats: read: the store gave %d values for %d keys", len(values), len(p.keys)))
	}
	return p.answer(values), err
}
