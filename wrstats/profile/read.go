package profile

import (
	"context"
	"math"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

// A Rule is the rolling profile of a rule over the retention. Totals near the older edge of that count
// by the share of their window; means are over the windows that have both of their counters, so that a
// lost key does not bend them. A time of more than a Duration holds, 292 years, is the longest one.
type Rule struct {
	Name                      string
	Runs, Matches, Conditions float64
	Time, MeanTime            time.Duration // MeanTime, and the next two, are per run
	MatchRate, MeanConditions float64       // MatchRate: 0 to 1
	P50, P95, P99             time.Duration // half of the runs, 95 and 99 of a hundred, took no longer; see QuantileOptions
	Missing                   int           // windows with some of the counters and not others: lost, or still on the way

	// Unknown is the part of the runs, 0 to 1, that P50, P95 and P99 are not of: they are lost, or were recorded
	// without, as MediaWiki does.
	Unknown float64
}

// A Group is the rolling profile of a group's actions.
type Group struct {
	Name                                    string
	Actions, Overflows, Matches, Conditions float64 // Matches: actions with a rule that matched
	Time, MeanTime                          time.Duration
	MeanConditions                          float64
	Missing                                 int // as in Rule
}

// Rules reads the profiles of rules, in their order, with one read of the store. A rule that never ran
// is all zero. When some servers fail, the profiles of what the others have come with an error that
// wraps [wrstats.ErrPartial].
func (p *Profiler) Rules(ctx context.Context, rules []string) ([]Rule, error) {
	return p.RulesAt(ctx, time.Now(), rules)
}

// RulesAt is Rules as of another instant.
func (p *Profiler) RulesAt(ctx context.Context, now time.Time, rules []string) ([]Rule, error) {
	all, err := p.ProfileAt(ctx, now, rules, nil)
	if all.Rules == nil {
		return nil, err
	}
	profiles := make([]Rule, len(all.Rules))
	for i := range profiles {
		profiles[i] = all.Rules[i].Rule
	}
	return profiles, err
}

// Group reads the profile of a group. See [Profiler.Rules].
func (p *Profiler) Group(ctx context.Context, group string) (Group, error) {
	return p.GroupAt(ctx, time.Now(), group)
}

// GroupAt is Group as of another instant.
func (p *Profiler) GroupAt(ctx context.Context, now time.Time, group string) (Group, error) {
	all, err := p.ProfileAt(ctx, now, nil, []string{group})
	if len(all.Groups) == 0 {
		return Group{}, err
	}
	return all.Groups[0].Group, err
}

// The counters of a rule and of a group, in the order that their rates are read in.
var (
	ruleMetrics  = []string{metricCount, metricMatches, metricTime, metricConditions}
	groupMetrics = []string{metricTotal, metricOverflow, metricMatches, metricTime, metricConditions}
)

// newRule is given the rates of ruleMetrics, and the quantiles of times, all zero if there are none.
func newRule(name string, r []wrstats.Rate, times wrstats.Quantiles) Rule {
	return Rule{
		Name:           name,
		Runs:           r[0].Total,
		Matches:        r[1].Total,
		Time:           duration(r[2].Total),
		Conditions:     r[3].Total,
		MatchRate:      mean(r[1], r[0]),
		MeanTime:       duration(mean(r[2], r[0])),
		MeanConditions: mean(r[3], r[0]),
		P50:            quantile(times.Values, 0),
		P95:            quantile(times.Values, 1),
		P99:            quantile(times.Values, 2),
		Missing:        lost(r),
		Unknown:        unknown(r[0].Total, times.Count, times.Lost),
	}
}

// newGroup is given the rates of groupMetrics.
func newGroup(name string, r []wrstats.Rate) Group {
	return Group{
		Name:           name,
		Actions:        r[0].Total,
		Overflows:      r[1].Total,
		Matches:        r[2].Total,
		Time:           duration(r[3].Total),
		Conditions:     r[4].Total,
		MeanTime:       duration(mean(r[3], r[0])),
		MeanConditions: mean(r[4], r[0]),
		Missing:        lost(r),
	}
}

func mean(r, other wrstats.Rate) float64 {
	m, _ := r.Per(other)
	return m
}

// quantile returns the i-th of quantilePs.
func quantile(values []float64, i int) time.Duration {
	if len(values) == 0 {
		return 0
	}
	return duration(values[i])
}

// unknown returns the part of some runs that is not among the observed ones that are not lost.
func unknown(runs, observed, lost float64) float64 {
	if runs == 0 {
		return lost
	}
	return max(lost, 1-observed*(1-lost)/runs)
}

// lost returns how many windows have some of the counters and not all: an action adds to every one.
func lost(rates []wrstats.Rate) int {
	windows := 0
	for i := range rates[0].Windows {
		if n := found(rates, i); 0 < n && n < len(rates) {
			windows++
		}
	}
	return windows
}

// found returns how many of the rates have window i.
func found(rates []wrstats.Rate, i int) (n int) {
	for _, r := range rates {
		if r.Windows[i].Found {
			n++
		}
	}
	return n
}

// duration stays at the longest where ms is over that.
func duration(ms float64) time.Duration {
	ns := math.Round(ms * float64(time.Millisecond))
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}
