package memcached_test

import (
	"context"
	"errors"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/wrstats"
)

func TestWhatWasNotSentComesBack(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	dead := l.Addr().String()
	require.NoError(t, l.Close())
	server := newFake(t, nil)

	store := open(t, memcached.Config{Servers: []string{server.addr, dead}})
	var batch []wrstats.Increment
	for _, key := range keys(1500) {
		batch = append(batch, one(key, 1))
	}
	receipt, err := store.Incr(within(t, patience), batch)
	var unsent *wrstats.NotSentError
	require.ErrorAs(t, err, &unsent)
	requireDiscreet(t, []error{err}, dead)
	require.NotNil(t, receipt, "of those that were sent")
	lost, err := receipt.Wait(within(t, patience))
	require.NoError(t, err)
	require.Zero(t, lost)
	for _, inc := range unsent.Batch {
		require.Empty(t, server.value(inc.Key))
	}
	sent := 0
	for _, inc := range batch {
		if server.value(inc.Key) == "1" {
			sent++
		}
	}
	require.Equal(t, len(batch), sent+len(unsent.Batch), "each was sent or came back")
	require.NotZero(t, sent)
	require.NotEmpty(t, unsent.Batch)
}

// cutConn breaks after so many bytes.
type cutConn struct {
	net.Conn
	left int
}

var errCut = errors.New("cut")

func (c *cutConn) Write(p []byte) (int, error) {
	if len(p) <= c.left {
		c.left -= len(p)
		return c.Conn.Write(p)
	}
	n, _ := c.Conn.Write(p[:c.left])
	c.left = 0
	return n, errCut
}

func TestCommandWhoseEndWasNotSentComesBack(t *testing.T) {
	for _, protocol := range []memcached.Protocol{text, meta} {
		t.Run(protocolNames[protocol], func(t *testing.T) {
			batch := []wrstats.Increment{one("aaaa", 1), one("bbbb", 20), one("cccc", 300)}
			for cut := 0; ; cut++ {
				if !tryCut(t, protocol, batch, cut) {
					require.Greater(t, cut, 60)
					return
				}
			}
		})
	}
}

// tryCut sends a batch on a connection that breaks after so many bytes of it. False: it did not.
func tryCut(t *testing.T, protocol memcached.Protocol, batch []wrstats.Increment, cut int) bool {
	server := newFake(t, nil)
	handshake := map[memcached.Protocol]int{text: len("get wrstats:probe\r\n"), meta: len("ma wrstats:probe D0\r\nmn\r\n")}[protocol]
	store := open(t, memcached.Config{
		Servers: []string{server.addr}, Protocol: protocol,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := memcached.DefaultDialContext(ctx, network, address)
			return &cutConn{conn, handshake + cut}, err
		},
	})
	receipt, err := store.Incr(within(t, patience), batch)
	var unsent *wrstats.NotSentError
	var lost int64
	if receipt != nil {
		lost, _ = receipt.Wait(within(t, patience))
	}
	if !errors.As(err, &unsent) {
		return lost > 0 // all that broke is the fence
	}
	require.ErrorIs(t, err, errCut)
	require.Equal(t, batch[len(batch)-len(unsent.Batch):], unsent.Batch)
	var sent int64
	for _, inc := range batch[:len(batch)-len(unsent.Batch)] {
		sent += inc.Delta
	}
	require.Equal(t, sent, lost, "cut after %d", cut)
	require.Eventually(t, func() bool { return server.open() == 0 }, patience, 100*time.Microsecond)
	whole := 0
	for _, command := range server.sent("") {
		if isIncrement(command) {
			whole++
		}
	}
	require.Len(t, unsent.Batch, len(batch)-whole, "cut after %d", cut)
	for _, inc := range unsent.Batch {
		require.Contains(t, []string{"", "0"}, server.value(inc.Key), "cut after %d", cut)
	}
	return true
}

func TestRefusedIncrementsAreLostAlone(t *testing.T) {
	for _, c := range []struct {
		rule string
		bad  wrstats.Increment
		lost int64
		err  error
	}{
		{"a space", one("a b", 9), 9, memcached.ErrKey},
		{"a line's end and a command", one("x 0 0 1\r\nflush_all\r\n", 9), 9, memcached.ErrKey},
		{"a byte of 0x7f", one("a\x7f", 9), 9, memcached.ErrKey},
		{"a byte over that", one("long-enough-\x80-key", 9), 9, memcached.ErrKey},
		{"no key", one("", 9), 9, memcached.ErrKey},
		{"251 bytes", one(strings.Repeat("k", 251), 9), 9, memcached.ErrKey},
		{"a negative delta", one("a", -9), 0, memcached.ErrNegative},
	} {
		t.Run(c.rule, func(t *testing.T) {
			server := newFake(t, nil)
			var told errorLog
			store := open(t, memcached.Config{Servers: []string{server.addr}, OnError: told.add})
			lost, err := incr(t, store, one("good", 5), c.bad, one("fine", 7))
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.lost, lost)
			require.Equal(t, []wrstats.Value{found(5), {}, found(7)}, get(t, store, "good", "other", "fine"))
			require.Equal(t, int64(1), store.Stats().Refused)
			require.Equal(t, []error{c.err}, told.all())
			require.Empty(t, server.sent("flush_all"))
		})
	}
}

func TestSumsOfDeltasDoNotOverflow(t *testing.T) {
	server := newFake(t, func(c *fakeConn, command string) bool {
		return len(c.fake.sent("ma a ")) > 0 // and says nothing any more
	})
	store := open(t, memcached.Config{Servers: []string{server.addr}, Timeout: time.Second})
	receipt, err := store.Incr(within(t, patience), []wrstats.Increment{one("a", math.MaxInt64), one("b", math.MaxInt64)})
	require.NoError(t, err)
	lost, err := receipt.Wait(over())
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, int64(math.MaxInt64), lost, "of what is open")
	lost, err = receipt.Wait(within(t, patience))
	require.ErrorContains(t, err, "not confirmed in time")
	require.Equal(t, int64(math.MaxInt64), lost)
}
