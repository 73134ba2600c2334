package storetest_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/backends/storetest"
	"github.com/wrstats/go-wrstats/wrstats"
)

// A test of a store of one's own, in real time.
func ExampleRun() {
	_ = func(t *testing.T) { // func TestStore(t *testing.T)
		storetest.Run(t, func(testing.TB) wrstats.Store { return memory.New(memory.Options{}) })
	}
}

// A store that speaks two protocols.
func ExampleRunAll() {
	open := func(quick bool) func(testing.TB) wrstats.Store {
		return func(testing.TB) wrstats.Store { return memory.New(memory.Options{}) } // mystore.New(addr, quick)
	}
	_ = func(t *testing.T) { // func TestStore(t *testing.T)
		storetest.RunAll(t, map[string]storetest.Suite{
			"quick": {Open: open(true)},
			"plain": {Open: open(false)},
		})
	}
}

// A store without a network is tested in no time when each rule has a bubble of its own.
func ExampleRule_Check() {
	suite := storetest.Suite{Open: func(testing.TB) wrstats.Store { return memory.New(memory.Options{}) }}
	_ = func(t *testing.T) { // func TestStore(t *testing.T)
		for _, rule := range storetest.Rules() {
			t.Run(rule.Name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { rule.Check(t, suite) })
			})
		}
	}
}

func ExampleBenchmark() {
	_ = func(b *testing.B) { // func BenchmarkStore(b *testing.B)
		storetest.Benchmark(b, func(testing.TB) wrstats.Store { return memory.New(memory.Options{}) })
	}
}

func ExampleRules() {
	for _, rule := range storetest.Rules()[:3] {
		fmt.Printf("%s\n\t%s\n", rule.Name, rule.Sentence)
	}
	// Output:
	// first-increment-creates
	// 	The first increment of a key creates it: an absent key plus 1 reads 1, not absent.
	// deltas-add-up
	// 	The increments of a key add up, from batch to batch.
	// delta-zero-creates
	// 	An increment of 0 creates a key that is Found and holds 0, and changes no key that exists.
}
