package memcached_test

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/wrstats"
)

// requireGoroutines requires that there are no more than before, soon.
func requireGoroutines(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before; {
		require.True(t, time.Now().Before(deadline), "%d goroutines, %d before", runtime.NumGoroutine(), before)
		time.Sleep(time.Millisecond)
	}
}

func TestCloseEndsAllGoroutines(t *testing.T) {
	servers := []*fake{newFake(t, nil), newFake(t, nil), newFake(t, nil)}
	before := runtime.NumGoroutine()
	for range 10 {
		store := open(t, memcached.Config{Servers: []string{servers[0].addr, servers[1].addr, servers[2].addr}})
		var batch []wrstats.Increment
		for _, key := range keys(50) {
			batch = append(batch, one(key, 1))
		}
		count(t, store, batch...)
		get(t, store, keys(50)...)
		require.NoError(t, store.Close())
		require.NoError(t, store.Close())
	}
	for _, server := range servers { // which notice a moment later
		require.Eventually(t, func() bool { return server.open() == 0 }, patience, time.Millisecond)
	}
	requireGoroutines(t, before)
}

func TestGoroutinesStayConstant(t *testing.T) { // a firewall that drops packets, 50 flushes
	var dials, dialling, most atomic.Int64
	store := open(t, memcached.Config{
		Servers: []string{"a", "b", "c"},
		Timeout: 5 * time.Millisecond,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			dials.Add(1)
			most.Store(max(most.Load(), dialling.Add(1)))
			defer dialling.Add(-1)
			<-ctx.Done()
			return nil, ctx.Err()
		},
	})
	var batch []wrstats.Increment
	for _, key := range keys(50) {
		batch = append(batch, one(key, 1))
	}
	before := runtime.NumGoroutine()
	for range 50 {
		receipt, err := store.Incr(within(t, patience), batch)
		var unsent *wrstats.NotSentError
		require.ErrorAs(t, err, &unsent)
		require.ElementsMatch(t, batch, unsent.Batch)
		require.Nil(t, receipt)
		_, err = store.Get(within(t, patience), keys(50))
		require.Error(t, err)
	}
	requireGoroutines(t, before)
	require.LessOrEqual(t, most.Load(), int64(3), "at once: one a server")
	require.Less(t, dials.Load(), int64(150), "not by every call")
}

func TestCallersWithoutPatienceDoNotDialAtEachCall(t *testing.T) { // a firewall that drops packets
	const calls, timeout, short = 200, 40 * time.Millisecond, 5 * time.Millisecond
	for _, c := range []struct {
		rule string
		call func(ctx context.Context, store *memcached.Store) error
	}{
		{"incr", func(ctx context.Context, store *memcached.Store) error {
			_, err := store.Incr(ctx, []wrstats.Increment{one("a", 1)})
			return err
		}},
		{"get", func(ctx context.Context, store *memcached.Store) error {
			_, err := store.Get(ctx, []string{"a"})
			return err
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dials := 0
				store := open(t, memcached.Config{
					Servers: []string{"a"},
					Timeout: timeout,
					DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
						dials++
						<-ctx.Done()
						return nil, ctx.Err()
					},
				})
				for range calls {
					ctx, cancel := context.WithTimeout(context.Background(), short)
					err := c.call(ctx, store)
					require.Equal(t, ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded), "%v", err)
					cancel()
					time.Sleep(short)
				}
				require.GreaterOrEqual(t, dials, int(timeout/short), "a server is given the time that one call would give it")
				require.Less(t, dials, calls/2)
			})
		})
	}
}

func TestCloseWaitsForWhatWasHandedOver(t *testing.T) {
	server := newFake(t, func(_ *fakeConn, command string) bool {
		if command == "mn" {
			time.Sleep(10 * time.Millisecond)
		}
		return false
	})
	store := open(t, memcached.Config{Servers: []string{server.addr}})
	receipt, err := store.Incr(within(t, patience), []wrstats.Increment{one("a", 5)})
	require.NoError(t, err)
	require.NoError(t, store.Close())
	lost, err := receipt.Wait(over()) // it is known by now
	require.NoError(t, err)
	require.Zero(t, lost)
	require.Equal(t, "5", server.value("a"))
}

