package memcached

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// maxCreated is more counters than a piece can create.
const maxCreated = pieceSize / len("ma k q N1 J0 D0\r\n")

// errNoFence is of a batch that a server took and did not confirm in time.
var errNoFence = errors.New("not confirmed in time")

// read takes what comes back until the connection ends, which it makes sure of.
func (c *stream) read() {
	defer c.server.store.readers.Done()
	created, values := 0, 0 // since the last fence
	for {
		reply, err := readWriteReply(c.r, c.meta)
		switch {
		case err != nil:
		case reply.kind == Created:
			if created++; created > maxCreated {
				err = errMalformed
			}
		case reply.kind == Fence:
			c.server.count(Created, created)
			created, values = 0, 0
			err = c.fence()
		case reply.kind == Found:
			if values++; values > textFenceKeys || !c.busy() {
				err = errMalformed // nobody asked for it
				break
			}
			err = skipValue(c.r, reply.size)
		default:
			err = c.refused(reply)
		}
		if err != nil {
			if isTimeout(err) {
				err = fmt.Errorf("%w: %w", errNoFence, err)
			}
			c.server.count(Created, created)
			c.fail(err)
			return
		}
	}
}

// fence resolves the oldest open block.
func (c *stream) fence() error {
	c.server.count(Fence, 1)
	c.mu.Lock()
	if len(c.open) == 0 {
		c.mu.Unlock()
		return errMalformed
	}
	b := c.open[0]
	c.open = slices.Delete(c.open, 0, 1)
	<-c.slots
	c.server.counters.inFlight.Add(-1)
	b.fenced = true
	writing := b.writing // then send goes on with it
	c.await()
	c.closeIdle()
	c.mu.Unlock()

	c.server.backoff.succeeded()
	if !writing {
		b.applied(c.server.addr.text)
	}
	return nil
}

// busy says whether a block is open, so that its fence may be answered.
func (c *stream) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) > 0
}

// refused notes an error line, which is of the oldest open block.
func (c *stream) refused(reply writeReply) error {
	c.server.reportReply("incr", reply.err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) == 0 {
		return errMalformed
	}
	b := c.open[0]
	b.errors++
	if b.err == nil {
		b.err = reply.err
	}
	return nil
}

// fail ends the stream, and returns why it ended. What is on its way is lost, and is never sent again.
func (c *stream) fail(err error) error {
	lost, first := c.end(&err)
	if !first {
		return err
	}
	c.conn.Close()
	c.server.reportReply("incr", err)
	for _, b := range lost {
		b.lost(c.server.addr.text, err)
	}
	return err
}

// end marks the stream as ended, if it is not yet, and returns the blocks to resolve: all but the one
// that send is writing, and will resolve.
func (c *stream) end(reason *error) (lost []*block, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		*reason = c.err
		return nil, false
	}
	if c.server.store.closed.Load() {
		*reason = errClosed
	}
	c.err = *reason
	close(c.ended)
	c.server.counters.inFlight.Add(-int64(len(c.open)))
	if len(c.open) > 0 {
		c.server.backoff.broke(time.Now(), c.err)
	}
	lost = slices.DeleteFunc(c.open, func(b *block) bool { return b.writing })
	c.open = nil
	return lost, true
}

// usable says whether the stream can be sent on. A connection to a name is given up when it is old and
// nothing is on its way: the name may have moved.
func (c *stream) usable(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.closing {
		return false
	}
	return len(c.open) > 0 || !c.outlived(now)
}

// close ends the stream as soon as nothing is on its way, which takes no longer than the fences may.
func (c *stream) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing = true
	c.closeIdle()
}

// closeIdle ends reading, if the stream is to be closed and nothing is on its way. Its goroutine does
// the rest.
func (c *stream) closeIdle() {
	if c.closing && len(c.open) == 0 {
		c.conn.Close()
	}
}
