package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A launcher starts processes that the kernel kills when this program ends.
//
// The parent-death signal is sent when the *thread* that forked ends, and Go
// may end a thread at any time. So every process is forked by one thread that
// does nothing else and lives until all of them are gone.
type launcher struct {
	watchdog *watchdog
	jobs     chan func()
	done     chan struct{}
}

func newLauncher(w *watchdog) (*launcher, error) {
	l := &launcher{watchdog: w, jobs: make(chan func()), done: make(chan struct{})}
	joined := make(chan error)
	go func() {
		runtime.LockOSThread() // for ever: the thread ends with this, for it has other keys
		defer close(l.done)
		joined <- joinSession()
		for job := range l.jobs {
			job()
		}
	}()
	if err := <-joined; err != nil {
		l.close()
		return nil, fmt.Errorf("keys of its session: %w", err)
	}
	return l, nil
}

// joinSession gives what this thread starts a new keyring of the session in place of this
// program's, in which the kernel may hold keys of the user's. Where no program may use
// any, that is no error.
func joinSession() error {
	_, err := unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0) // without a name
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return nil
	}
	return err
}

// start runs cmd.Start on the launcher's thread.
func (l *launcher) start(cmd *exec.Cmd) (err error) {
	ran := make(chan struct{})
	l.jobs <- func() { defer close(ran); err = cmd.Start() }
	<-ran
	return err
}

// close ends the thread. No process that it started may be left.
func (l *launcher) close() {
	close(l.jobs)
	<-l.done
}

// A child is a process that the sandbox started, in a session and a process group
// of its own.
type child struct {
	name   string
	pid    int
	output *tail
	exited chan struct{} // closed after the process was waited for
	status string        // how it ended, readable after exited
	code   int           // its exit code, -1 if a signal ended it
}

// A command is what [launcher.spawn] starts.
type command struct {
	name  string // for texts
	path  string
	args  []string
	env   []string
	dir   string
	files []*os.File // its descriptors 3 and up
	// death is the signal that it gets when this program ends; SIGKILL if 0.
	death syscall.Signal
	// user is who it runs as, this program's user if 0.
	user int
	// spaces are the name spaces that it has of its own, such as [syscall.CLONE_NEWIPC].
	spaces uintptr
	// in, out and err are its standard streams. Where out and err are nil, the
	// last part of what it prints is kept.
	in, out, err *os.File
}

// before puts a prefix before the command line.
func (s *command) before(prefix []string) {
	if len(prefix) > 0 {
		s.path, s.args = prefix[0], slices.Concat(prefix[1:], []string{s.path}, s.args)
	}
}

// spawn starts a program and tells the watchdog of its group.
func (l *launcher) spawn(s command) (*child, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer write.Close()
	if s.death == 0 {
		s.death = syscall.SIGKILL
	}
	cmd := exec.Command(s.path, s.args...)
	cmd.Env = s.env
	cmd.Dir = s.dir
	cmd.Stdout, cmd.Stderr = write, write
	if s.in != nil { // a nil file in an interface is not nil
		cmd.Stdin = s.in
	}
	if s.out != nil {
		cmd.Stdout = s.out
	}
	if s.err != nil {
		cmd.Stderr = s.err
	}
	cmd.ExtraFiles = s.files
	// A session of its own has no terminal that a program could open or write to.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: s.death}
	if l.watchdog.keep > 0 { // it may outlive this program, and whoever reads what it prints
		cmd.SysProcAttr.Pdeathsig = 0
		if s.out == nil {
			cmd.Stdout = nil
		}
		if s.err == nil {
			cmd.Stderr = nil
		}
	}
	if s.spaces != 0 {
		ownSpaces(cmd.SysProcAttr, s.spaces)
	}
	if s.user != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(s.user), Gid: uint32(s.user)}
	}
	if err := l.start(cmd); err != nil {
		read.Close()
		return nil, fmt.Errorf("start %s: %w", s.name, err)
	}
	c := &child{name: s.name, pid: cmd.Process.Pid, output: newTail(read), exited: make(chan struct{})}
	l.watchdog.tell("group", c.pid)
	go func() {
		defer close(c.exited)
		err := cmd.Wait()
		l.watchdog.tell("gone", c.pid)
		c.status, c.code = "exit status 0", 0
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			c.status, c.code = exit.Error(), exit.ExitCode()
		} else if err != nil {
			c.status, c.code = err.Error(), -1
		}
	}()
	return c, nil
}

// running reports whether the process has not been waited for yet: until then
// its number, and that of its group, is nobody else's.
func (c *child) running() bool {
	select {
	case <-c.exited:
		return false
	default:
		return true
	}
}

// lastOutput returns the last lines of the output as one line, for an error text.
func (c *child) lastOutput() string {
	c.output.settle()
	lines := strings.Split(strings.TrimSpace(c.output.String()), "\n")
	text := strings.Join(lines[max(0, len(lines)-5):], " | ")
	if len(text) > 600 {
		text = "…" + strings.ToValidUTF8(text[len(text)-600:], "")
	}
	return text
}

// A tail keeps the last part of what a process and its children print.
type tail struct {
	file *os.File
	done chan struct{}

	mu   sync.Mutex
	text []byte
}

// tailSize is how many bytes of output are kept.
const tailSize = 16 << 10

func newTail(file *os.File) *tail {
	t := &tail{file: file, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		defer file.Close() // a desktop may start thousands of programs
		buf := make([]byte, 4096)
		for {
			n, err := file.Read(buf)
			t.mu.Lock()
			t.text = append(t.text, buf[:n]...)
			if len(t.text) > 2*tailSize {
				t.text = append([]byte(nil), t.text[len(t.text)-tailSize:]...)
			}
			t.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return t
}

// String returns the last output, without what is before its last 16 KiB.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.text[max(0, len(t.text)-tailSize):]), "�")
}

// settle waits until what a process printed before it ended has been read.
func (t *tail) settle() {
	select {
	case <-t.done:
	case <-time.After(100 * time.Millisecond): // its children may keep the pipe open
	}
}

// close stops reading; processes that still print get a broken pipe.
func (t *tail) close() {
	t.file.Close()
	<-t.done
}
