package profile_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/internal/servertest"
)

// patience bounds the waits for the browser, whose machine may be busy.
const patience = 60 * time.Second

// startChromium starts a browser without a window, which ends with the test.
func startChromium(t *testing.T) context.Context {
	path := servertest.Chromium(t)
	dir, err := os.MkdirTemp("", "wr") // t.TempDir would fail if the browser's last files came after its end
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(dir), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx))
	return ctx
}

// A tab is one of the browser's, at the pages of a handler.
type tab struct {
	*testing.T
	ctx  context.Context
	base string

	mu       sync.Mutex // guards what follows
	trouble  []string   // dialogs, and what is logged as an error: also what the Content-Security-Policy forbids
	requests int        // of pages
}

// newTab opens a tab, which ends with the test. What is logged by then fails it.
func newTab(t *testing.T, browser context.Context, h http.Handler) *tab {
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	tab := &tab{T: t, ctx: ctx}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, ".") { // not a file beside the pages
			tab.mu.Lock()
			tab.requests++
			tab.mu.Unlock()
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	tab.base = server.URL + "/debug/rules/"
	require.NoError(t, chromedp.Listen(ctx, tab.note))
	t.Cleanup(func() {
		tab.mu.Lock()
		defer tab.mu.Unlock()
		require.Empty(t, tab.trouble)
	})
	return tab
}

// note takes what the browser tells.
func (t *tab) note(event any) {
	what := ""
	switch e := event.(type) {
	case *cdppage.EventJavascriptDialogOpening:
		what = "dialog: " + e.Message
	case *log.EventEntryAdded:
		what = fmt.Sprintf("log: %s: %s: %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
	case *runtime.EventExceptionThrown:
		what = fmt.Sprintf("exception: %s %v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception)
	case *runtime.EventConsoleAPICalled:
		what = "console: " + string(e.Type)
	default:
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trouble = append(t.trouble, what)
}

func (t *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	require.NoError(t, chromedp.Do(ctx, actions...))
}

// open goes to a page by its link.
func (t *tab) open(link string) {
	t.Helper()
	t.do(chromedp.Navigate(t.base + link))
}

// click clicks on what a selector finds, in one step: a refresh between finding and clicking would take the
// element away.
func (t *tab) click(selector string) {
	t.Helper()
	eval[bool](t, fmt.Sprintf(`(e => { e.click(); return true })(document.querySelector(%q))`, selector))
}

// follow clicks on what leads to another page, and waits until all of that is there: the old page may look like the
// new one, and the new one is shown in parts.
func (t *tab) follow(selector string) {
	t.Helper()
	eval[bool](t, `window.old = true`)
	t.click(selector)
	until(t, true, `!window.old && location.href !== "about:blank" && document.readyState === "complete"`)
}

// eval runs an expression of JavaScript, also where the page's own scripts are off.
func eval[T any](t *tab, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	require.NoError(t, err, expression)
	return value
}

// until waits until an expression has a value. On the way to another page there may be none to ask.
func until[T any](t *tab, want T, expression string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	var got T
	var err error
	for ctx.Err() == nil {
		if got, err = chromedp.Run(ctx, chromedp.Evaluate[T](expression)); err == nil && fmt.Sprint(got) == fmt.Sprint(want) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	require.NoError(t, err, expression)
	require.Equal(t, want, got, expression)
}

// scriptsOff turns the scripts of pages off.
func (t *tab) scriptsOff() {
	t.Helper()
	_, err := chromedp.Call(t.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	require.NoError(t, err)
}

// screen sets the size of the window, and the scheme of colours.
func (t *tab) screen(width int64, scheme string) {
	t.Helper()
	_, err := chromedp.Call(t.ctx, emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 800, DeviceScaleFactor: 1, Mobile: width < 600})
	require.NoError(t, err)
	_, err = chromedp.Call(t.ctx, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	require.NoError(t, err)
}

func (t *tab) asked() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.requests
}

// refreshed waits until so many pages were asked for. A page asks for the next when the last one is shown.
func (t *tab) refreshed(pages int) {
	t.Helper()
	for deadline := time.Now().Add(patience); t.asked() < pages; time.Sleep(20 * time.Millisecond) {
		require.True(t, time.Now().Before(deadline), "the page does not refresh itself")
	}
}
