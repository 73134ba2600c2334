package memcached

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

// A Protocol is the commands that counters are written with.
type Protocol int

const (
	// Auto asks each server, whenever it is dialled for writing, whether it takes Meta, and uses Text
	// where it does not: on a memcached before 1.6 and behind proxies, also those that close the
	// connection when they are asked.
	Auto Protocol = iota

	// Text sends add and incr, which every memcached and proxy takes. An increment of a value that is
	// not a number stays silent in it: it is not counted as lost.
	Text

	// Meta sends ma, one command a counter instead of two, which memcached has from 1.6 on. A server
	// that does not take it is not written to.
	Meta
)

// The defaults of [Config].
const (
	DefaultProtocol     = Auto
	DefaultTimeout      = 250 * time.Millisecond
	DefaultMaxReadConns = 4
)

// DefaultDialContext is the default of [Config.DialContext]: a [net.Dialer], which resolves names and
// keeps TCP connections alive.
func DefaultDialContext(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

// Config says where the servers are and how to talk to them. Either Servers or Selector is required;
// of all else the zero value is the default.
type Config struct {
	// Servers are host:port, [v6]:port or paths of unix sockets; a host alone means [DefaultPort].
	// Keys are placed by [CRC32].
	Servers []string

	// Selector places keys in place of that: [Ketama], or any of gomemcache's or the caller's. It is
	// asked for every key, without RoutePrefix, by many goroutines at once, and may change its servers.
	Selector memcache.ServerSelector

	// DialContext connects to a server. nil: [DefaultDialContext]. network and address are what the
	// Selector says, names unresolved.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)

	// TLS is spoken with the servers if it is set. An empty ServerName means the host of the address.
	// memcached needs it to be cut into records in a certain way, which a DialContext that speaks TLS
	// does not do.
	TLS *tls.Config

	// Username and Password are sent first on every connection, as memcached -Y wants them. Neither
	// may hold a space. Both empty: nothing is sent.
	Username, Password string

	// RoutePrefix is put before every key, as mcrouter wants it: /region/cluster/. "": nothing.
	RoutePrefix string

	// Timeout bounds each network operation: to connect, to agree on TLS, to greet; to have a piece of
	// a batch taken or confirmed, or a request answered. 0: [DefaultTimeout].
	Timeout time.Duration

	// Protocol is how counters are written. 0: [DefaultProtocol].
	Protocol Protocol

	// MaxReadConns is how many connections a server is read over at once; further calls wait.
	// 0: [DefaultMaxReadConns]. Writing takes one more.
	MaxReadConns int

	// OnError is told the first error of each [Kind] and server, on whatever goroutine meets it. It
	// must not block, nor close the Store. Errors hold no key and no value. nil: counted only.
	OnError func(error)
}

// withDefaults returns the config with its defaults filled in, or an error that names the wrong field.
func (c Config) withDefaults() (Config, error) {
	if field, err := c.check(); err != nil {
		return c, fmt.Errorf("wrstats: memcached: Config.%s: %w", field, err)
	}
	if c.Selector == nil {
		c.Selector = CRC32(c.Servers...)
	}
	if c.DialContext == nil {
		c.DialContext = DefaultDialContext
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.MaxReadConns == 0 {
		c.MaxReadConns = DefaultMaxReadConns
	}
	if c.OnError == nil {
		c.OnError = func(error) {}
	}
	return c, nil
}

// check returns the first field that is wrong, and why.
func (c *Config) check() (field string, err error) {
	for _, check := range []struct {
		field string
		err   error
	}{
		{"Selector", c.checkSelector()},
		{"Servers", c.checkServers()},
		{"Username", c.checkLogin(c.Username)},
		{"Password", c.checkLogin(c.Password)},
		{"RoutePrefix", c.checkRoutePrefix()},
		{"Timeout", notNegative(c.Timeout)},
		{"Protocol", c.checkProtocol()},
		{"MaxReadConns", notNegative(c.MaxReadConns)},
	} {
		if check.err != nil {
			return check.field, check.err
		}
	}
	return "", nil
}

func (c *Config) checkSelector() error {
	if c.Selector != nil && len(c.Servers) > 0 {
		return errors.New("is set, and Servers are, too")
	}
	if own, ok := c.Selector.(placer); ok {
		return own.check()
	}
	return nil
}

func (c *Config) checkServers() error {
	if c.Selector == nil && len(c.Servers) == 0 {
		return errors.New("there is none")
	}
	_, err := parseAddresses(c.Servers)
	return err
}

// checkLogin checks one half of a login, which is there if the other one is.
func (c *Config) checkLogin(half string) error {
	if c.Username == "" && c.Password == "" {
		return nil
	}
	if half == "" || !plain(half) {
		return errors.New("is empty, or has a space or a control character")
	}
	return nil
}

func (c *Config) checkRoutePrefix() error {
	p := c.RoutePrefix
	switch {
	case p == "":
		return nil
	case !strings.HasPrefix(p, "/") || !strings.HasSuffix(p, "/"):
		return errors.New("does not begin and end with a slash")
	case len(p) >= maxKey || !plain(p):
		return errors.New("is too long, or has a space or a control character")
	}
	return nil
}

func (c *Config) checkProtocol() error {
	if c.Protocol < Auto || c.Protocol > Meta {
		return fmt.Errorf("%d is none", c.Protocol)
	}
	return nil
}

func notNegative[T int | time.Duration](v T) error {
	if v < 0 {
		return fmt.Errorf("%v is negative", v)
	}
	return nil
}

// plain says that nothing in s ends a word or a line of the protocol.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}
