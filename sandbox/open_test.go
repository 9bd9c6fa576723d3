//go:build linux

package sandbox_test

import (
	"bytes"
	"context"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"desktop-agent/internal/x11"
	"desktop-agent/sandbox"

	"github.com/godbus/dbus/v5"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOpenRefuses(t *testing.T) {
	d := start(t, nil)
	plain := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o644))
	for _, tt := range []struct {
		name    string
		command []string
		want    []string // parts of the error
	}{
		{"no such program", []string{"mousepadd"}, []string{"open mousepadd: program not found", "check the name", "apt-get install mousepadd"}},
		{"no such file", []string{"/no/such/program"}, []string{"no such file", "check the path"}},
		{"not executable", []string{plain}, []string{"chmod +x"}},
		{"fails", []string{"sh", "-c", "echo no keyboard; exit 7"}, []string{"open sh: it ended without a window: exit status 7", "no keyboard"}},
		{"killed", []string{"sh", "-c", "kill -9 $$"}, []string{"without a window: signal: killed"}},
		{"ends without a window", []string{"true"}, []string{"open true: it ended without a window of its own"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := d.Open(t.Context(), tt.command[0], tt.command[1:]...)
			require.Nil(t, p)
			for _, part := range tt.want {
				require.ErrorContains(t, err, part)
			}
		})
	}
	_, err := d.Open(t.Context(), "mousepadd")
	require.ErrorIs(t, err, sandbox.ErrNotInstalled)

	t.Run("shows no window", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		begun := filepath.Join(t.TempDir(), "begun")
		go func() { // as the end of a limit
			assert.Eventually(t, func() bool { _, err := os.Stat(begun); return err == nil }, time.Minute, time.Millisecond)
			cancel(context.DeadlineExceeded)
		}()
		_, err := d.Open(ctx, "sh", "-c", `echo waiting; touch "$1"; sleep 3606`, "sh", begun)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "waiting")
		require.NotContains(t, strings.Join(carriers(markOf(d)), "\n"), "sleep 3606", "it is ended")
	})
	t.Run("desktop ends meanwhile", func(t *testing.T) {
		d, err := sandbox.Start(t.Context(), &sandbox.Options{Size: image.Pt(640, 480)})
		require.NoError(t, err)
		time.AfterFunc(100*time.Millisecond, func() { d.Close() })
		_, err = d.Open(t.Context(), "sh", "-c", "sleep 3607")
		require.Error(t, err)
		require.NoError(t, d.Close())
	})
	require.NoError(t, d.Err(), "none of this hurts the desktop")
}

func TestOpenFindsTheWindow(t *testing.T) {
	d := start(t, nil)
	c := dial(t, d)
	for _, tt := range []struct {
		name, title string
		command     []string
	}{
		{"its own", "first", []string{"xterm", "-T", "first"}},
		{"of a child", "second", []string{"sh", "-c", "xterm -T second; exit 0"}},
		{"of a child that cut itself loose", "third", []string{"sh", "-c", "setsid xterm -T third & exit 0"}},
		{"shown late", "fourth", []string{"sh", "-c", "sleep 0.5; exec xterm -T fourth"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := d.Open(t.Context(), tt.command[0], tt.command[1:]...)
			require.NoError(t, err)
			w := xproto.Window(p.Window())
			require.Equal(t, tt.title, c.Title(w))
			active, err := c.Active()
			require.NoError(t, err)
			require.Equal(t, w, active, "a new window has the focus")
			require.NoError(t, p.Close())
			clients, err := c.Clients()
			require.NoError(t, err)
			soon(t, func() bool { clients, err = c.Clients(); return err == nil && !slices.Contains(clients, w) }, "the window is gone")
			<-p.Done()
		})
	}
}

// A window manager that works may list the window of a program that has ended when another
// is opened, whose window is given the same number.
func TestOpenFindsAWindowOfTheSameNumber(t *testing.T) {
	d := start(t, nil)
	first, err := d.Open(t.Context(), "xterm", "-T", "first")
	require.NoError(t, err)
	manager := func(signal syscall.Signal) {
		for _, line := range carriers(markOf(d)) {
			if number, command, _ := strings.Cut(line, " "); strings.Contains(command, "openbox.xml") {
				pid, err := strconv.Atoi(number)
				require.NoError(t, err)
				require.NoError(t, syscall.Kill(pid, signal))
			}
		}
	}
	manager(syscall.SIGSTOP)
	defer manager(syscall.SIGCONT)
	require.NoError(t, first.Close())
	<-first.Done()
	opened := make(chan error, 1)
	var second *sandbox.Process
	go func() {
		second, err = d.Open(t.Context(), "sh", "-c", "touch begun; exec xterm -T second")
		opened <- err
	}()
	soon(t, func() bool { _, err := os.Stat(filepath.Join(d.Home(), "begun")); return err == nil }, "it is begun")
	manager(syscall.SIGCONT)
	require.NoError(t, <-opened)
	if second.Window() != first.Window() {
		t.Skip("the server gives windows other numbers here")
	}
}

