package memcached

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestConnectionsToNamesAreGivenUp(t *testing.T) {
	born := time.Unix(1_764_600_000, 0)
	for _, c := range []struct {
		rule, addr string
		age        time.Duration
		given      bool
	}{
		{"a name, in time", "cache.example.net", maxAge, false},
		{"a name that may have moved", "cache.example.net", maxAge + 1, true},
		{"an address moves nowhere", "192.0.2.1:11211", 100 * maxAge, false},
		{"nor does one of IPv6", "[2001:db8::1]:11211", 100 * maxAge, false},
		{"nor does a socket", "/run/m.sock", 100 * maxAge, false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			addr, err := parseAddress(c.addr)
			require.NoError(t, err)
			l := &link{server: &server{addr: addr}, born: born}
			require.Equal(t, c.given, l.outlived(born.Add(c.age)))

			stream := newStream(&link{server: &server{addr: addr, store: &Store{}}, born: born})
			require.Equal(t, !c.given, stream.usable(born.Add(c.age)), "a stream with nothing on its way")
			stream.open = []*block{{}}
			require.True(t, stream.usable(born.Add(c.age)), "one with something on its way")
		})
	}
}
