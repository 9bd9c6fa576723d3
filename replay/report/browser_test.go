package report

import (
	"fmt"
	"image"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/internal/webpage/webpagetest"
	"desktop-agent/planner"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/run/eventjson"
)

// A tab shows a page that was made by a test.
type tab struct{ *webpagetest.Tab }

// browse opens the report of a run.
func browse(t *testing.T, browser *tab, r *replay.Run, width, height int64) *tab {
	t.Helper()
	require.NoError(t, Save(r.Dir))
	return open(t, browser, filepath.Join(r.Dir, File), width, height)
}

// open opens a page.
func open(t *testing.T, browser *tab, file string, width, height int64) *tab {
	t.Helper()
	browser.Load(t, file, width, height)
	return browser
}

// eval evaluates an expression in the page.
func eval[T any](b *tab, expression string) T {
	b.T.Helper()
	return webpagetest.Eval[T](b.Tab, expression)
}

// settleDown returns once the page has measured itself.
func (b *tab) settleDown() {
	b.T.Helper()
	eval[bool](b, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

func TestReportInABrowser(t *testing.T) {
	browser := &tab{webpagetest.Start(t)}
	r := sample(t, drawn(7, image.Pt(1280, 800)))
	for _, size := range []struct {
		name          string
		width, height int64
	}{{"wide", 1600, 1000}, {"large", 2400, 1400}, {"narrow", 390, 844}} {
		t.Run(size.name, func(t *testing.T) { testLayout(browse(t, browser, r, size.width, size.height)) })
	}
	t.Run("keyboard", func(t *testing.T) { testKeyboard(t, browse(t, browser, r, 1300, 800)) })
	t.Run("play", func(t *testing.T) { testPlay(t, browse(t, browser, r, 1300, 800)) })
	t.Run("zoom", func(t *testing.T) { testZoom(t, browse(t, browser, r, 1300, 800)) })
	t.Run("address", func(t *testing.T) { testAddress(t, browse(t, browser, r, 1300, 800)) })
	t.Run("search", func(t *testing.T) { testSearch(t, browse(t, browser, r, 1300, 800)) })
	t.Run("timeline", func(t *testing.T) { testTimeline(t, browse(t, browser, r, 1300, 800)) })
	t.Run("comparison", func(t *testing.T) { testComparison(t, browser, r) })
	t.Run("plan", func(t *testing.T) { testPlan(t, browser) })
	t.Run("hostile text", func(t *testing.T) { testHostile(t, browser) })
}

// testPlan opens a page with a graph, wider than a phone and with a bar of no width: nothing
// but the graph, which scrolls, is wider than the window, and its links lead to cards and turns.
func testPlan(t *testing.T, browser *tab) {
	t.Helper()
	j := newJournal(t)
	first := started("wide")
	first.Data = run.RunStarted{Schema: run.Schema, Task: "wide", Planning: "deliberate", Guard: "none"}
	p := &planner.Plan{Version: planner.Version, Mode: planner.Deliberate}
	for i := range 6 {
		p.Steps = append(p.Steps, planner.Step{ID: fmt.Sprint("s", i+1), Goal: hostile, Status: planner.Pending, Executor: planner.Tool, Action: hostile})
	}
	put(t, j, first, run.Event{Kind: "planned", Data: run.Planned{Plan: p}})
	for _, n := range []int{1, 2} {
		put(t, j, run.Event{PlanStep: n, Agent: "main", Step: 1, Kind: "step_started", Data: run.StepStarted{Step: fmt.Sprint("s", n), Goal: hostile, Executor: planner.Tool, Attempt: 1}})
	}
	require.NoError(t, j.Close())
	r, err := replay.Open(j.Dir())
	require.NoError(t, err)
	for _, width := range []int64{390, 1300} {
		b := browse(t, browser, r, width, 844)
		assert.Equal(t, "#plan", b.here(), "the page begins with the plan")
		b.fits()
		b.follow(`document.querySelector('.node[data-step="s5"]').click()`)
		assert.Equal(t, "#plan-5", eval[string](b, `location.hash`))
		b.follow(`document.querySelector('#plan-2 a[href^="#by-"]').click()`)
		assert.Equal(t, "#by-3-step-1", b.here(), "the turn of another step has the same number")
		b.press("v")
		b.fits()
		assert.Zero(t, eval[int](b, `window.pwned ?? 0`))
		b.Quiet()
	}
}

func testLayout(b *tab) {
	b.T.Helper()
	for _, all := range []bool{false, true} {
		if all {
			b.Do(chromedp.KeyEvent("v"))
		}
		b.settleDown()
		b.fits()
		b.marksAreInPlace()
	}
	b.Quiet()
}

// fits checks that nothing is wider than the window, but what scrolls.
func (b *tab) fits() {
	b.T.Helper()
	b.Fits(".rail, svg, pre, .tiles, .scroll, .tag, .sr, .shot")
}

// testAddress goes to a step while the address is still to follow to another one, which it
// does before the page is told where one went: one is led there nevertheless.
func testAddress(t *testing.T, b *tab) {
	t.Helper()
	eval[bool](b, `(() => {
		const later = setTimeout;
		setTimeout = (f) => { window.due = f; return 0; };
		show(1);
		setTimeout = later;
		return true;
	})()`)
	b.follow(`location.hash = "#step-4"; due()`)
	assert.Equal(t, "#step-4", b.here())
	assert.Equal(t, "#step-4", eval[string](b, `location.hash`))

	b.press("k")
	eval[bool](b, `new Promise(done => setTimeout(done, 300, true))`) // as long as the address waits
	assert.Equal(t, "#step-3", eval[string](b, `location.hash`), "the address follows to what a key shows")
	b.Quiet()
}

// at goes to a step by its address.
func (b *tab) at(step int) {
	b.T.Helper()
	b.follow(fmt.Sprintf(`location.hash = "#step-%d"`, step))
}

// follow does what leads to another address, and waits until the page shows what is there:
// it is told after what it does has returned.
func (b *tab) follow(deed string) {
	b.T.Helper()
	eval[bool](b, fmt.Sprintf(`new Promise(done => {
		const before = location.hash, told = () => done(true);
		addEventListener("hashchange", told, {once: true}); // after the page's own
		%s;
		if (location.hash === before) { removeEventListener("hashchange", told); done(false); }
	})`, deed))
	b.settleDown()
}

// here returns the address of the step that is shown.
func (b *tab) here() string {
	b.T.Helper()
	b.settleDown()
	return eval[string](b, `document.querySelector(".rail a.here").getAttribute("href")`)
}

// press presses keys, one after the other.
func (b *tab) press(keys ...string) {
	b.T.Helper()
	for _, k := range keys {
		b.Do(chromedp.KeyEvent(k))
	}
	b.settleDown()
}

// marksAreInPlace compares where marks are on the page with where they belong
// on the picture, at the scale at which the page shows it.
func (b *tab) marksAreInPlace() {
	b.T.Helper()
	for _, want := range []struct {
		step, n int
		at      image.Point
	}{{1, 1, image.Pt(500, 400)}, {3, 1, image.Pt(660, 46)}, {4, 1, image.Pt(1130, 771)}, {6, 1, image.Pt(420, 110)}, {6, 2, image.Pt(700, 420)}, {6, 3, image.Pt(960, 240)}} {
		b.at(want.step)
		got := eval[struct{ X, Y, W, R, NaturalW float64 }](b, fmt.Sprintf(`(() => {
			const shot = document.querySelector("#step-%d .shot"), image = shot.querySelector("img").getBoundingClientRect();
			const mark = shot.querySelector('.mark[data-n="%d"] .centre').getBoundingClientRect();
			const ring = shot.querySelector('.mark[data-n="%d"] .ring').getBoundingClientRect();
			return {X: mark.left + mark.width/2 - image.left, Y: mark.top + mark.height/2 - image.top, W: image.width, R: ring.width,
				NaturalW: shot.querySelector("img").naturalWidth};
		})()`, want.step, want.n, want.n))
		require.Equal(b.T, 1280.0, got.NaturalW, "the picture was loaded")
		require.Positive(b.T, got.W, "step %d is shown", want.step)
		scale := got.W / 1280
		assert.InDelta(b.T, (float64(want.at.X)+.5)*scale, got.X, 1, "step %d, action %d, scale %.3f", want.step, want.n, scale)
		assert.InDelta(b.T, (float64(want.at.Y)+.5)*scale, got.Y, 1, "step %d, action %d, scale %.3f", want.step, want.n, scale)
		if want.step == 1 {
			assert.InDelta(b.T, 26, got.R, 4, "a ring has the same size on the page at every scale")
		}
	}
}

// hostile is text that breaks out of whatever forgets to escape it.
const hostile = `</script></style></textarea><img src=x onerror="window.pwned=1"><script>window.pwned=2</script>" onmouseover="window.pwned=3" ' {{.}} javascript:window.pwned=4`

// hostileRun has hostile text in every field of every event.
func hostileRun(t *testing.T) *replay.Run {
	t.Helper()
	j := newJournal(t)
	s := &story{t: t, j: j, now: time.Now(), shots: drawn(1, image.Pt(320, 240))}
	put(t, j, started(hostile))
	s.step = 1
	s.look(hostile, "ceiling")
	for _, kind := range eventjson.Kinds() {
		if kind != "run_started" && kind != "observed" && kind != "run_ended" {
			s.put(kind, hostileData(t, kind, s.frame), time.Millisecond)
		}
	}
	s.put("proposed", hostileData(t, "proposed", s.frame), 0)
	s.put("run_ended", run.RunEnded{Outcome: run.OutcomeFailed, Answer: hostile, Error: hostile}, 0)
	require.NoError(t, j.Close())
	r, err := replay.Open(j.Dir())
	require.NoError(t, err)
	return r
}

func testHostile(t *testing.T, browser *tab) {
	t.Helper()
	r := hostileRun(t)
	inert := func(b *tab) {
		t.Helper()
		assert.Zero(t, eval[int](b, `window.pwned ?? 0`))
		assert.Zero(t, eval[int](b, `[...document.images].filter(i => i.src && !i.src.startsWith("data:")).length`))
		assert.Equal(t, 1, eval[int](b, `document.scripts.length`))
		shown := eval[int](b, `document.body.textContent.split("<img src=x onerror=").length - 1`)
		assert.Greater(t, shown, 10, "the text is there, as text")
		b.Quiet()
	}
	b := browse(t, browser, r, 1300, 900)
	b.press("j", "k", "/")
	b.Do(chromedp.KeyEvent("<script>"), chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Escape))
	eval[bool](b, `(() => { for (let i = 0; i < steps.length; i++) peek(i); return true; })()`)
	inert(b)
	file := filepath.Join(t.TempDir(), "two.html")
	comparisonFile(t, file, r, r)
	inert(open(t, browser, file, 1300, 900))
}
