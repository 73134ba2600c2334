package httplimit

import (
	"iter"
	"net/netip"
	"strings"
)

// proxies are the prefixes whose X-Forwarded-For is believed.
type proxies []netip.Prefix

// newProxies spells prefixes of IPv4 addresses written as IPv6 as those of IPv4: addresses are compared
// in that form.
func newProxies(trusted []netip.Prefix) proxies {
	p := make(proxies, len(trusted))
	for i, prefix := range trusted {
		if prefix.Addr().Is4In6() && prefix.Bits() >= 96 {
			prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
		}
		p[i] = prefix
	}
	return p
}

func (p proxies) contain(addr netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// client follows the X-Forwarded-For lines that a trusted peer sent.
func (p proxies) client(peer netip.Addr, lines []string) netip.Addr {
	for entry := range fromTheRight(lines) {
		addr, ok := parseAddr(entry)
		if !ok {
			return peer
		}
		if peer = addr; !p.contain(peer) {
			return peer
		}
	}
	return peer
}

// fromTheRight returns the entries of the lines, which are one list. Empty ones count for nothing, as in
// every list of a header.
func fromTheRight(lines []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := len(lines) - 1; i >= 0; i-- {
			for rest, comma := lines[i], 0; comma >= 0; {
				comma = strings.LastIndexByte(rest, ',')
				entry := strings.Trim(rest[comma+1:], " \t")
				if entry != "" && !yield(entry) {
					return
				}
				rest = rest[:max(comma, 0)]
			}
		}
	}
}

// parseAddr takes 192.0.2.7, 2001:db8::1 and [2001:db8::1], each of the first and the last with a port
// or without.
func parseAddr(s string) (netip.Addr, bool) {
	addr, err := parseForm(s)
	return addr.WithZone("").Unmap(), err == nil
}

func parseForm(s string) (netip.Addr, error) {
	bracketed := strings.HasPrefix(s, "[")
	if bracketed && strings.HasSuffix(s, "]") {
		s += ":0"
	}
	if bracketed || strings.Count(s, ":") == 1 {
		ap, err := netip.ParseAddrPort(s)
		return ap.Addr(), err
	}
	return netip.ParseAddr(s)
}
