package redis

import (
	"cmp"
	"context"
)

// maxKeys is how many keys a pipeline has at most.
const maxKeys = 12_000

// run sends the pieces of a share and judges the replies. Once none of a pipeline can be sent, no more are
// tried.
func (h *handover) run(ctx context.Context, sh *share) {
	var why error
	for part := range pipelines(sh.pieces) {
		if why == nil {
			why = h.exec(ctx, sh.shard, part)
			continue
		}
		for _, p := range part {
			p.fail(why)
		}
	}
}

// pipelines cuts pieces into what goes out at once.
func pipelines(pieces []*piece) func(yield func([]*piece) bool) {
	return func(yield func([]*piece) bool) {
		begin, keys := 0, 0
		for i, p := range pieces {
			if keys += len(p.incs); keys > maxKeys && i > begin {
				if !yield(pieces[begin:i]) {
					return
				}
				begin, keys = i, len(p.incs)
			}
		}
		if begin < len(pieces) {
			yield(pieces[begin:])
		}
	}
}

// exec sends pieces in one pipeline. What a server has refused to run is sent in another form. It returns
// why none could be sent.
func (h *handover) exec(ctx context.Context, sh *shard, pieces []*piece) error {
	all := h.pipeline(ctx, sh, pieces)
	var again []*piece
	unsent := 0
	for _, p := range pieces {
		failures, err := p.outcome(all)
		p.fail(opError("incr", sh.addr, err))
		switch {
		case p.state.Load() != sent:
			unsent++
		case isCode(err, "NOSCRIPT"):
			p.text = true
			again = append(again, p)
		case isCode(err, "NOPERM") && len(p.incs) > 1:
			again = append(again, p.singles()...)
		default:
			p.judge(sh, failures, err)
		}
	}
	for part := range pipelines(again) {
		all := h.pipeline(ctx, sh, part)
		for _, p := range part {
			failures, err := p.outcome(all)
			p.judge(sh, failures, err)
		}
	}
	if unsent == len(pieces) {
		return opError("incr", sh.addr, cmp.Or(all, errUnsent))
	}
	return nil
}

func (h *handover) pipeline(ctx context.Context, sh *shard, pieces []*piece) error {
	pipe := sh.client.Pipeline()
	for _, p := range pieces {
		_ = pipe.Process(ctx, p.command(ctx, sh.split)) // it only appends
	}
	_, err := pipe.Exec(ctx)
	return err
}
