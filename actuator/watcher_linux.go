package actuator

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"desktop-agent/internal/x11"
)

// A watcher is a process beside this one that lets go the keys and buttons that
// are down once this one has ended, however it did: the X server keeps them down.
// It knows no model, no task and no key of an endpoint. It is this program once more,
// with another first argument.
//
// The end of a pipe tells it: nobody but this process has its write end. What is
// down it need not be told: the server knows.
type watcher struct {
	display string
	log     *slog.Logger

	mu     sync.Mutex
	now    *watching // nil while there is none
	failed error     // why there is none, and none will be
	closed bool
}

// A watching is one process of a watcher.
type watching struct {
	cmd    *exec.Cmd
	leash  *os.File      // the write end of the pipe
	ready  chan struct{} // closed when it watches
	exited chan struct{} // closed when it has ended
}

const (
	// watcherName is the first argument by which this program knows that it is to watch.
	watcherName = "desktop-agent-watcher"
	// watcherLimit is how long a watcher may take to start, and to let go and end: far longer
	// than it takes, for one that is killed on a busy machine leaves keys down.
	watcherLimit = 20 * time.Second
	// watcherStarts is how often one is started, before it is given up.
	watcherStarts = 5
	// watcherBye, written to the pipe, says that all has been let go.
	watcherBye = "bye"
)

// errUnwatched refuses input that nobody would let go.
var errUnwatched = errors.New("the process that lets keys go, should this one be killed, is gone and cannot be started again")

// This cannot wait for main: whatever program has a device can be its own watcher,
// that of a test too.
func init() {
	if len(os.Args) == 2 && os.Args[0] == watcherName {
		os.Exit(watch(os.Args[1], os.Stdin, os.Stdout))
	}
}

// startWatcher starts a watcher, and returns before it watches.
func startWatcher(display string, log *slog.Logger) (*watcher, error) {
	w := &watcher{display: display, log: log}
	if err := w.start(0); err != nil {
		return nil, err
	}
	return w, nil
}

// start starts the process, and another one when it ends.
func (w *watcher) start(before int) error {
	in, leash, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("watcher: %w", err)
	}
	defer in.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{watcherName, w.display}
	cmd.Dir = "/"
	cmd.Env = []string{"XAUTHORITY=" + os.Getenv("XAUTHORITY"), "HOME=" + os.Getenv("HOME")} // to connect; no secret
	cmd.Stdin = in
	// A session of its own: neither Ctrl-C nor the end of a terminal reaches it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		leash.Close()
		return fmt.Errorf("watcher: %w", err)
	}
	now := &watching{cmd: cmd, leash: leash, ready: make(chan struct{}), exited: make(chan struct{})}
	w.mu.Lock()
	w.now = now
	w.mu.Unlock()
	go func() {
		if line, _ := bufio.NewReader(out).ReadString('\n'); line != "" {
			close(now.ready)
		}
		_, _ = io.Copy(io.Discard, out)
		err := cmd.Wait()
		leash.Close()
		close(now.exited)
		w.again(before+1, err)
	}()
	return nil
}

// again starts another process in the place of one that ended.
func (w *watcher) again(started int, err error) {
	w.mu.Lock()
	w.now = nil
	closed := w.closed
	w.mu.Unlock()
	if closed {
		return
	}
	w.log.Warn("the watcher ended, starting another", "err", err)
	failed := errUnwatched
	if started < watcherStarts {
		if failed = w.start(started); failed == nil {
			return
		}
	}
	w.mu.Lock()
	w.failed = failed
	w.mu.Unlock()
}

// watches waits until a process watches. Its error says that nothing may be pressed.
func (w *watcher) watches(ctx context.Context) error {
	limit := time.After(watcherLimit)
	for {
		w.mu.Lock()
		now, failed := w.now, w.failed
		w.mu.Unlock()
		switch {
		case failed != nil:
			return fmt.Errorf("%w: %w", ErrRefused, failed)
		case now == nil: // between two
			now = &watching{}
		default:
			select {
			case <-now.ready:
				select {
				case <-now.exited:
				default:
					return nil
				}
			default:
			}
		}
		select {
		case <-now.ready:
		case <-now.exited:
		case <-time.After(5 * time.Millisecond):
		case <-limit:
			return fmt.Errorf("%w: %w", ErrRefused, errUnwatched)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// close ends the process. All has been let go if clean.
func (w *watcher) close(clean bool) error {
	w.mu.Lock()
	now := w.now
	w.closed = true
	w.mu.Unlock()
	if now == nil {
		return nil
	}
	if clean {
		_, _ = now.leash.WriteString(watcherBye)
	}
	now.leash.Close()
	select {
	case <-now.exited:
		return nil
	case <-time.After(watcherLimit):
		_ = now.cmd.Process.Kill()
		<-now.exited
		return errors.New("the watcher took too long, and was killed")
	}
}

// letGoAt is when a watcher looks for what is down, after the other process has
// ended: the server may read last what that one had sent.
var letGoAt = []time.Duration{0, 5, 10, 20, 40, 75, 100, 150, 250}

// watch waits for the end of the pipe, and lets go what is down on a display. It
// returns the exit code.
func watch(display string, leash io.Reader, tell io.Writer) int {
	conn, err := x11.Dial(display)
	if err != nil {
		return 1
	}
	defer conn.Close()
	x := &x11Backend{conn: conn, log: slog.New(slog.DiscardHandler)}
	if err := errors.Join(conn.Extension("XTEST"), xkbOpen(conn)); err != nil {
		return 1
	}
	go func() {
		<-conn.Closed()
		os.Exit(0) // a display that is gone holds nothing down
	}()
	// Where nobody hears it, the other process has ended already.
	signal.Ignore(syscall.SIGPIPE)
	_, _ = fmt.Fprintln(tell, "ready")
	said, err := io.ReadAll(io.LimitReader(leash, int64(len(watcherBye))))
	if err == nil && string(said) == watcherBye {
		return 0
	}
	began := time.Now()
	for _, at := range letGoAt {
		time.Sleep(time.Until(began.Add(at * time.Millisecond)))
		if _, err := x.letGo(); err != nil {
			return 1
		}
	}
	if err := x.takeBackLeftovers(); err != nil {
		return 1
	}
	return 0
}
