package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

var readingRules = []Rule{{
	Name:     "get-in-order",
	Sentence: "Get answers one Value a key, in the order of the keys.",
	check: func(t *trial) {
		keys := t.numbered(100)
		t.incr(increments(keys)...)
		shuffled, want := make([]string, len(keys)), make([]wrstats.Value, len(keys))
		for i := range keys {
			k := i * 37 % len(keys)
			shuffled[i], want[i] = keys[k], found(int64(k+1))
		}
		require.Equal(t, want, t.get(shuffled...))
	},
}, {
	Name:     "absent-keys-hide-nothing",
	Sentence: "A key that is not there is a Value that is not Found and holds 0, and costs its neighbours nothing.",
	check: func(t *trial) {
		a, b := t.key("a"), t.key("b")
		t.add(a, 5)
		t.add(b, 7)
		none := wrstats.Value{}
		require.Equal(t, []wrstats.Value{none, found(5), none, none, found(7), none},
			t.get(t.key("0"), a, t.key("aa"), t.key("ab"), b, t.key("c")))
	},
}, {
	Name:     "key-twice-in-a-get",
	Sentence: "A key may be in a Get several times, and is answered as often.",
	check: func(t *trial) {
		a, b, c := t.key("a"), t.key("b"), t.key("absent")
		t.add(a, 5)
		t.add(b, 7)
		require.Equal(t, []wrstats.Value{found(5), found(7), {}, found(5), {}, found(5)}, t.get(a, b, c, a, c, a))
	},
}, {
	Name:     "empty-get",
	Sentence: "A Get of no keys answers with no values and is no error.",
	check: func(t *trial) {
		t.add(t.key("a"), 1)
		require.Empty(t, t.get())
	},
}, {
	Name:     "reading-changes-nothing",
	Sentence: "A Get creates no key and changes none.",
	check: func(t *trial) {
		a, b := t.key("a"), t.key("b")
		t.add(a, 5)
		for range 3 {
			require.Equal(t, []wrstats.Value{found(5), {}}, t.get(a, b))
		}
	},
}}
