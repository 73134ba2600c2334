package redis_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

var errCut = errors.New("cut")

// A network dials as go-redis does, and makes what it is told to of the connections.
type network struct {
	lag   atomic.Int64 // nanoseconds by which replies to increments are late
	block atomic.Bool  // dialling waits for its context
	mu    sync.Mutex   // guards cut
	cut   int          // bytes that are still sent before all connections break; below 0: no end
}

func newNetwork() *network { return &network{cut: -1} }

func (n *network) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	for n.block.Load() {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &wire{Conn: c, network: n}, nil
}

// allow lets so many bytes more be sent.
func (n *network) allow(bytes int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = bytes
}

// take returns how many of so many bytes may be sent.
func (n *network) take(bytes int) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut < 0 {
		return bytes
	}
	taken := min(bytes, n.cut)
	n.cut -= taken
	return taken
}

type wire struct {
	net.Conn
	network *network
	counts  atomic.Bool // it was written to increment
}

func (w *wire) Read(p []byte) (int, error) {
	if w.counts.Load() {
		time.Sleep(time.Duration(w.network.lag.Load()))
	}
	return w.Conn.Read(p)
}

func (w *wire) Write(p []byte) (int, error) {
	w.counts.Store(bytes.Contains(p, []byte("evalsha")) || bytes.Contains(p, []byte("incrby")))
	n := w.network.take(len(p))
	if n == len(p) {
		return w.Conn.Write(p)
	}
	written, _ := w.Conn.Write(p[:n])
	w.Conn.Close()
	return written, errCut
}
