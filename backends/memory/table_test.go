package memory

import (
	"fmt"
	"hash/maphash"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct{ rule, key, head string }{
		{"up to the colon after the bucket", "local:abusefilter-profile:total-time::2941000:filter:42", "local:abusefilter-profile:total-time::2941000:"},
		{"no components", "local:p:m:s:7", ""},
		{"an empty component", "local:p:m:s:7:", "local:p:m:s:7:"},
		{"four colons", "::::", ""},
		{"five", ":::::", ":::::"},
		{"more", ":::::::", ":::::"},
		{"none", "abc", ""},
		{"empty", "", ""},
	} {
		t.Run(c.rule, func(t *testing.T) { require.Equal(t, c.head, c.key[:split(c.key)]) })
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		rule       string
		have, more uint64
		want       bool
	}{
		{"nothing", 0, 0, true},
		{"all that can be addressed", math.MaxUint32 - 10, 10, true},
		{"one byte more", math.MaxUint32 - 10, 11, false},
		{"empty tails at the end", math.MaxUint32, 0, true},
	} {
		t.Run(c.rule, func(t *testing.T) { require.Equal(t, c.want, fits(c.have, c.more)) })
	}
}

func TestKeysOfOneHashStayApart(t *testing.T) {
	const hash = 0x123456789abcdef0
	table := newTable(maphash.MakeSeed())
	keys := []string{"a:b:c:d:e:x", "a:b:c:d:e:y", "a:b:c:d:f:x", "x", "", "a:b:c:d:e:"}
	for i, key := range keys {
		require.Nil(t, table.find(hash, key), key)
		require.NoError(t, table.create(hash, key, int64(i), 0, 1))
	}
	for i, key := range keys {
		require.EqualValues(t, i, table.find(hash, key).n, key)
	}
	require.Nil(t, table.find(hash, "a:b:c:d:f:y"))
}

// filled returns a table of n keys with a head each, or with one for all. The i-th ends at 10+i.
func filled(t *testing.T, n int, format string) *table {
	table := newTable(maphash.MakeSeed())
	for i := range n {
		key := fmt.Sprintf(format, i)
		require.NoError(t, table.create(maphash.String(table.seed, key), key, 1, 0, int64(10+i)))
	}
	return &table
}

func TestASweepMovesOnlyWhenAQuarterIsDead(t *testing.T) {
	table := filled(t, 100, "a:b:c:d:%d:x")
	require.EqualValues(t, 10, table.sweepAt)
	require.Zero(t, table.sweep(10), "1 of 100 is dead")
	require.EqualValues(t, 10+sweepInterval, table.sweepAt, "not again at once")
	require.Equal(t, 75, table.sweep(34), "25 of 100 are dead")
	require.Zero(t, table.sweep(1000), "all are dead, so none is moved")
	require.Nil(t, table.slots)
	require.EqualValues(t, int64(never), table.sweepAt)
}

func TestDeletedEntriesAreCountedOnce(t *testing.T) {
	table := filled(t, 8, "a:b:c:d:e:%d")
	e := &table.entries[3]
	table.remove(e, 1)
	table.remove(e, 1)
	require.Equal(t, 1, table.deleted)
	require.Equal(t, 7, table.heads[0].count)
	table.revive(e, 20)
	require.Zero(t, table.deleted)
	require.Equal(t, 8, table.heads[0].count)
	require.EqualValues(t, 20, table.heads[0].latest)
}

func TestAStoreIsSweptNoMoreOftenThanItsShardsWant(t *testing.T) {
	store := New(Options{})
	_, err := store.Incr(t.Context(), []wrstats.Increment{{Key: "a"}, {Key: "b", TTL: time.Hour}})
	require.NoError(t, err)
	due := store.sweepAt.Load()
	require.Less(t, due, int64(time.Minute))
	store.sweep(due)
	require.Greater(t, store.sweepAt.Load(), due+int64(time.Minute))
	store.sweep(due + int64(2*time.Hour))
	require.EqualValues(t, int64(never), store.sweepAt.Load())
}

func TestALargeSweepIsSpreadOverCalls(t *testing.T) {
	const dead, alive = 2 * sweepMoves, 4 * sweepMoves
	store := New(Options{})
	batch := make([]wrstats.Increment, dead+alive)
	for i := range batch {
		batch[i] = wrstats.Increment{Key: fmt.Sprintf("a:b:c:d:1:%d", i), TTL: time.Hour}
		if i < dead {
			batch[i] = wrstats.Increment{Key: fmt.Sprintf("a:b:c:d:0:%d", i), TTL: time.Minute}
		}
	}
	_, err := store.Incr(t.Context(), batch)
	require.NoError(t, err)
	now, calls := store.sweepAt.Load(), 0
	for ; store.sweepAt.Load() <= now; calls++ {
		store.sweep(now)
	}
	require.Greater(t, calls, 1)
	require.LessOrEqual(t, calls, alive/sweepMoves)
}

func TestAShardIsNotSweptBeforeItsTime(t *testing.T) {
	sh, moves := shard{table: *filled(t, 8, "a:b:c:d:%d:x")}, sweepMoves
	sh.sweepAt = 100
	require.EqualValues(t, 100, sh.sweep(99, &moves))
	require.Len(t, sh.entries, 8)
	require.EqualValues(t, int64(never), sh.sweep(100, &moves))
	require.Empty(t, sh.entries)
}
