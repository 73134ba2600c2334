package main

import (
	"encoding/json"
	"io"
	"time"

	"github.com/wrstats/go-wrstats/wrstats/profile"
)

// A jsonReport is one line of -format json: a profile each time -every says, and a last one that also
// has the replay. Times ending in _ns are nanoseconds. Fields may be added, and none will change.
type jsonReport struct {
	At       *time.Time  `json:"at,omitempty"` // of the profile; absent when there is none
	WindowNS int64       `json:"window_ns,omitempty"`
	StepNS   int64       `json:"step_ns,omitempty"`
	Rules    []jsonRule  `json:"rules,omitempty"` // the most total time first
	Hidden   int         `json:"hidden_rules,omitempty"`
	Groups   []jsonGroup `json:"groups,omitempty"`
	Replay   *jsonReplay `json:"replay,omitempty"`
}

type jsonRule struct {
	ID             string  `json:"id"`
	Group          string  `json:"group"`
	Description    string  `json:"description,omitempty"`
	Runs           float64 `json:"runs"`
	Matches        float64 `json:"matches"`
	MatchRate      float64 `json:"match_rate"`
	MeanTimeNS     int64   `json:"mean_time_ns"`
	TotalTimeNS    int64   `json:"total_time_ns"`
	P50TimeNS      int64   `json:"p50_time_ns"` // within 10 %, from 100 ns to 1 s
	P95TimeNS      int64   `json:"p95_time_ns"`
	P99TimeNS      int64   `json:"p99_time_ns"`
	UnknownTimes   float64 `json:"unknown_times"` // part of the runs that those are not of
	MeanConditions float64 `json:"mean_conditions"`
	Failures       int     `json:"failures"` // of the whole replay so far
	FirstFailure   string  `json:"first_failure,omitempty"`
	Missing        int     `json:"missing"` // windows without a counter
}

type jsonGroup struct {
	Name           string  `json:"name"`
	Actions        float64 `json:"actions"`
	Overflows      float64 `json:"overflows"`
	Matches        float64 `json:"matches"`
	MeanTimeNS     int64   `json:"mean_time_ns"`
	TotalTimeNS    int64   `json:"total_time_ns"`
	MeanConditions float64 `json:"mean_conditions"`
	Missing        int     `json:"missing"`
}

type jsonReplay struct {
	Edits          int             `json:"edits"`
	ElapsedNS      int64           `json:"elapsed_ns"`
	EditsPerSecond float64         `json:"edits_per_second"`
	Lines          int             `json:"lines"`
	Skipped        int             `json:"skipped"`
	Blank          int             `json:"blank"` // lines without an event
	Failed         int             `json:"failed"`
	Late           int             `json:"late"` // edits after -at
	Matches        int             `json:"matches"`
	Interrupted    bool            `json:"interrupted"`
	Oldest         *time.Time      `json:"oldest,omitempty"`
	Newest         *time.Time      `json:"newest,omitempty"`
	Increments     *jsonIncrements `json:"increments,omitempty"` // absent with -no-profile
}

// jsonIncrements are sums in units of the counters' resolution.
type jsonIncrements struct {
	Buffered float64 `json:"buffered"`
	Flushed  float64 `json:"flushed"`
	Lost     float64 `json:"lost"`
	Dropped  float64 `json:"dropped"`
	Pending  float64 `json:"pending"`
}

// printJSON prints a report as one line.
func printJSON(stdout, _ io.Writer, r *report, _ bool) error {
	out := jsonReport{At: instant(r.At), WindowNS: int64(r.Window), StepNS: int64(r.Step), Hidden: r.Hidden}
	for _, rule := range r.Rules {
		out.Rules = append(out.Rules, newJSONRule(rule))
	}
	for _, g := range r.Groups {
		out.Groups = append(out.Groups, newJSONGroup(g))
	}
	if r.Summary != nil {
		out.Replay = newJSONReplay(r.Summary)
	}
	return json.NewEncoder(stdout).Encode(out)
}

func newJSONRule(r ruleReport) jsonRule {
	failure := ""
	if r.FirstFailure != nil {
		failure = r.FirstFailure.Error()
	}
	return jsonRule{
		ID: r.Spec.ID, Group: r.Spec.Group, Description: r.Spec.Description,
		Runs: r.Runs, Matches: r.Matches, MatchRate: r.MatchRate,
		MeanTimeNS: int64(r.MeanTime), TotalTimeNS: int64(r.Time), MeanConditions: r.MeanConditions,
		P50TimeNS: int64(r.P50), P95TimeNS: int64(r.P95), P99TimeNS: int64(r.P99), UnknownTimes: r.Unknown,
		Failures: r.Failures, FirstFailure: failure, Missing: r.Missing,
	}
}

func newJSONGroup(g profile.Group) jsonGroup {
	return jsonGroup{
		Name: g.Name, Actions: g.Actions, Overflows: g.Overflows, Matches: g.Matches,
		MeanTimeNS: int64(g.MeanTime), TotalTimeNS: int64(g.Time), MeanConditions: g.MeanConditions, Missing: g.Missing,
	}
}

func newJSONReplay(s *summary) *jsonReplay {
	r := &jsonReplay{
		Edits: s.Edits, ElapsedNS: int64(s.Elapsed), EditsPerSecond: s.perSecond(),
		Lines: s.Lines, Skipped: s.Skipped, Blank: s.Blank, Failed: s.Failed, Late: s.Late, Matches: s.Matches,
		Interrupted: s.Interrupted, Oldest: instant(s.Oldest), Newest: instant(s.Newest),
	}
	if s.Profiled {
		r.Increments = &jsonIncrements{s.Stats.Added, s.Stats.Flushed, s.Stats.Lost, s.Stats.Dropped, s.Stats.Pending}
	}
	return r
}

// instant is nil for the zero time.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
