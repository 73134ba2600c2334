package wrstats

import (
	"math"

	"github.com/wrstats/go-wrstats/timewindow"
)

// Quantiles are those of the values that were observed of an entity in a span of time.
//
// The p-quantile is the smallest value that a part p of the observations does not exceed: the 0.5-quantile
// is the median, the 1-quantile the largest. Those of values within the Min and Max of the [Distribution] are
// within its RelativeError. Where nothing was found they are 0, and so are Min and Max.
//
// A window at the edge of the range counts in proportion: each of its observations by the window's share.
type Quantiles struct {
	Values   []float64 // one for each p that was asked for, in the metric's unit
	Count    float64   // how many observations there were
	Min, Max float64   // bounds of the lowest and the highest bin with an observation, within those of the Distribution
	Lost     float64   // the part of Count, 0 to 1, that is in no bin: its keys are lost, or still on the way
	Missing  int       // windows with a share and no key of the count, as in Rate

	Range   timewindow.Range // what the span was
	Windows []QuantileWindow // that the range touches, oldest first
}

// A QuantileWindow has the quantiles of one bucket, the whole of it.
type QuantileWindow struct {
	Window           // of the count; Value is that of the bins where they have more, as when the count is lost
	Values []float64 // as in Quantiles
	Lost   float64
}

// answer makes quantiles of what a read found.
func (q *plannedQuantiles) answer(values []Value, ps []float64) Quantiles {
	rate := q.plannedRate.answer(values)
	result := Quantiles{Missing: rate.Missing(), Range: rate.Range, Windows: make([]QuantileWindow, len(rate.Windows))}
	var all, window histogram
	all.reset(q.metric.bins)
	slab := make([]float64, len(ps)*(1+len(rate.Windows))) // of all Values
	take := func() (values []float64) {
		values, slab = slab[:len(ps):len(ps)], slab[len(ps):]
		return values
	}
	result.Values = take()
	for i, w := range rate.Windows {
		window.reset(q.metric.bins)
		if first := q.first[i]; first != unread {
			window.read(values[first:])
		}
		w.Value = max(w.Value, window.total) // the count may be lost, or a bin that arrived before it
		window.count, window.gone = w.Value, w.Value-window.total
		all.add(&window, w.Share)
		result.Windows[i] = QuantileWindow{w, take(), window.lost()}
		window.quantiles(ps, result.Windows[i].Values)
	}
	all.quantiles(ps, result.Values)
	result.Count = math.Round(all.count)
	result.Lost = all.lost()
	result.Min, result.Max = all.bounds()
	return result
}

// A histogram is how many observations there are of each bin.
type histogram struct {
	bins  *bins
	n     []float64 // by position
	total float64   // of n
	count float64   // how many there were
	gone  float64   // how many of count are not in total
}

// reset empties a histogram.
func (h *histogram) reset(b *bins) {
	n := h.n
	if n == nil {
		n = make([]float64, len(b.names))
	}
	clear(n)
	*h = histogram{bins: b, n: n}
}

// read fills an empty histogram from the bins' values.
func (h *histogram) read(values []Value) {
	for i := range h.n {
		h.n[i] = float64(values[i].N)
		h.total += h.n[i]
	}
}

// add adds a share of another.
func (h *histogram) add(other *histogram, share float64) {
	if other.count == 0 {
		return
	}
	h.total = 0
	for i := range h.n {
		h.n[i] += other.n[i] * share
		h.total += h.n[i]
	}
	h.count += other.count * share
	h.gone += other.gone * share
}

func (h *histogram) lost() float64 {
	if h.count == 0 {
		return 0
	}
	return h.gone / h.count
}

// quantiles writes the quantile of each p into dst.
func (h *histogram) quantiles(ps, dst []float64) {
	for i, p := range ps {
		dst[i] = h.quantile(p)
	}
}

// rounding is more than the errors of adding up: 0.28 times 25 is over 7.
const rounding = 1e-13

// quantile returns the value of the first bin up to which there is a part p of all.
func (h *histogram) quantile(p float64) float64 {
	part := h.total // exact for the last bin, which the largest is in
	if p < 1 {
		part *= p * (1 - rounding)
	}
	var sum float64
	for i, n := range h.n {
		if sum += n; n > 0 && sum >= part {
			return h.bins.value[i]
		}
	}
	return 0
}

// bounds returns those of the lowest and the highest bin with an observation.
func (h *histogram) bounds() (least, most float64) {
	for i, n := range h.n {
		if n == 0 {
			continue
		}
		from, to := h.bins.bounds(i)
		if least == 0 {
			least = from
		}
		most = to
	}
	return least, most
}
