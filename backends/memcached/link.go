package memcached

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"time"
)

// readBuffer is how much is read at a time, and the longest line that is taken.
const readBuffer = 32 << 10

// maxRecord is the most that goes into one TLS record. memcached takes in 16 KiB at a time, less what it
// has of a command that is not whole, which is 2 KiB before it makes more room. What is left of a record
// stays in its TLS layer until there is another one, and that may never come.
const maxRecord = 14 << 10

// A link is a connection to a server that is ready for commands.
type link struct {
	server  *server
	conn    net.Conn
	r       *bufio.Reader
	meta    bool // takes ma and mn
	secured bool // by TLS
	born    time.Time
}

// aLongTimeAgo is a deadline that ends what blocks on a connection.
var aLongTimeAgo = time.Unix(1, 0)

// dial connects and logs in. It takes as long as three network operations at most.
func (s *server) dial(ctx context.Context) (*link, error) {
	defer s.counters.connections.Add(1)
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	l := &link{server: s, conn: conn, born: time.Now()}
	_, l.secured = conn.(*tls.Conn)
	l.r = bufio.NewReaderSize(counted{l}, readBuffer)
	if err := l.login(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return l, nil
}

// connect makes a connection, with TLS on it if that is wanted.
func (s *server) connect(ctx context.Context) (net.Conn, error) {
	config := &s.store.config
	dialCtx, cancel := context.WithTimeout(ctx, config.Timeout)
	defer cancel()
	conn, err := config.DialContext(dialCtx, s.addr.network, s.addr.text)
	if err != nil {
		return nil, err
	}
	if config.TLS == nil {
		return conn, nil
	}
	tlsCtx, cancel := context.WithTimeout(ctx, config.Timeout)
	defer cancel()
	secured := tls.Client(conn, s.tlsConfig())
	if err := secured.HandshakeContext(tlsCtx); err != nil {
		conn.Close()
		return nil, err
	}
	return secured, nil
}

func (s *server) tlsConfig() *tls.Config {
	config := s.store.config.TLS.Clone()
	config.DynamicRecordSizingDisabled = true // each write is one record
	if config.ServerName == "" {
		config.ServerName = s.addr.host()
	}
	return config
}

// login says who we are, if that is wanted.
func (l *link) login(ctx context.Context) error {
	config := &l.server.store.config
	if config.Username == "" {
		return nil
	}
	line, err := l.ask(ctx, appendLogin(nil, config.Username, config.Password))
	if err != nil {
		return fmt.Errorf("login: %w", err)
	}
	if string(line) != "STORED" {
		return fmt.Errorf("login: %w", replyError(classify(line), line))
	}
	return nil
}

// ask sends a request and returns the first line of the reply, while nobody else uses the link.
func (l *link) ask(ctx context.Context, request []byte) ([]byte, error) {
	defer interrupt(ctx, func() { l.conn.SetDeadline(aLongTimeAgo) })()
	defer l.conn.SetDeadline(time.Time{})
	l.conn.SetDeadline(time.Now().Add(l.server.store.config.Timeout))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := l.write(request); err != nil {
		return nil, err
	}
	return readLine(l.r)
}

// write sends p, over TLS in records of that size.
func (l *link) write(p []byte) (n int, err error) {
	most := len(p)
	if l.secured {
		most = maxRecord
	}
	for n < len(p) && err == nil {
		var m int
		m, err = l.conn.Write(p[n:min(n+most, len(p))])
		n += m
	}
	l.server.counters.written.Add(int64(n))
	return n, err
}

// counted is the reading side of a link.
type counted struct{ *link }

func (c counted) Read(p []byte) (int, error) {
	n, err := c.conn.Read(p)
	c.server.counters.read.Add(int64(n))
	if err == io.EOF {
		err = errHungUp
	}
	return n, err
}

// errHungUp takes the place of io.EOF, which means success to too many.
var errHungUp = fmt.Errorf("connection closed by the server: %w", io.ErrUnexpectedEOF)

// interrupt has the end of ctx call f, until stop is called, which waits for f if it is running.
func interrupt(ctx context.Context, f func()) (stop func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	ran := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(ran)
		f()
	})
	return func() {
		if !cancel() {
			<-ran
		}
	}
}
