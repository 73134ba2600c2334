package memcached_test

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A recorder keeps what a store writes, for a rival that sends the same ready-made.
type recorder struct {
	mu      sync.Mutex // guards what follows
	on      bool
	written map[string][]byte // by address
}

// A script is what goes to one server, and how many fences or ends of requests come back.
type script struct {
	addr  string
	bytes []byte
	ends  int
}

func (r *recorder) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	return &recorded{conn, r, address}, err
}

// during returns what is written while f runs.
func (r *recorder) during(f func()) []script {
	r.mu.Lock()
	r.on, r.written = true, make(map[string][]byte)
	r.mu.Unlock()
	f()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on = false
	var scripts []script
	for addr, b := range r.written {
		ends := bytes.Count(b, []byte("get ")) + bytes.Count(b, []byte("mn\r\n"))
		scripts = append(scripts, script{addr, b, ends})
	}
	return scripts
}

type recorded struct {
	net.Conn
	recorder *recorder
	addr     string
}

func (c *recorded) Write(p []byte) (int, error) {
	c.recorder.mu.Lock()
	if c.recorder.on {
		c.recorder.written[c.addr] = append(c.recorder.written[c.addr], p...)
	}
	c.recorder.mu.Unlock()
	return c.Conn.Write(p)
}

// A socket is a raw connection, and the goroutine that reads it.
type socket struct {
	net.Conn
	ends chan int // how many came
}

func dialRaw(t testing.TB, addrs []string) map[string]*socket {
	sockets := make(map[string]*socket)
	for _, addr := range addrs {
		conn, err := net.Dial("tcp", addr)
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		s := &socket{conn, make(chan int, 1024)}
		go s.read()
		sockets[addr] = s
	}
	return sockets
}

// read counts the lines that end what a server says: END and MN.
func (s *socket) read() {
	buf, used := make([]byte, 64<<10), 0
	for {
		n, err := s.Read(buf[used:])
		if err != nil {
			return
		}
		used += n
		whole := bytes.LastIndexByte(buf[:used], '\n') + 1
		if n := bytes.Count(buf[:whole], []byte("END\r\n")) + bytes.Count(buf[:whole], []byte("MN\r\n")); n > 0 {
			s.ends <- n
		}
		used = copy(buf, buf[whole:used])
	}
}

// play sends the scripts, all at once, and waits for what ends them.
func play(t testing.TB, sockets map[string]*socket, scripts []script) {
	for _, script := range scripts {
		if _, err := sockets[script.addr].Write(script.bytes); err != nil {
			t.Fatal(err)
		}
	}
	for _, script := range scripts {
		for ends := script.ends; ends > 0; {
			ends -= <-sockets[script.addr].ends
		}
	}
}
