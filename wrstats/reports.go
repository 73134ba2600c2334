package wrstats

import (
	"context"
	"fmt"
)

// maxReports is how many errors may wait for OnError. More are left out.
const maxReports = 16

// Reports tell OnError of errors, on a goroutine of their own, so that nothing else waits for it.
type reports struct {
	errs chan error    // nil: nobody wants to hear
	done chan struct{} // closed when the goroutine has ended
}

func (r *reports) start(onError func(error)) {
	if onError == nil {
		return
	}
	r.errs, r.done = make(chan error, maxReports), make(chan struct{})
	go func() {
		defer close(r.done)
		for err := range r.errs {
			onError(err)
		}
	}()
}

func (r *reports) add(err error) {
	select {
	case r.errs <- err:
	default:
	}
}

// close waits until OnError has returned, for as long as ctx lasts. Nothing may be added any more.
func (r *reports) close(ctx context.Context) error {
	if r.errs == nil {
		return nil
	}
	close(r.errs)
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wrstats: close: OnError has not returned: %w", ctx.Err())
	}
}
