package faults_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/internal/servertest"
)

// A scenario is one thing that goes wrong.
type scenario struct {
	name    string
	inject  func(r *run) // begins the fault
	heal    func(r *run) // ends it; nil: nobody ever does
	hold    time.Duration
	servers int // 0: 1
	args    map[kind][]string
	forgets bool                 // servers lose what they had
	on      func(b backend) bool // nil: all
}

// A run is a scenario on a backend: two services that count all the time, one of which is closed in the
// midst of the fault.
type run struct {
	testing.TB
	scenario
	site       *site
	network    *network
	timeout    time.Duration
	label      string // of all goroutines that it begins
	prefix     string
	ledger     ledger
	faulty     atomic.Bool
	before     int64                // what the ledger said when the servers had forgotten
	dead       []*servertest.Server // that don't come back
	orphans    map[int]bool         // counters that were on them
	extra      []*servertest.Server // that have counters, too
	services   [2]*service
	hogs       []net.Conn
	stop       chan struct{} // of what is done in the background
	background sync.WaitGroup
	note       string // for the table
}

// runAll runs scenarios on all backends, side by side. Those that share servers do no harm to them.
func runAll(t *testing.T, scenarios []scenario, share bool) {
	skipShort(t)
	t.Parallel()
	for _, b := range backends {
		var shared *site
		if share {
			shared = b.start(t, 1)
		}
		for _, s := range scenarios {
			if s.on != nil && !s.on(b) {
				continue
			}
			t.Run(s.name+"/"+b.name, func(t *testing.T) {
				t.Parallel()
				label := rand.Text()
				pprof.Do(t.Context(), pprof.Labels("faults", label), func(context.Context) { s.run(t, b, shared, label) })
			})
		}
	}
}

func (s scenario) run(t *testing.T, b backend, shared *site, label string) {
	r := &run{TB: t, scenario: s, site: shared, timeout: timeout, label: label, prefix: "faults-" + label[:12], orphans: make(map[int]bool)}
	if r.site == nil {
		r.site = b.start(t, max(1, s.servers), s.args[b.kind]...)
	}
	r.network = newNetwork(t)
	for i := range r.services {
		r.services[i] = r.newService(t)
	}
	r.countOn(50, r.services[:]...)
	r.until("something is confirmed and read", func() bool {
		return r.services[0].writer.Stats().Flushed > 0 && r.services[1].writer.Stats().Flushed > 0 && r.services[0].reads.Load() > 0
	})
	r.faulty.Store(true)
	began := time.Now()
	s.inject(r)
	r.countOn(30, r.services[:]...)
	ended := r.services[1].end(5 * time.Second)
	require.True(t, ended, "Close does not return")
	r.countOn(100, r.services[0])
	time.Sleep(time.Until(began.Add(s.hold)))
	if s.heal != nil {
		s.heal(r)
	}
	r.faulty.Store(false)
	if s.heal != nil {
		r.recover()
	}
	require.True(t, r.services[0].end(patience), "Close does not return")
	r.check()
}

// countOn waits until all who count have done so many rounds more, whatever the servers do.
func (r *run) countOn(rounds int64, services ...*service) {
	r.Helper()
	var want [2][adders]int64
	for i, s := range services {
		for j := range s.adds {
			want[i][j] = s.adds[j].Load() + rounds
		}
	}
	r.until("Add goes on", func() bool {
		for i, s := range services {
			for j := range s.adds {
				if s.adds[j].Load() < want[i][j] {
					return false
				}
			}
		}
		return true
	})
}

// until waits for a condition.
func (r *run) until(what string, holds func() bool) {
	r.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			require.FailNow(r, "not in "+patience.String()+": "+what, "errors so far: %v\ngoroutines: %v", r.errors(), labelled(r.label))
		}
	}
}

func (r *run) errors() (texts []string) {
	for _, s := range r.services {
		s.mu.Lock()
		for text := range s.errs {
			texts = append(texts, text)
		}
		s.mu.Unlock()
	}
	return texts
}

// recover requires that there is a flush and a read that are right, soon after the fault has ended: one more
// in each counter is one more in each answer.
func (r *run) recover() {
	r.Helper()
	s := r.services[0]
	s.rest()
	s.stop = make(chan struct{}) // for end
	why := "nothing was tried"
	for deadline := time.Now().Add(patience); why != ""; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			require.FailNow(r, "no flush and read are right", why)
		}
		why = r.oneMore(s)
	}
}

// oneMore returns what was wrong.
func (r *run) oneMore(s *service) (why string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.writer.Sync(ctx); err != nil {
		return fmt.Sprintf("sync: %v", err)
	}
	before, err := s.reader.Rates(ctx, queries())
	if err != nil {
		return fmt.Sprintf("read: %v", err)
	}
	for i := range counters {
		s.ledger.added[i].Add(1)
		if err := s.writer.Add("count", entity(i), 1); err != nil {
			return fmt.Sprintf("add: %v", err)
		}
	}
	if err := s.writer.Sync(ctx); err != nil {
		return fmt.Sprintf("sync: %v", err)
	}
	after, err := s.reader.Rates(ctx, queries())
	if err != nil {
		return fmt.Sprintf("read: %v", err)
	}
	for i := range counters {
		if after[i].Total != before[i].Total+1 {
			return fmt.Sprintf("counter %d was %v, and 1 more is %v", i, before[i].Total, after[i].Total)
		}
	}
	return ""
}

// labelled returns the stacks of the goroutines that a run has begun, but for its own and its servers'.
func labelled(label string) (stacks []string) {
	var profile strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&profile, 1)
	for _, stack := range strings.Split(profile.String(), "\n\n") {
		own := strings.Contains(stack, "faults_test.labelled") || strings.Contains(stack, "os/exec.")
		if strings.Contains(stack, label) && !own && !strings.Contains(stack, "servertest.") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
