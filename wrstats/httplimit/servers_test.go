package httplimit_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/httplimit"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

const patience = time.Minute

func TestAServerThatIsDown(t *testing.T) {
	for name, start := range map[string]func(*testing.T) (*servertest.Server, string){
		"memcached": func(t *testing.T) (*servertest.Server, string) {
			s := servertest.Memcached(t)
			return s, "memcached://" + s.Addr + "/?timeout=30s" // the machine may be busy
		},
		"redis": func(t *testing.T) (*servertest.Server, string) {
			s := servertest.Redis(t)
			return s, "redis://" + s.Addr + "/?read_timeout=30s&max_retries=-1" // retries would take their time
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, url := start(t)
			store, err := backends.Open(t.Context(), url)
			require.NoError(t, err)
			defer store.Close()
			closed := serveHourly(t, store, limiter.Options{})
			open := serveHourly(t, store, limiter.Options{FailOpen: true})
			for _, left := range []string{"2", "1"} {
				got := get(closed)
				require.Equal(t, http.StatusOK, got.Code)
				require.Equal(t, `"requests";r=`+left, got.Header().Get(limitField))
			}

			server.Kill()
			for range 2 {
				got := get(closed)
				require.Equal(t, http.StatusServiceUnavailable, got.Code)
				require.Equal(t, "1", got.Header().Get("Retry-After"))
				require.Equal(t, `"requests";q=3;w=3600`, got.Header().Get(policyField))
				require.Empty(t, got.Header().Values(limitField))

				got = get(open)
				require.Equal(t, http.StatusOK, got.Code)
				require.Empty(t, got.Header().Values("Retry-After"))
				require.Equal(t, `"requests";q=3;w=3600`, got.Header().Get(policyField))
				require.Empty(t, got.Header().Values(limitField))
			}

			server.Restart()
			require.Eventually(t, func() bool { return get(closed).Code == http.StatusOK }, patience, 10*time.Millisecond)
			require.Eventually(t, func() bool { return get(open).Header().Get(limitField) != "" }, patience, 10*time.Millisecond)
			require.Eventually(t, func() bool { return get(closed).Code == http.StatusTooManyRequests }, patience, 10*time.Millisecond)
		})
	}
}

func serveHourly(t *testing.T, store wrstats.Store, opts limiter.Options) http.Handler {
	hourly := []limiter.Condition{{Name: "requests", Limit: 3, Window: time.Hour}}
	return serve(newLimiter(t, store, hourly, opts), httplimit.Options{})
}
