package export

import (
	"bytes"
	"context"
	"encoding/json"
	"go/format"
	"image"
	"image/color"
	"image/gif"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"desktop-agent/actuator"
	"desktop-agent/actuator/pyautogui"
	"desktop-agent/planner"
	"desktop-agent/replay"
	"desktop-agent/replay/replaytest"
	"desktop-agent/run"
	"desktop-agent/screen"
)

func openDemo(t testing.TB) *replay.Run {
	t.Helper()
	stored, err := replay.Open(demo)
	require.NoError(t, err)
	return stored
}

// The code reads back as the actions that it was written of.
func TestSourceReadsBack(t *testing.T) {
	at := &actuator.Point{X: 12, Y: 30}
	secret := actuator.Secret("it's \\ \"x\"\n\ttab")
	for _, list := range [][]actuator.Action{
		{actuator.Move{At: *at}},
		{actuator.Click{At: at, Button: actuator.Left, Count: 1}, actuator.Click{Button: actuator.Right, Count: 2}},
		{actuator.ButtonDown{At: at, Button: actuator.Left}, actuator.ButtonUp{Button: actuator.Left}},
		{actuator.Drag{Path: []actuator.Point{*at}, Button: actuator.Left}},
		{actuator.Scroll{At: at, DY: 3}, actuator.Scroll{DX: -2}},
		{actuator.Type{Text: secret}, actuator.SetClipboard{Text: "naïve 漢字"}},
		{actuator.Press{Keys: []actuator.Key{"enter"}, Count: 1}, actuator.Press{Keys: []actuator.Key{"tab"}, Count: 3}},
		{actuator.Press{Keys: []actuator.Key{"ctrl", "shift", "s"}, Count: 1}, actuator.Press{Keys: []actuator.Key{"menu"}, Count: 1}},
		{actuator.KeyDown{Key: "shift"}, actuator.KeyUp{Key: "shift"}, actuator.Wait{Milliseconds: 1500}},
	} {
		code, err := source(list, func(p image.Point) image.Point { return p })
		require.NoError(t, err)
		got, err := pyautogui.Parser{}.Parse(actuator.Reply{Text: "```python\n" + code + "\n```"}, image.Rect(0, 0, 100, 100))
		require.NoError(t, err, code)
		assert.Equal(t, list, got.Actions, code)
	}
}

func TestSource(t *testing.T) {
	double := func(p image.Point) image.Point { return p.Mul(2) }
	text := actuator.Secret("é'")
	for _, tt := range []struct {
		a    actuator.Action
		want string
	}{
		{actuator.Click{At: &actuator.Point{X: 1, Y: 2}, Button: actuator.Middle, Count: 3, Modifiers: []actuator.Key{"ctrl", "shift"}},
			"pyautogui.keyDown('ctrl')\npyautogui.keyDown('shift')\npyautogui.click(2, 4, clicks=3, button='middle')\npyautogui.keyUp('shift')\npyautogui.keyUp('ctrl')"},
		{actuator.Drag{Path: []actuator.Point{{X: 1, Y: 1}, {X: 2, Y: 2}, {X: 3, Y: 3}}, Button: actuator.Left},
			"pyautogui.moveTo(2, 2)\npyautogui.mouseDown()\npyautogui.moveTo(4, 4, duration=0.1)\npyautogui.moveTo(6, 6, duration=0.1)\npyautogui.mouseUp()"},
		{actuator.Type{Text: text}, "import pyperclip\npyperclip.copy('é\\'')\npyautogui.hotkey('ctrl', 'v')"},
		{actuator.Paste{Text: &text}, "import pyperclip\npyperclip.copy('é\\'')\npyautogui.hotkey('ctrl', 'v')"},
		{actuator.Copy{}, "pyautogui.hotkey('ctrl', 'c')"},
		{actuator.Hold{Keys: []actuator.Key{"a"}, Milliseconds: 250}, "pyautogui.keyDown('a')\ntime.sleep(0.25)\npyautogui.keyUp('a')"},
		{actuator.Zoom{}, ""},
	} {
		code, err := source([]actuator.Action{tt.a}, double)
		require.NoError(t, err)
		assert.Equal(t, tt.want, code)
	}
}

// Nothing in a text ends the literal that it stands in.
func TestQuote(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("'\\\"\n\r\tux0{}\u2028a é"))).Draw(r, "text")
		quoted := quote(text)
		require.NotContains(r, quoted, "\n")
		require.NotContains(r, quoted, "\r")
		inner := strings.NewReplacer(`\\`, "", `\'`, "").Replace(quoted[1 : len(quoted)-1])
		require.NotContains(r, inner, "'")
		require.Equal(r, text, unescape(quoted[1:len(quoted)-1]))
	})
}

