package wrstats

import (
	"crypto/md5"
	"encoding/hex"
	"strconv"
	"strings"
)

// mediaWikiKeys follows MemcachedBagOStuff::makeKeyInternal of MediaWiki 1.39: the parts after the
// scope share a budget of 205 bytes less the scope's and one for each part. A part that is longer than
// what is left becomes '#' and its MD5, while there is room for that; a key that is over the budget
// all the same becomes the MD5 of its parts.
type mediaWikiKeys struct{}

const (
	mediaWikiBudget  = 205
	mediaWikiHashLen = 1 + 2*md5.Size // '#' and the MD5 in hex
	mediaWikiLongKey = ":BagOStuff-long-key:##"
)

func (mediaWikiKeys) AppendKey(dst []byte, k Key) []byte {
	var buf [12]string
	parts := append(buf[:0], k.Prefix, k.Metric, k.Sequence, strconv.FormatInt(k.Bucket, 10))
	parts = k.Entity.appendComponents(parts)

	start := len(dst)
	dst = appendMediaWiki(dst, k.scope())
	left := mediaWikiBudget - (len(dst) - start) - len(parts)
	base := len(dst)
	for _, part := range parts {
		dst = append(dst, ':')
		at := len(dst)
		dst = appendMediaWiki(dst, part)
		if left > mediaWikiHashLen && len(dst)-at > left {
			sum := md5.Sum(dst[at:])
			dst = hex.AppendEncode(append(dst[:at], '#'), sum[:])
		}
		left -= len(dst) - at
	}
	if left >= 0 {
		return dst
	}
	sum := md5.Sum(dst[base+1:])
	return hex.AppendEncode(append(dst[:base], mediaWikiLongKey...), sum[:])
}

// appendMediaWiki writes a space as '_', and escapes what [appendEscaped] does.
func appendMediaWiki(dst []byte, s string) []byte {
	return appendEscaped(dst, strings.ReplaceAll(s, " ", "_"))
}
