package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"image"
	"image/png"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/run/eventjson"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
	"desktop-agent/worldmodel"
)

// everywhere writes a run that tells a text wherever one can be told.
func everywhere(t testing.TB, text string) *replay.Run {
	w := newTale(t)
	w.name = text
	asJSON, err := json.Marshal(map[string]string{"text": text})
	require.NoError(t, err)
	w.put(run.RunStarted{Schema: run.Schema, Task: "write " + text, Models: map[string]string{"actor": text},
		Settings: run.Settings{
			Display: run.DisplaySettings{Name: text, Open: text, Home: text}, Agent: run.AgentSettings{},
			Models: run.ModelSettings{BaseURL: text, Prices: llm.Prices{text: {Input: 1}}},
			Like:   &run.Demonstration{Task: text, Steps: []string{text}}}})
	small := screen.Mapping{Source: image.Rect(20, 40, 300, 240), Size: image.Pt(140, 100)}
	w.look("f0001", run.Observed{Windows: []screen.Window{editor}, Targets: tree("text", "", ""), Mapping: small})
	plan := &planner.Plan{Version: planner.Version, Task: text, Steps: []planner.Step{
		{ID: "s1", Goal: "Find " + text, DoneWhen: text + " is there", Evidence: &planner.Evidence{FrameID: "f0001", Quote: text}}}}
	w.put(run.Planned{Plan: plan, Error: text})
	w.step = 1
	w.put(run.TaskJudged{Reason: text, Error: text, Unknown: []string{text}, Effects: []worldmodel.Effect{worldmodel.EffectSend}})
	w.put(run.Rehearsed{Tries: []run.Try{{Answer: text, Held: []string{text}, Error: text}}, Reason: text, Error: text, Like: &run.Demonstration{Task: text, Steps: []string{text}}})
	w.put(run.Guarded{By: text, Reason: text, Target: text, Foresight: &worldmodel.Foresight{Expected: text, TaskWords: text, Better: &text,
		ShortTerm: worldmodel.Risk{Reason: text}, Violated: []string{text}}})
	w.put(run.Refused{Action: run.Recorded{Action: actuator.Type{Text: actuator.Secret(text)}}, Guard: text, Reason: text})
	w.act("f0001", "Thought: "+text+"\n```python\npyautogui.write("+quote(text)+")\n```", actuator.Type{Text: actuator.Secret(text)})
	pasted := actuator.Secret(strings.ToUpper(text))
	w.act("f0001", string(asJSON), actuator.SetClipboard{Text: actuator.Secret(text)}, actuator.Paste{Text: &pasted})
	seen := editor
	seen.Title = "*" + strings.ToUpper(text) + " - Editor"
	w.look("f0002", run.Observed{Windows: []screen.Window{seen}, Targets: tree("text", text, text), TreeErr: text, Mapping: small,
		Covered: &run.Covered{At: field.Min, PNG: []byte("no picture")}}, field, image.Rect(40, 30, 280, 60))
	w.step = 2
	w.put(run.ModelCalled{Role: llm.Actor, Purpose: "propose", Error: text, Response: &llm.Response{Text: "so", Calls: []llm.ToolCall{{ID: "1", Name: "type", Arguments: string(asJSON)}}},
		Messages: []run.Message{{From: llm.User, Text: fmt.Sprintf("You did: type %.200q. %+q %s", text, text, asJSON), Images: []string{"f0002", "f0002-zoom"}}}})
	w.put(run.Assessed{FrameID: "f0002", Assessment: &worldmodel.Assessment{Changed: text, Evidence: strings.Join(strings.Fields(text), " ")}, Plan: plan, Why: text})
	w.put(run.Reviewed{Verdict: run.Go, Guidance: text, Reason: text})
	w.put(run.Acted{Index: 9, Status: actuator.Delivered, Output: text, Detail: text})
	w.put(run.Answered{Question: text, Answer: text})
	w.look("f0003", run.Observed{Windows: []screen.Window{editor}, Targets: tree("text", "", text), Mapping: small}, field)
	return w.end("wrote " + text)
}

