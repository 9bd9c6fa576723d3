//go:build linux

package screen_test

import (
	"context"
	"image"
	"os"
	"os/exec"
	"testing"
	"time"

	"desktop-agent/internal/x11"
	"desktop-agent/internal/x11/x11test"
	"desktop-agent/sandbox"
	"desktop-agent/screen"

	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/require"
)

// windowVariable makes the test binary show a window instead of testing; its
// value says which, see stagedWindow.
const windowVariable = "SCREEN_TEST_WINDOW"

func TestMain(m *testing.M) {
	if os.Getenv(windowVariable) != "" && len(os.Args) > 1 {
		stagedWindow(os.Args[1])
		return
	}
	os.Exit(m.Run())
}

// A desk is a private desktop with a connection for input.
type desk struct {
	*sandbox.Desktop
	tb   testing.TB
	conn *x11.Conn
}

func newDesk(tb testing.TB, o *sandbox.Options) *desk {
	tb.Helper()
	if o == nil {
		o = &sandbox.Options{}
	}
	// A program under the race detector sleeps for a second at its end by default.
	o.Env = append(o.Env, windowVariable+"=1", "GORACE=atexit_sleep_ms=0")
	desktop, err := sandbox.Start(context.Background(), o)
	require.NoError(tb, err)
	tb.Cleanup(func() { desktop.Close() })
	conn, err := x11.Dial(desktop.Display())
	require.NoError(tb, err)
	tb.Cleanup(func() { conn.Close(); <-conn.Closed() })
	return &desk{Desktop: desktop, tb: tb, conn: conn}
}

// small is the largest image in tests that do not look at it: the race detector
// makes scaling slow.
var small = image.Pt(200, 200)

// screen opens the desk's screen.
func (d *desk) screen(o screen.Options) *screen.Screen {
	d.tb.Helper()
	o.Display = d.Display()
	s, err := screen.Open(context.Background(), &o)
	require.NoError(d.tb, err)
	d.tb.Cleanup(func() { s.Close() })
	return s
}

// need skips a test whose program, which is a package of Debian too, is not installed.
func need(tb testing.TB, program string) {
	tb.Helper()
	if _, err := exec.LookPath(program); err != nil {
		tb.Skipf("%s is not installed: apt-get install %[1]s", program)
	}
}

// open starts a program and returns its first window's box.
func (d *desk) open(program string, args ...string) image.Rectangle {
	d.tb.Helper()
	box, _ := d.openProcess(program, args...)
	return box
}

// openProcess is open for who wants the program's process too.
func (d *desk) openProcess(program string, args ...string) (image.Rectangle, *sandbox.Process) {
	d.tb.Helper()
	p, err := d.Open(context.Background(), program, args...)
	require.NoError(d.tb, err)
	box, err := d.conn.Box(xproto.Window(p.Window()))
	require.NoError(d.tb, err)
	return box, p
}

// openStaged shows a window of the test's own, see stagedWindow.
func (d *desk) openStaged(kind string) image.Rectangle {
	return d.open(os.Args[0], kind)
}

// move, click and key put input in the server's queue and return once it is there.
func (d *desk) move(p image.Point) {
	x11test.Move(d.tb, d.conn, p)
}

func (d *desk) click(p image.Point) { d.press(1, p) }

// press presses and releases a button of the mouse at a point.
func (d *desk) press(button byte, p image.Point) {
	x11test.Click(d.tb, d.conn, button, p, 1)
}

// Codes of keys, the same on every Xvfb with the usual PC layout.
const (
	keyEscape = 9
	keyA      = 38
)

// key presses keys together.
func (d *desk) key(codes ...byte) { x11test.Press(d.tb, d.conn, codes...) }

// fill paints an area of the root window, which nobody else draws on.
func (d *desk) fill(box image.Rectangle, colour uint32) {
	gc, err := xproto.NewGcontextId(d.conn.Conn)
	require.NoError(d.tb, err)
	xproto.CreateGC(d.conn.Conn, gc, xproto.Drawable(d.conn.Root), xproto.GcForeground, []uint32{colour})
	xproto.PolyFillRectangle(d.conn.Conn, xproto.Drawable(d.conn.Root), gc, []xproto.Rectangle{{
		X: int16(box.Min.X), Y: int16(box.Min.Y), Width: uint16(box.Dx()), Height: uint16(box.Dy())}})
	xproto.FreeGC(d.conn.Conn, gc)
	require.NoError(d.tb, d.conn.RoundTrip())
}

// unhurried has a ceiling that a busy machine does not make a program reach.
var unhurried = screen.SettleOptions{Ceiling: time.Minute}

// limit is longer than anything in these tests takes on a busy machine.
func limit(tb testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	tb.Cleanup(cancel)
	return ctx
}

// until observes until something is so, and returns the observation of then.
func (d *desk) until(s *screen.Screen, is func(*screen.Observation) bool) *screen.Observation {
	d.tb.Helper()
	ctx := limit(d.tb)
	list := ""
	for {
		o, err := s.Observe(ctx)
		require.NoError(d.tb, err, "%s", list)
		if is(o) {
			return o
		}
		list = o.Text(20000)
	}
}
