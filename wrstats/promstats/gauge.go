package promstats

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wrstats/go-wrstats/wrstats"
)

// A Gauge is a metric of Prometheus that has one series for each of its entities.
type Gauge struct {
	// Name is the whole name, which nothing is added to; required. By Prometheus' conventions it ends in the
	// plural of a base unit: filter_run_seconds. What Prometheus keeps for other kinds of metrics is refused:
	// a colon, and _total, _count, _sum or _bucket at the end.
	Name string

	Help  string  // required
	Value Value   // what is shown; required
	Scale float64 // what the value is multiplied by, for base units: 0.001 makes milliseconds seconds; 0: 1

	Span wrstats.Span // over which; required

	// Entities lists those that are shown; required. It is called once for each read of the store, not for
	// each scrape, and by one goroutine at a time; it must not block. [Of] makes one that never changes.
	Entities func() []wrstats.Entity

	// Labels are the names of the labels that the components of an entity become, in their order; "" leaves
	// a component out. Bytes that are not UTF-8 become U+FFFD. An entity is skipped, and counted, when it has
	// another number of components, and when one before it has the same labels.
	Labels []string

	ConstLabels prometheus.Labels // on all series, such as {"window": "1h"} for gauges of one Name; nil: none
}

// Of returns a list of entities for [Gauge.Entities].
func Of(entities ...wrstats.Entity) func() []wrstats.Entity {
	entities = slices.Clone(entities)
	return func() []wrstats.Entity { return entities }
}

var (
	nameForm = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
	reserved = []string{"_total", "_count", "_sum", "_bucket"}
)

// check names the field that is wrong.
func (g *Gauge) check() error {
	switch {
	case g.Name == "":
		return errors.New("the Name is required")
	case !nameForm.MatchString(g.Name):
		return errors.New("the Name has characters that are not a-z, A-Z, 0-9 and _")
	case slices.ContainsFunc(reserved, func(end string) bool { return strings.HasSuffix(g.Name, end) }):
		return fmt.Errorf("the Name must not end in %s", strings.Join(reserved, ", "))
	case g.Help == "":
		return errors.New("the Help is required")
	case g.Value.show == nil:
		return errors.New("the Value is required")
	case g.Value.ps != nil && len(g.Value.ps) == 0:
		return errors.New("the Value has no quantile")
	case twice(g.Value.ps):
		return errors.New("the Value has a quantile twice")
	case math.IsNaN(g.Scale) || math.IsInf(g.Scale, 0) || g.Scale < 0:
		return errors.New("the Scale is negative, infinite or not a number")
	case g.Entities == nil:
		return errors.New("the Entities is required")
	}
	return checkLabels(g.Labels)
}

func twice(ps []float64) bool {
	ps = slices.Sorted(slices.Values(ps))
	return len(slices.Compact(ps)) < len(ps)
}

func checkLabels(names []string) error {
	for i, name := range names {
		switch {
		case name == "":
		case !nameForm.MatchString(name) || strings.HasPrefix(name, "__"):
			return fmt.Errorf("in Labels, %q is no name of a label", name)
		case name == "le" || name == "quantile":
			return fmt.Errorf("in Labels, %q belongs to histograms and summaries", name)
		case slices.Contains(names[:i], name):
			return fmt.Errorf("in Labels, %q is there twice", name)
		}
	}
	return nil
}

// withDefaults returns a copy that nobody else changes.
func (g Gauge) withDefaults() Gauge {
	if g.Scale == 0 || g.Value.bare {
		g.Scale = 1
	}
	g.Labels = slices.Clone(g.Labels)
	return g
}

// labelNames are those that are not left out, and that of quantiles.
func (g *Gauge) labelNames() []string {
	names := slices.DeleteFunc(slices.Clone(g.Labels), func(name string) bool { return name == "" })
	if len(g.Value.ps) > 0 {
		names = append(names, QuantileLabel)
	}
	return names
}

// labelValues returns an entity's values of labels that are not left out; ok is false where its components don't fit.
func (g *Gauge) labelValues(e wrstats.Entity) (values []string, ok bool) {
	components := e.Components()
	if len(components) != len(g.Labels) {
		return nil, false
	}
	for i, name := range g.Labels {
		if name != "" {
			values = append(values, strings.ToValidUTF8(components[i], "\uFFFD"))
		}
	}
	return values, true
}
