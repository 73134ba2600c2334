package faults_test

import (
	"bufio"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	all "github.com/wrstats/go-wrstats/backends"
	"github.com/wrstats/go-wrstats/wrstats"
)

// hostilities are what a server says that means harm, once, and then without end.
var hostilities = []struct{ name, scheme, first, forever string }{
	{"a line without an end", "memcached", "", "x"},
	{"a value of a gigabyte", "memcached", "VALUE a 0 1073741824\r\n", "x"},
	{"a length that no integer holds", "memcached", "VALUE a 0 99999999999999999999\r\n", "x"},
	{"millions of values that nobody asked for", "memcached", "", "VALUE local:hostile:count::1:a 0 1\r\n7\r\n"},
	{"replies for other keys", "memcached", "VALUE local:hostile:count::1:other 0 1\r\n7\r\nEND\r\n", ""},
	{"errors without end", "memcached", "", "SERVER_ERROR\r\n"},
	{"a line without an end", "redis", "+", "x"},
	{"a string of a gigabyte", "redis", "$1073741824\r\n", "x"},
	{"a length that no integer holds", "redis", "$99999999999999999999\r\n", "x"},
	{"a string longer than all memory", "redis", "$1099511627776\r\n", "x"},
	{"an array of a billion", "redis", "*1000000000\r\n", "$1\r\n7\r\n"},
	{"arrays in arrays", "redis", "", "*1\r\n"},
	{"replies that nobody asked for", "redis", "", "*1\r\n$1\r\n7\r\n"},
}

// TestHostileServers requires that a server which means harm costs little memory and time, and is an error.
func TestHostileServers(t *testing.T) {
	const most = 200 << 20
	for _, h := range hostilities {
		t.Run(h.name+"/"+h.scheme, func(t *testing.T) {
			parameters := "?timeout=300ms"
			if h.scheme == "redis" {
				parameters = "?read_timeout=2s&max_retries=1"
			}
			store, err := all.Open(t.Context(), h.scheme+"://"+serveHostile(t, h.first, h.forever)+"/"+parameters)
			require.NoError(t, err)
			stats, err := wrstats.New(store, wrstats.Config{Prefix: "hostile", Metrics: counted})
			require.NoError(t, err)
			peak := watchHeap(func() {
				w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
				require.NoError(t, w.Add("count", entity(0), 1))
				require.Error(t, w.Sync(t.Context()))
				rates, err := stats.NewReader().Rates(t.Context(), queries())
				require.Error(t, err)
				require.Empty(t, rates)
				_ = w.Close(t.Context())
				require.Zero(t, w.Stats().Flushed, "nobody has confirmed it")
			})
			require.NoError(t, store.Close())
			require.Less(t, peak, uint64(most))
			results.add(row{scenario: "a hostile server: " + h.name, backend: h.scheme, verdict: fmt.Sprintf("held: an error, %d MiB at most", peak>>20)})
		})
	}
}

// serveHostile starts a server that greets, and answers whatever else comes by something hostile.
func serveHostile(t testing.TB, first, forever string) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var conns sync.WaitGroup
	t.Cleanup(func() { l.Close(); conns.Wait() })
	conns.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer conn.Close()
				beHostile(conn, first, forever)
			})
		}
	})
	return l.Addr().String()
}

// greetings are what a server is asked while a connection is made.
var greetings = map[string]string{
	"get wrstats:probe": "END\r\n", "ma wrstats:probe D0": "NF\r\n", "mn": "MN\r\n",
	"hello": "-ERR unknown command\r\n", "setinfo": "+OK\r\n",
}

func beHostile(conn net.Conn, first, forever string) {
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		line := strings.ToLower(lines.Text())
		if reply, greets := greetings[line]; greets {
			fmt.Fprint(conn, reply)
			continue
		}
		word, _, _ := strings.Cut(line, " ")
		if word != "get" && word != "ma" && word != "incr" && word != "mget" && word != "evalsha" {
			continue
		}
		_, err := fmt.Fprint(conn, first)
		for chunk := strings.Repeat(forever, 4096/max(1, len(forever))); err == nil && chunk != ""; {
			_, err = fmt.Fprint(conn, chunk)
		}
	}
}

// watchHeap returns the most that the heap was above what it had been while f ran, about.
func watchHeap(f func()) (peak uint64) {
	before := heap()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for m := new(runtime.MemStats); ; time.Sleep(time.Millisecond) {
			runtime.ReadMemStats(m)
			peak = max(peak, m.HeapAlloc-min(before, m.HeapAlloc))
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return peak
}
