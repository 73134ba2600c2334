package memcached

import (
	"math"
	"time"
)

const (
	// maxRelative is the longest exptime that memcached takes as from now. Over it, it is a Unix time.
	maxRelative = 30 * 24 * 60 * 60

	// clockSlack makes up for the server's clock: it ticks once a second, each time a little later than
	// that, and when it has fallen behind a whole second it goes on by two. So a key with an exptime of n
	// lives between n-2 and n seconds.
	clockSlack = 2
)

// exptime returns what memcached is to be sent for a key to live for ttl from now, at least, and less
// than three seconds longer. It is never below 1, which would mean forever or gone, and never over what
// memcached's 32 bits hold, January 2038.
func exptime(ttl time.Duration, now time.Time) int64 {
	seconds := max(ceil(ttl), 1) + clockSlack
	if seconds <= maxRelative {
		return seconds
	}
	return min(ceil(time.Duration(now.Nanosecond()))+now.Unix()+seconds, math.MaxInt32)
}

// ceil returns d in seconds, rounded up.
func ceil(d time.Duration) int64 {
	seconds := int64(d / time.Second)
	if d%time.Second > 0 {
		seconds++
	}
	return seconds
}
