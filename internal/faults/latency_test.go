package faults_test

import (
	"fmt"
	"math/bits"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Latencies are how long calls took, in steps of an eighth of the power of two below.
type latencies struct {
	counts [64 * 8]uint32
	n      uint64
}

func (l *latencies) add(d time.Duration) {
	l.n++
	l.counts[latencyStep(d)]++
}

func (l *latencies) join(other *latencies) {
	l.n += other.n
	for i, n := range other.counts {
		l.counts[i] += n
	}
}

// quantile returns the most that the given part of the calls took.
func (l *latencies) quantile(part float64) time.Duration {
	rank := uint64(part * float64(l.n))
	var seen uint64
	for i, n := range l.counts {
		if seen += uint64(n); seen > rank {
			return latencyOf(i)
		}
	}
	return 0
}

func (l *latencies) String() string {
	if l.n == 0 {
		return "-"
	}
	return fmt.Sprintf("%v/%v", l.quantile(0.5), l.quantile(0.999))
}

func latencyStep(d time.Duration) int {
	ns := uint64(max(d, 8))
	exponent := bits.Len64(ns) - 1
	return exponent*8 + int(ns>>(exponent-3)&7)
}

// latencyOf is the inverse, but for what is below a step.
func latencyOf(step int) time.Duration {
	exponent := max(step/8, 3)
	return time.Duration(uint64(8|step&7) << (exponent - 3))
}

func TestLatenciesAreRightToAnEighth(t *testing.T) {
	for d := time.Duration(8); d < time.Hour; d += d/5 + 1 {
		got := latencyOf(latencyStep(d))
		require.LessOrEqual(t, got, d)
		require.Greater(t, got, d-d/8-1)
	}
	var l latencies
	for i := range 1000 {
		l.add(time.Duration(i+1) * time.Microsecond)
	}
	require.InEpsilon(t, 500*time.Microsecond, l.quantile(0.5), 0.15)
	require.InEpsilon(t, 1000*time.Microsecond, l.quantile(0.999), 0.15)
}
