package faults_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

// perBatch is how many counters a small batch has.
const perBatch = 3

// mostBytes is more than any small batch, or the reply to one, with all that makes a connection.
const mostBytes = 4096

func TestEachByte(t *testing.T) {
	skipShort(t)
	t.Parallel()
	for _, b := range backends {
		shared := b.start(t, 1)
		t.Run("a connection is reset after each byte of a batch/"+b.name, func(t *testing.T) {
			t.Parallel()
			newBytesTest(t, shared).resetAfterEach("a connection is reset after each byte of a batch", choose(11, 1), func(cut *atomic.Int64) fault { return fault{cut: cut} })
		})
		t.Run("writing fails after each byte of a batch/"+b.name, func(t *testing.T) {
			t.Parallel()
			newBytesTest(t, shared).resetAfterEach("writing fails after each byte of a batch", choose(11, 1), func(cut *atomic.Int64) fault { return fault{fail: cut} })
		})
		t.Run("replies are cut in two at each byte/"+b.name, func(t *testing.T) {
			t.Parallel()
			newBytesTest(t, shared).cutAtEach(choose(17, 1))
		})
	}
}

// A bytesTest is many trials on one site, each with counters of its own.
type bytesTest struct {
	*testing.T
	site    *site
	network *network
	prefix  string
	sums    map[int]wrstats.WriterStats // by position
}

func newBytesTest(t *testing.T, s *site) *bytesTest {
	return &bytesTest{T: t, site: s, network: newNetwork(t), prefix: "bytes-" + rand.Text()[:12], sums: make(map[int]wrstats.WriterStats)}
}

// in calls f with the Stats of a new store.
func (t *bytesTest) in(f func(stats *wrstats.Stats)) {
	store, closeAll := t.site.open(t, t.network, patience)
	stats, err := wrstats.New(store, wrstats.Config{Prefix: t.prefix, Metrics: counted})
	require.NoError(t, err)
	f(stats)
	require.NoError(t, closeAll())
}

func trialEntity(position, i int) wrstats.Entity {
	return wrstats.Local(secret, strconv.Itoa(position), strconv.Itoa(i))
}

func (t *bytesTest) add(w *wrstats.Writer, position int, v float64) {
	for i := range perBatch {
		require.NoError(t, w.Add("count", trialEntity(position, i), v))
	}
}

// resetAfterEach breaks the connection when so many bytes of a batch have gone out: 0, each, and on until the
// batch is whole.
func (t *bytesTest) resetAfterEach(name string, each int, breaks func(after *atomic.Int64) fault) {
	whole := false
	for position := 0; !whole; position += each {
		require.Less(t, position, mostBytes)
		t.in(func(stats *wrstats.Stats) { whole = t.resetAfter(stats, position, breaks) })
	}
	var sum wrstats.WriterStats
	file := row{scenario: name, backend: t.site.name, verdict: fmt.Sprintf("held: at %d bytes", len(t.sums))}
	for position, stored := range t.stored() {
		a := t.sums[position]
		require.LessOrEqual(t, stored, a.Added, "reset after %d bytes", position)
		require.GreaterOrEqual(t, stored+a.Lost+a.Dropped, a.Added, "reset after %d bytes", position)
		sum.Added += a.Added
		file.added, file.stored, file.lost, file.dropped = sum.Added, file.stored+stored, file.lost+a.Lost, file.dropped+a.Dropped
	}
	results.add(file)
}

// resetAfter says whether the batch was whole.
func (t *bytesTest) resetAfter(stats *wrstats.Stats, position int, breaks func(after *atomic.Int64) fault) (whole bool) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
	t.add(w, position, 1)
	require.NoError(t, t.eventually(func() error { return w.Sync(ctx) }), "before any fault")

	cut := new(atomic.Int64)
	cut.Store(int64(position))
	t.network.set(breaks(cut))
	t.add(w, position, 2)
	err := w.Sync(ctx)
	if err != nil {
		require.False(t, tells(err.Error(), t.prefix), "%v", err)
	}
	t.network.set(fault{})
	whole = cut.Load() > 0
	require.True(t, !whole || err == nil, "nothing was cut, and yet: %v", err)
	require.NoError(t, t.eventually(func() error { return w.Sync(ctx) }), "after the fault")
	require.NoError(t, w.Close(ctx))
	t.sums[position] = w.Stats()
	return whole
}

// eventually calls f until it is happy: a server that failed is left alone for a while.
func (t *bytesTest) eventually(f func() error) (err error) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if err = f(); err == nil {
			return err
		}
	}
	return err
}

// stored returns what the servers hold, by position.
func (t *bytesTest) stored() map[int]float64 {
	stored := make(map[int]float64)
	for position := range t.sums {
		stored[position] = 0
	}
	for _, server := range t.site.servers {
		for _, rec := range t.site.dump(t, server, t.prefix) {
			require.False(t, rec.endless, "a key without an end")
			components := strings.Split(rec.key, ":")
			position, err := strconv.Atoi(components[len(components)-2])
			require.NoError(t, err)
			stored[position] += float64(rec.n)
		}
	}
	return stored
}

// cutAtEach requires that it makes no difference where a reply is cut in two, from the first one on.
func (t *bytesTest) cutAtEach(each int) {
	const most = 600
	var added float64
	for position := 1; position < most; position += each {
		t.network.set(fault{split: position})
		t.in(func(stats *wrstats.Stats) { added += t.cutAt(stats, position) })
	}
	file := row{scenario: "replies are cut in two at each byte", backend: t.site.name, added: added, verdict: "held"}
	for position, stored := range t.stored() {
		require.Equal(t, t.sums[position].Added, stored)
		file.stored += stored
	}
	results.add(file)
}

func (t *bytesTest) cutAt(stats *wrstats.Stats, position int) (added float64) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
	for round := range 2 {
		t.add(w, position, 1)
		require.NoError(t, w.Sync(ctx), "cut at %d", position)
		var qs []wrstats.Query
		for i := range perBatch {
			qs = append(qs, wrstats.Query{Metric: "count", Entity: trialEntity(position, i), Span: wrstats.LastWindows(2)})
		}
		rates, err := stats.NewReader().Rates(ctx, qs)
		require.NoError(t, err, "cut at %d", position)
		for _, rate := range rates {
			require.EqualValues(t, round+1, rate.Total, "cut at %d", position)
		}
	}
	require.NoError(t, w.Close(ctx))
	t.sums[position] = w.Stats()
	require.Equal(t, t.sums[position].Added, t.sums[position].Flushed)
	return t.sums[position].Added
}
