package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile"
)

// A report is the profile of one instant, and at the end of a replay its summary.
type report struct {
	At           time.Time // zero: there is no profile, the summary only
	Window, Step time.Duration
	Rules        []ruleReport // the most total time first
	Hidden       int          // rules that -top leaves out
	Groups       []profile.Group
	Summary      *summary // nil before the end
}

// A ruleReport is one rule's profile. Failures are those of the whole replay so far.
type ruleReport struct {
	profile.Rule
	Spec         ruleSpec
	Failures     int
	FirstFailure error
}

// A summary says what a replay did.
type summary struct {
	counts
	Oldest, Newest time.Time
	Profiled       bool
	Stats          wrstats.WriterStats
	Unconfirmed    bool         // whole units may be pending
	Failures       []ruleReport // the rules that failed, whatever -top says
}

// printers are the formats. first says whether nothing has been printed yet; stderr takes what a format
// has no place for.
var printers = map[string]func(stdout, stderr io.Writer, r *report, first bool) error{
	formatTable: printTable,
	formatJSON:  printJSON,
	formatCSV:   printCSV,
}

// Names of formats.
const (
	formatTable = "table"
	formatJSON  = "json"
	formatCSV   = "csv"
)

var formats = []string{formatTable, formatJSON, formatCSV}

// readReport reads the profile of an instant. Values that came with an error that wraps
// [wrstats.ErrPartial] are in the report.
func readReport(ctx context.Context, p *profile.Profiler, set *ruleSet, opts options, at time.Time) (*report, error) {
	r := &report{At: at, Window: opts.window, Step: opts.window / windowSteps}
	profiles, partial := p.RulesAt(ctx, at, set.ids())
	if partial != nil && !errors.Is(partial, wrstats.ErrPartial) {
		return nil, partial
	}
	for i, prof := range profiles {
		r.Rules = append(r.Rules, set.rules[i].report(prof))
	}
	for _, g := range set.groups {
		prof, err := p.GroupAt(ctx, at, g.name)
		if err != nil && !errors.Is(err, wrstats.ErrPartial) {
			return nil, err
		}
		partial = cmp.Or(partial, err)
		r.Groups = append(r.Groups, prof)
	}
	r.rank(opts.top)
	return r, partial
}

func (r *rule) report(p profile.Rule) ruleReport {
	return ruleReport{Rule: p, Spec: r.ruleSpec, Failures: r.failures, FirstFailure: r.firstFailure}
}

// rank puts the slowest rules first, by total time, and keeps the top of them.
func (r *report) rank(top int) {
	slices.SortStableFunc(r.Rules, func(a, b ruleReport) int { return cmp.Compare(b.Time, a.Time) })
	if top > 0 && top < len(r.Rules) {
		r.Hidden = len(r.Rules) - top
		r.Rules = r.Rules[:top]
	}
}

// failures lists the rules that failed on an edit, in the order of the file.
func (s *ruleSet) failures() []ruleReport {
	var failed []ruleReport
	for _, r := range s.rules {
		if r.failures > 0 {
			failed = append(failed, r.report(profile.Rule{}))
		}
	}
	return failed
}
