package memcached

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

// seeds are replies, right and wrong.
var seeds = []string{
	"", "HD\r\nHD\r\nMN\r\n", "END\r\n", "MN\r\n", "\r\n", "\n", "HD\n", "HD \r\n", "NS\r\nNF k\r\nEX O1\r\n",
	"ERROR\r\nCLIENT_ERROR bad data chunk\r\nSERVER_ERROR out of memory\r\nMN\r\n", "NOT_STORED\r\n",
	"VALUE a 0 1\r\n1\r\nVALUE c 0 2\r\n9 \r\nEND\r\n", "VALUE a 0 1\r\n1\r\nVALUE a 0 1\r\n1\r\nEND\r\n",
	"VALUE b 0 5 7\r\n10.01\r\nEND\r\n", "VALUE a 0 99999999999999999999\r\n", "VALUE a 0 -1\r\n\r\nEND\r\n",
	"VALUE a 0 1\r\n12\r\nEND\r\n", "VALUE c 0 1\r\n3\r\nVALUE a 0 1\r\n1\r\nEND\r\n", "VALUE a 0 1073741824\r\n",
}

// FuzzWriteReplies requires that every stream of bytes ends, is counted line by line, and that no error
// holds anything of it.
func FuzzWriteReplies(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, stream []byte, meta bool) {
		r := bufio.NewReaderSize(bytes.NewReader(stream), 64)
		for replies := 0; ; replies++ {
			require.LessOrEqual(t, replies, len(stream)/4)
			reply, err := readWriteReply(r, meta)
			if err != nil {
				require.True(t, errors.Is(err, io.EOF) || err == errMalformed, "%v", err)
				return
			}
			switch reply.kind {
			case Fence, Created:
				require.Nil(t, reply.err)
			case Found:
				if err := skipValue(r, reply.size); err != nil {
					require.True(t, errors.Is(err, io.EOF) || err == errMalformed, "%v", err)
					return
				}
			case NotStored, Failed, ClientFailed, ServerFailed:
				require.Equal(t, reply.kind, reply.err.Kind)
				require.Contains(t, append(reasons, ""), reply.err.Reason)
			default:
				t.Fatalf("kind %v", reply.kind)
			}
		}
	})
}

// FuzzReadValues requires that whatever comes back, the values are of keys that were asked for, no more of
// them than asked for, and 0 when they are not Found.
func FuzzReadValues(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	items := []string{"a", "not asked", "b", "a", "c"}
	f.Fuzz(func(t *testing.T, stream []byte) {
		values := make([]wrstats.Value, len(items))
		keys := share[string]{items, []int32{0, 2, 3, 4}}
		r := bufio.NewReaderSize(bytes.NewReader(stream), 64)
		found, wrong, err := readValues(r, "/r/", keys, values)
		require.LessOrEqual(t, found+wrong, keys.len())
		require.Equal(t, wrstats.Value{}, values[1])
		n := 0
		for _, v := range values {
			require.GreaterOrEqual(t, v.N, int64(0))
			if v.Found {
				n++
			} else {
				require.Zero(t, v.N)
			}
		}
		require.LessOrEqual(t, n, found)
		var reply *ReplyError
		require.True(t, err == nil || errors.Is(err, io.EOF) || errors.As(err, &reply), "%v", err)
		if err == nil {
			require.Contains(t, string(stream), "END\r\n")
		}
	})
}

// FuzzCheckKey compares the check of eight bytes at a time with the plain one.
func FuzzCheckKey(f *testing.F) {
	for _, seed := range []string{"", "a", "12345678", "123456789", "1234567 ", "\x7f2345678", "1234567\x80x", "0123456789abcde\x20", "\x20\x21\x21\x21\x21\x21\x21\x21"} {
		f.Add(seed, 0)
	}
	f.Fuzz(func(t *testing.T, key string, prefix int) {
		prefix &= 0xff
		legal := len(key) > 0 && prefix+len(key) <= maxKey
		for i := range len(key) {
			legal = legal && key[i] >= 0x21 && key[i] <= 0x7e
		}
		require.Equal(t, legal, checkKey(key, prefix) == nil)
	})
}
