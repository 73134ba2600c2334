package httplimit_test

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/httplimit"
)

var own = prefixes("10.0.0.0/8", "2001:db8:ffff::/48")

func TestThePeerIsTheClientOfARequest(t *testing.T) {
	for _, c := range []struct{ rule, remote, client string }{
		{"IPv4 with a port", "192.0.2.7:4711", "192.0.2.7/32"},
		{"IPv4 without a port, as a handler in front may set it", "192.0.2.7", "192.0.2.7/32"},
		{"IPv6 is cut to its /64", "[2001:db8:1:2:3:4:5:6]:4711", "2001:db8:1:2::/64"},
		{"IPv6 without a port", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"IPv6 in brackets without a port", "[2001:db8:1:2:3:4:5:6]", "2001:db8:1:2::/64"},
		{"a zone is left out", "[fe80::1%eth0]:4711", "fe80::/64"},
		{"IPv4 written as IPv6 is IPv4", "[::ffff:192.0.2.7]:4711", "192.0.2.7/32"},
		{"IPv4 written as IPv6 in hexadecimal", "[::ffff:c000:207]:4711", "192.0.2.7/32"},
		{"loopback", "[::1]:4711", "::/64"},
		{"port 0", "192.0.2.7:0", "192.0.2.7/32"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			client, err := httplimit.ClientAddr()(request(c.remote))
			require.NoError(t, err)
			require.Equal(t, netip.MustParsePrefix(c.client), client)
		})
	}
}

func TestARemoteAddrThatIsNoAddressIsAnError(t *testing.T) {
	for _, remote := range []string{
		"", "@", "@socket", "/run/app.sock", "localhost:80", ":80", "[]:80", "[]", "[", "]", "192.0.2.7:", "192.0.2.7:http",
		"192.0.2.7:65536", "192.0.2.7:-1", "192.0.2.256:80", "192.0.2:80", "[192.0.2.7]:80", "[192.0.2.7]", "[2001:db8::1",
		"[2001:db8::1]80", "[[2001:db8::1]]:80", "2001:db8::1::", " 192.0.2.7:80", "192.0.2.7:80\r\n",
	} {
		t.Run(remote, func(t *testing.T) {
			client, err := httplimit.ClientAddr(own...)(request(remote, "198.51.100.1"))
			require.ErrorIs(t, err, httplimit.ErrNoAddress)
			require.Zero(t, client)
			require.EqualError(t, err, "httplimit: RemoteAddr: not an IP address") // which one is nobody's business
		})
	}
}

func TestXForwardedForIsReadOnlyAsFarAsItsWritersAreTrusted(t *testing.T) {
	for _, c := range []struct {
		rule, remote string
		lines        []string
		client       string
	}{
		{"a peer that is not trusted is the client", "192.0.2.7:1", []string{"198.51.100.1"}, "192.0.2.7/32"},
		{"a trusted peer tells the client", "10.0.0.1:1", []string{"198.51.100.1"}, "198.51.100.1/32"},
		{"a trusted peer without the field is the client", "10.0.0.1:1", nil, "10.0.0.1/32"},
		{"with an empty one too", "10.0.0.1:1", []string{""}, "10.0.0.1/32"},
		{"with one of empty entries too", "10.0.0.1:1", []string{" , ,,\t"}, "10.0.0.1/32"},
		{"what a client spoofs stands on the left", "10.0.0.1:1", []string{"203.0.113.9, 198.51.100.1"}, "198.51.100.1/32"},
		{"also when it spoofs a proxy", "10.0.0.1:1", []string{"203.0.113.9, 10.0.0.2, 198.51.100.1"}, "198.51.100.1/32"},
		{"also when it spoofs a line", "10.0.0.1:1", []string{"203.0.113.9", "198.51.100.1"}, "198.51.100.1/32"},
		{"also when it spoofs nonsense", "10.0.0.1:1", []string{"\"<script>, 198.51.100.1"}, "198.51.100.1/32"},
		{"each trusted hop is passed", "10.0.0.1:1", []string{"198.51.100.1, 10.9.9.9, 10.0.0.2"}, "198.51.100.1/32"},
		{"over several lines", "10.0.0.1:1", []string{"203.0.113.9, 198.51.100.1", "10.9.9.9", "10.0.0.2"}, "198.51.100.1/32"},
		{"with all hops trusted the leftmost is the client", "10.0.0.1:1", []string{"10.3.3.3, 10.2.2.2"}, "10.3.3.3/32"},
		{"over several lines too", "10.0.0.1:1", []string{"10.4.4.4", "10.3.3.3, 10.2.2.2"}, "10.4.4.4/32"},
		{"empty entries count for nothing", "10.0.0.1:1", []string{"198.51.100.1, ,,10.0.0.2,", ""}, "198.51.100.1/32"},
		{"spaces and tabs do not matter", "10.0.0.1:1", []string{"\t198.51.100.1 \t,  10.0.0.2 "}, "198.51.100.1/32"},
		{"nor does a lack of spaces", "10.0.0.1:1", []string{"198.51.100.1,10.0.0.2"}, "198.51.100.1/32"},
		{"an entry may have a port", "10.0.0.1:1", []string{"198.51.100.1:80, 10.0.0.2:443"}, "198.51.100.1/32"},
		{"an IPv6 entry", "10.0.0.1:1", []string{"2001:db8:1:2:3:4:5:6"}, "2001:db8:1:2::/64"},
		{"an IPv6 entry in brackets", "10.0.0.1:1", []string{"[2001:db8:1:2:3:4:5:6]"}, "2001:db8:1:2::/64"},
		{"an IPv6 entry with a port", "10.0.0.1:1", []string{"[2001:db8:1:2:3:4:5:6]:80"}, "2001:db8:1:2::/64"},
		{"an entry of IPv4 written as IPv6", "10.0.0.1:1", []string{"::ffff:198.51.100.1"}, "198.51.100.1/32"},
		{"a trusted hop of IPv4 written as IPv6", "10.0.0.1:1", []string{"198.51.100.1, ::ffff:10.0.0.2"}, "198.51.100.1/32"},
		{"a trusted peer of IPv4 written as IPv6", "[::ffff:10.0.0.1]:1", []string{"198.51.100.1"}, "198.51.100.1/32"},
		{"a trusted IPv6 peer", "[2001:db8:ffff::1]:1", []string{"198.51.100.1"}, "198.51.100.1/32"},
		{"a trusted IPv6 peer with a zone", "[2001:db8:ffff::1%eth0]:1", []string{"198.51.100.1"}, "198.51.100.1/32"},
		{"an IPv6 peer beside the trusted prefix", "[2001:db8:fffe::1]:1", []string{"198.51.100.1"}, "2001:db8:fffe::/64"},
		{"nonsense stops at who passed it on", "10.0.0.1:1", []string{"198.51.100.1, unknown"}, "10.0.0.1/32"},
		{"nonsense further left too", "10.0.0.1:1", []string{"198.51.100.1, unknown, 10.0.0.2"}, "10.0.0.2/32"},
		{"half an entry is nonsense", "10.0.0.1:1", []string{"198.51.100.1, [2001:db8::1"}, "10.0.0.1/32"},
		{"so is a port that is none", "10.0.0.1:1", []string{"198.51.100.1:99999"}, "10.0.0.1/32"},
		{"so are two addresses without a comma", "10.0.0.1:1", []string{"198.51.100.1 198.51.100.2"}, "10.0.0.1/32"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			client, err := httplimit.ClientAddr(own...)(request(c.remote, c.lines...))
			require.NoError(t, err)
			require.Equal(t, netip.MustParsePrefix(c.client), client)
		})
	}
}

