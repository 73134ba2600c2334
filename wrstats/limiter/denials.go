package limiter

import (
	"sync"
	"time"
)

// denials remembers the histories of counters that were over their limit when they were read. A store's
// counts only grow, so that a history is the least that it has: what it denies, the store denies.
type denials struct {
	limit int // of known; 0 or less: nothing is remembered

	mu    sync.Mutex // guards known
	known map[counter]history
}

// deny judges a claim by what is remembered; denied is false where the store has to be asked.
func (d *denials) deny(c *claim, now time.Time) (h history, denied bool) {
	if d.limit <= 0 {
		return history{}, false
	}
	d.mu.Lock()
	h, ok := d.known[c.counter]
	d.mu.Unlock()
	return h, ok && !c.fits(h.rolling(c.rule, now))
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
