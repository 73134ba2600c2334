package memcached

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestExptime(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Unix(1_764_600_000, 1)
	for _, c := range []struct {
		rule string
		ttl  time.Duration
		want int64
	}{
		{"negative is a second", -time.Hour, 1 + clockSlack},
		{"zero is a second", 0, 1 + clockSlack},
		{"below a second is a second", 1, 1 + clockSlack},
		{"a second", time.Second, 1 + clockSlack},
		{"rounded up", time.Second + 1, 2 + clockSlack},
		{"an hour", time.Hour, 3600 + clockSlack},
		{"the longest from now", 30*day - clockSlack*time.Second, 2_592_000},
		{"over it, a Unix time", 30*day - clockSlack*time.Second + 1, 1_764_600_001 + 2_592_001},
		{"31 days", 31 * day, 1_764_600_001 + 31*86400 + clockSlack},
		{"a year", 365 * day, 1_764_600_001 + 365*86400 + clockSlack},
		{"never over 32 bits", 100 * 365 * day, math.MaxInt32},
		{"nor for the longest there is", math.MaxInt64, math.MaxInt32},
	} {
		t.Run(c.rule, func(t *testing.T) { require.Equal(t, c.want, exptime(c.ttl, now)) })
	}
}