func TestOSWorld(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "out")
	score := 1.0
	require.NoError(t, OSWorld(t.Context(), dir, openDemo(t), &Options{Score: &score}))
	data, err := os.ReadFile(filepath.Join(dir, "traj.jsonl"))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	require.Len(t, lines, 12)
	for i, line := range lines {
		var e map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		assert.Len(t, e, 8)
		assert.EqualValues(t, i+1, e["step_num"])
		assert.Equal(t, "step_"+jsonNumber(e["step_num"])+"_"+e["action_timestamp"].(string)+".png", e["screenshot_file"])
		assert.Regexp(t, `^\d{8}@\d{12}$`, e["action_timestamp"])
		assert.Equal(t, i == 11, e["done"])
		file, err := os.ReadFile(filepath.Join(dir, e["screenshot_file"].(string)))
		require.NoError(t, err)
		img, err := replay.DecodeImage(file)
		require.NoError(t, err)
		assert.Equal(t, image.Pt(1280, 960), img.Bounds().Size())
	}
	var first, last entry
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &first))
	assert.Equal(t, "pyautogui.click(640, 511)\npyautogui.write('milk\\nbread\\napples')", first.Action)
	assert.Contains(t, first.Response, "Thought:")
	require.NoError(t, json.Unmarshal([]byte(lines[11]), &last))
	assert.Equal(t, "DONE", last.Action)
	result, err := os.ReadFile(filepath.Join(dir, "result.txt"))
	require.NoError(t, err)
	assert.Equal(t, "1.0\n", string(result))
	assert.FileExists(t, filepath.Join(dir, "initial_state.png"))

	require.ErrorContains(t, OSWorld(t.Context(), dir, openDemo(t), nil), "there already")
}

// A turn without an action is WAIT, giving up is FAIL, and what nobody
// evaluated has no result.
func TestOSWorldWords(t *testing.T) {
	w := newTale(t)
	w.start("x")
	w.look("f0001", run.Observed{})
	w.step = 1
	w.put(run.Proposed{FrameID: "f0001", Error: "no action in it"})
	w.look("f0002", run.Observed{})
	w.step = 2
	w.act("f0002", "copy it", actuator.Copy{})
	w.put(run.RunEnded{Outcome: run.OutcomeInfeasible})
	dir := filepath.Join(t.TempDir(), "out")
	require.NoError(t, OSWorld(t.Context(), dir, w.cut(), nil))
	data, err := os.ReadFile(filepath.Join(dir, "traj.jsonl"))
	require.NoError(t, err)
	var got []string
	for line := range strings.Lines(string(data)) {
		var e entry
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		info, err := json.Marshal(e.Info)
		require.NoError(t, err)
		got = append(got, e.Action+" "+string(info))
	}
	assert.Equal(t, []string{`WAIT {"error":"no action in it"}`, `pyautogui.hotkey('ctrl', 'c') {}`, `FAIL {"fail":true}`}, got)
	assert.NoFileExists(t, filepath.Join(dir, "result.txt"))
}

func jsonNumber(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

// An export that fails leaves nothing, and what was there stays.
// What was stopped, or what is damaged, leaves nothing; nor does a region that
// hides nothing.
func TestRefused(t *testing.T) {
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	outside := Redaction{Regions: []Region{{Box: image.Rect(5000, 5000, 5010, 5010)}}}
	damaged := filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.CopyFS(damaged, os.DirFS(openDemo(t).Dir)))
	data, err := os.ReadFile(filepath.Join(damaged, "events.jsonl"))
	require.NoError(t, err)
	changed := bytes.Replace(data, []byte("milk"), []byte("silk"), 1)
	require.NoError(t, os.WriteFile(filepath.Join(damaged, "events.jsonl"), changed, 0o600))
	bad, err := replay.Open(damaged)
	require.NoError(t, err)

	dir := t.TempDir()
	to := filepath.Join(dir, "out")
	require.ErrorIs(t, GIF(stopped, io.Discard, openDemo(t), nil), context.Canceled)
	require.ErrorIs(t, OSWorld(stopped, to, openDemo(t), nil), context.Canceled)
	require.ErrorIs(t, Markdown(stopped, to, openDemo(t), nil), context.Canceled)
	_, err = Redacted(stopped, dir, openDemo(t), Redaction{})
	require.ErrorIs(t, err, context.Canceled)
	_, err = Redacted(t.Context(), dir, bad, Redaction{})
	require.ErrorContains(t, err, "the run is damaged, and a copy would hide that: ")
	require.ErrorContains(t, GoTest(t.Context(), dir, bad, nil), "the run is damaged")
	err = GIF(t.Context(), io.Discard, openDemo(t), &Options{Redact: outside})
	require.ErrorContains(t, err, "outside of the screen, which has 1280×960 pixels")
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, list)
}

