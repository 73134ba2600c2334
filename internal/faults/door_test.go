package faults_test

import (
	"net"
	"sync"
	"syscall"
	"time"
)

// A wire is the client's end of a connection.
type wire struct {
	*net.TCPConn
	network *network
}

func (w wire) Write(p []byte) (int, error) {
	f := w.network.fault.Load()
	if f.fail == nil {
		return w.TCPConn.Write(p)
	}
	n := len(p)
	if left := f.fail.Add(-int64(n)); left <= 0 {
		n = max(0, n+int(left))
	}
	if n > 0 {
		if m, err := w.TCPConn.Write(p[:n]); err != nil {
			return m, err
		}
	}
	if n == len(p) && f.fail.Load() > 0 {
		return n, nil
	}
	w.TCPConn.Close()
	return n, syscall.ECONNRESET
}

// A door is the proxy of one address.
type door struct {
	network  *network
	addr     string
	listener net.Listener
	mu       sync.Mutex // guards conns
	conns    map[net.Conn]bool
}

func (d *door) serve() {
	for {
		client, err := d.listener.Accept()
		if err != nil {
			return
		}
		d.keep(client)
		d.network.serves.Go(func() { d.connect(client) })
	}
}

// connect passes bytes between a client and its server until one of them ends.
func (d *door) connect(client net.Conn) {
	defer d.drop(client)
	if d.network.fault.Load().mute {
		d.swallow(client)
		return
	}
	server, err := net.Dial("tcp", d.network.route(d.addr))
	if err != nil {
		return
	}
	d.keep(server)
	defer d.drop(server)
	d.network.serves.Go(func() {
		defer d.drop(client)
		defer d.drop(server)
		d.pass(client, server, d.network.send)
	})
	d.pass(server, client, d.network.reply)
}

// swallow reads what comes until the connection ends.
func (d *door) swallow(conn net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		if _, err := conn.Read(buf); err != nil {
			return
		}
	}
}

func (d *door) pass(from, to net.Conn, write func(net.Conn, []byte) error) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 && write(to, buf[:n]) != nil {
			return
		}
		if err != nil {
			return
		}
	}
}

// send passes what a client says on to its server.
func (n *network) send(server net.Conn, p []byte) error {
	f := n.fault.Load()
	if f.mute {
		return nil
	}
	if f.cut == nil {
		_, err := server.Write(p)
		return err
	}
	left := f.cut.Add(-int64(len(p)))
	if left > 0 {
		_, err := server.Write(p)
		return err
	}
	if pass := len(p) + int(left); pass > 0 {
		_, _ = server.Write(p[:pass])
	}
	n.hangUp()
	return net.ErrClosed
}

// hangUp resets the clients, while servers are left with what they got, as by a client that dies.
func (n *network) hangUp() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, d := range n.doors {
		d.hangUp()
	}
}

// reply passes what a server says on to its client.
func (n *network) reply(client net.Conn, p []byte) error {
	f := n.fault.Load()
	switch {
	case f.mute:
		return nil
	case f.garbage != nil:
		p = f.garbage
	case f.late > 0:
		time.Sleep(f.late)
	case f.split > 0 && f.split < len(p):
		if _, err := client.Write(p[:f.split]); err != nil {
			return err
		}
		time.Sleep(200 * time.Microsecond) // so that it arrives alone
		p = p[f.split:]
	}
	_, err := client.Write(p)
	return err
}

func (d *door) keep(conn net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conns[conn] = true
}

func (d *door) drop(conn net.Conn) {
	d.mu.Lock()
	delete(d.conns, conn)
	d.mu.Unlock()
	conn.Close()
}

// reset ends all connections by RST.
func (d *door) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for conn := range d.conns {
		_ = conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	}
	clear(d.conns)
}

// hangUp resets those connections that come from clients. The others end in peace when their clients' do.
func (d *door) hangUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for conn := range d.conns {
		if conn.LocalAddr().String() == d.listener.Addr().String() {
			_ = conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
			delete(d.conns, conn)
		}
	}
}
