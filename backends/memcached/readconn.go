package memcached

import (
	"context"
	"time"
)

// A readConn is a connection for requests that are answered one by one, in their order.
type readConn struct {
	*link
	out   []byte // requests that are being encoded
	fresh bool   // has not been in the pool
}

type useFunc = func(ctx context.Context, c *readConn) error

// use has f talk to the server over a connection of the pool. When one that was idle turns out to be
// broken, f is called again with a fresh one. op is what the error says was done.
func (s *server) use(ctx context.Context, op string, f useFunc) error {
	if err := s.pool.enter(ctx); err != nil {
		return &OpError{op, s.addr.text, err}
	}
	defer s.pool.leave()
	if c := s.pool.take(time.Now()); c != nil {
		err := s.try(ctx, op, c, f)
		if err == nil || isTimeout(err) || ctx.Err() != nil || s.store.closed.Load() {
			return err
		}
	}
	l, err := s.reach(ctx, s.dial)
	if err != nil {
		return &OpError{"dial", s.addr.text, err}
	}
	c := &readConn{link: l, fresh: true}
	if err := s.pool.add(c); err != nil {
		return &OpError{op, s.addr.text, err}
	}
	return s.try(ctx, op, c, f)
}

// try calls f, and puts the connection back or ends it. An error of f's means that it can't be used any
// more; that of a fresh one speaks against the server, too.
func (s *server) try(ctx context.Context, op string, c *readConn, f useFunc) error {
	stop := interrupt(ctx, func() { c.conn.SetDeadline(aLongTimeAgo) })
	err := f(ctx, c)
	stop()
	if err == nil {
		s.backoff.succeeded()
		c.fresh = false
		s.pool.put(c)
		return nil
	}
	s.pool.drop(c)
	switch {
	case s.store.closed.Load():
		err = errClosed
	case ctx.Err() != nil:
		err = ctx.Err()
	default:
		if c.fresh {
			s.backoff.broke(time.Now(), err)
		}
		s.reportReply(op, err)
	}
	return &OpError{op, s.addr.text, err}
}

// pipeline sends n requests and reads their n replies. window is how many may be on their way: few
// enough for the buffers of two sockets, so that neither side waits for the other to read.
func (c *readConn) pipeline(ctx context.Context, n, window int, request func(dst []byte, i int) []byte, reply func(i int) error) error {
	sent := 0
	for done := 0; done < n; {
		c.out = c.out[:0]
		for ; sent < n && sent-done < window; sent++ {
			c.out = request(c.out, sent)
		}
		if err := c.await(ctx); err != nil {
			return err
		}
		if _, err := c.write(c.out); err != nil {
			return err
		}
		for done < n && (sent == n || sent-done > window/2) {
			if err := c.await(ctx); err != nil {
				return err
			}
			if err := reply(done); err != nil {
				return err
			}
			done++
		}
	}
	return nil
}

// await gives the server the timeout from now.
func (c *readConn) await(ctx context.Context) error {
	c.conn.SetDeadline(time.Now().Add(c.server.store.config.Timeout))
	return ctx.Err() // whose end before this line had set a deadline
}
