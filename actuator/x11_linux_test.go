package actuator_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jezek/xgb/res"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"desktop-agent/actuator"
	"desktop-agent/actuator/eventwin"
	"desktop-agent/internal/permit"
	"desktop-agent/internal/x11"
	"desktop-agent/sandbox"
)

// someone is another client of the display: a person's hands, or a program
// that was killed.
func someone(t testing.TB, d *sandbox.Desktop) *x11.Conn {
	t.Helper()
	conn, err := x11.Dial(d.Display())
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	require.NoError(t, conn.Extension("XTEST"))
	return conn
}

func send(t testing.TB, conn *x11.Conn, event byte, details ...byte) {
	t.Helper()
	for _, detail := range details {
		require.NoError(t, xtest.FakeInputChecked(conn.Conn, event, detail, 0, conn.Root, 0, 0, 0).Check())
	}
}

// Keycodes of the usual keyboard map.
const (
	codeA     = 38
	codeCaps  = 66
	codeShift = 50
	codeCtrl  = 37
)

// state returns the modifiers and buttons that are down.
func state(t testing.TB, conn *x11.Conn) uint16 {
	t.Helper()
	p, err := xproto.QueryPointer(conn.Conn, conn.Root).Reply()
	require.NoError(t, err)
	return p.Mask
}

func keysDown(t testing.TB, conn *x11.Conn) []byte {
	t.Helper()
	k, err := xproto.QueryKeymap(conn.Conn).Reply()
	require.NoError(t, err)
	return k.Keys
}

var nothing = make([]byte, 32)

// longWay is a drag that takes ten seconds: whoever shall interrupt it has the time.
var longWay = slices.Repeat([]actuator.Point{{X: 150, Y: 150}, {X: 800, Y: 600}, {X: 200, Y: 600}, {X: 800, Y: 150}}, 12)

// TestCancelInDrag is Ctrl-C in the middle of a drag with a modifier held.
func TestCancelInDrag(t *testing.T) {
	d, dev := desktop(t, nil)
	w := window(t, d, image.Rect(100, 100, 900, 700))
	conn := someone(t, d)
	ctx, cancel := context.WithCancel(limit(t))
	go func() {
		w.WaitFor(ctx, func(events []eventwin.Event) bool { // some motion with the button down
			n := 0
			for _, e := range events {
				if e.Kind == eventwin.Motion && e.State&xproto.ButtonMask1 != 0 {
					n++
				}
			}
			return n >= 3
		})
		cancel()
	}()
	_, err := dev.Do(ctx, actuator.Drag{Path: longWay, Button: actuator.Left, Modifiers: []actuator.Key{"ctrl"}}, screen(1280, 800))
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, actuator.ErrRefused)
	assert.Zero(t, state(t, conn), "buttons and modifiers")
	assert.Equal(t, nothing, keysDown(t, conn))
	got := trace(done(t, dev, w))
	assert.Contains(t, got, "key press ffe3")
	assert.Regexp(t, `^button release 1 at .* \[ctrl 1\]\nkey release ffe3 \[ctrl\]$`, strings.Join(got[len(got)-2:], "\n"))
}

func TestCancelInHold(t *testing.T) {
	d, dev := desktop(t, nil)
	w := window(t, d, image.Rect(100, 100, 400, 400))
	conn := someone(t, d)
	ctx, cancel := context.WithCancel(limit(t))
	go func() {
		w.WaitFor(ctx, func(e []eventwin.Event) bool { return eventwin.Text(e) != "" })
		cancel()
	}()
	_, err := dev.Do(ctx, actuator.Hold{Keys: []actuator.Key{"shift", "a"}, Milliseconds: 60_000}, nil)
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, state(t, conn))
	assert.Equal(t, nothing, keysDown(t, conn))
}

func TestCloseLetsGo(t *testing.T) {
	d, dev := desktop(t, nil)
	window(t, d, image.Rect(100, 100, 400, 400))
	conn := someone(t, d)
	require.NoError(t, do(t, dev, actuator.KeyDown{Key: "shift"}, nil))
	require.NoError(t, do(t, dev, actuator.ButtonDown{Button: actuator.Left}, nil))
	require.NotZero(t, state(t, conn))
	require.NoError(t, dev.Close())
	assert.Zero(t, state(t, conn))
	_, err := dev.Do(limit(t), actuator.Press{Keys: []actuator.Key{"a"}, Count: 1}, nil)
	require.ErrorIs(t, err, actuator.ErrRefused)
}

