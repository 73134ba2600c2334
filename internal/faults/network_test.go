package faults_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

func TestNetwork(t *testing.T) { runAll(t, networkScenarios(), true) }

// networkScenarios are what happens between a service and its servers, which know nothing of it.
func networkScenarios() []scenario {
	begin := func(f fault) func(*run) { return func(r *run) { r.network.set(f) } }
	heal := func(r *run) { r.network.heal() }
	hold := choose(time.Second, 10*time.Second)
	scenarios := []scenario{
		{
			name:   "connections are refused",
			inject: func(r *run) { r.network.set(fault{refuses: true}); r.network.reset() },
			heal:   heal, hold: hold,
		},
		{
			name:   "a black hole accepts, and never answers",
			inject: begin(fault{mute: true}),
			heal:   heal, hold: hold,
		},
		{
			name:   "replies come after the time-out",
			inject: begin(fault{late: 2 * timeout}),
			heal:   heal, hold: hold,
		},
		{
			name:   "connections are reset all the time",
			inject: func(r *run) { r.inBackground(func() { r.network.reset() }) },
			heal:   func(r *run) { r.endBackground(); r.network.heal() },
			hold:   hold,
		},
		{
			name:   "contexts are cancelled at random",
			inject: func(r *run) { r.inBackground(r.cancelSomething) },
			heal:   func(r *run) { r.endBackground() },
			hold:   hold,
		},
	}
	for what, bytes := range garbage {
		if !*long && what != "HTTP" && what != "ends of replies" {
			continue
		}
		scenarios = append(scenarios, scenario{
			name:   "a server answers garbage: " + what,
			inject: begin(fault{garbage: []byte(bytes)}),
			heal:   heal,
		})
	}
	return scenarios
}

// garbage is what servers answer that have lost their minds.
var garbage = map[string]string{
	"an empty line":   "\r\n",
	"HTTP":            "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
	"zeroes":          "\x00\x00\x00\x00\x00\x00\x00\x00",
	"ends of replies": "END\r\nEND\r\nMN\r\nMN\r\nHD\r\n+OK\r\n$-1\r\n*0\r\n",
}

// inBackground does something again and again, until endBackground.
func (r *run) inBackground(do func()) {
	r.stop = make(chan struct{})
	r.background.Go(func() {
		for {
			select {
			case <-r.stop:
				return
			case <-time.After(5 * time.Millisecond):
				do()
			}
		}
	})
}

func (r *run) endBackground() {
	close(r.stop)
	r.background.Wait()
}

// cancelSomething flushes, syncs or reads with a context that ends at any moment.
func (r *run) cancelSomething() {
	s := r.services[0]
	ctx, cancel := context.WithTimeout(context.Background(), rand.N(2*time.Millisecond))
	defer cancel()
	switch rand.N(3) {
	case 0:
		s.heard(s.writer.Flush(ctx))
	case 1:
		s.heard(s.writer.Sync(ctx))
	default:
		flushed := s.writer.Stats().Flushed
		var rates []wrstats.Rate
		rates, err := s.reader.Rates(ctx, queries())
		s.judge(rates, err, flushed)
	}
}
