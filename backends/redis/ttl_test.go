package redis_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/redis"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
)

// CASES 17: writing every second does not move a key's end.
func TestNoLaterWriteRenewsATTL(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	store := open(t, dial(t, goredis.Options{Addr: server.Addr()}), redis.Options{})
	inc := wrstats.Increment{Key: "a", Delta: 1, TTL: time.Hour}
	for range 3600 {
		count(t, store, inc)
		server.FastForward(time.Second)
	}
	require.Equal(t, []wrstats.Value{{}}, get(t, store, "a"))
	count(t, store, inc)
	require.Equal(t, time.Hour, server.TTL("a"))
}

func TestATTLIsSentInSecondsRoundedUp(t *testing.T) {
	server := miniredis.RunT(t)
	store := open(t, dial(t, goredis.Options{Addr: server.Addr()}), redis.Options{})
	for _, c := range []struct {
		rule      string
		ttl, want time.Duration
	}{
		{"CASES 16: none", 0, time.Second},
		{"CASES 16: negative", -time.Hour, time.Second},
		{"CASES 16: below a second", time.Nanosecond, time.Second},
		{"a second", time.Second, time.Second},
		{"a fraction", time.Second + time.Nanosecond, 2 * time.Second},
		{"CASES 15: 31 days", 31 * 24 * time.Hour, 31 * 24 * time.Hour},
		{"CASES 15: a year", 366 * 24 * time.Hour, 366 * 24 * time.Hour},
	} {
		t.Run(c.rule, func(t *testing.T) {
			count(t, store, wrstats.Increment{Key: c.rule, Delta: 5, TTL: c.ttl})
			require.Equal(t, []wrstats.Value{found(5)}, get(t, store, c.rule))
			require.Equal(t, c.want, server.TTL(c.rule))
		})
	}
}

// CASES 18: the connection breaks, or the process dies, after any byte.
func TestNoKeyIsLeftWithoutATTLWhereverAWriteBreaksOff(t *testing.T) {
	t.Parallel()
	server, wires := servertest.Redis(t), newNetwork()
	admin := dial(t, goredis.Options{Addr: server.Addr})
	store := open(t, dial(t, goredis.Options{Addr: server.Addr, Dialer: wires.dial}), redis.Options{})
	batch := []wrstats.Increment{one("a", 1), one("b", 2), {Key: "c", Delta: 3, TTL: time.Minute}}
	created := 0
	for _, known := range []bool{false, true} {
		for sent := range 1200 {
			require.NoError(t, admin.FlushAll(t.Context()).Err())
			if !known {
				require.NoError(t, admin.ScriptFlush(t.Context()).Err())
			}
			warm(t, store, wires)
			wires.allow(sent)
			_, _ = incr(t, store, batch...)
			wires.allow(-1)
			require.Empty(t, endless(t, admin), "after %d bytes", sent)
			created += int(admin.DBSize(t.Context()).Val())
		}
	}
	require.Greater(t, created, 3000, "of the 7,200")
}

// warm makes a connection, so that what is sent next is a command.
func warm(t *testing.T, store wrstats.Store, wires *network) {
	wires.allow(-1)
	_, err := store.Get(t.Context(), []string{"a"})
	require.NoError(t, err)
}

// CASES 18: the key was evicted, or deleted, since the last write.
func TestNoKeyIsLeftWithoutATTLWhenItWasEvicted(t *testing.T) {
	server := servertest.Redis(t, "--maxmemory", "3mb", "--maxmemory-policy", "allkeys-random")
	client := dial(t, goredis.Options{Addr: server.Addr})
	store := open(t, client, redis.Options{})
	batch := make([]wrstats.Increment, 20_000)
	for i := range batch {
		batch[i] = one(fmt.Sprintf("local:abusefilter-profile:total-time::2941000:filter:%d", i), 1)
	}
	for range 5 {
		_, _ = incr(t, store, batch...) // there may be no memory
	}
	info := client.InfoMap(t.Context(), "stats").Val()["Stats"]
	require.NotEqual(t, "0", info["evicted_keys"])
	require.Empty(t, endless(t, client))
	count(t, store, batch[:100]...)
	require.NoError(t, client.FlushAll(t.Context()).Err())
	count(t, store, batch[:100]...)
	require.Empty(t, endless(t, client))
}

// CASES 18: the key ends in the midst of a write.
func TestNoKeyIsLeftWithoutATTLWhenItEndsMeanwhile(t *testing.T) {
	t.Parallel()
	server := servertest.Redis(t, "--hz", "1")
	client := dial(t, goredis.Options{Addr: server.Addr})
	batch := make([]wrstats.Increment, 3000)
	for i := range batch {
		batch[i] = wrstats.Increment{Key: fmt.Sprint("k", i), Delta: 1, TTL: time.Second}
	}
	var group sync.WaitGroup
	end, errs := time.Now().Add(3*time.Second), make([]error, 2)
	for i := range errs {
		store := open(t, dial(t, goredis.Options{Addr: server.Addr}), redis.Options{})
		group.Go(func() { errs[i] = writeUntil(end, store, batch) })
	}
	group.Wait()
	require.Equal(t, make([]error, len(errs)), errs)
	require.Empty(t, endless(t, client))
}

func writeUntil(end time.Time, store wrstats.Store, batch []wrstats.Increment) error {
	for time.Now().Before(end) {
		receipt, err := store.Incr(context.Background(), batch)
		if err != nil {
			return err
		}
		if _, err := receipt.Wait(context.Background()); err != nil {
			return err
		}
	}
	return nil
}
