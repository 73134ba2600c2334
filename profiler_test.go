package wrstats_test

import (
	"context"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile"
)

var profileRules = []rule{
	{"the profile of two processes is their sum", func(t *site) {
		one, other := t.profiler(), t.profiler()
		action := []profile.Run{
			{Rule: "42", Duration: 2 * time.Millisecond, Conditions: 7, Matched: true},
			{Rule: "any bytes:\r\n", Duration: 400 * time.Nanosecond, Conditions: 1},
		}
		now := time.Now()
		for range 1000 {
			one.Record("default", action)
			other.Record("default", action)
			other.RecordAt(now.Add(-20*time.Minute), "default", action[1:])
		}
		require.NoError(t, one.Sync(t.Context()))
		require.NoError(t, other.Sync(t.Context()))
		for _, p := range []*profile.Profiler{one, other} {
			rules, err := p.Rules(t.Context(), []string{"never", "42", "any bytes:\r\n"})
			require.NoError(t, err)
			require.Equal(t, []profile.Rule{
				{Name: "never"},
				{Name: "42", Runs: 2000, Matches: 2000, Conditions: 14000, Time: 4 * time.Second,
					MeanTime: 2 * time.Millisecond, MatchRate: 1, MeanConditions: 7},
				{Name: "any bytes:\r\n", Runs: 3000, Conditions: 3000, Time: 1200 * time.Microsecond,
					MeanTime: 400 * time.Nanosecond, MeanConditions: 1},
			}, withoutQuantiles(rules))
			for i, want := range []time.Duration{0, 2 * time.Millisecond, time.Microsecond} { // of those below a microsecond
				for _, got := range []time.Duration{rules[i].P50, rules[i].P95, rules[i].P99} {
					require.InDelta(t, float64(want), float64(got), 0.101*float64(want), "rule %d", i)
				}
				require.Zero(t, rules[i].Unknown)
			}
			group, err := p.Group(t.Context(), "default")
			require.NoError(t, err)
			require.Equal(t, []float64{3000, 2000, 17000}, []float64{group.Actions, group.Matches, group.Conditions})
		}
	}},
	{"Reset forgets a rule for all processes", func(t *site) {
		one, other := t.profiler(), t.profiler()
		one.Record("default", []profile.Run{{Rule: "42"}, {Rule: "43"}})
		require.NoError(t, one.Sync(t.Context()))
		require.NoError(t, other.Reset(t.Context(), "42"))
		rules, err := one.Rules(t.Context(), []string{"42", "43"})
		require.NoError(t, err)
		require.Equal(t, []profile.Rule{{Name: "42"}, {Name: "43", Runs: 1}}, withoutQuantiles(rules))
	}},
	{"Close stores what was recorded before, and nothing after", func(t *site) {
		one, other := t.profiler(), t.profiler()
		one.Record("default", []profile.Run{{Rule: "42"}})
		require.NoError(t, one.Close(t.Context()))
		one.Record("default", []profile.Run{{Rule: "42"}})
		require.ErrorIs(t, one.Sync(t.Context()), wrstats.ErrClosed)
		rules, err := other.Rules(t.Context(), []string{"42"})
		require.NoError(t, err)
		require.Equal(t, []profile.Rule{{Name: "42", Runs: 1}}, withoutQuantiles(rules))
	}},
}

func withoutQuantiles(rules []profile.Rule) []profile.Rule {
	rules = slices.Clone(rules)
	for i := range rules {
		rules[i].P50, rules[i].P95, rules[i].P99 = 0, 0, 0
	}
	return rules
}

// profiler returns the Profiler of another process.
func (t *site) profiler() *profile.Profiler {
	t.Helper()
	p, err := profile.New(t.connect(), profile.Options{Prefix: t.prefix})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close(context.Background())) })
	return p
}
