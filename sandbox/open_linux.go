package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jezek/xgb/xproto"
)

const (
	// openLimit bounds [Desktop.Open] where the context has no earlier end.
	openLimit = 2 * time.Minute
	// handOver is how long a program that exits without an error and without a
	// window may take to show one: it asked one that runs already to do so.
	// Nor is the time counted in which other programs of the desktop work, up to handOverMost.
	handOver     = 3 * time.Second
	handOverMost = 30 * time.Second
	// focusLimit is how long a new window may take to get the focus. Almost all
	// have it at once; some never want it.
	focusLimit = 2 * time.Second
)

// programName is the environment variable that tells the processes of one
// program from those of another.
const programName = "DESKTOP_AGENT_PROGRAM"

// A Process is a program that was opened on a desktop.
type Process struct {
	desktop *Desktop
	child   *child
	mark    string
	window  xproto.Window
}

// Open starts a program and returns when its first window is shown, managed by
// the window manager, and has the focus if it takes it. Splash screens do not
// count. Where the program hands over to an instance of itself that runs
// already, that one's new window counts, also while this one waits for it.
//
// A program that exits before it shows a window is an error with the last of
// its output; so is one that shows none within two minutes or before ctx ends,
// and it is then ended. Where there is no such program the error is [ErrNotInstalled].
func (d *Desktop) Open(ctx context.Context, program string, args ...string) (*Process, error) {
	p, err := d.open(ctx, program, args)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", program, err)
	}
	return p, nil
}

func (d *Desktop) open(ctx context.Context, program string, args []string) (*Process, error) {
	if err := d.Err(); err != nil {
		return nil, err
	}
	path := program
	if d.sameFiles() { // else who knows what is there
		var err error
		if path, err = d.lookPath(program); err != nil {
			return nil, err
		}
	}
	windows, err := d.screen.conn.Clients()
	if err != nil {
		return nil, err
	}
	// The window of a program that has ended may be listed still, and what is started next is
	// given the same number for its own: so whose they are is known as well.
	known := make(map[xproto.Window]int, len(windows))
	for _, w := range windows {
		known[w] = d.screen.conn.PID(w)
	}
	mark := d.newMark()
	child, err := d.spawn(d.guest(command{name: program, path: path, args: args, env: append(d.GuestEnv(), mark)}))
	if err != nil {
		return nil, err
	}
	p := &Process{desktop: d, child: child, mark: mark}
	ctx, cancel := context.WithTimeoutCause(ctx, openLimit, fmt.Errorf("no window after %v", openLimit))
	defer cancel()
	if p.window, err = p.firstWindow(ctx, known); err != nil {
		if text := child.lastOutput(); text != "" {
			err = fmt.Errorf("%w; its last output: %s", err, text)
		}
		return nil, errors.Join(err, p.Close())
	}
	d.focus(ctx, p.window)
	d.options.Log.Info("program opened", "program", program, "pid", child.pid)
	return p, nil
}

// lookPath finds a program in the PATH of the desktop.
func (d *Desktop) lookPath(program string) (string, error) {
	if strings.Contains(program, "/") {
		if info, err := os.Stat(program); err != nil || info.IsDir() {
			return "", fmt.Errorf("%w: there is no such file: check the path", ErrNotInstalled)
		} else if info.Mode()&0o111 == 0 {
			return "", fmt.Errorf("%w: the file may not be executed: `chmod +x` it", ErrNotInstalled)
		}
		return filepath.Abs(program)
	}
	for _, folder := range d.path() {
		path := filepath.Join(folder, program)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return filepath.Abs(path)
		}
	}
	return "", fmt.Errorf("%w: it is in no folder of PATH: check the name, or install it, for example with `apt-get install %s`", ErrNotInstalled, program)
}

// path returns the folders of the desktop's PATH.
func (d *Desktop) path() []string {
	search := ""
	for _, pair := range d.GuestEnv() {
		if value, ok := strings.CutPrefix(pair, "PATH="); ok {
			search = value
		}
	}
	return filepath.SplitList(search)
}

