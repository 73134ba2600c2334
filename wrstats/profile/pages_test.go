package profile_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats/profile"
)

// readAt is the instant that the pages of these tests are of: in the middle of a bucket.
var readAt = start.Add(5 * time.Minute)

// overviewJSON and rulePageJSON are what a reader of the JSON would write.
type (
	headJSON struct {
		Read, From time.Time
		StepNS     int64 `json:"step_ns"`
		Partial    bool
		Problems   []string
		SlowOverNS int64 `json:"slow_over_ns"`
		NoTimes    bool  `json:"quantiles_are_off"`
	}
	ruleJSON struct {
		ID, Page                  string
		Runs, Matches, Conditions float64
		MatchRate                 float64       `json:"match_rate"`
		MeanConditions            float64       `json:"mean_conditions"`
		Time                      time.Duration `json:"time_ns"`
		Mean                      time.Duration `json:"mean_ns"`
		P50                       time.Duration `json:"p50_ns"`
		P95                       time.Duration `json:"p95_ns"`
		P99                       time.Duration `json:"p99_ns"`
		TimeShare                 float64       `json:"time_share"`
		Found                     int           `json:"windows_found"`
		Incomplete                int           `json:"windows_incomplete"`
		Unknown                   float64       `json:"quantiles_unknown"`
		Slow                      bool
		RunsByWindow              []*float64 `json:"runs_by_window"`
	}
	groupJSON struct {
		ID                                      string
		Actions, Overflows, Matches, Conditions float64
		MeanConditions                          float64       `json:"mean_conditions"`
		Time                                    time.Duration `json:"time_ns"`
		Mean                                    time.Duration `json:"mean_ns"`
		Incomplete                              int           `json:"windows_incomplete"`
	}
	counterJSON struct {
		Name  string
		Value float64
	}
	measuredJSON struct {
		Name   string
		Labels map[string]string
		Value  *float64
	}
	overviewJSON struct {
		headJSON
		Windows  []time.Time
		Rules    []ruleJSON
		NotShown int `json:"rules_not_shown"`
		Groups   []groupJSON
		Writer   []counterJSON
		Store    []measuredJSON
	}
	windowJSON struct {
		Start                            time.Time
		Share, Runs, Matches, Conditions float64
		Time                             time.Duration `json:"time_ns"`
		P50                              time.Duration `json:"p50_ns"`
		P95                              time.Duration `json:"p95_ns"`
		P99                              time.Duration `json:"p99_ns"`
		Found, Incomplete                bool
		Unknown                          float64 `json:"quantiles_unknown"`
	}
	rulePageJSON struct {
		headJSON
		Rule    ruleJSON
		Windows []windowJSON
	}
)

func (r ruleJSON) profile() profile.Rule {
	return profile.Rule{
		Name: r.ID, Runs: r.Runs, Matches: r.Matches, Conditions: r.Conditions, Time: r.Time, MeanTime: r.Mean,
		MatchRate: r.MatchRate, MeanConditions: r.MeanConditions, P50: r.P50, P95: r.P95, P99: r.P99,
		Missing: r.Incomplete, Unknown: r.Unknown,
	}
}

// pagesOf returns the pages of a Profiler as of readAt.
func pagesOf(p *profile.Profiler, opts profile.HandlerOptions) http.Handler {
	if opts.Now == nil {
		opts.Now = func() time.Time { return readAt }
	}
	return profile.Handler(p, opts)
}

func ask(t testing.TB, h http.Handler, method, target string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, target, nil))
	return w
}

func get200(t testing.TB, h http.Handler, target string) string {
	t.Helper()
	w := ask(t, h, http.MethodGet, target)
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	return w.Body.String()
}

func getJSON[T any](t testing.TB, h http.Handler, target string) (data T) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(get200(t, h, target)))
	require.NoError(t, decoder.Decode(&data))
	return data
}

// text is what of a page is no tag, with single spaces.
func text(html string) string {
	html = regexp.MustCompile(`</?(b|strong|time|bdi)\b[^>]*>`).ReplaceAllString(html, "")
	html = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(html, " ")
	html = strings.NewReplacer("\u202f", " ", "&nbsp;", " ", "&#34;", `"`).Replace(html)
	return strings.Join(strings.Fields(html), " ")
}

// threeRules records 50 minutes of runs of three rules, of which the third has never matched.
func threeRules(t testing.TB, p *profile.Profiler) {
	t.Helper()
	for i := range 50 {
		p.RecordAt(readAt.Add(-time.Duration(i)*time.Minute), "default", []profile.Run{
			{Rule: "spam", Duration: time.Duration(i+1) * 123 * time.Microsecond, Conditions: 12, Matched: i%5 == 0},
			{Rule: "9", Duration: 80 * time.Microsecond, Conditions: 1, Matched: i%2 == 0},
			{Rule: "10", Duration: 7 * time.Microsecond, Conditions: i % 4},
		})
	}
	require.NoError(t, p.Sync(context.Background()))
}
