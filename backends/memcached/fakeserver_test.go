package memcached_test

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A fake is a memcached in this process, of the commands that a Store sends, that does on demand what a
// real one will not.
type fake struct {
	addr string

	// hook is asked before each command. True: it did what there is to do.
	hook func(c *fakeConn, command string) bool

	mu       sync.Mutex // guards what follows
	items    map[string]fakeItem
	commands []string
	conns    map[*fakeConn]bool
	accepted int
}

type fakeItem struct {
	value string
	until time.Time
}

// A fakeConn is a connection to a fake.
type fakeConn struct {
	net.Conn
	fake *fake
	r    *bufio.Reader
	n    int // the how-manieth it is, from 1
}

func newFake(t testing.TB, hook func(c *fakeConn, command string) bool) *fake {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f := &fake{addr: l.Addr().String(), hook: hook, items: make(map[string]fakeItem), conns: make(map[*fakeConn]bool)}
	if f.hook == nil {
		f.hook = func(*fakeConn, string) bool { return false }
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c := f.enter(conn)
			all.Go(c.serve)
		}
	})
	t.Cleanup(func() {
		l.Close()
		f.hangUp()
		all.Wait()
	})
	return f
}

func (f *fake) enter(conn net.Conn) *fakeConn {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.accepted++
	c := &fakeConn{conn, f, bufio.NewReader(conn), f.accepted}
	f.conns[c] = true
	return c
}

// hangUp closes all connections.
func (f *fake) hangUp() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		c.Close()
	}
}

// sent returns the commands that came with this prefix.
func (f *fake) sent(prefix string) (commands []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, command := range f.commands {
		if strings.HasPrefix(command, prefix) {
			commands = append(commands, command)
		}
	}
	return commands
}

func (f *fake) connections() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.accepted
}

func (c *fakeConn) serve() {
	defer func() {
		c.Close()
		c.fake.mu.Lock()
		delete(c.fake.conns, c)
		c.fake.mu.Unlock()
	}()
	for {
		line, err := c.r.ReadString('\n')
		if err != nil {
			return
		}
		command := strings.TrimSuffix(line, "\r\n")
		c.fake.mu.Lock()
		c.fake.commands = append(c.fake.commands, command)
		c.fake.mu.Unlock()
		if !c.fake.hook(c, command) {
			c.obey(strings.Fields(command))
		}
	}
}

func (c *fakeConn) say(format string, args ...any) { fmt.Fprintf(c, format, args...) }

// obey does a command as memcached does.
func (c *fakeConn) obey(words []string) {
	c.fake.mu.Lock()
	defer c.fake.mu.Unlock()
	switch {
	case len(words) == 0:
		c.say("ERROR\r\n")
	case words[0] == "get":
		c.get(words[1:])
	case words[0] == "delete":
		reply := "NOT_FOUND"
		if _, found := c.fake.live(words[1]); found {
			reply = "DELETED"
		}
		delete(c.fake.items, words[1])
		c.say("%s\r\n", reply)
	case words[0] == "add": // add k 0 ttl 1 noreply, and the line of its data
		data, err := c.r.ReadString('\n')
		if _, found := c.fake.live(words[1]); !found && err == nil {
			c.fake.set(words[1], strings.TrimSuffix(data, "\r\n"), words[3])
		}
	case words[0] == "incr":
		c.fake.incr(words[1], words[2])
	case words[0] == "ma":
		c.meta(words)
	case words[0] == "mn":
		c.say("MN\r\n")
	default:
		c.say("ERROR\r\n")
	}
}

func (c *fakeConn) get(keys []string) {
	var b strings.Builder
	for _, key := range keys {
		if item, found := c.fake.live(key); found {
			fmt.Fprintf(&b, "VALUE %s 0 %d\r\n%s\r\n", key, len(item.value), item.value)
		}
	}
	c.say("%sEND\r\n", b.String())
}

// meta is ma k D0, or ma k q N<ttl> J<d> D<d>.
func (c *fakeConn) meta(words []string) {
	key := words[1]
	_, found := c.fake.live(key)
	switch {
	case len(words) == 3 && !found:
		c.say("NF\r\n")
	case len(words) == 3:
		c.say("HD\r\n")
	case found && !c.fake.incr(key, words[5][1:]):
		c.say("CLIENT_ERROR cannot increment or decrement non-numeric value\r\n")
	case !found:
		c.fake.set(key, words[4][1:], words[3][1:])
		c.say("HD\r\n")
	}
}

func (f *fake) live(key string) (fakeItem, bool) {
	item, found := f.items[key]
	return item, found && time.Now().Before(item.until)
}

func (f *fake) set(key, value, exptime string) {
	seconds, _ := strconv.ParseInt(exptime, 10, 64)
	until := time.Now().Add(time.Duration(seconds) * time.Second)
	if seconds > 30*24*60*60 {
		until = time.Unix(seconds, 0)
	}
	f.items[key] = fakeItem{value, until}
}

func (f *fake) incr(key, delta string) bool {
	item, found := f.live(key)
	n, err := strconv.ParseInt(item.value, 10, 64)
	d, _ := strconv.ParseInt(delta, 10, 64)
	if !found || err != nil {
		return false
	}
	f.items[key] = fakeItem{strconv.FormatInt(n+d, 10), item.until}
	return true
}

// value returns what the fake has under a key.
func (f *fake) value(key string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.items[key].value
}

// open returns how many connections there are.
func (f *fake) open() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.conns)
}
