package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"desktop-agent/internal/seal"
	"desktop-agent/internal/x11"

	"github.com/godbus/dbus/v5"
	"golang.org/x/sync/errgroup"
)

// readyLimit bounds the wait for a part of the desktop to answer, where the
// caller's context has no earlier end. It is long: a loaded machine is slow.
const readyLimit = 60 * time.Second

// A Desktop is a private desktop; see [Start]. Its methods may be called by
// several goroutines at once.
type Desktop struct {
	options Options
	tools   tools
	folder  string // holds everything; removed by Close
	mark    string // "NAME=value" in the environment of every process
	base    []string

	launcher *launcher
	watchdog *watchdog

	bus     string
	entered Entrance
	bubble  *Bubble // makes the container of the programs; nil where there is none
	memory  int     // the X server's process, if that has shared memory of its own; else 0
	shares  error   // why programs have devices and shared memory of the machine; nil if they do not

	closing chan struct{} // closed when Close begins
	done    chan struct{} // closed when the desktop cannot be used any more
	watch   sync.WaitGroup
	close   func() error

	early bool // the display's socket has a second name, in the folder, for a container made before it is there

	mu       sync.Mutex
	display  string // chosen before it is there
	screen   *screen
	registry *dbus.Conn
	err      error
	children []*child
}

// Start starts a desktop and returns when it is ready: the window manager, the
// session bus and the accessibility bus have answered. o may be nil.
//
// The context bounds the start alone; the desktop lives until [Desktop.Close].
// Where programs are missing the error is a [*MissingError]. When Start
// returns an error, nothing of the desktop is left.
func Start(ctx context.Context, o *Options) (*Desktop, error) {
	options, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("start desktop: %w", err)
	}
	tools, err := findTools()
	if err != nil {
		return nil, fmt.Errorf("start desktop: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start desktop: %w", context.Cause(ctx))
	}
	var shares error // why there is no container for programs
	if options.MachineDevices {
		shares = errAsked
	}
	d, err := startOnce(ctx, options, tools, shares)
	if none := (*NoContainerError)(nil); options.Guest == nil && shares == nil && errors.As(err, &none) {
		return startOnce(ctx, options, tools, none)
	}
	return d, err
}

// startOnce starts a desktop, and leaves nothing of it if that fails. shares is why its
// programs are to have devices and shared memory of the machine, nil if they are not.
func startOnce(ctx context.Context, options Options, tools tools, shares error) (*Desktop, error) {
	d := &Desktop{
		options: options, tools: tools, shares: shares,
		closing: make(chan struct{}), done: make(chan struct{}),
	}
	d.close = sync.OnceValue(d.shutDown)
	begun := time.Now()
	if err := d.start(ctx); err != nil {
		return nil, fmt.Errorf("start desktop: %w", errors.Join(err, d.Close()))
	}
	options.Log.Info("desktop ready", "display", d.display, "ms", time.Since(begun).Milliseconds())
	if d.shares != nil && options.Guest == nil {
		options.Log.Warn("programs of the private desktop have devices and shared memory of the machine", "why", d.shares)
	}
	return d, nil
}

