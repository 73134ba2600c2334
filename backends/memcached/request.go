package memcached

import (
	"strconv"
)

// maxKey is the most bytes that memcached takes in a key.
const maxKey = 250

// checkKey returns ErrKey unless the key, with a prefix of that length, can be sent.
func checkKey(key string, prefix int) error {
	if len(key) == 0 || prefix+len(key) > maxKey {
		return ErrKey
	}
	i := 0
	for ; i+8 <= len(key); i += 8 {
		if illegal8(load8(key, i)) {
			return ErrKey
		}
	}
	if len(key) >= 8 { // the last ones are looked at twice
		i = len(key)
		if illegal8(load8(key, i-8)) {
			return ErrKey
		}
	}
	for ; i < len(key); i++ {
		if key[i]-0x21 > 0x7e-0x21 {
			return ErrKey
		}
	}
	return nil
}

// illegal8 says whether any of eight bytes is outside 0x21 to 0x7e: it looks for a high bit in the byte,
// in the byte less 0x21 (a borrow only makes the next byte look smaller when this one is illegal), and in
// the byte plus 1.
func illegal8(x uint64) bool {
	const each = 0x0101010101010101
	return (x|(x-0x21*each)|(x+each))&(0x80*each) != 0
}

func load8(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// What is sent while a connection is made. The first asks whether the server takes ma and mn: both
// are answered, and nothing is created.
const probeKey = "wrstats:probe"

func appendProbe(dst []byte, prefix string) []byte {
	dst = append(append(append(dst, "ma "...), prefix...), probeKey...)
	return append(dst, " D0\r\nmn\r\n"...)
}

func appendGreeting(dst []byte, prefix string) []byte {
	dst = append(append(append(dst, "get "...), prefix...), probeKey...)
	return append(dst, "\r\n"...)
}

// appendLogin appends what memcached -Y takes as a login. The key means nothing.
func appendLogin(dst []byte, user, password string) []byte {
	dst = append(dst, "set login 0 0 "...)
	dst = strconv.AppendInt(dst, int64(len(user)+1+len(password)), 10)
	dst = append(append(dst, "\r\n"...), user...)
	dst = append(append(dst, ' '), password...)
	return append(dst, "\r\n"...)
}

// appendMeta appends an increment in Meta. J is the value of a key that it creates, D what it adds to
// one that exists, and q keeps success silent.
func appendMeta(dst []byte, prefix, key string, exptime, delta int64) []byte {
	dst = append(append(append(dst, "ma "...), prefix...), key...)
	dst = strconv.AppendInt(append(dst, " q N"...), exptime, 10)
	dst = append(dst, " J"...)
	start := len(dst)
	dst = strconv.AppendInt(dst, delta, 10)
	end := len(dst)
	dst = append(append(dst, " D"...), dst[start:end]...)
	return append(dst, "\r\n"...)
}

// appendText appends an increment in Text: a 0 that only a key which is not there takes, then the delta.
func appendText(dst []byte, prefix, key string, exptime, delta int64) []byte {
	dst = append(append(append(dst, "add "...), prefix...), key...)
	dst = strconv.AppendInt(append(dst, " 0 "...), exptime, 10)
	dst = append(dst, " 1 noreply\r\n0\r\nincr "...)
	dst = append(append(append(dst, prefix...), key...), ' ')
	dst = strconv.AppendInt(dst, delta, 10)
	return append(dst, " noreply\r\n"...)
}

func appendMetaFence(dst []byte) []byte { return append(dst, "mn\r\n"...) }

// appendKey appends one more key to a request of several words.
func appendKey(dst []byte, prefix, key string) []byte {
	return append(append(append(dst, ' '), prefix...), key...)
}

func appendDelete(dst []byte, prefix, key string) []byte {
	dst = append(append(append(dst, "delete "...), prefix...), key...)
	return append(dst, "\r\n"...)
}
