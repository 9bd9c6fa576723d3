//go:build linux

package eyestest

import (
	"context"
	"fmt"
	"image"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"desktop-agent/internal/x11"
	"desktop-agent/internal/x11/x11test"
	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
	"desktop-agent/screen/ocr"

	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/require"
)

// patience is how long a program may take for anything on a busy machine.
const patience = 2 * time.Minute

// deskSize is the size of the screen: small, as all of it is read by OCR.
var deskSize = image.Pt(1280, 900)

// A desk is a private desktop with eyes and hands.
type desk struct {
	*sandbox.Desktop
	t    *testing.T
	x    *x11.Conn
	eyes *screen.Screen
	gtk  *gtkOracle
	bus  *busOracle
}

// heavy skips a test that takes long unless all are wanted: make eyes. Without it states of a
// program that tells all, of dialogs with what is drawn in them, and of programs that tell
// nothing are judged; TestNews and TestExpander, which judge no state, are never skipped.
func heavy(t *testing.T) {
	t.Helper()
	if os.Getenv("EYES") != "all" {
		t.Skip("not judged: takes long. Without EYES=all, or make eyes, these are: an editor, a calendar, a scale, " +
			"a long menu, a file manager of GTK 2 and a terminal; no office program, no Qt, no GTK 4, and of " +
			"a browser what changed in a page, and no state")
	}
}

// need skips a test where a program is not installed.
func need(t *testing.T, program, debian string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("not judged: %s is not installed (apt-get install %s)", program, debian)
	}
}

// newDesk starts a desktop whose programs get more environment variables.
func newDesk(t *testing.T, env ...string) *desk {
	t.Helper()
	d := &desk{t: t, gtk: newGTKOracle(t)}
	place := &sandbox.Options{Size: deskSize, Env: append(d.gtk.env(), env...)}
	var err error
	d.Desktop, err = sandbox.Start(t.Context(), place)
	require.NoError(t, err)
	t.Cleanup(func() { d.Desktop.Close() })
	d.x, err = x11.Dial(d.Display())
	require.NoError(t, err)
	t.Cleanup(func() { d.x.Close(); <-d.x.Closed() })
	reader, err := atspi.Open(t.Context(), &atspi.Options{BusAddress: d.BusAddress(), Server: screen.ServerOf(d.Display()), Enable: true, Silence: 5 * time.Second, AppTimeout: patience})
	require.NoError(t, err)
	t.Cleanup(func() { reader.Close() })
	look := &screen.Options{
		Display: d.Display(), Tree: reader, MaxImage: deskSize,
		Settle: screen.SettleOptions{Ceiling: 20 * time.Second},
	}
	if hasOCR(t) {
		texts, err := ocr.Open(t.Context(), &ocr.Options{Wait: patience, Limit: patience})
		require.NoError(t, err)
		t.Cleanup(func() { texts.Close() })
		look.OCR = texts
	}
	d.eyes, err = screen.Open(t.Context(), look)
	require.NoError(t, err)
	t.Cleanup(func() { d.eyes.Close() })
	d.bus = newBusOracle(t, d.BusAddress())
	return d
}

// open starts a program and makes its window of a size, at a place, both in pixels
// of the desktop. The window manager adds its frame around it.
func (d *desk) open(box image.Rectangle, program string, args ...string) *sandbox.Process {
	d.t.Helper()
	p, err := d.Open(d.t.Context(), program, args...)
	require.NoError(d.t, err)
	d.place(p.Window(), box)
	return p
}

// place moves a window and gives it a size, and waits until it has both, or is as
// near as the program and the window manager let it be.
func (d *desk) place(w uint32, box image.Rectangle) {
	d.t.Helper()
	if box.Empty() {
		return
	}
	xproto.ConfigureWindow(d.x.Conn, xproto.Window(w),
		xproto.ConfigWindowX|xproto.ConfigWindowY|xproto.ConfigWindowWidth|xproto.ConfigWindowHeight,
		[]uint32{uint32(box.Min.X), uint32(box.Min.Y), uint32(box.Dx()), uint32(box.Dy())})
	require.NoError(d.t, d.x.PingManager(brief(d.t)))
	const long = 3 * time.Second
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if got, err := d.x.Box(xproto.Window(w)); err == nil && got.Size() == box.Size() {
			return
		}
	}
}