// Typing into one window does not keep a program that starts meanwhile from
// getting the focus.
func TestNewWindowIsFocused(t *testing.T) {
	d := start(t, nil)
	c := dial(t, d)
	_, err := d.Open(t.Context(), "mousepad")
	require.NoError(t, err)
	require.NoError(t, c.Extension("XTEST"))
	typing, typed := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		const keyA = 38
		for typing.Err() == nil {
			_ = c.Together(func() { // else the server repeats a key that is held for long
				xtest.FakeInput(c.Conn, xproto.KeyPress, keyA, 0, c.Root, 0, 0, 0)
				xtest.FakeInput(c.Conn, xproto.KeyRelease, keyA, 0, c.Root, 0, 0, 0)
			})
			time.Sleep(20 * time.Millisecond)
		}
	}()
	p, err := d.Open(t.Context(), "sh", "-c", "sleep 0.3; exec xterm")
	typed()
	<-stopped
	require.NoError(t, err)
	active, err := c.Active()
	require.NoError(t, err)
	require.Equal(t, p.Window(), uint32(active))
}

// A program that hands over to a part of it that runs already, and waits for that: its
// window counts. Another program's does not, wherever PATH has both.
func TestOpenHandedOverAndWaits(t *testing.T) {
	copied := func(folder, program, as string) string {
		path, err := exec.LookPath(program)
		require.NoError(t, err)
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, as), file, 0o755))
		return filepath.Join(folder, as)
	}
	d := start(t, nil)
	folder := t.TempDir()
	waits := copied(folder, "sleep", "waits")
	_, err := d.Launch(sandbox.Command{Args: []string{"sh", "-c", "sleep 1; zenity --info --text=x --title=another & sleep 3; exec " +
		copied(folder, "zenity", "shows") + " --info --text=x --title=shows"}})
	require.NoError(t, err)
	p, err := d.Open(t.Context(), waits, "3608")
	require.NoError(t, err)
	require.Equal(t, "shows", dial(t, d).Title(xproto.Window(p.Window())))
	require.NoError(t, p.Close())
}

// A program that hands over to its running instance and exits.
func TestOpenHandedOver(t *testing.T) {
	d := start(t, nil)
	_, err := d.Open(t.Context(), "mousepad")
	require.NoError(t, err)
	p, err := d.Open(t.Context(), "mousepad", "--opening-mode=window")
	require.NoError(t, err)
	require.NotZero(t, p.Window())
}

