package memory

import (
	"context"
	"math"

	"github.com/wrstats/go-wrstats/wrstats"
)

// refused is the Receipt of a batch that was not applied as a whole: what was refused, and why the
// first of it was. It is complete when Incr returns it, so Wait never blocks.
type refused struct {
	lost int64 // sum of the deltas, at most 2^63-1; a negative delta adds nothing to it
	err  error // nil: nothing was refused
}

func (r *refused) add(delta int64, err error) {
	if r.err == nil {
		r.err = err
	}
	r.lost += min(max(delta, 0), math.MaxInt64-r.lost)
}

// receipt returns nil when nothing was refused.
func (r refused) receipt() wrstats.Receipt {
	if r.err == nil {
		return nil
	}
	return r
}

func (r refused) Wait(context.Context) (lost int64, err error) { return r.lost, r.err }
