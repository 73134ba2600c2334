package memcached_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/wrstats"
)

func TestAllocationsDoNotGrowWithTheCall(t *testing.T) {
	servers := three(t)
	for protocol, name := range protocolNames {
		t.Run(name, func(t *testing.T) {
			store := open(t, memcached.Config{Servers: servers, Protocol: protocol})
			all := keys(6000)
			batch := make([]wrstats.Increment, 1200)
			for i := range batch {
				batch[i] = wrstats.Increment{Key: all[i], Delta: 1, TTL: time.Hour}
			}
			count(t, store, batch...)
			ctx := context.Background()
			var err error
			incrs := testing.AllocsPerRun(20, func() {
				receipt, ierr := store.Incr(ctx, batch)
				if receipt != nil {
					_, ierr = receipt.Wait(ctx)
				}
				if ierr != nil {
					err = ierr
				}
			})
			gets := testing.AllocsPerRun(20, func() {
				if _, gerr := store.Get(ctx, all); gerr != nil {
					err = gerr
				}
			})
			require.NoError(t, err)
			require.Less(t, incrs, 120.0, "for 1200 increments")
			require.Less(t, gets, 60.0, "for 6000 keys")
			t.Logf("%v allocations for 1200 increments, %v for 6000 keys", incrs, gets)
		})
	}
}

func TestLongKeysInOneGet(t *testing.T) { // of more than memcached takes in at a time
	t.Parallel()
	for name, serve := range map[string]func(testing.TB) memcached.Config{
		"tcp": serveTCP, "unix": serveUnix, "tls": serveTLS, "twemproxy": serveTwemproxy,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := open(t, serve(t))
			long := make([]string, 2000)
			batch := make([]wrstats.Increment, len(long))
			for i := range long {
				long[i] = longKey(i)
				batch[i] = one(long[i], int64(i+1))
			}
			count(t, store, batch...)
			for i, v := range get(t, store, long...) {
				require.Equal(t, found(int64(i+1)), v)
			}
			require.NoError(t, store.Delete(within(t, patience), long))
			require.Equal(t, make([]wrstats.Value, len(long)), get(t, store, long...))
		})
	}
}
