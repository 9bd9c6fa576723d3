//go:build linux

package x11_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"desktop-agent/internal/x11"
	"desktop-agent/sandbox"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/damage"
	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start returns a desktop and a connection to it, which end with the test.
func start(t *testing.T) (*sandbox.Desktop, *x11.Conn) {
	t.Helper()
	d, err := sandbox.Start(t.Context(), &sandbox.Options{Size: image.Pt(800, 600)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d, dial(t, d)
}

func dial(t *testing.T, d *sandbox.Desktop) *x11.Conn {
	t.Helper()
	c, err := x11.Dial(d.Display())
	require.NoError(t, err)
	t.Cleanup(func() { c.Close(); <-c.Closed() })
	return c
}

// TestServerOf: the server of a display of this machine is the process at its socket.
func TestServerOf(t *testing.T) {
	d, _ := start(t)
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", x11.ServerOf(d.Display())))
	require.NoError(t, err)
	require.Equal(t, "Xvfb\n", string(name))
	for _, display := range []string{":99999", "elsewhere:0", "nothing"} {
		require.Zero(t, x11.ServerOf(display), display)
	}
}

// window makes a window of the test's own, which no window manager handles.
func window(t *testing.T, c *x11.Conn, box image.Rectangle) xproto.Window {
	t.Helper()
	w, err := xproto.NewWindowId(c.Conn)
	require.NoError(t, err)
	require.NoError(t, xproto.CreateWindowChecked(c.Conn, 0, w, c.Root, int16(box.Min.X), int16(box.Min.Y),
		uint16(box.Dx()), uint16(box.Dy()), 0, xproto.WindowClassInputOutput, 0, xproto.CwOverrideRedirect, []uint32{1}).Check())
	return w
}

// set changes a property of 8-bit text.
func set(t *testing.T, c *x11.Conn, w xproto.Window, name, value string) {
	t.Helper()
	atom, err := c.Atom(name)
	require.NoError(t, err)
	require.NoError(t, xproto.ChangePropertyChecked(c.Conn, xproto.PropModeReplace, w, atom, xproto.AtomString,
		8, uint32(len(value)), []byte(value)).Check())
}

func open(t *testing.T, d *sandbox.Desktop, program string, args ...string) (*sandbox.Process, xproto.Window) {
	t.Helper()
	p, err := d.Open(t.Context(), program, args...)
	require.NoError(t, err)
	return p, xproto.Window(p.Window())
}

func TestDialWithoutDisplay(t *testing.T) {
	for _, display := range []string{":4242", "nonsense", ""} {
		t.Setenv("DISPLAY", "")
		c, err := x11.Dial(display)
		require.Nil(t, c)
		require.ErrorIs(t, err, x11.ErrNoDisplay)
	}
}

func TestWindowFacts(t *testing.T) {
	d, c := start(t)
	none, err := c.Clients()
	require.NoError(t, err)
	require.Empty(t, none)
	active, err := c.Active()
	require.NoError(t, err)
	require.Zero(t, active)

	_, first := open(t, d, "xterm", "-T", "erstes Fenster", "-geometry", "20x5+100+50")
	_, second := open(t, d, "xterm", "-T", "zweites")
	clients, err := c.Clients()
	require.NoError(t, err)
	require.Equal(t, []xproto.Window{first, second}, clients, "bottom to top")
	active, err = c.Active()
	require.NoError(t, err)
	require.Equal(t, second, active)
	require.Equal(t, "erstes Fenster", c.Title(first))

	want := image.Rect(30, 40, 130, 90)
	w := window(t, c, want)
	box, err := c.Box(w)
	require.NoError(t, err)
	require.Equal(t, want, box)
	require.Empty(t, c.Title(w))
	require.NoError(t, xproto.DestroyWindowChecked(c.Conn, w).Check())
	_, err = c.Box(w)
	require.Error(t, err)
	value, err := c.Property(c.Root, "_NOBODY_HAS_THIS")
	require.NoError(t, err)
	require.Empty(t, value)
	require.Equal(t, c.Owner(first), c.Owner(first+1))
	require.NotEqual(t, c.Owner(first), c.Owner(second))
}

func TestTitleEncodings(t *testing.T) {
	_, c := start(t)
	for _, tt := range []struct{ property, value, want string }{
		{"_NET_WM_NAME", "Über 世界 😀", "Über 世界 😀"},
		{"WM_NAME", "\xdcber", "Über"}, // Latin-1, as ICCCM has it
		{"WM_NAME", "Über", "Über"},    // what most programs write
		{"WM_NAME", "ended by zero\x00", "ended by zero"},
	} {
		w := window(t, c, image.Rect(0, 0, 10, 10))
		set(t, c, w, tt.property, tt.value)
		require.Equal(t, tt.want, c.Title(w))
	}
}

func TestAtoms(t *testing.T) {
	_, c := start(t)
	atom, err := c.Atom("WM_NAME")
	require.NoError(t, err)
	require.EqualValues(t, xproto.AtomWmName, atom)
	again, err := c.Atom("WM_NAME")
	require.NoError(t, err)
	require.Equal(t, atom, again)
	require.Equal(t, "WM_NAME", c.AtomName(atom))
	require.Empty(t, c.AtomName(0))
	require.Empty(t, c.AtomName(1<<28), "an atom that does not exist")
}

// Every event arrives, in order, at every listener, also more of them than the
// connection buffers, while the listeners are slow and requests are made.
func TestListenLosesNothing(t *testing.T) {
	d, c := start(t)
	writer := dial(t, d)
	w := window(t, writer, image.Rect(0, 0, 10, 10))
	require.NoError(t, c.Select(w, xproto.EventMaskStructureNotify))
	const n = 12000
	var got [2][]int16
	var done sync.WaitGroup
	for i := range got {
		done.Add(1)
		stop := c.Listen(func(e xgb.Event) {
			if e, ok := e.(xproto.ConfigureNotifyEvent); ok && e.Window == w {
				if got[i] = append(got[i], e.X); len(got[i]) == n {
					done.Done()
				}
				if i == 1 && len(got[i]) == 1 {
					time.Sleep(100 * time.Millisecond)
				}
			}
		})
		defer stop()
	}
	go func() {
		for i := range n {
			xproto.ConfigureWindow(writer.Conn, w, xproto.ConfigWindowX, []uint32{uint32(i + 1)})
		}
		_ = writer.RoundTrip()
	}()
	for range 200 { // must not wait for what the listeners do
		require.NoError(t, c.Select(w, xproto.EventMaskPropertyChange))
		_, err := c.Box(w)
		require.NoError(t, err)
	}
	done.Wait()
	for _, list := range got {
		for i, x := range list {
			require.EqualValues(t, i+1, x)
		}
	}
}

func TestListenStops(t *testing.T) {
	_, c := start(t)
	require.NoError(t, c.Select(c.Root, xproto.EventMaskPropertyChange))
	var mu sync.Mutex
	calls := 0
	stop := c.Listen(func(xgb.Event) { mu.Lock(); calls++; mu.Unlock() })
	set(t, c, c.Root, "_TEST", "1")
	require.Eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return calls > 0 }, time.Minute, time.Millisecond)
	stop()
	stop() // again changes nothing
	mu.Lock()
	before := calls
	mu.Unlock()
	set(t, c, c.Root, "_TEST", "2")
	require.NoError(t, c.RoundTrip())
	time.Sleep(20 * time.Millisecond)
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, before, calls)
}

