package redis

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"syscall"
)

// What a server may say between two writes to it. Nothing that this package asks for comes near: the largest
// is a Cluster's list of its commands, half a megabyte.
const (
	maxReplies = 16 << 20 // bytes, as they come and as they are announced
	maxLine    = 64 << 10 // bytes of a line
	maxItems   = 1 << 17  // of all arrays together, as they are announced
)

// errTooLarge ends a connection over which more came.
var errTooLarge = errors.New("reply that is larger than any")

// A Dialer is what go-redis makes connections with.
type Dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// LimitReplies makes a Dialer whose connections break when a server sends what can't be the reply to
// anything that a [Store] asks for: lines without an end, strings of a gigabyte, arrays of a million. go-redis would
// make room for whatever is announced, and a server could so bring the process down. [Open] has its
// client dial like this. It is for clients that serve Stores alone, since others may ask for more.
func LimitReplies(dial Dialer) Dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		limited := &limitedConn{Conn: conn}
		if socket, ok := conn.(syscall.Conn); ok {
			return limitedSocket{limited, socket}, nil
		}
		return limited, nil
	}
}

// A limitedSocket lets go-redis see whether an idle connection is alive, which it does by the socket.
type limitedSocket struct {
	*limitedConn
	syscall.Conn
}

type limitedConn struct {
	net.Conn
	wrote atomic.Bool // since the last read
	spent bool        // too much came
	replies
}

func (c *limitedConn) Write(p []byte) (int, error) {
	c.wrote.Store(true)
	return c.Conn.Write(p)
}

func (c *limitedConn) Read(p []byte) (int, error) {
	if c.spent {
		return 0, errTooLarge
	}
	n, err := c.Conn.Read(p)
	if c.wrote.Swap(false) {
		c.bytes, c.items = 0, 0
	}
	if c.spent = !c.take(p[:n]); c.spent {
		c.Conn.Close()
		return 0, errTooLarge
	}
	return n, err
}

// Replies follow a stream of RESP for as far as its limits need it.
type replies struct {
	bytes int  // since the last write
	items int  // announced since then
	line  int  // bytes of the line so far; a line begins with a type and may say a length
	kind  byte // its type
	n     int  // its length
	skip  int  // bytes of a string that are still to come, with the end of its line
}

// take says whether what came is within the limits.
func (r *replies) take(p []byte) bool {
	if r.bytes += len(p); r.bytes > maxReplies {
		return false
	}
	for len(p) > 0 {
		if r.skip > 0 {
			n := min(r.skip, len(p))
			r.skip -= n
			p = p[n:]
			continue
		}
		if !r.takeByte(p[0]) {
			return false
		}
		p = p[1:]
	}
	return true
}

// takeByte goes on with a line.
func (r *replies) takeByte(b byte) bool {
	switch {
	case b == '\n':
		return r.endLine()
	case r.line == 0:
		r.kind, r.n = b, 0
	case b >= '0' && b <= '9' && r.n < maxReplies:
		r.n = 10*r.n + int(b-'0')
	case b == '-': // no length: a null
		r.kind = 0
	}
	r.line++
	return r.line <= maxLine
}

func (r *replies) endLine() bool {
	kind := r.kind
	r.line, r.kind = 0, 0
	switch kind {
	case '$', '=', '!':
		r.skip = r.n + len("\r\n")
		return r.bytes+r.n <= maxReplies
	case '*', '~', '>':
		r.items += r.n
	case '%', '|':
		r.items += 2 * r.n
	}
	return r.items <= maxItems
}
