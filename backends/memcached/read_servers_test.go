package memcached_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/wrstats"
)

func TestServerErrorTakesThePlaceOfAReply(t *testing.T) {
	replies := 0
	server := newFake(t, func(c *fakeConn, command string) bool {
		if !strings.HasPrefix(command, "get ") {
			return false
		}
		if replies++; replies == 2 {
			c.say("SERVER_ERROR out of memory\r\n")
		}
		return replies == 2
	})
	store := open(t, memcached.Config{Servers: []string{server.addr}, Protocol: meta})
	all := keys(1000)
	for _, key := range all {
		count(t, store, one(key, 1))
	}
	values, err := store.Get(within(t, patience), all)
	require.ErrorIs(t, err, wrstats.ErrPartial)
	requireDiscreet(t, []error{err}, server.addr)
	missing := 0
	for _, v := range values {
		if !v.Found {
			missing++
		}
	}
	require.InDelta(t, 100, missing, 50, "the keys of one request")
	require.Equal(t, found(1), values[0])
	require.Equal(t, found(1), values[len(all)-1], "over the same connection")
}

func TestGetSaysWhichServersFailed(t *testing.T) {
	servers := []*fake{newFake(t, nil), newFake(t, nil), answering(t, 99, func([]string) string { return "" })}
	addrs := []string{servers[0].addr, servers[1].addr, servers[2].addr}
	store := open(t, memcached.Config{Selector: memcached.Ketama(addrs...), Timeout: 10 * short, Protocol: meta})
	all := keys(300)
	for _, key := range all {
		count(t, store, one(key, 3))
	}
	values, err := store.Get(within(t, patience), all)
	require.ErrorIs(t, err, wrstats.ErrPartial)
	requireDiscreet(t, []error{err}, addrs[2])
	require.NotContains(t, err.Error(), addrs[0])
	var op *memcached.OpError
	require.ErrorAs(t, err, &op)
	require.Equal(t, "get", op.Op)
	for i, key := range all {
		mute := pick(t, memcached.Ketama(addrs...), key) == addrs[2]
		require.Equal(t, !mute, values[i].Found)
	}
}

func TestGetOfNobodyHasNoValues(t *testing.T) {
	store := open(t, memcached.Config{Servers: []string{"127.0.0.1:1", "127.0.0.1:2"}})
	values, err := store.Get(within(t, patience), keys(100))
	require.ErrorContains(t, err, "127.0.0.1:1")
	require.ErrorContains(t, err, "127.0.0.1:2")
	require.NotErrorIs(t, err, wrstats.ErrPartial)
	require.Empty(t, values)
}

func TestContextEndsWhatWaits(t *testing.T) {
	mute := newFake(t, func(*fakeConn, string) bool { return true })
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
		{"delete", func(ctx context.Context, store *memcached.Store) error {
			return store.Delete(ctx, []string{"a"})
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			store := open(t, memcached.Config{Servers: []string{mute.addr}, Timeout: time.Hour})
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(20*time.Millisecond, cancel)
			require.ErrorIs(t, c.call(ctx, store), context.Canceled)
			ctx = within(t, 20*time.Millisecond)
			require.ErrorIs(t, c.call(ctx, store), context.DeadlineExceeded)
		})
	}
}

func TestCallsWaitForAReadConnection(t *testing.T) {
	release := make(chan struct{})
	server := newFake(t, func(*fakeConn, string) bool {
		<-release
		return false
	})
	store := open(t, memcached.Config{Servers: []string{server.addr}, MaxReadConns: 2, Timeout: time.Minute})
	errs := make(chan error)
	for range 5 {
		go func() {
			_, err := store.Get(context.Background(), []string{"a"})
			errs <- err
		}()
	}
	require.Eventually(t, func() bool { return server.connections() == 2 }, patience, time.Millisecond)
	_, err := store.Get(within(t, 20*time.Millisecond), []string{"a"})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	close(release)
	for range 5 {
		require.NoError(t, <-errs)
	}
	require.Equal(t, 2, server.connections())
}

func TestDelete(t *testing.T) {
	for _, c := range []struct {
		rule, says string
		fails      bool
	}{
		{"deleted", "DELETED\r\n", false},
		{"was not there", "NOT_FOUND\r\n", false},
		{"server error", "SERVER_ERROR x\r\n", true},
		{"error", "ERROR\r\n", true},
		{"garbage", "\r\n", true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			server := newFake(t, func(conn *fakeConn, command string) bool {
				if command == "delete k2" {
					conn.say("%s", c.says)
				}
				return command == "delete k2"
			})
			store := open(t, memcached.Config{Servers: []string{server.addr}})
			count(t, store, one("a", 1))
			err := store.Delete(within(t, patience), []string{"a b", "k2", "a"})
			require.Equal(t, c.fails, err != nil)
			if c.fails {
				requireDiscreet(t, []error{err}, server.addr)
				require.NoError(t, store.Delete(within(t, patience), []string{"a"}))
			}
			require.Equal(t, []wrstats.Value{{}}, get(t, store, "a"))
			require.Empty(t, server.sent("delete a b"))
			require.Equal(t, int64(1), store.Stats().Refused)
		})
	}
}