func TestCloseEndsWhatIsNeverConfirmed(t *testing.T) {
	server := newFake(t, func(c *fakeConn, command string) bool { return len(c.fake.sent("ma a ")) > 0 })
	store := open(t, memcached.Config{Servers: []string{server.addr}, Timeout: short})
	receipt, err := store.Incr(within(t, patience), []wrstats.Increment{one("a", 5)})
	require.NoError(t, err)
	start := time.Now()
	require.NoError(t, store.Close())
	require.Less(t, time.Since(start), patience/2)
	lost, err := receipt.Wait(over()) // it is known by now
	require.ErrorIs(t, err, wrstats.ErrClosed)
	require.Equal(t, int64(5), lost)
}

func TestCloseEndsReads(t *testing.T) {
	mute := newFake(t, func(*fakeConn, string) bool { return true })
	store := open(t, memcached.Config{Servers: []string{mute.addr}, Timeout: time.Hour})
	errs := make(chan error)
	go func() {
		_, err := store.Get(context.Background(), []string{"a"})
		errs <- err
	}()
	go func() { errs <- store.Delete(context.Background(), []string{"a"}) }()
	go func() {
		_, err := store.Incr(context.Background(), []wrstats.Increment{one("a", 1)})
		errs <- err
	}()
	require.Eventually(t, func() bool { return len(mute.sent("")) == 4 }, patience, time.Millisecond)
	// Incr is being greeted: Close does not wait for that either.
	require.NoError(t, store.Close())
	for range 3 {
		require.ErrorIs(t, <-errs, wrstats.ErrClosed)
	}
}

func TestManyGoroutinesShareAStore(t *testing.T) {
	servers := []*fake{newFake(t, nil), newFake(t, nil)}
	store := open(t, memcached.Config{Servers: []string{servers[0].addr, servers[1].addr}})
	const writers, rounds = 8, 50
	errs := make(chan error, 3*writers*rounds)
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range rounds {
				receipt, err := store.Incr(context.Background(), []wrstats.Increment{one("a", 1), one("b", 2), one("c", 3)})
				errs <- err
				if receipt != nil {
					_, err = receipt.Wait(context.Background())
					errs <- err
				}
				_, err = store.Get(context.Background(), []string{"c", "b", "a"})
				errs <- err
			}
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.Equal(t, []wrstats.Value{found(400), found(800), found(1200)}, get(t, store, "a", "b", "c"))
}

func TestStatsCountWhatIsDone(t *testing.T) {
	server := newFake(t, nil)
	store := open(t, memcached.Config{Servers: []string{server.addr}, Protocol: meta})
	require.Equal(t, []memcached.ServerStats{{Addr: server.addr, Replies: map[memcached.Kind]int64{}}}, store.Stats().Servers)
	count(t, store, one("a", 1), one("b", 2))
	get(t, store, "a", "b", "c")
	require.NoError(t, store.Delete(within(t, patience), []string{"a", "c"}))
	s := stats(store)
	require.Equal(t, int64(2+3+2), s.Commands)
	require.Equal(t, int64(1), s.Fences)
	require.Zero(t, s.InFlight)
	require.Equal(t, int64(2), s.Connections)
	require.Zero(t, s.Reconnects)
	require.Equal(t, map[memcached.Kind]int64{
		memcached.Created: 2, memcached.Fence: 1, memcached.Found: 2, memcached.Done: 1 + 2,
	}, s.Replies)
	written := len(strings.Join(server.sent(""), "\r\n")) + 2
	require.Equal(t, int64(written), s.BytesWritten)
	require.Positive(t, s.BytesRead)
}
