package httplimit_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/httplimit"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

// A server that allows each client 1,000 requests an hour, and of them 3 attempts to log in, of which 2 may
// be for the same account. With a store that servers share, so are the limits.
func Example() {
	store := memory.New(memory.Options{})
	defer store.Close()
	l, err := limiter.New(store, []limiter.Condition{
		{Name: "requests", Limit: 1000, Window: time.Hour},
		{Name: "logins", Limit: 3, Window: time.Hour},
		{Name: "account", Limit: 2, Window: time.Hour},
	}, limiter.Options{FailOpen: true})
	if err != nil {
		fmt.Println(err)
		return
	}

	clientAddr := httplimit.ClientAddr(netip.MustParsePrefix("127.0.0.0/8")) // where the load balancer is
	limitLogins := httplimit.New(l, func(r *http.Request) ([]limiter.Op, error) {
		client, err := clientAddr(r)
		if err != nil {
			return nil, err
		}
		return []limiter.Op{
			{Condition: "logins", Entity: httplimit.ClientEntity(client), Amount: 1},
			{Condition: "account", Entity: wrstats.Local("account", r.FormValue("account")), Amount: 1},
		}, nil
	}, httplimit.Options{})
	limitAll := httplimit.New(l, httplimit.PerClient("requests", netip.MustParsePrefix("127.0.0.0/8")), httplimit.Options{})

	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") })
	mux.Handle("POST /login", limitLogins(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "wrong password", http.StatusForbidden)
	})))
	server := httptest.NewServer(limitAll(mux))
	defer server.Close()

	visit := func(client, method, path string, form url.Values) {
		r, _ := http.NewRequest(method, server.URL+path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("X-Forwarded-For", client) // the load balancer does
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			fmt.Println(err)
			return
		}
		res.Body.Close()
		limits, _, _ := strings.Cut(strings.Join(res.Header.Values("RateLimit"), ", "), ";t=")
		fmt.Println(client, res.StatusCode, limits, res.Header.Get("Retry-After") != "")
	}
	visit("192.0.2.7", "GET", "/", nil)
	visit("192.0.2.7", "POST", "/login", url.Values{"account": {"ann"}})
	visit("192.0.2.7", "POST", "/login", url.Values{"account": {"ann"}})
	visit("192.0.2.7", "POST", "/login", url.Values{"account": {"bob"}})
	visit("192.0.2.7", "POST", "/login", url.Values{"account": {"cid"}})
	visit("2001:db8::1", "POST", "/login", url.Values{"account": {"cid"}})
	visit("2001:db8::2", "POST", "/login", url.Values{"account": {"cid"}})
	visit("192.0.2.7", "GET", "/", nil)
	// Output:
	// 192.0.2.7 200 "requests";r=999 false
	// 192.0.2.7 403 "requests";r=998, "logins";r=2, "account";r=1 false
	// 192.0.2.7 403 "requests";r=997, "logins";r=1, "account";r=0 false
	// 192.0.2.7 403 "requests";r=996, "logins";r=0, "account";r=1 false
	// 192.0.2.7 429 "requests";r=995, "logins";r=0 true
	// 2001:db8::1 403 "requests";r=999, "logins";r=2, "account";r=1 false
	// 2001:db8::2 403 "requests";r=998, "logins";r=1, "account";r=0 false
	// 192.0.2.7 200 "requests";r=994 false
}

