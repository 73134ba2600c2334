package httplimit_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/httplimit"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

const (
	policyField = "RateLimit-Policy"
	limitField  = "RateLimit"
)

var perMinute = []limiter.Condition{{Name: "requests", Limit: 2, Window: time.Minute}}

func TestRequestsPassUpToTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := serve(newLimiter(t, memory.New(memory.Options{}), perMinute, limiter.Options{}), httplimit.Options{})
		for _, want := range []struct {
			status     int
			limit      string
			retryAfter string
		}{
			{http.StatusOK, `"requests";r=1`, ""},
			{http.StatusOK, `"requests";r=0`, ""},
			{http.StatusTooManyRequests, `"requests";r=0;t=61`, "61"}, // when a quarter of its bucket has slid out
			{http.StatusTooManyRequests, `"requests";r=0;t=61`, "61"}, // by what the limiter remembers
		} {
			got := get(h)
			require.Equal(t, want.status, got.Code)
			require.Equal(t, []string{`"requests";q=2;w=60`}, got.Header().Values(policyField))
			require.Equal(t, []string{want.limit}, got.Header().Values(limitField))
			require.Equal(t, want.retryAfter, got.Header().Get("Retry-After"))
		}
	})
}

func TestRetryAfterIsRoundedUpAndLongEnough(t *testing.T) {
	for _, window := range []time.Duration{50 * time.Millisecond, time.Second, 1234 * time.Millisecond, 10 * time.Second, time.Hour} {
		t.Run(window.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conditions := []limiter.Condition{{Name: "requests", Limit: 1, Window: window}}
				var exact time.Duration
				opts := limiter.Options{OnDenied: func(d limiter.Decision) { exact = d.RetryAfter() }}
				h := serve(newLimiter(t, memory.New(memory.Options{}), conditions, opts), httplimit.Options{})
				time.Sleep(123456789 * time.Nanosecond)
				require.Equal(t, http.StatusOK, get(h).Code)

				denied := get(h)
				require.Equal(t, http.StatusTooManyRequests, denied.Code)
				wait, err := time.ParseDuration(denied.Header().Get("Retry-After") + "s")
				require.NoError(t, err)
				require.NotZero(t, exact%time.Second, "the case is to have a fraction")
				require.Greater(t, wait, exact)
				require.Less(t, wait-exact, time.Second)

				time.Sleep(exact - time.Millisecond)
				require.Equal(t, http.StatusTooManyRequests, get(h).Code)
				time.Sleep(wait - exact + time.Millisecond)
				require.Equal(t, http.StatusOK, get(h).Code)
			})
		})
	}
}

func TestARequestWithoutOpsPassesUntouched(t *testing.T) {
	for name, ops := range map[string][]limiter.Op{"nil": nil, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			l := newLimiter(t, &tap{fail: errBroken}, perMinute, limiter.Options{})
			got := get(httplimit.New(l, always(ops...), httplimit.Options{})(ok))
			require.Equal(t, http.StatusOK, got.Code)
			require.Empty(t, got.Header())
		})
	}
}

func TestTheNextHandlerMayChangeTheFields(t *testing.T) {
	l := newLimiter(t, memory.New(memory.Options{}), perMinute, limiter.Options{})
	h := httplimit.New(l, always(one("requests")), httplimit.Options{})
	got := get(h(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Del(policyField)
		w.Header().Set(limitField, `"mine";r=9`)
	})))
	require.Empty(t, got.Header().Values(policyField))
	require.Equal(t, []string{`"mine";r=9`}, got.Header().Values(limitField))
}

func TestMiddlewareInsideOfOtherAddsItsPolicies(t *testing.T) {
	store := memory.New(memory.Options{})
	outer := newLimiter(t, store, []limiter.Condition{{Name: "all", Limit: 9, Window: time.Hour}}, limiter.Options{})
	inner := newLimiter(t, store, perMinute, limiter.Options{})
	h := httplimit.New(inner, always(one("requests")), httplimit.Options{})(ok)
	h = httplimit.New(outer, always(one("all")), httplimit.Options{})(h)
	got := get(h)
	require.Equal(t, []string{`"all";q=9;w=3600`, `"requests";q=2;w=60`}, got.Header().Values(policyField))
	require.Equal(t, []string{`"all";r=8`, `"requests";r=1`}, got.Header().Values(limitField))
}

