package report

import (
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/internal/webpage/webpagetest"
	"desktop-agent/replay"
)

func testKeyboard(t *testing.T, b *tab) {
	t.Helper()
	assert.Equal(t, "#step-0", b.here())
	b.press("j", kb.ArrowRight)
	assert.Equal(t, "#step-2", b.here())
	b.press("k")
	assert.Equal(t, "#step-1", b.here())
	assert.Equal(t, 1, eval[int](b, `document.querySelectorAll(".step").values().filter(s => s.checkVisibility()).toArray().length`))
	b.press(kb.End)
	assert.Equal(t, "#end", b.here())
	b.press("j")
	assert.Equal(t, "#end", b.here(), "nothing is behind the end")
	b.press(kb.Home, "t")
	assert.Equal(t, "#step-5", b.here(), "the first step with trouble")
	b.press("t")
	assert.Equal(t, "#step-6", b.here())
	assert.True(t, eval[bool](b, `new Promise(done => setTimeout(() => done(location.hash === "#step-6"), 400))`), "the address follows")

	picture := `document.querySelector(".step.here .view").getBoundingClientRect().width`
	before := eval[float64](b, picture)
	b.press("f")
	assert.Greater(t, eval[float64](b, picture), before*1.3, "the picture alone")
	b.press("k", kb.Escape)
	assert.Equal(t, "#step-5", b.here())
	assert.InDelta(t, before, eval[float64](b, picture), 1)
	b.Do(chromedp.Click(chromedp.CSS(".step.here .view")))
	assert.True(t, eval[bool](b, `root.classList.contains("alone")`))
	b.press("f", "k", "m")
	assert.Equal(t, "none", eval[string](b, `getComputedStyle(document.querySelector("#step-4 svg")).display`))
	b.press("m", "c")
	assert.Zero(t, eval[int](b, `document.querySelectorAll(".step.here details.call:not([open])").length`))
	b.press("?")
	assert.True(t, eval[bool](b, `document.querySelector("#help").open`))
	b.press("j")
	assert.Equal(t, "#step-4", b.here(), "keys are for the dialog")
	b.press(kb.Escape, "i")
	assert.True(t, eval[bool](b, `document.querySelector("#about").checkVisibility()`))
	b.press("i", "v")
	assert.Greater(t, eval[int](b, `document.documentElement.scrollHeight`), 3000, "all steps")
	b.press("j")
	assert.Equal(t, "#step-5", b.here())
	assert.InDelta(t, 24, eval[float64](b, `document.querySelector("#step-5").getBoundingClientRect().top`), 2)
	b.tabbing(t)
	b.Quiet()
}

// tabbing goes through the page by the tab key: each stop can be seen, and the
// list of steps is one stop.
func (b *tab) tabbing(t *testing.T) {
	t.Helper()
	b.press("v", kb.Home)
	eval[bool](b, `document.activeElement.blur() ?? true`)
	seen := map[string]bool{}
	for range 30 {
		b.Do(chromedp.KeyEvent(kb.Tab))
		stop := eval[string](b, `(() => { const e = document.activeElement, s = getComputedStyle(e);
			const clear = e.matches("body") || s.outlineStyle !== "none" || getComputedStyle(e.parentElement).outlineStyle !== "none";
			return (clear ? "" : "no outline: ") + (e.id || e.dataset.do || e.className || e.nodeName); })()`)
		assert.NotContains(t, stop, "no outline")
		seen[stop] = true
	}
	for _, want := range []string{"find", "about", "all", "help", "play", "speed", "scrub", "here", "in", "out"} {
		assert.True(t, seen[want], "%s is reached: %v", want, seen)
	}
}

func testPlay(t *testing.T, b *tab) {
	t.Helper()
	eval[bool](b, `(() => { document.querySelector("#speed").value = "8"; return true; })()`)
	assert.Equal(t, "#step-0", b.here())
	b.press(" ")
	assert.Equal(t, "Pause", eval[string](b, `document.querySelector(".play").getAttribute("aria-label")`))
	visited := eval[[]int](b, `new Promise(done => { const list = []; onStep.push((i) => { list.push(i); if (i === steps.length - 1) setTimeout(() => done(list), 50); }); })`)
	assert.Equal(t, "#end", b.here())
	assert.Equal(t, visited[len(visited)-1]-visited[0]+1, len(visited), "each step, one after the other")
	assert.False(t, eval[bool](b, `playing()`), "it stops at the end")
	b.press(" ", " ")
	assert.False(t, eval[bool](b, `playing()`), "paused")
	assert.NotEqual(t, "#end", b.here(), "from the start again")
	b.press("[")
	assert.Equal(t, "4", eval[string](b, `document.querySelector("#speed").value`))
	b.Quiet()
}

