package limiter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

func TestConfigurationsThatAreWrong(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		rule       string
		conditions []limiter.Condition
		opts       limiter.Options
		err        string
	}{
		{"a condition has a name", []limiter.Condition{perMinute("a", 1), perMinute("", 1)}, limiter.Options{},
			"limiter: conditions[1].Name: is empty"},
		{"of its own", []limiter.Condition{perMinute("a", 1), {Name: "a", Limit: 2, Window: time.Hour}}, limiter.Options{},
			`limiter: conditions[1].Name: "a" is another condition's`},
		{"no limit is negative", []limiter.Condition{perMinute("a", -1)}, limiter.Options{},
			"limiter: conditions[0].Limit: -1 is negative"},
		{"a window is not 0", []limiter.Condition{{Name: "a", Limit: 1}}, limiter.Options{},
			"limiter: conditions[0].Window: 0s is not over 0"},
		{"nor negative", []limiter.Condition{{Name: "a", Limit: 1, Window: -time.Second}}, limiter.Options{},
			"limiter: conditions[0].Window: -1s is not over 0"},
		{"nor a hundred years", []limiter.Condition{{Name: "a", Limit: 1, Window: 876000 * time.Hour}}, limiter.Options{},
			"limiter: conditions[0].Window: 876000h0m0s is more than 87600h0m0s"},
		{"nor shorter than its buckets can be", []limiter.Condition{{Name: "a", Limit: 1, Window: 29 * time.Millisecond}}, limiter.Options{},
			"limiter: conditions[0].Window: 29ms is too short: a bucket of it would be 966.666µs, less than 1ms"},
		{"buckets are not negative", []limiter.Condition{perMinute("a", 1)}, limiter.Options{Buckets: -1},
			"limiter: Options.Buckets: -1 is not from 1 to 1024"},
		{"nor too many", []limiter.Condition{perMinute("a", 1)}, limiter.Options{Buckets: 1025},
			"limiter: Options.Buckets: 1025 is not from 1 to 1024"},
		{"no two share keys", []limiter.Condition{perMinute("a b", 1), perMinute("a_b", 1)}, limiter.Options{Keys: wrstats.MediaWikiKeys},
			`"a_b": a sequence has the keys of one of metric "a b"`},
		{"there are conditions", nil, limiter.Options{}, "limiter: conditions: there are none"},
		{"no keyspace is global", []limiter.Condition{perMinute("a", 1)}, limiter.Options{Keyspace: "global"}, "Keyspace"},
		{"names fit into keys", []limiter.Condition{perMinute("a", 1)}, limiter.Options{Prefix: long}, "Prefix"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := limiter.New(memory.New(memory.Options{}), c.conditions, c.opts)
			require.ErrorContains(t, err, c.err)
		})
	}
}

func TestConditionsAreWhatNewWasGiven(t *testing.T) {
	given := []limiter.Condition{perMinute("a", 1), {Name: "b", Limit: 2, Window: time.Hour}}
	l := newLimiter(t, newMapStore(), limiter.Options{}, given...)
	got := l.Conditions()
	require.Equal(t, given, got)
	got[0].Limit, given[1].Limit = 100, 100
	require.Equal(t, []limiter.Condition{perMinute("a", 1), {Name: "b", Limit: 2, Window: time.Hour}}, l.Conditions())
}
