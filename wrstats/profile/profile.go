package profile

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

// The defaults of [Options].
const (
	DefaultPrefix         = "abusefilter-profile"
	DefaultConditionLimit = 1000
	DefaultSlowRun        = 500 * time.Millisecond
)

// Options tune a [Profiler]. Processes that share a profile need the same Prefix, Keyspace, Keys, Step
// and Retention, and RelativeError of Quantiles.
type Options struct {
	Prefix, Keyspace string                // "": DefaultPrefix, wrstats.DefaultKeyspace
	Keys             wrstats.KeyFormat     // nil: wrstats.DefaultKeys
	Step, Retention  time.Duration         // 0: 10 minutes, 1 hour; AbuseFilter's own are 2 h, 24 h
	ConditionLimit   int                   // an action over it counts as overflow; 0: DefaultConditionLimit
	SlowRun          time.Duration         // a run over it is logged; 0: DefaultSlowRun
	Quantiles        QuantileOptions       // of the times of rules
	Logger           *slog.Logger          // hears of slow runs and of runs without a rule; nil: no log
	Writer           wrstats.WriterOptions // how counts leave the process
}

func (o Options) withDefaults() Options {
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if o.Step == 0 {
		o.Step = wrstats.DefaultStep
	}
	if o.Retention == 0 {
		o.Retention = wrstats.DefaultRetention
	}
	if o.ConditionLimit == 0 {
		o.ConditionLimit = DefaultConditionLimit
	}
	if o.SlowRun == 0 {
		o.SlowRun = DefaultSlowRun
	}
	o.Quantiles = o.Quantiles.withDefaults()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o Options) validate() error {
	switch {
	case o.Retention < 0:
		return fmt.Errorf("profile: Options.Retention: %v is negative", o.Retention)
	case o.Retention > wrstats.MaxRetention:
		return fmt.Errorf("profile: Options.Retention: %v is more than %v", o.Retention, wrstats.MaxRetention)
	case o.Step < wrstats.MinStep:
		return fmt.Errorf("profile: Options.Step: %v is less than %v", o.Step, wrstats.MinStep)
	case o.Step > o.Retention:
		return fmt.Errorf("profile: Options.Step: %v is longer than the retention of %v", o.Step, o.Retention)
	case o.ConditionLimit < 0:
		return fmt.Errorf("profile: Options.ConditionLimit: %d is negative", o.ConditionLimit)
	case o.SlowRun < 0:
		return fmt.Errorf("profile: Options.SlowRun: %v is negative", o.SlowRun)
	}
	return o.Quantiles.validate()
}

// The metrics, as AbuseFilter names them. Those of a rule and those of a group overlap.
const (
	metricCount      = "count"      // runs of a rule
	metricTotal      = "total"      // actions of a group
	metricOverflow   = "overflow"   // actions over the condition limit
	metricMatches    = "matches"    // runs, or actions with a run, that matched
	metricTime       = "total-time" // milliseconds
	metricConditions = "total-cond"

	metricDistribution = "time" // milliseconds of a run; this one is not AbuseFilter's
)

func (o Options) config() wrstats.Config {
	cfg := wrstats.Config{Prefix: o.Prefix, Keyspace: o.Keyspace, Keys: o.Keys}
	for _, name := range []string{metricCount, metricTotal, metricOverflow, metricMatches, metricTime, metricConditions} {
		m := wrstats.Metric{Name: name, Sequences: []wrstats.Sequence{{Step: o.Step, Retention: o.Retention}}}
		if name == metricTime {
			m.Resolution = 0.001
		}
		cfg.Metrics = append(cfg.Metrics, m)
	}
	if !o.Quantiles.Off {
		cfg.Metrics = append(cfg.Metrics, wrstats.Metric{
			Name:         metricDistribution,
			Sequences:    []wrstats.Sequence{{Step: o.Step, Retention: o.Retention}},
			Distribution: o.Quantiles.distribution(),
		})
	}
	return cfg
}

// A Profiler records what rules do and reads their profile. All methods are safe for concurrent use.
// Close it: it holds what was recorded since the last flush.
type Profiler struct {
	opts   Options
	writer *wrstats.Writer
	reader *wrstats.Reader

	mu     sync.RWMutex // guards what follows
	rules  map[string]*ruleCounters
	groups map[string]*groupCounters

	refused atomic.Int64 // runs and actions without a name, or new after Close
}

// New returns a Profiler that keeps its counters in store, which stays the caller's. An error names the
// option that is wrong.
func New(store wrstats.Store, opts Options) (*Profiler, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	stats, err := wrstats.New(store, opts.config())
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	return &Profiler{
		opts:   opts,
		writer: stats.NewWriter(opts.Writer),
		reader: stats.NewReader(),
		rules:  make(map[string]*ruleCounters),
		groups: make(map[string]*groupCounters),
	}, nil
}

// Reset forgets a rule: what is stored of it within the retention, and what is not stored yet.
func (p *Profiler) Reset(ctx context.Context, rule string) error {
	return p.ResetAt(ctx, time.Now(), rule)
}

// ResetAt is Reset of what a read at now would find.
func (p *Profiler) ResetAt(ctx context.Context, now time.Time, rule string) error {
	if rule == "" {
		return ErrEmptyName
	}
	return p.writer.ResetAt(ctx, now, ruleEntity(rule))
}

// Sync hands everything recorded to the store and waits until it has been applied: a read after it finds
// it.
func (p *Profiler) Sync(ctx context.Context) error { return p.writer.Sync(ctx) }

// Close stops the Profiler, and stores what was recorded before. It is idempotent.
func (p *Profiler) Close(ctx context.Context) error { return p.writer.Close(ctx) }

// Stats returns the counters of the Profiler's Writer. Runs without a rule and actions without a group are
// among the Rejected.
func (p *Profiler) Stats() wrstats.WriterStats {
	s := p.writer.Stats()
	s.Rejected += p.refused.Load()
	return s
}

// Reader returns a Reader of the counters that the package's documentation names, for what shows them
// elsewhere.
func (p *Profiler) Reader() *wrstats.Reader { return p.reader }
