package storetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

var deleteRules = []Rule{{
	Name:     "delete-removes",
	Sentence: "When Delete returns, the keys it names are gone.",
	check: func(t *trial) {
		keys := t.numbered(20)
		t.incr(increments(keys)...)
		t.remove(keys...)
		require.Equal(t, make([]wrstats.Value, len(keys)), t.get(keys...))
	},
}, {
	Name:     "delete-spares-the-rest",
	Sentence: "Delete removes only the keys it names.",
	check: func(t *trial) {
		keys := t.numbered(20)
		t.incr(increments(keys)...)
		t.remove(keys[3], keys[1])
		for i, v := range t.get(keys...) {
			if i == 1 || i == 3 {
				continue
			}
			require.Equal(t, found(int64(i+1)), v)
		}
	},
}, {
	Name:     "delete-of-absent-keys",
	Sentence: "Deleting keys that are not there is no error, nor is naming one twice, nor naming none.",
	check: func(t *trial) {
		a := t.key("a")
		t.remove(t.key("absent"))
		t.add(a, 1)
		t.remove(t.key("absent"), a, a)
		t.remove()
		t.lacks(a)
	},
}, {
	Name:     "deleted-key-starts-anew",
	Sentence: "An increment of a deleted key creates it anew: from 0, with a TTL of its own.",
	waits:    true,
	check: func(t *trial) {
		a := t.key("a")
		t.add(a, 7)
		t.remove(a)
		end := time.Now().Add(time.Second)
		t.incr(wrstats.Increment{Key: a, Delta: 1, TTL: time.Second})
		t.lives(a, 1, end)
		t.gone(a, time.Second)
	},
}}
