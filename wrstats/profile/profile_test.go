package profile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile"
)

// start is the beginning of the bucket 2941000 of ten minutes.
var start = time.Unix(2941000*600, 0)

// open returns a Profiler that flushes only when it is told to, on a store of its own. The test's end
// closes both.
func open(t testing.TB, opts profile.Options) (*profile.Profiler, *memory.Store) {
	store := memory.New(memory.Options{})
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return openOn(t, store, opts), store
}

func openOn(t testing.TB, store wrstats.Store, opts profile.Options) *profile.Profiler {
	opts.Writer.FlushInterval = -1
	p, err := profile.New(store, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close(context.Background())) })
	return p
}

// rulesAt syncs and reads.
func rulesAt(t testing.TB, p *profile.Profiler, now time.Time, rules ...string) []profile.Rule {
	t.Helper()
	require.NoError(t, p.Sync(context.Background()))
	profiles, err := p.RulesAt(context.Background(), now, rules)
	require.NoError(t, err)
	return profiles
}

// counted returns rules without their quantiles, which have tests of their own.
func counted(rules ...profile.Rule) []profile.Rule {
	rules = slices.Clone(rules)
	for i := range rules {
		rules[i].P50, rules[i].P95, rules[i].P99, rules[i].Unknown = 0, 0, 0, 0
	}
	return rules
}

func groupAt(t testing.TB, p *profile.Profiler, now time.Time, group string) profile.Group {
	t.Helper()
	require.NoError(t, p.Sync(context.Background()))
	g, err := p.GroupAt(context.Background(), now, group)
	require.NoError(t, err)
	return g
}

// recorders are the two ways to record what happens now.
var recorders = []struct {
	name   string
	record func(p *profile.Profiler, group string, runs []profile.Run)
}{
	{"Record", func(p *profile.Profiler, group string, runs []profile.Run) { p.Record(group, runs) }},
	{"RecordAt", func(p *profile.Profiler, group string, runs []profile.Run) { p.RecordAt(time.Now(), group, runs) }},
}

func TestNewNamesTheOptionThatIsWrong(t *testing.T) {
	for _, c := range []struct {
		rule string
		opts profile.Options
		want string
	}{
		{"a negative step", profile.Options{Step: -1}, "Options.Step"},
		{"a step below a millisecond", profile.Options{Step: time.Microsecond}, "Options.Step"},
		{"a step over the retention", profile.Options{Step: 2 * time.Hour}, "Options.Step"},
		{"a negative retention", profile.Options{Retention: -1}, "Options.Retention"},
		{"a retention of a century", profile.Options{Retention: 100 * 365 * 24 * time.Hour}, "Options.Retention"},
		{"a negative condition limit", profile.Options{ConditionLimit: -1}, "Options.ConditionLimit"},
		{"a negative slow run", profile.Options{SlowRun: -1}, "Options.SlowRun"},
		{"a negative least time", profile.Options{Quantiles: profile.QuantileOptions{Min: -1}}, "Options.Quantiles.Min: -1ns is negative"},
		{"a least time over the most", profile.Options{Quantiles: profile.QuantileOptions{Min: time.Minute}}, "Options.Quantiles.Max: 10s is not more than the Min of 1m0s"},
		{"an error of 1", profile.Options{Quantiles: profile.QuantileOptions{RelativeError: 1}}, "Options.Quantiles.RelativeError: 1"},
		{"an error that makes too many bins", profile.Options{Quantiles: profile.QuantileOptions{RelativeError: 0.001}}, "RelativeError: 0.001 makes 8060 bins"},
		{"the keyspace global", profile.Options{Keyspace: "global"}, "Keyspace"},
		{"a long prefix", profile.Options{Prefix: strings.Repeat("p", 200)}, "Prefix"},
		{"a long keyspace", profile.Options{Keyspace: strings.Repeat("k", 200)}, "Keyspace"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			p, err := profile.New(memory.New(memory.Options{}), c.opts)
			require.Nil(t, p)
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := profile.New(nil, profile.Options{})
	require.ErrorContains(t, err, "store")
}

func TestResetForgetsARule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := open(t, profile.Options{})
		action := []profile.Run{{Rule: "1", Conditions: 2, Matched: true}, {Rule: "2", Conditions: 3}}
		for range 4 { // in four windows, the last of them pending
			require.NoError(t, p.Sync(t.Context()))
			time.Sleep(10 * time.Minute)
			p.Record("default", action)
		}
		require.NoError(t, p.Reset(t.Context(), "1"))

		rules := rulesAt(t, p, time.Now(), "1", "2")
		require.Equal(t, profile.Rule{Name: "1"}, rules[0])
		require.Equal(t, profile.Rule{Name: "2", Runs: 4, Conditions: 12, MeanConditions: 3}, counted(rules[1])[0])
		require.EqualValues(t, 4, groupAt(t, p, time.Now(), "default").Actions)

		p.Record("default", action)
		require.EqualValues(t, 1, rulesAt(t, p, time.Now(), "1")[0].Runs, "it counts again")
	})
}

