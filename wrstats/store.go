package wrstats

import (
	"context"
	"time"
)

// A Store keeps integer counters under keys, each for a limited time. The backends of this module
// are Stores; package storetest checks that another one keeps the promises made here.
//
// All methods may be called by many goroutines at once. A context bounds how long a call blocks;
// one that is already done touches nothing. After Close, every other method returns an error that
// wraps [ErrClosed]. In both cases Incr's error is a [*NotSentError] of the whole batch.
type Store interface {
	// Incr hands a batch of increments over and does not wait for the servers to apply it. Each key
	// that does not exist is created with the value 0 and the increment's TTL; then the delta is
	// added. A key that exists keeps the time of its end. A key may be in a batch several times:
	// its deltas add up. The order within a batch means nothing. An empty batch does nothing.
	//
	// The Receipt tells what became of the batch; a nil one, without an error, says that all of it
	// has been applied. Incr keeps nothing of batch after it returns.
	//
	// An error that is or wraps a [*NotSentError] names the increments that certainly were not
	// applied. The Receipt, if there is one with the error, tells what became of all others; if there
	// is none, they may or may not have been applied, and must not be sent again.
	Incr(ctx context.Context, batch []Increment) (Receipt, error)

	// Get reads counters: one Value per key, in the order of keys, which may repeat. A key that is
	// not there, has ended or holds no number is a Value that is not Found, not an error. When some
	// of the servers fail, Get returns the values of the others, still one per key, with an error
	// that wraps [ErrPartial]. Whatever else fails returns no values.
	Get(ctx context.Context, keys []string) ([]Value, error)

	// Delete removes keys. It has been applied when Delete returns nil. A key that is not there is
	// no error.
	Delete(ctx context.Context, keys []string) error

	// Close releases what the Store holds. It is idempotent.
	Close() error
}

// An Increment adds Delta to the counter at Key.
type Increment struct {
	Key   string        // 1 to 250 bytes of 0x21 to 0x7e
	Delta int64         // 0 or more; 0 creates the key
	TTL   time.Duration // over 0; less than a second counts as a second. From the key's first write; stores may add slack for their clock
}

// A Value is what a Store holds under a key.
type Value struct {
	N     int64 // 0 when not Found
	Found bool
}

// A Receipt tells what became of a batch that a Store took.
type Receipt interface {
	// Wait blocks until the batch has been applied, or is known to be lost, or ctx is done. lost is
	// the sum of the deltas that failed or whose outcome can't be known, and err the first reason.
	// When ctx ends the wait, err is the context's and lost is the sum of all the deltas that are
	// still open. Wait can be called again, by any goroutine.
	Wait(ctx context.Context) (lost int64, err error)
}
