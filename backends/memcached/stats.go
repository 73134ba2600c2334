package memcached

import (
	"sync/atomic"
)

// Stats is what a Store has done since it was made.
type Stats struct {
	Servers []ServerStats // those that were used, or are listed in Config.Servers
	Refused int64         // increments and keys that were wrong, and not sent
}

// ServerStats is what a Store has done with one server.
type ServerStats struct {
	Addr         string
	Commands     int64          // increments that were given to the network, and keys that were asked for or deleted
	Fences       int64          // ends of pieces of batches, sent
	InFlight     int64          // fences that are not answered yet
	Connections  int64          // made, all in all
	Reconnects   int64          // times that a connection for writing was made after the first
	BytesWritten int64          // to the connection; with TLS, before encryption
	BytesRead    int64          // from it
	Replies      map[Kind]int64 // how many of each kind came back
}

// counters are a ServerStats in the making.
type counters struct {
	commands, fences, inFlight, connections, reconnects, written, read atomic.Int64
	replies                                                            [kinds]atomic.Int64
	reported                                                           [kinds]atomic.Bool // to Config.OnError
}

func (c *counters) snapshot(addr string) ServerStats {
	s := ServerStats{
		Addr:         addr,
		Commands:     c.commands.Load(),
		Fences:       c.fences.Load(),
		InFlight:     c.inFlight.Load(),
		Connections:  c.connections.Load(),
		Reconnects:   c.reconnects.Load(),
		BytesWritten: c.written.Load(),
		BytesRead:    c.read.Load(),
		Replies:      make(map[Kind]int64),
	}
	for kind := range kinds {
		if n := c.replies[kind].Load(); n > 0 {
			s.Replies[kind] = n
		}
	}
	return s
}

// Stats returns a snapshot. It may be called at any time, also after Close.
func (s *Store) Stats() Stats {
	stats := Stats{Refused: s.refusals.count.Load()}
	for _, server := range s.directory.all() {
		stats.Servers = append(stats.Servers, server.counters.snapshot(server.addr.text))
	}
	return stats
}
