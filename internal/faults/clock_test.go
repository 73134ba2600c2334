package faults_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

// TestClock counts and reads by a clock that is set back and forward by an hour, and by more than keys live.
func TestClock(t *testing.T) {
	skipShort(t)
	t.Parallel()
	for _, b := range backends {
		t.Run("the clock is set back and forward by an hour/"+b.name, func(t *testing.T) {
			t.Parallel()
			l := newLoad(t, b.start(t, 1))
			w := l.stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
			r := l.stats.NewReader()
			began := time.Now().Truncate(time.Hour)
			clock := []time.Duration{0, 90, 30, -30, 90, 30, 150, -30, 30} // minutes
			sums := make(map[int64]float64)                                // by hour
			for i, minutes := range clock {
				now := began.Add(minutes * time.Minute)
				hour := now.Truncate(time.Hour).Unix()
				for j := range counters {
					require.NoError(t, w.AddAt(now, "count", entity(j), float64(i+1)))
				}
				sums[hour] += float64(i + 1)
				require.NoError(t, w.Sync(t.Context()))
				rates, err := r.RatesAt(t.Context(), now, queries())
				require.NoError(t, err)
				for _, rate := range rates {
					require.Equal(t, sums[hour]+sums[hour-3600], rate.Total, "the clock at %d minutes", minutes)
				}
			}
			require.NoError(t, w.Close(t.Context()))
			l.file("the clock is set back and forward by an hour", sumOf(l.records()), "", w)
		})
	}
}
