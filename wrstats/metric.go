package wrstats

import (
	"math"
	"strconv"
	"time"
)

// The defaults and limits of a [Sequence] and a [Metric].
const (
	DefaultStep       = 10 * time.Minute
	DefaultRetention  = time.Hour
	DefaultResolution = 1.0

	MinStep       = time.Millisecond
	MaxRetention  = 10 * 365 * 24 * time.Hour
	MinResolution = 1e-12
	MaxResolution = 1e12
)

// A Sequence is one series of equally wide buckets of a metric. A metric can have several: 10 s kept
// for a minute beside 10 minutes kept for an hour.
type Sequence struct {
	Name      string        // key component; "" for the first unnamed one, then by position "s1", "s2"
	Step      time.Duration // width of a bucket, from MinStep to Retention; 0: DefaultStep
	Retention time.Duration // how long a bucket is of use, up to MaxRetention; 0: DefaultRetention
}

func (s Sequence) withDefaults() Sequence {
	if s.Step == 0 {
		s.Step = DefaultStep
	}
	if s.Retention == 0 {
		s.Retention = DefaultRetention
	}
	return s
}

// validate returns what is wrong with a sequence after withDefaults.
func (s Sequence) validate() *fieldError {
	switch {
	case s.Step < MinStep:
		return fieldErrorf("Step", "%v is less than %v", s.Step, MinStep)
	case s.Retention < 0:
		return fieldErrorf("Retention", "%v is negative", s.Retention)
	case s.Retention > MaxRetention:
		return fieldErrorf("Retention", "%v is more than %v", s.Retention, MaxRetention)
	case s.Retention/s.Step > maxWindows:
		return fieldErrorf("Step", "%v makes more than %d windows of the retention of %v", s.Step, maxWindows, s.Retention)
	case s.Step > s.Retention:
		return fieldErrorf("Step", "%v is longer than the retention of %v", s.Step, s.Retention)
	}
	return nil
}

// life is how long a key is of use after its first write: the rest of its bucket, and the retention.
func (s Sequence) life() time.Duration { return s.Retention + s.Step }

// ttl is the life of a key in whole seconds, as servers count.
func (s Sequence) ttl() time.Duration {
	return (s.life() + time.Second - 1).Truncate(time.Second)
}

// A Metric is a named counter that only grows.
type Metric struct {
	Name       string     // key component; required
	Resolution float64    // the smallest unit that is stored, from MinResolution to MaxResolution; 0: 1
	Sequences  []Sequence // nil: one default sequence

	// Distribution makes it a metric of values that are observed, for quantiles; nil: of values that are added
	// up. Its Rate is that of how many were observed, so its Resolution is 1.
	Distribution *Distribution

	bins *bins // of Distribution, when all is valid
}

func (m Metric) withDefaults() Metric {
	if m.Resolution == 0 {
		m.Resolution = DefaultResolution
	}
	sequences := m.Sequences
	if len(sequences) == 0 {
		sequences = []Sequence{{}}
	}
	if m.Distribution != nil {
		d := m.Distribution.withDefaults()
		m.Distribution = &d
	}
	m.Sequences = make([]Sequence, len(sequences))
	unnamed := 0
	for i, s := range sequences {
		m.Sequences[i] = s.withDefaults()
		if s.Name != "" {
			continue
		}
		if unnamed++; unnamed > 1 {
			m.Sequences[i].Name = "s" + strconv.Itoa(i)
		}
	}
	return m
}

// validate returns what is wrong with a metric after withDefaults.
func (m Metric) validate() *fieldError {
	if m.Name == "" {
		return fieldErrorf("Name", "is empty")
	}
	if !(MinResolution <= m.Resolution && m.Resolution <= MaxResolution) {
		return fieldErrorf("Resolution", "%v is not from %v to %v", m.Resolution, MinResolution, MaxResolution)
	}
	names := make(map[string]bool)
	for i, s := range m.Sequences {
		if err := s.validate(); err != nil {
			return err.in("Sequences", i)
		}
		if names[s.Name] {
			return fieldErrorf("Name", "%q is another sequence's", s.Name).in("Sequences", i)
		}
		names[s.Name] = true
	}
	if m.Distribution == nil {
		return nil
	}
	if m.Resolution != 1 {
		return fieldErrorf("Resolution", "%v is not 1, which it is of a distribution: that counts observations", m.Resolution)
	}
	return m.Distribution.validate()
}

// A kind is what a metric's values are.
type kind int

const (
	added    kind = iota
	observed      // of a distribution
)

func (m *Metric) kind() kind {
	if m.bins != nil {
		return observed
	}
	return added
}

// maxUnits is the largest value of one increment: the integers that a float64 tells apart end there.
const maxUnits = 1 << 53

// quantity splits a value into units of the resolution; ok is false for what is no valid value.
func (m Metric) quantity(v float64) (q quantity, ok bool) {
	units := v / m.Resolution
	if !(units >= 0 && units <= maxUnits) { // NaN is neither
		return quantity{}, false
	}
	whole := math.Round(units)
	if math.Abs(units-whole) <= units*0x1p-51 { // the division's own error
		return quantity{units: int64(whole)}, true
	}
	whole = math.Floor(units)
	return quantity{int64(whole), int64(math.Round((units - whole) * nano))}, true
}

// value is the inverse, for any number of units.
func (m Metric) value(units float64) float64 {
	if perOne := math.Round(1 / m.Resolution); perOne*m.Resolution == 1 {
		return units / perOne // 12345 units of 0.001 are 12.345, not 12.345000000000001
	}
	return units * m.Resolution
}
