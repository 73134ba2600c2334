package memcached

import "github.com/wrstats/go-wrstats/wrstats"

var _ wrstats.Measured = (*Store)(nil)

// serverMeasures are those that each server has.
var serverMeasures = [...]struct {
	name, help string
	gauge      bool
	of         func(*ServerStats) int64
}{
	{"memcached_commands", "Increments that were given to the network, and keys that were asked for or deleted.", false,
		func(s *ServerStats) int64 { return s.Commands }},
	{"memcached_fences", "Ends of pieces of batches, sent for the server to confirm.", false,
		func(s *ServerStats) int64 { return s.Fences }},
	{"memcached_pending_fences", "Fences that the server has not answered yet.", true,
		func(s *ServerStats) int64 { return s.InFlight }},
	{"memcached_connections", "Connections that were made.", false,
		func(s *ServerStats) int64 { return s.Connections }},
	{"memcached_reconnects", "Connections for writing that were made after the first.", false,
		func(s *ServerStats) int64 { return s.Reconnects }},
	{"memcached_written_bytes", "Bytes written to connections; with TLS, before encryption.", false,
		func(s *ServerStats) int64 { return s.BytesWritten }},
	{"memcached_read_bytes", "Bytes read from connections.", false,
		func(s *ServerStats) int64 { return s.BytesRead }},
}

// Measures returns what [Store.Stats] does, for each server by its address.
func (s *Store) Measures() []wrstats.Measure {
	stats := s.Stats()
	var measures []wrstats.Measure
	for _, of := range serverMeasures {
		m := wrstats.Measure{Name: of.name, Help: of.help, Gauge: of.gauge, Labels: []string{"server"}}
		for i := range stats.Servers {
			server := &stats.Servers[i]
			m.Values = append(m.Values, measured(of.of(server), server.Addr))
		}
		measures = append(measures, m)
	}
	return append(measures, stats.replies(), wrstats.Measure{
		Name:   "memcached_refused_keys",
		Help:   "Increments and keys that were wrong, and not sent.",
		Values: []wrstats.MeasuredValue{measured(stats.Refused)},
	})
}

func (s Stats) replies() wrstats.Measure {
	m := wrstats.Measure{
		Name:   "memcached_replies",
		Help:   "Replies of the server by kind.",
		Labels: []string{"server", "kind"},
	}
	for _, server := range s.Servers {
		for kind := range kinds {
			m.Values = append(m.Values, measured(server.Replies[kind], server.Addr, kind.String()))
		}
	}
	return m
}

func measured(n int64, labels ...string) wrstats.MeasuredValue {
	return wrstats.MeasuredValue{Labels: labels, Value: float64(n)}
}