// Selecting adds to what was selected before, and several at once lose nothing.
func TestSelectAdds(t *testing.T) {
	_, c := start(t)
	w := window(t, c, image.Rect(0, 0, 10, 10))
	masks := []uint32{xproto.EventMaskPropertyChange, xproto.EventMaskStructureNotify, xproto.EventMaskExposure, xproto.EventMaskKeyPress, xproto.EventMaskFocusChange}
	var all sync.WaitGroup
	var want uint32
	for _, mask := range masks {
		want |= mask
		all.Go(func() {
			if err := c.Select(w, mask); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	attributes, err := xproto.GetWindowAttributes(c.Conn, w).Reply()
	require.NoError(t, err)
	require.Equal(t, want, attributes.YourEventMask)
	require.NoError(t, xproto.DestroyWindowChecked(c.Conn, w).Check())
	require.Error(t, c.Select(w, xproto.EventMaskKeyRelease))
}

// Extensions work on several connections at once, each with its own events.
func TestExtension(t *testing.T) {
	d, first := start(t)
	require.ErrorContains(t, first.Extension("NO-SUCH"), "does not have it")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			c, err := x11.Dial(d.Display())
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { c.Close(); <-c.Closed() }()
			if err := c.Extension("DAMAGE"); err != nil {
				t.Error(err)
				return
			}
			if _, err := damage.QueryVersion(c.Conn, 1, 1).Reply(); err != nil {
				t.Error(err)
				return
			}
			id, err := damage.NewDamageId(c.Conn)
			if err != nil {
				t.Error(err)
				return
			}
			seen := make(chan struct{})
			once := sync.OnceFunc(func() { close(seen) })
			defer c.Listen(func(e xgb.Event) {
				if _, ok := e.(damage.NotifyEvent); ok {
					once()
				}
			})()
			damage.Create(c.Conn, id, xproto.Drawable(c.Root), damage.ReportLevelRawRectangles)
			xproto.ClearArea(c.Conn, false, c.Root, 0, 0, 10, 10)
			select {
			case <-seen:
			case <-time.After(time.Minute):
				t.Error("no damage was reported")
			}
		})
	}
	all.Wait()
}

