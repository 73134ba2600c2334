package limiter

import "sync"

// denials remembers the histories of counters in batches that were denied when they were read. A store's
// counts only grow, so that a history is the least that it has: what it denies, the store denies.
type denials struct {
	limit int // of known; 0 or less: nothing is remembered

	mu    sync.Mutex // guards known
	known map[counter]history
}

// recall returns what is remembered of a counter.
func (d *denials) recall(c counter) (h history, ok bool) {
	if d.limit <= 0 {
		return history{}, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	h, ok = d.known[c]
	return h, ok
}

// remember keeps the history of a counter. Where there are too many, one of the others is forgotten.
func (d *denials) remember(c counter, h history) {
	if d.limit <= 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil {
		d.known = make(map[counter]history)
	}
	for other := range d.known {
		if len(d.known) < d.limit || d.known[c].counts != nil {
			break
		}
		delete(d.known, other)
	}
	d.known[c] = h
}

// forget drops what is remembered of a counter, whose history has changed.
func (d *denials) forget(c counter) {
	if d.limit <= 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.known, c)
}
