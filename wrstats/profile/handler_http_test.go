package profile_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats/profile"
)

func allow(*http.Request) error { return nil }

func TestEveryAnswerHasTheHeadersThatGuardIt(t *testing.T) {
	p, _ := open(t, profile.Options{})
	threeRules(t, p)
	h := pagesOf(p, profile.HandlerOptions{Reset: allow})
	for target, mediaType := range map[string]string{
		"/":                         "text/html; charset=utf-8",
		"/?format=json":             "application/json",
		"/rule?id=9":                "text/html; charset=utf-8",
		"/rule?id=9&format=json":    "application/json",
		"/reset?id=9":               "text/html; charset=utf-8",
		"/style.css":                "text/css; charset=utf-8",
		"/script.js":                "text/javascript; charset=utf-8",
		"/icon.svg":                 "image/svg+xml",
		"/nothing":                  "text/html; charset=utf-8",
		"/rule":                     "text/html; charset=utf-8",
		"/rule?format=json":         "application/json",
		"/?sort=x&format=json":      "application/json",
		"/layout.html?format=json":  "application/json",
		"/%2e%2e%2fhandler.go?id=9": "text/html; charset=utf-8",
	} {
		header := ask(t, h, http.MethodGet, target).Result().Header
		policy := header.Get("Content-Security-Policy")
		require.True(t, strings.HasPrefix(policy, "default-src 'none'; "), policy)
		require.Contains(t, policy, "frame-ancestors 'none'")
		require.NotContains(t, policy, "unsafe")
		require.NotContains(t, policy, "*")
		require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
		require.Equal(t, "same-origin", header.Get("Referrer-Policy"))
		require.Equal(t, "no-store", header.Get("Cache-Control"))
		require.Equal(t, mediaType, header.Get("Content-Type"), target)
	}
}

func TestOnlyGetAndHeadAreTaken(t *testing.T) {
	p, _ := open(t, profile.Options{})
	threeRules(t, p)
	readOnly, resets := pagesOf(p, profile.HandlerOptions{}), pagesOf(p, profile.HandlerOptions{Reset: allow})
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get"} {
		for _, target := range []string{"/", "/rule?id=9", "/style.css"} {
			w := ask(t, resets, method, target)
			require.Equal(t, http.StatusMethodNotAllowed, w.Code, method)
			require.Equal(t, "GET, HEAD", w.Result().Header.Get("Allow"))
		}
		require.Equal(t, http.StatusNotFound, ask(t, readOnly, method, "/reset?id=9").Code)
	}
	w := ask(t, resets, "DELETE", "/reset?id=9")
	require.Equal(t, http.StatusMethodNotAllowed, w.Code)
	require.Equal(t, "GET, HEAD, POST", w.Result().Header.Get("Allow"))
	require.EqualValues(t, 50, rulesAt(t, p, readAt, "9")[0].Runs)
}

func TestHeadIsGetWithoutTheBody(t *testing.T) {
	p, _ := open(t, profile.Options{})
	threeRules(t, p)
	server := httptest.NewServer(pagesOf(p, profile.HandlerOptions{}))
	defer server.Close()
	resp, err := http.Head(server.URL + "/?format=json")
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Empty(t, body)
	require.Positive(t, resp.ContentLength)
}

func TestABadParameterIs400AndNamed(t *testing.T) {
	p, _ := open(t, profile.Options{})
	threeRules(t, p)
	h := pagesOf(p, profile.HandlerOptions{})
	for _, c := range []struct{ target, want string }{
		{"/?sort=BAD", "The parameter sort must be one of id, runs, matches, rate, mean, p50, p95, p99, share, complete."},
		{"/?desc=BAD", "The parameter desc must be 0 or 1."},
		{"/?format=BAD", "The parameter format must be html or json."},
		{"/?q=BAD&q=BAD", "The parameter q is there more than once."},
		{"/?q=" + strings.Repeat("BAD", 300), "The parameter q is longer than 800 bytes."},
		{"/?q=%xBAD", "The query is not well-formed."},
		{"/?a;BAD", "The query is not well-formed."},
		{"/rule", "The parameter id, a rule’s name, is missing."},
		{"/rule?id=", "The parameter id, a rule’s name, is missing."},
		{"/rule?id=1&id=2", "The parameter id is there more than once."},
		{"/rule?id=" + strings.Repeat("BAD", 1366), "The parameter id is longer than 4096 bytes."},
		{"/rule?id=9&format=BAD", "The parameter format must be html or json."},
	} {
		w := ask(t, h, http.MethodGet, c.target)
		require.Equal(t, http.StatusBadRequest, w.Code, c.target)
		require.Contains(t, text(w.Body.String()), "That can’t be asked "+c.want)
		require.NotContains(t, w.Body.String(), "BAD")
	}
	for _, target := range []string{"/?other=1", "/?sort=&desc=&q=&format=", "/?desc=0", "/?sort=p99&desc=1&format=html"} {
		get200(t, h, target)
	}
	require.JSONEq(t, `{"error":"That can’t be asked. The parameter desc must be 0 or 1.","details":[]}`,
		ask(t, h, http.MethodGet, "/?format=json&desc=2").Body.String())
}

