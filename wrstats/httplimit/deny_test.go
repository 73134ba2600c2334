package httplimit_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/httplimit"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

func TestWhatIsNotLetThroughSaysWhy(t *testing.T) {
	zero := []limiter.Condition{{Name: "none", Limit: 0, Window: time.Minute}, {Name: "requests", Limit: 0, Window: time.Hour}}
	for _, c := range []struct {
		rule       string
		ops        []limiter.Op
		opsErr     error
		store      error
		opts       limiter.Options
		status     int
		retryAfter string
	}{
		{rule: "no waiting helps: no Retry-After", ops: []limiter.Op{one("none")}, status: 429},
		{rule: "of several too", ops: []limiter.Op{one("none"), one("requests")}, status: 429},
		{rule: "the store failed", ops: []limiter.Op{one("none")}, store: errBroken, status: 503, retryAfter: "1"},
		{rule: "FailOpen passes then", ops: []limiter.Op{one("none")}, store: errBroken, opts: limiter.Options{FailOpen: true}, status: 200},
		{rule: "shadow mode too", ops: []limiter.Op{one("none")}, store: errBroken, opts: limiter.Options{Shadow: true}, status: 200},
		{rule: "shadow mode passes what is over a limit", ops: []limiter.Op{one("none")}, opts: limiter.Options{Shadow: true}, status: 200},
		{rule: "some servers failed", ops: []limiter.Op{{Condition: "none"}}, store: wrstats.ErrPartial, status: 503, retryAfter: "1"},
		{rule: "the others know enough to deny", ops: []limiter.Op{one("none")}, store: wrstats.ErrPartial, status: 429},
		{
			rule: "FailOpen passes by what the others know", ops: []limiter.Op{{Condition: "none"}}, store: wrstats.ErrPartial,
			opts: limiter.Options{FailOpen: true}, status: 200,
		},
		{rule: "ops failed", opsErr: errBroken, status: 500},
		{rule: "ops failed and gave some", ops: []limiter.Op{one("none")}, opsErr: errBroken, status: 500},
		{rule: "ops failed: FailOpen is for the store", opsErr: errBroken, opts: limiter.Options{FailOpen: true}, status: 500},
		{rule: "ops failed by a refusal", opsErr: limiter.ErrInvalidAmount, status: 500},
		{rule: "an unknown condition", ops: []limiter.Op{one("none"), one("other")}, status: 500},
		{rule: "an unknown condition in shadow mode", ops: []limiter.Op{one("other")}, opts: limiter.Options{Shadow: true}, status: 500},
		{rule: "a negative amount", ops: []limiter.Op{{Condition: "none", Amount: -1}}, status: 500},
		{rule: "an amount of 0 passes", ops: []limiter.Op{{Condition: "none"}}, status: 200},
	} {
		t.Run(c.rule, func(t *testing.T) {
			l := newLimiter(t, &tap{Store: memory.New(memory.Options{}), fail: c.store}, zero, c.opts)
			ops := func(*http.Request) ([]limiter.Op, error) { return c.ops, c.opsErr }
			got := get(httplimit.New(l, ops, httplimit.Options{})(ok))
			require.Equal(t, c.status, got.Code)
			require.Equal(t, strings.Fields(c.retryAfter), append([]string{}, got.Header().Values("Retry-After")...))
			if c.status != http.StatusOK {
				require.Equal(t, http.StatusText(c.status)+"\n", got.Body.String())
			}
		})
	}
}

func TestAStoreThatDoesNotTakeTheCountDeniesAsOneThatFailed(t *testing.T) {
	store := &tap{Store: memory.New(memory.Options{}), failIncr: errBroken}
	got := get(serve(newLimiter(t, store, perMinute, limiter.Options{}), httplimit.Options{}))
	require.Equal(t, http.StatusServiceUnavailable, got.Code)
	require.Equal(t, "1", got.Header().Get("Retry-After"))
	require.Equal(t, `"requests";q=2;w=60`, got.Header().Get(policyField))
	require.Empty(t, got.Header().Values(limitField))
}

func TestStatusGoesByTheCountsBeforeTheError(t *testing.T) {
	over := limiter.Decision{Ops: []limiter.OpDecision{{Allowed: true}, {Limit: 1, Prev: 1, New: 2, RetryAfter: time.Second}}}
	unread := limiter.Decision{Ops: []limiter.OpDecision{{Unread: true}}}
	for _, c := range []struct {
		rule   string
		d      limiter.Decision
		err    error
		status int
	}{
		{"over the limit", over, nil, 429},
		{"over the limit by what some servers have", over, wrstats.ErrPartial, 429},
		{"nothing was read", unread, errBroken, 503},
		{"a limit of 0 that was not read", limiter.Decision{Ops: []limiter.OpDecision{{Unread: true, Limit: 0}}}, errBroken, 503},
		{"the zero decision", limiter.Decision{}, nil, 429},
		{"no ops", limiter.Decision{}, fmt.Errorf("%w: %w", httplimit.ErrOps, errBroken), 500},
	} {
		t.Run(c.rule, func(t *testing.T) { require.Equal(t, c.status, httplimit.Status(c.d, c.err)) })
	}
}

func TestDeniedAnswersInItsOwnWay(t *testing.T) {
	var told error
	opts := httplimit.Options{Denied: func(w http.ResponseWriter, r *http.Request, d limiter.Decision, err error) {
		told = err
		w.Header().Set("Retry-After", w.Header().Get("Retry-After")+"0")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(httplimit.Status(d, err))
		json.NewEncoder(w).Encode(map[string]any{"path": r.URL.Path, "ops": len(d.Ops)})
	}}
	store := &tap{Store: memory.New(memory.Options{})}
	h := serve(newLimiter(t, store, []limiter.Condition{{Name: "requests", Limit: 1, Window: 10 * time.Minute}}, limiter.Options{}), opts)
	require.Equal(t, http.StatusOK, get(h).Code)

	got := get(h)
	require.NoError(t, told)
	require.Equal(t, http.StatusTooManyRequests, got.Code)
	require.JSONEq(t, `{"path": "/", "ops": 1}`, got.Body.String())
	require.Regexp(t, `^[56]\d\d0$`, got.Header().Get("Retry-After"))

	store.fail = errBroken
	h = serve(newLimiter(t, store, perMinute, limiter.Options{}), opts)
	got = get(h)
	require.ErrorIs(t, told, errBroken)
	require.Equal(t, http.StatusServiceUnavailable, got.Code)
	require.Equal(t, "10", got.Header().Get("Retry-After"))
}

func TestDeniedHearsWhyOpsFailed(t *testing.T) {
	var told error
	opts := httplimit.Options{Denied: func(_ http.ResponseWriter, _ *http.Request, d limiter.Decision, err error) {
		told = err
		require.Zero(t, d)
	}}
	l := newLimiter(t, memory.New(memory.Options{}), perMinute, limiter.Options{})
	ops := func(*http.Request) ([]limiter.Op, error) { return nil, errors.New("who is that?") }
	get(httplimit.New(l, ops, opts)(ok))
	require.ErrorIs(t, told, httplimit.ErrOps)
	require.EqualError(t, told, "httplimit: ops of the request: who is that?")
}
