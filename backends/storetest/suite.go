package storetest

import (
	"maps"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

// A Suite runs the rules on a kind of store.
type Suite struct {
	// Open returns a store that no other rule uses, or ends the test. The suite closes it. Required.
	Open func(testing.TB) wrstats.Store

	// Sleep lets time pass for the store, for one whose time is not the real one: a server's
	// FastForward, say; rules run one by one then. Nil: time.Sleep.
	Sleep func(time.Duration)
}

// Run runs all rules on the stores that open returns, in real time.
func Run(t *testing.T, open func(testing.TB) wrstats.Store) {
	t.Helper()
	Suite{Open: open}.Run(t)
}

// Run runs all rules, each as a subtest of its name. When it returns they have ended.
func (s Suite) Run(t *testing.T) {
	t.Helper()
	RunAll(t, map[string]Suite{"": s})
}

// RunAll runs all rules on several kinds of stores, each as a subtest of the kind's name and its own. It
// takes little longer than one kind: rules that wait for keys to end do so at once. Those that write very
// many keys come last and one by one.
func RunAll(t *testing.T, kinds map[string]Suite) {
	t.Helper()
	var waiting, light, large []func()
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		suite := kinds[kind]
		for _, rule := range Rules() {
			run := func() { t.Run(path.Join(kind, rule.Name), func(t *testing.T) { rule.Check(t, suite) }) }
			switch {
			case rule.large:
				large = append(large, run)
			case rule.waits && suite.Sleep == nil:
				waiting = append(waiting, run)
			default:
				light = append(light, run)
			}
		}
	}
	var group sync.WaitGroup
	for _, run := range waiting {
		group.Go(run)
	}
	inTurn(light)
	group.Wait()
	inTurn(large)
}

func inTurn(runs []func()) {
	for _, run := range runs {
		run()
	}
}

// A Rule is one promise of a [wrstats.Store].
type Rule struct {
	Name     string // of the subtest
	Sentence string // what is promised; a failure prints it

	check func(*trial)
	waits bool // for time to pass
	large bool // writes very many keys
}

// Rules returns the table of rules, for a test that runs them one by one: each in a bubble of
// testing/synctest, say.
func Rules() []Rule {
	return slices.Concat(countingRules, readingRules, keyRules, ttlRules, deleteRules, lifeRules)
}

// Check opens a store, checks the rule and closes the store when t ends. It calls neither Run nor
// Parallel, so that t may be in a bubble of testing/synctest. It is to be called on t's goroutine.
func (r Rule) Check(t testing.TB, s Suite) {
	t.Helper()
	r.check(newTrial(t, s, r.Sentence))
}
