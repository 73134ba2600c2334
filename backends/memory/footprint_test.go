package memory_test

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
)

const window = 50_000 // counters

// oneShot returns a window's increments, each of a key that is seen once. They end with the window,
// 600 s, and so are all gone when the next begins.
func oneShot(format string, bucket int) []wrstats.Increment {
	batch := make([]wrstats.Increment, window)
	for i := range batch {
		key := fmt.Sprintf(format, bucket, bucket*window+i)
		batch[i] = wrstats.Increment{Key: key, Delta: 1, TTL: 600 * time.Second}
	}
	return batch
}

func TestOneShotEntitiesDoNotPileUp(t *testing.T) {
	for _, c := range []struct{ rule, format string }{
		{"keys with a bucket", "local:limits:requests::%d:ip:%d"},
		{"keys without a bucket", "no-bucket-%d-%d"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, before, first := open(t), heap(), 0.
				for bucket := range 8 {
					incr(t, store, oneShot(c.format, bucket)...)
					if bucket == 0 {
						first = heap() - before
					}
					time.Sleep(600 * time.Second)
				}
				require.Less(t, heap()-before, 3*first)
				runtime.KeepAlive(store)
			})
		})
	}
}

func TestEndedWindowsAreFreed(t *testing.T) {
	for _, c := range []struct {
		rule string
		call func(*testing.T, wrstats.Store)
	}{
		{"by a read of something else", func(t *testing.T, s wrstats.Store) { get(t, s, "x") }},
		{"by a write of something else", func(t *testing.T, s wrstats.Store) { incr(t, s, wrstats.Increment{Key: "x"}) }},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, before := open(t), heap()
				incr(t, store, oneShot("local:limits:requests::%d:ip:%d", 1)...)
				full := heap() - before
				time.Sleep(600 * time.Second)
				c.call(t, store)
				require.Less(t, heap()-before, full/20)
				runtime.KeepAlive(store)
			})
		})
	}
}

func TestEndedWindowsAreFreedBesideLiveOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const format = "local:limits:requests::%d:ip:%d"
		store, before := open(t), heap()
		incr(t, store, oneShot(format, 1)...)
		incr(t, store, oneShot(format, 2)...)
		incr(t, store, oneShot(format, 3)...)
		time.Sleep(300 * time.Second)
		live := oneShot(format, 4)
		incr(t, store, live...)
		full := heap() - before
		time.Sleep(300 * time.Second)
		for range 16 { // each call moves a part
			get(t, store, "x")
		}
		require.Less(t, heap()-before, full/2)
		for i, value := range get(t, store, keysOf(live)...) {
			require.Equal(t, found(1), value, live[i].Key)
		}
		runtime.KeepAlive(live)
	})
}

func TestDeletedKeysAreFreed(t *testing.T) {
	store, before := open(t), heap()
	batch := oneShot("local:limits:requests::%d:ip:%d", 1)
	incr(t, store, batch...)
	keys := keysOf(batch)
	full := heap() - before
	require.NoError(t, store.Delete(t.Context(), keys[1:]))
	require.Less(t, heap()-before, full-1e6) // what remains is the test's own
	require.Equal(t, []wrstats.Value{found(1), {}}, get(t, store, keys[:2]...))
	runtime.KeepAlive(keys)
}

func TestCloseFrees(t *testing.T) {
	store, before := memory.New(memory.Options{}), heap()
	incr(t, store, oneShot("local:limits:requests::%d:ip:%d", 1)...)
	full := heap() - before
	require.NoError(t, store.Close())
	require.Less(t, heap()-before, full/20)
	runtime.KeepAlive(store)
}

func keysOf(batch []wrstats.Increment) []string {
	keys := make([]string, len(batch))
	for i, inc := range batch {
		keys[i] = inc.Key
	}
	return keys
}