func testZoom(t *testing.T, b *tab) {
	t.Helper()
	b.at(1)
	width := func() float64 {
		b.settleDown()
		return eval[float64](b, `document.querySelector(".step.here img").getBoundingClientRect().width`)
	}
	fit := width()
	b.press("+", "+")
	assert.InDelta(t, fit*1.5625, width(), 2)
	b.press("1")
	assert.InDelta(t, 1280, width(), 1, "real pixels")
	assert.Equal(t, "100 %", eval[string](b, `document.querySelector(".percent").textContent`))
	b.marksAreInPlace()
	b.at(1)
	left := eval[float64](b, `views()[0].scrollLeft`)
	eval[bool](b, `dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", shiftKey: true})) ?? true`)
	assert.Greater(t, eval[float64](b, `views()[0].scrollLeft`), left, "moved by keys")
	assert.Equal(t, "#step-1", b.here(), "and not to another step")
	b.press("0")
	assert.InDelta(t, fit, width(), 1)

	// The wheel zooms at the pointer: what is under it stays there.
	moved := eval[[]float64](b, `(() => { const v = views()[0], r = v.getBoundingClientRect(), e = {clientX: r.left + 200, clientY: r.top + 150};
		const a = under(v, e); v.dispatchEvent(new WheelEvent("wheel", {...e, deltaY: -400, bubbles: true, cancelable: true}));
		const z = under(v, e); return [zoom, (z.x - a.x) * shotOf(v).offsetWidth, (z.y - a.y) * shotOf(v).offsetHeight]; })()`)
	assert.Greater(t, moved[0], 1.3)
	assert.InDelta(t, 0, moved[1], 2)
	assert.InDelta(t, 0, moved[2], 2)
	before := eval[float64](b, `middle.x`)
	b.press("j")
	assert.InDelta(t, before, eval[float64](b, `middle.x`), .002, "it stays from step to step")
	b.drag(t)
	b.Quiet()
}

// drag moves the picture by the pointer, which is no click.
func (b *tab) drag(t *testing.T) {
	t.Helper()
	at := eval[struct{ X, Y, Left float64 }](b, `(() => { const v = views()[0], r = v.getBoundingClientRect(); return {X: r.left + 300, Y: r.top + 200, Left: v.scrollLeft}; })()`)
	eval[bool](b, `(() => { const v = views()[0], at = (x, type) => v.dispatchEvent(new PointerEvent(type, {clientX: x, clientY: 300, bubbles: true, pointerId: 1, button: 0}));
		v.setPointerCapture = () => {}; at(500, "pointerdown"); at(470, "pointermove"); at(440, "pointermove"); at(440, "lostpointercapture"); v.click(); return true; })()`)
	assert.InDelta(t, at.Left+60, eval[float64](b, `views()[0].scrollLeft`), 1)
	assert.False(t, eval[bool](b, `root.classList.contains("alone")`))
}

// becomes waits until a page shows something: it scrolls, and looks where it is, when the
// browser has time.
func becomes(t *testing.T, want string, get func() string, why string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); get() != want && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	assert.Equal(t, want, get(), why)
}

func testSearch(t *testing.T, b *tab) {
	t.Helper()
	found := func() string { b.settleDown(); return eval[string](b, `document.querySelector("#found").textContent`) }
	enter := func(words string) {
		t.Helper()
		b.press("/")
		eval[bool](b, `(() => { document.activeElement.select(); return true; })()`) // the browser is sent the / twice: as a key and as a letter
		b.Do(chromedp.KeyEvent(words), chromedp.KeyEvent(kb.Enter))
	}
	enter("IMPORT OS")
	becomes(t, "#step-5", b.here, "in any case of letters, and in what a model wrote")
	becomes(t, "1 of 4", found, "")
	b.Do(chromedp.KeyEvent(kb.Enter))
	becomes(t, "2 of 4", found, "")
	assert.True(t, eval[bool](b, `(() => { const r = [...CSS.highlights.get("now")][0], b = r.getBoundingClientRect(), s = r.startContainer.parentElement.closest(".side").getBoundingClientRect();
		return b.height > 0 && b.top >= s.top && b.bottom <= s.bottom + 1; })()`), "it can be seen, also in a call that was closed")
	assert.Equal(t, 2, eval[int](b, `CSS.highlights.get("hit").size`))
	b.press(kb.Escape)
	enter("~/shopping.txt - mousepad")
	becomes(t, "#step-5", b.here, "a window's title")
	b.press(kb.Escape, "n", "n", "n", "n")
	assert.NotEqual(t, "#step-5", b.here(), "on to another step")
	assert.Positive(t, eval[int](b, `document.querySelectorAll(".ticks i.hit").length`))
	b.press(kb.Escape)
	enter("no such words")
	becomes(t, "no hit", found, "")
	assert.Zero(t, eval[int](b, `document.querySelectorAll(".hit").length`))
	b.Quiet()
}

