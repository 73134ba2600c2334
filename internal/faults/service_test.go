package faults_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

// secret is a part of each entity that is counted. It must not be in any error.
const secret = "tell-no-one"

const (
	counters = 20
	adders   = 2 // goroutines of a service
	patience = 60 * time.Second
	pace     = 3 * time.Millisecond // of those who count, for many to be at it at once
)

// A ledger knows what was added to each counter. It is written before the counter is, so that no count can
// be above it.
type ledger struct {
	added [counters]atomic.Int64
}

func (l *ledger) total() (sum int64) {
	for i := range l.added {
		sum += l.added[i].Load()
	}
	return sum
}

// A service is a process as far as the library knows: a store, a Writer, a Reader, and those who use them
// all the time.
type service struct {
	ledger *ledger
	stats  *wrstats.Stats
	writer *wrstats.Writer
	reader *wrstats.Reader
	close  func() error // of the store

	faulty  *atomic.Bool // the fault is on
	forgets bool         // servers forget in this scenario: a total may be too small
	stop    chan struct{}
	users   sync.WaitGroup
	adds    [adders]atomic.Int64 // so far, by goroutine
	reads   atomic.Int64         // that had an answer

	mu             sync.Mutex // guards what follows
	healthy, fault latencies
	wrong          []string // what broke a promise
	errs           map[string]error
}

// counted is what services count: all of it in one bucket, or two if the hour ends meanwhile.
var counted = []wrstats.Metric{{Name: "count", Sequences: []wrstats.Sequence{{Step: time.Hour, Retention: 2 * time.Hour}}}}

// entity is the i-th of those that are counted. What twemproxy hashes last decides little, so that the number
// is not at the end.
func entity(i int) wrstats.Entity { return wrstats.Local(secret, strconv.Itoa(i), "counter") }

// counterOf returns which entity a key is of.
func counterOf(key string) int {
	components := strings.Split(key, ":")
	i, _ := strconv.Atoi(components[len(components)-2])
	return i
}

func (r *run) newService(t testing.TB) *service {
	t.Helper()
	store, closeAll := r.site.open(t, r.network, r.timeout)
	s := &service{ledger: &r.ledger, close: closeAll, faulty: &r.faulty, forgets: r.forgets, stop: make(chan struct{}), errs: make(map[string]error)}
	var err error
	s.stats, err = wrstats.New(store, wrstats.Config{Prefix: r.prefix, Metrics: counted})
	require.NoError(t, err)
	s.reader = s.stats.NewReader()
	s.writer = s.stats.NewWriter(wrstats.WriterOptions{FlushInterval: 20 * time.Millisecond, FlushTimeout: time.Second, OnError: s.heard})
	for i := range adders {
		s.users.Go(func() { s.add(i) })
	}
	s.users.Go(s.read)
	return s
}

// heard keeps the first error of each text.
func (s *service) heard(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && len(s.errs) < 10_000 {
		s.errs[err.Error()] = err
	}
}

func (s *service) broke(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wrong) < 10 {
		s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
	}
}

// add counts until the service stops: by handle and by name.
func (s *service) add(adder int) {
	var healthy, fault latencies
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.healthy.join(&healthy)
		s.fault.join(&fault)
	}()
	for round := 0; ; round++ {
		select {
		case <-s.stop:
			return
		default:
		}
		own := &healthy
		if s.faulty.Load() {
			own = &fault
		}
		for i := range counters {
			if !s.addOne(own, i, int64(1+(round+i)%3)) {
				return
			}
		}
		s.adds[adder].Add(1)
		time.Sleep(pace)
	}
}

func (s *service) addOne(own *latencies, i int, v int64) bool {
	s.ledger.added[i].Add(v)
	began := time.Now()
	err := s.writer.Add("count", entity(i), float64(v))
	own.add(time.Since(began))
	if err == nil {
		return true
	}
	s.ledger.added[i].Add(-v)
	if !errors.Is(err, wrstats.ErrClosed) {
		s.broke("Add: %v", err)
	}
	return false
}

// queries ask for every counter.
func queries() (qs []wrstats.Query) {
	for i := range counters {
		qs = append(qs, wrstats.Query{Metric: "count", Entity: entity(i), Span: wrstats.LastWindows(2)})
	}
	return qs
}

// read reads until the service stops, and judges each answer.
func (s *service) read() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { <-s.stop; cancel() }()
	for ctx.Err() == nil {
		flushed := s.writer.Stats().Flushed
		rates, err := s.reader.Rates(ctx, queries())
		s.heard(err)
		s.judge(rates, err, flushed)
		time.Sleep(2 * pace)
	}
}

// judge requires that an answer is right, or says that something is missing, or is an error; and that it is
// never above the truth. flushed is what was confirmed before it was asked for.
func (s *service) judge(rates []wrstats.Rate, err error, flushed float64) {
	if err == nil || errors.Is(err, wrstats.ErrPartial) {
		s.reads.Add(1)
	}
	switch {
	case len(rates) == 0 && err != nil:
		return
	case len(rates) != counters:
		s.broke("%d rates for %d queries, and the error %v", len(rates), counters, err)
		return
	case err != nil && !errors.Is(err, wrstats.ErrPartial):
		s.broke("rates with an error that is not ErrPartial: %v", err)
	}
	var sum float64
	complete := err == nil
	for i, rate := range rates {
		sum += rate.Total
		complete = complete && rate.Missing() < len(rate.Windows)
		if most := s.ledger.added[i].Load(); rate.Total > float64(most) {
			s.broke("counter %d read as %v, of which %d were added", i, rate.Total, most)
		}
	}
	if complete && !s.forgets && sum < flushed {
		s.broke("all counters read as %v with nothing missing, after %v were confirmed", sum, flushed)
	}
}

// rest stops those who use the service.
func (s *service) rest() {
	close(s.stop)
	s.users.Wait()
}

// end closes the service, while it is used, within the time given. It is said whether Close returned at all.
func (s *service) end(within time.Duration) (ended bool) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.heard(s.writer.Close(ctx))
		s.rest()
		if err := s.close(); err != nil {
			s.broke("the store's Close: %v", err)
		}
	}()
	select {
	case <-done:
		return true
	case <-time.After(within + patience):
		return false
	}
}

// tells says whether a text holds what it must not.
func tells(text, prefix string) bool {
	return strings.Contains(text, secret) || strings.Contains(text, prefix)
}
