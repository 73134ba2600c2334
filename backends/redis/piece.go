package redis

import (
	"context"
	"sync/atomic"

	goredis "github.com/redis/go-redis/v9"

	"github.com/wrstats/go-wrstats/internal/receipt"
	"github.com/wrstats/go-wrstats/wrstats"
)

// The states of a piece. It leaves waiting once, for one of the others.
const (
	waiting   = iota // not given to the network
	sent             // may have reached a server; the receipt tells the rest
	failed           // can't be sent: why says so
	abandoned        // nobody waits for it any more; it must not be sent
)

// A piece is a part of a batch that is one call of the script.
type piece struct {
	incs     []wrstats.Increment // all of one TTL
	sum      int64               // of their deltas
	handover *handover
	state    atomic.Int32
	why      error // set before state is failed
	text     bool  // the script itself is sent, not its digest
	cmd      *once
}

// once is a command that go-redis must not send again unless it was refused.
type once struct{ *goredis.Cmd }

func (once) NoRetry() bool { return true }

// If go-redis asked no more, nothing would hold it back.
var _ = goredis.Cmder.NoRetry

// MarshalBinary is the script's digest or text as an argument of the command. go-redis asks for it when it
// writes the command, on a connection that it has: from here on it may reach the server.
func (p *piece) MarshalBinary() ([]byte, error) {
	if p.state.CompareAndSwap(waiting, sent) {
		p.handover.left()
	}
	if p.state.Load() != sent {
		return nil, errUnsent
	}
	if p.text {
		return []byte(script), nil
	}
	return []byte(scriptSHA), nil
}

// String is what hooks print in place of the argument.
func (p *piece) String() string { return scriptSHA }

// fail notes that the piece can't be sent, if nothing has become of it.
func (p *piece) fail(err error) {
	if p.state.Load() != waiting {
		return
	}
	p.why = err
	if p.state.CompareAndSwap(waiting, failed) {
		p.handover.left()
	}
}

// abandon keeps the piece from being sent, if it is not on its way.
func (p *piece) abandon() { p.state.CompareAndSwap(waiting, abandoned) }

// command makes the call. Arguments point into the piece, but for a key that go-redis has to place itself.
func (p *piece) command(ctx context.Context, split bool) *once {
	args := make([]any, 0, 4+2*len(p.incs))
	args = append(args, "evalsha", p, len(p.incs))
	if p.text {
		args[0] = "eval"
	}
	for i := range p.incs {
		if split {
			args = append(args, p.incs[i].Key)
			continue
		}
		args = append(args, &p.incs[i].Key)
	}
	args = append(args, seconds(p.incs[0].TTL))
	for i := range p.incs {
		args = append(args, &p.incs[i].Delta)
	}
	p.cmd = &once{goredis.NewCmd(ctx, args...)}
	p.cmd.SetFirstKeyPos(3)
	return p.cmd
}

// outcome reads the reply: the failures, or an error that is the whole piece's. all is the pipeline's error.
func (p *piece) outcome(all error) (failures []any, err error) {
	if err := p.cmd.Err(); err != nil {
		return nil, err
	}
	switch v := p.cmd.Val().(type) {
	case []any:
		return v, nil
	case nil: // go-redis leaves a command like this when it could not even greet the server
		if all != nil {
			return nil, all
		}
		return nil, errUnanswered
	}
	return nil, errReply
}

// judge notes in the receipt what became of the piece.
func (p *piece) judge(sh *shard, failures []any, err error) {
	if err == nil && len(failures)%2 != 0 {
		err = errReply
	}
	if err != nil {
		addr, _ := sh.addrOf(context.Background(), p.incs[0].Key)
		p.lose(opError("incr", addr, err))
		return
	}
	var lost int64
	var why error
	for ; len(failures) >= 2; failures = failures[2:] {
		i, _ := failures[0].(int64)
		text, _ := failures[1].(string)
		if i < 1 || i > int64(len(p.incs)) {
			p.lose(opError("incr", sh.addr, errReply))
			return
		}
		err := &OpError{Op: "incr", Addr: sh.addr, Err: replyError(text)}
		p.handover.tell(1, err)
		lost = receipt.Add(lost, p.incs[i-1].Delta)
		if why == nil {
			why = err
		}
	}
	p.handover.receipt.Resolve(p.sum, lost, why)
}

// lose notes that all of the piece may not have been applied.
func (p *piece) lose(err error) {
	p.handover.tell(int64(len(p.incs)), err)
	p.handover.receipt.Resolve(p.sum, p.sum, err)
}

// singles takes a piece apart into pieces of one increment, all of which count as sent.
func (p *piece) singles() []*piece {
	pieces := make([]*piece, len(p.incs))
	for i := range pieces {
		one := &piece{incs: p.incs[i : i+1], sum: p.incs[i].Delta, handover: p.handover, text: true}
		one.state.Store(sent)
		p.handover.receipt.Expect(one.sum)
		pieces[i] = one
	}
	p.handover.receipt.Resolve(p.sum, 0, nil)
	return pieces
}
