package wrstats

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// MaxKeyLength is the longest storage key in bytes, memcached's limit. [New] refuses a
// configuration whose keys could be longer.
const MaxKeyLength = 250

// A Key is what a storage key is made of.
type Key struct {
	Keyspace string // scope of a local entity
	Prefix   string
	Metric   string
	Sequence string // the resolved name: "", "s1", …
	Bucket   int64
	Entity   Entity
}

// scope is the key's first component. [Config] refuses the keyspace "global".
func (k Key) scope() string {
	if k.Entity.IsGlobal() {
		return "global"
	}
	return k.Keyspace
}

// A KeyFormat says how a storage key is spelled. Its methods are pure and safe for concurrent use.
type KeyFormat interface {
	// AppendKey appends the spelling of k to dst and returns the extended slice. The spelling has 1
	// to [MaxKeyLength] bytes of 0x21 to 0x7e, whatever bytes the entity has.
	AppendKey(dst []byte, k Key) []byte
}

var (
	// DefaultKeys spells <scope>:<prefix>:<metric>:<sequence>:<bucket>[:<component>…], such as
	// local:abusefilter-profile:total-time::2941000:filter:42. In each part, bytes outside 0x21-0x7e
	// and '%', ':', '#' are written %XX, so different keys never meet. A key over 200 bytes keeps its
	// part up to the bucket, and has instead of the components a '#' and the first 32 hex digits of
	// the SHA-256 of their escaped and joined text.
	DefaultKeys KeyFormat = defaultKeys{}

	// MediaWikiKeys spells keys as MediaWiki 1.39 does on memcached, so that Go and PHP processes
	// share counters. It differs from [DefaultKeys] in two things: a space is written '_', so the
	// entities "a b" and "a_b" are one counter; and parts that are too long are replaced by their MD5.
	MediaWikiKeys KeyFormat = mediaWikiKeys{}
)

type defaultKeys struct{}

const (
	defaultKeyLength = 200 // a longer key is shortened
	defaultHashBytes = 16  // of the SHA-256, so 32 hex digits
)

func (defaultKeys) AppendKey(dst []byte, k Key) []byte {
	start := len(dst)
	dst = appendEscaped(dst, k.scope())
	for _, part := range [...]string{k.Prefix, k.Metric, k.Sequence} {
		dst = append(dst, ':')
		dst = appendEscaped(dst, part)
	}
	dst = append(dst, ':')
	dst = strconv.AppendInt(dst, k.Bucket, 10)
	base := len(dst)
	var buf [8]string
	for _, component := range k.Entity.appendComponents(buf[:0]) {
		dst = append(dst, ':')
		dst = appendEscaped(dst, component)
	}
	if len(dst)-start <= defaultKeyLength || len(dst) == base {
		return dst
	}
	sum := sha256.Sum256(dst[base+1:])
	return hex.AppendEncode(append(dst[:base], ":#"...), sum[:defaultHashBytes])
}

// appendEscaped writes the bytes that can't stand in a key, or that part it, as %XX.
func appendEscaped(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; 0x21 <= c && c <= 0x7e && c != '%' && c != ':' && c != '#' {
			dst = append(dst, c)
			continue
		}
		dst = appendPercent(dst, s[i])
	}
	return dst
}

func appendPercent(dst []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(dst, '%', digits[c>>4], digits[c&15])
}
