package main

import (
	"bytes"
	"context"
	"io"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestAnInterruptBeforeTheFirstByteOfInputIsOne(t *testing.T) {
	for _, first := range []string{"", "{", "\x1f\x8b"} { // what tells gzip is two bytes, and its header ten
		for _, more := range [][]string{nil, {"-no-profile"}} {
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				stdin, feed := io.Pipe()
				var stdout, stderr bytes.Buffer
				done := make(chan int)
				go func() {
					done <- run(ctx, append([]string{"-in", "-", "-format", "json"}, more...), stdin, &stdout, &stderr)
				}()
				_, err := io.WriteString(feed, first)
				require.NoError(t, err)
				synctest.Wait() // for more
				interrupt()
				require.Zero(t, <-done, stderr.String())
				require.Empty(t, told(stderr.String()))
				got := profiles(t, result{stdout: stdout.String()})[0].Replay
				require.True(t, got.Interrupted)
				require.Zero(t, got.Lines)
				require.NoError(t, feed.Close()) // ends the goroutine that reads
			})
		}
	}
}
