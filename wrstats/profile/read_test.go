package profile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile"
)

func TestWhatIsRecordedIsRead(t *testing.T) {
	for _, r := range recorders {
		t.Run(r.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, _ := open(t, profile.Options{})
				for i := range 4 { // minutes apart, over the edge of a bucket
					time.Sleep(4 * time.Minute)
					r.record(p, "default", []profile.Run{
						{Rule: "slow", Duration: time.Duration(i+1) * 1234567, Conditions: 10 * i, Matched: i == 2},
						{Rule: "always", Duration: 10 * time.Microsecond, Conditions: 1, Matched: true},
					})
				}
				r.record(p, "other", []profile.Run{{Rule: "slow", Conditions: 40}})
				r.record(p, "default", nil)

				slow := profile.Rule{
					Name: "slow", Runs: 5, Matches: 1, Conditions: 100,
					Time:      12345 * time.Microsecond, // of 12345.67
					MeanTime:  2469 * time.Microsecond,
					MatchRate: 0.2, MeanConditions: 20,
				}
				require.Equal(t, []profile.Rule{
					slow,
					{Name: "never"},
					{Name: "always", Runs: 4, Matches: 4, Conditions: 4, Time: 40 * time.Microsecond,
						MeanTime: 10 * time.Microsecond, MatchRate: 1, MeanConditions: 1},
					slow,
				}, counted(rulesAt(t, p, time.Now(), "slow", "never", "always", "slow")...), "in the order asked for")
				require.Equal(t, profile.Group{
					Name: "default", Actions: 5, Matches: 4, Conditions: 64,
					Time: 12385 * time.Microsecond, MeanTime: 2477 * time.Microsecond, MeanConditions: 12.8,
				}, groupAt(t, p, time.Now(), "default"))
				require.Equal(t, profile.Group{Name: "other", Actions: 1, Conditions: 40, MeanConditions: 40},
					groupAt(t, p, time.Now(), "other"))
				require.Equal(t, profile.Group{Name: "none"}, groupAt(t, p, time.Now(), "none"))
				require.Empty(t, rulesAt(t, p, time.Now()), "no rules are no profiles")
			})
		})
	}
}

func TestTimesAreExactToTheMicrosecond(t *testing.T) {
	p, _ := open(t, profile.Options{})
	var names []string
	var runs []profile.Run
	for us := time.Duration(1); us < 100_000; us += 97 {
		names = append(names, us.String())
		runs = append(runs, profile.Run{Rule: us.String(), Duration: us * time.Microsecond})
	}
	p.RecordAt(start, "default", runs)
	for i, rule := range rulesAt(t, p, start, names...) {
		require.Equal(t, runs[i].Duration, rule.Time)
		require.Equal(t, runs[i].Duration, rule.MeanTime)
	}
}

// Sixty runs within the first second of a bucket leave the hour as that bucket does.
func TestReadingAsOfAnotherInstant(t *testing.T) {
	p, _ := open(t, profile.Options{ConditionLimit: 1})
	for i := range 60 {
		p.RecordAt(start.Add(time.Duration(i)*time.Second/60), "default",
			[]profile.Run{{Rule: "1", Duration: 2 * time.Millisecond, Conditions: 4, Matched: true}})
	}
	for _, c := range []struct {
		age  time.Duration
		want float64 // of the runs
	}{
		{-time.Nanosecond, 0}, {0, 60}, {time.Second, 60}, {20 * time.Minute, 60}, {time.Hour - time.Second, 60}, {time.Hour, 60},
		{65 * time.Minute, 30}, {69 * time.Minute, 6}, {70 * time.Minute, 0}, {24 * time.Hour, 0},
	} {
		t.Run(c.age.String(), func(t *testing.T) {
			rule := profile.Rule{Name: "1"}
			group := profile.Group{Name: "default"}
			if n := c.want; n > 0 {
				total := time.Duration(n) * 2 * time.Millisecond
				rule = profile.Rule{Name: "1", Runs: n, Matches: n, Conditions: 4 * n, Time: total,
					MeanTime: 2 * time.Millisecond, MatchRate: 1, MeanConditions: 4}
				group = profile.Group{Name: "default", Actions: n, Overflows: n, Matches: n, Conditions: 4 * n, Time: total,
					MeanTime: 2 * time.Millisecond, MeanConditions: 4}
			}
			require.Equal(t, rule, counted(rulesAt(t, p, start.Add(c.age), "1")...)[0])
			require.Equal(t, group, groupAt(t, p, start.Add(c.age), "default"))
		})
	}
}

func TestTheRetentionIsWhatIsRead(t *testing.T) {
	p, _ := open(t, profile.Options{Step: 2 * time.Hour, Retention: 24 * time.Hour})
	day := time.Unix(245083*7200, 0)
	for hour := range 48 {
		p.RecordAt(day.Add(time.Duration(hour)*time.Hour), "default", []profile.Run{{Rule: "1"}})
	}
	require.EqualValues(t, 24, rulesAt(t, p, day.Add(24*time.Hour-1), "1")[0].Runs)
	require.EqualValues(t, 24, rulesAt(t, p, day.Add(48*time.Hour-1), "1")[0].Runs)
}

