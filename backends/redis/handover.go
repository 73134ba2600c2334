package redis

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/wrstats/go-wrstats/internal/receipt"
	"github.com/wrstats/go-wrstats/wrstats"
)

// A handover is one call of Incr.
type handover struct {
	store   *Store
	ctx     context.Context // the caller's
	receipt *receipt.Receipt
	cancels []context.CancelFunc // of the goroutines of start

	pieces  []*piece
	waiting atomic.Int64  // pieces that are not sent, failed or abandoned; Incr itself counts as one
	begun   chan struct{} // closed when waiting is 0

	unsent []wrstats.Increment
	errs   []error
}

func newHandover(s *Store, ctx context.Context) *handover {
	h := &handover{store: s, ctx: ctx, receipt: receipt.New(), begun: make(chan struct{})}
	h.waiting.Store(1)
	return h
}

// left notes that a piece no longer waits.
func (h *handover) left() {
	if h.waiting.Add(-1) == 0 {
		close(h.begun)
	}
}

// tell counts n increments that are lost, and reports them.
func (h *handover) tell(n int64, err error) {
	h.store.counters.failed.Add(n)
	kind := kindOf(err)
	if kind == Network || kind == Refused {
		n = 1
	}
	h.store.report(kind, n, err)
}

// A share is what one shard is given.
type share struct {
	shard  *shard
	pieces []*piece
	open   map[int64]*piece // that is not full, by the TTL in seconds
}

// plan copies the batch into pieces. What is wrong is lost by the receipt.
func (h *handover) plan(batch []wrstats.Increment) []*share {
	var shares []*share
	known := make(map[*shard]*share)
	for i := range batch {
		inc := &batch[i]
		if inc.Delta < 0 {
			h.receipt.Refuse(inc.Delta, ErrNegative)
			h.tell(1, ErrNegative)
			continue
		}
		sh, err := h.store.directory.find(inc.Key)
		if err != nil {
			h.miss(batch[i:i+1], opError("incr", "ring", err))
			continue
		}
		own := known[sh]
		if own == nil {
			own = &share{shard: sh, open: make(map[int64]*piece)}
			known[sh], shares = own, append(shares, own)
		}
		own.add(h, inc, len(batch)-i)
	}
	return shares
}

// add puts an increment into a piece. At most more follow, it included.
func (sh *share) add(h *handover, inc *wrstats.Increment, more int) {
	size := pieceSize
	if sh.shard.split {
		size = 1
	}
	ttl := seconds(inc.TTL)
	p := sh.open[ttl]
	if p == nil || len(p.incs) == size {
		p = &piece{handover: h, incs: make([]wrstats.Increment, 0, min(size, more))}
		sh.open[ttl] = p
		sh.pieces = append(sh.pieces, p)
		h.pieces = append(h.pieces, p)
		h.waiting.Add(1)
	}
	p.incs = append(p.incs, *inc)
	p.sum = receipt.Add(p.sum, inc.Delta)
}

// send gives each shard its share, all at once, and waits until every piece is on its way, has failed, or
// can't wait longer.
func (h *handover) send(shares []*share) {
	for _, p := range h.pieces { // before anybody can send one: Incr may return right then
		h.receipt.Expect(p.sum)
	}
	for _, sh := range shares {
		h.start(sh)
	}
	h.left()
	select {
	case <-h.begun:
	case <-h.ctx.Done():
		for _, cancel := range h.cancels {
			cancel()
		}
	}
	for _, p := range h.pieces {
		p.abandon()
	}
}

// start sends a share on a goroutine of its own. What the client is given as a context outlives the call,
// unless that ends before all is on its way. So a goroutine that nobody waits for has a connection, and they
// are no more than the client's pool has.
func (h *handover) start(sh *share) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.ctx))
	begun := h.store.begin(func() {
		defer cancel()
		defer context.AfterFunc(h.store.ctx, cancel)()
		h.run(ctx, sh)
	})
	if begun {
		h.cancels = append(h.cancels, cancel)
		return
	}
	cancel()
	for _, p := range sh.pieces {
		p.fail(errClosed)
	}
}

// miss notes what certainly was not sent.
func (h *handover) miss(incs []wrstats.Increment, err error) {
	h.unsent = append(h.unsent, incs...)
	h.store.counters.unsent.Add(int64(len(incs)))
	for _, e := range h.errs {
		if e.Error() == err.Error() {
			return
		}
	}
	if len(h.errs) < maxReasons {
		h.errs = append(h.errs, err)
	}
	h.store.report(kindOf(err), 1, err)
}

// maxReasons is how many errors one call tells.
const maxReasons = 16

// result is what Incr returns.
func (h *handover) result() (wrstats.Receipt, error) {
	for _, p := range h.pieces {
		switch p.state.Load() {
		case failed:
			h.receipt.Withdraw(p.sum)
			h.miss(p.incs, p.why)
		case abandoned:
			h.receipt.Withdraw(p.sum)
			h.miss(p.incs, h.reason())
		default:
			h.store.counters.sent.Add(int64(len(p.incs)))
		}
	}
	var err error
	if h.unsent != nil {
		err = &wrstats.NotSentError{Batch: h.unsent, Err: errors.Join(h.errs...)}
	}
	if !h.receipt.Returned() {
		return nil, err
	}
	return h.receipt, err
}

// reason says why a piece was abandoned.
func (h *handover) reason() error {
	if err := h.ctx.Err(); err != nil {
		return err
	}
	return errUnsent
}
