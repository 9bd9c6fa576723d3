package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"desktop-agent/internal/seal"
)

// A watchdog is a process that outlives this one. When this one ends, however
// it does, the watchdog kills what carries the mark and removes the folder. The
// kernel's parent-death signal is faster, but reaches only direct children.
//
// One that is killed is replaced, and the next is told of every process group that
// is there.
type watchdog struct {
	folder, mark string
	keep         time.Duration // how long the desktop waits for another owner
	log          *slog.Logger
	fail         func(error) // the desktop cannot go on
	done         chan error  // gets how the last one ended

	mu      sync.Mutex
	cmd     *exec.Cmd
	leash   *os.File // the write end of a pipe that nobody else has
	groups  map[int]bool
	closing bool
	began   time.Time // when the first was started
	deaths  int
}

// maxDeaths is how many watchdogs may be killed, and be replaced, in a minute each.
const maxDeaths = 5

// watchdogName is how it is called.
const watchdogName = "desktop-agent-watchdog"

// A Folder is one that several desktops may use, of files that this program makes. It
// goes with this program, also when that is killed.
type Folder struct {
	path     string
	watchdog *watchdog
}

// NewFolder makes a folder. log may be nil.
func NewFolder(log *slog.Logger) (*Folder, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if err := seal.Files(); err != nil { // the watchdog has none of them
		return nil, fmt.Errorf("open files: %w", err)
	}
	path, err := os.MkdirTemp("", "desktop-agent-")
	if err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	unwatched := func(err error) { log.Error("the folder stays if this program is killed", "folder", path, "err", err) }
	w, err := startWatchdog(path, markName+"="+newID(path), Options{Log: log}, unwatched)
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return &Folder{path, w}, nil
}

// Path returns where the folder is.
func (f *Folder) Path() string { return f.path }

// Close removes the folder. It may be called once.
func (f *Folder) Close() error {
	err := removeAll(f.path)
	return errors.Join(err, f.watchdog.close(err == nil))
}

func startWatchdog(folder, mark string, o Options, fail func(error)) (*watchdog, error) {
	w := &watchdog{folder: folder, mark: mark, keep: o.KeepFor, log: o.Log, fail: fail, done: make(chan error, 1), groups: map[int]bool{}, began: time.Now()}
	if err := w.start(); err != nil {
		return nil, err
	}
	return w, nil
}

// start starts a process, and tells it what there is. w.mu is held, or nobody else
// has w.
func (w *watchdog) start() error {
	script, err := fs.ReadFile(files, "files/watchdog.sh")
	if err != nil {
		return err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("watchdog: %w", err)
	}
	defer read.Close()
	cmd := exec.Command("/bin/sh", "-c", string(script), watchdogName, w.folder, w.mark, strconv.FormatFloat(w.keep.Seconds(), 'f', 3, 64))
	cmd.Stdin = read
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	// A session of its own: neither Ctrl-C nor the end of a terminal reaches it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		write.Close()
		return fmt.Errorf("watchdog: %w", err)
	}
	w.cmd, w.leash = cmd, write
	if w.keep > 0 {
		if err := os.WriteFile(filepath.Join(w.folder, watchdogFile), fmt.Appendln(nil, cmd.Process.Pid), 0o600); err != nil {
			w.log.Warn("the desktop cannot be taken over", "err", err)
		}
	}
	for group := range w.groups {
		_, _ = fmt.Fprintln(write, "group", group)
	}
	go func() { w.ended(cmd.Wait()) }()
	return nil
}

// ended replaces a process that ended without being told to.
func (w *watchdog) ended(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leash.Close()
	if w.closing {
		w.done <- err
		return
	}
	status := "exit status 0"
	if err != nil {
		status = err.Error()
	}
	w.deaths++
	if w.deaths > maxDeaths*(1+int(time.Since(w.began)/time.Minute)) {
		err = errors.New("too many were killed")
	} else if err = w.start(); err == nil {
		w.log.Warn("the watchdog of a desktop was killed, and is replaced", "status", status)
		return
	}
	w.closing = true
	w.done <- nil
	go w.fail(&DiedError{Part: "watchdog", Status: status, Output: err.Error()})
}

// tell says that a process group is there, or that its leader is gone, after
// which its number may become another's. It never waits: a pipe has room for
// thousands of lines, and the watchdog reads them at once.
func (w *watchdog) tell(what string, pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if what == "group" {
		w.groups[pid] = true
	} else {
		delete(w.groups, pid)
	}
	_, _ = fmt.Fprintln(w.leash, what, pid)
}

// close ends the watchdog: at once where nothing is left for it to do, else
// after it has tried.
func (w *watchdog) close(clean bool) error {
	w.mu.Lock()
	w.closing = true
	if clean {
		_, _ = w.leash.WriteString("clean\n")
	}
	w.leash.Close()
	cmd := w.cmd
	w.mu.Unlock()
	select {
	case err := <-w.done:
		if err != nil {
			return fmt.Errorf("watchdog: %w", err)
		}
		return nil
	case <-time.After(2 * killPeriod):
		_ = cmd.Process.Kill()
		<-w.done
		return errors.New("watchdog: took too long, killed")
	}
}