// Programs see nothing of the machine's own desktop.
func TestNothingLeaksIn(t *testing.T) {
	for _, name := range []string{"DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "SESSION_MANAGER",
		"AT_SPI_BUS_ADDRESS", "NO_AT_BRIDGE", "GTK_THEME", "LD_PRELOAD_LEAK", "XDG_RUNTIME_DIR", "HTTP_PROXY", "SECRET_TOKEN", "HOME", "LC_ALL"} {
		t.Setenv(name, "LEAKED")
	}
	d := start(t, &sandbox.Options{Env: []string{"MINE=yes", "TZ=Europe/Berlin"}})
	p, err := d.Open(t.Context(), "mousepad")
	require.NoError(t, err)
	require.NotContains(t, strings.Join(d.Env(), "\n"), "LEAKED")
	for _, line := range carriers(markOf(d)) {
		pid, _, _ := strings.Cut(line, " ")
		env, err := os.ReadFile("/proc/" + pid + "/environ")
		if err == nil {
			require.NotContains(t, string(env), "LEAKED", line)
		}
	}
	env, err := os.ReadFile(filepath.Join("/proc", pidText(p), "environ"))
	require.NoError(t, err)
	pairs := strings.Split(string(bytes.TrimRight(env, "\x00")), "\x00")
	require.Subset(t, pairs, []string{"MINE=yes", "TZ=Europe/Berlin", "LANG=C.UTF-8", "DISPLAY=" + d.Display(),
		"HOME=" + d.Home(), "DBUS_SESSION_BUS_ADDRESS=" + d.BusAddress(), "GTK_MODULES=gail:atk-bridge", "SAL_USE_VCLPLUGIN=gtk3"})
	names := map[string]int{}
	for _, pair := range pairs {
		name, _, _ := strings.Cut(pair, "=")
		names[name]++
		require.Equal(t, 1, names[name], "%s is given once", name)
	}
	info, err := os.Stat(filepath.Join(filepath.Dir(d.Home()), "run"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

func TestHomeIsKept(t *testing.T) {
	home := t.TempDir()
	d := start(t, &sandbox.Options{Home: home})
	require.Equal(t, home, d.Home())
	file := filepath.Join(home, "note.txt")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, d.Close())
	require.FileExists(t, file)
	require.NoError(t, os.RemoveAll(home)) // for start, which looks for what is left
}

// Settings are kept in files below HOME, by no daemon.
func TestSettingsAreFiles(t *testing.T) {
	d := start(t, nil)
	p, err := d.Open(t.Context(), "mousepad")
	require.NoError(t, err)
	require.NotContains(t, strings.Join(carriers(markOf(d)), "\n"), "dconf")
	require.NotContains(t, strings.Join(carriers(markOf(d)), "\n"), "gvfs")
	require.NoError(t, p.Close())
	keyfile, err := os.ReadFile(filepath.Join(d.Home(), ".config/glib-2.0/settings/keyfile"))
	require.NoError(t, err)
	require.Contains(t, string(keyfile), "ccessibility=true", "the launcher keeps that accessibility is on")
}

// The accessibility tree of a program that was opened can be reached.
func TestAccessibility(t *testing.T) {
	d := start(t, nil)
	_, err := d.Open(t.Context(), "mousepad")
	require.NoError(t, err)

	session, err := dbus.Connect(d.BusAddress())
	require.NoError(t, err)
	defer session.Close()
	var address string
	require.NoError(t, session.Object("org.a11y.Bus", "/org/a11y/bus").Call("org.a11y.Bus.GetAddress", 0).Store(&address))
	require.Contains(t, address, filepath.Dir(d.Home()), "the bus is the desktop's own")
	enabled, err := session.Object("org.a11y.Bus", "/org/a11y/bus").GetProperty("org.a11y.Status.IsEnabled")
	require.NoError(t, err)
	require.Equal(t, true, enabled.Value())

	bus, err := dbus.Connect(address)
	require.NoError(t, err)
	defer bus.Close()
	type accessible struct {
		Bus  string
		Path dbus.ObjectPath
	}
	children := func(of accessible) (list []accessible) {
		_ = bus.Object(of.Bus, of.Path).Call("org.a11y.atspi.Accessible.GetChildren", 0).Store(&list)
		return list
	}
	name := func(of accessible) string {
		v, err := bus.Object(of.Bus, of.Path).GetProperty("org.a11y.atspi.Accessible.Name")
		if err != nil {
			return err.Error()
		}
		return v.Value().(string)
	}
	soon(t, func() bool {
		for _, app := range children(accessible{"org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root"}) {
			if name(app) != "mousepad" {
				continue
			}
			for _, frame := range children(app) {
				if strings.Contains(name(frame), "Mousepad") && len(children(frame)) > 0 {
					return true
				}
			}
		}
		return false
	}, "the frame of mousepad has children")
}

// The same program looks the same, at the same place, on every desktop.
func TestSameLook(t *testing.T) {
	type window struct {
		c   *x11.Conn
		box image.Rectangle
	}
	var windows []window
	for range 2 {
		d := start(t, nil)
		p, err := d.Open(t.Context(), "mousepad")
		require.NoError(t, err)
		c := dial(t, d)
		box, err := c.Box(xproto.Window(p.Window()))
		require.NoError(t, err)
		windows = append(windows, window{c, box})
	}
	require.Equal(t, windows[0].box, windows[1].box)
	require.Greater(t, windows[0].box.Dx(), 300)
	// The title bar and the menu bar: text and icons, and no caret that blinks.
	bars := image.Rect(windows[0].box.Min.X, windows[0].box.Min.Y-20, windows[0].box.Max.X, windows[0].box.Min.Y+24)
	pixels := func(w window) []byte {
		reply, err := xproto.GetImage(w.c.Conn, xproto.ImageFormatZPixmap, xproto.Drawable(w.c.Root),
			int16(bars.Min.X), int16(bars.Min.Y), uint16(bars.Dx()), uint16(bars.Dy()), ^uint32(0)).Reply()
		require.NoError(t, err)
		return reply.Data
	}
	soon(t, func() bool {
		a, b := pixels(windows[0]), pixels(windows[1])
		return colours(a) > 50 && bytes.Equal(a, b)
	}, "both desktops show the same")
	corner, err := xproto.GetImage(windows[0].c.Conn, xproto.ImageFormatZPixmap, xproto.Drawable(windows[0].c.Root), 0, 0, 100, 100, ^uint32(0)).Reply()
	require.NoError(t, err)
	require.Equal(t, 1, colours(corner.Data), "the background is plain")
	require.Equal(t, []byte{0x7f, 0x5f, 0x3a}, corner.Data[:3])
}

// colours counts the different pixels of an image with 32 bits a pixel.
func colours(data []byte) int {
	seen := map[[3]byte]bool{}
	for i := 0; i+4 <= len(data); i += 4 {
		seen[[3]byte(data[i:])] = true
	}
	return len(seen)
}

// The content of a folder is copied into a new home, which goes with the desktop.
func TestHomeFrom(t *testing.T) {
	from := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(from, "list.txt"), []byte("milk"), 0o600))
	d := start(t, &sandbox.Options{HomeFrom: from})
	home := d.Home()
	require.Equal(t, "user", filepath.Base(home))
	require.Contains(t, d.Env(), "HOME="+home)
	data, err := os.ReadFile(filepath.Join(home, "list.txt"))
	require.NoError(t, err)
	require.Equal(t, "milk", string(data))
	require.NoError(t, d.Close())
	require.NoDirExists(t, home)
	_, err = sandbox.Start(t.Context(), &sandbox.Options{HomeFrom: from, Home: from})
	require.ErrorContains(t, err, "not both")
}
