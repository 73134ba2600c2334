package storetest

import (
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

const maxKey = 250 // bytes, the most that a key may have

var keyRules = []Rule{{
	Name:     "every-legal-byte",
	Sentence: "A key may hold every byte of 0x21 to 0x7e, wherever it stands, and each makes another key.",
	check: func(t *trial) {
		var keys []string
		for b := byte(0x21); b <= 0x7e; b++ {
			keys = append(keys, t.key(string(b)), t.key("x"+string(b)+"y"), t.key("x"+string(b)))
		}
		t.distinct(keys)
	},
}, {
	Name:     "keys-of-250-bytes",
	Sentence: "A key may have 250 bytes, and two that differ in the last byte only are two.",
	check: func(t *trial) {
		long := t.key("")
		long += strings.Repeat("k", maxKey-1-len(long))
		t.distinct([]string{long + "a", long + "b", long, long[1:] + "a", long[1:] + "b"})
	},
}, {
	Name:     "upper-and-lower-case",
	Sentence: "Keys that differ in case are two, and so are keys of which one begins with the other.",
	check: func(t *trial) {
		t.distinct([]string{t.key("a"), t.key("A"), t.key("aa"), t.key("aA"), t.key(""), t.key("a:"), t.key("a::")})
	},
}, {
	Name:     "words-of-protocols",
	Sentence: "Names that mean something in a protocol, such as END or ERROR, are ordinary keys.",
	check: func(t *trial) {
		var keys []string
		for _, word := range []string{
			"END", "ERROR", "VALUE", "STORED", "HD", "EN", "MN", "VA", "SERVER_ERROR", "CLIENT_ERROR",
			"noreply", "get", "0", "-1", "$-1", "+OK", "*1", "nil", "{a}", "%s", "#", "..", "/a/b/",
		} {
			keys = append(keys, t.key(word), word+":"+t.prefix)
		}
		t.distinct(keys)
	},
}}

// distinct asserts that keys are as many counters: the i-th is incremented by i+1 and holds that.
func (t *trial) distinct(keys []string) {
	t.Helper()
	want := make([]wrstats.Value, len(keys))
	for i := range keys {
		want[i] = found(int64(i + 1))
	}
	t.incr(increments(keys)...)
	got := t.get(keys...)
	for i, key := range keys {
		require.Equal(t, want[i], got[i], "the counter at %q", key)
	}
}
