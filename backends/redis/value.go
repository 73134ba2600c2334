package redis

import (
	"bytes"
	"math"

	"github.com/wrstats/go-wrstats/wrstats"
)

// parseCounter reads a counter: digits, with spaces after them as other stores pad them. What is no number
// or over 2^63-1 is not ok.
func parseCounter[T string | []byte](text T) (n int64, ok bool) {
	end := len(text)
	for end > 0 && text[end-1] == ' ' {
		end--
	}
	for i := range end {
		digit := int64(text[i]) - '0'
		if digit < 0 || digit > 9 || n > (math.MaxInt64-digit)/10 {
			return 0, false
		}
		n = n*10 + digit
	}
	return n, end > 0
}

// parseValues reads the reply to an MGET of len(values) keys, an array of strings and nulls. It returns how
// many keys hold no number; these are misses. A reply that is anything else is not ok.
func parseValues(reply []byte, values []wrstats.Value) (strange int64, ok bool) {
	n, reply, ok := header(reply, '*')
	if !ok || n != int64(len(values)) {
		return 0, false
	}
	for i := range values {
		if rest, null := cutNull(reply); null {
			reply = rest
			continue
		}
		n, rest, ok := header(reply, '$')
		if !ok || n > int64(len(rest))-2 {
			return 0, false
		}
		if values[i].N, values[i].Found = parseCounter(rest[:n]); !values[i].Found {
			strange++
		}
		reply = rest[n+2:]
	}
	return strange, len(reply) == 0
}

// header reads the line that begins an array or a string: its type and a length.
func header(reply []byte, kind byte) (n int64, rest []byte, ok bool) {
	line, rest, ok := bytes.Cut(reply, crlf)
	if !ok || len(line) < 2 || line[0] != kind {
		return 0, nil, false
	}
	n, ok = parseCounter(line[1:])
	return n, rest, ok
}

var (
	crlf  = []byte("\r\n")
	nulls = [][]byte{[]byte("$-1\r\n"), []byte("_\r\n")} // of RESP2 and RESP3
)

func cutNull(reply []byte) (rest []byte, ok bool) {
	for _, null := range nulls {
		if rest, ok := bytes.CutPrefix(reply, null); ok {
			return rest, true
		}
	}
	return nil, false
}
