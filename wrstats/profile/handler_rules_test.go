package profile_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile"
)

// linked returns the rules of a page in their order.
func linked(page string) (ids []string) {
	for _, part := range strings.Split(page, `<a href="rule?id=`)[1:] {
		id, _, _ := strings.Cut(part, `"`)
		ids = append(ids, id)
	}
	return ids
}

func TestLinksSort(t *testing.T) {
	p, _ := open(t, profile.Options{})
	threeRules(t, p)
	p.RecordAt(readAt, "default", []profile.Run{{Rule: "9", Conditions: 1}})
	require.NoError(t, p.Sync(t.Context()))
	h := pagesOf(p, profile.HandlerOptions{Rules: func(context.Context) ([]string, error) { return []string{"new"}, nil }})
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"", []string{"spam", "9", "10", "new"}},
		{"?sort=share", []string{"new", "10", "9", "spam"}},
		{"?sort=id", []string{"9", "10", "new", "spam"}}, // numbers by value, before words
		{"?sort=id&desc=1", []string{"spam", "new", "10", "9"}},
		{"?sort=runs", []string{"new", "10", "spam", "9"}}, // equals by name
		{"?sort=runs&desc=1", []string{"9", "10", "spam", "new"}},
		{"?sort=matches&desc=1", []string{"9", "spam", "10", "new"}},
		{"?sort=rate&desc=1", []string{"9", "spam", "10", "new"}},
		{"?sort=mean&desc=1", []string{"spam", "9", "10", "new"}},
		{"?sort=p50&desc=1", []string{"spam", "9", "10", "new"}},
		{"?sort=p95&desc=1", []string{"spam", "9", "10", "new"}},
		{"?sort=p99", []string{"new", "10", "9", "spam"}},
		{"?desc=1", []string{"spam", "9", "10", "new"}},
		{"?q=SP", []string{"spam"}},
		{"?q=9&sort=id", []string{"9"}},
		{"?q=nowhere", nil},
	} {
		page := get200(t, h, "/"+c.query)
		require.Equal(t, c.want, linked(page), c.query)
		require.Equal(t, 1, strings.Count(page, "aria-sort="))
		var got []string
		for _, r := range getJSON[overviewJSON](t, h, "/"+c.query+map[bool]string{true: "?", false: "&"}[c.query == ""]+"format=json").Rules {
			got = append(got, r.ID)
		}
		require.Equal(t, c.want, got, "as JSON: %s", c.query)
	}
	page := get200(t, h, "/?q=p&sort=id")
	require.Contains(t, page, `<a href="./?desc=1&amp;q=p&amp;sort=id">Rule`, "a link turns its own order round and keeps the search")
	require.Contains(t, page, `<a href="./?desc=1&amp;q=p&amp;sort=runs">Runs`)
	require.Contains(t, page, `<input type="hidden" name="sort" value="id">`, "and the search keeps the order")
	require.Contains(t, text(page), "1 of 4 rules found.")
	require.Contains(t, text(get200(t, h, "/?q=nowhere")), "No rule has “nowhere” in its name.")
}

// A countingStore counts reads.
type countingStore struct {
	wrstats.Store
	reads, keys int
}

func (s *countingStore) Get(ctx context.Context, keys []string) ([]wrstats.Value, error) {
	s.reads++
	s.keys += len(keys)
	return s.Store.Get(ctx, keys)
}

// manyRules records runs of n rules on a store that counts.
func manyRules(t testing.TB, n int) (*profile.Profiler, *countingStore) {
	store := &countingStore{Store: newTap().Store}
	p := openOn(t, store, profile.Options{})
	var runs []profile.Run
	for i := range n {
		runs = append(runs, profile.Run{Rule: strconv.Itoa(i), Duration: time.Duration(i+1) * time.Microsecond, Conditions: i, Matched: i%3 == 0})
	}
	for i := range 7 {
		p.RecordAt(readAt.Add(-time.Duration(i)*9*time.Minute), "default", runs)
	}
	require.NoError(t, p.Sync(context.Background()))
	return p, store
}

