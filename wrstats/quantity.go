package wrstats

import "math"

// nano is how many parts a unit of a metric's resolution has inside the Writer, where fractions are
// carried until they make a unit. Being a power of ten, it adds up decimal fractions exactly.
const nano = 1_000_000_000

// A quantity is a number of units and billionths of them. nano may be over a unit: see normal.
type quantity struct{ units, nano int64 }

// normal returns the same quantity with less than a unit in nano.
func (q quantity) normal() quantity {
	return quantity{q.units + q.nano/nano, q.nano % nano}
}

// plus adds two quantities; ok is false when the sum is too large for an int64 of units.
func (q quantity) plus(other quantity) (sum quantity, ok bool) {
	q, other = q.normal(), other.normal()
	if q.units > math.MaxInt64-1-other.units {
		return q, false
	}
	return quantity{q.units + other.units, q.nano + other.nano}.normal(), true
}

// add adds other n times. A sum beyond an int64 of units stays at the largest.
func (q *quantity) add(other quantity, n int) {
	for range n {
		sum, ok := q.plus(other)
		if !ok {
			sum = quantity{units: math.MaxInt64 - 1}
		}
		*q = sum
	}
}

// capped is a + b of positive numbers, and the largest int64 where that is over it.
func capped(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func (q quantity) float() float64 { return float64(q.units) + float64(q.nano)/nano }