// observe looks at the settled screen.
func (d *desk) observe() *screen.Observation {
	d.t.Helper()
	o, err := d.eyes.Observe(d.t.Context())
	require.NoError(d.t, err)
	return o
}

// answered observes until all programs answer: of one that does not nodes are missing, as the
// list says, and it is not whole. See TestSilence of package atspi for when one does not.
func (d *desk) answered() (o *screen.Observation) {
	d.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if o = d.observe(); len(o.Tree.Hung) == 0 {
			return o
		}
		d.t.Logf("%v did not answer: %+v", o.Tree.Hung, o.Settled)
	}
	require.FailNow(d.t, "a program does not answer")
	return nil
}

// look observes until a node is there, and returns it too.
func (d *desk) look(what string, want func(atspi.Node) bool) (*screen.Observation, atspi.Node) {
	d.t.Helper()
	var o *screen.Observation
	for end := time.Now().Add(patience); time.Now().Before(end); {
		o = d.observe()
		if i := slices.IndexFunc(o.Tree.Nodes, want); i >= 0 {
			return o, o.Tree.Nodes[i]
		}
	}
	d.t.Logf("%s", o.Text(20000))
	require.FailNow(d.t, "never saw "+what)
	return nil, atspi.Node{}
}

// wait looks until there is a node of a role and with a name that begins so.
func (d *desk) wait(role, name string) atspi.Node {
	d.t.Helper()
	_, n := d.look(role+" "+name, func(n atspi.Node) bool {
		return n.Role == role && strings.HasPrefix(n.Name, name) && !n.Has("disabled")
	})
	return n
}

func (d *desk) move(p image.Point) { d.t.Helper(); x11test.Move(d.t, d.x, p) }

// press presses and releases a button of the mouse at a point.
func (d *desk) press(button byte, p image.Point) { d.t.Helper(); x11test.Click(d.t, d.x, button, p, 1) }

func (d *desk) click(p image.Point) { d.t.Helper(); d.press(1, p) }

// wheel turns the wheel of the mouse, down if steps is positive.
func (d *desk) wheel(p image.Point, steps int) {
	d.t.Helper()
	button := byte(5)
	if steps < 0 {
		button, steps = 4, -steps
	}
	x11test.Click(d.t, d.x, button, p, steps)
}

// clickOn clicks the middle of a node.
func (d *desk) clickOn(role, name string) {
	d.t.Helper()
	d.click(middle(d.wait(role, name).Box))
}

// close closes the menus that are open.
func (d *desk) close() {
	d.t.Helper()
	for range 3 {
		d.key(keyEscape)
		d.observe()
	}
}

// menu opens a menu of a menu bar, whatever menus were open.
func (d *desk) menu(name string) {
	d.t.Helper()
	d.close()
	d.clickOn("menu", name)
}

// Keys by their X names' numbers.
const (
	keyEscape  = 0xff1b
	keyReturn  = 0xff0d
	keyControl = 0xffe3
	keyShift   = 0xffe1
)

// key presses keys one after the other and releases them in the opposite order:
// key(keyControl, 'a') is Ctrl+A.
func (d *desk) key(syms ...xproto.Keysym) {
	d.t.Helper()
	x11test.Chord(d.t, d.x, syms...)
}

// file writes a file into a new folder and returns its path, which is as long for all runs of
// a test: a dialog shows it, and what stands behind it has been marked. The folders of t.TempDir
// are not.
func (d *desk) file(name, content string) string {
	d.t.Helper()
	top := filepath.Join(os.TempDir(), fmt.Sprintf("%s%010d", d.t.Name(), rand.Uint32()))
	d.t.Cleanup(func() { os.RemoveAll(top) })
	path := filepath.Join(top, "002", name)
	require.NoError(d.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(d.t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func middle(r image.Rectangle) image.Point { return r.Min.Add(r.Max).Div(2) }

// brief bounds one question to a program.
func brief(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
