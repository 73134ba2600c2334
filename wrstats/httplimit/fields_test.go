package httplimit_test

import (
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/httplimit"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

// Two conditions, of which somebody has used 3 of 5 and all of 20.
var plans = []limiter.Condition{
	{Name: "burst", Limit: 5, Window: 30 * time.Second},
	{Name: "daily", Limit: 20, Window: 24 * time.Hour},
}

func TestTheFieldsSayWhereTheClientStands(t *testing.T) {
	amount := func(condition, user string, n int64) limiter.Op {
		return limiter.Op{Condition: condition, Entity: wrstats.Local("user", user), Amount: n}
	}
	for _, c := range []struct {
		rule          string
		ops           []limiter.Op
		opts          limiter.Options
		store         error
		status        int
		policy, limit string
	}{
		{
			rule: "one condition", ops: []limiter.Op{amount("burst", "new", 1)},
			status: 200, policy: `"burst";q=5;w=30`, limit: `"burst";r=4`,
		}, {
			rule: "several in one field, in the order of the ops",
			ops:  []limiter.Op{amount("daily", "new", 2), amount("burst", "new", 1)}, status: 200,
			policy: `"daily";q=20;w=86400, "burst";q=5;w=30`, limit: `"daily";r=18, "burst";r=4`,
		}, {
			rule: "an amount of 0 tells what is left", ops: []limiter.Op{amount("burst", "busy", 0)},
			status: 200, policy: `"burst";q=5;w=30`, limit: `"burst";r=2`,
		}, {
			rule:   "one item for a condition: of its entities the one with the least left",
			ops:    []limiter.Op{amount("daily", "new", 1), amount("burst", "new", 1), amount("burst", "busy", 1), amount("burst", "newer", 1)},
			status: 200, policy: `"daily";q=20;w=86400, "burst";q=5;w=30`, limit: `"daily";r=19, "burst";r=1`,
		}, {
			rule: "amounts for one entity add up", ops: []limiter.Op{amount("burst", "busy", 1), amount("burst", "busy", 1)},
			status: 200, policy: `"burst";q=5;w=30`, limit: `"burst";r=0`,
		}, {
			rule: "what is denied counts nothing, so what is left stays", ops: []limiter.Op{amount("burst", "busy", 3)},
			status: 429, policy: `"burst";q=5;w=30`, limit: `"burst";r=2;t=21`,
		}, {
			rule: "no t when no waiting helps", ops: []limiter.Op{amount("burst", "busy", 6)},
			status: 429, policy: `"burst";q=5;w=30`, limit: `"burst";r=2`,
		}, {
			rule: "what was counted beyond the limit leaves nothing", ops: []limiter.Op{amount("burst", "over", 0)},
			status: 429, policy: `"burst";q=5;w=30`, limit: `"burst";r=0;t=21`,
		}, {
			rule: "only what denies has a t", ops: []limiter.Op{amount("daily", "busy", 1), amount("burst", "busy", 1)},
			status: 429, policy: `"daily";q=20;w=86400, "burst";q=5;w=30`, limit: `"daily";r=0;t=86463, "burst";r=2`,
		}, {
			rule: "t is the longest of a condition's entities", ops: []limiter.Op{amount("burst", "late", 5), amount("burst", "busy", 3)},
			status: 429, policy: `"burst";q=5;w=30`, limit: `"burst";r=2;t=31`,
		}, {
			rule: "shadow mode tells it too, and passes", ops: []limiter.Op{amount("daily", "busy", 1)},
			opts: limiter.Options{Shadow: true}, status: 200, policy: `"daily";q=20;w=86400`, limit: `"daily";r=0;t=86463`,
		}, {
			rule: "what could not be read is not told", ops: []limiter.Op{amount("burst", "busy", 1)},
			store: errBroken, status: 503, policy: `"burst";q=5;w=30`,
		}, {
			rule: "FailOpen passes without it", ops: []limiter.Op{amount("burst", "busy", 1)},
			opts: limiter.Options{FailOpen: true}, store: errBroken, status: 200, policy: `"burst";q=5;w=30`,
		}, {
			rule: "what some servers have is told where it denies", ops: []limiter.Op{amount("burst", "busy", 1), amount("daily", "busy", 1)},
			opts: limiter.Options{FailOpen: true}, store: wrstats.ErrPartial, status: 429,
			policy: `"burst";q=5;w=30, "daily";q=20;w=86400`, limit: `"daily";r=0;t=86463`,
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &tap{Store: memory.New(memory.Options{})}
				l := newLimiter(t, store, plans, c.opts)
				require.NoError(t, l.Add(t.Context(), amount("burst", "busy", 3), amount("daily", "busy", 20), amount("burst", "over", 7)))
				time.Sleep(10 * time.Second)
				require.NoError(t, l.Add(t.Context(), amount("burst", "late", 1)))
				store.fail = c.store
				got := get(httplimit.New(l, always(c.ops...), httplimit.Options{})(ok))
				require.Equal(t, c.status, got.Code)
				require.Equal(t, c.policy, got.Header().Get(policyField))
				require.Equal(t, c.limit, got.Header().Get(limitField))
				require.Len(t, got.Header().Values(policyField), 1)
			})
		})
	}
}

