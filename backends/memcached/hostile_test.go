package memcached_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/wrstats"
)

// forever says something until the connection ends.
func (c *fakeConn) forever(text string) {
	chunk := []byte(strings.Repeat(text, 1+4096/len(text)))
	for {
		if _, err := c.Write(chunk); err != nil {
			return
		}
	}
}

// hostilities are what a server says first, and then without end.
var hostilities = []struct{ rule, first, forever string }{
	{"a line without an end", "", "x"},
	{"a value of a gigabyte", "VALUE k2 0 1073741824\r\n", "x"},
	{"a value longer than an int", "VALUE k2 0 99999999999999999999\r\n", "x"},
	{"values that nobody asked for", "", "VALUE k9 0 1\r\n7\r\n"},
	{"the value that was asked for, millions of times", "", "VALUE k2 0 1\r\n7\r\n"},
	{"errors", "", "CLIENT_ERROR k2\r\n"},
	{"fences that nobody sent", "", "MN\r\nEND\r\n"},
	{"counters that nobody created", "", "HD\r\n"},
}

func TestAHostileServerCostsLittle(t *testing.T) {
	const most = 32 << 20
	for _, h := range hostilities {
		for protocol, name := range protocolNames {
			t.Run(h.rule+"/"+name, func(t *testing.T) {
				server := newFake(t, func(conn *fakeConn, command string) bool {
					bad := isIncrement(command) || isFence(command, false) || strings.HasPrefix(command, "delete ")
					if bad {
						conn.say("%s", h.first)
						conn.forever(h.forever)
					}
					return bad
				})
				store := open(t, memcached.Config{Servers: []string{server.addr}, Protocol: protocol, Timeout: 500 * time.Millisecond})
				before := heap()
				lost, err := incr(t, store, one("k2", 5))
				if h.rule != "fences that nobody sent" { // the first of which nobody can tell from the one that is due
					require.EqualValues(t, 5, lost)
					requireDiscreet(t, []error{err}, server.addr)
				}
				values, err := store.Get(within(t, patience), []string{"k2"})
				require.Error(t, err)
				requireDiscreet(t, []error{err}, server.addr)
				require.Empty(t, values)
				err = store.Delete(within(t, patience), []string{"k2"})
				require.Error(t, err)
				requireDiscreet(t, []error{err}, server.addr)
				require.Less(t, heap(), before+most)
			})
		}
	}
}

// A connection on which nothing is on its way has no time-out, and must not be listened to for ever.
func TestAServerThatTalksUnaskedIsHungUpOn(t *testing.T) {
	for _, h := range hostilities {
		for protocol, name := range protocolNames {
			t.Run(h.rule+"/"+name, func(t *testing.T) {
				talk := make(chan bool)
				server := newFake(t, func(conn *fakeConn, command string) bool {
					if isIncrement(command) {
						go func() {
							<-talk
							conn.say("%s", h.first)
							conn.forever(h.forever)
							close(talk)
						}()
					}
					return false
				})
				store := open(t, memcached.Config{Servers: []string{server.addr}, Protocol: protocol})
				count(t, store, one("a", 5))
				talk <- true
				select {
				case <-talk:
				case <-time.After(patience):
					require.Fail(t, "it is listened to")
				}
				require.Equal(t, []wrstats.Value{found(5)}, get(t, store, "a"))
			})
		}
	}
}

// heap returns what is reachable.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
