package memory

import "github.com/wrstats/go-wrstats/wrstats"

var _ wrstats.Measured = (*Store)(nil)

// Measures returns how many keys the Store holds: those that are alive, and those that have ended and are
// not freed yet. It takes a short lock for each shard.
func (s *Store) Measures() []wrstats.Measure {
	keys := 0
	for i := range s.shards {
		keys += s.shards[i].held()
	}
	return []wrstats.Measure{{
		Name:   "memory_keys",
		Help:   "Keys that are held, with those that have ended and are not freed yet.",
		Gauge:  true,
		Values: []wrstats.MeasuredValue{{Value: float64(keys)}},
	}}
}
