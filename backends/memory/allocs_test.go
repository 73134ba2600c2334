//go:build !race

// Under the race detector a sync.Pool forgets at random.

package memory_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGetAllocatesItsResultOnly(t *testing.T) {
	store, keys := open(t), profile(1200)
	incr(t, store, increments(keys)...)
	allocs := testing.AllocsPerRun(100, func() { _, _ = store.Get(context.Background(), keys) })
	require.LessOrEqual(t, allocs, 1.5) // a collection may empty the pool of plans
}

func TestIncrOfKnownKeysAllocatesNothing(t *testing.T) {
	store, batch := open(t), increments(profile(1200))
	incr(t, store, batch...)
	allocs := testing.AllocsPerRun(100, func() { _, _ = store.Incr(context.Background(), batch) })
	require.LessOrEqual(t, allocs, 0.5)
}