func testTimeline(t *testing.T, b *tab) {
	t.Helper()
	assert.Equal(t, 9, eval[int](b, `document.querySelectorAll(".ticks i").length`), "one for each step")
	assert.Equal(t, []string{"", "good", "good", "good", "good", "bad", "odd", "good", ""}, eval[[]string](b, `ticks.map(t => t.className.replace(" past", "").replace("past", ""))`))
	spot := eval[[]float64](b, `(() => { const r = ticks[4].getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()`)
	b.Do(chromedp.MouseClickXY(spot[0], spot[1]))
	assert.Equal(t, "#step-4", b.here())
	assert.Equal(t, "5", eval[string](b, `document.querySelector(".scrub").getAttribute("aria-valuenow")`))
	assert.Contains(t, eval[string](b, `document.querySelector(".scrub").getAttribute("aria-valuetext")`), "click left at (1130, 771) (delivered)")
	assert.True(t, eval[bool](b, `document.querySelector(".peek img").checkVisibility() && document.querySelector(".peek img").naturalWidth === 1280`), "a small picture")
	b.press("j")
	assert.Equal(t, "#step-5", b.here())
	b.Quiet()
}

func comparisonFile(t *testing.T, file string, a, b *replay.Run) {
	t.Helper()
	f, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, WriteComparison(f, a, b))
	require.NoError(t, f.Close())
}

func testComparison(t *testing.T, browser *tab, r *replay.Run) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "two.html")
	comparisonFile(t, file, r, redone(t, drawn(5, image.Pt(1280, 800))))
	narrow := open(t, browser, file, 390, 844)
	narrow.fits()
	narrow.press("p", "b")
	narrow.fits()
	narrow.Quiet()

	b := open(t, browser, file, 1600, 1000)
	b.fits()
	b.press("p")
	assert.Equal(t, "#step-3", b.here(), "where they parted")
	places := func() []float64 {
		b.settleDown()
		return eval[[]float64](b, `all(".step.here .shot").flatMap(s => { const r = s.getBoundingClientRect(); return [r.left, r.top, r.width]; })`)
	}
	p := places()
	assert.Greater(t, p[3], p[0]+p[2], "side by side")
	b.press("+", "+")
	p = places()
	assert.InDelta(t, p[2], p[5], 1, "both are zoomed")
	b.press("0", "b")
	p = places()
	assert.Equal(t, p[:3], p[3:], "one over the other")
	shown := func() []string {
		return eval[[]string](b, `all(".step.here .half").map(h => getComputedStyle(h).visibility)`)
	}
	eval[bool](b, `clearInterval(blinking) ?? true`) // else it may do the same in between
	one := shown()
	b.press("x")
	assert.NotEqual(t, one, shown(), "the other one")
	b.press("b")
	assert.Equal(t, "0.5", eval[string](b, `getComputedStyle(one(".step.here .half.b")).opacity`))
	b.press("b")
	assert.Equal(t, "difference", eval[string](b, `getComputedStyle(one(".step.here .half.b")).mixBlendMode`))
	b.press("b", "i")
	assert.True(t, strings.Contains(eval[string](b, `one("#about").innerText`), "diverged"), "the table")
	b.fits()
	b.Quiet()
}

// TestReportContrast measures text against what is behind it, in both schemes.
func TestReportContrast(t *testing.T) {
	browser := &tab{webpagetest.Start(t)}
	file := filepath.Join(t.TempDir(), "two.html")
	comparisonFile(t, file, sample(t, drawn(7, image.Pt(640, 400))), redone(t, drawn(5, image.Pt(640, 400))))
	runs := map[string]string{"comparison": file}
	for name, r := range map[string]*replay.Run{"sample": sample(t, drawn(7, image.Pt(640, 400))), "replay": redone(t, drawn(5, image.Pt(640, 400)))} {
		require.NoError(t, Save(r.Dir))
		runs[name] = filepath.Join(r.Dir, File)
	}
	for name, page := range runs {
		b := open(t, browser, page, 1300, 900)
		b.press("v")
		for _, scheme := range []string{"light", "dark"} {
			b.Prefer(scheme)
			b.settleDown()
			poor := eval[[]string](b, `(() => {
				const rgb = (c) => { const m = c.match(/[\d.]+/g).map(Number); return {c: m.slice(0, 3), a: m[3] ?? 1}; };
				const light = (c) => { const [r, g, b] = c.map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
				const behind = (e) => { for (; e; e = e.parentElement) { const k = rgb(getComputedStyle(e).backgroundColor); if (k.a === 1) return k.c; } return [255, 255, 255]; };
				const bad = new Set(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
				while (walker.nextNode()) {
					const e = walker.currentNode.parentElement;
					if (!walker.currentNode.data.trim() || !e.checkVisibility() || e.closest("svg, script, option, dialog")) continue;
					const a = light(rgb(getComputedStyle(e).color).c), b = light(behind(e)), ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
					if (ratio < 4.5) bad.add(e.className + " " + e.textContent.trim().slice(0, 30) + " " + ratio.toFixed(2));
				}
				return [...bad];
			})()`)
			assert.Empty(t, poor, "%s, %s: less than 4.5 to 1", name, scheme)
		}
	}
}
