package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/wrstats/go-wrstats/wrstats/profile"
)

// errNoEdits says why an input that was read to its end has no edit, or returns nil. An empty one is an
// error unless there is something else to show: what others stored, as of -at or on the pages.
func errNoEdits(name string, c *counts, opts *options) error {
	switch {
	case c.Interrupted || c.Edits > 0 || c.Late > 0:
		return nil
	case c.Lines == 1:
		return fmt.Errorf("%s: its one line is no edit", name)
	case c.Lines > 1:
		return fmt.Errorf("%s: none of its %s lines is an edit", name, thousands(float64(c.Lines)))
	case !opts.at.IsZero() || opts.serve != "":
		return nil
	}
	return fmt.Errorf("%s is empty", name)
}

// An extent is the time from the oldest to the newest edit of an input. A zero one has none.
type extent struct{ from, to time.Time }

func (e *extent) add(at time.Time) {
	if e.from.IsZero() || at.Before(e.from) {
		e.from = at
	}
	if at.After(e.to) {
		e.to = at
	}
}

// String leaves the date out where it is the same.
func (e extent) String() string {
	if e.from.IsZero() {
		return "no edit"
	}
	to := e.to.Format(time.DateTime)
	if e.from.Format(time.DateOnly) == e.to.Format(time.DateOnly) {
		to = e.to.Format(time.TimeOnly)
	}
	return e.from.Format(time.DateTime) + " to " + to
}

// hintAt says where the edits of the input are when the profile as of -at has none, or returns "".
func hintAt(r *report, input extent) string {
	if slices.ContainsFunc(r.Groups, func(g profile.Group) bool { return g.Actions > 0 }) {
		return ""
	}
	return fmt.Sprintf("no edit in the %s before %s; the input has %s", span(r.Window), r.At.Format(time.RFC3339), input)
}
