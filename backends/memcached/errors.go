package memcached

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/wrstats/go-wrstats/wrstats"
)

var (
	// ErrKey is what the Receipt of [Store.Incr] tells, and [Config.OnError] is told, of a key that is
	// empty, longer than 250 bytes with the RoutePrefix, or has bytes outside 0x21 to 0x7e. Nothing of
	// it is sent; in a read it is a miss.
	ErrKey = errors.New("wrstats: memcached: key is empty, too long, or has bytes outside 0x21 to 0x7e")

	// ErrNegative is what the Receipt of [Store.Incr] tells, and [Config.OnError] is told, of an increment
	// with a Delta below 0. Nothing of it is sent.
	ErrNegative = errors.New("wrstats: memcached: negative delta")
)

// errClosed is what a Store returns after Close.
var errClosed = fmt.Errorf("wrstats: memcached: %w", wrstats.ErrClosed)

// An OpError is what happened when a server was used.
type OpError struct {
	Op   string // dial, incr, get or delete
	Addr string // of the server
	Err  error  // why: a [*ReplyError], or the network's
}

func (e *OpError) Error() string {
	return "wrstats: memcached: " + e.Op + " " + e.Addr + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *OpError) Unwrap() error { return e.Err }

// A ReplyError is a reply that is not what the command should bring. It holds none of the reply but
// what it is known to be.
type ReplyError struct {
	Kind   Kind
	Reason string // what the server gave, if it is one of memcached's own; else ""
}

func (e *ReplyError) Error() string {
	if e.Reason == "" {
		return "reply: " + e.Kind.String()
	}
	return "reply: " + e.Kind.String() + ": " + e.Reason
}

// partialError is some of the servers' errors, when there are values of others.
type partialError struct{ sentinel, reasons error }

func (e partialError) Error() string   { return e.sentinel.Error() + ": " + e.reasons.Error() }
func (e partialError) Unwrap() []error { return []error{e.sentinel, e.reasons} }

func isTimeout(err error) bool {
	var nerr net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &nerr) && nerr.Timeout()
}

// isServerFailed tells a reply that takes the place of the one that was due from one that may have come
// before it.
func isServerFailed(err error) bool {
	if err == nil {
		return false // and allocate nothing
	}
	var reply *ReplyError
	return errors.As(err, &reply) && reply.Kind == ServerFailed
}
