package memcached_test

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
)

func TestAutoFallsBackBehindAProxyThatCloses(t *testing.T) {
	server := servertest.Memcached(t)
	proxy := servertest.Twemproxy(t, server.Addr)
	store := open(t, memcached.Config{Servers: []string{proxy.Addr}})
	for range 10 {
		count(t, store, one("a", 1))
	}
	require.Equal(t, []wrstats.Value{found(10)}, get(t, store, "a"))
	require.Equal(t, int64(3), stats(store).Connections, "one that is asked, one to write, one to read")

	proxy.Restart()
	lost, err := sendUntilTaken(t, store, one("a", 1))
	require.NoError(t, err)
	require.Zero(t, lost)
	require.Eventually(t, func() bool {
		values, err := store.Get(within(t, patience), []string{"a"})
		return err == nil && values[0] == found(11)
	}, patience, 10*time.Millisecond)
	require.Equal(t, int64(6), stats(store).Connections, "it is asked again after it came back")
}

func TestServerBehindAProxyIsDown(t *testing.T) {
	servers := []*servertest.Server{servertest.Memcached(t), servertest.Memcached(t), servertest.Memcached(t)}
	proxy := servertest.Twemproxy(t, servers[0].Addr, servers[1].Addr, servers[2].Addr)
	store := open(t, memcached.Config{Servers: []string{proxy.Addr}})
	var batch []wrstats.Increment
	for _, key := range keys(300) {
		batch = append(batch, one(key, 1))
	}
	count(t, store, batch...)
	servers[1].Kill()
	lost, err := sendUntilTaken(t, store, batch...)
	require.Error(t, err, "no loss is understated: the fence reads from the server that is down, too")
	require.Equal(t, int64(300), lost)
	servers[1].Restart()
	require.Eventually(t, func() bool {
		receipt, err := store.Incr(within(t, patience), batch)
		if err != nil || receipt == nil {
			return false
		}
		lost, err := receipt.Wait(within(t, patience))
		return err == nil && lost == 0
	}, patience, 20*time.Millisecond)
}

func TestServerThatIsRestarted(t *testing.T) {
	real(t, func(t *testing.T, server *servertest.Server, store *memcached.Store) {
		for range 3 {
			count(t, store, one("a", 1))
			require.Equal(t, []wrstats.Value{found(1)}, get(t, store, "a"))
			server.Restart()
			require.Equal(t, []wrstats.Value{{}}, get(t, store, "a"), "at the first call")
		}
	})
}

func TestServerThatIsStopped(t *testing.T) {
	server := servertest.Memcached(t)
	store := open(t, memcached.Config{Servers: []string{server.Addr}, Timeout: 10 * short})
	count(t, store, one("a", 1))
	server.Stop()
	sent, returned, lost := int64(1), int64(0), int64(0)
	for range 20 {
		receipt, err := store.Incr(within(t, patience), []wrstats.Increment{one("a", 1)})
		sent++
		if err != nil {
			returned++
		}
		if receipt != nil {
			n, _ := receipt.Wait(within(t, patience))
			lost += n
		}
	}
	_, err := store.Get(within(t, patience), []string{"a"})
	require.Error(t, err)
	requireDiscreet(t, []error{err}, server.Addr)
	server.Continue()
	var values []wrstats.Value
	require.Eventually(t, func() bool {
		values, err = store.Get(within(t, patience), []string{"a"})
		return err == nil
	}, patience, 10*time.Millisecond)
	n := values[0].N
	require.LessOrEqual(t, n, sent-returned, "what came back was not applied")
	require.GreaterOrEqual(t, n+lost+returned, sent, "no loss is understated")
	require.Equal(t, int64(1), lost, "nothing is risked on a server that says nothing")
}

func TestNameThatMovesIsFollowed(t *testing.T) {
	first, second := servertest.Memcached(t), servertest.Memcached(t)
	var current atomic.Pointer[string]
	current.Store(&first.Addr)
	store := open(t, memcached.Config{
		Servers: []string{"counters.invalid"},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			assert.Equal(t, "counters.invalid:11211", address, "names reach the dialer")
			return memcached.DefaultDialContext(ctx, network, *current.Load())
		},
	})
	count(t, store, one("a", 1))
	require.Equal(t, []wrstats.Value{found(1)}, get(t, store, "a"))
	current.Store(&second.Addr)
	first.Kill()
	require.Equal(t, []wrstats.Value{{}}, get(t, store, "a"))
	lost, err := sendUntilTaken(t, store, one("a", 5))
	require.NoError(t, err)
	require.Zero(t, lost)
	require.Equal(t, []wrstats.Value{found(5)}, get(t, store, "a"))
}

func TestWrongLoginIsAnErrorThatHoldsNoPassword(t *testing.T) {
	config := serveLogin(t)
	for _, login := range [][2]string{{"writer", "hush"}, {"hush", "s3cret"}, {"", ""}} {
		for protocol := range protocolNames {
			config.Username, config.Password, config.Protocol = login[0], login[1], protocol
			store := open(t, config)
			_, err := store.Incr(within(t, patience), []wrstats.Increment{one("k2", 1)})
			var unsent *wrstats.NotSentError
			require.ErrorAs(t, err, &unsent)
			requireDiscreet(t, []error{err}, config.Servers[0])
			require.Equal(t, login[0] != "", strings.Contains(err.Error(), "login"))
			_, err = store.Get(within(t, patience), []string{"k2"})
			requireDiscreet(t, []error{err}, config.Servers[0])
		}
	}
}
