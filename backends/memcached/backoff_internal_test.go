package memcached

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGivingUpAddsUpToAFailure(t *testing.T) {
	const timeout = 100 * time.Millisecond
	now := time.Unix(1e9, 0)
	gaveUp := func(b *backoff, waited time.Duration) { b.gaveUp(now, waited, timeout) }
	for _, c := range []struct {
		rule string
		do   func(b *backoff)
		down bool
	}{
		{"once, for the whole time", func(b *backoff) { gaveUp(b, timeout) }, true},
		{"once, for less", func(b *backoff) { gaveUp(b, timeout-1) }, false},
		{"often, for as long in all", func(b *backoff) { gaveUp(b, timeout/2); gaveUp(b, timeout/2) }, true},
		{"often, with a success in between", func(b *backoff) { gaveUp(b, timeout/2); b.succeeded(); gaveUp(b, timeout/2) }, false},
		{"again, after a failure", func(b *backoff) {
			gaveUp(b, timeout)
			now = now.Add(time.Hour)
			gaveUp(b, timeout/2)
		}, false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			var b backoff
			c.do(&b)
			require.Equal(t, c.down, b.check(now) != nil)
		})
	}
}