// TestOpenLetsGoLeftovers has a process that was killed while it held a shift
// key, a letter and a mouse button, and had borrowed keys.
func TestOpenLetsGoLeftovers(t *testing.T) {
	d, dev := desktop(t, nil)
	window(t, d, image.Rect(100, 100, 400, 400))
	before := keyboardMap(t, d)
	conn := someone(t, d)
	require.NoError(t, do(t, dev, actuator.Type{Text: "Ж漢😀"}, nil))
	property, err := conn.Property(conn.Root, "_DESKTOP_AGENT_KEYCODES")
	require.NoError(t, err)
	require.NotEmpty(t, property)
	lent := keyboardMap(t, d)
	require.NotEqual(t, before, lent)
	require.NoError(t, dev.Close())
	// As the device had left it, had it been killed.
	codes, err := conn.Atom("_DESKTOP_AGENT_KEYCODES")
	require.NoError(t, err)
	require.NoError(t, xproto.ChangePropertyChecked(conn.Conn, xproto.PropModeReplace, conn.Root, codes, xproto.AtomCardinal,
		32, uint32(len(property)/4), property).Check())
	width := len(before) / 248
	for code := range 248 {
		if row := lent[code*width : (code+1)*width]; !assert.ObjectsAreEqual(before[code*width:(code+1)*width], row) {
			require.NoError(t, xproto.ChangeKeyboardMappingChecked(conn.Conn, 1, xproto.Keycode(code+8), 2, row[:2]).Check())
		}
	}
	require.Equal(t, lent, keyboardMap(t, d))
	send(t, conn, xproto.KeyPress, codeShift, codeA)
	send(t, conn, xproto.ButtonPress, 1, 3)
	require.NotZero(t, state(t, conn))

	device(t, d)
	assert.Zero(t, state(t, conn))
	assert.Equal(t, nothing, keysDown(t, conn))
	assert.Equal(t, before, keyboardMap(t, d))
	property, err = conn.Property(conn.Root, "_DESKTOP_AGENT_KEYCODES")
	require.NoError(t, err)
	assert.Empty(t, property)
}

// TestRefusedOnX11 checks that a window gets nothing of what is refused.
func TestRefusedOnX11(t *testing.T) {
	d, dev := desktop(t, nil)
	w := window(t, d, image.Rect(0, 0, 1280, 800))
	w.Clear()
	for _, a := range []actuator.Action{
		actuator.Click{At: &actuator.Point{X: 1280, Y: 10}, Button: actuator.Left, Count: 1},
		actuator.Press{Keys: []actuator.Key{"strg"}, Count: 1},
		actuator.Move{At: actuator.Point{X: 700, Y: 500}}, // on a desktop that has become smaller
	} {
		f := screen(1280, 800)
		if _, ok := a.(actuator.Move); ok {
			f.source = f.source.Add(image.Pt(1000, 0))
		}
		_, err := dev.Do(limit(t), a, f)
		require.ErrorIs(t, err, actuator.ErrRefused, actuator.Describe(a))
	}
	assert.Empty(t, trace(done(t, dev, w)))
}

func TestTypeWithCapsLock(t *testing.T) {
	d, dev := desktop(t, nil)
	w := window(t, d, image.Rect(100, 100, 400, 400))
	conn := someone(t, d)
	send(t, conn, xproto.KeyPress, codeCaps)
	send(t, conn, xproto.KeyRelease, codeCaps)
	require.EqualValues(t, xproto.ModMaskLock, state(t, conn))
	const text = "aBc äÖ жЖ 1!"
	require.NoError(t, do(t, dev, actuator.Type{Text: text}, nil))
	events, err := w.WaitFor(limit(t), func(e []eventwin.Event) bool { return len([]rune(eventwin.Text(e))) >= len([]rune(text)) })
	require.NoError(t, err)
	assert.Equal(t, text, eventwin.Text(events))
	assert.EqualValues(t, xproto.ModMaskLock, state(t, conn), "caps lock is on again")
}

