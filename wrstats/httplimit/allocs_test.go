//go:build !race

// Under the race detector a sync.Pool forgets at random.

package httplimit_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats/httplimit"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

// Beside the decision itself: two slices of header values and the values that are not known before.
func TestWhatARequestAllocates(t *testing.T) {
	for _, c := range []struct {
		rule string
		ops  []limiter.Op
		most float64
	}{
		{"one condition", []limiter.Op{one("burst")}, 3},
		{"two conditions", []limiter.Op{one("burst"), one("hourly")}, 4},
	} {
		t.Run(c.rule, func(t *testing.T) {
			l := newLimiter(t, memory.New(memory.Options{}), benchConditions, limiter.Options{})
			h := httplimit.New(l, always(c.ops...), httplimit.Options{})(ok)
			w, r := &discard{header: http.Header{}}, request("192.0.2.7:1").WithContext(t.Context())
			whole := testing.AllocsPerRun(1000, func() {
				clear(w.header)
				h.ServeHTTP(w, r)
			})
			decision := testing.AllocsPerRun(1000, func() { l.Try(t.Context(), c.ops...) })
			require.LessOrEqual(t, whole-decision, c.most)
		})
	}
}
