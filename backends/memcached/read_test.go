package memcached_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/wrstats"
)

// answering is a fake that answers its first connections' gets with what says makes of the keys; nil: as
// memcached does.
func answering(t *testing.T, conns int, says func(keys []string) string) *fake {
	return newFake(t, func(c *fakeConn, command string) bool {
		keys, isGet := strings.CutPrefix(command, "get ")
		if !isGet || says == nil || c.n > conns {
			return false
		}
		c.say("%s", says(strings.Fields(keys)))
		return true
	})
}

func value(key, data string) string {
	return fmt.Sprintf("VALUE %s 0 %d\r\n%s\r\n", key, len(data), data)
}

func TestGetMatchesRepliesToKeys(t *testing.T) {
	all := []string{"a", "b", "a", "c", "d"}
	for _, c := range []struct {
		rule, says string
		want       []wrstats.Value
	}{
		{"in order", value("a", "1") + value("b", "2") + value("a", "1") + value("c", "3") + value("d", "4"),
			[]wrstats.Value{found(1), found(2), found(1), found(3), found(4)}},
		{"misses are left out", value("b", "2") + value("d", "4"), []wrstats.Value{{}, found(2), {}, {}, found(4)}},
		{"another order", value("d", "4") + value("a", "1") + value("a", "1") + value("c", "3") + value("b", "2"),
			[]wrstats.Value{found(1), found(2), found(1), found(3), found(4)}},
		{"by server, as a proxy may", value("b", "2") + value("d", "4") + value("a", "1") + value("a", "1") + value("c", "3"),
			[]wrstats.Value{found(1), found(2), found(1), found(3), found(4)}},
		{"flags and a cas do not matter", "VALUE b 4294967295 1 18446744073709551615\r\n2\r\n", []wrstats.Value{{}, found(2), {}, {}, {}}},
		{"none", "", make([]wrstats.Value, 5)},
	} {
		t.Run(c.rule, func(t *testing.T) {
			server := answering(t, 1, func([]string) string { return c.says + "END\r\n" })
			store := open(t, memcached.Config{Servers: []string{server.addr}})
			require.Equal(t, c.want, get(t, store, all...))
			require.Equal(t, 1, server.connections())
		})
	}
}

func TestValuesThatAreNoNumbersAreMissing(t *testing.T) {
	for _, c := range []struct {
		data string
		want wrstats.Value
	}{
		{"9", found(9)},
		{"9 ", found(9)},
		{"0                   ", found(0)},
		{"007", found(7)},
		{"9223372036854775807", found(1<<63 - 1)},
		{"9223372036854775808", wrstats.Value{}},
		{"18446744073709551615", wrstats.Value{}},
		{"99999999999999999999999", wrstats.Value{}},
		{"10.01", wrstats.Value{}},
		{"abc", wrstats.Value{}},
		{"", wrstats.Value{}},
		{" ", wrstats.Value{}},
		{" 9", wrstats.Value{}},
		{"-1", wrstats.Value{}},
		{"+1", wrstats.Value{}},
		{"12345hush", wrstats.Value{}},
		{strings.Repeat("9", 1<<20), wrstats.Value{}},
		{strings.Repeat("END\r\n", 100), wrstats.Value{}},
	} {
		t.Run(fmt.Sprintf("%.20q", c.data), func(t *testing.T) {
			server := answering(t, 1, func([]string) string { return value("k1", "5") + value("k2", c.data) + value("k3", "7") + "END\r\n" })
			var told errorLog
			store := open(t, memcached.Config{Servers: []string{server.addr}, OnError: told.add})
			for range 2 {
				require.Equal(t, []wrstats.Value{found(5), c.want, found(7)}, get(t, store, "k1", "k2", "k3"))
			}
			require.Equal(t, 1, server.connections())
			if !c.want.Found {
				require.Equal(t, int64(2), stats(store).Replies[memcached.NotNumber])
				require.Len(t, told.all(), 1)
				requireDiscreet(t, told.all(), server.addr)
			}
		})
	}
}

func TestMalformedRepliesEndTheConnection(t *testing.T) {
	for _, c := range []struct{ rule, says string }{
		{"an empty line", "\r\n"},
		{"half a value, then nothing", "VALUE k2 0 5\r\n12"},
		{"a length that is too short", "VALUE k2 0 2\r\n12345\r\nEND\r\n"},
		{"data that goes on", "VALUE k2 0 2\r\n1234END\r\n"},
		{"a length that is too long", "VALUE k2 0 9\r\n12345\r\nEND\r\n"},
		{"a length that is none", "VALUE k2 0 x\r\n12345\r\nEND\r\n"},
		{"a negative length", "VALUE k2 0 -5\r\n12345\r\nEND\r\n"},
		{"a length beyond all memory", "VALUE k2 0 99999999999999999999\r\n12345\r\nEND\r\n"},
		{"no length", "VALUE k2 0\r\n12345\r\nEND\r\n"},
		{"no key", "VALUE  0 5\r\n12345\r\nEND\r\n"},
		{"flags that are none", "VALUE k2 a 5\r\n12345\r\nEND\r\n"},
		{"a space at the end", "VALUE k2 0 5 \r\n12345\r\nEND\r\n"},
		{"a value nobody asked for", value("other", "1") + "END\r\n"},
		{"one whose data ends the reply", value("other", "END") + "END\r\n"},
		{"a value more than asked for", value("k2", "1") + value("k2", "1") + "END\r\n"},
		{"END without CR", "END\n"},
		{"ERROR", "ERROR\r\n"},
		{"CLIENT_ERROR", "CLIENT_ERROR bad command line format\r\n"},
		{"the reply of another command", "STORED\r\n"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			server := answering(t, 1, func([]string) string { return c.says })
			var told errorLog
			store := open(t, memcached.Config{Servers: []string{server.addr}, Timeout: 300 * time.Millisecond, OnError: told.add})
			values, err := store.Get(within(t, patience), []string{"k2"})
			require.Error(t, err)
			require.NotErrorIs(t, err, wrstats.ErrPartial, "there is no part")
			require.Empty(t, values)
			requireDiscreet(t, append(told.all(), err), server.addr)

			require.Equal(t, []wrstats.Value{{}}, get(t, store, "k2"), "over a new connection")
			require.Equal(t, 2, server.connections())
		})
	}
}
