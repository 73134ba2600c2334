//go:build !race

// Under the race detector a sync.Pool forgets at random.

package profile_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats/profile"
)

func TestRecordAllocatesNothing(t *testing.T) {
	var runs []profile.Run
	for i := range 300 {
		runs = append(runs, profile.Run{Rule: strconv.Itoa(i), Duration: 1234, Conditions: i, Matched: i%50 == 0})
	}
	p, _ := open(t, profile.Options{})
	p.Record("default", runs)
	require.Zero(t, testing.AllocsPerRun(100, func() { p.Record("default", runs) }))
	p.RecordAt(start, "default", runs)
	// A collection may empty the pool of additions.
	require.Less(t, testing.AllocsPerRun(100, func() { p.RecordAt(start, "default", runs) }), 1.0)
}
