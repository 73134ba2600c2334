package memory

import "errors"

var (
	// ErrOverflow is what the Receipt of [Store.Incr] tells of an increment that would have taken
	// its counter past 2^63-1. The counter stays as it was.
	ErrOverflow = errors.New("wrstats: memory: counter past 2^63-1")

	// ErrNegative is what the Receipt of [Store.Incr] tells of an increment with a Delta below 0.
	// Nothing is counted and no key is created.
	ErrNegative = errors.New("wrstats: memory: negative delta")

	// ErrFull is what the Receipt of [Store.Incr] tells of an increment that needed a new key in a
	// shard whose keys take 4 GiB already; a Store has 16 to 256 shards. Counters that exist still
	// count.
	ErrFull = errors.New("wrstats: memory: keys take too much memory")
)
