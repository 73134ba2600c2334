package httplimit_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats/httplimit"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

// FuzzFields answers requests under two conditions, and reads the fields back.
func FuzzFields(f *testing.F) {
	f.Add("requests", int64(5), int64(time.Minute), int64(1))
	f.Add(`a"b\c, d;q=1`, int64(0), int64(1500*time.Millisecond), int64(1))
	f.Add("50% clé\r\nSet-Cookie: a=b", int64(1)<<62, int64(time.Hour), int64(1)<<53)
	f.Add("\x00", int64(-1), int64(-1), int64(-1))
	f.Fuzz(func(t *testing.T, name string, limit, window, amount int64) {
		conditions := []limiter.Condition{
			{Name: name, Limit: limit, Window: time.Duration(window)},
			{Name: "second", Limit: 3, Window: time.Hour},
		}
		l, err := limiter.New(memory.New(memory.Options{}), conditions, limiter.Options{})
		if err != nil {
			return
		}
		ops := []limiter.Op{{Condition: name, Amount: amount}, {Condition: "second", Amount: 1}}
		h := httplimit.New(l, always(ops...), httplimit.Options{})(ok)
		for range 3 {
			got := get(h)
			if got.Code == http.StatusInternalServerError {
				require.True(t, amount < 0 || amount > limiter.MaxAmount)
				return
			}
			requireFields(t, conditions, got.Code, got.Header())
		}
	})
}

func requireFields(t *testing.T, conditions []limiter.Condition, status int, h http.Header) {
	policies, err := parseList(h.Get(policyField))
	require.NoError(t, err)
	require.Len(t, policies, len(conditions))
	for i, c := range conditions {
		require.Equal(t, c.Name, policies[i].name)
		require.EqualValues(t, min(c.Limit, 999_999_999_999_999), policies[i].parameters["q"])
		w := time.Duration(policies[i].parameters["w"])
		require.True(t, w*time.Second >= c.Window && (w-1)*time.Second < c.Window, "w=%d for %v", w, c.Window)
		require.Len(t, policies[i].parameters, 2)
	}
	limits, err := parseList(h.Get(limitField))
	require.NoError(t, err)
	var longest int64
	for _, limit := range limits {
		require.GreaterOrEqual(t, limit.parameters["r"], int64(0))
		longest = max(longest, limit.parameters["t"])
	}
	switch retryAfter := h.Get("Retry-After"); status {
	case http.StatusOK:
		require.Empty(t, retryAfter)
		require.Zero(t, longest)
	case http.StatusTooManyRequests:
		require.Contains(t, []string{"", strconv.FormatInt(longest, 10)}, retryAfter, "t does not end after Retry-After")
		require.NotEqual(t, "0", retryAfter)
	default:
		require.Fail(t, "unexpected", "status %d", status)
	}
}

// An item of a field: a String with Integers.
type item struct {
	name       string // decoded
	parameters map[string]int64
}

var itemSyntax = regexp.MustCompile(`^"((?:[ !#-\[\]-~]|\\["\\])*)"((?:;[a-z]=(?:0|[1-9][0-9]{0,14}))+)`)

// parseList takes what RFC 9651 has for a List of such items, spelled as its serialization is.
func parseList(field string) (items []item, err error) {
	for rest := field; ; {
		m := itemSyntax.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("no item at %q of %q", rest, field)
		}
		it := item{parameters: map[string]int64{}}
		if it.name, err = url.PathUnescape(strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(m[1])); err != nil {
			return nil, err
		}
		for _, parameter := range strings.Split(m[2][1:], ";") {
			if it.parameters[parameter[:1]], err = strconv.ParseInt(parameter[2:], 10, 64); err != nil {
				return nil, err
			}
		}
		items = append(items, it)
		if rest = rest[len(m[0]):]; rest == "" {
			return items, nil
		}
		var more bool
		if rest, more = strings.CutPrefix(rest, ", "); !more {
			return nil, fmt.Errorf("no comma at %q of %q", rest, field)
		}
	}
}
