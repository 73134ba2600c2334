package promstats

import "github.com/wrstats/go-wrstats/wrstats"

// A Value is what a [Gauge] shows of each entity over its span. [Total], [PerSecond], [Mean], [Missing],
// [Quantiles] and [Lost] make one; the zero Value is none.
type Value struct {
	rates        []string                  // metrics whose rates are read
	distribution string                    // the metric whose quantiles are read; "": none
	ps           []float64                 // nil: no quantiles are shown
	show         func(a *answer) []float64 // one value, or where there are ps one for each; nil: no series
	bare         bool                      // is no quantity of the metric, so never scaled
}

// An answer is to what a Value asks of an entity.
type answer struct {
	rates     []wrstats.Rate
	quantiles wrstats.Quantiles
	whole     bool // all servers answered
}

// Total is the rolling total of a metric, in the metric's unit; for one with a distribution, how many values
// were observed. Windows without a key count as 0. In a read that some servers did not answer, an entity of
// which nothing was found has no series.
func Total(metric string) Value {
	return ofRate(metric, func(r wrstats.Rate) float64 { return r.Total })
}

// PerSecond is [Total] divided by the length of the span in seconds.
func PerSecond(metric string) Value { return ofRate(metric, wrstats.Rate.PerSecond) }

func ofRate(metric string, of func(wrstats.Rate) float64) Value {
	return Value{rates: []string{metric}, show: func(a *answer) []float64 {
		r := a.rates[0]
		if !a.whole && r.Missing() == asked(r) {
			return nil
		}
		return []float64{of(r)}
	}}
}

// Mean is a metric divided by another, such as milliseconds a run, over the windows that have both: see
// [wrstats.Rate.Per]. Where there is no such window, or the other is 0, the entity has no series.
func Mean(metric, per string) Value {
	return Value{rates: []string{metric, per}, show: func(a *answer) []float64 {
		mean, ok := a.rates[0].Per(a.rates[1])
		if !ok {
			return nil
		}
		return []float64{mean}
	}}
}

// Missing is how many windows of a metric have no key: nothing was recorded in them, or the key is lost, or its
// server did not answer. It costs no key beside a gauge that shows the same metric over the same span.
func Missing(metric string) Value {
	return Value{rates: []string{metric}, bare: true, show: func(a *answer) []float64 {
		return []float64{float64(a.rates[0].Missing())}
	}}
}

// QuantileLabel is the label of [Quantiles], as in request_seconds{q="0.95"}. The label quantile is for
// summaries alone, whose count and sum only grow, which no rolling count does.
const QuantileLabel = "q"

// Quantiles are those of a metric with a distribution, one series for each p from 0 to 1, such as 0.95, with
// p as the [QuantileLabel]: see [wrstats.Quantiles]. An entity of which nothing was found has no series. Each
// entity costs a key for each window and bin; how far the bins tell the whole, [Lost] says.
func Quantiles(metric string, ps ...float64) Value {
	return Value{distribution: metric, ps: append([]float64{}, ps...), show: func(a *answer) []float64 {
		if a.quantiles.Max == 0 {
			return nil
		}
		return a.quantiles.Values
	}}
}

// Lost is the part, 0 to 1, of what was observed of a metric with a distribution that its quantiles do not
// know of, since the keys are lost or their servers did not answer; an entity of which nothing was found has no
// series. It costs no key beside [Quantiles] of the same metric over the same span.
func Lost(metric string) Value {
	return Value{distribution: metric, bare: true, show: func(a *answer) []float64 {
		if a.quantiles.Count == 0 {
			return nil
		}
		return []float64{a.quantiles.Lost}
	}}
}

// asked returns how many windows of a rate were asked for.
func asked(r wrstats.Rate) int {
	n := 0
	for _, w := range r.Windows {
		if w.Share > 0 {
			n++
		}
	}
	return n
}
