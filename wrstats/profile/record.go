package profile

import (
	"sync"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

// A Run is what one rule did in one action. What is negative counts as 0, and what is over the most that a counter
// takes at once as that: 2^53 conditions, and 146 years. The sums of an action are bounded alike.
type Run struct {
	Rule       string        // any bytes, but not empty
	Duration   time.Duration // how long it took
	Conditions int           // how many it evaluated
	Matched    bool
}

// What a run and an action count at most. Two of either add up without overflow.
const (
	maxConditions int64         = 1 << 53
	maxDuration   time.Duration = 1<<62 - 1 // about half of 2^53 µs
)

func (r *Run) conditions() int64 { return min(max(0, int64(r.Conditions)), maxConditions) }

func (r *Run) duration() time.Duration { return min(max(0, r.Duration), maxDuration) }

// An action is what the runs of one action come to.
type action struct {
	matched    bool
	conditions int64
	duration   time.Duration
}

// inspect adds the runs of an action up, and logs what is slow or has no name. The caller does not hold
// mu: a log that stalls must not stall others.
func (p *Profiler) inspect(group string, runs []Run) (a action) {
	if group == "" {
		p.refuse("an action has no group")
	}
	for i := range runs {
		run := &runs[i]
		a.matched = a.matched || run.Matched
		a.conditions = min(a.conditions+run.conditions(), maxConditions)
		a.duration = min(a.duration+run.duration(), maxDuration)
		if run.Rule == "" {
			p.refuse("a run has no rule")
		}
		if run.Duration > p.opts.SlowRun {
			p.opts.Logger.Warn("profile: slow run", "group", group, "rule", run.Rule,
				"duration", run.Duration, "conditions", run.Conditions, "matched", run.Matched)
		}
	}
	return a
}

func (p *Profiler) refuse(why string) {
	p.refused.Add(1)
	p.opts.Logger.Warn("profile: refused", "why", why)
}

// Record counts one action of a group: the runs of its rules. It touches memory only, and keeps nothing
// of runs. A run or a group without a name is refused: it is logged and counted in Stats; the group's
// totals still include the run. After Close nothing is recorded.
func (p *Profiler) Record(group string, runs []Run) {
	a := p.inspect(group, runs)
	p.mu.RLock()
	defer p.mu.RUnlock()
	var c *ruleCounters
	for i := range runs {
		if c = p.after(c, runs[i].Rule); c != nil {
			c.add(&runs[i])
		}
	}
	if c := p.group(group); c != nil {
		c.add(&a, p.opts.ConditionLimit)
	}
}

// add counts a run in the present.
func (c *ruleCounters) add(run *Run) {
	ms := milliseconds(run.duration())
	c.count.Inc()
	c.matches.Add(oneIf(run.Matched))
	c.time.Add(ms)
	c.conditions.Add(float64(run.conditions()))
	if c.times != nil {
		c.times.Observe(ms)
	}
}

// add counts an action in the present.
func (c *groupCounters) add(a *action, conditionLimit int) {
	c.total.Inc()
	c.overflow.Add(oneIf(a.conditions > int64(conditionLimit)))
	c.matches.Add(oneIf(a.matched))
	c.time.Add(milliseconds(a.duration))
	c.conditions.Add(float64(a.conditions))
}

// RecordAt is Record for an action at t, which may be long ago: it goes to the windows that t belongs
// to, exactly.
func (p *Profiler) RecordAt(t time.Time, group string, runs []Run) {
	additions := additionPool.Get().(*[]wrstats.Addition)
	defer additionPool.Put(additions)
	*additions = p.appendAdditions((*additions)[:0], group, runs)
	_ = p.writer.AddAllAt(t, *additions) // what is refused is counted
}

var additionPool = sync.Pool{New: func() any { return new([]wrstats.Addition) }}

func (p *Profiler) appendAdditions(dst []wrstats.Addition, group string, runs []Run) []wrstats.Addition {
	a := p.inspect(group, runs)
	p.mu.RLock()
	defer p.mu.RUnlock()
	var c *ruleCounters
	for i := range runs {
		run := &runs[i]
		if c = p.after(c, run.Rule); c == nil {
			continue
		}
		ms := milliseconds(run.duration())
		dst = append(dst,
			wrstats.Addition{Counter: c.count, Value: 1},
			wrstats.Addition{Counter: c.matches, Value: oneIf(run.Matched)},
			wrstats.Addition{Counter: c.time, Value: ms},
			wrstats.Addition{Counter: c.conditions, Value: float64(run.conditions())})
		if c.times != nil {
			dst = append(dst, c.times.Addition(ms))
		}
	}
	g := p.group(group)
	if g == nil {
		return dst
	}
	return append(dst,
		wrstats.Addition{Counter: g.total, Value: 1},
		wrstats.Addition{Counter: g.overflow, Value: oneIf(a.conditions > int64(p.opts.ConditionLimit))},
		wrstats.Addition{Counter: g.matches, Value: oneIf(a.matched)},
		wrstats.Addition{Counter: g.time, Value: milliseconds(a.duration)},
		wrstats.Addition{Counter: g.conditions, Value: float64(a.conditions)})
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
