package redis

import (
	"context"
	"sync"

	goredis "github.com/redis/go-redis/v9"

	"github.com/wrstats/go-wrstats/wrstats"
)

// Options configure a [Store]. The zero value is the default.
type Options struct {
	// OnError is told the first error of each [Kind], on whatever goroutine meets it. It must not block,
	// nor close the Store. Errors hold no key and no value. nil: counted only.
	OnError func(error)
}

// A Store is a [wrstats.Store] on Redis. All of its methods may be called by many goroutines at once. Make
// one with [New] or [Open]; the zero Store does not work.
type Store struct {
	directory directory
	counters  counters
	onError   func(error)
	owned     goredis.UniversalClient // nil: the caller's

	ctx     context.Context
	cancel  context.CancelFunc // ends what waits for a connection
	mu      sync.RWMutex       // held to begin what running counts, and to set closed
	closed  bool
	running sync.WaitGroup // the goroutines that use the client
	once    sync.Once
}

var _ wrstats.Store = (*Store)(nil)

// New returns a Store on a client: a [goredis.Client], also one behind Sentinels, a [goredis.ClusterClient]
// or a [goredis.Ring]. Any other is treated as a Cluster, which is right for all, though not the quickest.
// The Store uses the client until it is closed, and never closes it. New sends nothing.
func New(client goredis.UniversalClient, options Options) *Store {
	s := &Store{onError: options.OnError}
	if s.onError == nil {
		s.onError = func(error) {}
	}
	s.directory.init(client)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Incr hands the batch over: it waits until each server's share is on its way, but for no reply. The
// Receipt tells what the replies say. What can't be given to a server, since it is down, all of its
// connections are in use or ctx ends, comes back as a [*wrstats.NotSentError]; the shares of other servers
// are not held up.
//
// An increment that the server refuses is lost, and the Receipt tells so: [ErrNotNumber], [ErrOverflow] or a
// [*ReplyError]. So is what was sent and not answered, whether or not it was applied; it is never sent again.
// A negative delta is lost with [ErrNegative] and not sent.
//
// A TTL is sent in seconds, rounded up. A key may be of any length and hold any byte.
func (s *Store) Incr(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
	if err := s.check(ctx); err != nil {
		return nil, &wrstats.NotSentError{Batch: batch, Err: err}
	}
	h := newHandover(s, ctx)
	h.send(h.plan(batch))
	return h.result()
}

// Close waits until what was handed over is confirmed or lost, which takes the client's timeouts at most.
// Calls at the same time may end with an error. Close may be called again.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.running.Wait()
	var err error
	s.once.Do(func() {
		if s.owned != nil {
			err = s.owned.Close()
		}
	})
	return err
}

func (s *Store) check(ctx context.Context) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return errClosed
	}
	return ctx.Err()
}

// begin runs f on a goroutine that Close waits for. When the Store is closed it returns false.
func (s *Store) begin(f func()) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return false
	}
	s.running.Go(f)
	return true
}

// report counts an error, and tells OnError if it is the first of its kind.
func (s *Store) report(kind Kind, n int64, err error) {
	if s.counters.count(kind, n) {
		s.onError(err)
	}
}
