package httplimit_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats/httplimit"
)

// FuzzClientAddr asks for the client of a request whose X-Forwarded-For has one line or two.
func FuzzClientAddr(f *testing.F) {
	f.Add("192.0.2.7:1", "198.51.100.1", "")
	f.Add("10.0.0.1:1", "203.0.113.9, 198.51.100.1", "10.0.0.2:80,")
	f.Add("[::ffff:10.0.0.1]:1", "[2001:db8::1%eth0]:80", "[2001:db8:ffff::1], ::ffff:10.1.1.1")
	f.Add("@", ",,,", "unknown")
	f.Fuzz(func(t *testing.T, remote, first, second string) {
		clientAddr := httplimit.ClientAddr(own...)
		peer, err := clientAddr(request(remote))
		if err != nil {
			require.ErrorIs(t, err, httplimit.ErrNoAddress)
			return
		}
		client, err := clientAddr(request(remote, first, second))
		require.NoError(t, err)
		requireCut(t, client)
		if !trusts(peer.Addr()) {
			require.Equal(t, peer, client, "a peer that is not trusted is the client whatever it sends")
			return
		}
		require.Equal(t, client, slowly(peer, first+","+second))

		spoofed, err := clientAddr(request(remote, "203.0.113.9", first+",198.51.100.1", "10.0.0.2"))
		require.NoError(t, err)
		require.Equal(t, netip.MustParsePrefix("198.51.100.1/32"), spoofed, "what came with the request is not looked at")
	})
}

func requireCut(t *testing.T, client netip.Prefix) {
	require.True(t, client.IsValid())
	require.Equal(t, client.Masked(), client)
	require.False(t, client.Addr().Is4In6())
	require.Equal(t, map[bool]int{true: 32, false: 64}[client.Addr().Is4()], client.Bits())
}

// slowly finds the client by taking the whole list apart. An entry is understood as a RemoteAddr is.
func slowly(peer netip.Prefix, list string) netip.Prefix {
	entries := strings.Split(list, ",")
	slices.Reverse(entries)
	for _, entry := range entries {
		if entry = strings.Trim(entry, " \t"); entry == "" {
			continue
		}
		hop, err := httplimit.ClientAddr()(request(entry))
		if err != nil || !trusts(peer.Addr()) {
			return peer
		}
		peer = hop
	}
	return peer
}

func trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(own, func(p netip.Prefix) bool { return p.Contains(addr) })
}
