package faults_test

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
)

// check holds what is left after a run against everything that is promised, and files it.
func (r *run) check() {
	r.Helper()
	stored, endless := r.stored()
	sum := r.balance()
	file := r.row(stored, sum)
	defer func() {
		if r.Failed() {
			file.verdict = "BROKEN"
		}
		results.add(file)
	}()

	for i := range counters {
		require.LessOrEqual(r, stored[i], r.ledger.added[i].Load(), "counter %d: stored, and added", i)
	}
	r.checkLosses(stored, sum)
	require.Empty(r, endless, "keys without an end")
	for _, s := range r.services {
		require.Empty(r, s.wrong)
		for text := range s.errs {
			require.False(r, tells(text, r.prefix), "an error that holds a key: %s", text)
		}
	}
	r.until("the goroutines have ended", func() bool {
		r.network.close()
		return len(labelled(r.label)) == 0
	})
}

// stored returns what the servers hold of each counter, and the keys that have no end.
func (r *run) stored() (stored [counters]int64, endless []string) {
	for _, server := range append(slices.Clone(r.site.servers), r.extra...) {
		if slices.Contains(r.dead, server) {
			continue
		}
		for _, rec := range r.site.dump(r, server, r.prefix) {
			stored[counterOf(rec.key)] += rec.n
			if rec.endless {
				endless = append(endless, rec.key)
			}
		}
	}
	return stored, endless
}

// orphan notes the counters of a server that is about to go for good.
func (r *run) orphan(server *servertest.Server) {
	r.dead = append(r.dead, server)
	for _, rec := range r.site.dump(r, server, r.prefix) {
		r.orphans[counterOf(rec.key)] = true
	}
}

// balance adds the Writers' accounts up, and requires that they are balanced and closed.
func (r *run) balance() (sum wrstats.WriterStats) {
	for _, s := range r.services {
		a := s.writer.Stats()
		require.Equal(r, a.Added, a.Flushed+a.Lost+a.Dropped+a.Pending, "the account of a Writer")
		require.Zero(r, a.Pending, "pending after Close")
		sum.Added += a.Added
		sum.Flushed += a.Flushed
		sum.Lost += a.Lost
		sum.Dropped += a.Dropped
	}
	require.EqualValues(r, r.ledger.total(), sum.Added, "what Writers say was added")
	return sum
}

// checkLosses requires that whatever is not stored was said to be lost or dropped; or was forgotten by
// servers, of which no Writer can know.
func (r *run) checkLosses(stored [counters]int64, sum wrstats.WriterStats) {
	var there, added int64
	for i := range counters {
		if !r.orphans[i] {
			there += stored[i]
			added += r.ledger.added[i].Load()
		}
	}
	told := there + r.before + int64(sum.Lost) + int64(sum.Dropped)
	require.GreaterOrEqual(r, told, added, "stored %d, lost %v, dropped %v, forgotten at most %d", there, sum.Lost, sum.Dropped, r.before)
}

func (r *run) row(stored [counters]int64, sum wrstats.WriterStats) row {
	file := row{scenario: r.name, backend: r.site.name, added: sum.Added, lost: sum.Lost, dropped: sum.Dropped, verdict: "held" + r.note}
	for i := range counters {
		file.stored += float64(stored[i])
	}
	for _, s := range r.services {
		file.healthy.join(&s.healthy)
		file.fault.join(&s.fault)
	}
	return file
}
