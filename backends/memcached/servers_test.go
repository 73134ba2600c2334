package memcached_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/wrstats"
)

// patience is how long a call may take in a test.
const patience = 30 * time.Second

// open makes a store that ends with the test, and has more patience than the default: what is tested is
// seldom how loaded the machine is.
func open(t testing.TB, config memcached.Config) *memcached.Store {
	t.Helper()
	if config.Timeout == 0 {
		config.Timeout = patience
	}
	store, err := memcached.New(config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// over returns a context that is done.
func over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// incr hands a batch over and waits for its receipt.
func incr(t testing.TB, store wrstats.Store, batch ...wrstats.Increment) (lost int64, err error) {
	t.Helper()
	receipt, err := store.Incr(within(t, patience), batch)
	if receipt == nil {
		return 0, err
	}
	require.NoError(t, err)
	return receipt.Wait(within(t, patience))
}

// count increments, and requires that all of it is applied.
func count(t testing.TB, store wrstats.Store, batch ...wrstats.Increment) {
	t.Helper()
	lost, err := incr(t, store, batch...)
	require.NoError(t, err)
	require.Zero(t, lost)
}

func get(t testing.TB, store wrstats.Store, keys ...string) []wrstats.Value {
	t.Helper()
	values, err := store.Get(within(t, patience), keys)
	require.NoError(t, err)
	return values
}

func one(key string, delta int64) wrstats.Increment {
	return wrstats.Increment{Key: key, Delta: delta, TTL: time.Hour}
}

func found(n int64) wrstats.Value { return wrstats.Value{N: n, Found: true} }

// longKey returns a key of 250 bytes.
func longKey(i int) string { return fmt.Sprintf("%s%06d", strings.Repeat("k", 244), i) }
