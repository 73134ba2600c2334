package faults_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A row is what came of one scenario on one backend.
type row struct {
	scenario, backend            string
	added, stored, lost, dropped float64
	healthy, fault               latencies
	verdict                      string // "held", or what was not; with figures of the scenario's own
}

// results are the rows of all that ran.
var results table

type table struct {
	mu   sync.Mutex // guards rows
	rows []row
}

func (t *table) add(r row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, r)
}

// String is the table in Markdown.
func (t *table) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.rows) == 0 {
		return ""
	}
	slices.SortStableFunc(t.rows, func(a, b row) int { return strings.Compare(a.scenario, b.scenario) })
	var s strings.Builder
	s.WriteString("| what was done | backend | added | stored | lost | dropped | Add p50/p99.9 before | in the fault | verdict |\n")
	s.WriteString("|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range t.rows {
		fmt.Fprintf(&s, "| %s | %s | %.0f | %.0f | %.0f | %.0f | %v | %v | %s |\n",
			r.scenario, r.backend, r.added, r.stored, r.lost, r.dropped, &r.healthy, &r.fault, r.verdict)
	}
	return s.String()
}
