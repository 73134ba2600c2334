package profile_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile"
)

func TestResetAsksThenForgetsOneRule(t *testing.T) {
	p, _ := open(t, profile.Options{})
	p.RecordAt(readAt, "default", []profile.Run{{Rule: "\xff&"}, {Rule: "9"}})
	require.NoError(t, p.Sync(t.Context()))
	h := pagesOf(p, profile.HandlerOptions{Reset: allow})
	require.Contains(t, get200(t, h, "/rule?id=%FF%26"), `<a href="reset?id=%FF%26">Reset this rule…</a>`)
	page := get200(t, h, "/reset?id=%FF%26")
	require.Contains(t, text(page), `Reset \xff&amp;?`)
	require.Contains(t, page, `<form method="post" action="reset?id=%FF%26"`)
	require.Equal(t, http.StatusOK, ask(t, h, http.MethodHead, "/reset?id=%FF%26").Code)
	require.EqualValues(t, 1, rulesAt(t, p, readAt, "\xff&")[0].Runs, "asking is all")

	w := ask(t, h, http.MethodPost, "/reset?id=%FF%26")
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.Equal(t, "rule?id=%FF%26", w.Result().Header.Get("Location"))
	rules := rulesAt(t, p, readAt, "\xff&", "9")
	require.Zero(t, rules[0].Runs)
	require.EqualValues(t, 1, rules[1].Runs)
	require.Equal(t, http.StatusBadRequest, ask(t, h, http.MethodPost, "/reset").Code)
}

func TestNobodyElseResets(t *testing.T) {
	p, _ := open(t, profile.Options{})
	threeRules(t, p)
	var guarded int
	refuse := profile.HandlerOptions{Reset: func(*http.Request) error {
		guarded++
		return errors.New("only <admins> may")
	}}
	for _, c := range []struct {
		rule   string
		opts   profile.HandlerOptions
		header map[string]string
		status int
		want   string
	}{
		{"there is no guard", profile.HandlerOptions{}, nil, http.StatusNotFound, "There is no such page"},
		{"the guard refuses", refuse, nil, http.StatusForbidden, "You may not reset rules only &lt;admins&gt; may"},
		{"another site's form", profile.HandlerOptions{Reset: allow}, map[string]string{"Sec-Fetch-Site": "cross-site"}, http.StatusForbidden, "That came from another site"},
		{"a site beside it", profile.HandlerOptions{Reset: allow}, map[string]string{"Sec-Fetch-Site": "same-site"}, http.StatusForbidden, "That came from another site"},
		{"another origin, of an old browser", profile.HandlerOptions{Reset: allow}, map[string]string{"Origin": "https://other.example"}, http.StatusForbidden, "That came from another site"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/reset?id=9", nil)
			for name, value := range c.header {
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			pagesOf(p, c.opts).ServeHTTP(w, r)
			require.Equal(t, c.status, w.Code)
			require.Contains(t, text(w.Body.String()), c.want)
			require.EqualValues(t, 50, rulesAt(t, p, readAt, "9")[0].Runs)
		})
	}
	require.Equal(t, 1, guarded)
	require.Equal(t, http.StatusForbidden, ask(t, pagesOf(p, refuse), http.MethodGet, "/reset?id=9").Code, "nobody is asked who may not")

	r := httptest.NewRequest(http.MethodPost, "/reset?id=9", nil)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	w := httptest.NewRecorder()
	pagesOf(p, profile.HandlerOptions{Reset: allow}).ServeHTTP(w, r)
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.Zero(t, rulesAt(t, p, readAt, "9")[0].Runs)
}

// An undeletable store fails to delete.
type undeletable struct{ wrstats.Store }

func (undeletable) Delete(context.Context, []string) error {
	return errors.New("memcached: delete 192.0.2.1:11211: refused")
}

func TestAResetThatFailsIs503(t *testing.T) {
	p := openOn(t, undeletable{newTap().Store}, profile.Options{})
	threeRules(t, p)
	w := ask(t, pagesOf(p, profile.HandlerOptions{Reset: allow}), http.MethodPost, "/reset?id=9")
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Contains(t, text(w.Body.String()), "The rule could not be reset")
	require.Contains(t, w.Body.String(), "delete 192.0.2.1:11211: refused")
}

// A slowStore answers when the read is given up.
type slowStore struct{ wrstats.Store }

func (slowStore) Get(ctx context.Context, _ []string) ([]wrstats.Value, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAReadIsGivenUpAfterTheTimeout(t *testing.T) {
	p := openOn(t, slowStore{newTap().Store}, profile.Options{})
	p.RecordAt(readAt, "default", []profile.Run{{Rule: "9"}})
	w := ask(t, pagesOf(p, profile.HandlerOptions{Timeout: time.Millisecond}), http.MethodGet, "/")
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Contains(t, w.Body.String(), "deadline")
}
