package memcached

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A pool is the connections that a server is read over. Those that are idle are kept; there are never
// more than slots has room for.
type pool struct {
	slots chan struct{} // one for each call that has, or dials, a connection

	mu     sync.Mutex // guards what follows
	idle   []*readConn
	used   map[*readConn]bool
	closed bool
}

func (p *pool) init(size int) {
	p.slots = make(chan struct{}, size)
	p.used = make(map[*readConn]bool)
}

// enter waits for one of the slots, which leave gives back.
func (p *pool) enter(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	default:
	}
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *pool) leave() { <-p.slots }

// take returns the idle connection that was used last, or nil.
func (p *pool) take(now time.Time) *readConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.idle) > 0 {
		c := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if !c.outlived(now) {
			p.used[c] = true
			return c
		}
		c.conn.Close()
	}
	return nil
}

// add enters a connection that was just made.
func (p *pool) add(c *readConn) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.conn.Close()
		return errClosed
	}
	p.used[c] = true
	return nil
}

// put takes a connection back that has nothing on its way.
func (p *pool) put(c *readConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.used, c)
	if p.closed {
		c.conn.Close()
		return
	}
	p.idle = append(p.idle, c)
}

// drop closes a connection that broke, and those that are idle: what ended it may have ended them.
func (p *pool) drop(c *readConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.used, c)
	c.conn.Close()
	p.closeIdle()
}

func (p *pool) closeIdle() {
	for _, c := range p.idle {
		c.conn.Close()
	}
	clear(p.idle)
	p.idle = slices.Delete(p.idle, 0, len(p.idle))
}

// close ends all connections, in use or not.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.closeIdle()
	for c := range p.used {
		c.conn.Close()
	}
}
