//go:build linux

package atspi

import (
	"context"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"desktop-agent/internal/bus"
	"desktop-agent/internal/x11"
	"desktop-agent/internal/x11/x11test"
	"desktop-agent/sandbox"

	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// patience is how long a test waits for a program to do something.
const patience = 2 * time.Minute

// A bench is a desktop with a reader, and with hands.
type bench struct {
	testing.TB
	*sandbox.Desktop
	*Reader
	x *x11.Conn
}

// deskSize holds the windows of these tests whole: programs draw less than on a larger screen.
var deskSize = image.Pt(1280, 960)

func newBench(t testing.TB, o *Options) *bench {
	t.Helper()
	d, err := sandbox.Start(t.Context(), &sandbox.Options{Size: deskSize})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	if o == nil {
		o = &Options{Silence: 5 * time.Second, AppTimeout: patience} // the machine may be busy
	}
	o.BusAddress = d.BusAddress()
	r, err := Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, r.Close()) })
	x, err := x11.Dial(d.Display())
	require.NoError(t, err)
	t.Cleanup(x.Close)
	return &bench{t, d, r, x}
}

func (b *bench) open(program string, args ...string) *sandbox.Process {
	b.Helper()
	p, err := b.Desktop.Open(b.Context(), program, args...)
	require.NoError(b, err)
	return p
}

// tree reads the tree and checks what holds of every tree.
func (b *bench) tree() ([]Node, []Program) {
	b.Helper()
	nodes, hung, err := b.Read(b.Context())
	require.NoError(b, err)
	for i, n := range nodes {
		require.Equal(b, fmt.Sprintf("n%d", i+1), n.ID)
		require.False(b, n.Box.Empty(), "%+v", n)
		require.Less(b, n.Parent, i, "parents come before children")
		require.NotZero(b, n.PID)
		if n.Parent < 0 {
			require.Zero(b, n.Depth)
			continue
		}
		require.Equal(b, nodes[n.Parent].Depth+1, n.Depth)
		require.Equal(b, nodes[n.Parent].PID, n.PID)
	}
	return nodes, hung
}

// wait reads the tree until a node satisfies want and stays where it is, though the window
// manager has answered in between, and returns it.
func (b *bench) wait(what string, want func(Node) bool) Node {
	b.Helper()
	nodes, i := b.waitAll(what, want)
	return nodes[i]
}

func (b *bench) waitAll(what string, want func(Node) bool) ([]Node, int) {
	b.Helper()
	return b.until(what, want, true)
}

// see reads the tree until a node satisfies want, wherever that goes: nobody clicks on it.
func (b *bench) see(what string, want func(Node) bool) {
	b.Helper()
	b.until(what, want, false)
}

func (b *bench) until(what string, want func(Node) bool, still bool) ([]Node, int) {
	b.Helper()
	var nodes []Node
	var before *Node
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		nodes, _ = b.tree()
		i := slices.IndexFunc(nodes, want)
		if i < 0 {
			before = nil
			continue
		}
		if !still || before != nil && before.Box == nodes[i].Box {
			return nodes, i
		}
		before = &nodes[i]
		require.NoError(b, b.x.PingManager(b.Context()))
	}
	for _, n := range nodes {
		b.Logf("%s%s %s %q %q %v %v caret %d, from %d of %d", strings.Repeat(" ", n.Depth), n.ID, n.Role, n.Name, n.Text, n.States, n.Box, n.Caret, n.Start, n.Length)
	}
	require.FailNow(b, "never saw "+what)
	return nil, -1
}

// named is the condition to be of a role and to have a name.
func named(role, name string) func(Node) bool {
	return func(n Node) bool { return n.Role == role && n.Name == name }
}

// click clicks the middle of a box.
func (b *bench) click(box image.Rectangle) {
	b.Helper()
	x11test.Click(b, b.x, 1, middle(box), 1)
}

