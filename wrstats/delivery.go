package wrstats

import (
	"context"
	"fmt"
	"slices"
)

// A delivery is a batch that was handed over, until its Receipt tells what became of it.
type delivery struct {
	receipt Receipt
	units   int64
	release func()        // of its slot
	done    chan struct{} // closed when err is set
	err     error
}

// track gives a delivery to the goroutine that follows them. There is room: it has a slot.
func (s *sender) track(d *delivery) {
	s.buffer.record(func(a *account) { a.flushes++ })
	s.mu.Lock()
	s.open = append(s.open, d)
	s.mu.Unlock()
	s.handed <- d
}

// follow waits for one delivery after the other.
func (s *sender) follow() {
	for d := range s.handed {
		lost, err := d.receipt.Wait(s.ctx)
		s.confirm(d, min(max(lost, 0), d.units), err)
		d.release()
		if d.err != nil {
			s.report(s.failed(d.err))
		}
	}
}

// confirm files what became of a delivery.
func (s *sender) confirm(d *delivery, lost int64, err error) {
	s.buffer.record(func(a *account) { a.arrived(d.units-lost, lost) })
	if err != nil || lost > 0 {
		d.err = lostError{lost, err}
	}
	s.mu.Lock()
	s.open = slices.DeleteFunc(s.open, func(o *delivery) bool { return o == d })
	s.mu.Unlock()
	close(d.done)
}

// wait blocks until all that is open now is confirmed, and last, which may be confirmed already, if it is
// not nil. It returns the first error of them.
func (s *sender) wait(ctx context.Context, last *delivery) error {
	s.mu.Lock()
	open := slices.Clone(s.open)
	s.mu.Unlock()
	if last != nil && !slices.Contains(open, last) {
		open = append(open, last)
	}
	var first error
	for _, d := range open {
		select {
		case <-d.done:
		case <-ctx.Done():
			return fmt.Errorf("wrstats: waiting for the store to confirm: %w", ctx.Err())
		}
		if first == nil {
			first = d.err
		}
	}
	return first
}

// lostError says that a batch that was handed over is lost in part or whole.
type lostError struct {
	units int64
	err   error // nil: the store gave no reason
}

func (e lostError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("wrstats: %d units of a batch are lost", e.units)
	}
	return fmt.Sprintf("wrstats: %d units of a batch are lost: %v", e.units, e.err)
}

func (e lostError) Unwrap() error { return e.err }
