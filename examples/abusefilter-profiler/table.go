package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	columnGap   = "  "
	labelWidth  = 28 // characters of an id or a group
	maxFailures = 5  // rules that the table says the first failure of
)

// A table is rows of cells; its first columns are text, the others numbers.
type table struct {
	texts int
	rows  [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// dropZeros takes those of the named columns away that are 0 in all rows.
func (t *table) dropZeros(names ...string) {
	for _, name := range names {
		at := slices.Index(t.rows[0], name)
		if slices.ContainsFunc(t.rows[1:], func(row []string) bool { return row[at] != "0" }) {
			continue
		}
		for i, row := range t.rows {
			t.rows[i] = slices.Delete(row, at, at+1)
		}
	}
}

// write aligns texts to the left and numbers to the right.
func (t *table) write(b *strings.Builder) {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		line := ""
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i < t.texts {
				line += cell + pad + columnGap
				continue
			}
			line += pad + cell + columnGap
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// printTable prints a report for a terminal of 120 columns or more.
func printTable(stdout, _ io.Writer, r *report, first bool) error {
	var b strings.Builder
	if !first {
		b.WriteString("\n")
	}
	if !r.At.IsZero() {
		writeProfile(&b, r)
	}
	if r.Summary != nil {
		writeSummary(&b, r.Summary)
	}
	_, err := io.WriteString(stdout, b.String())
	return err
}

func writeProfile(b *strings.Builder, r *report) {
	fmt.Fprintf(b, "Profile of the last %s to %s, in windows of %s; most total time first\n\n",
		span(r.Window), r.At.Format(time.DateTime+" MST"), span(r.Step))
	ruleTable(r.Rules).write(b)
	if r.Hidden > 0 {
		fmt.Fprintf(b, "… and %d more\n", r.Hidden)
	}
	b.WriteString("\n")
	groupTable(r).write(b)
	b.WriteString("\n")
}

func ruleTable(rules []ruleReport) *table {
	t := &table{texts: 2}
	t.add("rule", "group", "runs", "matches", "rate", "mean", "p50", "p95", "p99", "total", "conds", "failed", "missing")
	for _, r := range rules {
		t.add(label(r.Spec.ID, labelWidth), label(r.Spec.Group, labelWidth/2),
			thousands(r.Runs), thousands(r.Matches), percent(r.MatchRate),
			measured(r.MeanTime), measured(r.P50), measured(r.P95), measured(r.P99), measured(r.Time),
			fmt.Sprintf("%.2f", r.MeanConditions), thousands(float64(r.Failures)), fmt.Sprint(r.Missing))
	}
	t.dropZeros("failed", "missing")
	return t
}

func groupTable(r *report) *table {
	t := &table{texts: 1}
	t.add("group", "actions", "overflows", "matches", "mean time", "total time", "conditions", "missing")
	for _, g := range r.Groups {
		t.add(label(g.Name, labelWidth), thousands(g.Actions), thousands(g.Overflows), thousands(g.Matches),
			measured(g.MeanTime), measured(g.Time), fmt.Sprintf("%.2f", g.MeanConditions), fmt.Sprint(g.Missing))
	}
	return t
}

func writeSummary(b *strings.Builder, s *summary) {
	writeFailures(b, s.Failures)
	fmt.Fprintf(b, "edits       %s%s in %s, %s a second", thousands(float64(s.Edits)), period(s), measured(s.Elapsed), thousands(s.perSecond()))
	if s.Interrupted {
		b.WriteString("; interrupted")
	}
	fmt.Fprintf(b, "\nlines       %s read, %s skipped (no edits), %s failed to parse", thousands(float64(s.Lines)),
		thousands(float64(s.Skipped)), thousands(float64(s.Failed)))
	if s.Blank > 0 {
		fmt.Fprintf(b, ", %s without an event", thousands(float64(s.Blank)))
	}
	if s.Late > 0 {
		fmt.Fprintf(b, ", %s later than -at", thousands(float64(s.Late)))
	}
	if !s.Profiled {
		fmt.Fprintf(b, "\nmatches     %s; the rules were not profiled\n", thousands(float64(s.Matches)))
		return
	}
	fmt.Fprintf(b, "\nincrements  %s units buffered, %s flushed, %s lost, %s dropped%s\n", thousands(s.Stats.Added),
		thousands(s.Stats.Flushed), thousands(s.Stats.Lost), thousands(s.Stats.Dropped), pending(s))
}

// pending says what the buffer still holds: when all whole units are confirmed, the fractions of one that
// times left over.
func pending(s *summary) string {
	if s.Unconfirmed {
		return ", " + thousands(s.Stats.Pending) + " pending"
	}
	return "; " + thousands(s.Stats.Pending) + " left over in fractions of a unit"
}

// writeFailures says why rules failed. A reason may quote an edit, so it is made fit for a terminal.
func writeFailures(b *strings.Builder, failed []ruleReport) {
	for i, r := range failed {
		if i == maxFailures {
			fmt.Fprintf(b, "failures    … and of %d more rules\n", len(failed)-maxFailures)
			return
		}
		fmt.Fprintf(b, "failures    %s failed on %s edit(s); the first: %s\n", label(r.Spec.ID, labelWidth),
			thousands(float64(r.Failures)), label(r.FirstFailure.Error(), 200))
	}
}

// period is when the edits were made.
func period(s *summary) string {
	if s.Edits == 0 {
		return ""
	}
	return fmt.Sprintf(" from %s to %s,", s.Oldest.Format(time.DateTime), s.Newest.Format(time.DateTime))
}

// perSecond is how many edits a second of the replay's own time were evaluated.
func (s *summary) perSecond() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(s.Edits) / s.Elapsed.Seconds()
}