func TestTypeWhileSomeoneHoldsCtrl(t *testing.T) {
	d, dev := desktop(t, nil)
	w := window(t, d, image.Rect(100, 100, 400, 400))
	conn := someone(t, d)
	send(t, conn, xproto.KeyPress, codeCtrl)
	_, err := dev.Do(limit(t), actuator.Type{Text: "q"}, nil)
	require.ErrorIs(t, err, actuator.ErrRefused)
	assert.ErrorContains(t, err, "ctrl")
	send(t, conn, xproto.KeyRelease, codeCtrl)
	require.NoError(t, do(t, dev, actuator.Type{Text: "w"}, nil))
	events, err := w.WaitFor(limit(t), func(e []eventwin.Event) bool { return eventwin.Text(e) != "" })
	require.NoError(t, err)
	assert.Equal(t, "w", eventwin.Text(events))
}

func TestTypeStopsWhenTheFocusMoves(t *testing.T) {
	d, dev := desktop(t, nil)
	first := window(t, d, image.Rect(100, 100, 400, 400))
	text := strings.Repeat("first line\n", 3) + strings.Repeat("second\n", 1400) // the other window opens long before the end
	opened := make(chan *eventwin.Window, 1)
	go func() {
		first.WaitFor(t.Context(), func(e []eventwin.Event) bool { return strings.Count(eventwin.Text(e), "\n") >= 3 })
		w, err := eventwin.Open(t.Context(), d.Display(), image.Rect(500, 100, 800, 400))
		assert.NoError(t, err)
		opened <- w
	}()
	_, err := dev.Do(limit(t), actuator.Type{Text: actuator.Secret(text)}, nil)
	second := <-opened
	require.NotNil(t, second)
	defer second.Close()
	require.ErrorContains(t, err, "another window has taken the focus")
	require.NotErrorIs(t, err, actuator.ErrRefused)
	assert.Less(t, len(eventwin.Text(second.Events())), 20, "at most one line lands in the wrong window")
}

func TestTypeWithoutFocus(t *testing.T) {
	_, dev := desktop(t, nil) // on which there is no window
	_, err := dev.Do(limit(t), actuator.Type{Text: "x"}, nil)
	require.ErrorIs(t, err, actuator.ErrRefused)
	assert.ErrorContains(t, err, "click")
}

// TestTypeWhileSomebodyIsBusy clicks on another window and types, while the window
// manager, which has yet to give it the focus, does not come to it; and types while
// a program is busy with what may open a dialog. Typed all the same, the text would
// be lost in the window of before, without an error.
func TestTypeWhileSomebodyIsBusy(t *testing.T) {
	d, dev := desktop(t, nil)
	t.Run("the window manager", func(t *testing.T) {
		other := window(t, d, image.Rect(500, 100, 800, 400))
		first := window(t, d, image.Rect(100, 100, 400, 400))
		goOn := freeze(t, managerOf(t, d))
		require.NoError(t, do(t, dev, actuator.Click{At: &actuator.Point{X: 600, Y: 200}, Button: actuator.Left, Count: 1}, screen(1280, 800)))
		_, err := dev.Do(limit(t), actuator.Type{Text: "lost"}, nil)
		require.ErrorIs(t, err, actuator.ErrRefused)
		assert.ErrorContains(t, err, "the window manager does not answer")
		goOn()
		require.NoError(t, do(t, dev, actuator.Type{Text: "found"}, nil))
		events, err := other.WaitFor(limit(t), func(e []eventwin.Event) bool { return len(eventwin.Text(e)) >= 5 })
		require.NoError(t, err)
		assert.Equal(t, "found", eventwin.Text(events))
		assert.Empty(t, eventwin.Text(first.Events()))
		require.NoError(t, first.Close())
		require.NoError(t, other.Close())
	})
	t.Run("the program", func(t *testing.T) {
		p, err := d.Open(limit(t), "mousepad")
		require.NoError(t, err)
		goOn := freeze(t, p.PID())
		text := actuator.Secret("lost")
		for _, a := range []actuator.Action{actuator.Type{Text: text}, actuator.Paste{Text: &text}} {
			_, err = dev.Do(limit(t), a, nil)
			require.ErrorIs(t, err, actuator.ErrRefused)
			assert.ErrorContains(t, err, "the program with the focus does not answer")
		}
		require.NoError(t, do(t, dev, actuator.Press{Keys: []actuator.Key{"esc"}, Count: 1}, nil), "what may stop it is pressed")
		goOn()
		require.NoError(t, do(t, dev, actuator.Type{Text: "found"}, nil))
	})
}

// freeze stops a process until goOn is called, or the test ends.
func freeze(t *testing.T, pid int) (goOn func()) {
	t.Helper()
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	goOn = sync.OnceFunc(func() { require.NoError(t, syscall.Kill(pid, syscall.SIGCONT)) })
	t.Cleanup(goOn)
	return goOn
}

// TestTripleClickWhileManagerIsBusy clicks while the window manager, which gets each
// press first, does not come to it: until the click is over, and for each time that may
// pass before it comes to it in the middle. A program counts clicks by the times at which
// they were made, and none of them may be that of the one before.
func TestTripleClickWhileManagerIsBusy(t *testing.T) {
	d, dev := desktop(t, nil)
	w := window(t, d, image.Rect(100, 100, 400, 400))
	manager := managerOf(t, d)
	for after := range 40 {
		t.Run(fmt.Sprint(after, " ms"), func(t *testing.T) {
			w.Clear()
			goOn := freeze(t, manager)
			back := time.AfterFunc(time.Duration(after)*time.Millisecond, goOn)
			button := []actuator.Button{actuator.Left, actuator.Right}[after%2] // a second click of the same would be held apart
			a := actuator.Click{At: &actuator.Point{X: 200, Y: 200}, Button: button, Count: 3}
			require.NoError(t, do(t, dev, a, screen(1280, 800)))
			if back.Stop() {
				goOn()
			}
			var events []eventwin.Event
			for _, e := range done(t, dev, w) {
				if e.Kind == eventwin.ButtonPress || e.Kind == eventwin.ButtonRelease {
					events = append(events, e)
				}
			}
			require.Len(t, events, 6)
			for i, e := range events[1:] {
				assert.Greater(t, e.Time, events[i].Time)
			}
			assert.Less(t, events[5].Time-events[0].Time, uint32(400))
		})
	}
}

// managerOf returns the process of a desktop's window manager.
func managerOf(t *testing.T, d *sandbox.Desktop) int {
	t.Helper()
	conn := someone(t, d)
	require.NoError(t, conn.Extension("X-Resource"))
	check, err := conn.Cardinals(conn.Root, "_NET_SUPPORTING_WM_CHECK")
	require.NoError(t, err)
	ids, err := res.QueryClientIds(conn.Conn, 1, []res.ClientIdSpec{{Client: check[0], Mask: res.ClientIdMaskLocalClientPID}}).Reply()
	require.NoError(t, err)
	require.Len(t, ids.Ids, 1)
	return int(ids.Ids[0].Value[0])
}

// TestTypeIntoTerminal has a program that answers no pings, and fetches the
// keyboard map on its own terms.
func TestTypeIntoTerminal(t *testing.T) { typeIntoTerminal(t, func(*sandbox.Process) {}) }

// TestTypeIntoSlowTerminal holds that what keys mean is not changed before such a program has
// come to them, as it does late where it gets next to nothing of its processor.
func TestTypeIntoSlowTerminal(t *testing.T) {
	typeIntoTerminal(t, func(p *sandbox.Process) {
		require.NoError(t, syscall.Setpriority(syscall.PRIO_PROCESS, p.PID(), 19))
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", p.PID()), []byte("19"), 0) // where there are such, see sched(7)
		busy := exec.Command("sh", "-c", "while :; do :; done")
		busy.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		require.NoError(t, busy.Start())
		t.Cleanup(func() {
			_ = busy.Process.Kill()
			_ = busy.Wait()
		})
		var all, one unix.CPUSet
		require.NoError(t, unix.SchedGetaffinity(0, &all))
		for cpu := 0; one.Count() == 0; cpu++ {
			if all.IsSet(cpu) {
				one.Set(cpu)
			}
		}
		for _, pid := range []int{p.PID(), busy.Process.Pid} { // the others go on elsewhere
			require.NoError(t, unix.SchedSetaffinity(pid, &one))
		}
	})
}

func typeIntoTerminal(t *testing.T, before func(*sandbox.Process)) {
	d, dev := desktop(t, nil)
	file := filepath.Join(t.TempDir(), "typed")
	p, err := d.Open(limit(t), "xterm", "-u8", "-e", "sh", "-c", "cat >"+file)
	require.NoError(t, err)
	before(p)
	text := mixed(200, 3)
	text = strings.NewReplacer("\n", " ", "\t", " ").Replace(text) + "\n" // cat reads line by line
	require.NoError(t, do(t, dev, actuator.Type{Text: actuator.Secret(text)}, nil))
	assert.Equal(t, text, eventually(t, text, func() string { b, _ := os.ReadFile(file); return string(b) }))
}

// eventually returns what get returns, as soon as it is want.
func eventually(t testing.TB, want string, get func() string) string {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if get() == want {
			return want
		}
	}
	return get()
}

func TestKeysOffTheMap(t *testing.T) {
	d, dev := desktop(t, nil)
	w := window(t, d, image.Rect(100, 100, 400, 400))
	require.NoError(t, do(t, dev, actuator.Press{Keys: []actuator.Key{"ctrl", "f24"}, Count: 1}, nil))
	require.NoError(t, do(t, dev, actuator.KeyDown{Key: "f24"}, nil))
	require.NoError(t, do(t, dev, actuator.KeyUp{Key: "f24"}, nil))
	assert.Equal(t, []string{"key press ffe3", "key press ffd5 [ctrl]", "key release ffd5 [ctrl]", "key release ffe3 [ctrl]",
		"key press ffd5", "key release ffd5"}, trace(done(t, dev, w)))
}

// TestEveryKey presses each key that there is.
func TestEveryKey(t *testing.T) {
	d, dev := desktop(t, nil)
	w := window(t, d, image.Rect(100, 100, 400, 400))
	// stroke presses a key, and waits until it is up again: else its end would count as the next key's.
	stroke := func(k actuator.Key) []eventwin.Event {
		w.Clear()
		require.NoError(t, do(t, dev, actuator.Press{Keys: []actuator.Key{k}, Count: 1}, nil), k)
		events, err := w.WaitFor(limit(t), func(e []eventwin.Event) bool {
			all := strings.Join(trace(e), "\n")
			return strings.Contains(all, "key press") && strings.Count(all, "key press") == strings.Count(all, "key release")
		})
		require.NoError(t, err, "%s: %q", k, trace(events))
		return events
	}
	for _, k := range actuator.Keys() {
		events := stroke(k)
		if k == "capslock" { // off again
			stroke(k)
		}
		if len(k) == 1 {
			assert.Equal(t, string(k), eventwin.Text(events))
		}
	}
	assert.Equal(t, nothing, keysDown(t, someone(t, d)))
}

func TestDisplayDies(t *testing.T) {
	d, dev := desktop(t, nil)
	w := window(t, d, image.Rect(100, 100, 900, 700))
	go func() {
		w.WaitFor(t.Context(), func(e []eventwin.Event) bool { return len(e) > 0 && e[len(e)-1].State&xproto.ButtonMask1 != 0 })
		d.Close()
	}()
	_, err := dev.Do(limit(t), actuator.Drag{Path: longWay, Button: actuator.Left}, screen(1280, 800))
	require.Error(t, err)
	require.NotErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, actuator.ErrRefused)
	_, err = dev.Do(limit(t), actuator.Press{Keys: []actuator.Key{"a"}, Count: 1}, nil)
	require.Error(t, err)
	_, err = dev.Do(limit(t), actuator.Type{Text: "a"}, nil)
	require.Error(t, err)
	_, err = dev.Do(limit(t), actuator.SetClipboard{Text: "a"}, nil)
	require.Error(t, err)
	dev.Close()
}

// TestWithoutManager acts on a display whose window manager has died.
func TestWithoutManager(t *testing.T) {
	d, dev := desktop(t, nil)
	conn := someone(t, d)
	owner, err := conn.Cardinals(conn.Root, "_NET_SUPPORTING_WM_CHECK")
	require.NoError(t, err)
	w := window(t, d, image.Rect(100, 100, 400, 400))
	require.NoError(t, xproto.KillClientChecked(conn.Conn, owner[0]).Check())
	require.NoError(t, xproto.SetInputFocusChecked(conn.Conn, xproto.InputFocusNone, xproto.Window(w.ID()), 0).Check())
	require.NoError(t, do(t, dev, actuator.Click{At: &actuator.Point{X: 200, Y: 200}, Button: actuator.Left, Count: 1}, screen(1280, 800)))
	require.NoError(t, do(t, dev, actuator.Type{Text: "still here"}, nil))
	events, err := w.WaitFor(limit(t), func(e []eventwin.Event) bool { return len(eventwin.Text(e)) >= 10 })
	require.NoError(t, err)
	assert.Equal(t, "still here", eventwin.Text(events))
}

// TestDevicesOfAProcess holds that a process may have two devices on one display and others on
// other displays, that each acts on its own, and that one that is closed takes nothing along.
func TestDevicesOfAProcess(t *testing.T) {
	d, dev := desktop(t, nil)
	second := device(t, d)
	require.NoError(t, second.Close(), "a second device on the same display is fine")
	require.NoError(t, do(t, dev, actuator.Move{At: actuator.Point{X: 3, Y: 4}}, screen(1280, 800)))

	other, err := sandbox.Start(t.Context(), &sandbox.Options{Size: image.Pt(640, 480)})
	require.NoError(t, err)
	defer other.Close()
	next, err := actuator.Open(limit(t), permit.Grant(), &actuator.Options{Display: other.Display()})
	require.NoError(t, err)
	defer next.Close()
	require.NoError(t, do(t, next, actuator.Move{At: actuator.Point{X: 7, Y: 8}}, screen(640, 480)))
	at := func(on *sandbox.Desktop) image.Point {
		conn := someone(t, on)
		p, err := xproto.QueryPointer(conn.Conn, conn.Root).Reply()
		require.NoError(t, err)
		return image.Pt(int(p.RootX), int(p.RootY))
	}
	assert.Equal(t, image.Pt(7, 8), at(other))
	assert.Equal(t, image.Pt(3, 4), at(d), "the other display is as it was")
	require.NoError(t, dev.Close())
	require.NoError(t, do(t, next, actuator.Move{At: actuator.Point{X: 9, Y: 9}}, screen(640, 480)))
	assert.NotEqual(t, other.Display(), os.Getenv("DISPLAY"), "the environment is as it was")
}

func TestOpenWithoutDisplay(t *testing.T) {
	for name, tt := range map[string]struct {
		o    actuator.Options
		want string
	}{
		"no session":      {actuator.Options{Getenv: func(string) string { return "" }}, "no desktop here"},
		"nothing given":   {actuator.Options{}, "set DISPLAY"},
		"no such display": {actuator.Options{Display: ":65000"}, "no X display"},
		"unknown session": {actuator.Options{Session: "quartz"}, `unknown session "quartz"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("DISPLAY", "")
			_, err := actuator.Open(limit(t), permit.Grant(), &tt.o)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// TestNothingTypedIsLogged checks the log at its most detailed.
func TestNothingTypedIsLogged(t *testing.T) {
	d, err := sandbox.Start(t.Context(), &sandbox.Options{Size: image.Pt(640, 480)})
	require.NoError(t, err)
	defer d.Close()
	var log bytes.Buffer
	dev, err := actuator.Open(limit(t), permit.Grant(), &actuator.Options{Display: d.Display(),
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	require.NoError(t, err)
	defer dev.Close()
	window(t, d, image.Rect(100, 100, 400, 400))
	require.NoError(t, do(t, dev, actuator.Type{Text: "hunter2"}, nil))
	require.NoError(t, do(t, dev, actuator.SetClipboard{Text: "hunter3"}, nil))
	require.NoError(t, do(t, dev, actuator.Press{Keys: []actuator.Key{"f9"}, Count: 1}, nil))
	assert.NotEmpty(t, log.String())
	assert.NotRegexp(t, "hunter|f9", log.String())
}
