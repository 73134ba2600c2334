package profile

import (
	"cmp"
	"strings"
	"sync/atomic"

	"github.com/wrstats/go-wrstats/wrstats"
)

func ruleEntity(rule string) wrstats.Entity   { return wrstats.Local("filter", rule) }
func groupEntity(group string) wrstats.Entity { return wrstats.Local("group", group) }

// ruleCounters are the handles of a rule.
type ruleCounters struct {
	name                             string
	next                             atomic.Pointer[ruleCounters] // of the run that came after this one's last
	count, matches, time, conditions *wrstats.Counter
	times                            *wrstats.Observer // nil: there are no quantiles
}

// groupCounters are the handles of a group.
type groupCounters struct {
	total, overflow, matches, time, conditions *wrstats.Counter
}

// after returns the handles of a rule, as rule does, that ran after another one in the same action. Rules mostly
// run in the same order, so that needs no look at the map. previous may be nil. What the map drops is dropped
// together, so nothing in it refers to what was.
func (p *Profiler) after(previous *ruleCounters, name string) *ruleCounters {
	if previous == nil {
		return p.rule(name)
	}
	if c := previous.next.Load(); c != nil && c.name == name {
		return c
	}
	c := p.rule(name)
	previous.next.Store(c)
	return c
}

// rule returns the handles of a rule; nil for one without a name, and for a new one after Close. The
// caller holds mu for reading, which is let go for a rule that is new.
func (p *Profiler) rule(name string) *ruleCounters {
	if c := p.rules[name]; c != nil {
		return c
	}
	return create(p, p.rules, name, func(name string) (*ruleCounters, error) {
		h := handles{writer: p.writer, entity: ruleEntity(name)}
		c := &ruleCounters{
			name:  name,
			count: h.of(metricCount), matches: h.of(metricMatches), time: h.of(metricTime), conditions: h.of(metricConditions),
		}
		if !p.opts.Quantiles.Off {
			c.times = h.distribution(metricDistribution)
		}
		return c, h.err
	})
}

// group is rule for a group.
func (p *Profiler) group(name string) *groupCounters {
	if c := p.groups[name]; c != nil {
		return c
	}
	return create(p, p.groups, name, func(name string) (*groupCounters, error) {
		h := handles{writer: p.writer, entity: groupEntity(name)}
		c := &groupCounters{h.of(metricTotal), h.of(metricOverflow), h.of(metricMatches), h.of(metricTime), h.of(metricConditions)}
		return c, h.err
	})
}

// maxHandles bounds the names whose handles are kept. With more than that at once, or names that never
// come again, they are made anew.
const maxHandles = 1 << 16

// create makes the counters of a new name and keeps them.
func create[C any](p *Profiler, kept map[string]*C, name string, make func(name string) (*C, error)) *C {
	if name == "" {
		return nil
	}
	p.mu.RUnlock()
	defer p.mu.RLock()
	name = strings.Clone(name) // it may be a part of a large text of the caller's
	c, err := make(name)
	if err != nil {
		p.refused.Add(1)
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(kept) >= maxHandles {
		clear(kept)
	}
	kept[name] = c
	return c
}

// handles makes the handles of an entity, and remembers the first error.
type handles struct {
	writer *wrstats.Writer
	entity wrstats.Entity
	err    error
}

func (h *handles) of(metric string) *wrstats.Counter {
	c, err := h.writer.Counter(metric, h.entity)
	h.err = cmp.Or(h.err, err)
	return c
}

func (h *handles) distribution(metric string) *wrstats.Observer {
	o, err := h.writer.Distribution(metric, h.entity)
	h.err = cmp.Or(h.err, err)
	return o
}