// firstWindow waits for a managed window of the program beside the known ones, of which the
// processes are given.
func (p *Process) firstWindow(ctx context.Context, known map[xproto.Window]int) (xproto.Window, error) {
	d, c := p.desktop, p.desktop.screen.conn
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watching := make(chan struct{})
	defer func() { cancel(nil); <-watching }()
	go func() {
		defer close(watching)
		cancel(p.gone(ctx))
	}()
	// The window manager may list a window before it shows it, and the window of
	// another instance counts only once this one has exited: look again by time.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var found xproto.Window
	err := until(ctx, c, tick.C, func() (bool, error) {
		windows, err := c.Clients()
		if err != nil {
			return false, err
		}
		for _, w := range windows {
			if pid, old := known[w]; old && pid == c.PID(w) {
				continue
			}
			if d.shown(w) && p.owns(w) {
				found = w
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return found, err
}

// gone waits until no window can come any more, and says why.
func (p *Process) gone(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-p.desktop.Done():
		return p.desktop.Err()
	case <-p.child.exited:
	}
	if p.child.code != 0 {
		return fmt.Errorf("it ended without a window: %s", p.child.status)
	}
	// It may have left a process behind, or asked another one, which then works: on a
	// machine that does much else for longer than such a one takes otherwise.
	began, worked, still := time.Now(), uint64(0), time.Now()
	for time.Since(still) < handOver && time.Since(began) < handOverMost || len(marked(p.mark)) > 0 {
		if ticks := worksOf(p.desktop.mark); ticks > worked+1 { // more than a caret that blinks
			worked, still = ticks, time.Now()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-p.desktop.Done():
			return p.desktop.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return errors.New("it ended without a window of its own and without an error: an instance that runs already may have taken over")
}

// owns reports whether the window is the program's: made by one of its
// processes, by anyone after it has exited and handed over, or by another part of it.
func (p *Process) owns(w xproto.Window) bool {
	if !p.child.running() && len(marked(p.mark)) == 0 {
		return true
	}
	pid := p.desktop.screen.conn.PID(w)
	if _, ok := statOf(os.Getpid()); !ok || pid == 0 {
		return true // no /proc, or no word from the window: it is the newest there is
	}
	own := marked(p.mark)
	return pid == p.child.pid || slices.Contains(own, pid) || p.besides(pid, own)
}

// besides reports whether a process runs from the folder of one of the program's own, if
// that is no folder of PATH: parts of a program lie together. What is started of LibreOffice
// hands over to what runs already, and waits for as long as a dialog is open there.
func (p *Process) besides(pid int, own []int) bool {
	folder := partsIn(pid)
	if folder == "" || slices.Contains(p.desktop.path(), folder) {
		return false
	}
	return slices.ContainsFunc(own, func(one int) bool { return partsIn(one) == folder })
}

// partsIn returns the folder of the file that a process runs; "" if nobody tells.
func partsIn(pid int) string {
	file, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
	if err != nil {
		return ""
	}
	return filepath.Dir(file)
}

// shown reports whether a window is on the screen and is more than a splash screen.
func (d *Desktop) shown(w xproto.Window) bool {
	c := d.screen.conn
	attributes, err := xproto.GetWindowAttributes(c.Conn, w).Reply()
	if err != nil || attributes.MapState != xproto.MapStateViewable {
		return false
	}
	splash, err := c.Atom("_NET_WM_WINDOW_TYPE_SPLASH")
	if err != nil {
		return false
	}
	types, err := c.Cardinals(w, "_NET_WM_WINDOW_TYPE")
	return err == nil && !slices.Contains(types, uint32(splash))
}

// focus waits for a window to get the focus, but not for long.
func (d *Desktop) focus(ctx context.Context, w xproto.Window) {
	ctx, cancel := context.WithTimeout(ctx, focusLimit)
	defer cancel()
	_ = until(ctx, d.screen.conn, nil, func() (bool, error) {
		active, err := d.screen.conn.Active()
		return active == w, err
	})
}

// PID returns the number of the process that was started; its windows may
// belong to a child of it.
func (p *Process) PID() int { return p.child.pid }

// Window returns the X identifier of the window that Open waited for.
func (p *Process) Window() uint32 { return uint32(p.window) }

// Output returns the last 16 KiB of what the program printed.
func (p *Process) Output() string {
	if !p.child.running() {
		p.child.output.settle()
	}
	return p.child.output.String()
}

// Done is closed when the process that was started has exited.
func (p *Process) Done() <-chan struct{} { return p.child.exited }

// Err returns nil while the process runs and after it exited without an error,
// else how it ended.
func (p *Process) Err() error {
	if !p.child.running() && p.child.code != 0 {
		return fmt.Errorf("%s: %s", p.child.name, p.child.status)
	}
	return nil
}

// Code returns the exit code of the process that was started, -1 if a signal
// ended it or it runs still.
func (p *Process) Code() int {
	if p.child.running() {
		return -1
	}
	return p.child.code
}

// Close ends the program with every process that it started. An instance that
// ran before and was handed over to goes on.
func (p *Process) Close() error {
	err := end(p.mark, []*child{p.child})
	if err != nil {
		return fmt.Errorf("close %s: %w", p.child.name, err)
	}
	<-p.child.exited
	return nil
}