func ExampleNew() {
	l := newExampleLimiter(limiter.Condition{Name: "tenant", Limit: 100, Window: time.Hour})
	limit := httplimit.New(l, func(r *http.Request) ([]limiter.Op, error) {
		if r.Method == http.MethodGet {
			return nil, nil // not limited
		}
		tenant := wrstats.Global("tenant", r.Header.Get("X-Tenant"))
		return []limiter.Op{{Condition: "tenant", Entity: tenant, Amount: max(r.ContentLength, 0) / 1024}}, nil
	}, httplimit.Options{})

	upload := limit(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, size := range []int{30 << 10, 80 << 10} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("x", size)))
		w := httptest.NewRecorder()
		upload.ServeHTTP(w, r)
		limits, _, _ := strings.Cut(w.Header().Get("RateLimit"), ";t=")
		fmt.Println(w.Code, w.Header().Get("RateLimit-Policy"), limits)
	}
	// Output:
	// 200 "tenant";q=100;w=3600 "tenant";r=70
	// 429 "tenant";q=100;w=3600 "tenant";r=70
}

func ExamplePerClient() {
	l := newExampleLimiter(limiter.Condition{Name: "requests", Limit: 1, Window: time.Hour})
	h := httplimit.New(l, httplimit.PerClient("requests"), httplimit.Options{})(http.NotFoundHandler())
	for _, remote := range []string{"192.0.2.7:4711", "192.0.2.8:4711", "192.0.2.7:4712"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, &http.Request{RemoteAddr: remote, URL: &url.URL{Path: "/"}})
		fmt.Println(w.Code)
	}
	// Output:
	// 404
	// 404
	// 429
}

func ExampleClientAddr() {
	clientAddr := httplimit.ClientAddr(netip.MustParsePrefix("10.0.0.0/8"))
	for _, c := range []struct{ remote, forwarded string }{
		{"10.0.0.1:4711", "spoofed, 192.0.2.7, 10.0.0.2"},
		{"[2001:db8:1:2::3]:4711", "192.0.2.7"},
		{"@", "192.0.2.7"},
	} {
		r := &http.Request{RemoteAddr: c.remote, Header: http.Header{"X-Forwarded-For": {c.forwarded}}}
		fmt.Println(clientAddr(r))
	}
	// Output:
	// 192.0.2.7/32 <nil>
	// 2001:db8:1:2::/64 <nil>
	// invalid Prefix httplimit: RemoteAddr: not an IP address
}

func ExampleClientEntity() {
	fmt.Println(httplimit.ClientEntity(netip.MustParsePrefix("192.0.2.7/32")))
	fmt.Println(httplimit.ClientEntity(netip.MustParsePrefix("2001:db8::/64")))
	// Output:
	// ip:192.0.2.7
	// ip:2001:db8::/64
}

// Errors as JSON.
func ExampleStatus() {
	l := newExampleLimiter(limiter.Condition{Name: "requests", Limit: 0, Window: time.Hour})
	opts := httplimit.Options{Denied: func(w http.ResponseWriter, r *http.Request, d limiter.Decision, err error) {
		status := httplimit.Status(d, err)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(map[string]string{"error": http.StatusText(status)})
	}}
	h := httplimit.New(l, httplimit.PerClient("requests"), opts)(http.NotFoundHandler())
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	fmt.Print(w.Code, " ", w.Body)
	// Output: 429 {"error":"Too Many Requests"}
}

// A handler of one's own for what the store could not decide, and the default for the rest.
func ExampleDeny() {
	opts := httplimit.Options{Denied: func(w http.ResponseWriter, r *http.Request, d limiter.Decision, err error) {
		if httplimit.Status(d, err) == http.StatusServiceUnavailable {
			http.Redirect(w, r, "/busy", http.StatusTemporaryRedirect)
			return
		}
		httplimit.Deny(w, r, d, err)
	}}
	l := newExampleLimiter(limiter.Condition{Name: "requests", Limit: 0, Window: time.Hour})
	h := httplimit.New(l, httplimit.PerClient("requests"), opts)(http.NotFoundHandler())
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	fmt.Print(w.Code, " ", w.Body)
	// Output: 429 Too Many Requests
}

func newExampleLimiter(conditions ...limiter.Condition) *limiter.Limiter {
	l, err := limiter.New(memory.New(memory.Options{}), conditions, limiter.Options{})
	if err != nil {
		panic(err)
	}
	return l
}
