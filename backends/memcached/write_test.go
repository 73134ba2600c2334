package memcached_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/wrstats"
)

// short is the timeout of tests in which a server does not answer.
const short = 100 * time.Millisecond

// isIncrement tells the commands of a batch from the probe of a connection.
func isIncrement(command string) bool {
	return strings.HasPrefix(command, "ma ") && strings.Contains(command, " q ") ||
		strings.HasPrefix(command, "incr ")
}

// isFence tells a fence from the probe, given the commands so far.
func isFence(command string, meta bool) bool {
	if meta {
		return command == "mn"
	}
	return strings.HasPrefix(command, "get ") && !strings.HasPrefix(command, "get wrstats:probe")
}

func TestErrorLinesCostTheLargestDeltas(t *testing.T) {
	for _, c := range []struct {
		rule   string
		errors string // sent in place of the first increments' silence
		lost   int64
		kind   memcached.Kind
	}{
		{"no line, no loss", "", 0, 0},
		{"one line", "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n", 40, memcached.ClientFailed},
		{"two lines", "SERVER_ERROR out of memory storing object\r\nSERVER_ERROR x\r\n", 70, memcached.ServerFailed},
		{"more lines than increments", strings.Repeat("ERROR\r\n", 9), 100, memcached.Failed},
		{"not stored", "NS\r\n", 40, memcached.NotStored},
	} {
		for _, protocol := range []memcached.Protocol{text, meta} {
			t.Run(c.rule+"/"+protocolNames[protocol], func(t *testing.T) {
				var once atomic.Bool
				server := newFake(t, func(conn *fakeConn, command string) bool {
					if isIncrement(command) && once.CompareAndSwap(false, true) {
						conn.say("%s", c.errors)
					}
					return false
				})
				var told errorLog
				store := open(t, memcached.Config{Servers: []string{server.addr}, Protocol: protocol, OnError: told.add})
				lost, err := incr(t, store, one("a", 10), one("b", 40), one("c", 20), one("d", 30))
				require.Equal(t, c.lost, lost)
				require.Equal(t, c.lost == 0, err == nil, "%v", err)
				requireHealthy(t, store, server)
				if c.lost > 0 {
					require.Equal(t, int64(strings.Count(c.errors, "\r\n")), stats(store).Replies[c.kind])
					require.Len(t, told.all(), 1, "the first of a kind")
					requireDiscreet(t, append(told.all(), err), server.addr)
				}
			})
		}
	}
}

// requireHealthy counts and reads on the same store, over the connections it has.
func requireHealthy(t *testing.T, store *memcached.Store, server *fake) {
	t.Helper()
	get(t, store, "k2")
	before := server.connections()
	count(t, store, one("k2", 7))
	require.Equal(t, []wrstats.Value{found(7)}, get(t, store, "k2"))
	require.Equal(t, before, server.connections(), "no connection is lost")
}

func TestCreatedLinesAreExpected(t *testing.T) { // HD, which memcached says before 1.6.40
	server := newFake(t, nil)
	store := open(t, memcached.Config{Servers: []string{server.addr}, Protocol: meta})
	count(t, store, one("a", 1), one("b", 2))
	count(t, store, one("a", 1), one("c", 2))
	require.Equal(t, int64(3), stats(store).Replies[memcached.Created])
	require.Equal(t, int64(2), stats(store).Replies[memcached.Fence])
}

func TestLostFenceDropsTheConnection(t *testing.T) {
	for _, protocol := range []memcached.Protocol{text, meta} {
		t.Run(protocolNames[protocol], func(t *testing.T) {
			var batch, lose atomic.Bool
			server := newFake(t, func(_ *fakeConn, command string) bool {
				if isIncrement(command) {
					batch.Store(true)
				}
				return batch.Load() && isFence(command, protocol == meta) && lose.CompareAndSwap(true, false)
			})
			store := open(t, memcached.Config{Servers: []string{server.addr}, Protocol: protocol, Timeout: 10 * short})
			count(t, store, one("a", 1))
			lose.Store(true)
			lost, err := incr(t, store, one("a", 10), one("b", 5))
			require.Equal(t, int64(15), lost)
			require.ErrorContains(t, err, "not confirmed in time")
			requireDiscreet(t, []error{err}, server.addr)
			require.Equal(t, 1, server.connections())

			count(t, store, one("a", 100))
			require.Equal(t, 2, server.connections(), "a new connection")
			require.Equal(t, "111", server.value("a"), "nothing is sent twice")
			require.Equal(t, int64(1), stats(store).Reconnects)
		})
	}
}

