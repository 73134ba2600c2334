package wrstats_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

func defaultKey(e wrstats.Entity) string { return formatKey(wrstats.DefaultKeys, e) }

func formatKey(format wrstats.KeyFormat, e wrstats.Entity) string {
	return string(format.AppendKey(nil, wrstats.Key{
		Keyspace: "local", Prefix: "abusefilter-profile", Metric: "total-time", Bucket: 2941000, Entity: e,
	}))
}

func TestDefaultKeys(t *testing.T) {
	const base = "local:abusefilter-profile:total-time::2941000"
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		rule   string
		entity wrstats.Entity
		want   string
	}{
		{"components follow the bucket", wrstats.Local("filter", "42"), base + ":filter:42"},
		{"a global entity has the scope global", wrstats.Global("ip", "192.0.2.7"), "global" + base[5:] + ":ip:192.0.2.7"},
		{"no components", wrstats.Local(), base},
		{"one empty component", wrstats.Local(""), base + ":"},
		{"bytes that part or break a key are escaped", wrstats.Local("a:b#c%d e\r\n\x00\x7f"), base + ":a%3Ab%23c%25d%20e%0D%0A%00%7F"},
		{"UTF-8 is escaped byte by byte", wrstats.Local("clé"), base + ":cl%C3%A9"},
		{"what memcached answers is an ordinary name", wrstats.Local("END", "ERROR", "VALUE"), base + ":END:ERROR:VALUE"},
		{"a key over 200 bytes has a hash for its components", wrstats.Local(long, "y"),
			base + ":#c18ad7e594df586a80b8568687f9c059"},
		{"a key of 200 bytes has not", wrstats.Local(long[:200-len(base)-1]), base + ":" + long[:200-len(base)-1]},
		{"a key of 201 bytes has", wrstats.Local(long[:201-len(base)-1]), base + ":#0f2ccb287df456db09d1cac689ca7905"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			require.Equal(t, c.want, defaultKey(c.entity))
		})
	}
}

func TestDifferentEntitiesNeverShareAKey(t *testing.T) {
	long := strings.Repeat("x", 300)
	entities := []wrstats.Entity{
		wrstats.Local("a:b", "c"), wrstats.Local("a", "b:c"), wrstats.Local("a", "b", "c"), wrstats.Local("a", "b", "c", ""),
		wrstats.Local(""), wrstats.Local(), wrstats.Local("", ""), wrstats.Local("a%3Ab", "c"),
		wrstats.Local("clé"), wrstats.Local("cle"), wrstats.Local(" Λ#m"), wrstats.Local("Λ#m"),
		wrstats.Local(long + "a"), wrstats.Local(long + "b"), wrstats.Local(long, "a"), wrstats.Local(long, "", "a"),
		wrstats.Local(strings.Repeat("é", 126)), wrstats.Local("x", strings.Repeat("é", 126)),
		wrstats.Global("a:b", "c"), wrstats.Global(), wrstats.Global(long + "a"),
		wrstats.Local("#c18ad7e594df586a80b8568687f9c059"),
	}
	for _, format := range []wrstats.KeyFormat{wrstats.DefaultKeys, wrstats.MediaWikiKeys} {
		seen := make(map[string]wrstats.Entity)
		for _, e := range entities {
			key := formatKey(format, e)
			require.NotContains(t, seen, key, "%q and %q", e.Components(), seen[key].Components())
			seen[key] = e
			requireLegal(t, key)
		}
	}
}

func requireLegal(t *testing.T, key string) {
	t.Helper()
	require.NotEmpty(t, key)
	require.LessOrEqual(t, len(key), wrstats.MaxKeyLength)
	for i := range len(key) {
		require.True(t, 0x21 <= key[i] && key[i] <= 0x7e, "%q", key)
	}
}

func TestMetricsAndSequencesNeverShareAKey(t *testing.T) {
	seen := make(map[string]string)
	for _, metric := range []string{"m", "m:", "m:s", "m::1"} {
		for _, sequence := range []string{"", "s", "s:1", "1"} {
			for bucket := range int64(3) {
				key := string(wrstats.DefaultKeys.AppendKey(nil, wrstats.Key{
					Keyspace: "k", Prefix: "p", Metric: metric, Sequence: sequence, Bucket: bucket,
				}))
				name := fmt.Sprintf("%q %q %d", metric, sequence, bucket)
				require.NotContains(t, seen, key, name)
				seen[key] = name
			}
		}
	}
}

func TestASpaceIsAnUnderscoreInMediaWikiKeys(t *testing.T) {
	require.Equal(t, formatKey(wrstats.MediaWikiKeys, wrstats.Local("a_b")), formatKey(wrstats.MediaWikiKeys, wrstats.Local("a b")))
}

func TestEntity(t *testing.T) {
	require.Equal(t, wrstats.Entity{}, wrstats.Local())
	require.NotEqual(t, wrstats.Local("a"), wrstats.Global("a"))
	require.NotEqual(t, wrstats.Local("a", ""), wrstats.Local("a"))
	require.True(t, wrstats.Global("a").IsGlobal())
	require.False(t, wrstats.Local("a").IsGlobal())
	require.Equal(t, "global:ip:192.0.2.7", wrstats.Global("ip", "192.0.2.7").String())
	require.Equal(t, "filter:42", wrstats.Local("filter", "42").String())
	for _, components := range [][]string{{}, {"a"}, {"a", "b"}, {"a", "", strings.Repeat("c", 1000), "\x80"}, make([]string, 300)} {
		require.Equal(t, components, wrstats.Local(components...).Components())
		require.Equal(t, wrstats.Local(components...), wrstats.Local(components...))
	}
}

func FuzzKeys(f *testing.F) {
	f.Add("a", "b", "c", "", byte(0))
	f.Add("a b", "a_b", ":", "#%", byte(3))
	f.Add(strings.Repeat("é", 126), "", strings.Repeat("x", 300), "\r\n", byte(9))
	f.Fuzz(func(t *testing.T, a, b, c, d string, shape byte) {
		all := []string{a, b, c, d}
		one, other := all[:shape%5], all[shape/5%5:]
		for _, format := range []wrstats.KeyFormat{wrstats.DefaultKeys, wrstats.MediaWikiKeys} {
			requireLegal(t, formatKey(format, wrstats.Local(one...)))
			requireLegal(t, formatKey(format, wrstats.Global(other...)))
		}
		require.Equal(t, append([]string{}, one...), wrstats.Local(one...).Components())
		same := wrstats.Local(one...) == wrstats.Local(other...)
		require.Equal(t, same, defaultKey(wrstats.Local(one...)) == defaultKey(wrstats.Local(other...)))
	})
}
