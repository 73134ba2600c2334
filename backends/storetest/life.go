package storetest

import (
	"context"
	"errors"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

var lifeRules = []Rule{{
	Name:     "context-done-incr",
	Sentence: "An Incr whose context is already done applies nothing and returns a NotSentError of the whole batch, which wraps the context's error.",
	check: func(t *trial) {
		a := t.key("a")
		t.add(a, 5)
		batch := []wrstats.Increment{{Key: a, Delta: 1, TTL: hour}, {Key: t.key("b"), Delta: 1, TTL: hour}}
		_, err := t.store.Incr(done(), batch)
		require.ErrorIs(t, err, context.Canceled)
		requireUnsent(t, err, batch)
		require.Equal(t, []wrstats.Value{found(5), {}}, t.get(a, t.key("b")))
	},
}, {
	Name:     "context-done-get",
	Sentence: "A Get whose context is already done returns no values and the context's error.",
	check: func(t *trial) {
		t.add(t.key("a"), 5)
		values, err := t.store.Get(done(), []string{t.key("a")})
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, values)
	},
}, {
	Name:     "context-done-delete",
	Sentence: "A Delete whose context is already done removes nothing and returns the context's error.",
	check: func(t *trial) {
		t.add(t.key("a"), 5)
		require.ErrorIs(t, t.store.Delete(done(), []string{t.key("a")}), context.Canceled)
		t.holds(t.key("a"), 5)
	},
}, {
	Name:     "closed",
	Sentence: "After Close, Incr, Get and Delete return errors that wrap ErrClosed; Incr's is a NotSentError of the whole batch.",
	check: func(t *trial) {
		t.add(t.key("a"), 5)
		require.NoError(t, t.store.Close())
		batch := increments(t.numbered(3))
		_, err := t.store.Incr(t.context(), batch)
		require.ErrorIs(t, err, wrstats.ErrClosed, "Incr")
		requireUnsent(t, err, batch)
		_, err = t.store.Get(t.context(), t.numbered(3))
		require.ErrorIs(t, err, wrstats.ErrClosed, "Get")
		require.ErrorIs(t, t.store.Delete(t.context(), t.numbered(3)), wrstats.ErrClosed, "Delete")
	},
}, {
	Name:     "close-twice",
	Sentence: "Close is idempotent: the second returns nil.",
	check: func(t *trial) {
		require.NoError(t, t.store.Close())
		require.NoError(t, t.store.Close())
	},
}, {
	Name:     "close-at-any-time",
	Sentence: "Close may run at the same time as all other calls: those end, and later ones return ErrClosed.",
	check:    checkClose,
}}

func requireUnsent(t *trial, err error, batch []wrstats.Increment) {
	t.Helper()
	var unsent *wrstats.NotSentError
	require.ErrorAs(t, err, &unsent)
	require.ElementsMatch(t, batch, unsent.Batch, "what was not sent")
}

func done() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func checkClose(t *trial) {
	ctx, keys := t.context(), t.numbered(50)
	calls := []func() error{
		func() error { return incrAndWait(ctx, t.store, increments(keys)) },
		func() error { _, err := t.store.Get(ctx, keys); return err },
		func() error { return t.store.Delete(ctx, keys) },
	}
	var group, begun sync.WaitGroup
	errs, closed := make([]error, 2*len(calls)), make([]error, 2)
	begun.Add(len(errs))
	for i := range errs {
		group.Go(func() { errs[i] = untilClosed(calls[i%len(calls)], begun.Done) })
	}
	begun.Wait()
	for i := range closed {
		group.Go(func() { closed[i] = t.store.Close() })
	}
	group.Wait()
	require.NoError(t, errors.Join(closed...))
	for _, err := range errs {
		require.ErrorIs(t, err, wrstats.ErrClosed, "the last of many calls")
	}
}

// incrAndWait returns what Incr returns; what became of the batch is not asked.
func incrAndWait(ctx context.Context, store wrstats.Store, batch []wrstats.Increment) error {
	receipt, err := store.Incr(ctx, batch)
	if receipt != nil {
		_, _ = receipt.Wait(ctx)
	}
	return err
}

// untilClosed repeats a call until it says ErrClosed, or has failed otherwise too often: those that
// are cut off by Close may. It tells begun of the first call's end.
func untilClosed(call func() error, begun func()) (err error) {
	begun = sync.OnceFunc(begun)
	defer begun()
	defer func() {
		if recover() != nil {
			err = errPanicked
		}
	}()
	for failed := 0; failed < 100; {
		err = call()
		begun()
		if errors.Is(err, wrstats.ErrClosed) {
			return err
		}
		if err != nil {
			failed++
		}
	}
	return err
}