// start brings up every part, those that do not need each other at once.
func (d *Desktop) start(ctx context.Context) error {
	if err := seal.Files(); err != nil { // what this program was started with is for nobody else
		return fmt.Errorf("open files: %w", err)
	}
	if err := d.makeFolder(); err != nil {
		return err
	}
	var err error
	if d.watchdog, err = startWatchdog(d.folder, d.mark, d.options, d.fail); err != nil {
		return err
	}
	if d.launcher, err = newLauncher(d.watchdog); err != nil {
		return err
	}
	limited, cancel := context.WithTimeoutCause(ctx, readyLimit, fmt.Errorf("not ready after %v", readyLimit))
	defer cancel()
	alive, fail := context.WithCancelCause(limited)
	defer fail(nil)
	go func() { // a part that dies ends the wait for the others
		select {
		case <-d.done:
			fail(d.Err())
		case <-alive.Done():
		}
	}()
	d.early = d.options.Guest != nil && sameMount(d.folder, x11.Sockets)
	d.mu.Lock()
	d.display = ":" + freeNumber()
	d.mu.Unlock()
	server, err := d.startServer()
	if err != nil {
		return err
	}
	shown := make(chan struct{}) // closed when the display can be used
	parts, ctx := errgroup.WithContext(alive)
	parts.Go(func() error {
		if err := d.startScreen(ctx, server); err != nil {
			return err
		}
		close(shown)
		return d.startManager(ctx)
	})
	parts.Go(func() error {
		if d.options.Guest != nil {
			if err := d.prepare(ctx); err != nil {
				return fmt.Errorf("guest: %w", err)
			}
			if !d.early {
				if err := await(ctx, shown); err != nil {
					return err
				}
			}
			if err := d.enter(ctx); err != nil {
				return fmt.Errorf("guest: %w", err)
			}
		} else if d.memory != 0 {
			if err := d.confine(ctx); err != nil {
				return err
			}
		}
		if err := d.startBus(ctx); err != nil {
			return err
		}
		if err := await(ctx, shown); err != nil {
			return err
		}
		return d.startAccessibility(ctx)
	})
	if err := parts.Wait(); err != nil {
		// The cause first: what else is said follows from it. A part that loses its
		// reader as the wait ends dies of that.
		if limited.Err() != nil {
			return fmt.Errorf("%w (%v)", context.Cause(limited), err)
		}
		if died := d.Err(); died != nil {
			return died
		}
		return err
	}
	return d.writeKept()
}

// await waits for a channel to be closed.
func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// part starts a process that the desktop cannot do without.
func (d *Desktop) part(s command) (*child, error) {
	if s.env == nil {
		s.env = d.Env()
	}
	c, err := d.spawn(s)
	if err != nil {
		return nil, err
	}
	d.watch.Go(func() {
		<-c.exited
		select {
		case <-d.closing:
		default:
			d.fail(&DiedError{Part: s.name, Status: c.status, Output: c.lastOutput()})
		}
	})
	return c, nil
}

// spawn starts a process that Close will end.
func (d *Desktop) spawn(s command) (*child, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.closing:
		return nil, ErrClosed
	default:
	}
	if s.dir == "" {
		s.dir = d.Home()
	}
	c, err := d.launcher.spawn(s)
	if err != nil {
		return nil, err
	}
	d.children = append(d.children, c)
	return c, nil
}

// fail records why the desktop ended; the first reason stays.
func (d *Desktop) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return
	}
	d.err = err
	close(d.done)
	if err != ErrClosed {
		d.options.Log.Error("desktop ended", "display", d.display, "err", err)
	}
}

// Display returns the name of the X display, such as ":12". Every process of
// this user can connect to it, with or without the XAUTHORITY file of [Desktop.Env].
func (d *Desktop) Display() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.display
}

// BusAddress returns the address of the D-Bus session bus, on which
// org.a11y.Bus gives the address of the accessibility bus.
func (d *Desktop) BusAddress() string { return d.bus }

// Home returns the programs' HOME folder.
func (d *Desktop) Home() string {
	if d.options.Home != "" {
		return d.options.Home
	}
	return filepath.Join(d.folder, "home")
}

// Env returns the complete environment of a program on this desktop. Of the
// environment of this program it has only PATH; [Options.Env] stands above the
// rest. A process that is started with it belongs to the desktop: Close ends it too.
func (d *Desktop) Env() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	env := slices.Clone(d.base)
	if d.display != "" {
		env = append(env, "DISPLAY="+d.display)
	}
	return over(env, d.options.Env, []string{d.mark})
}