// typeKeys presses the keys of lower-case letters and digits.
func (b *bench) typeKeys(text string) {
	b.Helper()
	for _, r := range text {
		b.chord(xproto.Keysym(r))
	}
}

func TestReadEditor(t *testing.T) {
	b := newBench(t, nil)
	dir := t.TempDir()
	short := filepath.Join(dir, "short.txt")
	require.NoError(t, os.WriteFile(short, []byte("Dear Ann,\nline two\n"), 0o600))
	b.open("mousepad", short)
	b.wait("the window, which is shown before it gets the focus", func(n Node) bool { return n.Parent < 0 && n.Has("active") })
	b.wait("the text", func(n Node) bool { return n.Role == "text" && n.Text == "Dear Ann,\nline two\n" && n.Has("focused") })
	nodes, hung := b.tree()
	assert.Empty(t, hung)
	window := nodes[0]
	assert.Equal(t, "frame", window.Role)
	assert.Contains(t, window.Name, "short.txt")
	assert.Contains(t, window.States, "active")
	for _, n := range nodes {
		assert.Equal(t, "mousepad", n.App)
		assert.True(t, n.Box.In(window.Box), "%+v is in the window %v", n, window.Box)
		assert.NotEqual(t, "menu item", n.Role, "all menus are closed")
	}
	text := b.wait("the text", func(n Node) bool { return n.Role == "text" })
	assert.Contains(t, text.States, "editable")
	assert.Contains(t, text.States, "multi-line")
	assert.Contains(t, text.States, "focused")

	// A click on the centre of what the tree tells opens the menu and the dialog.
	b.click(b.wait("menu", named("menu", "File")).Box)
	b.wait("the open menu", func(n Node) bool { return named("menu", "File")(n) && n.Has("selected") })
	b.wait("an item of use elsewhere", func(n Node) bool { return named("menu item", "Detach Tab")(n) && n.Has("disabled") })
	item := b.wait("menu item", named("menu item", "Save As..."))
	assert.NotContains(t, item.States, "disabled")
	b.click(item.Box)
	nodes, i := b.waitAll("the entry of the dialog", func(n Node) bool { return n.Role == "text" && n.Text == "short.txt" && n.Has("focused") })
	name := nodes[i]
	i = slices.IndexFunc(nodes, func(n Node) bool { return n.Parent < 0 && n.Name == "Save As" })
	require.GreaterOrEqual(t, i, 0, "the dialog")
	dialog := nodes[i]
	assert.Equal(t, "file chooser", dialog.Role)
	assert.True(t, name.Box.In(dialog.Box), "of the same look: the window manager moves it")
	assert.False(t, name.Has("multi-line"), "an entry has one line")
	b.click(b.wait("button", named("push button", "Cancel")).Box)
	for end := time.Now().Add(patience); ; {
		nodes, _ := b.tree()
		if !slices.ContainsFunc(nodes, named("push button", "Cancel")) {
			break
		}
		require.True(t, time.Now().Before(end), "the dialog is gone from the tree")
	}
}

func TestReadLongText(t *testing.T) {
	b := newBench(t, nil)
	long := filepath.Join(t.TempDir(), "long.txt")
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, "line number %d\n", i)
	}
	require.NoError(t, os.WriteFile(long, []byte(text.String()), 0o600))
	b.open("mousepad", long)
	n := b.wait("the text", func(n Node) bool { return strings.HasPrefix(n.Text, "line number 0\n") })
	assert.Less(t, len(n.Text), 2000, "only what can be seen")
	assert.Zero(t, n.Start)
	assert.Equal(t, text.Len(), n.Length)
	assert.Equal(t, 1, n.Line)
	// The end of the file is shown after a click there and Ctrl+End. The window manager
	// holds a click back until it has raised the window, and no key.
	b.click(n.Box)
	b.wait("the caret", func(c Node) bool { return c.Role == n.Role && c.Caret > 1 })
	b.chord(0xffe3, 0xff57)
	n = b.wait("the end of the text", func(n Node) bool { return strings.HasSuffix(n.Text, "line number 1999\n") })
	assert.NotContains(t, n.Text, "line number 0\n", "text is read from the first line that can be seen")
	assert.Equal(t, text.Len(), n.Length)
	assert.Equal(t, text.String()[n.Start:], n.Text)
	assert.Equal(t, 1+strings.Count(text.String()[:n.Start], "\n"), n.Line)
	b.wait("the caret at the end", func(c Node) bool { return c.Role == n.Role && c.Caret == len(c.Text)+1 }) // it may have scrolled on
}

