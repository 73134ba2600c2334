package limiter_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

func TestAStorePanicsAndTheCounterIsFree(t *testing.T) {
	store := newMapStore()
	store.get = func(context.Context, []string) error { panic("of the store") }
	l := newLimiter(t, store, limiter.Options{}, perMinute("a", 2))
	require.PanicsWithValue(t, "of the store", func() { _, _ = l.Allow(t.Context(), "a", user1) })
	store.get = nil
	ok, err := l.Allow(t.Context(), "a", user1)
	require.NoError(t, err)
	require.True(t, ok)
}

func TestWhenAStorePanicsThoseWhoWaitPanicAndNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMapStore()
		slow(store, time.Second, time.Second)
		l := newLimiter(t, store, limiter.Options{}, perMinute("a", 5))
		var all sync.WaitGroup
		all.Go(func() { _, _ = l.Allow(t.Context(), "a", user1) })
		synctest.Wait()
		read := store.get
		store.get = func(context.Context, []string) error { panic("of the store") }
		var panics [3]any
		for i := range panics {
			all.Go(func() {
				defer func() { panics[i] = recover() }()
				_, _ = l.Allow(t.Context(), "a", user1)
			})
		}
		all.Wait()
		require.Equal(t, [3]any{"of the store", "of the store", "of the store"}, panics)
		store.get = read
		ok, err := l.Allow(t.Context(), "a", user1)
		require.NoError(t, err)
		require.True(t, ok)
		time.Sleep(time.Minute) // all is settled
	})
}