// over returns an environment with others put over it.
func over(env []string, others ...[]string) []string {
	env = slices.Clone(env)
	for _, pair := range slices.Concat(others...) {
		name, _, _ := strings.Cut(pair, "=")
		env = slices.DeleteFunc(env, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		env = append(env, pair)
	}
	return env
}

// Done is closed when the desktop cannot be used any more: Close was called, or
// the X server, the window manager or a bus died. [Desktop.Err] says which.
func (d *Desktop) Done() <-chan struct{} { return d.done }

// Err returns nil while the desktop can be used, then a [*DiedError] that names
// what died, or [ErrClosed].
func (d *Desktop) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// Close ends every process of the desktop, also those that cut themselves loose,
// and removes its folder. It returns when they are gone. Further calls return
// the result of the first.
func (d *Desktop) Close() error { return d.close() }

func (d *Desktop) shutDown() error {
	d.mu.Lock()
	close(d.closing) // from here on no process is started
	d.mu.Unlock()
	d.fail(ErrClosed)
	if d.folder == "" {
		return nil
	}
	if d.registry != nil {
		d.registry.Close()
	}
	if d.screen != nil {
		d.screen.conn.Close()
	}
	err := end(d.mark, d.children)
	if err == nil { // else what does not end would be waited for, for ever
		for _, c := range d.children {
			<-c.exited
			c.output.close()
		}
		d.watch.Wait()
		if d.launcher != nil {
			d.launcher.close()
		}
		if d.screen != nil {
			<-d.screen.conn.Closed()
		}
	}
	d.sweep()
	sweepPipes()
	err = errors.Join(err, d.leave(), removeAll(d.folder))
	if d.watchdog != nil {
		err = errors.Join(err, d.watchdog.close(err == nil))
	}
	if err != nil {
		return fmt.Errorf("close desktop: %w", err)
	}
	return nil
}

// closedLimit bounds the time in which closed folders are opened. What is left then the
// watchdog removes, when this program ends.
const closedLimit = 20 * time.Second

// removeAll removes a folder, also where programs have closed it, or one in it, to its
// owner. None of them runs any more.
func removeAll(folder string) error {
	err := os.RemoveAll(folder)
	if os.Getuid() == 0 { // to whom none is closed; and who would open what a link leads to
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), closedLimit)
	defer cancel()
	for _, open := range []func(context.Context, string) error{openFolders, findFolders} {
		if !errors.Is(err, fs.ErrPermission) {
			return err
		}
		bad := open(ctx, folder)
		if err = os.RemoveAll(folder); err != nil {
			err = errors.Join(err, bad)
		}
	}
	return err
}

// openFolders opens a folder, and those in it that have no path too long, to their owner:
// each before what is in it. Folders alone: a file may have another name elsewhere.
func openFolders(ctx context.Context, folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil || !entry.IsDir() {
			return nil // what cannot be looked into is for findFolders
		}
		if info, err := entry.Info(); err == nil && info.Mode().Perm()&0o700 != 0o700 {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
}

// findFolders opens any folders, as the watchdog does: with a process for each.
func findFolders(ctx context.Context, folder string) error {
	find := exec.CommandContext(ctx, "find", folder, "-type", "d", "!", "-perm", "-700", "-execdir", "chmod", "700", "{}", ";")
	find.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	find.WaitDelay = time.Second // for one that has its output
	if text, err := find.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %.300s", err, text)
	}
	return nil
}

// sweepPipes removes the sockets that a LibreOffice which was killed leaves in
// /tmp, whatever TMPDIR says: those of this user that nobody holds any more.
func sweepPipes() {
	paths, _ := filepath.Glob(fmt.Sprintf("/tmp/OSL_PIPE_%d_SingleOfficeIPC_*", os.Getuid()))
	if len(paths) == 0 {
		return
	}
	held, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return
	}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err == nil && info.Mode().Type() == fs.ModeSocket && !bytes.Contains(held, []byte(" "+path+"\n")) {
			_ = os.Remove(path) // another desktop may have been faster
		}
	}
}

// newID returns a name that no other desktop has.
func newID(folder string) string {
	return strconv.Itoa(os.Getpid()) + "-" + filepath.Base(folder)
}
