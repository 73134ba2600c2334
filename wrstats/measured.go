package wrstats

// A Measured is a [Store] that tells what it has done since it was made, for monitoring. The backends of this
// module are; what wraps a store and wants to be one passes the call on.
type Measured interface {
	// Measures returns a snapshot. It touches memory only and may be called at any time, also after
	// Close. The measures are the same ones each time, in the same order; their values may be more or fewer.
	Measures() []Measure
}

// A Measure is one thing that is measured, in one value or in several with labels.
type Measure struct {
	Name   string   // in snake case, the backend first and a unit last, such as memcached_read_bytes
	Help   string   // a sentence
	Gauge  bool     // goes up and down; else it counts from 0 and only grows
	Labels []string // names of what tells the values apart, such as server
	Values []MeasuredValue
}

// A MeasuredValue is one value of a [Measure]. No two of a measure have the same labels.
type MeasuredValue struct {
	Labels []string // one for each of [Measure.Labels]
	Value  float64
}
