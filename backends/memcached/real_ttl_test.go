package memcached_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
)

func TestLongTTLs(t *testing.T) { // over 2,592,000 s memcached takes a Unix time
	const day = 24 * time.Hour
	real(t, func(t *testing.T, _ *servertest.Server, store *memcached.Store) {
		for _, ttl := range []time.Duration{30*day - 2*time.Second, 30 * day, 30*day + 1, 31 * day, 365 * day, 100 * 365 * day} {
			key := fmt.Sprint("ttl", int64(ttl))
			count(t, store, wrstats.Increment{Key: key, Delta: 5, TTL: ttl})
			require.Equal(t, []wrstats.Value{found(5)}, get(t, store, key), "%v", ttl)
		}
		for _, retention := range []time.Duration{31 * day, 365 * day} {
			stats := newStats(t, store, wrstats.Metric{
				Name: fmt.Sprint("m", int64(retention)), Sequences: []wrstats.Sequence{{Step: day, Retention: retention}},
			})
			name := fmt.Sprint("m", int64(retention))
			write(t, stats, name, map[wrstats.Entity]float64{wrstats.Local("a"): 5})
			require.Equal(t, 5.0, total(t, stats, name, wrstats.Local("a")))
		}
	})
}

// A bucket of 1 s that is kept for 2 s can be read as long as a window of 2 s touches it, though the
// server's clock ticks once a second only.
func TestKeysLiveForTheirTTLAtLeast(t *testing.T) {
	real(t, func(t *testing.T, _ *servertest.Server, store *memcached.Store) {
		for offset := range 2 {
			ttl := 2 * time.Second
			key := fmt.Sprint("a", offset)
			start := time.Now()
			count(t, store, wrstats.Increment{Key: key, Delta: 1, TTL: ttl})
			time.Sleep(time.Until(start.Add(ttl - 100*time.Millisecond)))
			require.Equal(t, []wrstats.Value{found(1)}, get(t, store, key))
			time.Sleep(time.Until(start.Add(ttl + 2500*time.Millisecond)))
			require.Equal(t, []wrstats.Value{{}}, get(t, store, key))
			time.Sleep(400 * time.Millisecond) // another part of a second
		}
	})
}

func TestWindowOfTwoSeconds(t *testing.T) {
	real(t, func(t *testing.T, _ *servertest.Server, store *memcached.Store) {
		stats := newStats(t, store, wrstats.Metric{Name: "count", Sequences: []wrstats.Sequence{{Step: time.Second, Retention: 2 * time.Second}}})
		reader := stats.NewReader()
		for range 3 {
			entity := wrstats.Local(time.Now().String())
			began := time.Now()
			write(t, stats, "count", map[wrstats.Entity]float64{entity: 7})
			for now := began; now.Sub(began) < 2*time.Second; now = time.Now() {
				rates, err := reader.RatesAt(within(t, patience), now, []wrstats.Query{{Metric: "count", Entity: entity, Span: wrstats.Last(2 * time.Second)}})
				require.NoError(t, err)
				foundOne := false
				for _, w := range rates[0].Windows {
					foundOne = foundOne || w.Value == 7
				}
				require.True(t, foundOne, "after %v", now.Sub(began))
				time.Sleep(50 * time.Millisecond)
			}
		}
	})
}
