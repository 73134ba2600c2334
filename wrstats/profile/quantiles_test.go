package profile_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile"
)

// recordHundreds records, in each of the first three windows from start, 100 runs of the rule "1" of 1 to 100 times a
// unit: a millisecond, two, three.
func recordHundreds(p *profile.Profiler) {
	for window := range 3 {
		var runs []profile.Run
		for i := range 100 {
			runs = append(runs, profile.Run{
				Rule: "1", Duration: time.Duration(i+1) * time.Duration(window+1) * time.Millisecond, Conditions: 2, Matched: i < 5,
			})
		}
		p.RecordAt(start.Add(time.Duration(window)*10*time.Minute), "default", runs)
	}
}

func requireWithin(t *testing.T, relativeError float64, want, got time.Duration) {
	t.Helper()
	require.InEpsilon(t, float64(want), float64(got), relativeError*(1+1e-6), "%v is not %v", got, want)
}

func TestQuantilesOfTimes(t *testing.T) {
	for _, relativeError := range []float64{0, 0.05, 0.3} {
		p, _ := open(t, profile.Options{Quantiles: profile.QuantileOptions{RelativeError: relativeError}})
		if relativeError == 0 {
			relativeError = 0.1
		}
		recordHundreds(p)
		for _, r := range rulesAt(t, p, start.Add(25*time.Minute), "1", "1") {
			require.EqualValues(t, 300, r.Runs)
			requireWithin(t, relativeError, 82*time.Millisecond, r.P50) // 82 + 41 + 27 runs are up to 82 ms
			requireWithin(t, relativeError, 255*time.Millisecond, r.P95)
			requireWithin(t, relativeError, 291*time.Millisecond, r.P99)
			require.Zero(t, r.Unknown)
		}
	}
}

func TestTimesOutOfTheRangeCountAsItsEnds(t *testing.T) {
	p, _ := open(t, profile.Options{Quantiles: profile.QuantileOptions{Min: time.Millisecond, Max: time.Second}})
	p.RecordAt(start, "default", []profile.Run{
		{Rule: "quick"}, {Rule: "quick", Duration: -5}, {Rule: "quick", Duration: time.Microsecond},
		{Rule: "slow", Duration: time.Hour},
	})
	rules := rulesAt(t, p, start, "quick", "slow")
	requireWithin(t, 0.1, time.Millisecond, rules[0].P99)
	requireWithin(t, 0.1, time.Second, rules[1].P50)
}

func TestWithoutQuantilesThereAreNone(t *testing.T) {
	p, store := open(t, profile.Options{Quantiles: profile.QuantileOptions{Off: true}})
	p.RecordAt(start, "default", twoRuns)
	want := profile.Rule{Name: "42", Runs: 2, Matches: 1, Conditions: 12, Time: 13 * time.Millisecond,
		MeanTime: 6500 * time.Microsecond, MatchRate: 0.5, MeanConditions: 6, Unknown: 1}
	require.Equal(t, want, rulesAt(t, p, start, "42")[0])

	other := openOn(t, store, profile.Options{}) // reads the runs of those that record none, such as MediaWiki
	require.Equal(t, want, rulesAt(t, other, start, "42")[0])
	other.RecordAt(start, "default", []profile.Run{{Rule: "42", Duration: time.Second}, {Rule: "42", Duration: time.Second}})
	r := rulesAt(t, other, start, "42")[0]
	require.Equal(t, 0.5, r.Unknown)
	requireWithin(t, 0.1, time.Second, r.P50)
}

func TestLostBinsAreToldAsUnknown(t *testing.T) {
	store := newTap()
	p := openOn(t, store, profile.Options{})
	p.RecordAt(start, "default", twoRuns)
	require.NoError(t, p.Sync(t.Context()))
	store.gone = func(key string) bool { return strings.Contains(key, ":time/0.1/13:") }
	r := rulesAt(t, p, start, "42")[0]
	require.Equal(t, 0.5, r.Unknown)
	h, err := p.HistoryAt(t.Context(), start, "1")
	require.NoError(t, err)
	require.Zero(t, h.Windows[6].Unknown)
	h, err = p.HistoryAt(t.Context(), start, "42")
	require.NoError(t, err)
	require.Equal(t, 0.5, h.Windows[6].Unknown)
	require.Zero(t, r.Missing, "AbuseFilter's own counters are all there")
	requireWithin(t, 0.1, 655*time.Microsecond, r.P99)
	store.gone = func(key string) bool { return strings.Contains(key, ":count:") }
	r = rulesAt(t, p, start, "42")[0]
	require.Equal(t, 1, r.Missing)
	require.Zero(t, r.Unknown)
}

