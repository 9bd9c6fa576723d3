package env

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"desktop-agent/internal/x11"
	"desktop-agent/run"
	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// An Env is a running environment; see [Start]. Its methods may be called by
// several goroutines at once.
type Env struct {
	options   Options
	isolation Isolation
	user      int // that programs run as, if this program is root
	desktop   *sandbox.Desktop
	folder    string // on this machine: what becomes /tmp, the programs' folder …
	etc       string // what becomes /etc, but for files of the task's own
	conn      *x11.Conn
	screen    *screen.Screen
	tree      *atspi.Reader
	bounds    *bounds
	done      chan struct{} // closed when the environment cannot be used any more

	closing context.Context // done when Close begins
	close   func() error
	pumps   sync.WaitGroup

	mu     sync.Mutex
	notes  []string
	author *run.Session // acts for the task's author; nil until it does
	over   *LimitError  // the limit that programs went to
	began  time.Time    // when it did first
	failed error        // what that broke of, the first; see Fail
}

// Start starts an environment and returns when its desktop is ready. o may be
// nil. The context bounds the start alone.
//
// From the first on the process has the umask 022, as the programs of its tasks do: the
// user of a task is another one than the process's, and reads what that makes for it.
func Start(ctx context.Context, o *Options) (*Env, error) {
	syscall.Umask(0o022)
	var s Options
	if o != nil {
		s = *o
	}
	if s.Size == (image.Point{}) {
		s.Size = DefaultSize
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	e := &Env{options: s, user: freeUser()}
	if s.Unisolated {
		e.user = nobodyIfRoot()
		e.isolation = Isolation{Why: e.unisolated()}
		s.Log.Warn("tasks see the machine itself", "why", e.isolation.Why)
		return e.start(ctx, nil)
	}
	p, err := findContainer()
	if err != nil {
		return nil, fmt.Errorf("start environment: %w", err)
	}
	e.isolation = Isolation{Files: true, Network: !s.Network}
	return e.start(ctx, p)
}

// Probe says how far tasks are kept apart from this machine, without starting any.
// The error is a [*NoIsolationError] where they cannot be, and o does not have them
// do without. o may be nil.
func Probe(ctx context.Context, o *Options) (Isolation, error) {
	if o == nil {
		o = &Options{}
	}
	e := &Env{options: *o, user: freeUser()}
	if o.Unisolated {
		e.user = nobodyIfRoot()
		e.isolation = Isolation{Why: e.unisolated()}
	} else {
		p, err := findContainer()
		if err == nil {
			err = p.tryOut(ctx, o.Network)
		}
		if err != nil {
			return Isolation{}, err
		}
		e.isolation = Isolation{Files: true, Network: !o.Network}
	}
	folder, err := sandbox.NewFolder(o.Log)
	if err != nil {
		return Isolation{}, err
	}
	e.bounds, err = newBounds(o.Limits.withDefaults(machineMemory()), folder.Path())
	e.isolation.Limits = e.bounds.String()
	return e.isolation, errors.Join(err, e.bounds.groups.close(), folder.Close())
}

// unisolated says what programs may do that run on the machine itself.
func (e *Env) unisolated() string {
	who := "this user, with all that it may"
	if e.user != 0 {
		who = "the user nobody"
	}
	text := "not isolated, as was asked for: commands see this machine's files, processes and network, and run as " + who
	if info, err := os.Stat("/proc"); e.user != 0 && err == nil && info.Mode()&0o005 != 0o005 {
		text += "; /proc is closed to it, which not every program bears"
	}
	return text
}

// nobodyIfRoot returns the number of the user nobody, on every Linux, if this program
// is root; else 0. On the machine itself programs need a user whom it knows: the
// session bus does not start for another one.
func nobodyIfRoot() int {
	if os.Getuid() != 0 {
		return 0
	}
	return 65534
}

// freeUser returns the number of a user whom this machine does not know, for
// programs to run as, if this program is root; else 0.
func freeUser() int {
	if os.Getuid() != 0 {
		return 0
	}
	number := 1000
	for ; number < 60000; number++ {
		if _, err := user.LookupId(strconv.Itoa(number)); err != nil {
			break
		}
	}
	return number
}

// owner returns the number of the user that programs run as.
func (e *Env) owner() int {
	if e.user != 0 {
		return e.user
	}
	return os.Getuid()
}

// start starts the desktop, and its programs in p; where that is nil, on this machine.
func (e *Env) start(ctx context.Context, p *container) (*Env, error) {
	closing, closed := context.WithCancel(context.WithoutCancel(ctx))
	e.closing, e.done = closing, make(chan struct{})
	e.close = sync.OnceValue(func() error { closed(); return e.shutDown() })
	guest := &sandbox.Guest{User: e.user, OwnMemory: p != nil,
		Prepare: func(_ context.Context, d *sandbox.Desktop) error {
			e.desktop = d
			return e.prepare()
		},
		Enter: func(ctx context.Context, d *sandbox.Desktop) (way sandbox.Entrance, err error) {
			if p == nil {
				way = e.drop()
			} else {
				way, err = p.make(ctx, e, d)
				e.bounds.segments = func() int64 { return segments(d, way.Files) }
			}
			way.Env = e.environment()
			return way, err
		},
		Leave: func() error {
			if e.bounds == nil { // it did not come so far
				return nil
			}
			return e.bounds.groups.close()
		}}
	desktop, err := sandbox.Start(ctx, &sandbox.Options{Size: e.options.Size, Guest: guest, Launchers: launchers(), Log: e.options.Log})
	if err != nil {
		closed()
		return nil, fmt.Errorf("start environment: %w", err)
	}
	e.desktop = desktop
	var taken sync.WaitGroup
	parts := desktop.Processes() // none of them is the task's own yet
	taken.Go(func() { e.bounds.take(parts) })
	icons, err := e.startIcons(ctx)
	err = errors.Join(err, e.watch(ctx))
	taken.Wait()
	e.pumps.Go(e.hold)
	if err == nil && icons {
		err = e.awaitIcons(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("start environment: %w", errors.Join(err, e.Close()))
	}
	return e, nil
}

// drop returns how programs start on the machine itself: within the bounds, and as
// the user that they run as.
func (e *Env) drop() sandbox.Entrance {
	var as []string
	if e.user != 0 {
		number := strconv.Itoa(e.user)
		as = []string{"/usr/bin/setpriv", "--reuid", number, "--regid", number, "--clear-groups", "--"}
	}
	return sandbox.Entrance{Prefix: append(e.bounds.prefix(e.user), as...), Files: as}
}

// hold looks at what the programs use, until the environment ends, and ends it when
// that is too much.
func (e *Env) hold() {
	defer close(e.done)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-e.desktop.Done():
			if !errors.Is(e.desktop.Err(), sandbox.ErrClosed) {
				_ = e.Exceeded() // is what Err then returns
			}
			return
		case <-tick.C:
			if e.Exceeded() != nil {
				return
			}
		}
	}
}

