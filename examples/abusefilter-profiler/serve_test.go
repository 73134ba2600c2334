package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A sharedBuffer is written by the program and read by the test.
type sharedBuffer struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (b *sharedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *sharedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// await waits until a text has a pattern, and returns what that matches in parentheses.
func await(t *testing.T, b *sharedBuffer, pattern string) string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if m := regexp.MustCompile(pattern).FindStringSubmatch(b.String()); m != nil {
			return m[1]
		}
	}
	require.FailNow(t, "it never says "+pattern, b.String())
	return ""
}

// A servedPage is what a test needs of the pages' JSON.
type servedPage struct {
	Read  time.Time
	Rules []struct {
		ID            string
		Runs, Matches float64
	}
	Groups []struct {
		ID      string
		Actions float64
	}
	Store []struct {
		Name  string
		Value float64
	}
}

func askPage(t *testing.T, url string) (page servedPage) {
	t.Helper()
	resp, err := http.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&page))
	return page
}

func TestServeShowsTheProfileLiveAndAfterTheReplayUntilAnInterrupt(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	stdin, feed := io.Pipe()
	var stdout, stderr sharedBuffer
	status := make(chan int, 1)
	rules := twoRules(t)
	go func() {
		status <- run(ctx, []string{"-in", "-", "-rules", rules, "-serve", "127.0.0.1:0", "-speed", "0"}, stdin, &stdout, &stderr)
	}()
	_, err := io.WriteString(feed, tick("10:00:00", 1))
	require.NoError(t, err)
	url := await(t, &stderr, `the profile is at (http://127\.0\.0\.1:\d+/)\n`)
	page := askPage(t, url+"?format=json&sort=id")
	require.Equal(t, "large", page.Rules[0].ID, "rules are known before they are stored")

	_, err = io.WriteString(feed, tick("10:20:00", 20))
	require.NoError(t, err)
	for deadline := time.Now().Add(time.Minute); page.Rules[0].Runs != 2 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		page = askPage(t, url+"?format=json&sort=id") // a flush is on the way
	}
	require.Equal(t, 2.0, page.Rules[0].Runs, "while the input is open")
	require.Equal(t, 1.0, page.Rules[0].Matches)
	require.Equal(t, 2.0, page.Groups[0].Actions)
	require.Equal(t, "2020-01-01T10:20:00Z", page.Read.Format(time.RFC3339), "as of the newest edit")
	require.Equal(t, "memory_keys", page.Store[0].Name)
	require.Positive(t, page.Store[0].Value)
	require.Empty(t, stdout.String())

	_, err = io.WriteString(feed, tick("10:30:00", 30))
	require.NoError(t, err)
	require.NoError(t, feed.Close())
	await(t, &stderr, `(the replay is at its end); an interrupt ends the pages\n`)
	require.Contains(t, stdout.String(), "3 from 2020-01-01 10:00:00 to 2020-01-01 10:30:00")
	require.Equal(t, 3.0, askPage(t, url+"?format=json&sort=id").Rules[0].Runs)
	html, err := http.Get(url + "rule?id=large")
	require.NoError(t, err)
	body, err := io.ReadAll(html.Body)
	require.NoError(t, err)
	require.NoError(t, html.Body.Close())
	require.Contains(t, string(body), "It ran on the last <b>3</b> actions")

	interrupt()
	require.Zero(t, <-status)
	_, err = http.Get(url)
	require.Error(t, err, "nothing is served any more")
	require.Equal(t, 2, strings.Count(told(stderr.String()), "\n"), stderr.String())
}

func TestAnInterruptEndsServingInMidReplay(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var stdout, stderr sharedBuffer
	status := make(chan int, 1)
	go func() { status <- run(ctx, []string{"-serve", "127.0.0.1:0", "-speed", "1"}, nil, &stdout, &stderr) }()
	await(t, &stderr, `the profile is at (http://\S+)\n`)
	interrupt()
	require.Zero(t, <-status)
	require.Contains(t, stdout.String(), "; interrupted\n")
}

func TestASpeedMakesEditTimePass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		edit := time.Date(2020, 1, 1, 10, 0, 0, 0, time.UTC)
		p := &pace{speed: 60}
		require.Equal(t, time.Now(), p.now(), "before there is an edit")
		start := time.Now()
		for _, step := range []struct{ edit, passed time.Duration }{
			{0, 0}, {time.Minute, time.Second}, {time.Minute, time.Second}, {30 * time.Second, time.Second}, {time.Hour, time.Minute},
		} {
			require.True(t, p.wait(t.Context(), edit.Add(step.edit)))
			require.Equal(t, step.passed, time.Since(start))
		}
		require.Equal(t, edit.Add(time.Hour), p.now())

		ctx, interrupt := context.WithTimeout(t.Context(), time.Second)
		defer interrupt()
		require.False(t, p.wait(ctx, edit.Add(100*time.Hour)))
		require.Equal(t, time.Minute+time.Second, time.Since(start))
		require.Equal(t, edit.Add(time.Hour), p.now(), "it has not come to that")

		start = time.Now()
		require.True(t, (&pace{}).wait(t.Context(), edit))
		require.True(t, (*pace)(nil).wait(t.Context(), edit))
		require.Zero(t, time.Since(start))
	})
}

func TestServeReplaysAMinuteASecondUnlessTold(t *testing.T) {
	for args, want := range map[string]float64{"": 0, "-speed=7": 7, "-serve=x": 60, "-serve=x -speed=0": 0, "-serve=x -speed=0.5": 0.5} {
		opts, err := parseOptions(strings.Fields(args), io.Discard)
		require.NoError(t, err)
		require.Equal(t, want, opts.speed, args)
	}
}
