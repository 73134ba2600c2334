package profile_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile"
)

func TestTheJSONIsWhatTheReaderReads(t *testing.T) {
	for _, c := range []struct {
		rule string
		opts profile.Options
		gone func(key string) bool
	}{
		{"whole", profile.Options{}, nil},
		{"with lost counters", profile.Options{}, func(key string) bool {
			return strings.Contains(key, "matches::2940999") || strings.Contains(key, ":2940997:")
		}},
		{"without quantiles", profile.Options{Quantiles: profile.QuantileOptions{Off: true}}, nil},
	} {
		t.Run(c.rule, func(t *testing.T) {
			store := newTap()
			p := openOn(t, store, c.opts)
			threeRules(t, p)
			store.gone = c.gone
			h := pagesOf(p, profile.HandlerOptions{Slow: time.Millisecond})
			want, err := p.ProfileAt(t.Context(), readAt, []string{"9", "10", "spam"}, []string{"default"})
			require.NoError(t, err)

			got := getJSON[overviewJSON](t, h, "/?format=json&sort=id")
			require.Equal(t, readAt.UTC(), got.Read)
			require.Equal(t, readAt.Add(-time.Hour).UTC(), got.From)
			require.Equal(t, (10 * time.Minute).Nanoseconds(), got.StepNS)
			require.Equal(t, c.opts.Quantiles.Off, got.NoTimes)
			require.False(t, got.Partial)
			require.Empty(t, got.Problems)
			require.Len(t, got.Rules, 3)
			var total time.Duration
			for _, r := range want.Rules {
				total += r.Time
			}
			for i, r := range want.Rules {
				require.Equal(t, r.Rule, got.Rules[i].profile())
				require.Equal(t, "rule?id="+r.Name, got.Rules[i].Page)
				require.InDelta(t, float64(r.Time)/float64(total), got.Rules[i].TimeShare, 1e-12)
				require.Equal(t, r.Name == "spam", got.Rules[i].Slow)
				require.Len(t, got.Rules[i].RunsByWindow, len(r.Windows))
				for j, w := range r.Windows {
					require.Equal(t, w.Start.UTC(), got.Windows[j])
					require.Equal(t, w.Found, got.Rules[i].RunsByWindow[j] != nil)
					if w.Found {
						require.Equal(t, w.Runs, *got.Rules[i].RunsByWindow[j])
					}
				}
				requireRulePage(t, h, r)
			}
			g := want.Groups[0].Group
			require.Equal(t, []profile.Group{g}, []profile.Group{{
				Name: got.Groups[0].ID, Actions: got.Groups[0].Actions, Overflows: got.Groups[0].Overflows,
				Matches: got.Groups[0].Matches, Conditions: got.Groups[0].Conditions, Time: got.Groups[0].Time,
				MeanTime: got.Groups[0].Mean, MeanConditions: got.Groups[0].MeanConditions, Missing: got.Groups[0].Incomplete,
			}})
			require.Equal(t, counterJSON{"Added", p.Stats().Added}, got.Writer[0])
		})
	}
}

func requireRulePage(t *testing.T, h http.Handler, want profile.History) {
	t.Helper()
	got := getJSON[rulePageJSON](t, h, "/rule?format=json&id="+want.Name)
	require.Equal(t, want.Rule, got.Rule.profile())
	require.Len(t, got.Windows, len(want.Windows))
	for i, w := range got.Windows {
		require.Equal(t, want.Windows[i].Start.UTC(), w.Start)
		w.Start = want.Windows[i].Start
		require.Equal(t, want.Windows[i], profile.Window{
			Start: w.Start, Share: w.Share, Runs: w.Runs, Matches: w.Matches, Conditions: w.Conditions, Time: w.Time,
			P50: w.P50, P95: w.P95, P99: w.P99, Found: w.Found, Missing: w.Incomplete, Unknown: w.Unknown,
		})
	}
}

func TestTheOverviewSaysWhatItIsOf(t *testing.T) {
	p, _ := open(t, profile.Options{ConditionLimit: 14})
	threeRules(t, p)
	page := text(get200(t, pagesOf(p, profile.HandlerOptions{Slow: time.Millisecond}), "/"))
	for _, piece := range []string{
		"As of 1 December 2025, 14:45:00 UTC, over the last hour (from 13:45 on) in windows of 10 minutes.",
		"Nothing is known to be missing.",
		"Rules 3 Runs 150 Matches 35 Time 161 ms Slow, over 1 ms 1",
		"spam ▲ slow 50 10 20.0 % 3.14 ms",
		"9 50 25 50.0 % 80.0 µs",
		"10 50 0 0 % 7.00 µs",
		"default 50 30 24 3.22 ms 161 ms 14.5 whole",
		"This process’s writer The writer’s own counters since it was made Counter Value Added",
	} {
		require.Contains(t, page, piece)
	}
	require.NotContains(t, page, "Its store")
}