func TestTrustedPrefixesAreTakenAsTheyAreMeant(t *testing.T) {
	for _, c := range []struct {
		rule    string
		trusted []netip.Prefix
		client  string
	}{
		{"none: the field is not read", nil, "10.1.2.3/32"},
		{"one address", prefixes("10.1.2.3/32"), "198.51.100.1/32"},
		{"another address", prefixes("10.1.2.4/32"), "10.1.2.3/32"},
		{"bits beyond the prefix do not matter", prefixes("10.9.9.9/8"), "198.51.100.1/32"},
		{"IPv4 written as IPv6", prefixes("::ffff:10.0.0.0/104"), "198.51.100.1/32"},
		{"IPv4 written as IPv6, another network", prefixes("::ffff:11.0.0.0/104"), "10.1.2.3/32"},
		{"all of IPv6 is not IPv4", prefixes("::/0"), "10.1.2.3/32"},
		{"all of IPv4", prefixes("0.0.0.0/0"), "203.0.113.9/32"},
		{"the zero prefix has no addresses", []netip.Prefix{{}}, "10.1.2.3/32"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			client, err := httplimit.ClientAddr(c.trusted...)(request("10.1.2.3:1", "203.0.113.9, 198.51.100.1"))
			require.NoError(t, err)
			require.Equal(t, netip.MustParsePrefix(c.client), client)
		})
	}
}

func TestChangingTheSliceOfTrustedPrefixesTrustsNobody(t *testing.T) {
	trusted := prefixes("10.0.0.0/8")
	clientAddr := httplimit.ClientAddr(trusted...)
	trusted[0] = netip.MustParsePrefix("0.0.0.0/0")
	client, err := clientAddr(request("192.0.2.7:1", "198.51.100.1"))
	require.NoError(t, err)
	require.Equal(t, netip.MustParsePrefix("192.0.2.7/32"), client)
}

func TestAClientIsAnEntityOfItsAddress(t *testing.T) {
	for client, want := range map[string]wrstats.Entity{
		"192.0.2.7/32":      wrstats.Local("ip", "192.0.2.7"),
		"2001:db8:1:2::/64": wrstats.Local("ip", "2001:db8:1:2::/64"),
	} {
		require.Equal(t, want, httplimit.ClientEntity(netip.MustParsePrefix(client)))
	}
}

func request(remote string, forwarded ...string) *http.Request {
	r := &http.Request{RemoteAddr: remote, Header: http.Header{}}
	for _, line := range forwarded {
		r.Header.Add("X-Forwarded-For", line)
	}
	return r
}

func prefixes(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

func TestTellingTheClientAllocatesNothing(t *testing.T) {
	clientAddr := httplimit.ClientAddr(own...)
	r := request("10.0.0.1:1", "203.0.113.9, 198.51.100.1", "10.0.0.3:443 , 10.0.0.2")
	require.Zero(t, testing.AllocsPerRun(100, func() { clientAddr(r) }))
}
