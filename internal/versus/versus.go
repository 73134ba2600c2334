// Package versus runs a rival beside ours in one benchmark.
package versus

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A Result is of ours.
type Result struct {
	Done        int     // operations in all
	Nanoseconds float64 // of an operation
}

// rounds is how often the two take turns, so that both see the same noise of a shared machine.
const rounds = 32

// Run times ours and the rival's, each given how many operations to do, in turn. It reports ours as
// ns/op and allocs/op, the rival's as <rival>-ns/op, and the median of ours / the rival's over the
// rounds as ratio: below 1 ours is faster. It stops the timer, for the benchmark to check what was done.
func Run(b *testing.B, rival string, ours, theirs func(n int)) (r Result) {
	run := ours
	ours = func(n int) { run(n); r.Done += n }
	ours(1) // what is made on first use
	theirs(1)
	sample := min(b.N, 1000)
	allocs := testing.AllocsPerRun(1, func() { ours(sample) }) / float64(sample)
	chunk := max(1, b.N/rounds)
	var us, them []float64
	b.ResetTimer()
	for n := 0; n < b.N; n += chunk {
		us = append(us, perOp(ours, chunk))
		them = append(them, perOp(theirs, chunk))
	}
	b.StopTimer()
	r.Nanoseconds = median(us)
	b.ReportMetric(r.Nanoseconds, "ns/op")
	b.ReportMetric(allocs, "allocs/op")
	b.ReportMetric(median(them), rival+"-ns/op")
	b.ReportMetric(median(ratios(us, them)), "ratio")
	return r
}

func perOp(f func(n int), n int) float64 {
	start := time.Now()
	f(n)
	return float64(time.Since(start).Nanoseconds()) / float64(n)
}

func ratios(a, b []float64) []float64 {
	r := make([]float64, len(a))
	for i := range a {
		r[i] = a[i] / b[i]
	}
	return r
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// Parallel returns f on that many goroutines, each doing its share of n, which begin when all are there;
// the time of an operation is then that of all divided by n.
func Parallel(goroutines int, f func(n int)) func(n int) {
	return func(n int) {
		var all sync.WaitGroup
		var there atomic.Int64
		for i := range goroutines {
			all.Go(func() {
				for there.Add(1); there.Load() < int64(goroutines); {
					runtime.Gosched()
				}
				f((n + i) / goroutines)
			})
		}
		all.Wait()
	}
}
