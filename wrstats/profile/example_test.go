package profile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile"
)

func ExampleNew() {
	store := memory.New(memory.Options{})
	defer store.Close()
	p, err := profile.New(store, profile.Options{ // reads and writes the profile of a MediaWiki
		Keyspace:  "enwiki",
		Keys:      wrstats.MediaWikiKeys,
		Step:      2 * time.Hour,
		Retention: 24 * time.Hour,
		SlowRun:   100 * time.Millisecond,
		Logger:    slog.Default(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close(context.Background())

	_, err = profile.New(store, profile.Options{Step: 2 * time.Hour})
	fmt.Println(err)
	// Output: profile: Options.Step: 2h0m0s is longer than the retention of 1h0m0s
}

func ExampleProfiler_Record() {
	p := newProfiler()
	defer p.Close(context.Background())
	began := time.Now()
	matched := checkForSpam()
	p.Record("edits", []profile.Run{{Rule: "spam", Duration: time.Since(began), Conditions: 12, Matched: matched}})

	_ = p.Sync(context.Background()) // only to read it at once: what is recorded is sent every second
	rules, err := p.Rules(context.Background(), []string{"spam"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rules[0].Name, rules[0].Runs, rules[0].Matches, rules[0].Conditions)
	// Output: spam 1 1 12
}

// Edits of another day are profiled as of then.
func ExampleProfiler_RecordAt() {
	p := newProfiler()
	defer p.Close(context.Background())
	edit := time.Date(2015, 9, 12, 12, 0, 0, 0, time.UTC)
	for range 30 {
		p.RecordAt(edit, "edits", []profile.Run{{Rule: "spam", Duration: 2 * time.Millisecond}})
		edit = edit.Add(time.Minute)
	}
	_ = p.Sync(context.Background())
	for _, now := range []time.Time{edit, edit.Add(45 * time.Minute)} {
		rules, err := p.RulesAt(context.Background(), now, []string{"spam"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(now.Format(time.TimeOnly), rules[0].Runs, rules[0].MeanTime)
	}
	// Output:
	// 12:30:00 30 2ms
	// 13:15:00 15 2ms
}

func ExampleProfiler_Rules() {
	p := newProfiler()
	defer p.Close(context.Background())
	for i := range 4 {
		p.Record("edits", []profile.Run{
			{Rule: "spam", Duration: 2 * time.Millisecond, Conditions: 12, Matched: i == 0},
			{Rule: "shouting", Duration: 50 * time.Microsecond, Conditions: 1},
		})
	}
	_ = p.Sync(context.Background())
	rules, err := p.Rules(context.Background(), []string{"spam", "shouting", "never ran"})
	if err != nil { // with ErrPartial there would be what some servers have
		fmt.Println(err)
		return
	}
	for _, r := range rules {
		fmt.Printf("%s: %v runs of %v, %v%% matched, %v conditions each\n",
			r.Name, r.Runs, r.MeanTime, 100*r.MatchRate, r.MeanConditions)
	}
	// Output:
	// spam: 4 runs of 2ms, 25% matched, 12 conditions each
	// shouting: 4 runs of 50µs, 0% matched, 1 conditions each
	// never ran: 0 runs of 0s, 0% matched, 0 conditions each
}

func ExampleProfiler_Group() {
	p := newProfiler()
	defer p.Close(context.Background())
	p.Record("edits", []profile.Run{
		{Rule: "spam", Duration: 2 * time.Millisecond, Conditions: 700, Matched: true},
		{Rule: "links", Duration: 4 * time.Millisecond, Conditions: 400, Matched: true},
	})
	p.Record("edits", []profile.Run{{Rule: "spam", Duration: 2 * time.Millisecond, Conditions: 100}})
	_ = p.Sync(context.Background())
	g, err := p.Group(context.Background(), "edits")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v actions of %v, %v matched, %v over the condition limit\n", g.Actions, g.MeanTime, g.Matches, g.Overflows)
	// Output: 2 actions of 4ms, 1 matched, 1 over the condition limit
}

// All that this process has recorded, with one read of the store.
func ExampleProfiler_Profile() {
	p := newProfiler()
	defer p.Close(context.Background())
	p.Record("edits", []profile.Run{{Rule: "spam", Duration: 2 * time.Millisecond}, {Rule: "links", Duration: time.Millisecond}})
	p.Record("uploads", []profile.Run{{Rule: "spam", Duration: 4 * time.Millisecond, Matched: true}})
	_ = p.Sync(context.Background())
	all, err := p.Profile(context.Background(), p.RuleNames(), p.GroupNames())
	if err != nil { // with ErrPartial there would be what some servers have
		fmt.Println(err)
		return
	}
	for _, r := range all.Rules {
		fmt.Printf("rule %s: %v runs of %v\n", r.Name, r.Runs, r.MeanTime)
	}
	for _, g := range all.Groups {
		fmt.Printf("group %s: %v actions of %v, %v matched\n", g.Name, g.Actions, g.MeanTime, g.Matches)
	}
	// Output:
	// rule links: 1 runs of 1ms
	// rule spam: 2 runs of 3ms
	// group edits: 1 actions of 3ms, 0 matched
	// group uploads: 1 actions of 4ms, 1 matched
}

// Half of the runs took no longer than P50, 95 of a hundred no longer than P95.
func ExampleProfiler_History() {
	p := newProfiler()
	defer p.Close(context.Background())
	now := time.Date(2015, 9, 12, 12, 0, 0, 0, time.UTC)
	for i := range 200 {
		took := time.Duration(i%100+1) * time.Duration(1+i/100) * time.Millisecond
		p.RecordAt(now.Add(time.Duration(i/100)*10*time.Minute), "edits", []profile.Run{{Rule: "spam", Duration: took}})
	}
	_ = p.Sync(context.Background())
	h, err := p.HistoryAt(context.Background(), now.Add(15*time.Minute), "spam")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v runs, p50 %v, p95 %v\n", h.Runs, h.P50.Round(time.Millisecond), h.P95.Round(time.Millisecond))
	for _, w := range h.Windows {
		if w.Found {
			fmt.Printf("%s: %v runs, p50 %v, p95 %v\n", w.Start.Format("15:04"), w.Runs, w.P50.Round(time.Millisecond), w.P95.Round(time.Millisecond))
		}
	}
	// Output:
	// 200 runs, p50 61ms, p95 166ms
	// 12:00: 100 runs, p50 50ms, p95 91ms
	// 12:10: 100 runs, p50 91ms, p95 203ms
}

// The pages are for those who run the service: who may see them is for the caller to say.
func ExampleHandler() {
	p := newProfiler()
	defer p.Close(context.Background())
	mux := http.NewServeMux()
	mux.Handle("/debug/rules/", profile.Handler(p, profile.HandlerOptions{
		Slow: 10 * time.Millisecond,
		Reset: func(r *http.Request) error {
			if user, _, _ := r.BasicAuth(); user != "admin" {
				return errors.New("only admin may")
			}
			return nil
		},
	}))

	p.Record("edits", []profile.Run{{Rule: "spam", Duration: 20 * time.Millisecond, Conditions: 12, Matched: true}})
	_ = p.Sync(context.Background())
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest("GET", "/debug/rules/?format=json", nil))
	var page struct {
		Rules []struct {
			ID     string
			Runs   float64
			MeanNS time.Duration `json:"mean_ns"`
			Slow   bool
		}
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &page); err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range page.Rules {
		fmt.Println(r.ID, r.Runs, r.MeanNS, r.Slow)
	}
	// Output: spam 1 20ms true
}

func ExampleProfiler_Reset() {
	p := newProfiler()
	defer p.Close(context.Background())
	p.Record("edits", []profile.Run{{Rule: "spam"}, {Rule: "links"}})
	if err := p.Reset(context.Background(), "spam"); err != nil { // it was edited, say
		fmt.Println(err)
		return
	}
	_ = p.Sync(context.Background())
	rules, err := p.Rules(context.Background(), []string{"spam", "links"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rules[0].Runs, rules[1].Runs)
	// Output: 0 1
}

func newProfiler() *profile.Profiler {
	p, err := profile.New(memory.New(memory.Options{}), profile.Options{})
	if err != nil {
		panic(err)
	}
	return p
}

func checkForSpam() bool { return true }
