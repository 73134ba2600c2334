package main

import (
	"context"
	"sync/atomic"
	"time"
)

// A pace makes edit time pass at a speed, and tells others which time it is. It is for one goroutine, but for now.
// A nil one does not wait.
type pace struct {
	speed float64   // edit time to real time; 0: as fast as can be
	since time.Time // real time of the first edit
	first time.Time // edit
	at    atomic.Pointer[time.Time]
}

// wait waits until it is an edit's time, and says whether it came to that before ctx ended.
func (p *pace) wait(ctx context.Context, edit time.Time) bool {
	if p == nil {
		return true
	}
	if p.first.IsZero() {
		p.first, p.since = edit, time.Now()
	}
	if p.speed > 0 {
		due := p.since.Add(time.Duration(float64(edit.Sub(p.first)) / p.speed))
		if !sleep(ctx, time.Until(due)) {
			return false
		}
	}
	if at := p.at.Load(); at == nil || edit.After(*at) {
		p.at.Store(&edit)
	}
	return true
}

// now is the time of the newest edit, or, before the first, the time that it is.
func (p *pace) now() time.Time {
	if at := p.at.Load(); at != nil {
		return *at
	}
	return time.Now()
}

// sleep says whether it slept to the end.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