func TestWhatIsNegativeIsTheDefaultOrForRefreshNever(t *testing.T) {
	p, _ := open(t, profile.Options{SlowRun: time.Minute})
	threeRules(t, p)
	for _, c := range []struct {
		rule    string
		opts    profile.HandlerOptions
		refresh string
	}{
		{"zero", profile.HandlerOptions{}, ` data-refresh="5000"`},
		{"negative", profile.HandlerOptions{Slow: -1, MaxRules: -1, Refresh: -1, Timeout: -1}, ""},
		{"set", profile.HandlerOptions{Slow: time.Minute, MaxRules: 3, Refresh: time.Millisecond, Timeout: time.Minute}, ` data-refresh="1"`},
		{"less than the script can tell", profile.HandlerOptions{Refresh: time.Millisecond - 1}, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			h := pagesOf(p, c.opts)
			require.Contains(t, get200(t, h, "/"), "<body"+c.refresh+">")
			require.Contains(t, get200(t, h, "/rule?id=9"), "<body"+c.refresh+">")
			got := getJSON[overviewJSON](t, h, "/?format=json")
			require.Equal(t, time.Minute.Nanoseconds(), got.SlowOverNS)
			require.Len(t, got.Rules, 3)
			require.Zero(t, got.NotShown)
		})
	}
}

func TestARulesPageSaysWhatItDoes(t *testing.T) {
	p, _ := open(t, profile.Options{})
	threeRules(t, p)
	h := pagesOf(p, profile.HandlerOptions{Slow: time.Millisecond})
	page := get200(t, h, "/rule?id=spam")
	require.Contains(t, text(page), "It ran on the last 50 actions and matched 10 of them, 20.0 %. A run takes 3.14 ms on average and consumes 12.0 conditions.")
	require.Contains(t, text(page), "▲ slow Its p95 or its mean is over 1 ms.")
	require.Equal(t, 3, strings.Count(page, `role="img"`), "three charts")
	require.Equal(t, 3, strings.Count(page, "<desc "))
	require.NotContains(t, page, "Reset this rule")
	require.Contains(t, text(get200(t, h, "/rule?id=never")), "It has not run in the last hour, as far as can be told.")
	require.Contains(t, text(get200(t, h, "/rule?id=never")), "Nothing was found in any window.")
}

func TestWithoutQuantilesThePagesHaveNoColumnsOfThem(t *testing.T) {
	p, _ := open(t, profile.Options{Quantiles: profile.QuantileOptions{Off: true}})
	threeRules(t, p)
	h := pagesOf(p, profile.HandlerOptions{})
	for _, target := range []string{"/", "/rule?id=spam"} {
		page := text(get200(t, h, target))
		require.NotContains(t, page, "p95", target)
		require.NotContains(t, page, "unknown", target)
		require.NotContains(t, page, "times of", target)
	}
	require.Contains(t, text(get200(t, h, "/rule?id=spam")), "Mean time of a run")
}

func TestWhatIsMissingIsSaidInWords(t *testing.T) {
	store := newTap()
	p := openOn(t, store, profile.Options{})
	threeRules(t, p)
	store.gone = func(key string) bool {
		return strings.HasSuffix(key, "matches::2940999:filter:9") || strings.Contains(key, "time/") && strings.Contains(key, ":2940998:filter:10")
	}
	h := pagesOf(p, profile.HandlerOptions{})
	page := text(get200(t, h, "/"))
	require.Contains(t, page, "1 rule lacks counters in some windows: they are lost or still on the way.")
	require.Contains(t, page, "◐ 5 of 6 windows")
	require.Contains(t, page, "◐ times of 80.0 %")
	page = text(get200(t, h, "/rule?id=9"))
	require.Contains(t, page, "1 window lacks counters, which are lost or still on the way")
	require.Contains(t, page, "◐ counters missing")
	require.Contains(t, text(get200(t, h, "/rule?id=10")), "The times of 20.0 % of the runs are unknown")
}

func TestAPartialReadShowsTheRestAndSaysWhichServersFailed(t *testing.T) {
	store := newTap()
	p := openOn(t, store, profile.Options{})
	threeRules(t, p)
	store.err = errors.Join(wrstats.ErrPartial, errors.New("wrstats: memcached: get 192.0.2.1:11211: refused"), errors.New("wrstats: memcached: get 192.0.2.2:11211: i/o timeout"))
	h := pagesOf(p, profile.HandlerOptions{})
	for _, target := range []string{"/", "/rule?id=9"} {
		page := text(get200(t, h, target))
		require.Contains(t, page, "Some servers did not answer What the others have is shown.", target)
		require.Contains(t, page, "memcached: get 192.0.2.1:11211: refused memcached: get 192.0.2.2:11211: i/o timeout", target)
		require.Contains(t, page, "50.0 %", target)
		require.NotContains(t, page, "Nothing is known to be missing", target)
	}
	got := getJSON[overviewJSON](t, h, "/?format=json")
	require.True(t, got.Partial)
	require.Len(t, got.Rules, 3)
	require.Contains(t, got.Problems, "memcached: get 192.0.2.2:11211: i/o timeout")
}

