package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// How long a replay must take to show its progress, and how often it does.
const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
)

// A progress is one line on a terminal that says how far a replay is. A nil one is silent.
type progress struct {
	w     io.Writer
	since time.Time
	next  time.Time
	shown bool
	calls int
}

// newProgress returns nil unless w is a terminal.
func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return startProgress(w, time.Now())
}

func startProgress(w io.Writer, now time.Time) *progress {
	return &progress{w: w, since: now, next: now.Add(progressAfter)}
}

// show is called for each line; it looks at the clock for one in 256.
func (p *progress) show(in *input, c *counts) {
	if p == nil {
		return
	}
	if p.calls++; p.calls%256 == 0 {
		p.showAt(time.Now(), in, c)
	}
}

func (p *progress) showAt(now time.Time, in *input, c *counts) {
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(progressEvery)
	p.shown = true
	done := ""
	if in.size > 0 {
		done = percent(float64(in.read.Load())/float64(in.size)) + "  "
	}
	rate := float64(c.Edits) / now.Sub(p.since).Seconds()
	fmt.Fprintf(p.w, "\r\x1b[K%s%s edits  %s a second", done, thousands(float64(c.Edits)), thousands(rate))
}

// clear wipes the line, so that something else can be printed.
func (p *progress) clear() {
	if p == nil || !p.shown {
		return
	}
	p.shown = false
	fmt.Fprint(p.w, "\r\x1b[K")
}
