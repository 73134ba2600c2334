package storetest

import (
	"context"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

var countingRules = []Rule{{
	Name:     "first-increment-creates",
	Sentence: "The first increment of a key creates it: an absent key plus 1 reads 1, not absent.",
	check: func(t *trial) {
		t.lacks(t.key("a"))
		t.add(t.key("a"), 1)
		t.holds(t.key("a"), 1)
	},
}, {
	Name:     "deltas-add-up",
	Sentence: "The increments of a key add up, from batch to batch.",
	check: func(t *trial) {
		for _, delta := range []int64{1, 20, 300, 4000} {
			t.add(t.key("a"), delta)
		}
		t.holds(t.key("a"), 4321)
	},
}, {
	Name:     "delta-zero-creates",
	Sentence: "An increment of 0 creates a key that is Found and holds 0, and changes no key that exists.",
	check: func(t *trial) {
		t.add(t.key("a"), 0)
		t.holds(t.key("a"), 0)
		t.add(t.key("a"), 5)
		t.add(t.key("a"), 0)
		t.holds(t.key("a"), 5)
	},
}, {
	Name:     "large-deltas",
	Sentence: "A counter is exact up to 2^53 and a delta may be over 2^32.",
	check: func(t *trial) {
		t.add(t.key("a"), 1<<32+1)
		t.holds(t.key("a"), 4294967297)
		t.add(t.key("b"), 1<<53-1)
		t.add(t.key("b"), 1)
		t.holds(t.key("b"), 1<<53)
	},
}, {
	Name:     "key-twice-in-a-batch",
	Sentence: "A key may be in a batch several times: its deltas add up.",
	check: func(t *trial) {
		a, b := t.key("a"), t.key("b")
		t.incr(
			wrstats.Increment{Key: a, Delta: 1, TTL: hour},
			wrstats.Increment{Key: b, Delta: 10, TTL: hour},
			wrstats.Increment{Key: a, Delta: 2, TTL: hour},
			wrstats.Increment{Key: a, Delta: 4, TTL: hour},
		)
		require.Equal(t, []wrstats.Value{found(7), found(10)}, t.get(a, b))
	},
}, {
	Name:     "empty-batch",
	Sentence: "An empty batch does nothing and is no error.",
	check: func(t *trial) {
		t.incr()
		t.add(t.key("a"), 1)
		t.holds(t.key("a"), 1)
	},
}, {
	Name:     "batch-is-not-kept",
	Sentence: "Incr keeps nothing of the batch: the caller may change the slice when Incr has returned.",
	check:    checkNotKept,
}, {
	Name:     "receipt-then-readable",
	Sentence: "When the Receipt says so, or at once when it is nil, all of the batch can be read.",
	check: func(t *trial) {
		for i := range int64(50) {
			t.add(t.key("a"), 1)
			t.holds(t.key("a"), i+1)
		}
	},
}, {
	Name:     "wait-again",
	Sentence: "Wait of a Receipt may be called again and by several goroutines, and always tells the same.",
	check:    checkWaitAgain,
}, {
	Name:     "100000-keys",
	Sentence: "100,000 keys are written by one Incr and read by one Get.",
	large:    true,
	check: func(t *trial) {
		keys := t.numbered(100_000)
		t.incr(increments(keys)...)
		for i, v := range t.get(keys...) {
			if v != found(int64(i+1)) {
				require.Equal(t, found(int64(i+1)), v, "the counter number %d", i)
			}
		}
	},
}, {
	Name:     "400000-increments",
	Sentence: "400,000 increments in one Incr all count, and the call ends.",
	large:    true,
	check: func(t *trial) {
		keys := t.numbered(1000)
		batch := make([]wrstats.Increment, 0, 400_000)
		for i := range cap(batch) {
			batch = append(batch, wrstats.Increment{Key: keys[i%len(keys)], Delta: 1, TTL: hour})
		}
		t.incr(batch...)
		for _, v := range t.get(keys...) {
			require.Equal(t, found(400), v)
		}
	},
}, {
	Name:     "concurrent-counting",
	Sentence: "Many goroutines may count and read at once, and no increment is lost or counted twice.",
	check:    checkConcurrent,
}}

func checkNotKept(t *trial) {
	ctx := t.context()
	batch := []wrstats.Increment{{Key: t.key("a"), Delta: 1, TTL: hour}}
	receipt, err := t.store.Incr(ctx, batch)
	batch[0] = wrstats.Increment{Key: t.key("b"), Delta: 100, TTL: time.Second}
	require.NoError(t, err)
	if receipt != nil {
		_, err = receipt.Wait(ctx)
		require.NoError(t, err)
	}
	require.Equal(t, []wrstats.Value{found(1), {}}, t.get(t.key("a"), t.key("b")))
}

func checkWaitAgain(t *trial) {
	ctx := t.context()
	receipt, err := t.store.Incr(ctx, increments(t.numbered(10)))
	require.NoError(t, err)
	if receipt == nil {
		return
	}
	for _, o := range waitAtOnce(ctx, receipt, 4) {
		require.NoError(t, o.err)
		require.Zero(t, o.lost)
	}
	for range 2 {
		lost, err := receipt.Wait(ctx)
		require.NoError(t, err)
		require.Zero(t, lost)
	}
}

type outcome struct {
	lost int64
	err  error
}

func waitAtOnce(ctx context.Context, receipt wrstats.Receipt, n int) []outcome {
	outcomes := make([]outcome, n)
	var group sync.WaitGroup
	for i := range outcomes {
		group.Go(func() { outcomes[i].lost, outcomes[i].err = receipt.Wait(ctx) })
	}
	group.Wait()
	return outcomes
}

func checkConcurrent(t *trial) {
	const writers, rounds = 8, 100
	ctx, keys := t.context(), t.numbered(20)
	errs := make([]error, 2*writers)
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() { errs[i] = count(ctx, t.store, keys, rounds) })
		group.Go(func() { errs[writers+i] = watch(ctx, t.store, keys, rounds) })
	}
	group.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	for i, v := range t.get(keys...) {
		require.Equal(t, found(int64(i+1)*writers*rounds), v)
	}
}

// count increments the keys so many times, each time by increments.
func count(ctx context.Context, store wrstats.Store, keys []string, rounds int) error {
	for range rounds {
		receipt, err := store.Incr(ctx, increments(keys))
		if err != nil {
			return err
		}
		if receipt == nil {
			continue
		}
		if _, err := receipt.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// watch reads the keys so many times. Counters only grow.
func watch(ctx context.Context, store wrstats.Store, keys []string, rounds int) error {
	last := make([]int64, len(keys))
	for range rounds {
		values, err := store.Get(ctx, keys)
		if err != nil {
			return err
		}
		for i, v := range values {
			if v.N < last[i] {
				return errShrunk
			}
			last[i] = v.N
		}
	}
	return nil
}
