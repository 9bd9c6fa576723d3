package report

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A tab is the page of a real browser that was opened last, and what it complained of.
type tab struct {
	t     *testing.T
	ctx   context.Context
	pages int

	mu       sync.Mutex
	url      string
	troubles []string
}

// chromium starts a browser that ends with the test. All pages of a test are opened in its one
// tab: a process that draws another page costs half of what one more process does.
func chromium(t *testing.T) *tab {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium is installed: the page was not opened in a browser (apt-get install chromium)")
	}
	profile, err := os.MkdirTemp("", "report-chromium-")
	require.NoError(t, err)
	t.Cleanup(func() { // its helpers may still write while they end
		assert.Eventually(t, func() bool { return os.RemoveAll(profile) == nil }, 10*time.Second, 50*time.Millisecond)
	})
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(profile),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx))
	b := &tab{t: t, ctx: ctx}
	b.listen()
	return b
}

// open opens the page of a report.
func open(t *testing.T, browser *tab, r *Report, width, height int64) *tab {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, r.Save(dir))
	browser.load(t, filepath.Join(dir, FileHTML), width, height)
	return browser
}

// load loads a page for a test. Its address is another one each time: a browser shows a page
// that it loads again as it was left.
func (b *tab) load(t *testing.T, file string, width, height int64) {
	t.Helper()
	b.t = t
	b.pages++
	url := fmt.Sprintf("file://%s?%d", file, b.pages)
	b.mu.Lock()
	b.url, b.troubles = url, nil
	b.mu.Unlock()
	b.do(chromedp.EmulateViewport(width, height), chromedp.Navigate(url), chromedp.WaitVisible(chromedp.CSS("html.ready main")))
}

// listen notes what goes wrong in the page, and every request that leaves it.
func (b *tab) listen() {
	b.t.Helper()
	require.NoError(b.t, chromedp.Listen(b.ctx, func(event any) {
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
	require.NoError(b.t, err)
	_, err = chromedp.Call(b.ctx, log.Enable, cdp.Empty{})
	require.NoError(b.t, err)
}

// do runs actions, with more time than a slow machine needs.
func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	require.NoError(b.t, chromedp.Do(ctx, actions...))
}

// eval evaluates an expression in the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(b.t, err, expression)
	return value
}

// quiet checks that the page complained of nothing and asked for nothing.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	assert.Empty(b.t, b.troubles)
}

// fits checks that nothing is wider than the window, but what scrolls.
func (b *tab) fits() {
	b.t.Helper()
	overflow := eval[[]string](b, `[...document.querySelectorAll("body *")].filter(e => e.checkVisibility() && !e.closest("svg, .scroll, .sr") &&
		e.getBoundingClientRect().right > innerWidth + 1).map(e => e.className + " " + e.textContent.slice(0, 40))`)
	assert.Empty(b.t, overflow, "nothing is wider than the window")
	assert.LessOrEqual(b.t, eval[int](b, `document.documentElement.scrollWidth - innerWidth`), 0)
}

// shown counts the rows of a table that are to be seen.
func (b *tab) shown(table string) int {
	b.t.Helper()
	return eval[int](b, `[...document.querySelectorAll("#`+table+` tbody tr")].filter(r => !r.hidden).length`)
}

func TestInABrowser(t *testing.T) {
	browser := chromium(t)
	suite := newSuite(30)
	suite[2].Instruction = "Write a haiku about a folder"
	r := New(newMeta(3), suite, newResults(suite, newConfigs(), 2))
	for _, width := range []int64{390, 500, 1000, 1600, 2400} {
		t.Run(fmt.Sprintf("%d wide", width), func(t *testing.T) {
			b := open(t, browser, r, width, 900)
			b.fits()
			b.quiet()
		})
	}
	t.Run("sort", func(t *testing.T) { testSort(t, open(t, browser, r, 1300, 800)) })
	t.Run("filter", func(t *testing.T) { testFilter(t, open(t, browser, r, 1300, 800)) })
	t.Run("map", func(t *testing.T) { testMap(t, open(t, browser, r, 1300, 800)) })
	t.Run("hostile text", func(t *testing.T) { testHostile(t, browser) })
	t.Run("no results", func(t *testing.T) {
		for _, r := range []*Report{New(Meta{}, nil, nil), New(newMeta(2), suite, nil)} {
			b := open(t, browser, r, 600, 800)
			b.fits()
			b.quiet()
		}
	})
}