// leaks lists where the files of a folder have a line of a text, in any of the
// ways in which it can be written.
func leaks(t testing.TB, dir, text string) (list []string) {
	t.Helper()
	simple := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		plain := string(data)
		for range 4 {
			said := simple(plain)
			for line := range strings.Lines(text) {
				if line = simple(line); len([]rune(line)) >= least && strings.Contains(said, line) {
					list = append(list, d.Name())
				}
			}
			plain = unescape(plain)
		}
		return err
	}))
	return list
}

// texts are such as people type, and such as break escapes. None is part of
// what the program itself writes.
func texts() *rapid.Generator[string] {
	part := rapid.StringOfN(rapid.RuneFrom([]rune("qzxkjQZ0789\"'\\`{}<>&%#éß漢字🙂Жщ")), 4, 24, -1)
	return rapid.Custom(func(t *rapid.T) string {
		sep := rapid.SampledFrom([]string{" ", "\n", "\t", " \n"}).Draw(t, "between")
		return strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "parts"), sep)
	})
}

// However a text is written, nothing of it is left; what is around it stays.
func TestMaskLeavesNothing(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := texts().Draw(r, "text")
		m := newMasker(Redaction{Secrets: []string{text}})
		asJSON, err := json.Marshal(text)
		require.NoError(r, err)
		twice, err := json.Marshal(string(asJSON))
		require.NoError(r, err)
		for _, form := range []string{
			text, strings.ToUpper(text), strings.Join(strings.Fields(text), " "), string(asJSON), string(twice), fmt.Sprintf("%q", text), fmt.Sprintf("%+q", text),
			quote(text), html.EscapeString(text), url.QueryEscape(text), url.PathEscape(text), text + text,
		} {
			out := m.mask("left " + form + " right")
			require.NotContains(r, strings.Join(writings(out), "\n"), strings.TrimSpace(text))
			require.Empty(r, m.find(out), "%q", out)
			for line := range strings.Lines(text) {
				require.False(r, m.shows(out) || strings.Contains(out, strings.TrimSpace(line)), "%q of %q", out, form)
			}
		}
		require.Equal(r, "left ••• right", m.mask("left "+text+" right"))
	})
}

func TestRedactedLeavesNothing(t *testing.T) {
	for i := range 16 {
		text := texts().Example(i)
		stored := everywhere(t, text)
		require.NotEmpty(t, leaks(t, stored.Dir, text), "else the test tests nothing")
		out := masked(t, stored, []Redaction{{Typed: true}, {Secrets: []string{text}}}[i%2])
		require.Empty(t, leaks(t, out.Dir, text), "%q", text)
		for _, id := range []string{"f0001", "f0002", "f0003"} {
			whole, sent := textOn(t, out, id)
			require.Zero(t, whole+sent, "%s shows %q", id, text)
		}
		if i == 0 {
			whole, sent := textOn(t, stored, "f0002")
			require.Greater(t, min(whole, sent), 1000, "else the test tests nothing")
		}
	}
}

// A password field that only one of the looks of a step shows, neither the first
// nor the last, has what was typed then masked.
func TestPasswordFieldInTheMiddleOfAStep(t *testing.T) {
	w := newTale(t)
	w.start("log in")
	w.look("f0001", run.Observed{Windows: []screen.Window{editor}, Targets: tree("text", "", "")})
	w.step = 1
	w.look("f0002", run.Observed{Windows: []screen.Window{editor}, Targets: tree("password text", "", "")}, field)
	w.act("f0002", "the password", actuator.Type{Text: "swordfish"})
	w.look("f0003", run.Observed{Windows: []screen.Window{editor}, Targets: tree("text", "", "")})
	stored := w.end("done")
	require.NotEmpty(t, leaks(t, stored.Dir, "swordfish"), "else the test tests nothing")
	assert.Empty(t, leaks(t, masked(t, stored, Redaction{Passwords: true}).Dir, "swordfish"))
}

