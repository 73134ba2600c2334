package page

import (
	"cmp"
	"slices"
	"strings"
)

// A column of the overview that it can be sorted by.
type column struct {
	Key, Name, Title string
	Quantile         bool // one that a profiler without quantiles does not have
	value            func(*Row) float64
}

// columns are in the order that they are shown in. The order of ids is the first.
var columns = []column{
	{Key: "id", Name: "Rule", value: func(r *Row) float64 { return float64(r.rank) }},
	{Key: "runs", Name: "Runs", value: func(r *Row) float64 { return r.Runs }},
	{Key: "matches", Name: "Matches", value: func(r *Row) float64 { return r.Matches }},
	{Key: "rate", Name: "Match rate", value: func(r *Row) float64 { return r.MatchRate }},
	{Key: "mean", Name: "Mean", Title: "mean time of a run", value: func(r *Row) float64 { return float64(r.MeanNS) }},
	{Key: "p50", Name: "p50", Title: "half of the runs took no longer", Quantile: true, value: func(r *Row) float64 { return float64(r.P50NS) }},
	{Key: "p95", Name: "p95", Title: "95 of 100 runs took no longer", Quantile: true, value: func(r *Row) float64 { return float64(r.P95NS) }},
	{Key: "p99", Name: "p99", Title: "99 of 100 runs took no longer", Quantile: true, value: func(r *Row) float64 { return float64(r.P99NS) }},
	{Key: "share", Name: "Share of time", Title: "of the time of all rules", value: func(r *Row) float64 { return r.TimeShare }},
	{Key: "complete", Name: "Complete", Title: "windows that have all of their counters", value: (*Row).completeness},
}

// DefaultSort is the column that is sorted by, the largest first, where nothing is asked for.
const DefaultSort = "share"

// SortKeys returns the names of the columns.
func SortKeys() []string {
	keys := make([]string, len(columns))
	for i, c := range columns {
		keys[i] = c.Key
	}
	return keys
}

// completeness is 1 where nothing is known to be missing; what lacks counters is less than what lacks quantiles alone.
func (r *Row) completeness() float64 {
	c := 1.0
	if r.Found > 0 {
		c -= float64(r.Incomplete) / float64(r.Found)
	}
	return c - r.Unknown/1000
}

// Sort puts rules in the order of a column; those that are equal in it are in the order of their ids.
func Sort(rules []Row, key string, desc bool) {
	i := slices.IndexFunc(columns, func(c column) bool { return c.Key == key })
	value := columns[max(0, i)].value
	slices.SortFunc(rules, func(a, b Row) int {
		order := cmp.Compare(value(&a), value(&b))
		if desc {
			order = -order
		}
		return cmp.Or(order, cmp.Compare(a.rank, b.rank))
	})
}

// Rank sets the places of rules that are in the order of CompareIDs.
func Rank(rules []Row) {
	for i := range rules {
		rules[i].rank = i
	}
}

// CompareIDs orders ids that are decimal numbers before others, by their value.
func CompareIDs(a, b string) int {
	na, nb := isNumber(a), isNumber(b)
	switch {
	case na && nb:
		x, y := strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y), cmp.Compare(a, b))
	case na:
		return -1
	case nb:
		return 1
	}
	return cmp.Compare(a, b)
}

func isNumber(id string) bool {
	return id != "" && strings.Trim(id, "0123456789") == ""
}

// Matches says whether an id is found by a text: it is within what is shown of it, in whatever case.
func Matches(id, text string) bool {
	return text == "" || strings.Contains(strings.ToLower(Label(id)), strings.ToLower(text))
}
