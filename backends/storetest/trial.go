package storetest

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

const (
	hour     = time.Hour
	patience = time.Minute // how long one call, or the confirmation of one batch, may take
)

// A trial is one check of a rule: a test whose failures print the rule's sentence, a store, and keys
// of its own.
type trial struct {
	testing.TB
	sentence string
	store    wrstats.Store
	prefix   string
	sleep    func(time.Duration)
}

func newTrial(t testing.TB, s Suite, sentence string) *trial {
	t.Helper()
	tr := &trial{
		TB:       t,
		sentence: sentence,
		store:    s.Open(t),
		prefix:   "storetest:" + rand.Text()[:12] + ":",
		sleep:    s.Sleep,
	}
	if tr.sleep == nil {
		tr.sleep = time.Sleep
	}
	t.Cleanup(func() { _ = tr.store.Close() })
	return tr
}

// Errorf is what package require reports a failure with.
func (t *trial) Errorf(format string, args ...any) {
	t.TB.Helper()
	t.TB.Errorf("A store has to keep this rule:\n\t%s\n"+format, append([]any{t.sentence}, args...)...)
}

func (t *trial) key(name string) string { return t.prefix + name }

// numbered returns n keys.
func (t *trial) numbered(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("%s%d", t.prefix, i)
	}
	return keys
}

func (t *trial) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// incr applies a batch and waits for that.
func (t *trial) incr(batch ...wrstats.Increment) {
	t.Helper()
	ctx := t.context()
	receipt, err := t.store.Incr(ctx, batch)
	require.NoError(t, err, "Incr")
	if receipt == nil {
		return
	}
	lost, err := receipt.Wait(ctx)
	require.NoError(t, err, "Wait")
	require.Zero(t, lost, "Wait tells of lost increments")
}

// add increments one counter by delta for an hour.
func (t *trial) add(key string, delta int64) {
	t.Helper()
	t.incr(wrstats.Increment{Key: key, Delta: delta, TTL: hour})
}

func (t *trial) get(keys ...string) []wrstats.Value {
	t.Helper()
	values, err := t.store.Get(t.context(), keys)
	require.NoError(t, err, "Get")
	require.Len(t, values, len(keys), "Get returns one Value a key")
	return values
}

// remove deletes keys.
func (t *trial) remove(keys ...string) {
	t.Helper()
	require.NoError(t, t.store.Delete(t.context(), keys), "Delete")
}

// holds asserts that a counter is there and holds n.
func (t *trial) holds(key string, n int64) {
	t.Helper()
	require.Equal(t, found(n), t.get(key)[0], "the counter")
}

// lacks asserts that a counter is not there.
func (t *trial) lacks(key string) {
	t.Helper()
	require.Equal(t, wrstats.Value{}, t.get(key)[0], "the counter")
}

func found(n int64) wrstats.Value { return wrstats.Value{N: n, Found: true} }

// increments returns an increment of each key for an hour: the i-th by i+1.
func increments(keys []string) []wrstats.Increment {
	batch := make([]wrstats.Increment, len(keys))
	for i, key := range keys {
		batch[i] = wrstats.Increment{Key: key, Delta: int64(i + 1), TTL: hour}
	}
	return batch
}
