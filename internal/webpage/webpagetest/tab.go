// Package webpagetest opens a page of our own in a real browser, for its tests.
package webpagetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A Tab is the page of a browser that was opened last, and what it complained of. What goes
// wrong fails the test T.
type Tab struct {
	T     *testing.T
	ctx   context.Context
	pages int

	mu       sync.Mutex
	url      string
	troubles []string
}

// Browser returns the path of the Chromium that is installed; without one the test is skipped.
func Browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium is installed: no page was opened in a browser (apt-get install chromium)")
	return ""
}

// Start starts a browser that ends with the test; without an installed one the test is
// skipped. All pages of a test are opened in its one tab: a process that draws another page
// costs half of what one more process does.
func Start(t *testing.T) *Tab {
	t.Helper()
	path := Browser(t)
	profile, err := os.MkdirTemp("", "webpage-chromium-")
	require.NoError(t, err)
	t.Cleanup(func() { // its helpers may still write while they end
		assert.Eventually(t, func() bool { return os.RemoveAll(profile) == nil }, time.Minute, 50*time.Millisecond)
	})
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(profile),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx))
	b := &Tab{T: t, ctx: ctx}
	b.listen()
	return b
}

// Load loads the page of a file for a test, in a window of so many CSS pixels, and waits
// until it says that it is ready: <html class="ready">. Its address is another one each time,
// as a browser shows a page that it loads again as it was left.
func (b *Tab) Load(t *testing.T, file string, width, height int64) {
	t.Helper()
	b.T = t
	b.pages++
	url := fmt.Sprintf("file://%s?%d", file, b.pages)
	b.mu.Lock()
	b.url, b.troubles = url, nil
	b.mu.Unlock()
	b.Do(chromedp.EmulateViewport(width, height), chromedp.Navigate(url), chromedp.WaitVisible(chromedp.CSS("html.ready main")))
}

// listen notes what goes wrong in the page, and every request that leaves it.
func (b *Tab) listen() {
	b.T.Helper()
	require.NoError(b.T, chromedp.Listen(b.ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		trouble := ""
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			trouble = "exception: " + e.ExceptionDetails.Text
		case *runtime.EventConsoleAPICalled:
			trouble = fmt.Sprintf("console.%s", e.Type)
		case *log.EventEntryAdded:
			trouble = fmt.Sprintf("%s %s: %s", e.Entry.Source, e.Entry.Level, e.Entry.Text)
		case *network.EventRequestWillBeSent:
			if url := e.Request.URL; !strings.HasPrefix(url, "data:") && url != b.url {
				trouble = "request: " + url
			}
		}
		if trouble != "" {
			b.troubles = append(b.troubles, trouble)
		}
	}))
	_, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{})
	require.NoError(b.T, err)
	_, err = chromedp.Call(b.ctx, log.Enable, cdp.Empty{})
	require.NoError(b.T, err)
}

// Do runs actions, with more time than a slow machine needs.
func (b *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	require.NoError(b.T, chromedp.Do(ctx, actions...))
}

// Prefer has the page drawn for who prefers a colour scheme, "light" or "dark".
func (b *Tab) Prefer(scheme string) {
	b.T.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	require.NoError(b.T, err)
}

// Eval evaluates an expression in the page.
func Eval[T any](b *Tab, expression string) T {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(b.T, err, expression)
	return value
}

// Quiet checks that the page complained of nothing and asked for nothing.
func (b *Tab) Quiet() {
	b.T.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	assert.Empty(b.T, b.troubles)
}

// Fits checks that nothing is wider than the window, but what is in an element that one of
// the selectors names, such as "svg, .scroll".
func (b *Tab) Fits(scrolls string) {
	b.T.Helper()
	overflow := Eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll("body *")].filter(e => e.checkVisibility() && !e.closest(%q) &&
		e.getBoundingClientRect().right > innerWidth + 1).map(e => e.className + " " + e.textContent.slice(0, 40))`, scrolls))
	assert.Empty(b.T, overflow, "nothing is wider than the window")
	assert.LessOrEqual(b.T, Eval[int](b, `document.documentElement.scrollWidth - innerWidth`), 0)
}
