package wrstats

import (
	"math"
	"strconv"
)

// The default and the limits of a [Distribution].
const (
	DefaultRelativeError = 0.05

	MinRelativeError = 1e-6
	MinObservable    = 1e-300
	MaxObservable    = 1e300
	MaxBins          = 2048
)

// A Distribution makes a [Metric] one of observed values, whose quantiles can be read. Each value counts
// in one of a row of bins, which get wider in proportion to the values in them, and the bins of all
// processes add up in the store.
//
// A quantile of values from Min to Max is off by no more than RelativeError of itself, of however many
// windows, writers and processes they come. Values below Min and above Max, zero and the negative among
// them, count in the first and the last bin.
//
// There are about log(Max/Min) / (2 RelativeError) bins: 10 µs to 10 s takes 140 at 0.05 and 692 at 0.01. An
// entity has a key in the store for each bin that was hit in a window, and a read asks for all bins that can
// be. Processes that share counters need the same RelativeError: it is part of the keys of bins, so that those
// of another never mix. Min and Max may differ: a reader finds the bins within its own, and takes the others
// for lost.
//
// The bins are those of DDSketch: C. Masson, J. E. Rim, H. K. Lee, "DDSketch: A Fast and Fully-Mergeable
// Quantile Sketch with Relative-Error Guarantees", PVLDB 12(12), 2019.
type Distribution struct {
	Min, Max      float64 // in the metric's unit, from MinObservable to MaxObservable; required, and Min < Max
	RelativeError float64 // from MinRelativeError to below 1; 0: DefaultRelativeError
}

func (d Distribution) withDefaults() Distribution {
	if d.RelativeError == 0 {
		d.RelativeError = DefaultRelativeError
	}
	return d
}

// validate returns what is wrong with a distribution after withDefaults.
func (d Distribution) validate() *fieldError {
	switch {
	case !(MinObservable <= d.Min && d.Min <= MaxObservable): // NaN is neither
		return fieldErrorf("Distribution.Min", "%v is not from %v to %v", d.Min, MinObservable, MaxObservable)
	case !(MinObservable <= d.Max && d.Max <= MaxObservable):
		return fieldErrorf("Distribution.Max", "%v is not from %v to %v", d.Max, MinObservable, MaxObservable)
	case d.Min >= d.Max:
		return fieldErrorf("Distribution.Min", "%v is not less than the Max of %v", d.Min, d.Max)
	case !(MinRelativeError <= d.RelativeError && d.RelativeError < 1):
		return fieldErrorf("Distribution.RelativeError", "%v is not from %v to below 1", d.RelativeError, MinRelativeError)
	}
	if first, last := d.numbers(); last-first >= MaxBins {
		return fieldErrorf("Distribution.RelativeError", "%v makes %d bins of %v to %v, over %d",
			d.RelativeError, last-first+1, d.Min, d.Max, MaxBins)
	}
	return nil
}

// logGamma is the logarithm of the ratio of a bin's upper bound to its lower one,
// (1 + RelativeError) / (1 - RelativeError).
func (d Distribution) logGamma() float64 { return 2 * math.Atanh(d.RelativeError) }

// bound is the upper bound of bin i, and the lower one, which is outside of it, of bin i+1.
func (d Distribution) bound(i int64) float64 { return math.Exp(float64(i) * d.logGamma()) }

// number is of the bin that v is in.
func (d Distribution) number(v float64) int64 {
	i := int64(math.Ceil(math.Log(v) / d.logGamma()))
	for d.bound(i) < v { // the logarithm's own error
		i++
	}
	for d.bound(i-1) >= v {
		i--
	}
	return i
}

// numbers are those of the first and the last bin.
func (d Distribution) numbers() (first, last int64) { return d.number(d.Min), d.number(d.Max) }

// binName is what stands in a key of a bin for the metric, such as time/0.05/-12.
func (d Distribution) binName(metric string, number int64) string {
	return metric + "/" + strconv.FormatFloat(d.RelativeError, 'g', -1, 64) + "/" + strconv.FormatInt(number, 10)
}

// longestName is the longest name of a bin.
func (d Distribution) longestName(metric string) string {
	first, last := d.numbers()
	longest := d.binName(metric, first)
	if other := d.binName(metric, last); len(other) > len(longest) {
		longest = other
	}
	return longest
}
