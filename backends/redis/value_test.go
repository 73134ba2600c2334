package redis

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

func TestParseCounter(t *testing.T) {
	for _, c := range []struct {
		rule, text string
		n          int64
		ok         bool
	}{
		{"digits", "120", 120, true},
		{"zero", "0", 0, true},
		{"the largest", "9223372036854775807", 1<<63 - 1, true},
		{"one more", "9223372036854775808", 0, false},
		{"ten times as many", "92233720368547758070", 0, false},
		{"spaces after", "9  ", 9, true},
		{"spaces only", "  ", 0, false},
		{"a space before", " 9", 0, false},
		{"a space within", "9 1", 0, false},
		{"nothing", "", 0, false},
		{"a sign", "-1", 0, false},
		{"a fraction", "10.01", 0, false},
		{"letters", "abc", 0, false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			n, ok := parseCounter(c.text)
			require.Equal(t, c.n, n)
			require.Equal(t, c.ok, ok)
		})
	}
}

func TestParseValues(t *testing.T) {
	none := wrstats.Value{}
	found := func(n int64) wrstats.Value { return wrstats.Value{N: n, Found: true} }
	for _, c := range []struct {
		rule, reply string
		want        []wrstats.Value
		strange     int64
		ok          bool
	}{
		{"values and nulls of both protocols", "*4\r\n$1\r\n5\r\n$-1\r\n_\r\n$2\r\n17\r\n", []wrstats.Value{found(5), none, none, found(17)}, 0, true},
		{"no number", "*2\r\n$3\r\nabc\r\n$1\r\n7\r\n", []wrstats.Value{none, found(7)}, 1, true},
		{"an empty string", "*1\r\n$0\r\n\r\n", []wrstats.Value{none}, 1, true},
		{"a line end in a string", "*2\r\n$4\r\n\r\n\r\n\r\n$1\r\n7\r\n", []wrstats.Value{none, found(7)}, 1, true},
		{"too few", "*1\r\n$1\r\n5\r\n", make([]wrstats.Value, 2), 0, false},
		{"too many", "*1\r\n$1\r\n5\r\n$1\r\n6\r\n", make([]wrstats.Value, 1), 0, false},
		{"no array", "$1\r\n5\r\n", make([]wrstats.Value, 1), 0, false},
		{"a length that is wrong", "*1\r\n$9\r\n5\r\n", make([]wrstats.Value, 1), 0, false},
		{"a length one too large", "*1\r\n$2\r\n5\r\n", make([]wrstats.Value, 1), 0, false},
		{"a length that is none", "*1\r\n$x\r\n5\r\n", make([]wrstats.Value, 1), 0, false},
		{"a huge length", "*1\r\n$9223372036854775807\r\n5\r\n", make([]wrstats.Value, 1), 0, false},
		{"half a line", "*1\r\n$1", make([]wrstats.Value, 1), 0, false},
		{"nothing", "", make([]wrstats.Value, 1), 0, false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			values := make([]wrstats.Value, len(c.want))
			strange, ok := parseValues([]byte(c.reply), values)
			require.Equal(t, c.ok, ok)
			if ok {
				require.Equal(t, c.want, values)
				require.Equal(t, c.strange, strange)
			}
		})
	}
}

func FuzzParseValues(f *testing.F) {
	f.Add([]byte("*2\r\n$1\r\n5\r\n_\r\n"), uint8(2))
	f.Add([]byte("*1\r\n$-1\r\n"), uint8(1))
	f.Add([]byte("*1\r\n$3\r\n 1\r\r\n"), uint8(1))
	f.Fuzz(func(t *testing.T, reply []byte, n uint8) {
		values := make([]wrstats.Value, n)
		strange, ok := parseValues(reply, values)
		if ok && strange > int64(n) {
			t.Fatalf("%d of %d are strange", strange, n)
		}
		for _, v := range values {
			if v.N < 0 || !v.Found && v.N != 0 {
				t.Fatalf("%v", v)
			}
		}
	})
}

func TestSeconds(t *testing.T) {
	for _, c := range []struct {
		rule string
		ttl  time.Duration
		want int64
	}{
		{"negative", -time.Hour, 1},
		{"the least", -1 << 63, 1},
		{"none", 0, 1},
		{"a part of a second", 1, 1},
		{"a second", time.Second, 1},
		{"a second and a part", time.Second + 1, 2},
		{"the longest", 1<<63 - 1, 9223372037},
	} {
		t.Run(c.rule, func(t *testing.T) { require.Equal(t, c.want, seconds(c.ttl)) })
	}
}

func TestReplyErrorHoldsNoKey(t *testing.T) {
	for _, c := range []struct{ rule, text, want string }{
		{"a code and a reason", "READONLY You can't write against a read only replica.", "READONLY You can"},
		{"a quoted part", "ERR unknown command 'evalsha', with args beginning with: 'secret'", "ERR unknown command"},
		{"a key", "NOPERM No permissions to access the 'secret' key", "NOPERM No permissions to access the"},
		{"after a colon", "ERR Error running script: secret", "ERR Error running script"},
		{"a code alone", "BUSY", "BUSY"},
		{"overflow", "ERR increment or decrement would overflow", ErrOverflow.Error()},
		{"no integer", "ERR value is not an integer or out of range", ErrNotNumber.Error()},
		{"another type", "WRONGTYPE Operation against a key holding the wrong kind of value", ErrNotNumber.Error()},
	} {
		t.Run(c.rule, func(t *testing.T) { require.Equal(t, c.want, replyError(c.text).Error()) })
	}
}

// FuzzReplyError requires that an error holds nothing of a reply that is quoted, or said after a colon.
func FuzzReplyError(f *testing.F) {
	f.Add("ERR unknown command ", "s3cret-key", uint8(0))
	f.Add("NOPERM No permissions to access the ", "s3cret-key", uint8(1))
	f.Add("-ERR", "s3cret-key", uint8(2))
	f.Fuzz(func(t *testing.T, before, secret string, quote uint8) {
		if len(secret) < 4 || strings.Contains(before, secret) || strings.Contains("wrstats: redis: key holds no number counter past 2^63-1", secret) {
			return
		}
		text := before + " " + string("'\"`:"[quote%4]) + secret
		if got := replyError(text).Error(); strings.Contains(got, secret) {
			t.Fatalf("%q is told as %q", text, got)
		}
	})
}
