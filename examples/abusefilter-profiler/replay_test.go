package main

import (
	"context"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats/profile"
)

func TestMeasuringAllocatesNothing(t *testing.T) {
	set, err := loadRules(twoRules(t)) // no regular expressions, which allocate at random under the race detector
	require.NoError(t, err)
	r := newReplay(set, nil)
	edits := embeddedEdits(t)[:50]
	allocations := func(f func(*group, *Edit)) float64 {
		return testing.AllocsPerRun(10, func() {
			for i := range edits {
				f(set.groups[0], &edits[i])
			}
		})
	}
	require.Equal(t, allocations(r.run), allocations(r.measure))
}

func TestMeasureTimesEachRuleFromTheEndOfTheOneBefore(t *testing.T) {
	set, err := loadRules("")
	require.NoError(t, err)
	r := newReplay(set, nil)
	edit := embeddedEdits(t)[0]
	start := time.Now()
	r.measure(set.groups[0], &edit)
	most := time.Since(start)
	var sum time.Duration
	for _, run := range set.groups[0].runs {
		require.GreaterOrEqual(t, run.Duration, time.Duration(0))
		sum += run.Duration
	}
	require.LessOrEqual(t, sum, most, "the runs are a part of the time that all took")
}

// benchmarkInput names a file of edits to run BenchmarkReplay on besides the embedded ones, by its whole path:
// tests run in the package's folder.
const benchmarkInput = "ABUSEFILTER_EDITS"

// BenchmarkReplay runs each thing without and with profiling by turns, so that what else the machine does
// hits both, and reports what profiling adds: the median of the pairs.
//
//	edits=decoded   rules and profile only, by turns of 250 edits
//	edits=whole     the program from its arguments to its output
//
//	ABUSEFILTER_EDITS=$PWD/edits.jsonl.gz go test -run '^$' -bench Replay -benchtime 10x ./examples/abusefilter-profiler
func BenchmarkReplay(b *testing.B) {
	b.Run("edits=decoded", benchmarkDecoded)
	b.Run("edits=whole/input=embedded", func(b *testing.B) { benchmarkWhole(b, "-window", "2h") })
	if path := os.Getenv(benchmarkInput); path != "" {
		b.Run("edits=whole/input=file", func(b *testing.B) { benchmarkWhole(b, "-window", "24h", "-in", path) })
	}
}

func benchmarkDecoded(b *testing.B) {
	edits := embeddedEdits(b)
	off, on := benchmarkReplay(b, false), benchmarkReplay(b, true)
	var pairs pairs
	for b.Loop() {
		for part := range slices.Chunk(edits, 250) {
			pairs.add(func() { replayAll(b, off, part) }, func() { replayAll(b, on, part) })
		}
	}
	pairs.report(b, len(edits))
	stats := on.profiler.Stats()
	require.Zero(b, stats.Lost)
	require.Equal(b, off.counts, on.counts)
}

func benchmarkReplay(b *testing.B, profiled bool) *replay {
	set, err := loadRules("")
	require.NoError(b, err)
	r := newReplay(set, nil)
	r.opts.window = generatedLength
	if profiled {
		store := memory.New(memory.Options{})
		r.profiler, err = profile.New(store, profile.Options{Step: r.opts.window / windowSteps, Retention: r.opts.window})
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, r.profiler.Close(context.Background())) })
	}
	return r
}

func replayAll(b *testing.B, r *replay, edits []Edit) {
	for i := range edits {
		if err := r.edit(b.Context(), &edits[i]); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkWhole(b *testing.B, args ...string) {
	program := func(more ...string) func() {
		return func() {
			if run(b.Context(), append(slices.Clip(args), more...), nil, io.Discard, io.Discard) != 0 {
				b.Fatal("the program failed")
			}
		}
	}
	var pairs pairs
	for b.Loop() {
		pairs.add(program("-no-profile"), program())
	}
	pairs.report(b, 0)
}

// pairs are times of the same work without and with profiling.
type pairs struct {
	off, on  time.Duration
	overhead []float64 // of each pair, as a share
}

// add runs both, every other time in the other order.
func (p *pairs) add(off, on func()) {
	var tOff, tOn time.Duration
	if len(p.overhead)%2 == 0 {
		tOff, tOn = timed(off), timed(on)
	} else {
		tOn, tOff = timed(on), timed(off)
	}
	p.off += tOff
	p.on += tOn
	p.overhead = append(p.overhead, float64(tOn-tOff)/float64(tOff))
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// report prints the means, by edit if their number is known, and the median overhead.
func (p *pairs) report(b *testing.B, edits int) {
	slices.Sort(p.overhead)
	unit, per := "ms", float64(time.Millisecond)*float64(b.N)
	if edits > 0 {
		unit, per = "ns/edit", float64(b.N*edits)
	}
	b.ReportMetric(float64(p.off)/per, "profile=off-"+unit)
	b.ReportMetric(float64(p.on)/per, "profile=on-"+unit)
	b.ReportMetric(100*p.overhead[len(p.overhead)/2], "overhead-%")
}
