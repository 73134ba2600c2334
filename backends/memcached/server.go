package memcached

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/wrstats/go-wrstats/internal/receipt"
	"github.com/wrstats/go-wrstats/wrstats"
)

// maxAge is how long a connection to a server that is given by name is used: a name that moved is
// followed by then, though the old address may still answer.
const maxAge = 5 * time.Minute

// A server is what a Store knows of one address.
type server struct {
	store    *Store
	addr     address
	counters counters
	backoff  backoff
	pool     pool

	turn   chan struct{} // full while somebody writes
	spared bool          // owned by whoever has the turn: the next connection is not asked for Meta

	mu     sync.Mutex // guards stream
	stream *stream    // nil before the first; it may be broken
}

func newServer(store *Store, addr address) *server {
	s := &server{store: store, addr: addr, turn: make(chan struct{}, 1)}
	s.pool.init(store.config.MaxReadConns)
	return s
}

// incr hands a share of a batch over. The first sent of it may have been applied, which r will tell;
// the others certainly were not, for the reason err.
func (s *server) incr(ctx context.Context, sh share[wrstats.Increment], r *receipt.Receipt) (sent int, err error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return 0, &OpError{"incr", s.addr.text, ctx.Err()}
	}
	for {
		stream, fresh, err := s.writable(ctx)
		if err != nil {
			return sent, &OpError{"dial", s.addr.text, err}
		}
		n, err := stream.send(ctx, sh.from(sent), r)
		sent += n
		if err == nil || sent == sh.len() { // then the receipt knows
			return sent, nil
		}
		if fresh || sent > 0 || ctx.Err() != nil { // else it broke unnoticed before
			return sent, &OpError{"incr", s.addr.text, err}
		}
	}
}

// writable returns a stream to send on: the one there is, or a fresh one.
func (s *server) writable(ctx context.Context) (stream *stream, fresh bool, err error) {
	old := s.current()
	if old != nil && old.usable(time.Now()) {
		return old, false, nil
	}
	if old != nil {
		old.close()
	}
	l, err := s.reach(ctx, s.dialWrite)
	if err != nil {
		return nil, false, err
	}
	if old != nil {
		s.counters.reconnects.Add(1)
	}
	stream, err = s.start(l)
	return stream, true, err
}

// reach dials, unless the server is left alone for now. Close ends it.
func (s *server) reach(ctx context.Context, dial func(context.Context) (*link, error)) (*link, error) {
	if s.store.closed.Load() {
		return nil, errClosed
	}
	if err := s.backoff.check(time.Now()); err != nil {
		return nil, err
	}
	began := time.Now()
	dialCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.store.ctx, cancel)()
	l, err := dial(dialCtx)
	switch {
	case err == nil:
		return l, nil
	case s.store.closed.Load():
		return nil, errClosed
	case ctx.Err() != nil:
		s.backoff.gaveUp(time.Now(), time.Since(began), s.store.config.Timeout)
		return nil, ctx.Err()
	}
	s.backoff.failed(time.Now(), err)
	return nil, err
}

// quick says whether a stage can be handed over without waiting, as far as one can know.
func (s *server) quick() bool {
	c := s.current()
	return c != nil && len(s.turn) == 0 && len(c.slots) < maxOpen/4 && c.usable(time.Now())
}

// start makes a stream of a connection, and the goroutine that reads it.
func (s *server) start(l *link) (*stream, error) {
	c := newStream(l)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store.closed.Load() {
		l.conn.Close()
		return nil, errClosed
	}
	s.stream = c
	s.store.readers.Add(1)
	go c.read()
	return c, nil
}

func (s *server) current() *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stream
}

// close ends all connections: those that are read at once, the one that is written to when what is on
// its way has been confirmed or is overdue.
func (s *server) close() {
	s.pool.close()
	if c := s.current(); c != nil {
		c.close()
	}
}

// outlived says whether the name that the connection was made to may have moved.
func (l *link) outlived(now time.Time) bool {
	return l.server.addr.named() && now.Sub(l.born) > maxAge
}

func (s *server) count(kind Kind, n int) { s.counters.replies[kind].Add(int64(n)) }

// report tells OnError of the first error of a kind.
func (s *server) report(kind Kind, err error) {
	if s.counters.reported[kind].CompareAndSwap(false, true) {
		s.store.config.OnError(err)
	}
}

// reportReply counts and reports an error if it is one of a reply.
func (s *server) reportReply(op string, err error) {
	var reply *ReplyError
	if errors.As(err, &reply) {
		s.count(reply.Kind, 1)
		s.report(reply.Kind, &OpError{op, s.addr.text, err})
	}
}
