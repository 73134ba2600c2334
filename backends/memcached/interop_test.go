package memcached_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
)

// A php is what the original library does to a memcached: incrWithInit of BagOStuff, by add and incr.
type php struct {
	testing.TB
	conn net.Conn
	r    *bufio.Reader
}

func newPHP(t testing.TB, addr string) *php {
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return &php{t, conn, bufio.NewReader(conn)}
}

func (p *php) line(format string, args ...any) string {
	_, err := fmt.Fprintf(p.conn, format, args...)
	require.NoError(p, err)
	line, err := p.r.ReadString('\n')
	require.NoError(p, err)
	return line
}

func (p *php) incr(key string, delta int) {
	p.line("add %s 0 4200 1\r\n0\r\n", key)
	require.NotEqual(p, "NOT_FOUND\r\n", p.line("incr %s %d\r\n", key, delta))
}

// get returns the decimal text under a key.
func (p *php) get(key string) string {
	var size int
	var flags int
	_, err := fmt.Sscanf(p.line("get %s\r\n", key), "VALUE "+key+" %d %d\r\n", &flags, &size)
	require.NoError(p, err)
	require.Zero(p, flags, "a number, not something serialized")
	data := make([]byte, size+len("\r\nEND\r\n"))
	_, err = io.ReadFull(p.r, data)
	require.NoError(p, err)
	return string(data[:size])
}

func TestGoAndPHPShareCounters(t *testing.T) {
	now := time.Unix(1_764_600_300, 0) // in bucket 2941000
	for protocol, name := range protocolNames {
		t.Run(name, func(t *testing.T) {
			server := servertest.Memcached(t)
			store := open(t, memcached.Config{Servers: []string{server.Addr}, Protocol: protocol})
			stats, err := wrstats.New(store, wrstats.Config{
				Prefix:   "abusefilter-profile",
				Keyspace: "enwiki",
				Keys:     wrstats.MediaWikiKeys,
				Metrics:  []wrstats.Metric{{Name: "count"}, {Name: "total-time", Resolution: 1e-3}},
			})
			require.NoError(t, err)
			filter := wrstats.Local("filter", "4 2")
			key := func(metric string, bucket int) string {
				return fmt.Sprintf("enwiki:abusefilter-profile:%s::%d:filter:4_2", metric, bucket)
			}
			original := newPHP(t, server.Addr)

			original.incr(key("count", 2_940_999), 7)
			original.incr(key("count", 2_941_000), 1)
			original.incr(key("total-time", 2_941_000), 12_345)
			w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: -1})
			require.NoError(t, w.AddAt(now, "count", filter, 2))
			require.NoError(t, w.AddAt(now, "total-time", filter, 0.655))
			require.NoError(t, w.AddAt(now.Add(-20*time.Minute), "count", filter, 100))
			require.NoError(t, w.Close(within(t, patience)))
			original.incr(key("count", 2_940_998), 11)

			require.Equal(t, "3", original.get(key("count", 2_941_000)))
			require.Equal(t, "7", original.get(key("count", 2_940_999)))
			require.Equal(t, "111", original.get(key("count", 2_940_998)))
			require.Equal(t, "13000", original.get(key("total-time", 2_941_000)))
			rates, err := stats.NewReader().RatesAt(within(t, patience), now, []wrstats.Query{
				{Metric: "count", Entity: filter, Span: wrstats.LastWindows(6)},
				{Metric: "total-time", Entity: filter, Span: wrstats.LastWindows(6)},
			})
			require.NoError(t, err)
			require.Equal(t, 121.0, rates[0].Total)
			require.Equal(t, 13.0, rates[1].Total)
		})
	}
}

// The original sends add and incr, and so does Text.
func TestTextSendsWhatPHPSends(t *testing.T) {
	server := newFake(t, nil)
	store := open(t, memcached.Config{Servers: []string{server.addr}, Protocol: text})
	count(t, store, wrstats.Increment{Key: "a", Delta: 5, TTL: 70 * time.Minute})
	require.Equal(t, []string{"add a 0 4202 1 noreply"}, server.sent("add"))
	require.Equal(t, []string{"incr a 5 noreply"}, server.sent("incr"))
}
