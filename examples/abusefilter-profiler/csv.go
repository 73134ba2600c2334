package main

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/wrstats/go-wrstats/wrstats/profile"
)

// csvHeader names the columns. kind is "rule" or "group"; a group's runs are its actions. Columns that
// a kind does not have are empty. Times are nanoseconds.
var csvHeader = []string{
	"at", "kind", "name", "group", "runs", "matches", "match_rate", "mean_time_ns", "total_time_ns",
	"mean_conditions", "overflows", "failures", "missing", "p50_time_ns", "p95_time_ns", "p99_time_ns",
}

// printCSV prints a row a rule and a row a group; the summary goes to stderr.
func printCSV(stdout, stderr io.Writer, r *report, first bool) error {
	w := csv.NewWriter(stdout)
	if first {
		_ = w.Write(csvHeader) // Flush keeps the error
	}
	at := r.At.Format(time.RFC3339Nano)
	for _, rule := range r.Rules {
		_ = w.Write(append([]string{at}, csvRule(rule)...))
	}
	for _, g := range r.Groups {
		_ = w.Write(append([]string{at}, csvGroup(g)...))
	}
	w.Flush()
	if r.Summary != nil {
		var b strings.Builder
		writeSummary(&b, r.Summary)
		io.WriteString(stderr, b.String())
	}
	return w.Error()
}

func csvRule(r ruleReport) []string {
	return []string{
		"rule", r.Spec.ID, r.Spec.Group, number(r.Runs), number(r.Matches), number(r.MatchRate),
		nanoseconds(r.MeanTime), nanoseconds(r.Time), number(r.MeanConditions), "", strconv.Itoa(r.Failures), strconv.Itoa(r.Missing),
		nanoseconds(r.P50), nanoseconds(r.P95), nanoseconds(r.P99),
	}
}

func csvGroup(g profile.Group) []string {
	return []string{
		"group", g.Name, "", number(g.Actions), number(g.Matches), "",
		nanoseconds(g.MeanTime), nanoseconds(g.Time), number(g.MeanConditions), number(g.Overflows), "", strconv.Itoa(g.Missing), "", "", "",
	}
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func nanoseconds(d time.Duration) string { return strconv.FormatInt(d.Nanoseconds(), 10) }
