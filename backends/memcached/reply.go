package memcached

import (
	"bufio"
	"bytes"
	"errors"
	"math"
	"strconv"
)

// A Kind is what a line that a server sends means to this package.
type Kind int

const (
	Created      Kind = iota // HD of a counter that an increment created, which memcached before 1.6.40 sends
	Fence                    // the answer to what ends a piece of a batch: all before it has been applied
	Found                    // a counter that was read
	Done                     // the end of a request that reads or deletes
	NotNumber                // a value that was read and is no number from 0 to 2^63-1
	NotStored                // NS, NF or EX: an increment was not applied
	Failed                   // ERROR: the server knows no such command
	ClientFailed             // CLIENT_ERROR: the server finds the command wrong
	ServerFailed             // SERVER_ERROR: the server can't do it
	Malformed                // anything else; the connection is dropped
	kinds
)

var kindNames = [kinds]string{"HD", "fence", "value", "end", "not a number", "not stored", "ERROR", "CLIENT_ERROR", "SERVER_ERROR", "malformed"}

// String returns the kind as it stands in errors.
func (k Kind) String() string {
	if k < 0 || k >= kinds {
		return "Kind(" + strconv.Itoa(int(k)) + ")"
	}
	return kindNames[k]
}

// errMalformed is a reply that is not of the protocol, or not of what was asked.
var errMalformed = &ReplyError{Kind: Malformed}

// maxValue is the longest value that memcached can be told to take. No longer one is skipped.
const maxValue = 1 << 30

// readLine returns the next line, without its end, valid until the next read. A line that is longer
// than r's buffer is malformed.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, errMalformed
	}
	if err != nil {
		return nil, err
	}
	if len(line) < 2 || line[len(line)-2] != '\r' {
		return nil, errMalformed
	}
	return line[:len(line)-2], nil
}

// classify tells an error line from all others, which are Malformed to it.
func classify(line []byte) Kind {
	switch {
	case string(line) == "ERROR" || bytes.HasPrefix(line, []byte("ERROR ")):
		return Failed
	case bytes.HasPrefix(line, []byte("CLIENT_ERROR")):
		return ClientFailed
	case bytes.HasPrefix(line, []byte("SERVER_ERROR")):
		return ServerFailed
	case metaStatus(line, "NS") || metaStatus(line, "NF") || metaStatus(line, "EX") || string(line) == "NOT_STORED":
		return NotStored
	}
	return Malformed
}

// metaStatus says whether a line is that status of a meta command, with or without flags.
func metaStatus(line []byte, status string) bool {
	return len(line) >= 2 && string(line[:2]) == status && (len(line) == 2 || line[2] == ' ')
}

// unauthenticated is the reason for which a server that wants a login refuses everything else.
const unauthenticated = "unauthenticated"

// reasons are what memcached says after the kind of an error that are safe to repeat and of use.
var reasons = []string{
	"bad command line format", "bad data chunk", "cannot increment or decrement non-numeric value",
	"line too long", "object too large for cache", "out of memory", unauthenticated, "authentication failure",
	"Connection refused", "Connection timed out", "Host is unreachable",
}

// replyError makes an error of a line of that kind.
func replyError(kind Kind, line []byte) *ReplyError {
	for _, reason := range reasons {
		if bytes.Contains(line, []byte(reason)) {
			return &ReplyError{kind, reason}
		}
	}
	return &ReplyError{kind, ""}
}

// parseValueLine reads VALUE <key> <flags> <bytes> [<cas>]. expected is the key that it is likely of.
func parseValueLine(line []byte, expected string) (key []byte, size int, ok bool) {
	const prefix = "VALUE "
	if len(line) < len(prefix) || string(line[:len(prefix)]) != prefix {
		return nil, 0, false
	}
	line = line[len(prefix):]
	n := len(expected)
	if len(line) <= n || line[n] != ' ' || string(line[:n]) != expected {
		n = bytes.IndexByte(line, ' ')
	}
	if n <= 0 {
		return nil, 0, false
	}
	key = line[:n]
	_, rest, flagged := cutNumber(line[n+1:])
	size, rest, sized := cutNumber(rest)
	if len(rest) > 0 {
		_, rest, ok = cutNumber(rest)
		sized = sized && ok
	}
	return key, size, flagged && sized && len(rest) == 0 && size <= maxValue
}

// cutNumber reads digits and the space behind them, if there is one. A number over 2^31-1 is that.
func cutNumber(b []byte) (n int, rest []byte, ok bool) {
	i := 0
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		n = min(n, math.MaxInt32/10-1)*10 + int(b[i]-'0')
	}
	if i == 0 {
		return 0, nil, false
	}
	if i < len(b) {
		if b[i] != ' ' || i+1 == len(b) {
			return 0, nil, false
		}
		i++
	}
	return n, b[i:], true
}

func digits(b []byte) bool {
	for _, c := range b {
		if c-'0' > 9 {
			return false
		}
	}
	return len(b) > 0
}

// parseDigits returns the value of at most 19 digits.
func parseDigits(b []byte) uint64 {
	var n uint64
	for _, c := range b {
		n = n*10 + uint64(c-'0')
	}
	return n
}

// parseNumber reads a counter: digits, and the spaces that memcached leaves behind them when a counter
// got shorter.
func parseNumber(data []byte) (n int64, ok bool) {
	for len(data) > 0 && data[len(data)-1] == ' ' {
		data = data[:len(data)-1]
	}
	if len(data) > 19 || !digits(data) {
		return 0, false
	}
	u := parseDigits(data)
	if u > math.MaxInt64 {
		return 0, false
	}
	return int64(u), true
}
