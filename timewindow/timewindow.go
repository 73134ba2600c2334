// Package timewindow is the arithmetic of time buckets: which bucket an instant belongs to, which
// buckets a range touches, and how much of a bucket's count belongs to the range.
//
// Time is cut into buckets [index*step, (index+1)*step), counted from the Unix epoch in UTC, whatever
// the location of a [time.Time]. All of it is exact to the nanosecond, before 1970 too. The package
// never asks for the time, keeps no state, and is safe for concurrent use. A step that is not positive
// is a programming error, and panics.
package timewindow

import (
	"math"
	"math/big"
	"time"
)

// Index returns the bucket that t belongs to: floor(Unix time / step). An index beyond an int64, which
// takes a step of nanoseconds and a year before 1678 or after 2262, is the nearest int64.
func Index(t time.Time, step time.Duration) int64 {
	checkStep(step)
	sec, nsec := t.Unix(), int64(t.Nanosecond())
	if wholeNanoseconds(sec) {
		return floorDiv(sec*int64(time.Second)+nsec, int64(step))
	}
	n := big.NewInt(sec)
	n.Mul(n, big.NewInt(int64(time.Second))).Add(n, big.NewInt(nsec))
	n.Div(n, big.NewInt(int64(step))) // rounds down, the divisor being positive
	return saturate(n)
}

// Start returns the instant at which a bucket begins, in UTC. It is the inverse of [Index] for every
// bucket that an instant of the years 1 to 9999 belongs to.
func Start(index int64, step time.Duration) time.Time {
	checkStep(step)
	if n := index * int64(step); n/int64(step) == index {
		return time.Unix(0, n).UTC()
	}
	n := big.NewInt(index)
	n.Mul(n, big.NewInt(int64(step)))
	sec, nsec := n.DivMod(n, big.NewInt(int64(time.Second)), new(big.Int))
	return time.Unix(saturate(sec), nsec.Int64()).UTC()
}

// wholeNanoseconds reports whether every instant of a Unix second fits an int64 of nanoseconds: those
// from 1678 to 2262.
func wholeNanoseconds(sec int64) bool {
	const limit = math.MaxInt64 / int64(time.Second)
	return -limit <= sec && sec < limit
}

// floorDiv is a / b rounded towards minus infinity, for a positive b.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func saturate(n *big.Int) int64 {
	if n.IsInt64() {
		return n.Int64()
	}
	if n.Sign() < 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

func checkStep(step time.Duration) {
	if step <= 0 {
		panic("timewindow: step is not positive: " + step.String())
	}
}
