package storetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/wrstats"
)

const (
	brief = 4 * time.Second
	slack = 5 * time.Second // for how long a key may outlive its end
)

var ttlRules = []Rule{{
	Name:     "ttl-from-the-first-write",
	Sentence: "A key lives for the TTL of its first write, and is gone within a few seconds after that.",
	waits:    true,
	check: func(t *trial) {
		a, end := t.key("a"), time.Now().Add(brief)
		t.incr(wrstats.Increment{Key: a, Delta: 1, TTL: brief})
		t.sleep(brief / 2)
		t.lives(a, 1, end)
		t.gone(a, brief/2)
	},
}, {
	Name:     "ttl-is-not-renewed",
	Sentence: "No later write moves a key's end: it dies its TTL after the first write however often it is incremented.",
	waits:    true,
	check: func(t *trial) {
		a, step := t.key("a"), 500*time.Millisecond
		t.incr(wrstats.Increment{Key: a, Delta: 1000, TTL: brief})
		before := int64(1000)
		for passed := time.Duration(0); passed <= brief+slack; passed += step {
			t.sleep(step)
			t.incr(wrstats.Increment{Key: a, Delta: 1, TTL: time.Hour})
			now := t.get(a)[0]
			if !now.Found || now.N < before {
				return // it ended, and maybe an increment started it anew
			}
			before = now.N
		}
		require.Fail(t, "the counter lives on", "it holds %d", before)
	},
}, {
	Name:     "ended-key-starts-anew",
	Sentence: "An increment of a key that has ended creates it anew: from 0, with a TTL of its own.",
	waits:    true,
	check: func(t *trial) {
		a := t.key("a")
		t.incr(wrstats.Increment{Key: a, Delta: 7, TTL: time.Second})
		t.gone(a, time.Second)
		end := time.Now().Add(brief)
		t.incr(wrstats.Increment{Key: a, Delta: 1, TTL: brief})
		t.lives(a, 1, end)
		t.sleep(brief / 2)
		t.lives(a, 1, end)
		t.gone(a, brief/2)
	},
}, {
	Name:     "ttl-of-each-key",
	Sentence: "Keys of one batch live each for its own TTL.",
	waits:    true,
	check: func(t *trial) {
		a, b := t.key("a"), t.key("b")
		t.incr(
			wrstats.Increment{Key: a, Delta: 1, TTL: time.Second},
			wrstats.Increment{Key: b, Delta: 2, TTL: time.Hour},
		)
		t.gone(a, time.Second)
		t.holds(b, 2)
	},
}, {
	Name:     "long-ttls",
	Sentence: "TTLs of 30 and 31 days, of a year and of 10 years are kept: the key can be read.",
	check: func(t *trial) {
		const day = 24 * time.Hour
		for i, ttl := range []time.Duration{30 * day, 30*day + time.Second, 31 * day, 366 * day, 3653 * day} {
			key := t.numbered(i + 1)[i]
			t.incr(wrstats.Increment{Key: key, Delta: 5, TTL: ttl})
			require.Equal(t, found(5), t.get(key)[0], "with a TTL of %v", ttl)
		}
	},
}, {
	Name:     "ttl-below-a-second",
	Sentence: "A TTL of less than a second counts as a second: the key can be read, and ends.",
	waits:    true,
	check: func(t *trial) {
		a, b, end := t.key("a"), t.key("b"), time.Now().Add(time.Second)
		t.incr(
			wrstats.Increment{Key: a, Delta: 3, TTL: time.Nanosecond},
			wrstats.Increment{Key: b, Delta: 4, TTL: 999 * time.Millisecond},
		)
		t.lives(a, 3, end)
		t.lives(b, 4, end)
		t.gone(a, time.Second)
		t.gone(b, time.Second)
	},
}}

// lives asserts that a counter is there and holds n, if it is known before its end: a machine may be so busy
// that it is not.
func (t *trial) lives(key string, n int64, end time.Time) {
	t.Helper()
	value := t.get(key)[0]
	if time.Now().Before(end) {
		require.Equal(t, found(n), value, "the counter")
	}
}

// gone asserts that a key ends when the rest of its TTL has passed, or some seconds later.
func (t *trial) gone(key string, rest time.Duration) {
	t.Helper()
	const step = 250 * time.Millisecond
	t.sleep(rest)
	for late := time.Duration(0); late < slack; late += step {
		if !t.get(key)[0].Found {
			break
		}
		t.sleep(step)
	}
	t.lacks(key)
}