// Six windows of 100 runs with 5 matches, 2 ms and 3 conditions each: the means stay whichever key is
// lost, at any age.
func TestALostKeyBendsNoMean(t *testing.T) {
	p, store := open(t, profile.Options{})
	runs := make([]profile.Run, 100)
	for i := range runs {
		runs[i] = profile.Run{Rule: "1", Duration: 2 * time.Millisecond, Conditions: 3, Matched: i < 5}
	}
	for window := range 6 {
		p.RecordAt(start.Add(time.Duration(window)*10*time.Minute), "default", runs)
	}
	require.NoError(t, p.Sync(t.Context()))
	check := func(age time.Duration, missing int) {
		rule := rulesAt(t, p, start.Add(age), "1")[0]
		require.InDelta(t, 0.05, rule.MatchRate, 1e-12, age)
		require.InDelta(t, 3, rule.MeanConditions, 1e-12, age)
		require.Equal(t, 2*time.Millisecond, rule.MeanTime, age)
		require.Equal(t, missing, rule.Missing, age)
		group := groupAt(t, p, start.Add(age), "default")
		require.InDelta(t, 300, group.MeanConditions, 1e-9, age)
		require.Equal(t, 200*time.Millisecond, group.MeanTime, age)
		require.Equal(t, missing, group.Missing, age)
	}
	for age := 59 * time.Minute; age < 2*time.Hour; age += 77 * time.Second {
		check(age, 0)
	}
	for window := range 6 {
		for i, metric := range []string{"count", "matches", "total-time", "total-cond"} {
			ofGroup := []string{"total", "matches", "total-time", "total-cond"}[i]
			keys := []string{
				fmt.Sprintf("local:abusefilter-profile:%s::%d:filter:1", metric, 2941000+window),
				fmt.Sprintf("local:abusefilter-profile:%s::%d:group:default", ofGroup, 2941000+window),
			}
			held := get(t, store, keys...)
			require.NoError(t, store.Delete(t.Context(), keys))
			check(59*time.Minute, 1)
			if window > 1 {
				check(75*time.Minute, 1) // the first window has left, half of the second too
			}
			for i, value := range held {
				_, err := store.Incr(t.Context(), []wrstats.Increment{{Key: keys[i], Delta: value.N, TTL: time.Hour}})
				require.NoError(t, err)
			}
			check(59*time.Minute, 0)
		}
	}
}

func TestWindowsLostWhole(t *testing.T) {
	p, store := open(t, profile.Options{})
	p.RecordAt(start, "default", twoRuns)
	p.RecordAt(start.Add(10*time.Minute), "default", twoRuns)
	require.NoError(t, p.Sync(t.Context()))
	for missing, metric := range []string{"count", "matches", "total-time"} {
		require.NoError(t, store.Delete(t.Context(), []string{"local:abusefilter-profile:" + metric + "::2941000:filter:42"}))
		require.Equal(t, 1, rulesAt(t, p, start.Add(15*time.Minute), "42")[0].Missing, "%d of a window's keys", missing+1)
	}
	require.NoError(t, store.Delete(t.Context(), []string{"local:abusefilter-profile:total-cond::2941000:filter:42"}))
	rule := rulesAt(t, p, start.Add(15*time.Minute), "42")[0]
	require.Zero(t, rule.Missing, "all of them: as if the rule had not run")
	require.EqualValues(t, 2, rule.Runs)
}

func TestAPartialAnswerComesWithItsError(t *testing.T) {
	store := newTap()
	p := openOn(t, store, profile.Options{})
	p.RecordAt(start, "default", twoRuns)
	require.NoError(t, p.Sync(t.Context()))

	down := errors.New("a server is down")
	store.err = fmt.Errorf("%w: %w", wrstats.ErrPartial, down)
	store.gone = func(key string) bool { return strings.Contains(key, ":total-time:") }
	rules, err := p.RulesAt(t.Context(), start, []string{"42", "43"})
	require.ErrorIs(t, err, wrstats.ErrPartial)
	require.ErrorIs(t, err, down)
	require.Equal(t, []profile.Rule{
		{Name: "42", Runs: 2, Matches: 1, Conditions: 12, MatchRate: 0.5, MeanConditions: 6, Missing: 1},
		{Name: "43"},
	}, counted(rules...))
	group, err := p.GroupAt(t.Context(), start, "default")
	require.ErrorIs(t, err, wrstats.ErrPartial)
	require.Equal(t, profile.Group{Name: "default", Actions: 1, Matches: 1, Conditions: 12, MeanConditions: 12, Missing: 1}, group)

	store.err = down
	rules, err = p.RulesAt(t.Context(), start, []string{"42", "43"})
	require.ErrorIs(t, err, down)
	require.Nil(t, rules, "any other error comes alone")
	group, err = p.GroupAt(t.Context(), start, "default")
	require.ErrorIs(t, err, down)
	require.Zero(t, group)
}

// FuzzNames requires that whatever ids are, each has its own profile.
func FuzzNames(f *testing.F) {
	f.Add("42", "43", "default")
	f.Add("a:b", "a", "b")
	f.Add("x 0 0 1\r\nflush_all\r\n", "\r\n", "\x00")
	f.Add("", "group", "")
	f.Add(strings.Repeat("é", 300), strings.Repeat("é", 300)+"x", "#")
	f.Fuzz(func(t *testing.T, one, other, group string) {
		p, _ := open(t, profile.Options{Writer: wrstats.WriterOptions{FlushInterval: -1}})
		now := time.Unix(1_700_000_000, 0)
		p.RecordAt(now, group, []profile.Run{{Rule: one, Matched: true}, {Rule: one}, {Rule: other, Conditions: 3}})
		for _, name := range []string{one, other} {
			want := 0.0
			for _, run := range []string{one, one, other} {
				if run == name {
					want++
				}
			}
			if name == "" { // which is refused
				continue
			}
			require.Equal(t, want, rulesAt(t, p, now, name)[0].Runs, "%q", name)
		}
	})
}