func TestFailureLeavesNothing(t *testing.T) {
	w := newTale(t)
	w.start("x")
	w.look("f0001", run.Observed{})
	w.step = 1
	w.act("f0001", "", actuator.Copy{})
	stored := w.end("")
	require.NoError(t, os.WriteFile(filepath.Join(stored.Dir, "frames", "f0001.png"), []byte("no"), 0o600))
	dir := t.TempDir()
	for _, export := range []func(context.Context, string, *replay.Run, *Options) error{OSWorld, Markdown} {
		require.Error(t, export(t.Context(), filepath.Join(dir, "out"), stored, nil))
		file := filepath.Join(dir, "file")
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		require.ErrorContains(t, export(t.Context(), file, stored, nil), "no folder")
		require.NoError(t, os.Remove(file))
	}
	var out bytes.Buffer
	require.Error(t, GIF(t.Context(), &out, stored, nil))
	assert.Zero(t, out.Len())
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, list)
}

func TestGIF(t *testing.T) {
	var buf bytes.Buffer
	require.NoError(t, GIF(t.Context(), &buf, replaytest.First(t, demo, 4), nil))
	assert.Less(t, buf.Len(), 115<<10)
	g, err := gif.DecodeAll(&buf)
	require.NoError(t, err)
	require.Len(t, g.Image, 5, "4 steps and the end")
	assert.Equal(t, 960, g.Config.Width)
	assert.Equal(t, g.Config.Width, g.Image[0].Rect.Dx())
	for i, d := range g.Delay {
		assert.GreaterOrEqual(t, d, 40)
		assert.LessOrEqual(t, d, 250)
		assert.True(t, g.Image[i].Rect.In(g.Image[0].Rect))
	}
	// The mark of the first click is where the click was, at 3/4 of the size.
	r, gr, b, _ := g.Image[0].At(640*3/4+12, 511*3/4).RGBA()
	assert.Greater(t, r, 2*gr)
	assert.Greater(t, r, b)
}

func TestGIFOptions(t *testing.T) {
	at := actuator.Click{At: &actuator.Point{X: 160, Y: 120}, Button: actuator.Left, Count: 1}
	stored := small(t, at)
	for _, plain := range []bool{false, true} {
		var buf bytes.Buffer
		require.NoError(t, GIF(t.Context(), &buf, stored, &Options{Width: 160, Plain: plain}))
		g, err := gif.DecodeAll(&buf)
		require.NoError(t, err)
		assert.Equal(t, 160, g.Config.Width)
		assert.Equal(t, plain, g.Image[0].At(80+12, 60) == g.Image[0].At(80+30, 60), "the ring of the click")
	}
}

// small writes a run of two steps on a small screen; actions are done in both.
func small(t testing.TB, actions ...actuator.Action) *replay.Run {
	w := newTale(t)
	w.start("x")
	w.look("f0001", run.Observed{Windows: []screen.Window{editor}})
	w.step = 1
	w.act("f0001", "reply", actions...)
	w.look("f0002", run.Observed{}, image.Rect(10, 20, 30, 50))
	w.step = 2
	w.act("f0002", "reply", actions...)
	w.look("f0003", run.Observed{}, image.Rect(12, 20, 30, 50))
	return w.end("")
}

// Played one after the other, the pictures of a GIF are those that were drawn.
func TestGIFIsExactWithFewColours(t *testing.T) {
	stored := small(t, actuator.Copy{})
	var buf bytes.Buffer
	require.NoError(t, GIF(t.Context(), &buf, stored, nil))
	g, err := gif.DecodeAll(&buf)
	require.NoError(t, err)
	require.Len(t, g.Image, 3)
	at := func(x, y int) (c color.Color) {
		for _, img := range g.Image {
			if _, _, _, a := img.At(x, y).RGBA(); a > 0 && image.Pt(x, y).In(img.Rect) {
				c = img.At(x, y)
			}
		}
		return c
	}
	assert.Equal(t, color.Color(ground), at(11, 30))
	assert.Equal(t, color.Color(shown), at(12, 30))
	assert.Less(t, g.Image[1].Rect.Dx(), 100, "only what changed, the number in the caption included")
}

