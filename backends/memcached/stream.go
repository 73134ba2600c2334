package memcached

import (
	"context"
	"sync"
	"time"

	"github.com/wrstats/go-wrstats/internal/receipt"
	"github.com/wrstats/go-wrstats/wrstats"
)

// A stream is a connection that is written to. Whoever holds its server's turn sends; one goroutine
// always reads, so that replies never hold the server up.
type stream struct {
	*link
	spelling spelling
	slots    chan struct{} // one for each open block
	ended    chan struct{} // closed when err is set

	mu      sync.Mutex // guards what follows
	open    []*block   // on their way, oldest first
	err     error      // why nothing can be sent any more; nil: it can
	closing bool       // when there is nothing open
}

// maxOpen is how many blocks may be open. It bounds what a server that has stopped can lose, and what a
// proxy has to hold.
const maxOpen = 16

func newStream(l *link) *stream {
	s := spelling{l.server.store.config.RoutePrefix, l.meta, pieceSize}
	if l.secured {
		s.size = recordPieceSize
	}
	return &stream{link: l, spelling: s, slots: make(chan struct{}, maxOpen), ended: make(chan struct{})}
}

// send writes a share of a batch. The first sent of its increments were given to the connection, and
// r will tell what became of them; the others certainly were not.
func (c *stream) send(ctx context.Context, sh share[wrstats.Increment], r *receipt.Receipt) (sent int, err error) {
	defer interrupt(ctx, func() { c.conn.SetWriteDeadline(aLongTimeAgo) })()
	p := pieces.Get().(*piece)
	defer pieces.Put(p)
	now := time.Now()
	for sent < sh.len() && err == nil {
		var n int
		n, err = c.sendPiece(ctx, p, sh.from(sent), now, r)
		sent += n
	}
	return sent, err
}

func (c *stream) sendPiece(ctx context.Context, p *piece, rest share[wrstats.Increment], now time.Time, r *receipt.Receipt) (sent int, err error) {
	b := newBlock(r)
	p.encode(c.spelling, rest, now, b)
	n := len(b.deltas)
	if err := c.begin(ctx, b); err != nil {
		blocks.Put(b)
		return 0, err
	}
	c.server.counters.fences.Add(1)
	size, err := c.writeAll(ctx, p.buf)
	if err == nil {
		c.server.counters.commands.Add(int64(n))
		return n, c.written(b)
	}
	if size == 0 && ctx.Err() != nil {
		c.withdraw(b)
		return 0, ctx.Err()
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	err = c.fail(err)
	n = p.whole(c.spelling, rest.to(n), now, size)
	c.server.counters.commands.Add(int64(n))
	b.cut(n)
	b.lost(c.server.addr.text, err)
	return n, err
}

// begin puts a block among those that are open, when there is room. It fails on a stream that is broken.
func (c *stream) begin(ctx context.Context, b *block) error {
	select {
	case c.slots <- struct{}{}:
	case <-c.ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return c.err
	case c.closing:
		return errClosed
	}
	b.receipt.Expect(b.sum)
	b.writing = true
	c.open = append(c.open, b)
	c.server.counters.inFlight.Add(1)
	return nil
}

// writeAll writes a piece, for as long as there is progress within the timeout.
func (c *stream) writeAll(ctx context.Context, p []byte) (n int, err error) {
	for n < len(p) {
		c.conn.SetWriteDeadline(time.Now().Add(c.server.store.config.Timeout))
		if err := ctx.Err(); err != nil { // before the deadline was set, which had ended the wait
			return n, err
		}
		m, err := c.write(p[n:])
		n += m
		if err != nil && (m == 0 || !isTimeout(err)) {
			return n, err
		}
	}
	return n, nil
}

// written notes that a block and its fence were given to the connection whole.
func (c *stream) written(b *block) error {
	c.mu.Lock()
	b.writing = false
	fenced, err := b.fenced, c.err
	if !fenced && err == nil {
		c.await()
	}
	c.mu.Unlock()
	switch {
	case fenced:
		b.applied(c.server.addr.text)
	case err != nil:
		b.lost(c.server.addr.text, err)
	}
	return nil
}

// withdraw takes a block back of which nothing was written. The stream is as good as before.
func (c *stream) withdraw(b *block) {
	c.mu.Lock()
	if n := len(c.open); n > 0 && c.open[n-1] == b {
		c.open = c.open[:n-1]
		<-c.slots
		c.server.counters.inFlight.Add(-1)
	}
	c.closeIdle()
	c.mu.Unlock()
	b.cut(0)
	b.resolve(0, nil)
}

// await sets until when the next fence has to come: the timeout from now, which is whenever one has
// come or has been sent. A block that is being written is not waited for yet.
func (c *stream) await() {
	deadline := time.Time{}
	if len(c.open) > 0 && !c.open[0].writing {
		deadline = time.Now().Add(c.server.store.config.Timeout)
	}
	c.conn.SetReadDeadline(deadline)
}
