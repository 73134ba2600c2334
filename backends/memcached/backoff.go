package memcached

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// How long a server is left alone after it could not be used.
const (
	minBackoff = 20 * time.Millisecond
	maxBackoff = time.Second
)

// A backoff keeps a server that fails from being dialled by every call.
type backoff struct {
	failing atomic.Bool // there is something to forget

	mu       sync.Mutex    // guards what follows
	failures int           // in a row
	waited   time.Duration // in vain, by callers who gave up before the server had its time
	until    time.Time     // not dialled before
	reason   error
}

// check returns why the server is not to be dialled now, or nil.
func (b *backoff) check(now time.Time) error {
	if !b.failing.Load() {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Before(b.until) {
		return fmt.Errorf("not tried again yet: %w", b.reason)
	}
	return nil
}

// failed notes that the server could not be dialled.
func (b *backoff) failed(now time.Time, reason error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures++
	b.waited = 0
	b.failing.Store(true)
	b.until, b.reason = now.Add(delay(b.failures)), reason
}

// gaveUp notes that a caller left after having dialled for so long. The server has failed when callers have
// waited as long, all in all, as one of them would have had to: not sooner, or those who have no patience
// would take the server from those who have.
func (b *backoff) gaveUp(now time.Time, waited, timeout time.Duration) {
	b.mu.Lock()
	b.waited += waited
	failed := b.waited >= timeout
	b.failing.Store(true)
	b.mu.Unlock()
	if failed {
		b.failed(now, errGivenUp)
	}
}

// errGivenUp is the reason for others than those who gave up, whose contexts are as they were.
var errGivenUp = errors.New("callers gave up before there was a connection")

// broke notes that a connection was of no use. The first one after success may be replaced at once: the
// server may have been restarted.
func (b *backoff) broke(now time.Time, reason error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures++
	b.failing.Store(true)
	if b.failures > 1 {
		b.until, b.reason = now.Add(delay(b.failures-1)), reason
	}
}

// succeeded notes that the server did what it was asked.
func (b *backoff) succeeded() {
	if !b.failing.Load() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures, b.waited, b.until, b.reason = 0, 0, time.Time{}, nil
	b.failing.Store(false)
}

// delay doubles with each failure, less up to half of it by chance, so that many processes do not come
// back together.
func delay(failures int) time.Duration {
	d := maxBackoff
	if shift := failures - 1; shift < 6 {
		d = min(d, minBackoff<<shift)
	}
	return d - rand.N(d/2)
}
