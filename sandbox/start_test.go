//go:build linux

package sandbox_test

import (
	"context"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"desktop-agent/internal/x11/x11test"
	"desktop-agent/sandbox"

	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xinerama"
	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

func TestCloseLeavesNothing(t *testing.T) {
	d := start(t, nil)
	require.Regexp(t, `^:\d{3,5}$`, d.Display(), "not the lowest number, which a server may have that is ending")
	require.NoError(t, d.Err())
	_, err := d.Open(t.Context(), "mousepad")
	require.NoError(t, err)
	select {
	case <-d.Done():
		require.Fail(t, "done before its end", d.Err())
	default:
	}
	require.NoError(t, d.Close())
	require.NoError(t, d.Close(), "a second call changes nothing")
	<-d.Done()
	require.ErrorIs(t, d.Err(), sandbox.ErrClosed)
	_, err = d.Open(t.Context(), "mousepad")
	require.ErrorIs(t, err, sandbox.ErrClosed)
}

func TestManySideBySide(t *testing.T) {
	const n = 4
	desktops := make([]*sandbox.Desktop, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			d, err := sandbox.Start(t.Context(), &sandbox.Options{Size: image.Pt(640, 480)})
			if assert.NoError(t, err) {
				desktops[i] = d
			}
		})
	}
	all.Wait()
	seen, servers := map[string]bool{}, make([]x11test.Server, n)
	for i, d := range desktops {
		if d == nil {
			continue
		}
		defer d.Close()
		servers[i] = x11test.ServerOf(t, d.Display())
		for _, own := range []string{d.Display(), d.BusAddress(), d.Home()} {
			require.False(t, seen[own], "two desktops share %s", own)
			seen[own] = true
		}
	}
	if t.Failed() {
		return
	}
	require.NoError(t, desktops[0].Close())
	_, err := desktops[1].Open(t.Context(), "mousepad")
	require.NoError(t, err, "the end of one does not touch another")
	for i, d := range desktops {
		mark, home, server := markOf(d), d.Home(), servers[i]
		require.NoError(t, d.Close())
		requireNothingLeft(t, mark, home, server)
	}
}

func TestScreen(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options sandbox.Options
		root    image.Point
		depth   byte
	}{
		{"default", sandbox.Options{}, image.Pt(1920, 1080), 24},
		{"small and shallow", sandbox.Options{Size: image.Pt(801, 603), Depth: 16, DPI: 120}, image.Pt(801, 603), 16},
		{"ten bits a colour", sandbox.Options{Size: image.Pt(800, 600), Depth: 30}, image.Pt(800, 600), 30},
		{"two monitors", sandbox.Options{Size: image.Pt(1280, 720), Monitors: 2}, image.Pt(2560, 720), 24},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := dial(t, start(t, &tt.options))
			require.Equal(t, tt.root, image.Pt(int(c.Screen.WidthInPixels), int(c.Screen.HeightInPixels)))
			require.Equal(t, tt.depth, c.Screen.RootDepth)
			require.Len(t, xproto.Setup(c.Conn).Roots, 1, "one X screen, however many monitors")
			dpi := tt.options.DPI
			if dpi == 0 {
				dpi = 96
			}
			require.InDelta(t, dpi, float64(c.Screen.WidthInPixels)/float64(c.Screen.WidthInMillimeters)*25.4, 1)
			for _, name := range []string{"DAMAGE", "MIT-SHM", "XTEST", "Composite", "RANDR", "XINERAMA", "XFIXES", "X-Resource"} {
				require.NoError(t, c.Extension(name))
			}
		})
	}
}

