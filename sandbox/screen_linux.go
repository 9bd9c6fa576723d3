package sandbox

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"desktop-agent/internal/x11"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xproto"
	"golang.org/x/sys/unix"
)

// A screen is the X server of a desktop.
type screen struct {
	socket string // its path
	id     string // of the socket, to tell it from one of a later server
	conn   *x11.Conn
}

// socket returns the path of the socket of the desktop's display.
func (d *Desktop) socket() string { return x11.SocketOf(d.Display()) }

// SocketFile returns the second name that the socket of the display has once the display
// is there, in a folder of the desktop's; "" where it can have none, as the folder is on
// another file system: [Guest.Enter] is then called when the display is there.
func (d *Desktop) SocketFile() string {
	if !d.early {
		return ""
	}
	return filepath.Join(d.folder, "etc", "display")
}

// sameMount reports whether a file of one folder can have a second name in the other.
func sameMount(folder, other string) bool {
	var a, b unix.Statx_t
	const which = unix.STATX_MNT_ID
	return unix.Statx(unix.AT_FDCWD, folder, 0, which, &a) == nil && unix.Statx(unix.AT_FDCWD, other, 0, which, &b) == nil &&
		a.Mask&b.Mask&which != 0 && a.Mnt_id == b.Mnt_id
}

// serverFile is the file of the folder that names the socket of the X server, for the
// watchdog: a line before the server is started, and one with what [idOf] tells once it
// listens.
const serverFile = "xserver"

