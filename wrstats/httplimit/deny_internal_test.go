package httplimit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSecondsAreRoundedUpAndOneAtLeast(t *testing.T) {
	for d, want := range map[time.Duration]int64{
		1:                       1,
		time.Second - 1:         1,
		time.Second:             1,
		time.Second + 1:         2,
		90 * time.Second:        90,
		0:                       1, // what a denial never has
		-1:                      1,
		-5 * time.Second:        1,
		1<<63 - 1:               9223372037,
		(1<<63 - 1) - time.Hour: 9223368437,
	} {
		require.Equal(t, want, seconds(d), d)
	}
}
