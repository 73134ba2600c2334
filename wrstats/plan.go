package wrstats

import (
	"fmt"
	"math"
	"time"

	"github.com/wrstats/go-wrstats/timewindow"
)

// A plan is which keys a call reads, and which of them each query is made of.
type plan struct {
	config    *Config
	now       time.Time
	keys      []string
	position  map[string]int // of a key in keys, but for those of bins
	bins      map[int]int    // position of the first bin's key, by that of the count's; the others follow
	rates     []plannedRate
	quantiles []plannedQuantiles
	ps        []float64
	scratch   []byte
	ends      []int // of keys in scratch
}

type plannedRate struct {
	metric   *Metric
	rate     Rate
	position []int // in plan.keys, of each window; unread where it has no share
}

// plannedQuantiles are made of the rate of the count and of the bins.
type plannedQuantiles struct {
	plannedRate
	first []int // in plan.keys, of each window's first bin
}

const unread = -1

// plan returns the plan of a request.
func (s *Stats) plan(now time.Time, req Request) (*plan, error) {
	if err := checkInstant(now); err != nil {
		return nil, err
	}
	p := newPlan(&s.config, now, len(req.Rates)+len(req.Quantiles))
	for i := range req.Rates {
		if err := p.addRate(s, &req.Rates[i]); err != nil {
			return nil, fmt.Errorf("%w (query %d)", err, i)
		}
	}
	for i := range req.Quantiles {
		if err := p.addQuantiles(s, &req.Quantiles[i]); err != nil {
			return nil, fmt.Errorf("%w (query %d)", err, i)
		}
	}
	for _, q := range req.Ps {
		if !(0 <= q && q <= 1) {
			return nil, fmt.Errorf("%w: the quantile %v is not from 0 to 1", ErrInvalidValue, q)
		}
	}
	p.ps = req.Ps
	return p, nil
}

func newPlan(config *Config, now time.Time, queries int) *plan {
	const windows = 8 // of the default sequence there are 7 in an hour
	return &plan{
		config:   config,
		now:      now.Round(0),
		keys:     make([]string, 0, queries*windows),
		position: make(map[string]int, queries*windows),
		bins:     make(map[int]int),
	}
}

func (p *plan) addRate(stats *Stats, q *Query) error {
	m, err := stats.metric(q.Metric)
	if err != nil {
		return err
	}
	rate, _, err := p.rate(m, q)
	p.rates = append(p.rates, rate)
	return err
}

// rate plans what a query has of the keys of the metric itself, and returns the sequence that it is read from.
func (p *plan) rate(m *Metric, q *Query) (plannedRate, *Sequence, error) {
	seq, r, err := q.Span.resolve(m, p.now)
	if err != nil {
		return plannedRate{}, nil, err
	}
	first, last := r.Buckets(seq.Step)
	n := int(last - first + 1)
	query := plannedRate{m, Rate{Range: r, Windows: make([]Window, n), step: seq.Step}, make([]int, n)}
	for i := range n {
		bucket := first + int64(i)
		w := &query.rate.Windows[i]
		w.Start = timewindow.Start(bucket, seq.Step)
		w.Share = r.Share(bucket, seq.Step, p.now)
		query.position[i] = unread
		if w.Share > 0 {
			query.position[i] = p.key(m.Name, seq, bucket, q.Entity)
		}
	}
	return query, seq, nil
}

// key returns the position of a key, adding it if it is new.
func (p *plan) key(name string, seq *Sequence, bucket int64, e Entity) int {
	var key string
	key, p.scratch = p.config.key(p.scratch, name, seq, bucket, e)
	at, known := p.position[key]
	if !known {
		at = len(p.keys)
		p.keys = append(p.keys, key)
		p.position[key] = at
	}
	return at
}

func (p *plan) addQuantiles(stats *Stats, q *Query) error {
	m, err := stats.metricOf(q.Metric, observed)
	if err != nil {
		return err
	}
	count, seq, err := p.rate(m, q)
	if err != nil {
		return err
	}
	query := plannedQuantiles{count, make([]int, len(count.position))}
	for i, at := range count.position {
		query.first[i] = unread
		if at != unread {
			query.first[i] = p.binKeys(m, seq, count.rate.Windows[i].Start, q.Entity, at)
		}
	}
	p.quantiles = append(p.quantiles, query)
	return nil
}

// binKeys returns the position of the first of a bucket's bins, adding them all if they are new. The
// bucket's count is at a position of its own.
func (p *plan) binKeys(m *Metric, seq *Sequence, start time.Time, e Entity, count int) int {
	if first, known := p.bins[count]; known {
		return first
	}
	first := len(p.keys)
	p.bins[count] = first
	p.spell(m, seq, timewindow.Index(start, seq.Step), e)
	return first
}

// spell appends the keys of a bucket's bins, which are parts of one string: there are many.
func (p *plan) spell(m *Metric, seq *Sequence, bucket int64, e Entity) {
	p.scratch, p.ends = p.scratch[:0], p.ends[:0]
	for _, name := range m.bins.names {
		p.scratch = p.config.appendKey(p.scratch, name, seq, bucket, e)
		p.ends = append(p.ends, len(p.scratch))
	}
	all, start := string(p.scratch), 0
	for _, end := range p.ends {
		p.keys = append(p.keys, all[start:end])
		start = end
	}
}

func (p *plan) answer(values []Value) (a Answer) {
	if len(p.rates) > 0 {
		a.Rates = make([]Rate, len(p.rates))
	}
	for i := range p.rates {
		a.Rates[i] = p.rates[i].answer(values)
	}
	if len(p.quantiles) > 0 {
		a.Quantiles = make([]Quantiles, len(p.quantiles))
	}
	for i := range p.quantiles {
		a.Quantiles[i] = p.quantiles[i].answer(values, p.ps)
	}
	return a
}

// answer fills the windows in and adds them up.
func (q *plannedRate) answer(values []Value) Rate {
	var units float64
	for i, at := range q.position {
		if at == unread || !values[at].Found {
			continue
		}
		w := &q.rate.Windows[i]
		w.Found = true
		w.Value = q.metric.value(float64(values[at].N))
		units += float64(values[at].N) * w.Share
	}
	q.rate.Total = q.metric.value(math.Round(units))
	return q.rate
}
