package profile

import (
	"maps"
	"slices"
)

// RuleNames returns the rules that this process has recorded runs of, sorted. Other processes may have recorded
// others, and of more than 65,536 names it may have forgotten some.
func (p *Profiler) RuleNames() []string { return namesOf(p, p.rules) }

// GroupNames is RuleNames for groups.
func (p *Profiler) GroupNames() []string { return namesOf(p, p.groups) }

func namesOf[C any](p *Profiler, kept map[string]*C) []string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return slices.Sorted(maps.Keys(kept))
}
