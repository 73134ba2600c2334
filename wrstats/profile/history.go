package profile

import (
	"context"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

// A Profile is that of rules and groups at one instant.
type Profile struct {
	Rules  []History // in the order they were asked for
	Groups []GroupHistory
}

// A History is a rule's profile over the retention, and how it came about.
type History struct {
	Rule
	Windows []Window // oldest first, the last one in progress
}

// A Window is what a rule did in one window, the whole of it.
type Window struct {
	Start                     time.Time
	Share                     float64 // the part of it that is in the retention, 0 to 1
	Runs, Matches, Conditions float64
	Time                      time.Duration // of all runs
	P50, P95, P99             time.Duration // as in Rule
	Found                     bool          // a counter at least was there: else the rule did not run, or all are lost
	Missing                   bool          // some were there and not others: lost, or still on the way
	Unknown                   float64       // as in Rule
}

// A GroupHistory is a group's profile over the retention, and how it came about.
type GroupHistory struct {
	Group
	Windows []GroupWindow // as in History
}

// A GroupWindow is what a group's actions came to in one window, the whole of it.
type GroupWindow struct {
	Start                                   time.Time
	Share                                   float64 // as in Window
	Actions, Overflows, Matches, Conditions float64
	Time                                    time.Duration // of all actions
	Found, Missing                          bool          // as in Window
}

// Profile reads the profiles of rules and groups with their windows, all with one read of the store. A rule
// that never ran is all zero. When some servers fail, what the others have comes with an error that wraps
// [wrstats.ErrPartial].
func (p *Profiler) Profile(ctx context.Context, rules, groups []string) (Profile, error) {
	return p.ProfileAt(ctx, time.Now(), rules, groups)
}

// ProfileAt is Profile as of another instant.
func (p *Profiler) ProfileAt(ctx context.Context, now time.Time, rules, groups []string) (Profile, error) {
	req, err := p.request(rules, groups)
	if err != nil {
		return Profile{}, err
	}
	answer, err := p.reader.ReadAt(ctx, now, req)
	if len(answer.Rates) == 0 {
		return Profile{}, err
	}
	return newProfile(rules, groups, answer), err
}

// History reads the profile of a rule with its windows. See [Profiler.Profile].
func (p *Profiler) History(ctx context.Context, rule string) (History, error) {
	return p.HistoryAt(ctx, time.Now(), rule)
}

// HistoryAt is History as of another instant.
func (p *Profiler) HistoryAt(ctx context.Context, now time.Time, rule string) (History, error) {
	all, err := p.ProfileAt(ctx, now, []string{rule}, nil)
	if len(all.Rules) == 0 {
		return History{}, err
	}
	return all.Rules[0], err
}

// quantilePs are those of P50, P95 and P99.
var quantilePs = []float64{0.5, 0.95, 0.99}

// request asks for the counters of each rule, then of each group, and for the quantiles of each rule.
func (p *Profiler) request(rules, groups []string) (req wrstats.Request, err error) {
	add := func(to []wrstats.Query, e wrstats.Entity, metrics ...string) []wrstats.Query {
		for _, m := range metrics {
			to = append(to, wrstats.Query{Metric: m, Entity: e, Span: wrstats.Last(p.opts.Retention)})
		}
		return to
	}
	for _, rule := range rules {
		if rule == "" {
			return req, ErrEmptyName
		}
		req.Rates = add(req.Rates, ruleEntity(rule), ruleMetrics...)
		if !p.opts.Quantiles.Off {
			req.Quantiles = add(req.Quantiles, ruleEntity(rule), metricDistribution)
		}
	}
	for _, group := range groups {
		if group == "" {
			return req, ErrEmptyName
		}
		req.Rates = add(req.Rates, groupEntity(group), groupMetrics...)
	}
	req.Ps = quantilePs
	return req, nil
}

// newProfile is given the answer to the request of these rules and groups.
func newProfile(rules, groups []string, answer wrstats.Answer) (p Profile) {
	rates := answer.Rates
	for i, rule := range rules {
		var times wrstats.Quantiles
		if len(answer.Quantiles) > 0 {
			times = answer.Quantiles[i]
		}
		p.Rules = append(p.Rules, newHistory(rule, rates[:len(ruleMetrics)], times))
		rates = rates[len(ruleMetrics):]
	}
	for _, group := range groups {
		p.Groups = append(p.Groups, newGroupHistory(group, rates[:len(groupMetrics)]))
		rates = rates[len(groupMetrics):]
	}
	return p
}

// newHistory is newRule with the windows.
func newHistory(name string, r []wrstats.Rate, times wrstats.Quantiles) History {
	h := History{Rule: newRule(name, r, times), Windows: make([]Window, len(r[0].Windows))}
	for i, w := range r[0].Windows {
		n := found(r, i)
		h.Windows[i] = Window{
			Start: w.Start, Share: w.Share,
			Runs: w.Value, Matches: r[1].Windows[i].Value, Conditions: r[3].Windows[i].Value,
			Time:  duration(r[2].Windows[i].Value),
			Found: n > 0, Missing: 0 < n && n < len(r),
		}
		if len(times.Windows) > 0 {
			h.Windows[i].addQuantiles(&times.Windows[i])
		}
	}
	return h
}

func (w *Window) addQuantiles(q *wrstats.QuantileWindow) {
	w.P50, w.P95, w.P99 = quantile(q.Values, 0), quantile(q.Values, 1), quantile(q.Values, 2)
	w.Unknown = unknown(w.Runs, q.Value, q.Lost)
}

// newGroupHistory is newGroup with the windows.
func newGroupHistory(name string, r []wrstats.Rate) GroupHistory {
	h := GroupHistory{Group: newGroup(name, r), Windows: make([]GroupWindow, len(r[0].Windows))}
	for i, w := range r[0].Windows {
		n := found(r, i)
		h.Windows[i] = GroupWindow{
			Start: w.Start, Share: w.Share,
			Actions: w.Value, Overflows: r[1].Windows[i].Value, Matches: r[2].Windows[i].Value, Conditions: r[4].Windows[i].Value,
			Time:  duration(r[3].Windows[i].Value),
			Found: n > 0, Missing: 0 < n && n < len(r),
		}
	}
	return h
}
