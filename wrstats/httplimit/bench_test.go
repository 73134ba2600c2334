package httplimit_test

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/internal/versus"
	"github.com/wrstats/go-wrstats/wrstats/httplimit"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

var benchConditions = []limiter.Condition{
	{Name: "burst", Limit: 1 << 50, Window: time.Minute},
	{Name: "hourly", Limit: 1 << 50, Window: time.Hour},
	{Name: "none", Limit: 0, Window: time.Hour},
}

// BenchmarkRequest takes a request through the middleware, to a handler that does nothing, beside the
// limiter's decision alone.
func BenchmarkRequest(b *testing.B) {
	for _, c := range []struct {
		name   string
		ops    func(*http.Request) ([]limiter.Op, error)
		status int
	}{
		{"allowed/conditions=1", always(one("burst")), http.StatusOK},
		{"allowed/conditions=2", always(one("burst"), one("hourly")), http.StatusOK},
		{"allowed/client", httplimit.PerClient("burst", own...), http.StatusOK},
		{"denied", always(one("none")), http.StatusTooManyRequests},
	} {
		b.Run(c.name, func(b *testing.B) {
			l := newLimiter(b, memory.New(memory.Options{}), benchConditions, limiter.Options{})
			h := httplimit.New(l, c.ops, httplimit.Options{})(ok)
			r := request("10.0.0.1:1", "203.0.113.9, 198.51.100.1, 10.0.0.2").WithContext(b.Context())
			w := &discard{header: http.Header{}}
			ops, err := c.ops(r)
			require.NoError(b, err)
			versus.Run(b, "limiter", func(n int) {
				for range n {
					clear(w.header)
					w.status = http.StatusOK
					h.ServeHTTP(w, r)
				}
			}, func(n int) {
				for range n {
					if _, err := l.Try(b.Context(), ops...); err != nil {
						b.Fatal(err)
					}
				}
			})
			require.Equal(b, c.status, w.status)
			require.Contains(b, w.header.Get(policyField), ";q=")
		})
	}
}

func BenchmarkClientAddr(b *testing.B) {
	clientAddr := httplimit.ClientAddr(own...)
	r := request("10.0.0.1:1", "203.0.113.9, 198.51.100.1, 10.0.0.2")
	var client netip.Prefix
	b.ReportAllocs()
	for b.Loop() {
		client, _ = clientAddr(r)
	}
	require.Equal(b, netip.MustParsePrefix("198.51.100.1/32"), client)
}

// discard is a ResponseWriter that keeps what is cheap.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }
