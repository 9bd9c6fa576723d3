package actuator_test

import (
	"context"
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/actuatortest"
	"desktop-agent/actuator/eventwin"
	"desktop-agent/internal/permit"
	"desktop-agent/internal/x11"
	"desktop-agent/sandbox"
)

// desktop starts a private desktop and opens a device on it.
func desktop(t testing.TB, o *sandbox.Options) (*sandbox.Desktop, *actuator.Device) {
	t.Helper()
	if o == nil {
		o = &sandbox.Options{Size: image.Pt(1280, 800)}
	}
	d, err := sandbox.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	return d, device(t, d)
}

func device(t testing.TB, d *sandbox.Desktop) *actuator.Device {
	t.Helper()
	dev, err := actuator.Open(t.Context(), permit.Grant(), &actuator.Options{Display: d.Display()})
	require.NoError(t, err)
	t.Cleanup(func() { dev.Close() })
	return dev
}

func window(t testing.TB, d *sandbox.Desktop, box image.Rectangle) *eventwin.Window {
	t.Helper()
	w, err := eventwin.Open(limit(t), d.Display(), box)
	require.NoError(t, err)
	t.Cleanup(func() { w.Close() })
	return w
}

// limit is far longer than anything takes: it makes a hang an error.
func limit(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// A frame shows a part of the desktop, made smaller by scale.
type frame struct {
	source image.Rectangle
	scale  float64
}

func (f frame) Bounds() image.Rectangle {
	return image.Rect(0, 0, int(float64(f.source.Dx())/f.scale), int(float64(f.source.Dy())/f.scale))
}

func (f frame) ToDevice(p image.Point) image.Point {
	return f.source.Min.Add(image.Pt(int((float64(p.X)+0.5)*f.scale), int((float64(p.Y)+0.5)*f.scale)))
}

// screen is the frame of a whole desktop of one monitor.
func screen(w, h int) frame { return frame{image.Rect(0, 0, w, h), 1} }

// trace writes events as lines, without motion on the way to somewhere. Modifiers
// and buttons that are held follow in brackets.
func trace(events []eventwin.Event) []string {
	var lines []string
	for i, e := range events {
		var held []string
		for bit, name := range []string{"shift", "lock", "ctrl", "alt", "", "", "win", "", "1", "2", "3", "4", "5"} {
			if name != "" && e.State&(1<<bit) != 0 {
				held = append(held, name)
			}
		}
		var line string
		switch e.Kind {
		case eventwin.Motion:
			if i+1 < len(events) && events[i+1].Kind == eventwin.Motion {
				continue
			}
			line = fmt.Sprintf("motion %d,%d", e.At.X, e.At.Y)
		case eventwin.ButtonPress, eventwin.ButtonRelease:
			line = fmt.Sprintf("%s %d at %d,%d", e.Kind, e.Button, e.At.X, e.At.Y)
		case eventwin.KeyPress, eventwin.KeyRelease:
			line = fmt.Sprintf("%s %s", e.Kind, keyName(e))
		default:
			continue
		}
		if len(held) > 0 {
			line += fmt.Sprint(" ", held)
		}
		lines = append(lines, line)
	}
	return lines
}

func keyName(e eventwin.Event) string {
	if e.Rune > ' ' {
		return string(e.Rune)
	}
	return fmt.Sprintf("%x", e.Keysym)
}

// done waits until the window has got everything that was sent, and returns that: a
// motion to its corner comes last. The corner may be where the motion of an earlier
// call ended, so only one that arrives after the call began counts.
func done(t testing.TB, dev *actuator.Device, w *eventwin.Window) []eventwin.Event {
	t.Helper()
	corner := w.Box().Max.Sub(image.Pt(1, 1))
	full := frame{image.Rect(0, 0, 32000, 32000), 1}
	before := len(w.Events())
	require.NoError(t, do(t, dev, actuator.Move{At: actuator.Point{X: corner.X - 1, Y: corner.Y}}, full))
	require.NoError(t, do(t, dev, actuator.Move{At: actuator.Point{X: corner.X, Y: corner.Y}}, full))
	events, err := w.WaitFor(limit(t), func(events []eventwin.Event) bool {
		return len(events) > before && events[len(events)-1].At == corner
	})
	require.NoError(t, err)
	first := before + slices.IndexFunc(events[before:], func(e eventwin.Event) bool { return e.At == corner.Sub(image.Pt(1, 0)) })
	return events[:first]
}

func do(t testing.TB, dev *actuator.Device, a actuator.Action, f actuator.Frame) error {
	t.Helper()
	output, err := dev.Do(limit(t), a, f)
	assert.Empty(t, output)
	return err
}

// TestActions performs every type of action at several scales, on two monitors,
// and compares the input that a window gets.
func TestActions(t *testing.T) {
	size := image.Pt(960, 600)
	d, dev := desktop(t, &sandbox.Options{Size: size, Monitors: 2})
	for monitor := range 2 {
		source := image.Rectangle{Max: size}.Add(image.Pt(monitor*size.X, 0))
		w := window(t, d, source.Inset(60))
		for _, scale := range []float64{1, 1.5, 2} {
			f := frame{source, scale}
			for _, tt := range actionTests(f) {
				t.Run(fmt.Sprintf("monitor %d/scale %g/%s", monitor, scale, tt.name), func(t *testing.T) {
					require.NoError(t, do(t, dev, actuator.Move{At: tt.from}, f))
					done(t, dev, w)
					require.NoError(t, do(t, dev, actuator.Move{At: tt.from}, f))
					_, err := w.WaitFor(limit(t), func(e []eventwin.Event) bool {
						return len(e) > 0 && e[len(e)-1].At == f.ToDevice(image.Pt(tt.from.X, tt.from.Y))
					})
					require.NoError(t, err)
					w.Clear()
					answered := answer(t, d, w)
					for _, a := range tt.actions {
						_, err := dev.Do(limit(t), a, f)
						require.NoError(t, err, actuator.Describe(a))
					}
					answered()
					got := trace(done(t, dev, w))
					assert.Equal(t, strings.Join(tt.want, "\n"), strings.Join(got, "\n"))
				})
			}
		}
		require.NoError(t, w.Close())
	}
}

// TestSamples holds that [TestActions] performs each type of action that a device does.
func TestSamples(t *testing.T) {
	for _, v := range actuator.Variants() {
		t.Run(v.Name, func(t *testing.T) {
			fields, err := actuatortest.Fill(v.Schema)
			require.NoError(t, err)
			a, err := actuator.Decode(v.Name, fields)
			require.NoError(t, err)
			seen := v.Name == "set" || v.Name == "wait_until" || v.Name == "call_tool" // done by package run, which sees the screen and has the tools, and tested there
			performed := slices.ContainsFunc(actionTests(frame{image.Rect(0, 0, 960, 600), 1}), func(tt actionTest) bool {
				return slices.ContainsFunc(tt.actions, func(a actuator.Action) bool { return actuator.Name(a) == v.Name })
			})
			if performed == (actuator.ForAgent(a) || seen) {
				t.Errorf("the input that a window gets does not know %s: add it to actionTests", v.Name)
			}
		})
	}
}

// answer is the program of a window: it copies on ctrl+c and pastes on ctrl+v.
// What it returns ends it.
func answer(t testing.TB, d *sandbox.Desktop, w *eventwin.Window) (end func()) {
	ctx, cancel := context.WithCancel(limit(t))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var pressed eventwin.Event
		_, err := w.WaitFor(ctx, func(events []eventwin.Event) bool {
			i := slices.IndexFunc(events, func(e eventwin.Event) bool {
				return e.Kind == eventwin.KeyPress && e.State == xproto.ModMaskControl && (e.Rune == 'c' || e.Rune == 'v')
			})
			if i >= 0 {
				pressed = events[i]
			}
			return i >= 0
		})
		switch {
		case err != nil: // nobody presses them
		case pressed.Rune == 'c':
			xclip(t, d, "copied", "-i")
		default:
			assert.Equal(t, "to paste", xclip(t, d, "", "-o"))
		}
	}()
	return func() { cancel(); <-ended }
}

// An actionTest is a list of actions, and what the window shall get.
type actionTest struct {
	name    string
	from    actuator.Point // where the pointer is before
	actions []actuator.Action
	want    []string
}

func actionTests(f frame) []actionTest {
	at := actuator.Point{X: f.Bounds().Dx() / 2, Y: f.Bounds().Dy() / 2}
	to := actuator.Point{X: at.X + 60, Y: at.Y + 30}
	far := actuator.Point{X: at.X + 90, Y: at.Y - 20}
	from := actuator.Point{X: at.X - 50, Y: at.Y - 40}
	px := func(p actuator.Point) string {
		device := f.ToDevice(image.Pt(p.X, p.Y))
		return fmt.Sprintf("%d,%d", device.X, device.Y)
	}
	press := func(b int, p actuator.Point, held string) []string {
		release := strings.TrimPrefix(held+" "+fmt.Sprint(b), " ")
		if b > 3 { // the state has no bits for the wheel, but for 4 and 5
			release = held
			if b < 6 {
				release = strings.TrimPrefix(held+" "+fmt.Sprint(b), " ")
			}
		}
		line := fmt.Sprintf("button press %d at %s", b, px(p))
		if held != "" {
			line += " [" + held + "]"
		}
		up := fmt.Sprintf("button release %d at %s", b, px(p))
		if release != "" {
			up += " [" + release + "]"
		}
		return []string{line, up}
	}
	join := slices.Concat[[]string]
	motion := func(p actuator.Point, held string) []string {
		line := "motion " + px(p)
		if held != "" {
			line += " [" + held + "]"
		}
		return []string{line}
	}
	type list = []actuator.Action
	const ctrl, shift = "ffe3", "ffe1"
	return []actionTest{
		{"move", from, list{actuator.Move{At: at}}, motion(at, "")},
		{"click", from, list{actuator.Click{At: &at, Button: actuator.Left, Count: 1}}, join(motion(at, ""), press(1, at, ""))},
		{"click where it is", from, list{actuator.Click{Button: actuator.Middle, Count: 1}}, press(2, from, "")},
		{"double click", from, list{actuator.Click{At: &at, Button: actuator.Right, Count: 2}},
			join(motion(at, ""), press(3, at, ""), press(3, at, ""))},
		{"triple click", from, list{actuator.Click{At: &at, Button: actuator.Left, Count: 3}},
			join(motion(at, ""), press(1, at, ""), press(1, at, ""), press(1, at, ""))},
		{"click with modifiers", from, list{actuator.Click{At: &at, Button: actuator.Left, Count: 1, Modifiers: []actuator.Key{"ctrl", "shift"}}},
			join(motion(at, ""), []string{"key press " + ctrl, "key press " + shift + " [ctrl]"}, press(1, at, "shift ctrl"),
				[]string{"key release " + shift + " [shift ctrl]", "key release " + ctrl + " [ctrl]"})},
		{"button down and up", from, list{actuator.ButtonDown{At: &at, Button: actuator.Left}, actuator.Move{At: to}, actuator.ButtonUp{Button: actuator.Left}},
			join(motion(at, ""), press(1, at, "")[:1], motion(to, "1"), press(1, to, "")[1:])},
		{"drag", from, list{actuator.Drag{Path: []actuator.Point{at, to, far}, Button: actuator.Left}},
			join(motion(at, ""), press(1, at, "")[:1], motion(far, "1"), press(1, far, "")[1:])},
		{"drag from where it is", from, list{actuator.Drag{Path: []actuator.Point{to}, Button: actuator.Right, Modifiers: []actuator.Key{"shift"}}},
			join([]string{"key press " + shift}, press(3, from, "shift")[:1], motion(to, "shift 3"), press(3, to, "shift")[1:],
				[]string{"key release " + shift + " [shift]"})},
		{"scroll down", from, list{actuator.Scroll{At: &at, DY: 2}}, join(motion(at, ""), press(5, at, ""), press(5, at, ""))},
		{"scroll up", from, list{actuator.Scroll{DY: -1}}, press(4, from, "")},
		{"scroll right and left", from, list{actuator.Scroll{DX: 1, Modifiers: []actuator.Key{"ctrl"}}, actuator.Scroll{DX: -1}},
			join([]string{"key press " + ctrl}, press(7, from, "ctrl"), []string{"key release " + ctrl + " [ctrl]"}, press(6, from, ""))},
		{"type", from, list{actuator.Type{Text: "aB\n"}}, []string{"key press a", "key release a", "key press " + shift, "key press B [shift]",
			"key release B [shift]", "key release " + shift + " [shift]", "key press ff0d", "key release ff0d"}},
		{"press twice", from, list{actuator.Press{Keys: []actuator.Key{"f5"}, Count: 2}},
			[]string{"key press ffc2", "key release ffc2", "key press ffc2", "key release ffc2"}},
		{"shortcut", from, list{actuator.Press{Keys: []actuator.Key{"ctrl", "shift", "s"}, Count: 1}}, []string{
			"key press " + ctrl, "key press " + shift + " [ctrl]", "key press S [shift ctrl]",
			"key release S [shift ctrl]", "key release " + shift + " [shift ctrl]", "key release " + ctrl + " [ctrl]"}},
		{"key on the second level", from, list{actuator.Press{Keys: []actuator.Key{"ctrl", "+"}, Count: 1}}, []string{
			"key press " + ctrl, "key press " + shift + " [ctrl]", "key press + [shift ctrl]",
			"key release + [shift ctrl]", "key release " + shift + " [shift ctrl]", "key release " + ctrl + " [ctrl]"}},
		{"key down and up", from, list{actuator.KeyDown{Key: "ctrl"}, actuator.Press{Keys: []actuator.Key{"ctrl", "a"}, Count: 1}, actuator.KeyUp{Key: "ctrl"}},
			[]string{"key press " + ctrl, "key press a [ctrl]", "key release a [ctrl]", "key release " + ctrl + " [ctrl]"}},
		{"hold", from, list{actuator.Hold{Keys: []actuator.Key{"alt", "x"}, Milliseconds: 30}},
			[]string{"key press ffe9", "key press x [alt]", "key release x [alt]", "key release ffe9 [alt]"}},
		{"copy", from, list{actuator.Copy{}}, []string{
			"key press " + ctrl, "key press c [ctrl]", "key release c [ctrl]", "key release " + ctrl + " [ctrl]"}},
		{"paste", from, list{actuator.SetClipboard{Text: "to paste"}, actuator.Paste{}}, []string{
			"key press " + ctrl, "key press v [ctrl]", "key release v [ctrl]", "key release " + ctrl + " [ctrl]"}},
		{"wait", from, list{actuator.Wait{Milliseconds: 1}}, nil},
	}
}

// keyboardMap returns the keysyms of every key.
func keyboardMap(t testing.TB, d *sandbox.Desktop) []xproto.Keysym {
	conn, err := x11.Dial(d.Display())
	require.NoError(t, err)
	defer conn.Close()
	setup := xproto.Setup(conn.Conn)
	m, err := xproto.GetKeyboardMapping(conn.Conn, setup.MinKeycode, byte(setup.MaxKeycode-setup.MinKeycode)+1).Reply()
	require.NoError(t, err)
	return m.Keysyms
}