// Whatever field an event has or will have, a text in it is masked.
func TestEveryFieldIsMasked(t *testing.T) {
	const secret = "Xyzzy-plugh"
	m := newMasker(Redaction{Secrets: []string{secret}})
	data := []run.EventData{
		run.RunStarted{}, run.Observed{}, run.ModelCalled{}, run.Planned{}, run.Planning{}, run.PlanMade{}, run.PlanApproved{}, run.StepStarted{}, run.StepEnded{}, run.Reflected{}, run.Resumed{}, run.Assessed{}, run.Progressed{}, run.Filed{}, run.Transcribed{}, run.Proposed{}, run.Grounded{}, run.Reviewed{},
		run.TaskJudged{}, run.Rehearsed{}, run.Guarded{}, run.Acting{}, run.Refused{}, run.Checked{}, run.Acted{}, run.BatchStopped{}, run.Answered{}, run.Noted{}, run.Located{}, run.Diverged{}, run.GoalChecked{}, run.RunEnded{},
	}
	assert.Len(t, data, len(eventjson.Kinds()), "all kinds are here")
	for _, e := range data {
		v := reflect.New(reflect.TypeOf(e)).Elem()
		fill(v, secret, 0)
		full := v.Interface().(run.EventData)
		before, err := eventjson.Marshal(full)
		require.NoError(t, err)
		require.Contains(t, string(before), secret)
		require.NotEmpty(t, m.left(full), "the check after the copy sees it")
		out, err := m.event(full)
		require.NoError(t, err)
		after, err := eventjson.Marshal(out)
		require.NoError(t, err)
		assert.NotContains(t, strings.ToLower(string(after)), strings.ToLower(secret), run.Kind(e))
		assert.Empty(t, m.left(out))
	}
}

// fill puts a text into every field.
// fill sets everything that a value holds; plans is how many plans it stands in: a step of
// a step has none.
func fill(v reflect.Value, s string, plans int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*run.Covered]() {
			return
		}
		if v.Type() == reflect.TypeFor[*planner.Plan]() {
			if plans++; plans > 2 {
				return
			}
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), s, plans)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), s, plans)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		e := reflect.New(v.Type().Elem()).Elem()
		fill(e, s, plans)
		v.SetMapIndex(reflect.ValueOf(s).Convert(v.Type().Key()), e)
	case reflect.Interface:
		if v.Type() == reflect.TypeFor[actuator.Action]() {
			v.Set(reflect.ValueOf(actuator.Type{Text: actuator.Secret(s)}))
		} else {
			v.Set(reflect.ValueOf(map[string]any{s: []any{s}}))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), s, plans)
		}
	}
}

func TestMask(t *testing.T) {
	m := newMasker(Redaction{Secrets: []string{"hunter2", "a \"b\"\nnext line", "7", "the quick brown fox jumps over the lazy dog"}, Patterns: []*regexp.Regexp{regexp.MustCompile(`\d{4}-\d{4}`)}})
	for _, tt := range []struct{ in, want string }{
		{"nothing of it", "nothing of it"},
		{"say hunter2!", "say •••!"},
		{"HUNTER2hunter2", "•••"},
		{`write("a \"b\"\nnext line")`, `write("•••")`},
		{"7 of 17, 7", "••• of 17, •••"},
		{"card 1234-5678 ok", "card ••• ok"},
		{"Window: the quick brown fox…", "Window: •••…"},
		{`"\u0068unter2"`, hidden},
		{"hunter&#50;", hidden},
		{"?q=%68unter2", hidden},
		{`\\u0068unter2`, hidden},
		{"a  \"b\"", hidden},
	} {
		assert.Equal(t, tt.want, m.mask(tt.in), tt.in)
	}
}

// A text that is too short to be hidden anywhere is hidden where it may be a word: also in
// a script without spaces, and where a mark is put on its last letter.
func TestMaskShort(t *testing.T) {
	m := newMasker(Redaction{Secrets: []string{"张三", "ab"}})
	for in, want := range map[string]string{
		"发给张三的信":       "发给•••的信",
		"ab, cab, abc": "•••, cab, abc",
		"ab\u0301":     "•••\u0301",
		"ab信":          "•••信",
	} {
		assert.Equal(t, want, m.mask(in), in)
	}
}