func TestQuantize(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		counts := map[color.RGBA]int{}
		for range rapid.IntRange(0, 600).Draw(r, "n") {
			b := rapid.SliceOfN(rapid.Byte(), 3, 3).Draw(r, "colour")
			counts[color.RGBA{b[0], b[1], b[2], 255}] += 1 + int(b[0])
		}
		p := quantize(counts, 255)
		require.NotEmpty(r, p)
		require.LessOrEqual(r, len(p), 255)
		if len(counts) <= 255 {
			for c := range counts {
				require.Equal(r, color.Color(c), p.Convert(c))
			}
		}
	})
}

func TestMarkdown(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "page")
	require.NoError(t, os.Mkdir(dir, 0o700), "an empty folder may be there")
	require.NoError(t, Markdown(t.Context(), dir, openDemo(t), &Options{Width: 400}))
	data, err := os.ReadFile(filepath.Join(dir, "run.md"))
	require.NoError(t, err)
	text := string(data)
	for _, want := range []string{"**Outcome:** done", "| steps | 12 |", "## Step 12", "**Thought:** The editor is open", "click left at", "3. running: Locate"} {
		assert.Contains(t, text, want)
	}
	list, err := os.ReadDir(filepath.Join(dir, "images"))
	require.NoError(t, err)
	assert.Len(t, list, 13)
	assert.Equal(t, 13, strings.Count(text, "![screen](images/"))
}

// A plan that is revised after the assessment of its step is shown as revised.
func TestMarkdownShowsTheNewestPlan(t *testing.T) {
	plan := func(goal string) *planner.Plan {
		return &planner.Plan{Version: planner.Version, Steps: []planner.Step{{ID: "s1", Goal: goal, Status: planner.Running}}}
	}
	w := newTale(t)
	w.start("x")
	w.look("f0001", run.Observed{Windows: []screen.Window{editor}})
	w.step = 1
	w.put(run.Assessed{FrameID: "f0001", Plan: plan("Explore the old way")})
	w.put(run.Planned{Plan: plan("Explore the new way")})
	dir := filepath.Join(t.TempDir(), "page")
	require.NoError(t, Markdown(t.Context(), dir, w.end("x"), nil))
	data, err := os.ReadFile(filepath.Join(dir, "run.md"))
	require.NoError(t, err)
	assert.Contains(t, string(data), "1. running: Explore the new way")
	assert.NotContains(t, string(data), "old way")
}

// TestMarkdownTellsADeliberatePlan holds that the page has the steps with who does them and
// what they need, and what became of each, as text.
func TestMarkdownTellsADeliberatePlan(t *testing.T) {
	w := newTale(t)
	w.start("x")
	w.put(run.Planned{Plan: &planner.Plan{Version: planner.Version, Mode: planner.Deliberate, Steps: []planner.Step{
		{ID: "s1", Goal: "Read it", Status: planner.Pending, Executor: planner.Tool, Action: "read"},
		{ID: "s2", Goal: "Tell <b>it</b>", Status: planner.Blocked, Executor: planner.Self, Needs: []string{"s1"}},
	}}})
	w.put(run.PlanApproved{Approved: true})
	w.put(run.StepStarted{Step: "s1", Goal: "Read it", Executor: planner.Tool, Action: "read", Attempt: 1})
	w.put(run.StepEnded{Step: "s1", Status: planner.Completed, Output: "<img src=x>" + strings.Repeat("é", 2000), Attempts: 1, Millis: 12})
	dir := filepath.Join(t.TempDir(), "page")
	require.NoError(t, Markdown(t.Context(), dir, w.end("x"), nil))
	data, err := os.ReadFile(filepath.Join(dir, "run.md"))
	require.NoError(t, err)
	for _, text := range []string{
		`1. s1 tool read&#58; Read it \(pending\)`, `2. s2 self&#58; Tell &lt;b&gt;it&lt;/b&gt; \(blocked\), needs s1`,
		"**Plan:** the plan was approved as it was shown", `**Plan:** s1 began&#58; Read it \(tool read, attempt 1\)`,
		"**Plan:** s1 completed in 12 ms", `**Result (untrusted):** &lt;img src\=x&gt;éé`,
	} {
		assert.Contains(t, string(data), text)
	}
	assert.Less(t, strings.Count(string(data), "é"), 1001, "it is cut")
}

