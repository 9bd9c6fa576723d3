//go:build linux

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"desktop-agent/internal/x11"
	"desktop-agent/sandbox"

	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
	"github.com/stretchr/testify/require"
)

// numbered returns why the kernel refuses a process numbers of its own, nil if it does not.
func numbered() error {
	probe := exec.Command("/bin/true")
	probe.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if user, group := os.Getuid(), os.Getgid(); user != 0 {
		probe.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		probe.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: user, HostID: user, Size: 1}}
		probe.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: group, HostID: group, Size: 1}}
	}
	return probe.Run()
}

// forces is the role that has the window manager of a desktop end a window which does not
// answer, and which says that a process outside of the desktop made it.
func forces() (err error) {
	if err := numbered(); err != nil {
		fmt.Println("refused:", err)
		return nil
	}
	other := exec.Command("sleep", "1000")
	if err := other.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- other.Wait() }()
	d, err := sandbox.Start(context.Background(), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	c, err := x11.Dial(d.Display())
	if err != nil {
		return err
	}
	defer func() { c.Close(); <-c.Closed() }()
	if err := c.Extension("XTEST"); err != nil {
		return err
	}
	w, err := silent(c, other.Process.Pid)
	if err != nil {
		return err
	}
	for range 100 { // it waits some seconds for an answer, and asks whether to
		for _, key := range []byte{keyRight, keyReturn} {
			if err := c.Together(func() {
				xtest.FakeInput(c.Conn, xproto.KeyPress, key, 0, c.Root, 0, 0, 0)
				xtest.FakeInput(c.Conn, xproto.KeyRelease, key, 0, c.Root, 0, 0, 0)
			}); err != nil {
				return err
			}
			if err := c.PingManager(context.Background()); err != nil {
				return err
			}
		}
		if err := toManager(c, w, "_NET_CLOSE_WINDOW"); err != nil {
			return err
		}
		time.Sleep(200 * time.Millisecond)
		if title, err := c.Property(w, "_NET_WM_VISIBLE_NAME"); err == nil && strings.Contains(string(title), "Killing") {
			fmt.Println("forced")
			break
		}
	}
	select {
	case err := <-ended:
		fmt.Println("the other process:", err)
	case <-time.After(time.Second):
		fmt.Println("the other process lives")
		return other.Process.Kill()
	}
	return nil
}

