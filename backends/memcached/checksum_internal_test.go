package memcached

import (
	"hash/crc32"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChecksumIsThatOfPackageCRC32(t *testing.T) {
	key := strings.Repeat("local:prefix:count::2941000:Filter:~1", 10)
	for from := range 3 {
		for to := from; to < len(key); to++ {
			k := key[from:to]
			require.Equal(t, crc32.ChecksumIEEE([]byte(k)), checksum(k, nil), "%q", k)
		}
	}
}

func BenchmarkChecksum(b *testing.B) {
	const key = "local:abusefilter-profile:total-time::2941000:filter:42"
	scratch := make([]byte, 0, 256)
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			checksum(key, scratch)
		}
	})
	b.Run("crc32", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			crc32.ChecksumIEEE(append(scratch[:0], key...))
		}
	})
}
