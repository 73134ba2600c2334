package faults_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A network is what lies between a store and its servers: a proxy for each address that is dialled, which
// does to the bytes what it is told to.
type network struct {
	t      testing.TB
	fault  atomic.Pointer[fault]
	mu     sync.Mutex // guards what follows
	routes map[string]string
	doors  map[string]*door
	closed bool
	serves sync.WaitGroup
}

// A fault is what a network does. The zero fault is none.
type fault struct {
	refuses bool          // nobody listens any more
	mute    bool          // connections are accepted, and nothing that is said is heard
	late    time.Duration // replies come so much later
	garbage []byte        // comes in place of replies
	cut     *atomic.Int64 // so many bytes more reach the servers, then all connections are reset
	fail    *atomic.Int64 // so many bytes more are written, then writing fails, and all connections are reset
	split   int           // replies are cut in two behind so many bytes; 0: they are not
}

// nobody listens there, and nothing but root could.
const nobody = "127.0.0.1:1"

func newNetwork(t testing.TB) *network {
	n := &network{t: t, routes: make(map[string]string), doors: make(map[string]*door)}
	n.fault.Store(new(fault))
	t.Cleanup(n.close)
	return n
}

// dial connects to the proxy of an address.
func (n *network) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	at := nobody
	if !n.fault.Load().refuses {
		door, err := n.door(addr)
		if err != nil {
			return nil, err
		}
		at = door.listener.Addr().String()
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, at)
	if err != nil {
		return nil, err
	}
	return wire{conn.(*net.TCPConn), n}, nil
}

// set begins a fault, or ends it with the zero fault. Connections that were there before are as good as
// the fault lets them.
func (n *network) set(f fault) { n.fault.Store(&f) }

// heal ends the fault, and with it the connections that it has had its hands on.
func (n *network) heal() {
	n.set(fault{})
	n.reset()
}

// move has an address lead to another server from now on. What was connected to the old one is reset.
func (n *network) move(addr, to string) {
	n.mu.Lock()
	n.routes[addr] = to
	n.mu.Unlock()
	n.reset()
}

// reset resets all connections.
func (n *network) reset() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, d := range n.doors {
		d.reset()
	}
}

func (n *network) close() {
	n.mu.Lock()
	n.closed = true
	for _, d := range n.doors {
		d.listener.Close()
		d.reset()
	}
	n.mu.Unlock()
	n.serves.Wait()
}

// door returns the proxy of an address.
func (n *network) door(addr string) (*door, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if d := n.doors[addr]; d != nil {
		return d, nil
	}
	if n.closed {
		return nil, net.ErrClosed
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &door{network: n, addr: addr, listener: l, conns: make(map[net.Conn]bool)}
	n.doors[addr] = d
	n.serves.Go(d.serve)
	return d, nil
}

// route returns where an address leads to.
func (n *network) route(addr string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if to, ok := n.routes[addr]; ok {
		return to
	}
	return addr
}
