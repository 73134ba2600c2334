package limiter

import (
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

// A survey is what a round reads: of each counter the buckets that its requests need.
type survey struct {
	sightings []*sighting
	shared    map[counter][]*sighting // those of each counter; nil where the round has one request
	buckets   int                     // of all
}

// A sighting is the history of a counter from one bucket to another.
type sighting struct {
	counter
	history
	last int64 // bucket
}

// newSurvey plans what the requests need, and gives each claim the history that it is judged by.
func newSurvey(requests []*request) *survey {
	s := &survey{}
	if len(requests) > 1 {
		s.shared = make(map[counter][]*sighting)
	}
	for _, req := range requests {
		if !req.asks {
			continue
		}
		for i := range req.claims {
			c := &req.claims[i]
			c.history = &s.plan(c.counter, req.now).history
		}
	}
	for _, g := range s.sightings {
		s.buckets += g.width()
	}
	counts := make([]int64, s.buckets)
	for _, g := range s.sightings {
		g.counts, counts = counts[:g.width()], counts[g.width():]
	}
	return s
}

// plan returns the sighting that a counter is judged by at now. Those who ask at about the same time share
// it.
func (s *survey) plan(c counter, now time.Time) *sighting {
	first, last := c.rule.buckets(now)
	for _, g := range s.shared[c] {
		if g.first == first && g.last == last {
			return g
		}
	}
	g := &sighting{counter: c, history: history{first: first}, last: last}
	s.sightings = append(s.sightings, g)
	if s.shared != nil {
		s.shared[c] = append(s.shared[c], g)
	}
	return g
}

func (g *sighting) width() int { return int(g.last - g.first + 1) }

// fill takes the values of all buckets in.
func (s *survey) fill(values []wrstats.Value) {
	for _, g := range s.sightings {
		for i := range g.counts {
			g.counts[i] = max(0, values[i].N)
		}
		values = values[len(g.counts):]
	}
}

// add counts what was granted, for the requests of the round that are judged later.
func (s *survey) add(c counter, bucket, amount int64) {
	for _, g := range s.shared[c] {
		g.add(bucket, amount)
	}
}