func TestSecondMonitor(t *testing.T) {
	size := image.Pt(1280, 720)
	d := start(t, &sandbox.Options{Size: size, Monitors: 2})
	c := dial(t, d)
	want := []image.Rectangle{{Max: size}, {Min: image.Pt(1280, 0), Max: image.Pt(2560, 720)}}

	require.NoError(t, c.Extension("RANDR"))
	monitors, err := randr.GetMonitors(c.Conn, c.Root, true).Reply()
	require.NoError(t, err)
	var boxes []image.Rectangle
	for i, m := range monitors.Monitors {
		boxes = append(boxes, image.Rect(int(m.X), int(m.Y), int(m.X)+int(m.Width), int(m.Y)+int(m.Height)))
		require.Equal(t, i == 0, m.Primary)
	}
	require.Equal(t, want, boxes, "RandR")

	require.NoError(t, c.Extension("XINERAMA"))
	screens, err := xinerama.QueryScreens(c.Conn).Reply()
	require.NoError(t, err)
	boxes = nil
	for _, s := range screens.ScreenInfo {
		boxes = append(boxes, image.Rect(int(s.XOrg), int(s.YOrg), int(s.XOrg)+int(s.Width), int(s.YOrg)+int(s.Height)))
	}
	require.Equal(t, want, boxes, "Xinerama")

	// The window manager sees two as well: a window made full-screen fills the
	// monitor that it is on.
	state, err := c.Atom("_NET_WM_STATE")
	require.NoError(t, err)
	full, err := c.Atom("_NET_WM_STATE_FULLSCREEN")
	require.NoError(t, err)
	for i, geometry := range []string{"40x10+100+100", "40x10+1400+100"} {
		p, err := d.Open(t.Context(), "xterm", "-geometry", geometry)
		require.NoError(t, err)
		w := xproto.Window(p.Window())
		box, err := c.Box(w)
		require.NoError(t, err)
		require.True(t, box.In(want[i]), "%v in %v", box, want[i])
		const add, fromPager = 1, 2
		message := xproto.ClientMessageEvent{Format: 32, Window: w, Type: state,
			Data: xproto.ClientMessageDataUnionData32New([]uint32{add, uint32(full), 0, fromPager, 0})}
		require.NoError(t, xproto.SendEventChecked(c.Conn, false, c.Root,
			xproto.EventMaskSubstructureNotify|xproto.EventMaskSubstructureRedirect, string(message.Bytes())).Check())
		soon(t, func() bool {
			box, err := c.Box(w)
			return err == nil && box == want[i]
		}, "full screen on monitor "+geometry)
	}
}

func TestPartDies(t *testing.T) {
	for _, tt := range []struct{ process, part string }{
		{"Xvfb", "X server (Xvfb)"},
		{"openbox", "window manager (openbox)"},
		{"bus.conf", "session bus (dbus-daemon)"},
		{"at-spi-bus-launcher", "accessibility bus (at-spi-bus-launcher)"},
		{"accessibility.conf", "accessibility bus (at-spi-bus-launcher)"},
		{"at-spi2-registryd", "accessibility registry (at-spi2-registryd)"},
	} {
		t.Run(tt.process, func(t *testing.T) {
			d := start(t, &sandbox.Options{Size: image.Pt(640, 480)})
			require.NoError(t, syscall.Kill(pidOf(t, d, tt.process), syscall.SIGKILL))
			select {
			case <-d.Done():
			case <-time.After(time.Minute):
				require.Fail(t, "nobody noticed")
			}
			var died *sandbox.DiedError
			require.ErrorAs(t, d.Err(), &died)
			// The end of the X server or of a bus takes others with it at once;
			// which of them is noticed first is then up to the kernel.
			if tt.process == "openbox" || strings.HasPrefix(tt.process, "at-spi") {
				require.Equal(t, tt.part, died.Part)
			}
			require.Contains(t, d.Err().Error(), "start another")
			_, err := d.Open(t.Context(), "mousepad")
			require.ErrorAs(t, err, &died, "a dead desktop opens nothing")
		})
	}
}

func TestMissingPrograms(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := sandbox.Start(t.Context(), nil)
	var missing *sandbox.MissingError
	require.ErrorAs(t, err, &missing)
	require.Equal(t, []string{"Xvfb", "openbox", "dbus-daemon"}, missing.Programs)
	require.ErrorContains(t, err, "apt-get install xvfb openbox dbus")
}

func TestOneProgramMissing(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"Xvfb", "dbus-daemon"} {
		require.NoError(t, os.Symlink("/usr/bin/"+name, filepath.Join(folder, name)))
	}
	t.Setenv("PATH", folder)
	_, err := sandbox.Start(t.Context(), nil)
	require.EqualError(t, err, "start desktop: missing openbox: install with `apt-get install openbox`")
}