func TestAThousandRulesAreOneRead(t *testing.T) {
	p, store := manyRules(t, 1000)
	h := pagesOf(p, profile.HandlerOptions{})
	require.Len(t, linked(get200(t, h, "/")), 1000)
	require.Equal(t, 1, store.reads, "with the groups")
	rules := getJSON[overviewJSON](t, h, "/?format=json&sort=rate&desc=1").Rules // one in three has matched each time
	require.Equal(t, 2, store.reads)
	for i, r := range rules[:334] {
		require.Equal(t, strconv.Itoa(3*i), r.ID, "equals are in the order of their names")
	}
	get200(t, h, "/rule?id=1")
	require.Equal(t, 3, store.reads)
	get200(t, h, "/script.js")
	require.Equal(t, 3, store.reads)
}

func TestNoMoreRulesAreReadThanMaxRules(t *testing.T) {
	p, store := manyRules(t, 20)
	h := pagesOf(p, profile.HandlerOptions{MaxRules: 3})
	page := get200(t, h, "/?sort=id")
	require.Equal(t, []string{"0", "1", "2"}, linked(page))
	require.Contains(t, text(page), "17 rules are not read, as there are so many; search for a part of a name to see others.")
	require.Less(t, store.keys, 4*700)
	require.Equal(t, []string{"15"}, linked(get200(t, h, "/?q=15")), "what is searched for is read first")
	require.Equal(t, 17, getJSON[overviewJSON](t, h, "/?format=json").NotShown)
}

func TestRulesAndGroupsOfTheCallersAreReadToo(t *testing.T) {
	p, _ := open(t, profile.Options{})
	threeRules(t, p)
	names := func(names ...string) func(context.Context) ([]string, error) {
		return func(context.Context) ([]string, error) { return names, nil }
	}
	h := pagesOf(p, profile.HandlerOptions{Rules: names("9", "", "elsewhere", "9"), Groups: names("others")})
	require.Equal(t, []string{"9", "10", "elsewhere", "spam"}, linked(get200(t, h, "/?sort=id")))
	var groups []string
	for _, g := range getJSON[overviewJSON](t, h, "/?format=json").Groups {
		groups = append(groups, g.ID)
	}
	require.Equal(t, []string{"default", "others"}, groups)

	h = pagesOf(p, profile.HandlerOptions{Rules: func(context.Context) ([]string, error) { return []string{"some"}, errors.New("no configuration") }})
	page := get200(t, h, "/?sort=id")
	require.Equal(t, []string{"9", "10", "some", "spam"}, linked(page))
	require.Contains(t, text(page), "Something is missing The rest is shown. The list of rules can’t be had")
	require.Contains(t, text(page), "no configuration")

	empty, _ := open(t, profile.Options{})
	require.Contains(t, text(get200(t, pagesOf(empty, profile.HandlerOptions{}), "/")), "No rule is known yet.")
}

func TestNamesAreThoseRecorded(t *testing.T) {
	p, _ := open(t, profile.Options{})
	require.Empty(t, p.RuleNames())
	p.Record("b", []profile.Run{{Rule: "2"}, {Rule: ""}, {Rule: "10"}})
	p.Record("a", []profile.Run{{Rule: "2"}})
	require.Equal(t, []string{"10", "2"}, p.RuleNames())
	require.Equal(t, []string{"a", "b"}, p.GroupNames())
}

// BenchmarkPage renders the overview of 1,000 rules, with the read of its 602,035 keys, which "read" is alone.
func BenchmarkPage(b *testing.B) {
	p, store := manyRules(b, 1000)
	h := pagesOf(p, profile.HandlerOptions{})
	for name, target := range map[string]string{"html": "/", "json": "/?format=json"} {
		b.Run("rules=1000/as="+name, func(b *testing.B) {
			b.ReportAllocs()
			var size int
			for b.Loop() {
				size = len(get200(b, h, target))
			}
			b.ReportMetric(float64(size), "bytes/page")
		})
	}
	b.Run("rules=1000/read", func(b *testing.B) {
		names := p.RuleNames()
		before := store.keys
		n := 0
		for b.Loop() {
			n++
			_, err := p.ProfileAt(b.Context(), readAt, names, []string{"default"})
			require.NoError(b, err)
		}
		b.ReportMetric(float64(store.keys-before)/float64(n), "keys/page")
	})
}
