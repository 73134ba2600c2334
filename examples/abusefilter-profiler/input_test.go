package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"
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

func TestWhatFollowsGzipData(t *testing.T) {
	const early, junk = "the gzip data ends too early", "what follows the gzip data is no gzip"
	edits := tick("10:00:00", 1) + tick("10:00:01", 1)
	whole := string(zip(edits))
	zeros := strings.Repeat("\x00", 100_000)
	tests := []struct {
		rule   string
		data   string
		edits  int
		reason string // "": it is fine
	}{
		{"nothing", whole, 2, ""},
		{"zero bytes", whole + "\x00", 2, ""},
		{"many zero bytes", whole + zeros, 2, ""},
		{"another member", whole + whole, 4, ""},
		{"an empty member", whole + string(zip("")), 2, ""},
		{"a byte", whole + "x", 2, junk},
		{"a few bytes", whole + "junk\n", 2, junk},
		{"many bytes", whole + strings.Repeat("junk\n", 100_000), 2, junk},
		{"zero bytes and others", whole + zeros + "x", 2, junk},
		{"zero bytes and a member", whole + "\x00" + whole, 2, junk},
		{"two members and junk", whole + whole + "junk", 4, junk},
		{"a header that is none", whole + "\x1f\x8b\x00nothing at all", 2, junk},
		{"junk after a line without an end", string(zip(strings.TrimSpace(edits))) + "junk", 2, junk},
		{"a magic number that is cut off", whole + "\x1f", 2, early},
		{"a header that is cut off", whole + whole[:5], 2, early},
		{"a member that is cut off", whole + whole[:len(whole)/2], 2, early},
		{"a trailer that is cut off", whole + whole[:len(whole)-1], 4, early},
		{"a trailer that is cut off, alone", whole[:len(whole)-1], 2, early},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			for _, stdin := range []io.Reader{strings.NewReader(tt.data), iotest.DataErrReader(strings.NewReader(tt.data))} {
				r := runWith(t, stdin, "-in", "-", "-no-profile", "-format", "json")
				got := profiles(t, r)[0].Replay
				require.Equal(t, tt.edits, got.Edits)
				require.Equal(t, tt.edits, got.Lines)
				if tt.reason == "" {
					require.Zero(t, r.status)
					require.Empty(t, r.stderr)
					continue
				}
				require.Equal(t, exitFailure, r.status)
				require.Regexp(t, `^abusefilter-profiler: read standard input, after line \d: `+tt.reason+"\n$", r.stderr)
			}
		})
	}
}

func TestAFailureToReadAfterGzipDataIsOne(t *testing.T) {
	whole := zip(tick("10:00:00", 1))
	for _, more := range []string{"", "\x00", "\x1f"} {
		stdin := io.MultiReader(bytes.NewReader(whole), strings.NewReader(more), iotest.ErrReader(io.ErrClosedPipe))
		r := runWith(t, stdin, "-in", "-", "-no-profile", "-format", "json")
		require.Equal(t, exitFailure, r.status)
		require.Equal(t, 1, profiles(t, r)[0].Replay.Edits)
		require.Equal(t, "abusefilter-profiler: read standard input, after line 1: io: read/write on closed pipe\n", r.stderr)
	}
}
