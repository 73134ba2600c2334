package wrstats

import (
	"errors"
	"fmt"
)

var (
	// ErrUnknownMetric is wrapped by what [Writer.Add], [Writer.AddAt], [Writer.Counter], [Writer.Observe],
	// [Writer.ObserveAt], [Writer.Distribution] and the Reader return for a metric that is not in
	// [Config.Metrics].
	ErrUnknownMetric = errors.New("wrstats: unknown metric")

	// ErrWrongKind is wrapped by what [Writer.Add], [Writer.AddAt] and [Writer.Counter] return for a metric
	// that has a [Distribution], and [Writer.Observe], [Writer.ObserveAt], [Writer.Distribution] and reads of
	// quantiles for one that has none.
	ErrWrongKind = errors.New("wrstats: wrong kind of metric")

	// ErrInvalidValue is wrapped by the errors for a value that is negative, NaN, infinite or more than
	// 2^53 units of its metric's resolution, or that takes a counter past 2^63-1 units between two flushes, for
	// an observed value that is NaN, for an instant outside the years 1700 to 2249, and for a quantile outside
	// 0 to 1. Nothing of it is counted, and nothing is read.
	ErrInvalidValue = errors.New("wrstats: invalid value")

	// ErrForeignCounter is returned by [Writer.AddAllAt] for a counter of another Writer.
	ErrForeignCounter = errors.New("wrstats: the counter is another Writer's")

	// ErrClosed is wrapped by what a closed [Writer] or [Store] returns.
	ErrClosed = errors.New("wrstats: closed")

	// ErrPartial is wrapped by the error of a read that has some of its values: those of the
	// servers that answered. The values come with the error.
	ErrPartial = errors.New("wrstats: partial answer")
)

// NotSentError is what [Store.Incr] returns when some of a batch certainly did not reach a server.
// Those increments are safe to send again; the rest of the batch may have been applied.
type NotSentError struct {
	// Batch holds the increments that were not sent. It may be a part of the slice that was passed
	// to Incr, so it is valid as long as that one is.
	Batch []Increment
	Err   error // why
}

func (e *NotSentError) Error() string {
	return fmt.Sprintf("wrstats: %d increments not sent: %v", len(e.Batch), e.Err)
}

// Unwrap returns Err.
func (e *NotSentError) Unwrap() error { return e.Err }