func TestAReadThatFailsIs503WithAPage(t *testing.T) {
	store := newTap()
	p := openOn(t, store, profile.Options{})
	threeRules(t, p)
	store.err = errors.New("redis: get 192.0.2.1:6379: i/o timeout")
	h := pagesOf(p, profile.HandlerOptions{})
	for _, target := range []string{"/", "/rule?id=9"} {
		w := ask(t, h, http.MethodGet, target)
		require.Equal(t, http.StatusServiceUnavailable, w.Code)
		require.Contains(t, text(w.Body.String()), "The profile can’t be read The store did not answer.")
		require.Contains(t, w.Body.String(), "redis: get 192.0.2.1:6379: i/o timeout")
	}
	w := ask(t, h, http.MethodGet, "/?format=json")
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.JSONEq(t, `{"error":"The profile can’t be read. The store did not answer. Recording goes on.","details":["redis: get 192.0.2.1:6379: i/o timeout"]}`, w.Body.String())
}

func TestTheLongestTimesAreShownAsSuch(t *testing.T) {
	p, _ := open(t, profile.Options{})
	for range 3 {
		p.RecordAt(readAt, "default", []profile.Run{{Rule: "1", Duration: math.MaxInt64}, {Rule: "2", Duration: math.MaxInt64}})
	}
	require.NoError(t, p.Sync(t.Context()))
	h := pagesOf(p, profile.HandlerOptions{})
	const most = time.Duration(math.MaxInt64)
	got := getJSON[overviewJSON](t, h, "/?format=json")
	for _, r := range got.Rules {
		require.Equal(t, most, r.Time)
		require.InEpsilon(t, most/2, r.Mean, 1e-9)
		require.InDelta(t, 0.5, r.TimeShare, 1e-9)
		require.True(t, r.Slow)
	}
	require.Equal(t, most, got.Groups[0].Time)
	for _, w := range getJSON[rulePageJSON](t, h, "/rule?id=1&format=json").Windows {
		if w.Found {
			require.Equal(t, most, w.Time)
		}
	}
	overview := text(get200(t, h, "/"))
	require.Contains(t, overview, "Time 213504 d")
	for _, page := range []string{overview, text(get200(t, h, "/rule?id=1"))} {
		require.NotRegexp(t, `[-−][0-9]`, page)
	}
}

func TestIDsOfAnyBytesAreShownAndLinked(t *testing.T) {
	ids := []string{
		"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "a b&c=d?e#f%41+", "\xff\x00", "\u202egnp.exe",
		"../../etc", "javascript:alert(1)", strings.Repeat("x", 4096), "{{.}}", "'`", "правило",
	}
	p, _ := open(t, profile.Options{})
	var runs []profile.Run
	for _, id := range ids {
		runs = append(runs, profile.Run{Rule: id})
	}
	p.RecordAt(readAt, `<b onclick="x">`, runs)
	require.NoError(t, p.Sync(t.Context()))
	h := pagesOf(p, profile.HandlerOptions{Title: "</title><script>1</script>", Rules: func(context.Context) ([]string, error) {
		return nil, errors.New("</li><script>2</script>")
	}, Store: measuring(wrstats.Measure{
		Name: "<i>", Help: `"><i>`, Labels: []string{"<img>"}, Values: []wrstats.MeasuredValue{value(1, "<script>3</script>\u202e")},
	})})
	pages := []string{get200(t, h, "/"), get200(t, h, "/?q="+url.QueryEscape(`"><script>4</script>`))}
	linked := make(map[string]bool)
	for _, m := range regexp.MustCompile(`<a href="(rule\?id=[^"]*)"><bdi>`).FindAllStringSubmatch(pages[0], -1) {
		target := strings.ReplaceAll(m[1], "&#43;", "+")
		id, err := url.QueryUnescape(strings.TrimPrefix(target, "rule?id="))
		require.NoError(t, err)
		linked[id] = true
		page := get200(t, h, "/"+target)
		require.Contains(t, text(page), "It ran on the last 1 action and matched 0 of them", id)
		pages = append(pages, page)
	}
	for _, id := range ids {
		require.True(t, linked[id], "%q", id)
	}
	for _, page := range pages {
		require.Equal(t, 1, strings.Count(page, "<script"), "the page's own")
		require.NotContains(t, page, "<img")
		require.NotContains(t, page, "<i>")
		require.NotContains(t, page, "<b onclick")
		require.NotContains(t, page, "ZgotmplZ")
		require.NotContains(t, page, "\u202e")
		require.NotContains(t, page, " style=")
		require.NotRegexp(t, ` on[a-z]+=`, regexp.MustCompile(`>[^<]*<`).ReplaceAllString(page, "><"), "no handlers in tags")
	}
}