// A reply that puts the text together itself is hidden, also where it is quoted.
func TestReplyInDoubt(t *testing.T) {
	w := newTale(t)
	w.start("x")
	w.look("f0001", run.Observed{Windows: []screen.Window{editor}, Targets: tree("text", "", "")})
	w.step = 1
	reply := "Thought: in two parts.\npyautogui.write('swor' + 'dfish')"
	w.act("f0001", reply, actuator.Type{Text: "swordfish"})
	w.look("f0002", run.Observed{Windows: []screen.Window{editor}, Targets: tree("text", "", "swordfish")}, field)
	w.step = 2
	w.put(run.ModelCalled{Role: llm.Actor, Purpose: "propose", Messages: []run.Message{{From: llm.Assistant, Text: reply}, {From: llm.User, Text: "You said: " + reply + " And now?"}}})
	out := masked(t, w.end(""), Redaction{Typed: true})
	text, err := os.ReadFile(filepath.Join(out.Dir, "events.jsonl"))
	require.NoError(t, err)
	assert.NotContains(t, string(text), "dfish")
	assert.Contains(t, string(text), "You said: ••• And now?")
}

func TestPixels(t *testing.T) {
	other := screen.Window{ID: 9, Title: "Bank", Class: "Browser", PID: 50, Box: image.Rect(0, 150, 100, 240)}
	blank := []screen.Window{editor}
	two := func(pid int) []screen.Window { // the second has the focus, and lies over the first
		below := editor
		below.Focused = false
		return []screen.Window{below, {ID: 8, Title: "Sign in", PID: pid, Box: image.Rect(50, 80, 250, 200), Focused: true}}
	}
	type observation struct {
		o    run.Observed
		text []image.Rectangle
	}
	for _, tt := range []struct {
		name   string
		red    Redaction
		before run.Observed
		typed  actuator.Action
		after  []observation
		left   []int // pixels of text that stay, by frame
	}{
		{"the node's box", Redaction{Typed: true}, run.Observed{Windows: blank, Targets: tree("text", "", "")}, actuator.Type{Text: "swordfish"},
			[]observation{{run.Observed{Windows: blank, Targets: tree("text", "", "swordfish")}, []image.Rectangle{field, image.Rect(0, 0, 10, 10)}}}, []int{100}},
		{"the field that had the focus", Redaction{Typed: true}, run.Observed{Windows: blank, Targets: tree("entry", "", "")}, actuator.Type{Text: "swordfish"},
			[]observation{{run.Observed{Windows: blank, Targets: tree("entry", "", "")}, []image.Rectangle{field}}}, []int{0}},
		{"the name beside a check box", Redaction{Secrets: []string{"swordfish"}}, run.Observed{Windows: blank}, actuator.Copy{},
			[]observation{{run.Observed{Windows: blank, Targets: checkBox()}, []image.Rectangle{image.Rect(66, 90, 150, 102)}}}, []int{0}},
		{"not what is around the field", Redaction{Typed: true}, run.Observed{Windows: blank, Targets: around()}, actuator.Type{Text: "swordfish"},
			[]observation{{run.Observed{Windows: blank, Targets: around()}, []image.Rectangle{field, image.Rect(50, 180, 60, 190)}}}, []int{100}},
		{"no tree: the window, as long as it is there", Redaction{Typed: true}, run.Observed{Windows: blank}, actuator.Type{Text: "swordfish"},
			[]observation{{run.Observed{Windows: blank}, []image.Rectangle{field}}, {run.Observed{Windows: []screen.Window{other, editor}}, []image.Rectangle{field}}}, []int{0, 0}},
		{"frame only: the window", Redaction{Typed: true}, run.Observed{Windows: blank, Targets: tree("text", "", "")[:1]}, actuator.Type{Text: "swordfish"},
			[]observation{{run.Observed{Windows: blank, Targets: tree("text", "", "")[:1]}, []image.Rectangle{field}}}, []int{0}},
		{"only a window below it is told: the window", Redaction{Typed: true}, run.Observed{Windows: two(42), Targets: tree("text", "", "")}, actuator.Type{Text: "swordfish"},
			[]observation{{run.Observed{Windows: two(42), Targets: tree("text", "", "")}, []image.Rectangle{image.Rect(60, 140, 200, 150)}}}, []int{0}},
		{"of an unknown process: the window", Redaction{Typed: true}, run.Observed{Windows: two(0), Targets: tree("text", "", "")}, actuator.Type{Text: "swordfish"},
			[]observation{{run.Observed{Windows: two(0), Targets: tree("text", "", "")}, []image.Rectangle{image.Rect(60, 140, 200, 150)}}}, []int{0}},
		{"no window: the frame, from then on", Redaction{Typed: true}, run.Observed{}, actuator.Type{Text: "swordfish"},
			[]observation{{run.Observed{}, []image.Rectangle{field}}, {run.Observed{Windows: blank}, []image.Rectangle{{Max: image.Pt(9, 9)}}}}, []int{0, 0}},
		{"only a password", Redaction{Passwords: true}, run.Observed{Windows: blank, Targets: tree("password text", "", "")}, actuator.Type{Text: "swordfish"},
			[]observation{{run.Observed{Windows: blank, Targets: tree("password text", "", "")}, []image.Rectangle{field}}}, []int{0}},
		{"no password, not typed", Redaction{Passwords: true}, run.Observed{Windows: blank, Targets: tree("text", "", "")}, actuator.Type{Text: "swordfish"},
			[]observation{{run.Observed{Windows: blank, Targets: tree("text", "", "swordfish")}, []image.Rectangle{{Max: image.Pt(9, 9)}}}}, []int{81}},
		{"a region", Redaction{Regions: []Region{{Box: image.Rect(0, 0, 9, 9)}}}, run.Observed{Windows: blank}, actuator.Copy{},
			[]observation{{run.Observed{Windows: blank}, []image.Rectangle{{Max: image.Pt(10, 9)}}}}, []int{9}},
		{"a window by its title", Redaction{Regions: []Region{{Title: "bank"}}}, run.Observed{Windows: blank}, actuator.Copy{},
			[]observation{{run.Observed{Windows: []screen.Window{other}}, []image.Rectangle{other.Box}}, {run.Observed{Windows: blank}, []image.Rectangle{{Max: image.Pt(3, 3)}}}}, []int{0, 9}},
		{"a title", Redaction{Secrets: []string{"BANK"}}, run.Observed{Windows: blank}, actuator.Copy{},
			[]observation{{run.Observed{Windows: []screen.Window{other}}, []image.Rectangle{image.Rect(0, 130, 100, 150)}}}, []int{0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newTale(t)
			w.start("x")
			w.look("f0001", tt.before)
			w.step = 1
			w.act("f0001", "swordfish", tt.typed)
			for i, s := range tt.after {
				w.look(fmt.Sprintf("f%04d", i+2), s.o, s.text...)
				w.step++
			}
			out := masked(t, w.end(""), tt.red)
			for i, want := range tt.left {
				got, _ := textOn(t, out, fmt.Sprintf("f%04d", i+2))
				assert.Equal(t, want, got, "frame %d", i+2)
			}
		})
	}
}

