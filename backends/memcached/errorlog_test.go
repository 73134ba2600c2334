package memcached_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
)

// An errorLog keeps what OnError is told.
type errorLog struct {
	mu   sync.Mutex // guards errs
	errs []error
}

func (l *errorLog) add(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs = append(l.errs, err)
}

func (l *errorLog) all() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.errs)
}

// requireDiscreet requires that errors name the server, and hold nothing of what was sent or stored.
func requireDiscreet(t *testing.T, errs []error, addr string) {
	t.Helper()
	for _, err := range errs {
		require.ErrorContains(t, err, addr)
		for _, secret := range secrets {
			require.False(t, strings.Contains(err.Error(), secret), "%q holds %q", err, secret)
		}
	}
}

// secrets are keys, values and passwords of tests.
var secrets = []string{"k2", "aaaa", "local:", "s3cret", "12345", "hush"}

// stats returns those of a store's only server.
func stats(store *memcached.Store) memcached.ServerStats { return store.Stats().Servers[0] }
