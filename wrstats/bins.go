package wrstats

import "math"

// bins are those of a Distribution, by position from 0.
type bins struct {
	Distribution
	names []string  // in keys
	upper []float64 // the last bin's is infinite
	value []float64 // what stands for the values in a bin: no farther from any than RelativeError of it
	table binTable
}

// newBins returns the bins of a valid distribution.
func newBins(d Distribution, metric string) *bins {
	first, last := d.numbers()
	b := &bins{Distribution: d}
	for i := first; i <= last; i++ {
		// Of (bound/gamma, bound] the value is 2 bound / (gamma + 1), which is bound (1 - RelativeError).
		bound := d.bound(i)
		b.names = append(b.names, d.binName(metric, i))
		b.upper = append(b.upper, bound)
		b.value = append(b.value, min(max(bound*(1-d.RelativeError), d.Min), d.Max))
	}
	b.upper[len(b.upper)-1] = math.Inf(1)
	b.table = newBinTable(b)
	return b
}

// bounds returns the least and the most that counts in a bin, within Min and Max.
func (b *bins) bounds(position int) (least, most float64) {
	least = b.Min
	if position > 0 {
		least = b.upper[position-1]
	}
	return least, min(b.upper[position], b.Max)
}

// A binTable finds the bin of a value without a logarithm: the upper bits of a float64 are its logarithm,
// near enough, and the table has a cell for each of their values from Min to Max.
type binTable struct {
	cells []binCell
	base  uint64 // upper bits of the first cell
	shift uint8  // how many bits are lower ones
}

// A binCell holds the values that have the same upper bits. They lie in one bin or in two.
type binCell struct {
	bound    float64 // what is over it is in the next bin
	position int
}

func newBinTable(b *bins) binTable {
	// With m bits of mantissa a cell's values have a ratio below 1 + 2^-m, which is not to be above a bin's.
	const mantissa = 52
	m := 0
	for math.Log1p(math.Ldexp(1, -m)) > b.logGamma()*(1-1e-6) {
		m++
	}
	t := binTable{shift: uint8(mantissa - m)}
	t.base = math.Float64bits(b.Min) >> t.shift
	position := 0
	for cell := t.base; cell <= math.Float64bits(b.Max)>>t.shift; cell++ {
		for least := math.Float64frombits(cell << t.shift); least > b.upper[position]; {
			position++
		}
		t.cells = append(t.cells, binCell{b.upper[position], position})
	}
	return t
}

// find returns the position of the bin that v counts in; ok is false for what is outside of the table.
// It is the hot path of observing.
func (t *binTable) find(v float64) (position int, ok bool) {
	i := math.Float64bits(v)>>(t.shift&63) - t.base
	if i >= uint64(len(t.cells)) {
		return 0, false
	}
	cell := &t.cells[i]
	position = cell.position
	if v > cell.bound {
		position++
	}
	return position, true
}

// position returns the position of the bin that v counts in; ok is false for NaN.
func (b *bins) position(v float64) (position int, ok bool) {
	if position, ok = b.table.find(v); ok {
		return position, true
	}
	if v > b.Min {
		return len(b.upper) - 1, true
	}
	return 0, !math.IsNaN(v)
}