func TestRedactedFailsClosed(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		want   string
	}{
		{"a frame that is no picture", func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "frames", "f0002.png"), []byte("no"), 0o600))
		}, "f0002"},
		{"a frame that is missing", func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "frames", "f0002.png")))
		}, "f0002"},
		{"an image sent that is no picture", func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "frames", "f0002.sent.png"), []byte("no"), 0o600))
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "frames", "f0002.sent.jpg")))
		}, "frames/f0002.sent.jpg"},
		{"a frame of another size", func(t *testing.T, dir string) {
			data, err := os.ReadFile(filepath.Join(demo, "frames", "f0001.png"))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "frames", "f0002.png"), data, 0o600))
		}, "f0002"}, // its size or its hash, whichever the journal tells first
		{"a line that is no event", func(t *testing.T, dir string) {
			f, err := os.OpenFile(filepath.Join(dir, "events.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.WriteString("{}\n")
			require.NoError(t, errors.Join(err, f.Close()))
		}, "line"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stored := everywhere(t, "swordfish")
			tt.damage(t, stored.Dir)
			stored, err := replay.Open(stored.Dir)
			require.NoError(t, err)
			dir := t.TempDir()
			_, err = Redacted(t.Context(), dir, stored, Redaction{Typed: true})
			require.ErrorContains(t, err, tt.want)
			list, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Empty(t, list)
		})
	}
}