// silent shows a window which answers nothing, and which says that it is a process's.
func silent(c *x11.Conn, pid int) (xproto.Window, error) {
	host, err := os.Hostname()
	if err != nil {
		return 0, err
	}
	w, err := xproto.NewWindowId(c.Conn)
	if err != nil {
		return 0, err
	}
	err = xproto.CreateWindowChecked(c.Conn, c.Screen.RootDepth, w, c.Root, 0, 0, 300, 200, 0,
		xproto.WindowClassInputOutput, c.Screen.RootVisual, 0, nil).Check()
	if err != nil {
		return 0, err
	}
	var atoms [3]xproto.Atom
	for i, name := range []string{"WM_DELETE_WINDOW", "_NET_WM_PING", "_NET_WM_PID"} {
		if atoms[i], err = c.Atom(name); err != nil {
			return 0, err
		}
	}
	protocols, err := c.Atom("WM_PROTOCOLS")
	if err != nil {
		return 0, err
	}
	words := func(property, kind xproto.Atom, values ...uint32) {
		data := make([]byte, 0, 4*len(values))
		for _, v := range values {
			data = append(data, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
		}
		xproto.ChangeProperty(c.Conn, xproto.PropModeReplace, w, property, kind, 32, uint32(len(values)), data)
	}
	words(protocols, xproto.AtomAtom, uint32(atoms[0]), uint32(atoms[1]))
	words(atoms[2], xproto.AtomCardinal, uint32(pid))
	xproto.ChangeProperty(c.Conn, xproto.PropModeReplace, w, xproto.AtomWmClientMachine, xproto.AtomString, 8, uint32(len(host)), []byte(host))
	if err := xproto.MapWindowChecked(c.Conn, w).Check(); err != nil {
		return 0, err
	}
	return w, c.PingManager(context.Background())
}

// toManager sends the window manager a message about a window.
func toManager(c *x11.Conn, w xproto.Window, name string) error {
	kind, err := c.Atom(name)
	if err != nil {
		return err
	}
	message := xproto.ClientMessageEvent{Format: 32, Window: w, Type: kind, Data: xproto.ClientMessageDataUnionData32New(make([]uint32, 5))}
	return xproto.SendEventChecked(c.Conn, false, c.Root,
		xproto.EventMaskSubstructureNotify|xproto.EventMaskSubstructureRedirect, string(message.Bytes())).Check()
}

// A window that does not answer cannot have the window manager end a process of the
// machine by saying that it is that one's: on root's desktops, and on a normal user's.
func TestManagerEndsNobody(t *testing.T) {
	if err := numbered(); err != nil {
		t.Skip("not held where processes get no numbers of their own: ", err)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	own := exec.Command(self)
	own.Env = append(os.Environ(), role+"=forces")
	ways := map[string]*exec.Cmd{"this user": own}
	if os.Getuid() == 0 {
		ways["a normal user"] = asUser(t, "forces")
	}
	for name, cmd := range ways {
		t.Run(name, func(t *testing.T) {
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			if strings.HasPrefix(string(out), "refused: ") {
				t.Skip("not held where processes get no numbers of their own: ", string(out))
			}
			require.Equal(t, "forced\nthe other process lives\n", string(out))
		})
	}
}

// The window manager reads and writes nothing in the HOME of programs.
func TestManagerHasItsOwnHome(t *testing.T) {
	d := start(t, nil)
	written, err := filepath.Glob(filepath.Join(d.Home(), ".*", "openbox"))
	require.NoError(t, err)
	require.Empty(t, written)
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pidOf(t, d, "openbox.xml")))
	require.NoError(t, err)
	require.NotContains(t, string(environ), d.Home())
}

// containerless is the role that starts a desktop whose guest has no container, because the machine
// makes none, and says why it did not start.
func containerless() error {
	guest := &sandbox.Guest{OwnMemory: true, Enter: func(ctx context.Context, d *sandbox.Desktop) (sandbox.Entrance, error) {
		select {
		case <-time.After(time.Second): // the window manager has started, or died
		case <-ctx.Done():
			return sandbox.Entrance{}, context.Cause(ctx)
		}
		bubble, err := sandbox.FindBubble()
		if err == nil {
			_, err = bubble.Hold(ctx, d, []string{"--dev-bind", "/", "/"})
		}
		return sandbox.Entrance{}, err
	}}
	_, err := sandbox.Start(context.Background(), &sandbox.Options{Guest: guest})
	if _, ok := errors.AsType[*sandbox.NoContainerError](err); !ok {
		return fmt.Errorf("not because of the container: %w", err)
	}
	return nil
}

// Where neither the kernel nor bubblewrap makes name spaces, the window manager is started
// without, so that what is said is that there is no container.
func TestManagerWithoutSpaces(t *testing.T) {
	without := []string{"bwrap", "--unshare-user", "--disable-userns", "--dev-bind", "/", "/", "--"}
	cmd := asUser(t, "containerless")
	program := slices.IndexFunc(cmd.Args, func(arg string) bool { return filepath.Base(arg) == "test" })
	cmd.Args = slices.Concat(cmd.Args[:program], without, cmd.Args[program:])
	if program == 0 {
		var err error
		cmd.Path, err = exec.LookPath(without[0])
		if err != nil {
			t.Skip(err)
		}
	}
	probe := *cmd
	probe.Args = append(slices.Clip(cmd.Args[:len(cmd.Args)-1]), "/bin/true")
	if out, err := probe.CombinedOutput(); err != nil {
		t.Skip("a machine without name spaces cannot be made here: ", string(out))
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}