// noteServer adds a line to it. The file has the one before at every moment.
func (d *Desktop) noteServer(socket, id string) error {
	file, err := os.OpenFile(filepath.Join(d.folder, serverFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, socket, id)
	return errors.Join(err, file.Close())
}

// idOf tells a file from another one of the same name: inode and time of change,
// in seconds, as `stat -c "%i %Z"` prints them; "" if there is none.
func idOf(path string) string {
	var stat syscall.Stat_t
	if err := syscall.Lstat(path, &stat); err != nil {
		return ""
	}
	return fmt.Sprint(stat.Ino, " ", stat.Ctim.Sec)
}

// startScreen waits for the X server and makes its screen ready for programs.
func (d *Desktop) startScreen(ctx context.Context, server *server) error {
	if err := server.listens(ctx, d.Display()); err != nil {
		return err
	}
	socket := d.socket()
	if second := d.SocketFile(); second != "" {
		if err := os.Link(socket, second); err != nil {
			return fmt.Errorf("display: %w", err)
		}
	}
	id := idOf(socket) // which a second name changes
	if err := d.noteServer(socket, id); err != nil {
		return fmt.Errorf("display: %w", err)
	}
	if err := admitUsers(socket, d.cookieFile(), os.Getuid(), d.guestUser()); err != nil {
		return fmt.Errorf("display: let this user in: %w", err)
	}
	conn, err := x11.Dial(d.Display())
	if err != nil {
		return fmt.Errorf("display: %w", err)
	}
	if err := conn.Extension("X-Resource"); err != nil {
		conn.Close()
		return fmt.Errorf("display: %w", err)
	}
	d.mu.Lock()
	d.screen = &screen{socket: socket, id: id, conn: conn}
	d.mu.Unlock()
	if err := d.paint(); err != nil {
		return fmt.Errorf("display: %w", err)
	}
	return nil
}

// freeNumber returns the number of a display that no server has. It is drawn by lot:
// a server that ends gives up its number before it removes the socket's file, and so
// takes the socket of one that was given the same number at that moment. Who takes the
// lowest free one, as Xvfb does, is given such a number often.
func freeNumber() string {
	const first, last = 100, 59_535 // that of TCP, which is 6000 more, has 16 bits
	for {
		number := strconv.Itoa(first + rand.IntN(last-first+1))
		if idOf(x11.SocketOf(number)) == "" {
			return number
		}
	}
}

// A server is an X server that was started.
type server struct {
	*child
	display *os.File // it prints the number of its display there, once it listens
}

// startServer starts Xvfb on the desktop's display, with shared memory of its own if
// programs are to join that. Where the machine makes none, a guest's does without any, so
// that nothing goes from one guest to another; others have the machine's.
func (d *Desktop) startServer() (*server, error) {
	if err := d.noteServer(d.socket(), ""); err != nil {
		return nil, fmt.Errorf("display: %w", err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer write.Close()
	o := d.options
	start := func(own bool) (*child, error) {
		var spaces uintptr
		if own {
			spaces = syscall.CLONE_NEWIPC
		}
		shm := "+extension"
		if o.NoSharedMemory || o.Guest != nil && o.Guest.OwnMemory && !own {
			shm = "-extension"
		}
		return d.part(command{
			name: "X server (Xvfb)", path: d.tools.server, files: []*os.File{write}, spaces: spaces,
			death: syscall.SIGTERM, // on which it removes its socket
			args: []string{
				d.Display(), "-displayfd", "3",
				"-screen", "0", fmt.Sprintf("%dx%dx%d", o.Size.X*o.Monitors, o.Size.Y, o.Depth),
				"-dpi", strconv.Itoa(o.DPI),
				"-auth", d.cookieFile(),
				"-nolisten", "tcp",
				"-noreset", // or it would start anew when its last client leaves
				"-s", "0",  // no screen saver
				"+extension", "COMPOSITE", "+extension", "DAMAGE", shm, "MIT-SHM",
				"+extension", "RANDR", "+extension", "XTEST", "+extension", "XFIXES",
			}})
	}
	own := d.ownMemory()
	c, err := start(own)
	if own && refusedSpaces(err) {
		d.shares, own = NoContainer(err.Error()), false
		c, err = start(own)
	}
	if err != nil {
		read.Close()
		return nil, err
	}
	if own {
		d.memory = c.pid
	}
	return &server{c, read}, nil
}

// listens returns when the server answers on the display that it was told.
func (s *server) listens(ctx context.Context, display string) error {
	defer s.display.Close()
	number, err := readAll(ctx, s.display)
	if err != nil {
		return err
	}
	if ":"+strings.TrimSpace(number) == display {
		return nil
	}
	if err := await(ctx, s.exited); err != nil {
		return err
	}
	return &DiedError{Part: s.name, Status: s.status, Output: s.lastOutput()}
}

// readAll reads a pipe to its end.
func readAll(ctx context.Context, pipe *os.File) (string, error) {
	stop := context.AfterFunc(ctx, func() { pipe.Close() })
	defer stop()
	text, err := io.ReadAll(pipe)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return string(text), err
}

// admitUsers lets every process of some users connect to the display of a socket without the
// cookie, and nobody else: X asks the kernel who is at the other end. So
// programs that were not started by the sandbox, such as the one that looks at
// the desktop, need no XAUTHORITY.
func admitUsers(path, cookieFile string, users ...int) error {
	file, err := os.ReadFile(cookieFile)
	if err != nil {
		return err
	}
	socket, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	cookie := hex.EncodeToString(file[len(file)-x11.CookieSize:])
	conn, err := xgb.NewConnNetWithCookieHex(socket, cookie)
	if err != nil {
		socket.Close()
		return err
	}
	defer func() {
		conn.Close()
		for event, err := conn.WaitForEvent(); event != nil || err != nil; event, err = conn.WaitForEvent() {
		}
	}()
	for _, number := range users {
		user := "localuser\x00#" + strconv.Itoa(number)
		err := xproto.ChangeHostsChecked(conn, xproto.HostModeInsert, xproto.FamilyServerInterpreted, uint16(len(user)), []byte(user)).Check()
		if err != nil {
			return err
		}
	}
	return nil
}

// background is the colour of the root window: a muted blue, unlike any window.
var background = [3]uint16{0x3a3a, 0x5f5f, 0x7f7f}

// paint tells programs the size of text, sets up the monitors, and gives the root window
// its colour: last, as the server takes some time to draw that, in which the first
// programs may start.
func (d *Desktop) paint() error {
	c := d.screen.conn
	color, err := xproto.AllocColor(c.Conn, c.Screen.DefaultColormap, background[0], background[1], background[2]).Reply()
	if err != nil {
		return fmt.Errorf("background: %w", err)
	}
	xproto.ChangeWindowAttributes(c.Conn, c.Root, xproto.CwBackPixel, []uint32{color.Pixel})
	resources := fmt.Sprintf("Xft.dpi:\t%d\nXft.antialias:\t1\nXft.hinting:\t1\nXft.hintstyle:\thintslight\nXft.rgba:\tnone\n"+
		"Xcursor.theme:\tAdwaita\nXcursor.size:\t%d\nXTerm*faceName:\tDejaVu Sans Mono\nXTerm*faceSize:\t10\n",
		d.options.DPI, 24*d.options.scale())
	xproto.ChangeProperty(c.Conn, xproto.PropModeReplace, c.Root, xproto.AtomResourceManager, xproto.AtomString,
		8, uint32(len(resources)), []byte(resources))
	if d.options.Monitors > 1 {
		if err := d.placeMonitors(); err != nil {
			return fmt.Errorf("monitors: %w", err)
		}
	}
	if err := c.RoundTrip(); err != nil {
		return err
	}
	xproto.ClearArea(c.Conn, false, c.Root, 0, 0, 0, 0)
	return nil
}

// placeMonitors divides the screen into monitors, left to right. They are
// monitors in the sense of RandR 1.5, which its XINERAMA reports too: one
// screen, so that capture, damage and composition work as on real machines.
// (Xvfb +xinerama with a -screen for each has neither RandR nor COMPOSITE.)
func (d *Desktop) placeMonitors() error {
	c := d.screen.conn
	if err := c.Extension("RANDR"); err != nil {
		return err
	}
	resources, err := randr.GetScreenResourcesCurrent(c.Conn, c.Root).Reply()
	if err != nil {
		return err
	}
	for i := range d.options.Monitors {
		name, err := c.Atom("monitor-" + strconv.Itoa(i+1))
		if err != nil {
			return err
		}
		box := image.Rectangle{Max: d.options.Size}.Add(image.Pt(i*d.options.Size.X, 0))
		monitor := randr.MonitorInfo{
			Name: name, Primary: i == 0,
			X: int16(box.Min.X), Y: int16(box.Min.Y),
			Width: uint16(box.Dx()), Height: uint16(box.Dy()),
			WidthInMillimeters:  uint32(float64(box.Dx()) / float64(d.options.DPI) * 25.4),
			HeightInMillimeters: uint32(float64(box.Dy()) / float64(d.options.DPI) * 25.4),
		}
		if i == 0 { // the only output: a monitor takes the place of the one that X made for it
			monitor.Outputs = resources.Outputs
			monitor.NOutput = uint16(len(resources.Outputs))
		}
		if err := randr.SetMonitorChecked(c.Conn, c.Root, monitor).Check(); err != nil {
			return err
		}
	}
	return nil
}

// startManager starts the window manager and waits until it has taken over.
//
// It is outside of the container of the [Guest], and does as windows say: it ends the process
// that an unresponsive one names. So it has process numbers of its own, in which there is
// none but itself. Nor does it see a HOME that programs write.
func (d *Desktop) startManager(ctx context.Context) error {
	if err := d.takeOrders(); err != nil {
		return err
	}
	home := filepath.Join(d.folder, "manager")
	manager := command{
		name: "window manager (openbox)", path: d.tools.manager, dir: home, spaces: syscall.CLONE_NEWPID,
		args: []string{"--config-file", filepath.Join(d.folder, "etc", "openbox.xml"), "--sm-disable"},
		env: over(d.Env(), []string{ordersVariable + "=" + d.orders(), "HOME=" + home, "TMPDIR=" + home, "XDG_CONFIG_HOME=" + home,
			"XDG_CACHE_HOME=" + home, "XDG_DATA_HOME=" + home, "XDG_STATE_HOME=" + home, "XDG_RUNTIME_DIR=" + home}),
	}
	_, err := d.part(manager)
	if refusedSpaces(err) {
		manager.spaces = 0
		manager.before(d.apart(ctx))
		_, err = d.part(manager)
	}
	if err != nil {
		return err
	}
	err = until(ctx, d.screen.conn, nil, d.managed)
	if err == nil {
		err = d.answered(ctx)
	}
	if err != nil {
		return fmt.Errorf("window manager: %w", err)
	}
	return nil
}

// apart returns what is put before a command line for a program outside of the container of the
// [Guest] to have process numbers of its own where this program may not give it any. It is
// nil where bubblewrap may not either: it would end at once, and the desktop with it.
func (d *Desktop) apart(ctx context.Context) []string {
	if d.options.Guest == nil || d.bubble == nil {
		return nil
	}
	prefix := []string{d.bubble.bwrap, "--unshare-user", "--unshare-pid", "--die-with-parent", "--dev-bind", "/", "/", "--"}
	try := exec.CommandContext(ctx, prefix[0], append(prefix[1:len(prefix):len(prefix)], "/bin/true")...)
	try.Env = d.Env()
	if try.Run() != nil {
		return nil
	}
	return prefix
}

// answered waits until the window manager answers a question. It announces
// itself somewhat earlier, and forgets what it is asked until then: so it is
// asked again, with more patience each time.
func (d *Desktop) answered(ctx context.Context) error {
	for patience := 5 * time.Millisecond; ; patience *= 2 {
		once, cancel := context.WithTimeout(ctx, patience)
		err := d.screen.conn.PingManager(once)
		cancel()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil || !errors.Is(err, context.DeadlineExceeded):
			return err
		}
	}
}

// managed reports whether a window manager runs, as EWMH defines it: the window
// that the root window names exists and names itself.
func (d *Desktop) managed() (bool, error) {
	c := d.screen.conn
	const check = "_NET_SUPPORTING_WM_CHECK"
	ids, err := c.Cardinals(c.Root, check)
	if err != nil || len(ids) == 0 {
		return false, err
	}
	own, err := c.Cardinals(xproto.Window(ids[0]), check)
	if err != nil {
		return false, nil // not there any more: a manager that is being replaced
	}
	return len(own) > 0 && own[0] == ids[0], nil
}

// until waits for a condition, which it asks for when a property of the root
// window changes, and when again ticks.
func until(ctx context.Context, c *x11.Conn, again <-chan time.Time, condition func() (bool, error)) error {
	changed := make(chan struct{}, 1)
	stop := c.Listen(func(e xgb.Event) {
		if p, ok := e.(xproto.PropertyNotifyEvent); ok && p.Window == c.Root {
			select {
			case changed <- struct{}{}:
			default:
			}
		}
	})
	defer stop()
	if err := c.Select(c.Root, xproto.EventMaskPropertyChange); err != nil {
		return err
	}
	for {
		if ok, err := condition(); ok || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-again:
		case <-c.Closed():
			return x11.ErrNoDisplay
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// sweep removes the socket that an X server leaves when it is killed, unless another one
// has taken the display over. One that was killed while it started has no id yet: its
// socket is one at which nobody listens.
func (d *Desktop) sweep() {
	if d.screen != nil {
		if id := idOf(d.screen.socket); id != "" && id == d.screen.id {
			os.Remove(d.screen.socket)
		}
	} else if d.display != "" {
		if conn, err := net.Dial("unix", d.socket()); err == nil {
			conn.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			os.Remove(d.socket())
		}
	}
}