func TestResetAtForgetsWhatAReadAtThatInstantFinds(t *testing.T) {
	p, _ := open(t, profile.Options{})
	read := start.Add(time.Minute)
	p.RecordAt(start, "default", []profile.Run{{Rule: "1"}})
	require.EqualValues(t, 1, rulesAt(t, p, read, "1")[0].Runs)
	require.NoError(t, p.ResetAt(t.Context(), start.Add(24*time.Hour), "1"))
	require.EqualValues(t, 1, rulesAt(t, p, read, "1")[0].Runs, "a day later it is out of reach")
	require.NoError(t, p.ResetAt(t.Context(), read, "1"))
	require.Zero(t, rulesAt(t, p, read, "1")[0].Runs)
}

func TestCloseStoresWhatWasRecordedAndRefusesTheRest(t *testing.T) {
	for _, r := range recorders {
		t.Run(r.name, func(t *testing.T) {
			p, _ := open(t, profile.Options{})
			known := []profile.Run{{Rule: "1", Conditions: 2}}
			r.record(p, "default", known)
			require.NoError(t, p.Close(t.Context()))
			require.NoError(t, p.Close(t.Context()), "again is fine")

			closed := p.Stats()
			for _, c := range []struct {
				rule, group string
				runs        []profile.Run
			}{
				{"of a rule and a group that are known", "default", known},
				{"of a new rule", "default", []profile.Run{{Rule: "2"}}},
				{"of a new rule and a new group", "other", []profile.Run{{Rule: "3"}}},
				{"of a new group alone", "another", nil},
			} {
				before := p.Stats().Rejected
				r.record(p, c.group, c.runs)
				require.Greater(t, p.Stats().Rejected, before, "an action %s", c.rule)
			}
			stats := p.Stats()
			stats.Rejected = closed.Rejected
			require.Equal(t, closed, stats, "nothing else changes")

			rules, err := p.Rules(t.Context(), []string{"1"})
			require.NoError(t, err, "reading goes on")
			require.EqualValues(t, 1, rules[0].Runs)
			require.ErrorIs(t, p.Sync(t.Context()), wrstats.ErrClosed)
			require.ErrorIs(t, p.Reset(t.Context(), "1"), wrstats.ErrClosed)
		})
	}
}

func TestNamesMayHoldAnyBytes(t *testing.T) {
	names := []string{
		"a:b", "a", "\r\nflush_all\r\n", "x 0 0 1\r\nflush_all\r\n", " ", "_", "é", "e", "\x00", "%", "%3A", "#", "END",
		strings.Repeat("x", 299) + "y", strings.Repeat("x", 300), strings.Repeat("é", 126),
	}
	for _, keys := range []wrstats.KeyFormat{wrstats.DefaultKeys, wrstats.MediaWikiKeys} {
		t.Run(fmt.Sprintf("%T", keys), func(t *testing.T) {
			if keys == wrstats.MediaWikiKeys {
				names = append(names[:5:5], names[6:]...) // there " " and "_" are one
			}
			store := newTap()
			p := openOn(t, store, profile.Options{Keys: keys})
			for i, name := range names {
				for range i + 1 {
					p.RecordAt(start, name, []profile.Run{{Rule: name}})
				}
			}
			for i, rule := range rulesAt(t, p, start, names...) {
				require.Equal(t, profile.Rule{Name: names[i], Runs: float64(i + 1)}, counted(rule)[0])
				require.EqualValues(t, i+1, groupAt(t, p, start, names[i]).Actions, "group %q", names[i])
			}
			for key := range store.ttls {
				require.Regexp(t, `^[!-~]{1,250}$`, key)
			}
		})
	}
}

func TestAnEmptyNameIsRefused(t *testing.T) {
	for _, r := range recorders {
		t.Run(r.name, func(t *testing.T) {
			logger, log := newLog()
			store := newTap()
			p := openOn(t, store, profile.Options{Logger: logger})
			r.record(p, "default", []profile.Run{{Rule: "1"}, {Rule: ""}, {Rule: "2"}})
			require.EqualValues(t, 1, p.Stats().Rejected)
			require.Len(t, log(), 1)
			r.record(p, "", []profile.Run{{Rule: "2"}})
			require.EqualValues(t, 2, p.Stats().Rejected)
			require.Len(t, log(), 1)

			rules := rulesAt(t, p, time.Now(), "1", "2")
			require.EqualValues(t, 1, rules[0].Runs, "the others count")
			require.EqualValues(t, 2, rules[1].Runs)
			require.EqualValues(t, 1, groupAt(t, p, time.Now(), "default").Actions)
			require.Len(t, store.ttls, 6+6+5, "and nothing else")
		})
	}
	p, _ := open(t, profile.Options{})
	rules, err := p.Rules(t.Context(), []string{"1", ""})
	require.ErrorIs(t, err, profile.ErrEmptyName)
	require.Nil(t, rules)
	_, err = p.Group(t.Context(), "")
	require.ErrorIs(t, err, profile.ErrEmptyName)
	require.ErrorIs(t, p.Reset(t.Context(), ""), profile.ErrEmptyName)
}
