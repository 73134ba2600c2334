package memcached_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

// memcached 1.6.18 leaves what does not fit its buffer with OpenSSL, and then waits for the socket.
func TestTLSTakesBatchesOfAnySize(t *testing.T) {
	t.Parallel()
	for _, protocol := range spoken {
		t.Run(protocolNames[protocol], func(t *testing.T) {
			t.Parallel()
			config := serveTLS(t)
			config.Protocol = protocol
			store := open(t, config)
			for size := 1; size < 1200; size += 3 {
				batch := make([]wrstats.Increment, size)
				keys := make([]string, size)
				for i := range batch {
					keys[i] = fmt.Sprintf("%s:%d:%d", strings.Repeat("k", size%100), size, i)
					batch[i] = wrstats.Increment{Key: keys[i], Delta: 1, TTL: time.Hour}
				}
				lost, err := incr(t, store, batch...)
				require.NoError(t, err, "size %d", size)
				require.Zero(t, lost)
				require.NotContains(t, get(t, store, keys...), wrstats.Value{}, "size %d", size)
			}
		})
	}
}

// Wherever Go would cut its first, small records: memcached reads the value of an add whose line ends a
// record from the next one, and leaves the rest of that with OpenSSL, too.
func TestTLSCutsRecordsBetweenIncrements(t *testing.T) {
	config := serveTLS(t)
	config.Protocol = text
	for shift := 1; shift < 200; shift++ {
		store := open(t, config)
		batch := []wrstats.Increment{one(strings.Repeat("s", shift), 1)}
		for i := range 30 {
			batch = append(batch, one(fmt.Sprintf("%s:%d", strings.Repeat("k", 30), i), 1))
		}
		lost, err := incr(t, store, batch...)
		require.NoError(t, err, "shift %d", shift)
		require.Zero(t, lost)
		require.NoError(t, store.Close())
	}
}
