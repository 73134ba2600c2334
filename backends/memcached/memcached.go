package memcached

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wrstats/go-wrstats/internal/receipt"
	"github.com/wrstats/go-wrstats/wrstats"
)

// A Store is a [wrstats.Store] on memcached servers. All of its methods may be called by many goroutines
// at once. Make one with [New]; the zero Store does not work.
type Store struct {
	config    Config
	directory directory
	locator
	refusals

	ctx     context.Context
	cancel  context.CancelFunc // ends what is being dialled
	closed  atomic.Bool
	readers sync.WaitGroup // the goroutines of streams
}

var _ wrstats.Store = (*Store)(nil)

// New returns a Store. It dials nobody: servers that can't be reached are found out by the calls that
// need them, and are no error of New.
func New(config Config) (*Store, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Store{config: config}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.introduce()
	return s, nil
}

// Incr hands the batch to the connections of its servers and returns; the Receipt tells when they have
// applied it. To hand it over it waits for other calls that write to the same servers, for a connection
// if there is none, and for servers that take in slower than this sends: each step no longer than
// [Config.Timeout] without progress.
//
// An increment whose key or delta is wrong ([ErrKey], [ErrNegative]) is lost, and the Receipt tells so.
// A server that can't be reached is not dialled by every call, but less and less often, down to once a
// second; its increments come back as a [*wrstats.NotSentError] meanwhile.
//
// When a connection breaks, what was sent on it and not confirmed is lost, and never sent again. An
// error line of the server costs one increment, but does not say which: the largest of the piece of the
// batch it came for counts as lost, so that no loss is understated.
func (s *Store) Incr(ctx context.Context, batch []wrstats.Increment) (wrstats.Receipt, error) {
	if err := s.check(ctx); err != nil {
		return nil, &wrstats.NotSentError{Batch: batch, Err: err}
	}
	h := handover{store: s, ctx: ctx, receipt: receipt.New()}
	for stage := range slices.Chunk(batch, stageSize) {
		h.give(stage)
	}
	return h.result(batch)
}

// Close ends all connections, and waits until what was handed over is confirmed or lost, which takes
// [Config.Timeout] at most unless servers go on confirming. Calls at the same time end with an error
// that wraps [wrstats.ErrClosed]. Close returns nil, and may be called again.
func (s *Store) Close() error {
	s.closed.Store(true)
	s.cancel()
	for _, server := range s.directory.all() {
		server.close()
	}
	s.readers.Wait()
	return nil
}

func (s *Store) check(ctx context.Context) error {
	if s.closed.Load() {
		return errClosed
	}
	return ctx.Err()
}
