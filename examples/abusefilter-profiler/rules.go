package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"github.com/wrstats/go-wrstats/wrstats/profile"
)

//go:embed rules.yaml
var embeddedRules []byte

// A rule is a condition that can be evaluated on edits.
type rule struct {
	ruleSpec
	program *vm.Program
	always  int // conditions of each run, before those that its program counts

	failures     int   // runs that failed; they count as not matched
	firstFailure error // of the failures
}

// A group is the rules that run as one action of the profile.
type group struct {
	name  string
	rules []*rule
	runs  []profile.Run // of the edit that was evaluated last, one a rule
}

// A ruleSet evaluates rules on edits, one edit at a time.
type ruleSet struct {
	groups  []*group // in the order in which they are first named
	rules   []*rule  // of all groups, in the order of the file
	counted *int     // conditions that the programs count
	machine vm.VM
}

// loadRules reads and compiles the rules of a file, or the embedded ones if path is empty.
func loadRules(path string) (*ruleSet, error) {
	name, data := "embedded rules.yaml", embeddedRules
	if path != "" {
		var err error
		if data, err = os.ReadFile(path); err != nil {
			return nil, fmt.Errorf("rules: %w", err)
		}
		name = path
	}
	specs, err := parseRules(name, data)
	if err != nil {
		return nil, err
	}
	set, err := compileRules(specs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return set, nil
}

// compileRules compiles all of the rules, or says which one is wrong and where.
func compileRules(specs []ruleSpec) (*ruleSet, error) {
	set := &ruleSet{counted: new(int)}
	shared := append(functions(), expr.Env(&Edit{}), expr.AsBool(), expr.WarnOnAny())
	for _, spec := range specs {
		r, err := compileRule(spec, shared, set.counted)
		if err != nil {
			return nil, fmt.Errorf("rule %q: %w", spec.ID, err)
		}
		g := set.group(spec.Group)
		g.rules = append(g.rules, r)
		g.runs = append(g.runs, profile.Run{Rule: spec.ID})
		set.rules = append(set.rules, r)
	}
	return set, nil
}

func compileRule(spec ruleSpec, shared []expr.Option, counted *int) (*rule, error) {
	conditions := newConditionCounter()
	options := append(slices.Clip(shared), conditions.options(counted)...)
	program, err := expr.Compile(spec.Condition, options...)
	if err != nil {
		return nil, locateCondition(err)
	}
	return &rule{ruleSpec: spec, program: program, always: conditions.always}, nil
}

// locateCondition says where in a condition an error is. The compiler gives no place for a condition of
// the wrong type: that is the whole of it.
func locateCondition(err error) error {
	var at *file.Error
	if !errors.As(err, &at) {
		return fmt.Errorf("condition, line 1, column 1: %w", err)
	}
	return fmt.Errorf("condition, line %d, column %d: %s", at.Line, at.Column+1, at.Message)
}

// group returns the group of that name, which it makes at need.
func (s *ruleSet) group(name string) *group {
	for _, g := range s.groups {
		if g.name == name {
			return g
		}
	}
	g := &group{name: name}
	s.groups = append(s.groups, g)
	return g
}

// evaluate runs a rule on an edit and returns whether it matched and how many conditions that took.
func (s *ruleSet) evaluate(r *rule, edit *Edit) (matched bool, conditions int) {
	*s.counted = r.always
	result, err := s.machine.Run(r.program, edit)
	if err != nil {
		r.fail(err)
		return false, *s.counted
	}
	return result.(bool), *s.counted
}

func (r *rule) fail(err error) {
	r.failures++
	if r.firstFailure == nil {
		r.firstFailure = locateCondition(err)
	}
}

// ids are those of all rules, in the order of the file.
func (s *ruleSet) ids() []string {
	ids := make([]string, len(s.rules))
	for i, r := range s.rules {
		ids[i] = r.ID
	}
	return ids
}

// groupNames are those of all groups.
func (s *ruleSet) groupNames() []string {
	names := make([]string, len(s.groups))
	for i, g := range s.groups {
		names[i] = g.name
	}
	return names
}