func TestRedactionThatMasksNothingIsRefused(t *testing.T) {
	stored := everywhere(t, "swordfish")
	for _, red := range []Redaction{
		{Secrets: []string{""}}, {Secrets: []string{" \n"}}, {Patterns: []*regexp.Regexp{regexp.MustCompile("a*")}}, {Patterns: []*regexp.Regexp{nil}}, {Regions: []Region{{}}},
	} {
		_, err := Redacted(t.Context(), t.TempDir(), stored, red)
		assert.ErrorContains(t, err, "redaction:")
	}
}

// The demonstration, masked, is a run like any other.
func TestRedactedDemo(t *testing.T) {
	stored, err := replay.Open(demo)
	require.NoError(t, err)
	out := masked(t, stored, Redaction{Typed: true})
	assert.Equal(t, replay.Ended, out.Info.State)
	assert.Equal(t, stored.Info.Events, out.Info.Events)
	assert.Equal(t, stored.Info.Frames, out.Info.Frames)
	assert.Equal(t, stored.Info.Ended.Usage, out.Info.Ended.Usage)
	assert.NotEqual(t, stored.Info.ID, out.Info.ID)
	assert.NotEqual(t, stored.Info.Head, out.Info.Head)
	for _, word := range []string{"milk", "bread", "apples", "cheese", "shopping"} {
		assert.NotEmpty(t, leaks(t, stored.Dir, word))
		if word != "shopping" { // shopping.txt was typed, not this word
			assert.Empty(t, leaks(t, out.Dir, word), word)
		}
	}
	assert.Empty(t, leaks(t, out.Dir, "shopping.txt"))
	// The editor's text is black, its menu is not.
	img, err := out.Frame("f0002")
	require.NoError(t, err)
	r, g, b, _ := img.At(640, 400).RGBA()
	assert.Zero(t, r+g+b)
	r, _, _, _ = img.At(339, 259).RGBA()
	assert.NotZero(t, r)
	// A shortcut is no text.
	text, err := os.ReadFile(filepath.Join(out.Dir, "events.jsonl"))
	require.NoError(t, err)
	assert.Contains(t, string(text), `"keys":["ctrl","s"]`)
}

// What the pointer hides stays where nothing is black, as pixels only.
func TestCovered(t *testing.T) {
	var buf bytes.Buffer
	require.NoError(t, png.Encode(&buf, image.NewGray(image.Rect(0, 0, 8, 8))))
	c := &run.Covered{At: image.Pt(10, 10), PNG: append(buf.Bytes(), "swordfish"...)}
	require.NotNil(t, uncovered(c, []image.Rectangle{image.Rect(18, 18, 30, 30)}))
	assert.NotContains(t, string(uncovered(c, nil).PNG), "swordfish")
	assert.Nil(t, uncovered(c, []image.Rectangle{image.Rect(17, 17, 30, 30)}))
	assert.Nil(t, uncovered(&run.Covered{PNG: []byte("swordfish")}, nil))
	assert.Nil(t, uncovered(nil, nil))
}

// Keys of characters, one by one, are a text too.
func TestPressedCharacters(t *testing.T) {
	w := newTale(t)
	w.start("x")
	w.look("f0001", run.Observed{Windows: []screen.Window{editor}, Targets: tree("text", "", "")})
	w.step = 1
	key := func(k ...actuator.Key) actuator.Action { return actuator.Press{Keys: k, Count: 1} }
	w.act("f0001", "pyautogui.press(list('xyzzy'))", key("x"), key("y"), key("shift", "z"), key("z"), key("y"), key("enter"))
	w.look("f0002", run.Observed{Windows: []screen.Window{editor}, Targets: tree("text", "", "xyzzy")}, field)
	out := masked(t, w.end("typed xyzzy, I press X and so on"), Redaction{Typed: true})
	assert.Empty(t, leaks(t, out.Dir, "xyzzy"))
	assert.NotContains(t, strings.ToLower(out.Info.Ended.Answer), "press x")
	text, err := os.ReadFile(filepath.Join(out.Dir, "events.jsonl"))
	require.NoError(t, err)
	assert.NotContains(t, string(text), `"keys":["x"]`)
	assert.Contains(t, string(text), `"keys":["enter"]`)
}

