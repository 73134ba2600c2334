package redis

import (
	"errors"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/wrstats/go-wrstats/wrstats"
)

var (
	// ErrNotNumber is what the Receipt of [Store.Incr] tells, and [Options.OnError] is told, of a key that
	// holds no integer or another type. It stays as it was; in a read it is a miss.
	ErrNotNumber = errors.New("wrstats: redis: key holds no number")

	// ErrOverflow is what the Receipt of [Store.Incr] tells, and [Options.OnError] is told, of an increment
	// that would have taken its counter past 2^63-1. The counter stays as it was.
	ErrOverflow = errors.New("wrstats: redis: counter past 2^63-1")

	// ErrNegative is what the Receipt of [Store.Incr] tells, and [Options.OnError] is told, of an increment
	// with a Delta below 0. Nothing of it is sent.
	ErrNegative = errors.New("wrstats: redis: negative delta")
)

var (
	errClosed     = fmt.Errorf("wrstats: redis: %w", wrstats.ErrClosed)
	errUnanswered = errors.New("no reply")
	errReply      = errors.New("reply that is no answer to the command")
	errUnsent     = errors.New("given up before it was sent")
)

// An OpError is what happened when a server was used.
type OpError struct {
	Op   string // incr, get or delete
	Addr string // of the server
	Err  error  // why: a [*ReplyError], or the network's
}

func (e *OpError) Error() string {
	return "wrstats: redis: " + e.Op + " " + e.Addr + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *OpError) Unwrap() error { return e.Err }

// A ReplyError is an error that a server answered. It holds no key and no value.
type ReplyError struct {
	Code   string // such as READONLY, NOPERM or ERR
	Reason string // the text after it, up to where it may quote a part of the command
}

func (e *ReplyError) Error() string { return strings.TrimSpace(e.Code + " " + e.Reason) }

// opError makes the error of an operation: nil if err is nil, and of known replies their own.
func opError(op, addr string, err error) error {
	if err == nil {
		return nil
	}
	return &OpError{Op: op, Addr: addr, Err: plain(err)}
}

// plain takes the text of an error reply apart, and drops what may be a key.
func plain(err error) error {
	var reply goredis.Error
	if errors.As(err, &reply) {
		return replyError(reply.Error())
	}
	if text, _, quotes := strings.Cut(err.Error(), `"`); quotes && strings.HasPrefix(text, "redis: ") {
		return quoting{strings.TrimRight(text, ": "), err}
	}
	return err
}

// A quoting error is go-redis's of a reply that it can't read, without what it quotes of that.
type quoting struct {
	text string
	err  error
}

func (e quoting) Error() string { return e.text }
func (e quoting) Unwrap() error { return e.err }

func replyError(text string) error {
	text = strings.TrimPrefix(text, "-")
	switch {
	case strings.Contains(text, "would overflow"):
		return ErrOverflow
	case strings.Contains(text, "not an integer"), strings.HasPrefix(text, "WRONGTYPE"):
		return ErrNotNumber
	}
	code, reason, _ := strings.Cut(text, " ")
	if end := strings.IndexAny(reason, "'\"`:"); end >= 0 {
		reason = reason[:end]
	}
	return &ReplyError{Code: code, Reason: strings.TrimSpace(reason)}
}

// isCode says that a server answered with this error, so that it has not run the command.
func isCode(err error, code string) bool {
	var reply goredis.Error
	return errors.As(err, &reply) && strings.HasPrefix(reply.Error(), code)
}

func kindOf(err error) Kind {
	var reply *ReplyError
	switch {
	case errors.Is(err, ErrNotNumber):
		return NotNumber
	case errors.Is(err, ErrOverflow):
		return Overflow
	case errors.Is(err, ErrNegative):
		return Negative
	case errors.As(err, &reply):
		return Refused
	}
	return Network
}

// partialError is some of the servers' errors, when there are values of others.
type partialError struct{ reasons error }

func (e partialError) Error() string   { return wrstats.ErrPartial.Error() + ": " + e.reasons.Error() }
func (e partialError) Unwrap() []error { return []error{wrstats.ErrPartial, e.reasons} }
