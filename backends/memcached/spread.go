package memcached

import "sync"

// spread calls f for each server that has items, at the same time, and waits for all. Those for which f
// is quick, if any, are done one by one on the caller's goroutine, which is cheaper.
func (s *Store) spread(p *plan, quick func(*server) bool, f func(server *server, order []int32)) {
	var others sync.WaitGroup
	defer others.Wait()
	left := p.busy()
	for number, server := range s.directory.all()[:len(p.ends)] {
		order := p.of(number)
		if len(order) == 0 {
			continue
		}
		if left--; left == 0 || quick != nil && quick(server) {
			f(server, order)
			continue
		}
		others.Go(func() { f(server, order) })
	}
}