func TestADenialThatIsRememberedSaysWhatOneThatIsReadDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, memory.New(memory.Options{}), plans, limiter.Options{})
		h := httplimit.New(l, always(one("burst"), limiter.Op{Condition: "daily", Amount: 20}), httplimit.Options{})(ok)
		require.Equal(t, `"burst";r=4, "daily";r=0`, get(h).Header().Get(limitField))
		require.Regexp(t, `^"burst";r=4, "daily";r=0;t=\d+$`, get(h).Header().Get(limitField))
		got := get(h) // by what the limiter remembers of daily
		require.Equal(t, http.StatusTooManyRequests, got.Code)
		require.Equal(t, `"burst";q=5;w=30, "daily";q=20;w=86400`, got.Header().Get(policyField))
		require.Regexp(t, `^"burst";r=4, "daily";r=0;t=\d+$`, got.Header().Get(limitField))
	})
}

func TestAPolicyIsSpelledAsStructuredFieldsAllow(t *testing.T) {
	for _, c := range []struct {
		rule      string
		condition limiter.Condition
		want      string
	}{
		{"quotes and backslashes are escaped", limiter.Condition{Name: `a"b\c`}, `"a\"b\\c"`},
		{"what else is printable stays", limiter.Condition{Name: "per user, an hour; =~"}, `"per user, an hour; =~"`},
		{"what is not ASCII is percent-encoded", limiter.Condition{Name: "clé\x7f\n\x00\xff"}, `"cl%C3%A9%7F%0A%00%FF"`},
		{"a percent sign too", limiter.Condition{Name: "50%"}, `"50%25"`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			c.condition.Limit, c.condition.Window = 1, time.Second
			got := policyOf(t, c.condition)
			require.Equal(t, c.want+";q=1;w=1", got.Get(policyField))
			require.Equal(t, c.want+";r=0", got.Get(limitField))
		})
	}
}

func TestNumbersStayWithinStructuredFields(t *testing.T) {
	for _, c := range []struct {
		rule   string
		limit  int64
		window time.Duration
		want   string
	}{
		{"a window is rounded up", 1, 1001 * time.Millisecond, ";q=1;w=2"},
		{"below a second too", 1, 50 * time.Millisecond, ";q=1;w=1"},
		{"a whole one stays", 1, 2 * time.Second, ";q=1;w=2"},
		{"a year", 1, 365 * 24 * time.Hour, ";q=1;w=31536000"},
		{"the largest integer", 999_999_999_999_999, time.Second, ";q=999999999999999;w=1"},
		{"a limit above it is told as that", math.MaxInt64, time.Second, ";q=999999999999999;w=1"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got := policyOf(t, limiter.Condition{Name: "a", Limit: c.limit, Window: c.window})
			require.Equal(t, `"a"`+c.want, got.Get(policyField))
			require.Regexp(t, `^"a";r=\d{1,15}$`, got.Get(limitField))
		})
	}
}

// policyOf returns the header of the first answer under a condition.
func policyOf(t *testing.T, c limiter.Condition) http.Header {
	l := newLimiter(t, memory.New(memory.Options{}), []limiter.Condition{c}, limiter.Options{})
	return get(httplimit.New(l, always(one(c.Name)), httplimit.Options{})(ok)).Header()
}
