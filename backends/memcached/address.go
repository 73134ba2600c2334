package memcached

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// DefaultPort is the port of a server that is given by its host alone.
const DefaultPort = 11211

// An address is where a server listens, as it was given: a name is resolved when it is dialled. It is a
// [net.Addr], and comparable.
type address struct {
	network string // tcp or unix
	text    string // host:port, or the path of a socket
}

func (a address) Network() string { return a.network }
func (a address) String() string  { return a.text }

// host returns what a certificate has to be for; a socket's path has none.
func (a address) host() string {
	if a.network != "tcp" {
		return ""
	}
	host, _, err := net.SplitHostPort(a.text)
	if err != nil {
		return a.text
	}
	return host
}

// named says whether the host is a name, which may move, rather than an IP address or a path.
func (a address) named() bool {
	host := a.host()
	return host != "" && net.ParseIP(host) == nil
}

// parseAddress reads host, host:port, [v6]:port, a bare v6 address, or the path of a unix socket, which
// has a slash in it.
func parseAddress(s string) (address, error) {
	if strings.Contains(s, "/") {
		return address{"unix", s}, nil
	}
	host, port := splitPort(s)
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return address{}, errors.New("port is not 1 to 65535")
	}
	if host == "" || !plain(host) || strings.ContainsAny(host, "[],@") || strings.Contains(host, ":") && net.ParseIP(host) == nil {
		return address{}, errors.New("not a host, host:port, [v6]:port or path")
	}
	return address{"tcp", net.JoinHostPort(host, port)}, nil
}

func splitPort(s string) (host, port string) {
	if host, port, err := net.SplitHostPort(s); err == nil {
		return host, port
	}
	return strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"), strconv.Itoa(DefaultPort)
}

func parseAddresses(servers []string) ([]address, error) {
	addrs := make([]address, len(servers))
	for i, server := range servers {
		addr, err := parseAddress(server)
		if err != nil {
			return nil, fmt.Errorf("server %q: %w", server, err)
		}
		addrs[i] = addr
	}
	return addrs, nil
}