func TestAnIDThatIsTooLongToAskForIsNoLink(t *testing.T) {
	longest, longer := strings.Repeat("%", 4096), strings.Repeat("%", 4097)
	p, _ := open(t, profile.Options{})
	p.RecordAt(readAt, "default", []profile.Run{{Rule: longest, Duration: 2}, {Rule: longer, Duration: 1}})
	require.NoError(t, p.Sync(t.Context()))
	h := pagesOf(p, profile.HandlerOptions{Reset: allow})

	overview := get200(t, h, "/")
	link := "rule?id=" + strings.Repeat("%25", 4096)
	require.Contains(t, overview, `<a href="`+link+`"><bdi>`+longest+`</bdi></a>`)
	require.Contains(t, overview, `<th scope="row"><bdi>`+longer+`</bdi></th>`)
	get200(t, h, "/"+link)
	require.Equal(t, http.StatusSeeOther, ask(t, h, http.MethodPost, "/reset?id="+url.QueryEscape(longest)).Code)

	got := getJSON[struct{ Rules []map[string]any }](t, h, "/?format=json&sort=id").Rules
	require.Len(t, got, 2)
	require.Equal(t, link, got[0]["page"])
	require.Equal(t, longer, got[1]["id"])
	require.NotContains(t, got[1], "page")
	require.EqualValues(t, 1, got[1]["runs"])

	for _, target := range []string{"/rule", "/reset"} {
		w := ask(t, h, http.MethodGet, target+"?id="+url.QueryEscape(longer))
		require.Equal(t, http.StatusBadRequest, w.Code, target)
	}
	require.Equal(t, http.StatusBadRequest, ask(t, h, http.MethodPost, "/reset?id="+url.QueryEscape(longer)).Code)
	require.EqualValues(t, 1, rulesAt(t, p, readAt, longer)[0].Runs)
	require.NoError(t, p.ResetAt(t.Context(), readAt, longer))
	require.Zero(t, rulesAt(t, p, readAt, longer)[0].Runs)
}

func TestItWorksUnderAnyPrefix(t *testing.T) {
	p, _ := open(t, profile.Options{})
	threeRules(t, p)
	h := pagesOf(p, profile.HandlerOptions{Reset: allow})
	mux := http.NewServeMux()
	mux.Handle("/debug/rules/", h)
	mux.Handle("/stripped/", http.StripPrefix("/stripped", h))
	mux.Handle("/bare/", http.StripPrefix("/bare/", h))
	mux.Handle("/rule/", h)
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, prefix := range []string{"/debug/rules", "/stripped", "/bare", "/rule"} {
		base, err := url.Parse(server.URL + prefix)
		require.NoError(t, err)
		resp, err := http.Get(base.String()) // a mux adds the slash
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		base = resp.Request.URL
		require.Equal(t, prefix+"/", base.Path)
		for _, link := range []string{"./", "./?sort=id", "rule?id=spam", "reset?id=spam", "style.css", "script.js", "icon.svg"} {
			at, err := base.Parse(link)
			require.NoError(t, err)
			resp, err := http.Get(at.String())
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, http.StatusOK, resp.StatusCode, at)
		}
	}
}

func TestAPathWithoutASlashIsRedirectedBesideItself(t *testing.T) {
	p, _ := open(t, profile.Options{})
	h := http.StripPrefix("/a/rules", pagesOf(p, profile.HandlerOptions{}))
	for target, want := range map[string]string{
		"/a/rules":        "./rules/",
		"/a/rules?sort=x": "./rules/?sort=x",
	} {
		w := ask(t, h, http.MethodGet, target)
		require.Equal(t, http.StatusMovedPermanently, w.Code)
		require.Equal(t, want, w.Result().Header.Get("Location"))
	}
}