func TestServerThatClosesAfterABatch(t *testing.T) {
	for _, protocol := range []memcached.Protocol{text, meta} {
		t.Run(protocolNames[protocol], func(t *testing.T) {
			var batch atomic.Bool
			server := newFake(t, func(c *fakeConn, command string) bool {
				if isIncrement(command) {
					batch.Store(true)
				}
				if batch.Load() && isFence(command, protocol == meta) && c.n < 3 {
					batch.Store(false)
					c.Close()
					return true
				}
				return false
			})
			store := open(t, memcached.Config{Servers: []string{server.addr}, Protocol: protocol})
			for range 2 {
				lost, err := sendUntilTaken(t, store, one("a", 1))
				require.Equal(t, int64(1), lost)
				require.Error(t, err)
			}
			lost, err := sendUntilTaken(t, store, one("a", 1))
			require.NoError(t, err)
			require.Zero(t, lost)
			require.Equal(t, "3", server.value("a"), "each was applied once, though two are called lost")
		})
	}
}

// sendUntilTaken sends what comes back as not sent again, and waits.
func sendUntilTaken(t *testing.T, store wrstats.Store, batch ...wrstats.Increment) (lost int64, err error) {
	t.Helper()
	for range 1000 {
		receipt, err := store.Incr(within(t, patience), batch)
		var unsent *wrstats.NotSentError
		if !errors.As(err, &unsent) {
			require.NoError(t, err)
			if receipt == nil {
				return 0, nil
			}
			return receipt.Wait(within(t, patience))
		}
		require.Equal(t, batch, unsent.Batch)
		time.Sleep(5 * time.Millisecond)
	}
	require.Fail(t, "never taken")
	return 0, nil
}

func TestConnectionThatEndedWhileIdleIsReplaced(t *testing.T) {
	server := newFake(t, nil)
	store := open(t, memcached.Config{Servers: []string{server.addr}})
	for n := int64(1); n <= 5; n++ {
		count(t, store, one("a", 1))
		require.Equal(t, []wrstats.Value{found(n)}, get(t, store, "a"))
		server.hangUp()
		require.Eventually(t, func() bool { return stats(store).InFlight == 0 }, patience, time.Millisecond)
		time.Sleep(short) // for the end to arrive
	}
	require.Equal(t, "5", server.value("a"))
}

func TestGarbageFromTheServerDropsTheStream(t *testing.T) {
	for _, c := range []struct{ rule, says string }{
		{"an empty line", "\r\n"},
		{"a line without CR", "HD\n"},
		{"another protocol", "-ERR unknown command\r\n"},
		{"a fence nobody waits for", "MN\r\nMN\r\nMN\r\n"},
		{"a value nobody asked for", "VALUE a 0 1\r\n1\r\n"},
		{"created without end", strings.Repeat("HD\r\n", 1<<16)},
	} {
		t.Run(c.rule, func(t *testing.T) {
			server := newFake(t, func(conn *fakeConn, command string) bool {
				if conn.n == 1 && isIncrement(command) {
					conn.say("%s", c.says)
				}
				return false
			})
			var told errorLog
			store := open(t, memcached.Config{Servers: []string{server.addr}, Protocol: meta, Timeout: time.Second, OnError: told.add})
			receipt, err := store.Incr(within(t, patience), []wrstats.Increment{one("a", 5)})
			require.NoError(t, err)
			_, _ = receipt.Wait(within(t, patience)) // a fence may have come before
			lost, err := sendUntilTaken(t, store, one("b", 7))
			if lost > 0 {
				lost, err = sendUntilTaken(t, store, one("b", 7))
			}
			require.NoError(t, err)
			require.Zero(t, lost)
			require.Greater(t, server.connections(), 1)
			require.Eventually(t, func() bool { return len(told.all()) > 0 }, patience, time.Millisecond, "it is told, maybe last")
			requireDiscreet(t, told.all(), server.addr)
		})
	}
}

func TestEndlessLineIsGivenUpAtOnce(t *testing.T) {
	server := newFake(t, func(c *fakeConn, command string) bool {
		if isIncrement(command) || strings.HasPrefix(command, "get ") {
			c.say("%s", strings.Repeat("VALUE ", 1<<18))
		}
		return len(c.fake.sent("ma a ")) > 0 // and says nothing more
	})
	store := open(t, memcached.Config{Servers: []string{server.addr}, Timeout: time.Hour})
	receipt, err := store.Incr(within(t, patience), []wrstats.Increment{one("a", 5)})
	require.NoError(t, err)
	lost, err := receipt.Wait(within(t, patience))
	require.ErrorContains(t, err, "malformed")
	require.Equal(t, int64(5), lost)
	_, err = store.Get(within(t, patience), []string{"a"})
	require.ErrorContains(t, err, "malformed")
}
