package limiter

import (
	"fmt"

	"github.com/wrstats/go-wrstats/wrstats"
)

// The defaults and limits of [Options] and [Op].
const (
	DefaultPrefix     = "limiter"
	DefaultBuckets    = 30
	DefaultMaxDenials = 1 << 14

	MaxBuckets = 1024
	MaxAmount  = 1 << 53
)

// Options tune a [Limiter]. The zero value is right for most. Processes that share limits need the same
// Prefix, Keyspace, Keys and Buckets.
type Options struct {
	Prefix   string            // names the caller in keys; "": DefaultPrefix
	Keyspace string            // owner of local entities; "": wrstats.DefaultKeyspace; "global" is refused
	Keys     wrstats.KeyFormat // nil: wrstats.DefaultKeys

	// Buckets is how many parts a window is cut into, up to MaxBuckets; 0: DefaultBuckets. A decision
	// reads one key for each, and takes what happened in the oldest as spread evenly over it.
	Buckets int

	// FailOpen allows when the store fails; without it that denies. The error is returned either way.
	// When only some of the servers answer, a FailOpen Limiter decides by what they have, and counts.
	FailOpen bool

	// Shadow allows everything. Decisions are made and counted as without it, so that their Ops, and
	// OnDenied, tell what would have been denied.
	Shadow bool

	// MaxDenials is for how many entities and conditions the Limiter remembers what it read when it
	// denied, and denies by that, without asking the store, until RetryAfter has passed; 0:
	// DefaultMaxDenials; negative: none. Each takes some 400 bytes with 30 buckets. What another process
	// resets, or a store evicts, stays denied so long. A batch is denied so when all of its counters are
	// remembered, as those of a batch are that was denied before: else the store says how long to wait.
	MaxDenials int

	// OnError hears of each failure of the store, once, and of increments that were lost on their way:
	// they are not counted, or may not be. OnDenied hears of each decision that the limits deny, in
	// shadow mode too. Both may be nil; they are called while a caller waits, by several goroutines
	// at once, and must not block.
	OnError  func(error)
	OnDenied func(Decision)
}

func (o Options) withDefaults() Options {
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if o.Keyspace == "" {
		o.Keyspace = wrstats.DefaultKeyspace
	}
	if o.Keys == nil {
		o.Keys = wrstats.DefaultKeys
	}
	if o.Buckets == 0 {
		o.Buckets = DefaultBuckets
	}
	if o.MaxDenials == 0 {
		o.MaxDenials = DefaultMaxDenials
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	if o.OnDenied == nil {
		o.OnDenied = func(Decision) {}
	}
	return o
}

// validate returns what is wrong with the options after withDefaults.
func (o *Options) validate() error {
	if o.Buckets < 0 || o.Buckets > MaxBuckets {
		return fmt.Errorf("limiter: Options.Buckets: %d is not from 1 to %d", o.Buckets, MaxBuckets)
	}
	return nil
}
