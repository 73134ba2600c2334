package memcached_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
)

func TestIncrementOfSomethingElse(t *testing.T) {
	real(t, func(t *testing.T, server *servertest.Server, store *memcached.Store) {
		client := memcache.New(server.Addr)
		require.NoError(t, client.Set(&memcache.Item{Key: "k1", Value: []byte("abc")}))
		require.NoError(t, client.Set(&memcache.Item{Key: "k3", Value: []byte("10.01")}))
		lost, err := incr(t, store, one("k1", 5), one("k2", 7), one("k3", 6))
		require.Equal(t, []wrstats.Value{{}, found(7), {}}, get(t, store, "k1", "k2", "k3"))
		require.Equal(t, int64(2), stats(store).Replies[memcached.NotNumber])
		if stats(store).Replies[memcached.ClientFailed] == 0 { // in Text it stays silent
			require.NoError(t, err)
			return
		}
		require.Equal(t, int64(2), stats(store).Replies[memcached.ClientFailed])
		require.Equal(t, int64(13), lost, "the largest two")
		require.ErrorContains(t, err, "cannot increment or decrement non-numeric value")
		requireDiscreet(t, []error{err}, server.Addr)
	})
}

func TestWindowsAddUpBesideOneThatIsNoNumber(t *testing.T) {
	real(t, func(t *testing.T, server *servertest.Server, store *memcached.Store) {
		stats := newStats(t, store, wrstats.Metric{Name: "count"})
		w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
		now := time.Unix(1_764_600_300, 0)
		for i := range 3 {
			require.NoError(t, w.AddAt(now.Add(time.Duration(-i)*10*time.Minute), "count", wrstats.Local("a"), 5))
		}
		require.NoError(t, w.Close(within(t, patience)))
		bad := fmt.Sprintf("local:test:count::%d:a", now.Unix()/600-1)
		client := memcache.New(server.Addr)
		require.NoError(t, client.Replace(&memcache.Item{Key: bad, Value: []byte("10.01"), Expiration: 60}))
		rates, err := stats.NewReader().RatesAt(within(t, patience), now, []wrstats.Query{{Metric: "count", Entity: wrstats.Local("a"), Span: wrstats.LastWindows(3)}})
		require.NoError(t, err)
		require.Equal(t, 10.0, rates[0].Total)
		require.Equal(t, 1, rates[0].Missing())
	})
}

func TestPaddedValues(t *testing.T) { // memcached pads what got shorter
	real(t, func(t *testing.T, server *servertest.Server, store *memcached.Store) {
		client := memcache.New(server.Addr)
		require.NoError(t, client.Set(&memcache.Item{Key: "a", Value: []byte("10")}))
		_, err := client.Decrement("a", 1)
		require.NoError(t, err)
		require.NoError(t, client.Set(&memcache.Item{Key: "b", Value: []byte("18446744073709551615")}))
		_, err = client.Increment("b", 1)
		require.NoError(t, err)
		require.Equal(t, []wrstats.Value{found(9), found(0)}, get(t, store, "a", "b"))
		count(t, store, one("a", 1))
		require.Equal(t, []wrstats.Value{found(10)}, get(t, store, "a"))
	})
}

func TestAbsentKeyPlusOneIsOne(t *testing.T) {
	real(t, func(t *testing.T, _ *servertest.Server, store *memcached.Store) {
		for i := range 100 {
			key := fmt.Sprint("a", i)
			count(t, store, one(key, 1))
			require.Equal(t, []wrstats.Value{found(1)}, get(t, store, key))
		}
	})
}
