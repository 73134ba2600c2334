package wrstats

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// DefaultKeyspace owns local entities where [Config.Keyspace] is empty.
const DefaultKeyspace = "local"

// Config says what is counted and how its keys are spelled. All processes that share counters need
// the same one.
type Config struct {
	Prefix   string    // names the caller; required
	Keyspace string    // owner of local entities; "": DefaultKeyspace; "global" is refused
	Keys     KeyFormat // nil: DefaultKeys
	Metrics  []Metric  // at least one
}

func (c Config) withDefaults() Config {
	if c.Keyspace == "" {
		c.Keyspace = DefaultKeyspace
	}
	if c.Keys == nil {
		c.Keys = DefaultKeys
	}
	metrics := c.Metrics
	c.Metrics = make([]Metric, len(metrics))
	for i, m := range metrics {
		c.Metrics[i] = m.withDefaults()
	}
	return c
}

// validate returns what is wrong with a configuration after withDefaults.
func (c *Config) validate() *fieldError {
	switch {
	case c.Prefix == "":
		return fieldErrorf("Prefix", "is empty")
	case c.Keyspace == "global":
		return fieldErrorf("Keyspace", `"global" is the scope of global entities`)
	case len(c.Metrics) == 0:
		return fieldErrorf("Metrics", "is empty")
	}
	names := make(map[string]bool)
	for i, m := range c.Metrics {
		if err := m.validate(); err != nil {
			return err.in("Metrics", i)
		}
		if names[m.Name] {
			return fieldErrorf("Name", "%q is another metric's", m.Name).in("Metrics", i)
		}
		names[m.Name] = true
		if err := c.validateKeys(i); err != nil {
			return err
		}
	}
	if err := c.validateSpelling(); err != nil {
		return err
	}
	return c.validateBins()
}

// validateSpelling blames a sequence whose keys are those of another, of the same metric or not: a KeyFormat
// may spell two names alike.
func (c *Config) validateSpelling() *fieldError {
	owners := make(map[string]string) // metrics, by the keys of their sequences as they are of one bucket and entity
	for i := range c.Metrics {
		m := &c.Metrics[i]
		for j := range m.Sequences {
			key, _ := c.key(nil, m.Name, &m.Sequences[j], 0, Entity{})
			if owner, taken := owners[key]; taken {
				return fieldErrorf("Name", "%q: a sequence has the keys of one of metric %q", m.Name, owner).in("Metrics", i)
			}
			owners[key] = m.Name
		}
	}
	return nil
}

// validateBins makes the bins of the distributions, and blames a metric whose keys are those of a bin of another.
func (c *Config) validateBins() *fieldError {
	owners := make(map[string]string) // of keys, as they are of one bucket and entity
	for i := range c.Metrics {
		key, _ := c.key(nil, c.Metrics[i].Name, &Sequence{}, 0, Entity{})
		owners[key] = c.Metrics[i].Name
	}
	for i := range c.Metrics {
		m := &c.Metrics[i]
		if m.Distribution == nil {
			continue
		}
		m.bins = newBins(*m.Distribution, m.Name)
		for _, name := range m.bins.names {
			key, _ := c.key(nil, name, &Sequence{}, 0, Entity{})
			if owner, taken := owners[key]; taken {
				return fieldErrorf("Name", "%q: a bin has the key of metric %q", m.Name, owner).in("Metrics", i)
			}
			owners[key] = m.Name
		}
	}
	return nil
}

// A fieldError says what is wrong with a field of a Config.
type fieldError struct{ field, problem string }

func fieldErrorf(field, format string, args ...any) *fieldError {
	return &fieldError{field, fmt.Sprintf(format, args...)}
}

// in returns the error of a field within element i of a slice.
func (e *fieldError) in(slice string, i int) *fieldError {
	return &fieldError{fmt.Sprintf("%s[%d].%s", slice, i, e.field), e.problem}
}

func (e *fieldError) Error() string { return "wrstats: Config." + e.field + ": " + e.problem }

