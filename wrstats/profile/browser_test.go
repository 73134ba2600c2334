package profile_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile"
)

// Expressions that a test asks a page.
const (
	shownRules = `[...document.querySelectorAll("#rows tr[data-v]")].filter(r => !r.hidden).map(r => r.cells[0].querySelector("bdi").textContent).join()`
	sortedBy   = `[...document.querySelectorAll("th[aria-sort]")].map(th => th.dataset.key + " " + th.getAttribute("aria-sort")).join()`
)

func TestInChromium(t *testing.T) {
	browser := startChromium(t)
	for _, c := range []struct {
		rule string
		test func(t *testing.T, browser context.Context)
	}{
		{"the numbers on the page are the Reader's", numbersInChromium},
		{"without scripts links sort and a form searches", withoutScriptsInChromium},
		{"with scripts it sorts and searches at once", withScriptsInChromium},
		{"a rule whose name is too long for a link is searched, sorted and cut to lines like others", longInChromium},
		{"with more rules than are read the server searches", cutInChromium},
		{"an id of a script is text", escapedInChromium},
		{"nothing is wider than a screen of 360 pixels", narrowInChromium},
		{"dark is dark and the keyboard's place is seen", darkInChromium},
		{"it refreshes itself and keeps the reader's place", refreshInChromium},
		{"a rule is reset by two clicks, without scripts", resetInChromium},
	} {
		t.Run(c.rule, func(t *testing.T) { c.test(t, browser) })
	}
}

func numbersInChromium(t *testing.T, browser context.Context) {
	p, _ := open(t, profile.Options{})
	threeRules(t, p)
	want, err := p.ProfileAt(t.Context(), readAt, []string{"9", "10", "spam"}, []string{"default"})
	require.NoError(t, err)
	var total time.Duration
	for _, r := range want.Rules {
		total += r.Time
	}
	tab := newTab(t, browser, pagesOf(p, profile.HandlerOptions{}))
	tab.open("./?sort=id")
	rows := eval[[][]string](tab, `[...document.querySelectorAll("#rows tr")].map(r => [r.dataset.v, ...[...r.cells].map(c => c.textContent)])`)
	require.Len(t, rows, 3)
	for i, r := range want.Rules {
		exact := strings.Fields(rows[i][0])
		for j, v := range []float64{float64(i), r.Runs, r.Matches, r.MatchRate, float64(r.MeanTime), float64(r.P50), float64(r.P95), float64(r.P99), part(r.Time, total), 1} {
			got, err := strconv.ParseFloat(exact[j], 64)
			require.NoError(t, err)
			require.Equal(t, v, got, "%s, column %d", r.Name, j)
		}
		require.Equal(t, r.Name, strings.Fields(rows[i][1])[0])
		for j, v := range []float64{r.Runs, r.Matches, 100 * r.MatchRate, r.MeanTime.Seconds(), r.P50.Seconds(), r.P95.Seconds(), r.P99.Seconds(), 100 * part(r.Time, total)} {
			require.InEpsilon(t, 1+v, 1+shown(t, rows[i][2+j]), 0.006, "%s, column %d: %s", r.Name, j, rows[i][2+j])
		}
	}
	tab.open("rule?id=spam")
	rows = eval[[][]string](tab, `[...document.querySelectorAll("tbody tr")].map(r => [...r.cells].map(c => c.textContent))`)
	windows := want.Rules[2].Windows
	require.Len(t, rows, len(windows))
	for i, w := range windows {
		row := rows[len(rows)-1-i]
		require.Equal(t, w.Start.UTC().Format("15:04"), row[0])
		if w.Found {
			require.Equal(t, []float64{w.Runs, w.Matches}, []float64{shown(t, row[1]), shown(t, row[2])})
			require.InEpsilon(t, w.P95.Seconds(), shown(t, row[5]), 0.006)
		}
	}
	require.Equal(t, 3, eval[int](tab, `document.querySelectorAll("figure svg[role=img] > title").length`))
	for _, link := range []string{"./", "rule?id=spam"} {
		tab.open(link)
		require.Zero(t, eval[int](tab, `[...document.querySelectorAll("table")].filter(t => !t.caption || !t.caption.textContent).length`))
		require.Zero(t, eval[int](tab, `document.querySelectorAll("th:not([scope])").length`))
		require.Zero(t, eval[int](tab, `document.querySelectorAll("[style]").length`))
	}
}

