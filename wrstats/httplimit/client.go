package httplimit

import (
	"net/http"
	"net/netip"

	"github.com/wrstats/go-wrstats/wrstats"
)

// networkBits is the part of an IPv6 address that one client holds: it may take any address of its /64.
const networkBits = 64

// ClientAddr returns a function that tells the client of a request: an IPv4 address, or the /64 of an
// IPv6 address, since whoever has one address of that has all of them. IPv4 addresses written as IPv6
// are IPv4 addresses, and zones are left out.
//
// The client is the peer of the connection, [http.Request.RemoteAddr], unless that is in one of the
// trusted prefixes: those of your own proxies, which write X-Forwarded-For. Then that field is read
// from right to left, for as long as the addresses in it are trusted, too. The first that is not is the
// client. What stands to the left of it came with the request and may be anything, so it is not looked
// at. When all are trusted the client is the leftmost, and an entry that is no address ends the search
// at the proxy which passed it on: its requests count together. Without trusted prefixes the field is not
// read. A prefix of all addresses, 0.0.0.0/0, lets clients choose who they are.
//
// A RemoteAddr that holds no address, such as that of a unix socket, is an error that wraps
// [ErrNoAddress]. A handler in front may set RemoteAddr, with a port or without.
func ClientAddr(trusted ...netip.Prefix) func(*http.Request) (netip.Prefix, error) {
	proxies := newProxies(trusted)
	return func(r *http.Request) (netip.Prefix, error) {
		addr, ok := parseAddr(r.RemoteAddr)
		if !ok {
			return netip.Prefix{}, ErrNoAddress
		}
		if proxies.contain(addr) {
			addr = proxies.client(addr, r.Header["X-Forwarded-For"])
		}
		return network(addr), nil
	}
}

// ClientEntity returns the local entity of a client that [ClientAddr] told: "ip" and an IPv4 address,
// such as 192.0.2.7, or a prefix, such as 2001:db8::/64.
func ClientEntity(client netip.Prefix) wrstats.Entity {
	if client.IsSingleIP() {
		return wrstats.Local("ip", client.Addr().String())
	}
	return wrstats.Local("ip", client.String())
}

func network(addr netip.Addr) netip.Prefix {
	bits := addr.BitLen()
	if addr.Is6() {
		bits = networkBits
	}
	return netip.PrefixFrom(addr, bits).Masked()
}
