package actuator_test

import (
	"image"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/eventwin"
	"desktop-agent/internal/x11"
	"desktop-agent/sandbox"
)

// An editor is mousepad with one file open, beside a window that can have the
// focus instead.
type editor struct {
	device *actuator.Device
	other  *eventwin.Window
	text   actuator.Point // inside the text area
	aside  actuator.Point // inside the other window
	file   string
	screen frame
	box    image.Rectangle // of its window
}

// edit opens an editor on a desktop of its own.
func edit(t testing.TB) *editor {
	t.Helper()
	e := &editor{screen: screen(1280, 800), file: filepath.Join(t.TempDir(), "text.txt")}
	require.NoError(t, os.WriteFile(e.file, nil, 0o600))
	d, dev := desktop(t, &sandbox.Options{Size: image.Pt(1280, 800)})
	e.device = dev
	_, err := d.Open(limit(t), "mousepad", e.file)
	require.NoError(t, err)
	conn, err := x11.Dial(d.Display())
	require.NoError(t, err)
	defer conn.Close()
	clients, err := conn.Clients()
	require.NoError(t, err)
	require.Len(t, clients, 1)
	box, err := conn.Box(clients[0])
	require.NoError(t, err)
	e.box = box
	e.text = actuator.Point{X: box.Min.X + box.Dx()/2, Y: box.Min.Y + box.Dy()*3/4}
	free := image.Rect(20, 20, 120, 120) // in the corner, clear of a centred window
	require.False(t, free.Overlaps(box), "%v covers %v", box, free)
	e.other = window(t, d, free)
	e.aside = actuator.Point{X: 60, Y: 60}
	return e
}

func (e *editor) do(t testing.TB, actions ...actuator.Action) {
	t.Helper()
	for _, a := range actions {
		require.NoError(t, do(t, e.device, a, e.screen), actuator.Describe(a))
	}
}

func click(at actuator.Point) actuator.Action {
	return actuator.Click{At: &at, Button: actuator.Left, Count: 1}
}

func press(keys ...actuator.Key) actuator.Action { return actuator.Press{Keys: keys, Count: 1} }

// saved presses ctrl+s and returns what the file has after it was written. The
// editor replaces the file as a whole.
func (e *editor) saved(t testing.TB) string {
	t.Helper()
	before, err := os.Stat(e.file)
	require.NoError(t, err)
	e.do(t, press("ctrl", "s"))
	require.Eventually(t, func() bool {
		now, err := os.Stat(e.file)
		return err == nil && !os.SameFile(before, now)
	}, time.Minute, 2*time.Millisecond, "the editor does not save")
	content, err := os.ReadFile(e.file)
	require.NoError(t, err)
	return string(content)
}

// mixed returns n characters of many scripts, with the ones that programs get
// wrong, different for each seed.
func mixed(n int, seed uint64) string {
	scripts := [][]rune{
		[]rune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
		[]rune("привет мир съешь ещё этих мягких ЖФЩЪЫ"),
		[]rune("漢字仮名交じり文中文输入法한국어テスト"),
		[]rune("😀🎉🚀👍🏽🧪"),
		[]rune(`<>&\"'` + "`" + `“”‘’«»„–—…`),
		[]rune("äöüßéèêñçøåÄÖÜ€£¥§ąęłż"),
		[]rune("αβγδΩ שלום مرحبا नमस्ते"),
		[]rune("!@#$%^&*()_+-=[]{}|;:,./?~"),
		[]rune(" \t\n  "),
	}
	random := rand.New(rand.NewPCG(seed, 1))
	text := make([]rune, n)
	for i := range text {
		script := scripts[random.IntN(len(scripts))]
		text[i] = script[random.IntN(len(script))]
	}
	return string(text)
}

// typeOver types text in place of what the editor has, right after the click
// that gives it the focus, and returns what it saves.
func (e *editor) typeOver(t testing.TB, text string) (got string, took time.Duration) {
	t.Helper()
	e.do(t, click(e.text), press("ctrl", "a"), press("delete"), click(e.aside), click(e.text))
	start := time.Now()
	e.do(t, actuator.Type{Text: actuator.Secret(text)})
	took = time.Since(start)
	return e.saved(t), took
}

func TestTypeMixedScripts(t *testing.T) {
	e := edit(t)
	for round := range 3 {
		text := mixed(200, uint64(round))
		got, _ := e.typeOver(t, text)
		assert.Equal(t, text, got)
	}
	assert.Empty(t, eventwin.Text(e.other.Events()), "keys reached the window that had the focus before")
}

