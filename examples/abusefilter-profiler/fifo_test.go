//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func makeFIFO(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "edits.fifo")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	return path
}

func TestAFIFOIsReadToItsEnd(t *testing.T) {
	for _, data := range []string{tick("10:00:00", 1) + tick("10:00:01", 1), string(zip(tick("10:00:00", 1) + tick("10:00:01", 1)))} {
		path := makeFIFO(t)
		wrote := make(chan error, 1)
		go func() { wrote <- os.WriteFile(path, []byte(data), 0) }()
		r := runWith(t, nil, "-in", path, "-no-profile", "-format", "json")
		require.NoError(t, <-wrote)
		require.Zero(t, r.status)
		require.Empty(t, r.stderr)
		require.Equal(t, 2, profiles(t, r)[0].Replay.Edits)
	}
}

func TestAnInterruptEndsTheWaitForAFIFO(t *testing.T) {
	tests := []struct {
		rule    string
		writers bool
		data    string
	}{
		{"that nobody writes to", false, ""},
		{"without data", true, ""},
		{"without the end of its first line", true, tick("10:00:00", 1)[:10]},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			path := makeFIFO(t)
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			var stdout, stderr bytes.Buffer
			done := make(chan int, 1)
			go func() {
				done <- run(ctx, []string{"-in", path, "-no-profile", "-format", "json"}, nil, &stdout, &stderr)
			}()
			if tt.writers {
				feed, err := os.OpenFile(path, os.O_WRONLY, 0) // returns when the program has it open
				require.NoError(t, err)
				defer feed.Close()
				_, err = io.WriteString(feed, tt.data)
				require.NoError(t, err)
			}
			interrupt()
			select {
			case status := <-done:
				require.Zero(t, status, stderr.String())
			case <-time.After(time.Minute):
				require.FailNow(t, "it still waits")
			}
			if feed, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
				require.NoError(t, feed.Close()) // ends the goroutine that opens
			}
			require.Empty(t, stderr.String())
			got := profiles(t, result{stdout: stdout.String()})[0].Replay
			require.True(t, got.Interrupted)
			require.Zero(t, got.Lines)
		})
	}
}