func part(some, all time.Duration) float64 { return float64(some) / float64(all) }

// shown reads a number with its unit: a time is in seconds.
func shown(t *testing.T, text string) float64 {
	number, unit, _ := strings.Cut(strings.TrimSpace(text), "\u202f")
	value, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
	require.NoError(t, err, text)
	scale, ok := map[string]float64{"": 1, "%": 1, "ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1}[unit]
	require.True(t, ok, text)
	return value * scale
}

func withoutScriptsInChromium(t *testing.T, browser context.Context) {
	p, _ := open(t, profile.Options{})
	threeRules(t, p)
	tab := newTab(t, browser, pagesOf(p, profile.HandlerOptions{}))
	tab.scriptsOff()
	tab.open("./")
	require.Equal(t, "spam,9,10", eval[string](tab, shownRules))
	tab.follow("th[data-key=id] a")
	require.Equal(t, "9,10,spam", eval[string](tab, shownRules))
	require.Equal(t, "id ascending", eval[string](tab, sortedBy))
	tab.follow("th[data-key=id] a")
	require.Equal(t, "spam,10,9", eval[string](tab, shownRules))
	tab.do(chromedp.SendKeys("#search", "1"))
	tab.follow("form[role=search] button")
	require.Equal(t, "10", eval[string](tab, shownRules))
	require.Equal(t, "id descending", eval[string](tab, sortedBy))
	tab.follow("#clear")
	require.Equal(t, "spam,10,9", eval[string](tab, shownRules))
	require.True(t, eval[bool](tab, `document.getElementById("pause").hidden`), "nothing refreshes, so nothing pauses")
	tab.follow("#rows a")
	require.Equal(t, "spam", eval[string](tab, `document.querySelector("h1").textContent`))
}

func withScriptsInChromium(t *testing.T, browser context.Context) {
	p, _ := open(t, profile.Options{})
	threeRules(t, p)
	h := pagesOf(p, profile.HandlerOptions{Refresh: time.Hour})
	tab := newTab(t, browser, h)
	tab.open("./")
	eval[int](tab, `window.stays = 1`)
	asked := tab.asked()
	tab.click("th[data-key=matches] a")
	until(tab, "9,spam,10", shownRules)
	require.Equal(t, "matches descending", eval[string](tab, sortedBy))
	tab.click("th[data-key=matches] a")
	until(tab, "10,spam,9", shownRules)
	require.Equal(t, "matches ascending", eval[string](tab, sortedBy))
	until(tab, "Sorted by Matches, ascending.", `document.getElementById("status").textContent`)
	tab.do(chromedp.SendKeys("#search", "P"))
	until(tab, "spam", shownRules)
	require.Equal(t, "1 of 3 rules found.", eval[string](tab, `document.getElementById("count").textContent`))
	require.Equal(t, "search", eval[string](tab, `document.activeElement.id`))
	require.Equal(t, "?sort=matches&q=P", eval[string](tab, `location.search`), "so that the page can be shared")
	tab.do(chromedp.SendKeys("#search", "\b"))
	until(tab, "10,spam,9", shownRules)
	until(tab, "3 rules.", `document.getElementById("count").textContent`)
	require.Equal(t, 1, eval[int](tab, `window.stays`))
	require.Equal(t, asked, tab.asked(), "nothing was asked of the server")
	for _, key := range []string{"id", "runs", "matches", "rate", "mean", "p50", "p95", "p99", "share", "complete", "id"} {
		for range 2 {
			before := eval[string](tab, sortedBy)
			tab.click("th[data-key=" + key + "] a")
			until(tab, true, fmt.Sprintf(`%s !== %q`, sortedBy, before))
			query := "?sort=" + key
			if strings.Contains(eval[string](tab, sortedBy), "descending") {
				query += "&desc=1"
			}
			require.Equal(t, strings.Join(linked(get200(t, h, "/"+query)), ","), eval[string](tab, shownRules), "as the server sorts by %s", query)
		}
	}
}

func longInChromium(t *testing.T, browser context.Context) {
	p, _ := open(t, profile.Options{})
	threeRules(t, p)
	longest, longer := strings.Repeat("x", 4096), strings.Repeat("x", 4097)
	p.RecordAt(readAt, "default", []profile.Run{{Rule: longest}, {Rule: longer}})
	require.NoError(t, p.Sync(t.Context()))
	tab := newTab(t, browser, pagesOf(p, profile.HandlerOptions{Refresh: 50 * time.Millisecond}))
	tab.screen(1000, "light")
	tab.open("./?sort=id")
	require.Equal(t, "9,10,spam,"+longest+","+longer, eval[string](tab, shownRules))
	heights := eval[[]float64](tab, `[...document.querySelectorAll("#rows tr")].map(r => r.cells[0].getBoundingClientRect().height)`)
	require.InDelta(t, heights[3], heights[4], 2) // the last row has no border
	tab.do(chromedp.SendKeys("#search", "xx"))
	until(tab, longest+","+longer, shownRules)
	tab.click("th[data-key=id] a")
	until(tab, longer+","+longest, shownRules)
	tab.refreshed(tab.asked() + 3)
	require.Equal(t, longer+","+longest, eval[string](tab, shownRules))
}

func cutInChromium(t *testing.T, browser context.Context) {
	p, _ := manyRules(t, 20)
	tab := newTab(t, browser, pagesOf(p, profile.HandlerOptions{MaxRules: 3, Refresh: 50 * time.Millisecond}))
	tab.open("./?sort=id")
	require.Equal(t, "0,1,2", eval[string](tab, shownRules))
	tab.do(chromedp.SendKeys("#search", "15\r"))
	until(tab, "15", shownRules)
	tab.refreshed(tab.asked() + 3)
	require.Equal(t, "15", eval[string](tab, shownRules), "after refreshes too")
	tab.click("th[data-key=runs] a")
	until(tab, "runs descending", sortedBy)
	require.Equal(t, "?sort=runs&desc=1&q=15", eval[string](tab, `location.search`))
}

func escapedInChromium(t *testing.T, browser context.Context) {
	const id = "<script>alert(1)</script>"
	p, _ := open(t, profile.Options{})
	p.RecordAt(readAt, id, []profile.Run{{Rule: id}, {Rule: `"onmouseover=alert(2) x="`}, {Rule: "\xff"}})
	require.NoError(t, p.Sync(t.Context()))
	tab := newTab(t, browser, pagesOf(p, profile.HandlerOptions{Title: id, Refresh: 50 * time.Millisecond}))
	tab.open("./?q=" + "%3Cscript%3Ealert(1)")
	until(tab, id, shownRules)
	asked := tab.asked()
	until(tab, true, `document.getElementById("rows").rows.length === 3`) // the first refresh has all
	tab.refreshed(asked + 3)
	require.Equal(t, id, eval[string](tab, shownRules))
	require.Equal(t, 1, eval[int](tab, `document.scripts.length`))
	tab.follow("#rows tr:not([hidden]) a")
	require.Equal(t, id, eval[string](tab, `document.querySelector("h1").textContent`))
	require.Equal(t, id+" – "+id, eval[string](tab, `document.title`))
	tab.open("rule?id=%FF")
	require.Equal(t, `\xff`, eval[string](tab, `document.querySelector("h1").textContent`))
	require.Contains(t, eval[string](tab, `document.querySelector(".sentence").textContent`), "It ran on the last 1 action")
}

func narrowInChromium(t *testing.T, browser context.Context) {
	store := newTap()
	p := openOn(t, store, profile.Options{})
	threeRules(t, p)
	long := strings.Repeat("long", 60)
	p.RecordAt(readAt, long, []profile.Run{{Rule: long, Duration: time.Hour, Conditions: 1e9}, {Rule: strings.Repeat("a b ", 50)}})
	require.NoError(t, p.Sync(t.Context()))
	store.err = errors.Join(wrstats.ErrPartial, errors.New("memcached: get "+strings.Repeat("a-server", 30)))
	tab := newTab(t, browser, pagesOf(p, profile.HandlerOptions{Reset: allow, Store: measuring(wrstats.Measure{
		Name: long, Labels: []string{long}, Values: []wrstats.MeasuredValue{value(1e20, long)},
	})}))
	for _, width := range []int64{360, 1600} {
		tab.screen(width, "light")
		for _, link := range []string{"./", "rule?id=9", "rule?id=" + long, "reset?id=" + long} {
			tab.open(link)
			require.LessOrEqual(t, eval[int64](tab, `document.documentElement.scrollWidth`), width, link)
		}
	}
	tab.screen(360, "light")
	tab.open("./")
	require.True(t, eval[bool](tab, `(r => r.scrollWidth > r.clientWidth && r.tabIndex === 0)(document.querySelector(".scroll"))`), "the table scrolls in a region of its own")
}

func darkInChromium(t *testing.T, browser context.Context) {
	p, _ := open(t, profile.Options{})
	threeRules(t, p)
	tab := newTab(t, browser, pagesOf(p, profile.HandlerOptions{}))
	const colours = `(s => s.color + " on " + s.backgroundColor)(getComputedStyle(document.body))`
	tab.screen(1000, "light")
	tab.open("./")
	light := eval[string](tab, colours)
	tab.screen(1000, "dark")
	tab.open("./")
	require.NotEqual(t, light, eval[string](tab, colours))
	require.Less(t, eval[int](tab, `+getComputedStyle(document.body).backgroundColor.match(/\d+/)[0]`), 64)
	tab.do(chromedp.KeyEvent("\t"))
	until(tab, "Skip to content", `document.activeElement.textContent`)
	require.NotEqual(t, "none", eval[string](tab, `getComputedStyle(document.activeElement).outlineStyle`))
}

func refreshInChromium(t *testing.T, browser context.Context) {
	p, _ := open(t, profile.Options{})
	threeRules(t, p)
	for i := range 100 { // enough to scroll
		p.RecordAt(readAt, "default", []profile.Run{{Rule: "filler " + strconv.Itoa(i)}})
	}
	require.NoError(t, p.Sync(t.Context()))
	tab := newTab(t, browser, pagesOf(p, profile.HandlerOptions{Refresh: 50 * time.Millisecond}))
	tab.screen(1000, "light")
	tab.open("./")
	tab.click("th[data-key=id] a")
	tab.do(chromedp.SendKeys("#search", "filler"))
	until(tab, 100, `[...document.getElementById("rows").rows].filter(r => !r.hidden).length`)
	eval[int](tab, `[...document.querySelectorAll("#rows a")].find(a => a.textContent === "filler 50").focus(), scrollTo(0, 700), 1`)
	const runs = `[...document.getElementById("rows").rows].find(r => r.cells[0].textContent.startsWith("filler 50")).cells[1].textContent`
	count := func() {
		p.RecordAt(readAt, "default", []profile.Run{{Rule: "filler 50"}, {Rule: "a filler"}})
		require.NoError(t, p.Sync(t.Context()))
	}
	require.Equal(t, "1", eval[string](tab, runs))
	count()
	until(tab, "2", runs)
	require.Equal(t, "filler 50", eval[string](tab, `document.activeElement.textContent`), "the focus stays")
	require.Equal(t, 700, eval[int](tab, `scrollY`))
	require.Equal(t, "id ascending", eval[string](tab, sortedBy))
	until(tab, "a filler,filler 0,filler 1", shownRules+`.split(",").slice(0, 3).join()`) // what is new takes its place, by the next refresh
	require.Empty(t, eval[string](tab, `document.getElementById("status").textContent.replace(/Sorted.*|.* found\./, "")`), "it does not chatter")

	tab.click("#pause")
	until(tab, "Resume updates", `document.getElementById("pause").textContent`)
	count()
	time.Sleep(time.Second) // in which twenty refreshes would be
	require.Equal(t, "2", eval[string](tab, runs))
	tab.click("#pause")
	until(tab, "3", runs)

	tab.open("rule?id=spam")
	const sentence = `document.querySelector(".sentence b").textContent`
	require.Equal(t, "50", eval[string](tab, sentence))
	p.RecordAt(readAt, "default", []profile.Run{{Rule: "spam"}})
	require.NoError(t, p.Sync(t.Context()))
	until(tab, "51", sentence)
}

func resetInChromium(t *testing.T, browser context.Context) {
	p, _ := open(t, profile.Options{})
	threeRules(t, p)
	tab := newTab(t, browser, pagesOf(p, profile.HandlerOptions{Reset: allow}))
	tab.scriptsOff()
	tab.open("rule?id=spam")
	tab.follow("footer a[href^=reset]")
	require.Equal(t, "Reset spam?", eval[string](tab, `document.querySelector("h1").textContent`))
	tab.follow("form button")
	require.Equal(t, "spam", eval[string](tab, `document.querySelector("h1").textContent`))
	require.Contains(t, eval[string](tab, `document.querySelector(".sentence").textContent`), "It has not run in the last hour")
	require.Zero(t, rulesAt(t, p, readAt, "spam")[0].Runs)
}
