package main

import (
	"bytes"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/internal/servertest"
)

func TestTwoProcessesOnHalvesOfAStreamGiveTheSumOfBoth(t *testing.T) {
	stream := oneIn(5)
	whole := profiles(t, runWith(t, bytes.NewReader(stream), "-in", "-", "-window", "4h", "-format", "json"))[0]
	half := bytes.IndexByte(stream[len(stream)/2:], '\n') + len(stream)/2 + 1
	for name, url := range map[string]string{
		"memcached":     "memcached://" + servertest.Memcached(t).Addr + "?timeout=30s", // the machine may be busy
		"redis":         "redis://" + servertest.Redis(t).Addr + "?read_timeout=30s",
		"redis/cluster": "redis+cluster://" + servertest.RedisCluster(t, 3)[0].Addr + "?read_timeout=30s",
	} {
		t.Run(name, func(t *testing.T) {
			halves := [][]byte{stream[:half], stream[half:]}
			results := make([]result, 2)
			var both sync.WaitGroup
			for i := range halves {
				both.Go(func() {
					results[i] = runWith(t, bytes.NewReader(halves[i]), "-in", "-", "-window", "4h", "-backend", url, "-format", "json")
				})
			}
			both.Wait()
			for _, r := range results {
				require.Zero(t, r.status, r.stderr)
				require.Zero(t, profiles(t, r)[0].Replay.Increments.Lost)
			}
			sum := profiles(t, runWith(t, bytes.NewReader(nil), "-in", "-", "-window", "4h", "-backend", url,
				"-at", whole.At.Format("2006-01-02T15:04:05.999Z07:00"), "-format", "json"))[0]
			require.Len(t, sum.Rules, len(whole.Rules))
			for _, want := range whole.Rules {
				got := sum.rule(want.ID)
				require.Equal(t, want.Runs, got.Runs, want.ID)
				require.Equal(t, want.Matches, got.Matches, want.ID)
				require.Equal(t, want.MeanConditions, got.MeanConditions, want.ID)
				require.Zero(t, got.Missing, want.ID)
			}
			require.Equal(t, whole.Groups[0].Actions, sum.Groups[0].Actions)
		})
	}
}