// Exceeded returns a [*LimitError] if the programs went to one of their limits, as it
// is now, and nil if they did not.
func (e *Env) Exceeded() error {
	e.mu.Lock()
	over := e.over
	e.mu.Unlock()
	if over != nil {
		return over
	}
	if e.desktop.Err() != nil { // what the programs used is being removed, and a limit may be why
		over = e.bounds.refused()
	} else {
		over = e.bounds.exceeded()
	}
	if over == nil {
		return nil
	}
	e.options.Log.Warn("the programs of a task went to a limit", "what", over.What)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over = over
	return over
}

// watch begins to look at the desktop.
func (e *Env) watch(ctx context.Context) (err error) {
	if e.conn, err = x11.Dial(e.desktop.Display()); err != nil {
		return err
	}
	if e.tree, err = atspi.Open(ctx, &atspi.Options{BusAddress: e.desktop.BusAddress(), Server: e.Server(), Log: e.options.Log}); err != nil {
		return err
	}
	e.screen, err = screen.Open(ctx, &screen.Options{Display: e.desktop.Display(), Tree: e.tree, Log: e.options.Log})
	return err
}

// environment returns what programs have in their environment beside what
// every program of a desktop has.
func (e *Env) environment() []string {
	home, tmp, bin := e.inside(Home), e.inside("/tmp"), e.inside(binFolder)
	return []string{
		"PATH=" + bin + ":" + programFolders + ":" + e.inside(missingFolder),
		"HOME=" + home, "USER=user", "LOGNAME=user", "SHELL=/bin/bash", "PWD=" + home,
		"TMPDIR=" + tmp,
		"XDG_CONFIG_HOME=" + home + "/.config", "XDG_CACHE_HOME=" + home + "/.cache",
		"XDG_DATA_HOME=" + home + "/.local/share", "XDG_STATE_HOME=" + home + "/.local/state",
		"XDG_DATA_DIRS=/usr/local/share:/usr/share", "BROWSER=google-chrome",
		"MOZ_LEGACY_PROFILES=1", // or Thunderbird makes a profile beside the one that is there
	}
}

// Close ends every process of the environment and removes everything it wrote.
// It returns when they are gone. Further calls return the result of the first.
func (e *Env) Close() error { return e.close() }

func (e *Env) shutDown() error {
	var errs []error
	e.mu.Lock()
	if e.author != nil {
		_, err := e.author.Hand.End(context.Background(), e.failed, time.Since(e.began))
		if e.failed == nil || errors.Is(err, run.ErrJournal) {
			errs = append(errs, err) // what failed is known to whoever noted it
		}
		errs = append(errs, e.author.Close())
	}
	e.mu.Unlock()
	if e.screen != nil {
		errs = append(errs, e.screen.Close())
	}
	if e.tree != nil {
		errs = append(errs, e.tree.Close())
	}
	if e.conn != nil {
		e.conn.Close()
		<-e.conn.Closed()
	}
	errs = append(errs, e.desktop.Close())
	e.pumps.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close environment: %w", err)
	}
	return nil
}

// Isolation says how far the task is kept apart from the machine.
func (e *Env) Isolation() Isolation { return e.isolation }

// Size returns the size of the screen in pixels.
func (e *Env) Size() image.Point { return e.options.Size }

// Network reports whether programs can reach the machine's network.
func (e *Env) Network() bool { return !e.isolation.Network }

// Screen looks at the desktop, accessibility tree included.
func (e *Env) Screen() *screen.Screen { return e.screen }

// Tree reads the accessibility trees of the programs.
func (e *Env) Tree() *atspi.Reader { return e.tree }

// Display returns the name of the X display, for programs of this machine.
func (e *Env) Display() string { return e.desktop.Display() }

// Server returns the process of the server of that display; 0 if it is not known.
func (e *Env) Server() int { return x11.ServerOf(e.desktop.Display()) }

// BusAddress returns the address of the D-Bus session bus, for programs of this machine.
func (e *Env) BusAddress() string { return e.desktop.BusAddress() }

// Now returns the time that programs see.
func (e *Env) Now() time.Time { return time.Now().UTC() }

// Done is closed when the environment cannot be used any more; [Env.Err] says why.
func (e *Env) Done() <-chan struct{} { return e.done }

// Err returns nil while the environment can be used; a [*LimitError] if its programs
// went to a limit.
func (e *Env) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over != nil {
		return e.over
	}
	return e.desktop.Err()
}

// within returns a path below the folder of the environment.
func (e *Env) within(name string) string { return filepath.Join(e.folder, name) }
