package redis

import "github.com/wrstats/go-wrstats/wrstats"

var _ wrstats.Measured = (*Store)(nil)

// Measures returns what [Store.Stats] does.
func (s *Store) Measures() []wrstats.Measure {
	stats := s.Stats()
	errors := wrstats.Measure{
		Name:   "redis_errors",
		Help:   "Errors by kind: calls to a server, or increments and keys where it is theirs.",
		Labels: []string{"kind"},
	}
	for kind := range kinds {
		errors.Values = append(errors.Values, measured(stats.Errors[kind], kind.String()))
	}
	return []wrstats.Measure{
		measure("redis_sent_increments", "Increments that were given to the network.", stats.Sent),
		measure("redis_unsent_increments", "Increments that came back as not sent.", stats.Unsent),
		measure("redis_failed_increments", "Increments that are lost: refused, or sent and not answered.", stats.Failed),
		measure("redis_read_keys", "Keys that were asked for.", stats.Read),
		measure("redis_deleted_keys", "Keys that were deleted, or were not there.", stats.Deleted),
		errors,
	}
}

func measure(name, help string, n int64) wrstats.Measure {
	return wrstats.Measure{Name: name, Help: help, Values: []wrstats.MeasuredValue{measured(n)}}
}

func measured(n int64, labels ...string) wrstats.MeasuredValue {
	return wrstats.MeasuredValue{Labels: labels, Value: float64(n)}
}