func testSort(t *testing.T, b *tab) {
	t.Helper()
	steps := `[...document.querySelectorAll("#trial-table tbody tr")].map(r => Number(r.cells[5].textContent))`
	sorted := func(by string) bool {
		t.Helper()
		return eval[bool](b, steps+`.every((n, i, all) => !i || all[i-1] `+by+` n)`)
	}
	require.False(t, sorted(">="))
	eval[bool](b, `(document.querySelector("#trial-table th:nth-child(6) button").focus(), true)`)
	b.do(chromedp.KeyEvent(kb.Enter))
	assert.True(t, sorted(">="), "by keyboard, the most first")
	assert.Equal(t, "descending", eval[string](b, `document.querySelector("#trial-table th:nth-child(6)").ariaSort`))
	b.do(chromedp.KeyEvent(" "))
	assert.True(t, sorted("<="))
	assert.Equal(t, 180, b.shown("trial-table"), "none is gone")

	first := `document.querySelector("#domains tbody:last-child tr th").textContent`
	domains := eval[string](b, first)
	eval[bool](b, `(document.querySelector("#domains th:nth-child(9) button").click(), true)`)
	assert.Equal(t, "chrome", domains)
	rates := `[...document.querySelectorAll("#domains tbody:last-child tr")].map(r => parseFloat(r.cells[8].textContent))`
	assert.True(t, eval[bool](b, rates+`.every((n, i, all) => !i || all[i-1] >= n)`), "parts of a table are sorted apart")
	assert.Equal(t, 15, eval[int](b, `document.querySelector("#domains tbody").rows.length`))
	b.quiet()
}

func testFilter(t *testing.T, b *tab) {
	t.Helper()
	assert.Equal(t, 30, b.shown("task-table"))
	b.do(chromedp.KeyEvent("/"))
	eval[bool](b, `(document.activeElement.select(), true)`) // the browser is sent the / twice: as a key and as a letter
	b.do(chromedp.KeyEvent("FOLDER haiku"))
	assert.Equal(t, "FOLDER haiku", eval[string](b, `document.getElementById("find").value`))
	assert.Equal(t, "find", eval[string](b, `document.activeElement.id`))
	assert.Equal(t, 1, b.shown("task-table"), "by its instruction")
	assert.Equal(t, 6, b.shown("trial-table"), "those of that task")
	b.do(chromedp.KeyEvent(kb.Escape))
	assert.Equal(t, 180, b.shown("trial-table"))
	choose := func(id, value string) {
		t.Helper()
		eval[bool](b, fmt.Sprintf(`(() => { const s = document.getElementById(%q); s.value = %q; s.dispatchEvent(new Event("input", { bubbles: true })); return true; })()`, id, value))
	}
	choose("by-mark", "skipped")
	assert.Equal(t, 18, b.shown("trial-table"), "three tasks, three configurations, two repeats")
	assert.Equal(t, 3, b.shown("task-table"))
	choose("by-config", "1")
	assert.Equal(t, 6, b.shown("trial-table"))
	choose("by-domain", "vlc")
	assert.Equal(t, 0, b.shown("trial-table"))
	assert.Equal(t, "0 of 30 tasks, 0 of 180 trials", eval[string](b, `document.querySelector(".filter output").textContent`))
	eval[bool](b, `new Promise(done => { location.hash = "#task-3"; setTimeout(() => done(true), 100); })`)
	assert.Equal(t, 180, b.shown("trial-table"), "a link shows its task again")
	b.quiet()
}

func testMap(t *testing.T, b *tab) {
	t.Helper()
	at := func() int {
		t.Helper()
		return eval[int](b, `[...document.querySelectorAll(".squares a")].indexOf(document.activeElement)`)
	}
	assert.Equal(t, 1, eval[int](b, `document.querySelectorAll(".squares a[tabindex='0']").length`))
	eval[bool](b, `(document.querySelector(".squares a").focus(), true)`)
	b.do(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	assert.Equal(t, 2, at())
	b.do(chromedp.KeyEvent(kb.End))
	assert.Equal(t, 29, at())
	b.do(chromedp.KeyEvent(kb.Enter))
	assert.Equal(t, "#task-29", eval[string](b, `location.hash`))
	assert.True(t, eval[bool](b, `(() => { const box = document.querySelector("#task-29").getBoundingClientRect(); return box.top >= 40 && box.bottom <= innerHeight; })()`), "the row is to be seen, not under the filter")
	b.quiet()
}

func testHostile(t *testing.T, browser *tab) {
	t.Helper()
	r := hostileReport()
	delete(r.Meta.Configs[1].Settings, "x")
	b := open(t, browser, r, 700, 900)
	b.fits()
	b.do(chromedp.KeyEvent("/"), chromedp.KeyEvent("<script>"))
	eval[bool](b, `(document.querySelectorAll("th button").forEach(x => x.click()), true)`)
	assert.Zero(t, eval[int](b, `window.pwned ?? 0`))
	assert.Zero(t, eval[int](b, `document.images.length`))
	assert.Equal(t, 1, eval[int](b, `document.scripts.length`))
	assert.Greater(t, eval[int](b, `document.body.textContent.split("<img src=x onerror=").length - 1`), 10, "the text is there, as text")
	assert.Zero(t, eval[int](b, `[...document.links].filter(l => !l.getAttribute("href").startsWith("#") && !l.href.startsWith(new URL("./", location).href)).length`), "links stay in the folder")
	b.quiet()
}