// Stats is a configuration with its store. It has no state beside them, and is safe for concurrent
// use; it has nothing to close, and the store stays its owner's.
type Stats struct {
	store   Store
	config  Config
	metrics map[string]*Metric // those of config, by name
}

// New returns a Stats that keeps its counters in store. An error names the field that is wrong.
func New(store Store, cfg Config) (*Stats, error) {
	if store == nil {
		return nil, errors.New("wrstats: the store is nil")
	}
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	s := &Stats{store: store, config: cfg, metrics: make(map[string]*Metric, len(cfg.Metrics))}
	for i := range cfg.Metrics {
		s.metrics[cfg.Metrics[i].Name] = &cfg.Metrics[i]
	}
	return s, nil
}

// metric returns the metric of a name.
func (s *Stats) metric(name string) (*Metric, error) {
	m := s.metrics[name]
	if m == nil {
		return nil, fmt.Errorf("%w: %q", ErrUnknownMetric, name)
	}
	return m, nil
}

// metricOf is metric for those of a kind.
func (s *Stats) metricOf(name string, k kind) (*Metric, error) {
	m, err := s.metric(name)
	switch {
	case err != nil:
		return nil, err
	case m.kind() == k:
		return m, nil
	case k == observed:
		return nil, fmt.Errorf("%w: %q has no distribution", ErrWrongKind, name)
	}
	return nil, fmt.Errorf("%w: %q is a distribution, whose values are observed", ErrWrongKind, name)
}

// key spells the storage key of a bucket, using buf for scratch, which it returns. The name is the metric's or
// a bin's.
func (c *Config) key(buf []byte, name string, seq *Sequence, bucket int64, e Entity) (string, []byte) {
	buf = c.appendKey(buf[:0], name, seq, bucket, e)
	return string(buf), buf
}

func (c *Config) appendKey(dst []byte, name string, seq *Sequence, bucket int64, e Entity) []byte {
	return c.Keys.AppendKey(dst, Key{
		Keyspace: c.Keyspace,
		Prefix:   c.Prefix,
		Metric:   name,
		Sequence: seq.Name,
		Bucket:   bucket,
		Entity:   e,
	})
}

// validateKeys spells the longest keys of a metric, of a bucket of 20 digits and of entities that are
// long themselves, and blames the longest name if they are too long.
func (c *Config) validateKeys(i int) *fieldError {
	limit := MaxKeyLength
	if c.Keys == DefaultKeys {
		limit = defaultKeyLength
	}
	m := &c.Metrics[i]
	name := m.Name
	if m.Distribution != nil {
		name = m.Distribution.longestName(m.Name)
	}
	long := strings.Repeat("\xff", MaxKeyLength)
	for j := range m.Sequences {
		for _, e := range []Entity{Local(), Global(), Local(long), Global(long)} {
			key, _ := c.key(nil, name, &m.Sequences[j], math.MinInt64, e)
			if len(key) > limit {
				return fieldErrorf(c.longestName(i, j), "is too long: keys would have %d bytes, over %d", len(key), limit)
			}
			if key == "" || strings.ContainsFunc(key, func(r rune) bool { return r < 0x21 || r > 0x7e }) {
				return fieldErrorf("Keys", "spells keys that are empty or have other bytes than 0x21 to 0x7e")
			}
		}
	}
	return nil
}

// longestName returns the field to blame for a key that is too long.
func (c *Config) longestName(metric, sequence int) string {
	m := c.Metrics[metric]
	field, longest := "Prefix", len(c.Prefix)
	for _, other := range []struct{ field, value string }{
		{"Keyspace", c.Keyspace},
		{fmt.Sprintf("Metrics[%d].Name", metric), m.Name},
		{fmt.Sprintf("Metrics[%d].Sequences[%d].Name", metric, sequence), m.Sequences[sequence].Name},
	} {
		if len(other.value) > longest {
			field, longest = other.field, len(other.value)
		}
	}
	return field
}