func TestTypeOddTexts(t *testing.T) {
	e := edit(t)
	for name, text := range map[string]string{
		"every ASCII character": func() string {
			var s strings.Builder
			for r := ' '; r <= '~'; r++ {
				s.WriteRune(r)
			}
			return s.String()
		}(),
		"line breaks":       "one\ntwo\n\nthree\t3\n",
		"emoji":             "👩‍👩‍👧‍👦 🇩🇪 e\u0301 \U0001F9D1\u200D\U0001F680",
		"same again":        "ЖЖЖЖ漢漢漢aaaa    😀😀",
		"more than spares":  "абвгдежзийклмнопрстуфхцчшщъыьэюяАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэюя",
		"one character":     "x",
		"one other":         "€",
		"Latin-1":           "àáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ¡¢£¤¥¦§¨©ª«¬®¯°±²³´µ¶·¸¹º»¼½¾¿×",
		"long lines, ASCII": strings.Repeat("The quick brown fox jumps over the lazy dog; ", 20),
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := e.typeOver(t, text)
			assert.Equal(t, text, got)
		})
	}
	t.Run("carriage returns", func(t *testing.T) {
		e.do(t, click(e.text), press("ctrl", "a"), actuator.Type{Text: "a\r\nb\rc"})
		assert.Equal(t, "a\nb\nc", e.saved(t))
	})
}

// TestTypeLeavesTheMap checks that a device gives back the keys it borrows.
func TestTypeLeavesTheMap(t *testing.T) {
	d, dev := desktop(t, nil)
	w := window(t, d, image.Rect(100, 100, 300, 300))
	before := keyboardMap(t, d)
	text := mixed(100, 7)
	require.NoError(t, do(t, dev, actuator.Type{Text: actuator.Secret(text)}, nil))
	_, err := w.WaitFor(limit(t), func(e []eventwin.Event) bool { return eventwin.Text(e) == text })
	require.NoError(t, err)
	require.NoError(t, dev.Close())
	assert.Equal(t, before, keyboardMap(t, d))
}

func BenchmarkTypeMixed(b *testing.B) {
	e := edit(b)
	exact, total, chars, took := 0, 0, 0, time.Duration(0)
	for b.Loop() {
		text := mixed(200, uint64(total)+100)
		got, t := e.typeOver(b, text)
		took += t
		chars += 200
		if total++; got == text {
			exact++
		}
	}
	b.ReportMetric(float64(exact), "exact")
	b.ReportMetric(float64(total), "total")
	b.ReportMetric(float64(chars)/took.Seconds(), "chars/s")
}

func BenchmarkTypeASCII(b *testing.B) {
	e := edit(b)
	text := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 20)
	exact, total, took := 0, 0, time.Duration(0)
	for b.Loop() {
		got, t := e.typeOver(b, text)
		took += t
		if total++; got == text {
			exact++
		}
	}
	b.ReportMetric(float64(exact), "exact")
	b.ReportMetric(float64(total), "total")
	b.ReportMetric(float64(len(text)*total)/took.Seconds(), "chars/s")
}

// TestMouseSelects checks that a toolkit takes clicks and drags for what they
// are. All lines are alike, so that it does not matter which ones are hit.
func TestMouseSelects(t *testing.T) {
	e := edit(t)
	const line, lines = "one two three\n", 21 // so few that the text does not scroll
	e.do(t, click(e.text), actuator.Type{Text: actuator.Secret(strings.Repeat(line, lines))})
	e.saved(t) // it has taken all keys
	word := actuator.Point{X: e.box.Min.X + 12, Y: e.text.Y}
	begin := actuator.Point{X: e.box.Min.X + 2, Y: e.text.Y}
	end := actuator.Point{X: e.box.Max.X - 30, Y: e.text.Y}
	above := actuator.Point{X: end.X, Y: e.text.Y - 100}
	copied := func() string {
		output, err := e.device.Do(limit(t), actuator.Copy{}, nil)
		require.NoError(t, err)
		return strings.TrimSuffix(output, "\n")
	}
	e.do(t, actuator.Click{At: &word, Button: actuator.Left, Count: 2})
	assert.Equal(t, "one", copied())
	e.do(t, press("right"), actuator.Click{At: &word, Button: actuator.Left, Count: 3})
	assert.Equal(t, "one two three", copied())
	e.do(t, press("right"), actuator.Drag{Path: []actuator.Point{begin, end}, Button: actuator.Left})
	assert.Equal(t, "one two three", copied())
	e.do(t, press("left"), click(begin), actuator.Click{At: &end, Button: actuator.Left, Count: 1, Modifiers: []actuator.Key{"shift"}})
	assert.Equal(t, "one two three", copied())
	// Drag and drop: the selected word goes to the end of another line.
	e.do(t, press("left"), actuator.Click{At: &word, Button: actuator.Left, Count: 2},
		actuator.Drag{Path: []actuator.Point{word, above}, Button: actuator.Left})
	got := strings.SplitAfter(e.saved(t), "\n")
	slices.Sort(got)
	want := append(slices.Repeat([]string{line}, lines-2), "", " two three\n", "one two threeone\n")
	slices.Sort(want)
	assert.Equal(t, want, got)
}

// TestTypeIntoDialog types right after the shortcut that opens a dialog.
func TestTypeIntoDialog(t *testing.T) {
	e := edit(t)
	name := filepath.Join(filepath.Dir(e.file), "файл 2.txt")
	e.do(t, click(e.text), actuator.Type{Text: "some text"}, press("ctrl", "shift", "s"),
		press("ctrl", "a"), actuator.Type{Text: actuator.Secret(name)}, press("enter"))
	require.Eventually(t, func() bool {
		got, err := os.ReadFile(name)
		return err == nil && string(got) == "some text"
	}, time.Minute, 2*time.Millisecond, "not saved under the name typed")
}
