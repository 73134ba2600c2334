package redis

import "sync/atomic"

// A Kind is a kind of error.
type Kind int

const (
	Network   Kind = iota // no connection could be made or had in time, or it broke, or no reply came
	Refused               // the server answered with an error
	NotNumber             // a key holds what is no counter
	Overflow              // a counter would have passed 2^63-1
	Negative              // a delta below 0
	kinds
)

func (k Kind) String() string {
	names := [...]string{"network", "refused", "not a number", "overflow", "negative"}
	if k < 0 || int(k) >= len(names) {
		return "unknown"
	}
	return names[k]
}

// Stats is what a Store has done since it was made.
type Stats struct {
	Sent    int64          // increments that were given to the network
	Unsent  int64          // increments that came back as not sent
	Failed  int64          // increments that are lost: refused, or sent and not answered
	Read    int64          // keys that were asked for
	Deleted int64          // keys that were deleted, or were not there
	Errors  map[Kind]int64 // how often: a call to a server, or an increment or key if it is that one's
}

// counters are Stats in the making.
type counters struct {
	sent, unsent, failed, read, deleted atomic.Int64
	errors                              [kinds]atomic.Int64
}

// count counts n errors, and says whether they are the first of their kind.
func (c *counters) count(kind Kind, n int64) (first bool) {
	return c.errors[kind].Add(n) == n
}

// Stats returns a snapshot. It may be called at any time, also after Close.
func (s *Store) Stats() Stats {
	c := &s.counters
	stats := Stats{
		Sent:    c.sent.Load(),
		Unsent:  c.unsent.Load(),
		Failed:  c.failed.Load(),
		Read:    c.read.Load(),
		Deleted: c.deleted.Load(),
		Errors:  make(map[Kind]int64),
	}
	for kind := range kinds {
		if n := c.errors[kind].Load(); n > 0 {
			stats.Errors[kind] = n
		}
	}
	return stats
}