// chord presses keys together.
func (b *bench) chord(syms ...xproto.Keysym) {
	b.Helper()
	x11test.Chord(b, b.x, syms...)
}

func TestPasswordsAreNeverRead(t *testing.T) {
	b := newBench(t, nil)
	b.open("zenity", "--forms", "--text=log in", "--add-entry=User", "--add-password=Secret")
	user := b.wait("entry", func(n Node) bool { return n.Role == "text" })
	password := b.wait("password", func(n Node) bool { return n.Role == "password text" })
	b.click(user.Box)
	b.typeKeys("ann7")
	b.wait("what was typed", func(n Node) bool { return n.Text == "ann7" })
	b.click(password.Box)
	b.wait("focus", func(n Node) bool { return n.Role == "password text" && slices.Contains(n.States, "focused") })
	b.typeKeys("hunter2")
	// The keys were taken once the window has answered; then nothing tells of them.
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	active, err := b.x.Active()
	require.NoError(t, err)
	require.NoError(t, b.x.Ping(ctx, active))
	nodes, _ := b.tree()
	assert.True(t, slices.ContainsFunc(nodes, func(n Node) bool { return n.Text == "ann7" }))
	for _, n := range nodes {
		assert.NotContains(t, fmt.Sprintf("%+v", n), "hunter2")
		if n.Role == "password text" {
			assert.Empty(t, n.Text)
		}
	}
}

func TestLongListIsReadWhereItShows(t *testing.T) {
	b := newBench(t, nil)
	args := []string{"--list", "--height=400", "--column=Number", "--column=Square"}
	for i := range 1000 {
		args = append(args, fmt.Sprintf("row %d", i), fmt.Sprint(i*i))
	}
	b.open("zenity", args...)
	first := b.wait("the first row", named("table cell", "row 0"))
	nodes, _ := b.tree()
	cells := 0
	for _, n := range nodes {
		if n.Role != "table cell" {
			continue
		}
		cells++
		assert.True(t, n.Box.In(nodes[0].Box), "%+v", n)
		assert.Positive(t, n.Box.Dy())
	}
	assert.Greater(t, cells, 10)
	assert.Less(t, cells, 200)
	assert.True(t, slices.ContainsFunc(nodes, named("table cell", "9")), "the second column")
	b.click(first.Box)
	b.chord(0xff57) // End
	last := b.wait("the last row", named("table cell", "row 999"))
	b.click(last.Box)
	b.wait("the selection", func(n Node) bool { return n.Name == "row 999" && slices.Contains(n.States, "selected") })
}

func TestProgramThatHangs(t *testing.T) {
	b := newBench(t, nil) // in whose silence the other program answers
	b.open("mousepad")
	editor := b.wait("the editor", named("menu", "File"))
	b.open("zenity", "--info", "--text=still here")
	b.wait("the other program", named("label", "still here"))

	require.NoError(t, syscall.Kill(editor.PID, syscall.SIGSTOP))
	defer syscall.Kill(editor.PID, syscall.SIGCONT)
	nodes, hung := b.tree()
	assert.Equal(t, []Program{{"mousepad", editor.PID}}, hung)
	assert.True(t, slices.ContainsFunc(nodes, named("label", "still here")), "the others are read")
	assert.False(t, slices.ContainsFunc(nodes, named("menu", "File")))

	// From then on it costs nothing: no call is made to it.
	again := b.readAgain(t, editor.PID)
	assert.ErrorIs(t, again.hung, errSilent)
	assert.Zero(t, again.calls)
	_, hung = b.tree()
	assert.Equal(t, []Program{{"mousepad", editor.PID}}, hung)

	require.NoError(t, syscall.Kill(editor.PID, syscall.SIGCONT))
	b.wait("the editor again", named("menu", "File"))
	_, hung = b.tree()
	assert.Empty(t, hung)
}

