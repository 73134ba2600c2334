// Package receipt is the [wrstats.Receipt] of stores that are told by and by what became of a batch.
package receipt

import (
	"context"
	"math"
	"sync"

	"github.com/wrstats/go-wrstats/wrstats"
)

var _ wrstats.Receipt = (*Receipt)(nil)

// A Receipt tells what became of a batch: it is complete when all parts of it that were sent are resolved,
// and Incr has returned. Sums of deltas stay at 2^63-1 once they are there. It is safe for concurrent use.
type Receipt struct {
	done chan struct{} // closed when open is 0

	mu   sync.Mutex // guards what follows
	open int        // parts that are not resolved; Incr itself counts as one until it returns
	tell int        // parts and refusals, of which there is something to tell
	sum  int64      // of the deltas of open parts
	lost int64
	err  error // why, first
}

// New makes the Receipt of a call of Incr, which has to end with Returned.
func New() *Receipt { return &Receipt{done: make(chan struct{}), open: 1} }

// Wait blocks until all of the batch is confirmed or lost, or ctx is done: then what is not known counts
// as lost.
func (r *Receipt) Wait(ctx context.Context) (lost int64, err error) {
	select {
	case <-r.done:
		return r.lost, r.err // nobody changes them any more
	default:
	}
	select {
	case <-r.done:
		return r.lost, r.err
	case <-ctx.Done():
		r.mu.Lock()
		defer r.mu.Unlock()
		return Add(r.lost, r.sum), ctx.Err()
	}
}

// Expect notes that a part with this sum of deltas is on its way, before Returned or while another part is.
func (r *Receipt) Expect(sum int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open++
	r.tell++
	r.sum = Add(r.sum, sum)
}

// Withdraw notes that a part which was expected is not sent after all, before Returned.
func (r *Receipt) Withdraw(sum int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tell--
	r.sum -= min(sum, r.sum)
	r.end()
}

// Resolve notes what became of a part: lost of its sum, for the reason err if it is not nil.
func (r *Receipt) Resolve(sum, lost int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sum -= min(sum, r.sum)
	r.lose(lost, err)
	r.end()
}

// Refuse notes an increment that is not sent because it is wrong, before Returned. A negative one adds
// nothing to what is lost.
func (r *Receipt) Refuse(delta int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tell++
	r.lose(delta, err)
}

// Returned notes that Incr is about to return. It says whether there is anything to tell.
func (r *Receipt) Returned() (tells bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end()
	return r.tell > 0
}

func (r *Receipt) lose(delta int64, err error) {
	r.lost = Add(r.lost, max(delta, 0))
	if r.err == nil {
		r.err = err
	}
}

func (r *Receipt) end() {
	r.open--
	if r.open == 0 {
		close(r.done)
	}
}

// Add is the sum of deltas, none of them negative: at most 2^63-1.
func Add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
