package memcached

import (
	"net"
	"slices"
	"strings"

	"github.com/bradfitz/gomemcache/memcache"
)

// A placer is a selector of our own: it knows its servers by number, and places a key without an
// allocation. The caller lends scratch.
type placer interface {
	memcache.ServerSelector
	place(key string, scratch []byte) int // of servers; there is at least one
	servers() []address
	check() error // what was wrong with what it was made of
}

// CRC32 returns the default selector: it places keys as gomemcache's ServerList does that is given the
// same servers in sorted order, by the CRC-32 of the key modulo their number. It sorts them itself, so
// that every process places alike, however its list is ordered. To share counters with users of a
// ServerList that is not sorted, pass that very list as [Config.Selector].
//
// Names are resolved when they are dialled. A server that is listed twice gets twice as many keys.
// A wrong address is an error of [New], and of all methods of the selector.
func CRC32(servers ...string) memcache.ServerSelector {
	addrs, err := parseAddresses(servers)
	slices.SortFunc(addrs, func(a, b address) int { return strings.Compare(a.text, b.text) })
	return &crcSelector{roster{addrs, err}}
}

type crcSelector struct{ roster }

func (s *crcSelector) place(key string, scratch []byte) int {
	if len(s.addrs) == 1 {
		return 0
	}
	sum := checksum(key, scratch)
	return int(sum % uint32(len(s.addrs)))
}

// PickServer returns the server of a key.
func (s *crcSelector) PickServer(key string) (net.Addr, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.addrs[s.place(key, nil)], nil
}

// A roster is the servers of a selector.
type roster struct {
	addrs []address
	err   error
}

func (r *roster) servers() []address { return r.addrs }

func (r *roster) check() error {
	if r.err != nil {
		return r.err
	}
	if len(r.addrs) == 0 {
		return memcache.ErrNoServers
	}
	return nil
}

// Each calls f with every server until it returns an error.
func (r *roster) Each(f func(net.Addr) error) error {
	if r.err != nil {
		return r.err
	}
	for _, addr := range r.addrs {
		if err := f(addr); err != nil {
			return err
		}
	}
	return nil
}