func TestBrokenProgram(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"openbox", "dbus-daemon"} {
		require.NoError(t, os.Symlink("/usr/bin/"+name, filepath.Join(folder, name)))
	}
	script := "#!/bin/sh\necho cannot find a keyboard >&2\nexit 3\n"
	require.NoError(t, os.WriteFile(filepath.Join(folder, "Xvfb"), []byte(script), 0o755))
	t.Setenv("PATH", folder)
	_, err := sandbox.Start(t.Context(), nil)
	var died *sandbox.DiedError
	require.ErrorAs(t, err, &died)
	require.Equal(t, &sandbox.DiedError{Part: "X server (Xvfb)", Status: "exit status 3", Output: "cannot find a keyboard"}, died)
}

func TestBadOptions(t *testing.T) {
	for _, tt := range []struct {
		options sandbox.Options
		want    string
	}{
		{sandbox.Options{Size: image.Pt(10, 1080)}, "at least 64×64"},
		{sandbox.Options{Size: image.Pt(20000, 1080), Monitors: 2}, "at most 32767"},
		{sandbox.Options{Monitors: -1}, "between 1 and 8"},
		{sandbox.Options{Depth: 8}, "use 16, 24 or 30"},
		{sandbox.Options{DPI: 1}, "between 48 and 768"},
		{sandbox.Options{Env: []string{"FOO"}}, "write NAME=value"},
		{sandbox.Options{Home: "/no/such/folder"}, "no such file"},
	} {
		_, err := sandbox.Start(t.Context(), &tt.options)
		require.ErrorContains(t, err, tt.want)
	}
}

// A start that is cancelled, at whatever moment, leaves nothing.
func TestStartCancelled(t *testing.T) {
	folder, err := os.MkdirTemp("/tmp", "sandbox-test-")
	require.NoError(t, err)
	defer os.RemoveAll(folder)
	t.Setenv("TMPDIR", folder)
	cancelled := 0
	for after := time.Duration(0); after < 160*time.Millisecond; after += 16 * time.Millisecond {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		d, err := sandbox.Start(ctx, &sandbox.Options{Size: image.Pt(640, 480)})
		cancel()
		if err != nil {
			cancelled++
			require.ErrorIs(t, err, context.DeadlineExceeded)
		} else {
			require.NoError(t, d.Close())
		}
		require.Empty(t, carriers("XDG_RUNTIME_DIR="+folder))
		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Empty(t, left)
	}
	require.NotZero(t, cancelled)
}

// TestServerKilledInItsStart: an X server that is killed before it is ready leaves its
// socket, which goes with the start that is cancelled, or with the program that is killed.
func TestServerKilledInItsStart(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	folder := t.TempDir()
	for _, name := range []string{"openbox", "dbus-daemon"} {
		require.NoError(t, os.Symlink("/usr/bin/"+name, filepath.Join(folder, name)))
	}
	file := filepath.Join(folder, "display")
	script := fmt.Sprintf("#!/bin/sh\n%s=server %s=%s exec %s \"$@\"\n", role, displayFile, file, self)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "Xvfb"), []byte(script), 0o755))
	t.Setenv("PATH", folder+":/usr/bin:/bin")
	begun := func() x11test.Server {
		var display []byte
		soon(t, func() bool {
			display, _ = os.ReadFile(file) // which is not there at first
			return len(display) > 0
		}, "no server was started")
		require.NoError(t, os.Remove(file))
		return x11test.ServerOf(t, string(display))
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error)
	go func() {
		_, err := sandbox.Start(ctx, nil)
		ended <- err
	}()
	server := begun()
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	server.RequireGone(t)

	starter := exec.Command(self)
	starter.Env = append(os.Environ(), role+"=starter")
	require.NoError(t, starter.Start())
	t.Cleanup(func() { _ = starter.Process.Kill(); _ = starter.Wait() })
	server = begun()
	require.NoError(t, starter.Process.Kill())
	soon(t, func() bool { return server.Gone(t) }, "the socket is left")
}

// TestStartWhileOthersEnd starts and closes desktops at the same time: an X
// server that ends removes the socket of its number, which another may just have
// been given.
func TestStartWhileOthersEnd(t *testing.T) {
	var all errgroup.Group
	for range 4 {
		all.Go(func() error {
			for range 4 {
				d, err := sandbox.Start(t.Context(), nil)
				if err != nil {
					return err
				}
				if err := d.Close(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, all.Wait())
}