func TestPing(t *testing.T) {
	d, c := start(t)
	p, w := open(t, d, "mousepad")
	require.NoError(t, c.Ping(t.Context(), w))

	var all sync.WaitGroup // several at once, over several connections
	for range 4 {
		other := dial(t, d)
		all.Go(func() {
			for range 5 {
				if err := other.Ping(t.Context(), w); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()

	_, silent := open(t, d, "xterm")
	require.ErrorIs(t, c.Ping(t.Context(), silent), x11.ErrNoPing)

	require.NoError(t, syscall.Kill(p.PID(), syscall.SIGSTOP)) // a program that hangs
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, c.Ping(ctx, w), context.DeadlineExceeded)

	gone := make(chan error, 1)
	go func() { gone <- c.Ping(t.Context(), w) }()
	waits(t)
	require.NoError(t, syscall.Kill(p.PID(), syscall.SIGKILL))
	require.ErrorIs(t, <-gone, x11.ErrGone)
	require.ErrorIs(t, c.Ping(t.Context(), w), x11.ErrGone, "a window that is gone already")
}

// Qt sends its answers to who selects another kind of event than EWMH says.
func TestPingQt(t *testing.T) {
	if _, err := exec.LookPath("featherpad"); err != nil {
		t.Skip("no program of Qt here: ", err)
	}
	d, c := start(t)
	_, w := open(t, d, "featherpad")
	require.NoError(t, c.Ping(t.Context(), w))
}

func TestPingManager(t *testing.T) {
	d, c := start(t)
	require.NoError(t, c.PingManager(t.Context()))
	kill(t, d, "openbox")
	<-d.Done()
	require.ErrorIs(t, c.PingManager(t.Context()), x11.ErrNoManager)
}

// When the server dies everything that waits is told, and nothing hangs.
func TestServerDies(t *testing.T) {
	d, c := start(t)
	p, w := open(t, d, "mousepad")
	require.NoError(t, syscall.Kill(p.PID(), syscall.SIGSTOP))
	stop := c.Listen(func(xgb.Event) {})
	waiting := make(chan error, 1)
	go func() { waiting <- c.Ping(t.Context(), w) }()
	waits(t)
	kill(t, d, "Xvfb")
	<-c.Closed()
	require.ErrorIs(t, <-waiting, x11.ErrNoDisplay)
	stop()
	require.Error(t, c.RoundTrip())
	_, err := c.Clients()
	require.Error(t, err)
	require.Error(t, c.Select(w, xproto.EventMaskKeyPress))
	require.Error(t, c.Extension("DAMAGE"))
}

// waits returns when a goroutine waits for an answer.
func waits(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		stacks := make([]byte, 1<<20)
		return bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("x11.(*Conn).wait("))
	}, time.Minute, time.Millisecond)
}

// kill ends the part of a desktop whose name is program, at once.
func kill(t *testing.T, d *sandbox.Desktop, program string) {
	t.Helper()
	mark := ""
	for _, pair := range d.Env() {
		if strings.HasPrefix(pair, "DESKTOP_AGENT_SANDBOX=") {
			mark = pair
		}
	}
	require.NotEmpty(t, mark)
	script := `for p in $(pgrep -x "$1"); do grep -qzxF "$2" /proc/$p/environ && kill -KILL $p; done; exit 0`
	require.NoError(t, exec.Command("sh", "-c", script, "kill", program, mark).Run())
}
