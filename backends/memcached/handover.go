package memcached

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/wrstats/go-wrstats/internal/receipt"
	"github.com/wrstats/go-wrstats/wrstats"
)

// stageSize is how much of a batch is placed before it is sent: the servers are busy with one stage while
// the next is placed and encoded.
const stageSize = 600

// A handover is one call of Incr.
type handover struct {
	store   *Store
	ctx     context.Context
	receipt *receipt.Receipt

	mu     sync.Mutex // guards what follows
	unsent [][]wrstats.Increment
	errs   []error           // one for each server that is down
	down   map[*server]error // what it is given no more for
}

// give hands a stage of the batch over: each server its share, all at once.
func (h *handover) give(stage []wrstats.Increment) {
	p := h.plan(stage)
	defer plans.Put(p)
	if p.err != nil {
		h.miss(nil, share[wrstats.Increment]{stage, p.unplaced}, p.err)
	}
	h.store.spread(p, (*server).quick, func(server *server, order []int32) {
		sh := share[wrstats.Increment]{stage, order}
		sent, err := 0, h.downed(server)
		if err == nil {
			sent, err = server.incr(h.ctx, sh, h.receipt)
		}
		if err != nil {
			h.miss(server, sh.from(sent), err)
		}
	})
}

// plan places a stage. What is refused is lost by the receipt.
func (h *handover) plan(stage []wrstats.Increment) *plan {
	s := h.store
	p := newPlan(len(stage))
	for i := range stage {
		inc := &stage[i]
		err := checkKey(inc.Key, len(s.config.RoutePrefix))
		if inc.Delta < 0 {
			err = ErrNegative
		}
		if err != nil {
			p.at[i] = nowhere
			s.refuse(err)
			h.receipt.Refuse(inc.Delta, err)
			continue
		}
		if p.at[i], err = s.locate(inc.Key, p.scratch); err != nil {
			p.fail(i, err)
		}
	}
	p.sort(len(s.directory.all()))
	return p
}

func (h *handover) downed(server *server) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.down[server]
}

// miss notes what certainly was not sent, and does not try the server again in this call.
func (h *handover) miss(s *server, sh share[wrstats.Increment], err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unsent = append(h.unsent, sh.slice())
	if h.down[s] != nil {
		return
	}
	if h.down == nil {
		h.down = make(map[*server]error)
	}
	h.down[s] = err
	h.errs = append(h.errs, err)
}

// result is what Incr returns.
func (h *handover) result(batch []wrstats.Increment) (wrstats.Receipt, error) {
	var err error
	if h.errs != nil {
		err = &wrstats.NotSentError{Batch: h.joined(batch), Err: errors.Join(h.errs...)}
	}
	if !h.receipt.Returned() {
		return nil, err
	}
	return h.receipt, err
}

// joined returns all that was not sent.
func (h *handover) joined(batch []wrstats.Increment) []wrstats.Increment {
	n := 0
	for _, part := range h.unsent {
		n += len(part)
	}
	switch {
	case n == len(batch):
		return batch
	case len(h.unsent) == 1:
		return h.unsent[0]
	}
	return slices.Concat(h.unsent...)
}
