package page

import "time"

// A Head says of which instant and range a page is, and how whole that is.
type Head struct {
	Read     time.Time `json:"read"`              // as of when
	From     time.Time `json:"from"`              // the range ends at Read
	StepNS   int64     `json:"step_ns"`           // width of a window
	Partial  bool      `json:"partial"`           // some servers did not answer
	Problems []string  `json:"problems"`          // why something may be missing
	SlowNS   int64     `json:"slow_over_ns"`      // what a rule is slow over
	NoTimes  bool      `json:"quantiles_are_off"` // the profiler keeps no quantiles
}

// An Overview is the profile of all rules and groups.
type Overview struct {
	Head
	Windows  []time.Time `json:"windows"` // starts of those that RunsByWindow has, oldest first
	Rules    []Row       `json:"rules"`
	NotShown int         `json:"rules_not_shown"` // over the limit
	Groups   []Group     `json:"groups"`
	Writer   []Counter   `json:"writer"`
	Store    []Measured  `json:"store"`
}

// A Rule is the profile of a rule over the range.
type Rule struct {
	ID             string  `json:"id"`             // what is no UTF-8 in it becomes U+FFFD in JSON
	Page           string  `json:"page,omitempty"` // relative link to its own page, which has the id's very bytes; "": it has none
	Runs           float64 `json:"runs"`
	Matches        float64 `json:"matches"`
	MatchRate      float64 `json:"match_rate"` // 0 to 1
	Conditions     float64 `json:"conditions"`
	MeanConditions float64 `json:"mean_conditions"`
	TimeNS         int64   `json:"time_ns"`
	MeanNS         int64   `json:"mean_ns"`
	P50NS          int64   `json:"p50_ns"`
	P95NS          int64   `json:"p95_ns"`
	P99NS          int64   `json:"p99_ns"`
	Found          int     `json:"windows_found"`      // with a counter at least
	Incomplete     int     `json:"windows_incomplete"` // of those, with some counters and not others
	Unknown        float64 `json:"quantiles_unknown"`  // part of the runs that the quantiles are not of, 0 to 1
	Slow           bool    `json:"slow"`
}

// A Row is a rule in the overview.
type Row struct {
	Rule
	TimeShare    float64    `json:"time_share"`     // of the time of all rules read, 0 to 1
	RunsByWindow []*float64 `json:"runs_by_window"` // nil: nothing was found in it
	incomplete   []bool     // by window
	rank         int        // in the order of ids
}

// SetWindows sets RunsByWindow to those of the last windows.
func (r *Row) SetWindows(windows []Window) {
	r.RunsByWindow = make([]*float64, len(windows))
	r.incomplete = make([]bool, len(windows))
	for i := range windows {
		if windows[i].Found {
			r.RunsByWindow[i] = &windows[i].Runs
		}
		r.incomplete[i] = windows[i].Incomplete
	}
}

// A Window is what a rule did in the whole of a window.
type Window struct {
	Start      time.Time `json:"start"`
	Share      float64   `json:"share"` // the part of it that is in the range
	Runs       float64   `json:"runs"`
	Matches    float64   `json:"matches"`
	Conditions float64   `json:"conditions"`
	TimeNS     int64     `json:"time_ns"`
	P50NS      int64     `json:"p50_ns"`
	P95NS      int64     `json:"p95_ns"`
	P99NS      int64     `json:"p99_ns"`
	Found      bool      `json:"found"`
	Incomplete bool      `json:"incomplete"`
	Unknown    float64   `json:"quantiles_unknown"`
}

// A RulePage is the profile of one rule with its windows.
type RulePage struct {
	Head
	Rule    Rule     `json:"rule"`
	Windows []Window `json:"windows"` // oldest first, the last one in progress
}

// A Group is the profile of a group over the range.
type Group struct {
	ID             string  `json:"id"`
	Actions        float64 `json:"actions"`
	Overflows      float64 `json:"overflows"`
	Matches        float64 `json:"matches"`
	Conditions     float64 `json:"conditions"`
	MeanConditions float64 `json:"mean_conditions"`
	TimeNS         int64   `json:"time_ns"`
	MeanNS         int64   `json:"mean_ns"`
	Found          int     `json:"windows_found"`
	Incomplete     int     `json:"windows_incomplete"`
}

// A Counter is one of the writer's own.
type Counter struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// A Measured is one value of what the store measures.
type Measured struct {
	Name       string            `json:"name"`
	Labels     map[string]string `json:"labels"` // what tells it from others of the name, such as the server
	Value      *float64          `json:"value"`  // nil: not a finite number
	Help       string            `json:"-"`
	LabelNames []string          `json:"-"` // of Labels, in the order to show
}
