package report

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/internal/webpage/webpagetest"
)

// A tab shows a page that was made by a test.
type tab struct{ *webpagetest.Tab }

// open opens the page of a report.
func open(t *testing.T, browser *tab, r *Report, width, height int64) *tab {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, r.Save(dir))
	browser.Load(t, filepath.Join(dir, FileHTML), width, height)
	return browser
}

// eval evaluates an expression in the page.
func eval[T any](b *tab, expression string) T {
	b.T.Helper()
	return webpagetest.Eval[T](b.Tab, expression)
}

// fits checks that nothing is wider than the window, but what scrolls.
func (b *tab) fits() {
	b.T.Helper()
	b.Fits("svg, .scroll, .sr")
}

// shown counts the rows of a table that are to be seen.
func (b *tab) shown(table string) int {
	b.T.Helper()
	return eval[int](b, `[...document.querySelectorAll("#`+table+` tbody tr")].filter(r => !r.hidden).length`)
}

func TestInABrowser(t *testing.T) {
	browser := &tab{webpagetest.Start(t)}
	suite := newSuite(30)
	suite[2].Instruction = "Write a haiku about a folder"
	r := New(newMeta(3), suite, newResults(suite, newConfigs(), 2))
	for _, width := range []int64{390, 500, 1000, 1600, 2400} {
		t.Run(fmt.Sprintf("%d wide", width), func(t *testing.T) {
			b := open(t, browser, r, width, 900)
			b.fits()
			b.Quiet()
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
			b.Quiet()
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
	b.Do(chromedp.KeyEvent(kb.Enter))
	assert.True(t, sorted(">="), "by keyboard, the most first")
	assert.Equal(t, "descending", eval[string](b, `document.querySelector("#trial-table th:nth-child(6)").ariaSort`))
	b.Do(chromedp.KeyEvent(" "))
	assert.True(t, sorted("<="))
	assert.Equal(t, 180, b.shown("trial-table"), "none is gone")

	first := `document.querySelector("#domains tbody:last-child tr th").textContent`
	domains := eval[string](b, first)
	eval[bool](b, `(document.querySelector("#domains th:nth-child(9) button").click(), true)`)
	assert.Equal(t, "chrome", domains)
	rates := `[...document.querySelectorAll("#domains tbody:last-child tr")].map(r => parseFloat(r.cells[8].textContent))`
	assert.True(t, eval[bool](b, rates+`.every((n, i, all) => !i || all[i-1] >= n)`), "parts of a table are sorted apart")
	assert.Equal(t, 15, eval[int](b, `document.querySelector("#domains tbody").rows.length`))
	b.Quiet()
}

func testFilter(t *testing.T, b *tab) {
	t.Helper()
	assert.Equal(t, 30, b.shown("task-table"))
	b.Do(chromedp.KeyEvent("/"))
	eval[bool](b, `(document.activeElement.select(), true)`) // the browser is sent the / twice: as a key and as a letter
	b.Do(chromedp.KeyEvent("FOLDER haiku"))
	assert.Equal(t, "FOLDER haiku", eval[string](b, `document.getElementById("find").value`))
	assert.Equal(t, "find", eval[string](b, `document.activeElement.id`))
	assert.Equal(t, 1, b.shown("task-table"), "by its instruction")
	assert.Equal(t, 6, b.shown("trial-table"), "those of that task")
	b.Do(chromedp.KeyEvent(kb.Escape))
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
	b.Quiet()
}

func testMap(t *testing.T, b *tab) {
	t.Helper()
	at := func() int {
		t.Helper()
		return eval[int](b, `[...document.querySelectorAll(".squares a")].indexOf(document.activeElement)`)
	}
	assert.Equal(t, 1, eval[int](b, `document.querySelectorAll(".squares a[tabindex='0']").length`))
	eval[bool](b, `(document.querySelector(".squares a").focus(), true)`)
	b.Do(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	assert.Equal(t, 2, at())
	b.Do(chromedp.KeyEvent(kb.End))
	assert.Equal(t, 29, at())
	b.Do(chromedp.KeyEvent(kb.Enter))
	assert.Equal(t, "#task-29", eval[string](b, `location.hash`))
	assert.True(t, eval[bool](b, `(() => { const box = document.querySelector("#task-29").getBoundingClientRect(); return box.top >= 40 && box.bottom <= innerHeight; })()`), "the row is to be seen, not under the filter")
	b.Quiet()
}

func testHostile(t *testing.T, browser *tab) {
	t.Helper()
	r := hostileReport()
	delete(r.Meta.Configs[1].Settings, "x")
	b := open(t, browser, r, 700, 900)
	b.fits()
	b.Do(chromedp.KeyEvent("/"), chromedp.KeyEvent("<script>"))
	eval[bool](b, `(document.querySelectorAll("th button").forEach(x => x.click()), true)`)
	assert.Zero(t, eval[int](b, `window.pwned ?? 0`))
	assert.Zero(t, eval[int](b, `document.images.length`))
	assert.Equal(t, 1, eval[int](b, `document.scripts.length`))
	assert.Greater(t, eval[int](b, `document.body.textContent.split("<img src=x onerror=").length - 1`), 10, "the text is there, as text")
	assert.Zero(t, eval[int](b, `[...document.links].filter(l => !l.getAttribute("href").startsWith("#") && !l.href.startsWith(new URL("./", location).href)).length`), "links stay in the folder")
	b.Quiet()
}