// A click through a tooltip is for the window below it: a text typed after it is
// looked for there. The tooltip was once taken for its target.
func TestRedactBelowTooltip(t *testing.T) {
	p := painter{masker: newMasker(Redaction{Typed: true}), marked: map[uint32]*window{}}
	p.last = replay.Recall(&run.Observed{Frame: image.Pt(800, 600), Windows: []screen.Window{
		{ID: 1, Title: "Sign in", Box: image.Rect(0, 0, 400, 300)},
		{ID: 2, Type: "tooltip", Popup: true, Box: image.Rect(90, 90, 200, 120)},
		{ID: 3, Type: "notification", Popup: true, Box: image.Rect(500, 0, 800, 100)},
	}})
	p.acts(run.Acting{Device: []image.Point{{100, 100}, {600, 50}, {700, 500}}})
	assert.Equal(t, []uint32{1, 3}, p.aimed)
}

// What was read from the picture where a masked text was typed may be that text,
// read wrong: it is masked in the tree and in what models were told.
func TestMisread(t *testing.T) {
	terminal := screen.Window{ID: 8, Title: "xterm", Class: "XTerm", PID: 43, Box: image.Rect(40, 60, 280, 220), Focused: true}
	lines := func(text string) []atspi.Node {
		return []atspi.Node{
			{ID: "n1", PID: 43, Parent: -1, Role: "window", Name: "xterm", Box: terminal.Box, Read: true},
			{ID: "n2", PID: 43, Parent: 0, Role: screen.RoleTextLine, Text: text, Box: image.Rect(50, 90, 150, 104), Read: true},
		}
	}
	w := newTale(t)
	w.start("log in")
	w.look("f0001", run.Observed{Windows: []screen.Window{terminal}, Targets: lines("login now")})
	w.step = 1
	w.act("f0001", "the password", actuator.Type{Text: "swordfish"})
	w.look("f0002", run.Observed{Windows: []screen.Window{terminal}, Targets: lines("sw0rdfsh")}, field)
	w.step = 2
	told := `n2 text line = "sw0rdfsh" (read from the picture) @100,97`
	w.put(run.ModelCalled{Role: llm.Actor, Purpose: "propose", Model: "m", Messages: []run.Message{{From: llm.User, Text: told}},
		Response: &llm.Response{Text: "It shows sw0rdfsh.", Finish: "stop"}})
	w.look("f0003", run.Observed{Windows: []screen.Window{terminal}, Targets: lines("hi")}, field)
	w.put(run.ModelCalled{Role: llm.Actor, Purpose: "propose", Model: "m", Messages: []run.Message{{From: llm.User,
		Text: `n2 text line = "hi" (read from the picture) @100,97`}}, Response: &llm.Response{Text: "I say hi.", Finish: "stop"}})
	stored := w.end("done")
	require.NotEmpty(t, leaks(t, stored.Dir, "sw0rdfsh"), "else the test tests nothing")
	out := masked(t, stored, Redaction{Typed: true})
	assert.Empty(t, leaks(t, out.Dir, "sw0rdfsh"))
	short := `hi\" (read from`
	require.NotEmpty(t, leaks(t, stored.Dir, short), "else the test tests nothing")
	assert.Empty(t, leaks(t, out.Dir, short), "a short word is masked in the list")
	assert.NotEmpty(t, leaks(t, out.Dir, "say hi"), "and stays elsewhere")
	assert.NotEmpty(t, leaks(t, out.Dir, "login now"), "nothing was typed yet")
	whole, _ := textOn(t, out, "f0002")
	assert.Zero(t, whole, "a line that was read does not tell where the text went: the window is black")
}