// No text of a run becomes markup.
func TestLiteral(t *testing.T) {
	for in, want := range map[string]string{
		"plain words, (1) it's":  `plain words, \(1\) it's`,
		"<img src=x onerror=1>":  `&lt;img src\=x onerror\=1&gt;`,
		"![a](http://x.y)":       `\!\[a\]\(http&#58;//x&#46;y\)`,
		"a@b.c www.x.y &amp;":    `a&#64;<!-- -->b&#46;c www&#46;x&#46;y &amp;amp;`,
		"**b** `c` # | ~~x~~":    "\\*\\*b\\*\\* \\`c\\` \\# \\| \\~\\~x\\~\\~",
		"line\nbreak \u202e\x07": `line break \<U+202E\>\<U+0007\>`,
	} {
		assert.Equal(t, want, literal(in))
	}
	w := newTale(t)
	evil := "x\n\n# big\n<script>alert(1)</script>\n![i](http://evil.example/x.png)\n===\n    code\n- [ ] list\n| a | b |\n[ref]: http://evil.example"
	w.start(evil)
	w.look("f0001", run.Observed{Windows: []screen.Window{{Title: evil, Focused: true}}})
	w.step = 1
	w.act("f0001", evil, actuator.Type{Text: actuator.Secret(evil)})
	dir := filepath.Join(t.TempDir(), "page")
	require.NoError(t, Markdown(t.Context(), dir, w.end(evil), nil))
	data, err := os.ReadFile(filepath.Join(dir, "run.md"))
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		assert.NotContains(t, line, "<script")
		assert.NotContains(t, line, "evil.example")
		assert.NotContains(t, strings.TrimPrefix(line, "![screen](images/"), "](")
		assert.NotRegexp(t, `^(> )?(# big|===|    code|- \[|\[ref)`, line)
	}
}

func TestGoTest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "My-runs2")
	stored := openDemo(t)
	require.ErrorContains(t, GoTest(t.Context(), dir, stored, &Options{Name: "../x"}), "name of the test")
	require.NoError(t, GoTest(t.Context(), dir, stored, &Options{Name: "shopping"}))
	code, err := os.ReadFile(filepath.Join(dir, "shopping_test.go"))
	require.NoError(t, err)
	pretty, err := format.Source(code)
	require.NoError(t, err)
	assert.Equal(t, string(pretty), string(code))
	assert.Equal(t, `package myruns2_test

import (
	"testing"

	"desktop-agent/replay/replaytest"
)

// TestShopping replays the recorded run, without a desktop and without a model.
func TestShopping(t *testing.T) {
	replaytest.Run(t, "testdata/shopping")
}
`, string(code))
	out, err := replay.Open(filepath.Join(dir, "testdata", "shopping"))
	require.NoError(t, err)
	assert.Equal(t, stored.Info, out.Info, "the same run")
	assert.NoFileExists(t, filepath.Join(out.Dir, "report.html"))
	_, err = out.Frame("f0013")
	require.NoError(t, err)

	require.ErrorContains(t, GoTest(t.Context(), dir, stored, &Options{Name: "shopping"}), "there already")
	require.NoError(t, os.Remove(filepath.Join(dir, "shopping_test.go")))
	require.ErrorContains(t, GoTest(t.Context(), dir, stored, &Options{Name: "shopping"}), "there already")
	assert.NoFileExists(t, filepath.Join(dir, "shopping_test.go"))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("package other\n"), 0o600))
	require.NoError(t, GoTest(t.Context(), dir, stored, &Options{Redact: Redaction{Typed: true}}))
	code, err = os.ReadFile(filepath.Join(dir, "run_test.go"))
	require.NoError(t, err)
	assert.Contains(t, string(code), "package other_test\n")
	assert.Empty(t, leaks(t, filepath.Join(dir, "testdata", "run"), "cheese"))
}

func TestWrap(t *testing.T) {
	assert.Equal(t, []string{"one two", "three", "four"}, wrap("one two three four", 7, 6))
	assert.Equal(t, []string{"abcd", "efgh", "i"}, wrap("abcdefghi", 4, 4))
	assert.Equal(t, []string{""}, wrap("", 4, 4))
	assert.Equal(t, `"a" ... ?`, printable("“a” … 漢"))
}

func TestScenesAreClamped(t *testing.T) {
	for _, d := range []time.Duration{-time.Second, 0, time.Hour} {
		assert.Contains(t, []time.Duration{briefest, longest}, clamp(d))
	}
}
