package redis_test

import (
	"bufio"
	"context"
	"net"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/redis"
	"github.com/wrstats/go-wrstats/wrstats"
)

// hostile starts a server that greets as Redis 5 does, and answers everything else by something, again and
// again until the connection ends.
func hostile(t testing.TB, first, again string) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var conns sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		conns.Wait()
	})
	conns.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer conn.Close()
				answer(conn, first, again)
			})
		}
	})
	return l.Addr().String()
}

func answer(conn net.Conn, first, again string) {
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		switch strings.ToLower(lines.Text()) {
		case "hello":
			_, _ = conn.Write([]byte("-ERR unknown command\r\n"))
		case "setinfo":
			_, _ = conn.Write([]byte("+OK\r\n"))
		case "evalsha", "mget", "unlink":
			_, err := conn.Write([]byte(first))
			for again := []byte(strings.Repeat(again, 4096/max(1, len(again)))); err == nil && len(again) > 0; {
				_, err = conn.Write(again)
			}
		}
	}
}

func TestAHostileServerCostsLittle(t *testing.T) {
	const most = 200 << 20 // a reply of the largest kind, as it grows, and what is left of others
	for _, c := range []struct{ rule, first, again string }{
		{"a line without an end", "+", "x"},
		{"a string longer than all memory", "$1099511627776\r\n", "x"},
		{"a string longer than an int", "$9223372036854775807\r\n", "x"},
		{"a string of a gigabyte", "$1073741824\r\n", "x"},
		{"an array of a billion", "*1000000000\r\n", "$1\r\n1\r\n"},
		{"arrays in arrays", "", "*1\r\n"},
		{"replies that nobody asked for", "", ":1\r\n"},
		{"pushes that nobody asked for", "", ">1\r\n+x\r\n"},
		{"garbage", "tell-no-one\r\n", ""},
		{"a value of garbage", "*1\r\n?tell-no-one\r\n", ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			u, err := url.Parse("redis://" + hostile(t, c.first, c.again) + "?read_timeout=2s&max_retries=1")
			require.NoError(t, err)
			store, err := redis.Open(t.Context(), u)
			require.NoError(t, err)
			peak := peakOf(func() {
				lost, err := incr(t, store, one("tell-no-one", 5))
				require.Error(t, err)
				require.EqualValues(t, 5, lost)
				require.NotContains(t, err.Error(), "tell-no-one")
				values, err := store.Get(within(t, patience), []string{"tell-no-one"})
				require.Error(t, err)
				require.Empty(t, values)
				require.NotContains(t, err.Error(), "tell-no-one")
				err = store.Delete(within(t, patience), []string{"tell-no-one"})
				if c.again != ":1\r\n" { // which is the right answer, once
					require.Error(t, err)
				}
			})
			require.NoError(t, store.Close())
			require.Less(t, peak, uint64(most))
		})
	}
}

// peakOf returns the most that the heap was above what it had been, about.
func peakOf(f func()) (peak uint64) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc-min(before, m.HeapAlloc))
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(done)
	<-ended
	return peak
}

// go-redis sees by the socket that an idle connection is dead, also through the limits.
func TestLimitsLeaveTheSocketInSight(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	dial := redis.LimitReplies((&net.Dialer{}).DialContext)
	conn, err := dial(t.Context(), "tcp", l.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	_, socket := conn.(syscall.Conn)
	require.True(t, socket)

	pipe, _ := net.Pipe()
	conn, err = redis.LimitReplies(func(context.Context, string, string) (net.Conn, error) { return pipe, nil })(t.Context(), "", "")
	require.NoError(t, err)
	_, socket = conn.(syscall.Conn)
	require.False(t, socket, "what has none")
}

// A client of the caller's can have the limits, too.
func TestLimitRepliesOfAnyClient(t *testing.T) {
	options := goredis.Options{Addr: hostile(t, "$1099511627776\r\n", "x"), MaxRetries: -1, Dialer: redis.LimitReplies((&net.Dialer{}).DialContext)}
	store := open(t, goredis.NewClient(&options), redis.Options{})
	_, err := store.Get(within(t, patience), []string{"a"})
	require.ErrorContains(t, err, "larger than any")
	_, err = store.Incr(within(t, patience), []wrstats.Increment{one("a", 1)})
	require.NoError(t, err, "it is on its way")
}

// What the script answers is a list of pairs. Whatever else comes, nobody knows what was applied.
func TestAReplyThatIsNoneOfTheScriptsIsALoss(t *testing.T) {
	for _, c := range []struct {
		rule, reply string
		lost        int64
	}{
		{"nothing failed", "*0\r\n", 0},
		{"the second failed", "*2\r\n:2\r\n$5\r\nERR x\r\n", 2},
		{"half a pair", "*1\r\n$1\r\n7\r\n", 3},
		{"a number alone", "*1\r\n:1\r\n", 3},
		{"one and a half pairs", "*3\r\n:2\r\n$5\r\nERR x\r\n:1\r\n", 3},
		{"one that was not sent", "*2\r\n:3\r\n$5\r\nERR x\r\n", 3},
		{"the one before the first", "*2\r\n:0\r\n$5\r\nERR x\r\n", 3},
		{"no number", "*2\r\n$1\r\n1\r\n$5\r\nERR x\r\n", 3},
		{"a status", "+OK\r\n", 3},
		{"a number", ":3\r\n", 3},
		{"null", "$-1\r\n", 3},
	} {
		t.Run(c.rule, func(t *testing.T) {
			store := open(t, dial(t, goredis.Options{Addr: hostile(t, c.reply, "")}), redis.Options{})
			lost, err := incr(t, store, one("a", 1), one("b", 2))
			require.Equal(t, c.lost, lost)
			require.Equal(t, c.lost > 0, err != nil)
		})
	}
}
