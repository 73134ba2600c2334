package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAnInterruptStopsTheReplayAndPrintsWhatThereIs(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	var stdout, stderr bytes.Buffer
	stdin := strings.NewReader(tick("10:00:00", 1) + strings.Repeat(tick("11:00:00", 1), 1000))
	status := run(ctx, []string{"-in", "-", "-every", "1h", "-format", "json"}, stdin, &signalWriter{&stdout, interrupt}, &stderr)
	require.Zero(t, status)
	require.Empty(t, told(stderr.String()))
	reports := profiles(t, result{stdout: stdout.String()})
	require.Len(t, reports, 2)
	require.True(t, reports[1].Replay.Interrupted)
	require.Equal(t, 2, reports[1].Replay.Edits, "the profile of 11:00 interrupts at the edit that makes it due")
	require.EqualValues(t, 2, reports[1].Groups[0].Actions)
}

func TestAnInterruptEndsTheWaitForInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		stdin, feed := io.Pipe()
		var stdout, stderr bytes.Buffer
		done := make(chan int)
		go func() {
			done <- run(ctx, []string{"-in", "-", "-no-profile", "-format", "json"}, stdin, &stdout, &stderr)
		}()
		_, err := io.WriteString(feed, tick("10:00:00", 1))
		require.NoError(t, err)

		synctest.Wait() // for the next line
		interrupt()
		require.Zero(t, <-done)
		require.Empty(t, told(stderr.String()))
		got := profiles(t, result{stdout: stdout.String()})[0].Replay
		require.True(t, got.Interrupted)
		require.Equal(t, 1, got.Edits)
		require.NoError(t, feed.Close()) // ends the goroutine that reads
	})
}

func TestALineThatAnInterruptLeavesIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		var stdout, stderr bytes.Buffer
		done := make(chan int)
		stdin := strings.NewReader(tick("10:00:00", 1) + tick("10:00:01", 1) + tick("23:00:00", 1))
		go func() {
			done <- run(ctx, []string{"-in", "-", "-no-profile", "-speed", "1", "-format", "json"}, stdin, &stdout, &stderr)
		}()
		time.Sleep(time.Hour)
		synctest.Wait() // for the time of the third edit
		interrupt()
		require.Zero(t, <-done)
		require.Empty(t, told(stderr.String()))
		got := profiles(t, result{stdout: stdout.String()})[0].Replay
		require.True(t, got.Interrupted)
		require.Equal(t, 2, got.Edits)
		require.Equal(t, 2, got.Lines)
	})
}

// A signalWriter calls f at the first write.
type signalWriter struct {
	io.Writer
	f func()
}

func (w *signalWriter) Write(p []byte) (int, error) {
	w.f()
	return w.Writer.Write(p)
}

func TestAnInterruptIsSaidInTheTable(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var stdout, stderr bytes.Buffer
	require.Zero(t, run(ctx, []string{"-no-profile", "-rules", twoRules(t)}, nil, &stdout, &stderr))
	require.Contains(t, stdout.String(), "; interrupted\n")
}
