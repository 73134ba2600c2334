package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/wrstats/go-wrstats/timewindow"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile"
)

// maxReported is how many lines that don't parse are reported.
const maxReported = 5

// errInterrupted says that an interrupt ended the wait for an edit's time.
var errInterrupted = errors.New("interrupted")

// A replay evaluates all rules on each edit of an input and records their runs.
type replay struct {
	rules    *ruleSet
	profiler *profile.Profiler // nil: the rules are evaluated and not measured
	opts     options
	emit     func(at time.Time) error // prints the profile of an instant, for -every
	stderr   io.Writer
	progress *progress
	pace     *pace // nil: as fast as can be

	counts counts
	clock  time.Time // what durations are measured from
	oldest time.Time // edit
	newest time.Time
	seen   extent    // of all edits, those after -at too
	due    time.Time // when -every is next

	room room
}

// counts are what a replay counts itself. Each line is one of Edits, Skipped, Blank, Failed and Late.
type counts struct {
	Edits       int // evaluated
	Lines       int // read, but for one that an interrupt left
	Skipped     int // events that are no edits
	Blank       int // without an event: blank, or the framing of an event stream
	Failed      int // lines that don't parse
	Late        int // edits after -at
	Matches     int // of all rules on all edits
	Interrupted bool
	Elapsed     time.Duration
}

func newReplay(rules *ruleSet, profiler *profile.Profiler) *replay {
	return &replay{rules: rules, profiler: profiler, clock: time.Now(), stderr: io.Discard, room: newRoom(rules, wrstats.DefaultMaxPending)}
}

// all replays an input to its end, or to the end of ctx.
func (r *replay) all(ctx context.Context, in *input) error {
	start := time.Now()
	defer func() {
		r.counts.Elapsed = time.Since(start)
		r.progress.clear()
	}()
	for ctx.Err() == nil {
		line, err := in.lines.next()
		if errors.Is(err, io.EOF) {
			return in.ended()
		}
		if err != nil && !errors.Is(err, errLongLine) {
			return r.stopped(ctx, in, err)
		}
		err = r.line(ctx, in.lines.number, line, err)
		if errors.Is(err, errInterrupted) {
			break
		}
		if err != nil {
			return err
		}
		r.counts.Lines++
		r.progress.show(in, &r.counts)
	}
	r.counts.Interrupted = true
	return nil
}

// stopped tells an interrupt from a failure.
func (r *replay) stopped(ctx context.Context, in *input, err error) error {
	if ctx.Err() != nil {
		r.counts.Interrupted = true
		return nil
	}
	return in.failed(err)
}

// line replays one line, which failed to be read if err says so.
func (r *replay) line(ctx context.Context, number int, line []byte, err error) error {
	var edit Edit
	what := nothing
	if err == nil {
		what, err = decodeLine(line, &edit)
	}
	switch {
	case err != nil:
		return r.bad(number, err)
	case what == nothing:
		r.counts.Blank++
	case what == noEdit:
		r.counts.Skipped++
	case what == anEdit:
		return r.edit(ctx, &edit)
	}
	return nil
}

// bad counts a line that does not parse.
func (r *replay) bad(number int, err error) error {
	if r.opts.strict {
		return fmt.Errorf("line %d: %w", number, err)
	}
	r.counts.Failed++
	if r.counts.Failed <= maxReported {
		r.progress.clear()
		complain(r.stderr, fmt.Errorf("line %d: %w", number, err))
	}
	return nil
}

// edit evaluates one edit, unless it is after the instant of the profile.
func (r *replay) edit(ctx context.Context, edit *Edit) error {
	r.seen.add(edit.at)
	if !r.opts.at.IsZero() && edit.at.After(r.opts.at) {
		r.counts.Late++
		return nil
	}
	if !r.pace.wait(ctx, edit.at) {
		return errInterrupted
	}
	if err := r.pass(ctx, edit.at); err != nil {
		return err
	}
	if r.oldest.IsZero() || edit.at.Before(r.oldest) {
		r.oldest = edit.at
	}
	r.counts.Edits++
	r.makeRoom(ctx, edit.at)
	r.evaluate(edit)
	return nil
}

// makeRoom hands the buffer over before an edit for which it may have no room: a replay passes buckets
// faster than the Writer flushes. An error is not the replay's: the Writer's statistics have what was lost.
func (r *replay) makeRoom(ctx context.Context, at time.Time) {
	if r.profiler == nil || !r.room.take(timewindow.Index(at, r.opts.window/windowSteps)) {
		return
	}
	_ = r.profiler.Sync(ctx)
}

// pass moves the newest edit to at, and prints the profiles that fall due on the way. Those whose whole
// window holds no edit are passed over.
func (r *replay) pass(ctx context.Context, at time.Time) error {
	if !at.After(r.newest) {
		return nil
	}
	last := r.newest
	r.newest = at
	if r.opts.every <= 0 {
		return nil
	}
	for ; !last.IsZero() && !r.due.After(at) && !r.due.After(last.Add(r.opts.window)); r.due = r.due.Add(r.opts.every) {
		if ctx.Err() != nil {
			return nil // all tells of it
		}
		if err := r.emit(r.due); err != nil {
			return err
		}
	}
	r.due = timewindow.Start(timewindow.Index(at, r.opts.every)+1, r.opts.every)
	return nil
}

// evaluate runs all rules on an edit, each group as one action. It allocates nothing of its own.
func (r *replay) evaluate(edit *Edit) {
	for _, g := range r.rules.groups {
		if r.profiler == nil {
			r.run(g, edit)
			continue
		}
		r.measure(g, edit)
		r.profiler.RecordAt(edit.at, g.name, g.runs)
	}
}

// run evaluates a group.
func (r *replay) run(g *group, edit *Edit) {
	for _, rule := range g.rules {
		if matched, _ := r.rules.evaluate(rule, edit); matched {
			r.counts.Matches++
		}
	}
}

// measure evaluates a group and fills in its runs. The end of a run is the start of the next, so that
// the clock is read once a rule.
func (r *replay) measure(g *group, edit *Edit) {
	start := time.Since(r.clock)
	for i, rule := range g.rules {
		matched, conditions := r.rules.evaluate(rule, edit)
		end := time.Since(r.clock)
		run := &g.runs[i]
		run.Duration, run.Conditions, run.Matched = end-start, conditions, matched
		start = end
		if matched {
			r.counts.Matches++
		}
	}
}