// readAgain reads a program that was read before.
func (r *Reader) readAgain(t *testing.T, pid int) reading {
	t.Helper()
	for _, a := range r.apps {
		if a.pid == pid {
			return a.read(t.Context(), r.o)
		}
	}
	require.FailNow(t, "the program was not read")
	return reading{}
}

// A program that hung before it was ever read is named after its process.
func TestProgramThatHangsFromTheStart(t *testing.T) {
	b := newBench(t, &Options{Silence: 500 * time.Millisecond, AppTimeout: patience})
	b.open("mousepad")
	editor := b.wait("the editor", named("menu", "File"))
	require.NoError(t, syscall.Kill(editor.PID, syscall.SIGSTOP))
	defer syscall.Kill(editor.PID, syscall.SIGCONT)
	r, err := Open(t.Context(), &b.o)
	require.NoError(t, err)
	defer r.Close()
	nodes, hung, err := r.Read(t.Context())
	require.NoError(t, err)
	assert.Empty(t, nodes)
	assert.Equal(t, []Program{{"mousepad", editor.PID}}, hung)
	assert.ErrorIs(t, r.readAgain(t, editor.PID).hung, errSilent)
}

func TestProgramsComeAndGo(t *testing.T) {
	b := newBench(t, nil)
	stop := make(chan struct{})
	done := make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if _, hung, err := b.Read(b.Context()); err != nil || len(hung) > 0 {
				done <- fmt.Errorf("hung %v, %w", hung, err)
				return
			}
		}
	}()
	for range 3 {
		b.open("zenity", "--info", "--text=here and gone")
		n := b.wait("the dialog", named("label", "here and gone"))
		require.NoError(t, syscall.Kill(n.PID, syscall.SIGKILL))
		require.Eventually(t, func() bool {
			windows, err := b.x.Clients()
			return err == nil && len(windows) == 0
		}, patience, time.Millisecond, "the window is gone, and its number free again")
	}
	close(stop)
	require.NoError(t, <-done)
}

func TestReadCancelled(t *testing.T) {
	b := newBench(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := b.Read(ctx)
	require.ErrorIs(t, err, context.Canceled)
	_, hung := b.tree()
	assert.Empty(t, hung)
}

func TestOpenEnables(t *testing.T) {
	b := newBench(t, nil)
	session, err := bus.Connect(t.Context(), b.BusAddress())
	require.NoError(t, err)
	defer session.Close()
	status := session.Object(bus.Launcher, "/org/a11y/bus")
	enabled := func() bool {
		v, err := status.GetProperty("org.a11y.Status.IsEnabled")
		require.NoError(t, err)
		return v.Value().(bool)
	}
	require.NoError(t, status.SetProperty("org.a11y.Status.IsEnabled", false))
	for _, enable := range []bool{false, true} {
		r, err := Open(t.Context(), &Options{BusAddress: b.BusAddress(), Enable: enable})
		require.NoError(t, err)
		require.NoError(t, r.Close())
		assert.Equal(t, enable, enabled())
	}
}

func TestOpenWithoutBus(t *testing.T) {
	_, err := Open(t.Context(), &Options{BusAddress: "unix:path=" + filepath.Join(t.TempDir(), "none")})
	require.ErrorIs(t, err, errNoBus)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	_, err = Open(t.Context(), nil)
	require.ErrorIs(t, err, errNoBus)
}
