package profile

import (
	"math"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile/internal/page"
)

func writerCounters(s wrstats.WriterStats) []page.Counter {
	return []page.Counter{
		{Name: "Added", Value: s.Added},
		{Name: "Flushed", Value: s.Flushed},
		{Name: "Lost", Value: s.Lost},
		{Name: "Dropped", Value: s.Dropped},
		{Name: "Pending", Value: s.Pending},
		{Name: "Rejected", Value: float64(s.Rejected)},
		{Name: "Flushes", Value: float64(s.Flushes)},
		{Name: "Errors", Value: float64(s.Errors)},
	}
}

// storeMeasures are the values of a store's measures, in its order; none of a store that does not measure.
func storeMeasures(store wrstats.Store) []page.Measured {
	all := []page.Measured{}
	measured, ok := store.(wrstats.Measured)
	if !ok {
		return all
	}
	for _, m := range measured.Measures() {
		for _, v := range m.Values {
			all = append(all, newMeasured(&m, v))
		}
	}
	return all
}

// newMeasured takes as many labels as there are both names and texts of: the store may be anybody's.
func newMeasured(m *wrstats.Measure, v wrstats.MeasuredValue) page.Measured {
	n := min(len(m.Labels), len(v.Labels))
	shown := page.Measured{Name: m.Name, Help: m.Help, LabelNames: m.Labels[:n], Labels: make(map[string]string, n)}
	for i, name := range m.Labels[:n] {
		shown.Labels[name] = v.Labels[i]
	}
	if !math.IsNaN(v.Value) && !math.IsInf(v.Value, 0) {
		shown.Value = &v.Value
	}
	return shown
}
