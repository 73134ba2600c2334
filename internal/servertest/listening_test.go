package servertest

import (
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2BCB 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 7001 1 0 100 0 0 10 0
   1: 0100007F:2BCC 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 7002 1 0 100 0 0 10 0
`

func TestListener(t *testing.T) {
	for _, c := range []struct{ rule, addr, want string }{
		{"it listens", "127.0.0.1:11211", "7001"},
		{"it is a connection", "127.0.0.1:11212", ""},
		{"nobody is there", "127.0.0.1:11213", ""},
	} {
		t.Run(c.rule, func(t *testing.T) { require.Equal(t, c.want, listener([]byte(table), c.addr)) })
	}
}

func TestListensTellsWhoListens(t *testing.T) {
	if _, err := os.Stat("/proc/self/net/tcp"); err != nil {
		t.Skip(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	require.True(t, listens(os.Getpid(), l.Addr().String()))
	require.False(t, listens(os.Getppid(), l.Addr().String()), "another process")
}

func TestTheServerThatAnswersIsTheOneThatWasStarted(t *testing.T) {
	first := Redis(t)
	_, port, err := net.SplitHostPort(first.Addr)
	require.NoError(t, err)
	other := &Server{t: t, Network: "tcp", Addr: first.Addr, path: Binary(t, "memcached"), args: memcachedArgs([]string{"-l", "127.0.0.1", "-p", port, "-U", "0"})}
	require.Error(t, other.run(), "the port is taken, by a server that accepts")
}
