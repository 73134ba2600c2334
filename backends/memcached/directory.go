package memcached

import (
	"errors"
	"sync"
)

// A directory is the servers that a Store has met. Each has a number.
type directory struct {
	mu      sync.RWMutex // guards what follows
	servers []*server
	numbers map[address]int32
}

// number returns the number of the server at addr, and makes it if it is new.
func (d *directory) number(store *Store, addr address) int32 {
	d.mu.RLock()
	n, known := d.numbers[addr]
	d.mu.RUnlock()
	if known {
		return n
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if n, known := d.numbers[addr]; known {
		return n
	}
	if d.numbers == nil {
		d.numbers = make(map[address]int32)
	}
	n = int32(len(d.servers))
	d.numbers[addr] = n
	d.servers = append(d.servers, newServer(store, addr))
	return n
}

// all returns the servers by number. The slice is only ever appended to.
func (d *directory) all() []*server {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.servers
}

// A locator finds the server of a key.
type locator struct {
	placer  placer // nil: the selector is a stranger
	numbers []int32
}

var errNoAddress = errors.New("wrstats: memcached: the Selector picked no address")

// locate returns the number of a key's server. scratch is lent.
func (s *Store) locate(key string, scratch []byte) (int32, error) {
	if s.placer != nil {
		return s.numbers[s.placer.place(key, scratch)], nil
	}
	addr, err := s.config.Selector.PickServer(key)
	if err != nil {
		return nowhere, err
	}
	if addr == nil {
		return nowhere, errNoAddress
	}
	return s.directory.number(s, address{addr.Network(), addr.String()}), nil
}

// introduce enters the servers of a selector of our own.
func (s *Store) introduce() {
	own, ok := s.config.Selector.(placer)
	if !ok {
		return
	}
	s.placer = own
	for _, addr := range own.servers() {
		s.numbers = append(s.numbers, s.directory.number(s, addr))
	}
}