func TestAProfileHasTheWindowsOfAll(t *testing.T) {
	p, store := open(t, profile.Options{ConditionLimit: 100})
	recordHundreds(p)
	now := start.Add(65 * time.Minute) // half of the first window has left
	require.NoError(t, p.Sync(t.Context()))
	require.NoError(t, store.Delete(t.Context(), []string{
		"local:abusefilter-profile:total-time::2941001:filter:1", "local:abusefilter-profile:total::2941002:group:default",
	}))
	all, err := p.ProfileAt(t.Context(), now, []string{"1", "never"}, []string{"default", "none"})
	require.NoError(t, err)
	require.Len(t, all.Rules, 2)
	require.Len(t, all.Groups, 2)
	require.Equal(t, rulesAt(t, p, now, "1", "never"), []profile.Rule{all.Rules[0].Rule, all.Rules[1].Rule})
	require.Equal(t, groupAt(t, p, now, "default"), all.Groups[0].Group)
	history, err := p.HistoryAt(t.Context(), now, "1")
	require.NoError(t, err)
	require.Equal(t, all.Rules[0], history)
	require.EqualValues(t, 250, history.Runs)

	for i, h := range all.Rules {
		require.Len(t, h.Windows, 7)
		for n, w := range h.Windows {
			require.Equal(t, start.Add(time.Duration(n)*10*time.Minute).UTC(), w.Start)
			require.Equal(t, map[bool]float64{true: 0.5, false: 1}[n == 0], w.Share)
			if i > 0 || n > 2 {
				require.Equal(t, profile.Window{Start: w.Start, Share: w.Share}, w, "nothing ran")
				continue
			}
			unit := time.Duration(n+1) * time.Millisecond
			require.Equal(t, []float64{100, 5, 200}, []float64{w.Runs, w.Matches, w.Conditions})
			require.Equal(t, n == 1, w.Missing)
			require.True(t, w.Found)
			require.Equal(t, map[bool]time.Duration{true: 0, false: 5050 * unit}[w.Missing], w.Time)
			requireWithin(t, 0.1, 50*unit, w.P50)
			requireWithin(t, 0.1, 95*unit, w.P95)
			requireWithin(t, 0.1, 99*unit, w.P99)
			require.Zero(t, w.Unknown)
		}
	}
	require.Equal(t, []profile.GroupWindow{
		{Start: start.UTC(), Share: 0.5, Actions: 1, Overflows: 1, Matches: 1, Conditions: 200, Time: 5050 * time.Millisecond, Found: true},
		{Start: start.Add(10 * time.Minute).UTC(), Share: 1, Actions: 1, Overflows: 1, Matches: 1, Conditions: 200, Time: 10100 * time.Millisecond, Found: true},
		{Start: start.Add(20 * time.Minute).UTC(), Share: 1, Overflows: 1, Matches: 1, Conditions: 200, Time: 15150 * time.Millisecond, Found: true, Missing: true},
	}, all.Groups[0].Windows[:3])
}

func TestAProfileIsOneRead(t *testing.T) {
	store := &gets{Store: newTap()}
	p := openOn(t, store, profile.Options{})
	recordHundreds(p)
	require.NoError(t, p.Sync(t.Context()))
	var rules []string
	for i := range 1000 {
		rules = append(rules, fmt.Sprint(i))
	}
	all, err := p.ProfileAt(t.Context(), start.Add(25*time.Minute), rules, []string{"default", "none"})
	require.NoError(t, err)
	require.Len(t, all.Rules, 1000)
	require.EqualValues(t, 300, all.Rules[1].Runs)
	bins := int(math.Ceil(math.Log(1e4)/math.Log(1.1/0.9))) - int(math.Ceil(math.Log(1e-3)/math.Log(1.1/0.9))) + 1
	require.Equal(t, 81, bins)
	require.Equal(t, []int{1000*7*(4+1+bins) + 2*7*5}, store.keys)

	all, err = p.ProfileAt(t.Context(), start, nil, nil)
	require.NoError(t, err)
	require.Empty(t, all)
	_, err = p.ProfileAt(t.Context(), start, []string{"1", ""}, nil)
	require.ErrorIs(t, err, profile.ErrEmptyName)
	_, err = p.ProfileAt(t.Context(), start, nil, []string{""})
	require.ErrorIs(t, err, profile.ErrEmptyName)
	_, err = p.History(t.Context(), "")
	require.ErrorIs(t, err, profile.ErrEmptyName)
	require.Len(t, store.keys, 1)
}

func TestRulesAreToldApartInWhateverOrderTheyRun(t *testing.T) {
	for _, r := range recorders {
		t.Run(r.name, func(t *testing.T) {
			p, _ := open(t, profile.Options{})
			a, b, c := profile.Run{Rule: "a"}, profile.Run{Rule: "b"}, profile.Run{Rule: "c"}
			for _, action := range [][]profile.Run{{a, b, c}, {a, b, c}, {c, b, a}, {a, c}, {b, b}, {c, {}, a}, {a, a, b, c}} {
				r.record(p, "default", action)
			}
			for i, want := range []float64{7, 6, 6} {
				require.Equal(t, want, rulesAt(t, p, time.Now(), "a", "b", "c")[i].Runs)
			}
		})
	}
}

// gets is a Store that counts the keys of each read.
type gets struct {
	wrstats.Store
	keys []int
}

func (s *gets) Get(ctx context.Context, keys []string) ([]wrstats.Value, error) {
	s.keys = append(s.keys, len(keys))
	return s.Store.Get(ctx, keys)
}
