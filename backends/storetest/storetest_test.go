package storetest_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/backends/storetest"
	"github.com/wrstats/go-wrstats/wrstats"
)

func open(testing.TB) wrstats.Store { return memory.New(memory.Options{}) }

func TestRulesPassOnAGoodStore(t *testing.T) {
	for _, rule := range storetest.Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := try(t, rule, storetest.Suite{Open: open})
				require.False(t, rec.failed, "%s", rec.text())
			})
		})
	}
}

func TestEachRuleFailsOnAStoreThatBreaksIt(t *testing.T) {
	for _, rule := range storetest.Rules() {
		require.NotEmpty(t, breakers[rule.Name], "no broken store for %s", rule.Name)
		for i, breaker := range breakers[rule.Name] {
			t.Run(fmt.Sprintf("%s/%d", rule.Name, i), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					rec := try(t, rule, storetest.Suite{Open: broken(breaker)})
					require.True(t, rec.failed, "the rule does not notice")
					require.Contains(t, rec.text(), rule.Sentence)
				})
			})
		}
	}
	require.Len(t, breakers, len(storetest.Rules()), "a broken store of no rule")
}

func TestRulesHaveNamesAndSentencesOfTheirOwn(t *testing.T) {
	names, sentences := map[string]bool{}, map[string]bool{}
	for _, rule := range storetest.Rules() {
		require.Regexp(t, `^[0-9a-z-]+$`, rule.Name)
		require.Regexp(t, `^[A-Z0-9].*[^.]\.$`, rule.Sentence)
		names[rule.Name], sentences[rule.Sentence] = true, true
	}
	require.Len(t, names, len(storetest.Rules()))
	require.Len(t, sentences, len(storetest.Rules()))
}

func TestCheckOpensAStoreOfItsOwnAndClosesIt(t *testing.T) {
	var stores []*closable
	suite := storetest.Suite{Open: func(testing.TB) wrstats.Store {
		stores = append(stores, &closable{Store: open(nil)})
		return stores[len(stores)-1]
	}}
	rules := withoutWaiting()
	for _, rule := range rules {
		rec := try(t, rule, suite)
		require.False(t, rec.failed, "%s", rec.text())
	}
	require.Len(t, stores, len(rules))
	for _, store := range stores {
		require.True(t, store.closed.Load())
	}
}

func TestKeysDifferFromStoreToStore(t *testing.T) {
	shared := open(t) // as a server is: no rule may see another's keys
	for range 2 {
		for _, rule := range withoutWaiting() {
			if rule.Name == "closed" || rule.Name == "close-at-any-time" {
				continue // as this one can't be
			}
			rec := try(t, rule, storetest.Suite{Open: func(testing.TB) wrstats.Store {
				return &altered{Store: shared, close: func() error { return nil }}
			}})
			require.False(t, rec.failed, "%s", rec.text())
		}
	}
}

func TestRunOnAStoreWhoseTimeIsItsOwn(t *testing.T) {
	clock := new(clock)
	storetest.Suite{
		Open:  func(testing.TB) wrstats.Store { return newNaive(clock) },
		Sleep: clock.pass,
	}.Run(t)
	require.Greater(t, clock.now(), 10*time.Second)
}

// A machine that stands still for longer than a key lives is no fault of the store's.
func TestRulesDoNotFailWhereAllIsSlow(t *testing.T) {
	slow := storetest.Suite{Open: func(testing.TB) wrstats.Store {
		good := memory.New(memory.Options{})
		return &altered{Store: good, get: func(ctx context.Context, keys []string) ([]wrstats.Value, error) {
			time.Sleep(5 * time.Second)
			return good.Get(ctx, keys)
		}}
	}}
	for _, rule := range storetest.Rules() {
		if !strings.Contains(rule.Name, "ttl") && !strings.HasSuffix(rule.Name, "anew") {
			continue
		}
		t.Run(rule.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := try(t, rule, slow)
				require.False(t, rec.failed, "%s", rec.text())
			})
		})
	}
}

// A rule that has to wait for another would not see all of their stores open.
func TestRulesOfAllKindsThatWaitDoSoAtOnce(t *testing.T) {
	t.Parallel()
	var now, most, all atomic.Int64
	suite := storetest.Suite{Open: func(t testing.TB) wrstats.Store {
		all.Add(1)
		n := now.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		t.Cleanup(func() { now.Add(-1) })
		return open(t)
	}}
	storetest.RunAll(t, map[string]storetest.Suite{"a": suite, "b": suite})
	require.Zero(t, now.Load(), "all have ended")
	require.GreaterOrEqual(t, most.Load(), int64(2*waiting))
	require.EqualValues(t, 2*len(storetest.Rules()), all.Load())
}

// waiting is how many rules wait for time to pass.
const waiting = 6

type closable struct {
	wrstats.Store
	closed atomic.Bool
}

func (c *closable) Close() error {
	c.closed.Store(true)
	return c.Store.Close()
}

// withoutWaiting returns the rules for which no time has to pass, and few keys have to be written.
func withoutWaiting() []storetest.Rule {
	return slices.DeleteFunc(storetest.Rules(), func(r storetest.Rule) bool {
		switch r.Name {
		case "ttl-from-the-first-write", "ttl-is-not-renewed", "ended-key-starts-anew", "ttl-of-each-key",
			"ttl-below-a-second", "deleted-key-starts-anew":
			return true
		}
		return strings.HasSuffix(r.Name, "00000-keys") || strings.HasSuffix(r.Name, "00000-increments")
	})
}

func broken(b breaker) func(testing.TB) wrstats.Store {
	return func(testing.TB) wrstats.Store {
		a := &altered{Store: memory.New(memory.Options{})}
		b(a)
		return a
	}
}

// A recorder is a test that may fail without failing this one.
type recorder struct {
	testing.TB
	mu       sync.Mutex // guards what follows
	failed   bool
	lines    []string
	cleanups []func()
}

// try checks a rule as a test of its own.
func try(t testing.TB, rule storetest.Rule, s storetest.Suite) *recorder {
	rec := &recorder{TB: t}
	var group sync.WaitGroup
	group.Go(func() {
		defer rec.cleanup()
		rule.Check(rec, s)
	})
	group.Wait()
	return rec
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *recorder) FailNow() {
	r.mu.Lock()
	r.failed = true
	r.mu.Unlock()
	runtime.Goexit()
}

func (r *recorder) Helper() {}

func (r *recorder) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

func (r *recorder) cleanup() {
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
}

func (r *recorder) text() string { return strings.Join(r.lines, "\n") }