func TestTheContextOfTheRequestReachesTheStore(t *testing.T) {
	type key struct{}
	store := &tap{Store: memory.New(memory.Options{})}
	h := serve(newLimiter(t, store, perMinute, limiter.Options{}), httplimit.Options{})
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	h.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithValue(r.Context(), key{}, "here")))
	require.Equal(t, "here", store.ctx.Value(key{}))
}

func TestARequestWhoseClientIsGoneIsNotPassedOn(t *testing.T) {
	h := serve(newLimiter(t, memory.New(memory.Options{}), perMinute, limiter.Options{}), httplimit.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := httptest.NewRecorder()
	h.ServeHTTP(got, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
	require.Equal(t, http.StatusServiceUnavailable, got.Code)
}

func TestPerClientCountsEachClientByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, memory.New(memory.Options{}), perMinute, limiter.Options{})
		h := httplimit.New(l, httplimit.PerClient("requests", own...), httplimit.Options{})(ok)
		status := func(remote string, forwarded ...string) int {
			got := httptest.NewRecorder()
			h.ServeHTTP(got, request(remote, forwarded...))
			return got.Code
		}
		require.Equal(t, http.StatusOK, status("192.0.2.7:1"))
		require.Equal(t, http.StatusOK, status("10.0.0.1:1", "192.0.2.7"))
		require.Equal(t, http.StatusTooManyRequests, status("192.0.2.7:2"))
		require.Equal(t, http.StatusOK, status("192.0.2.8:1"))
		require.Equal(t, http.StatusInternalServerError, status("@"))
		require.NoError(t, l.Reset(t.Context(), "requests", wrstats.Local("ip", "192.0.2.7")))
		require.Equal(t, http.StatusOK, status("192.0.2.7:3"))
	})
}

func TestManyRequestsAtOnceAreLimitedExactly(t *testing.T) {
	conditions := []limiter.Condition{{Name: "requests", Limit: 20, Window: time.Hour}}
	server := httptest.NewServer(serve(newLimiter(t, memory.New(memory.Options{}), conditions, limiter.Options{}), httplimit.Options{}))
	defer server.Close()
	statuses := make([]int, 64)
	errs := make([]error, len(statuses))
	var wg sync.WaitGroup
	for i := range statuses {
		wg.Go(func() {
			res, err := http.Get(server.URL)
			if errs[i] = err; err == nil {
				statuses[i] = res.StatusCode
				res.Body.Close()
			}
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	counts := map[int]int{}
	for _, status := range statuses {
		counts[status]++
	}
	require.Equal(t, map[int]int{http.StatusOK: 20, http.StatusTooManyRequests: 44}, counts)
}

func TestNewPanicsWithoutALimiterOrOps(t *testing.T) {
	l := newLimiter(t, memory.New(memory.Options{}), perMinute, limiter.Options{})
	const text = "httplimit: New without a limiter or without ops"
	require.PanicsWithValue(t, text, func() { httplimit.New(nil, always(), httplimit.Options{}) })
	require.PanicsWithValue(t, text, func() { httplimit.New(l, nil, httplimit.Options{}) })
}

var ok = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})

// serve limits all requests together, by the condition "requests".
func serve(l *limiter.Limiter, opts httplimit.Options) http.Handler {
	return httplimit.New(l, always(one("requests")), opts)(ok)
}

func always(ops ...limiter.Op) func(*http.Request) ([]limiter.Op, error) {
	return func(*http.Request) ([]limiter.Op, error) { return ops, nil }
}

func one(condition string, entity ...string) limiter.Op {
	return limiter.Op{Condition: condition, Entity: wrstats.Local(entity...), Amount: 1}
}

func get(h http.Handler) *httptest.ResponseRecorder {
	got := httptest.NewRecorder()
	h.ServeHTTP(got, httptest.NewRequest(http.MethodGet, "/", nil))
	return got
}

func newLimiter(t testing.TB, store wrstats.Store, conditions []limiter.Condition, opts limiter.Options) *limiter.Limiter {
	t.Helper()
	l, err := limiter.New(store, conditions, opts)
	require.NoError(t, err)
	return l
}
