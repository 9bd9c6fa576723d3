package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
)

// A launcher starts processes that the kernel kills when this program ends.
//
// The parent-death signal is sent when the *thread* that forked ends, and Go
// may end a thread at any time. So every process is forked by one thread that
// does nothing else and lives until all of them are gone.
type launcher struct {
	jobs chan func()
	done chan struct{}
}

func newLauncher() *launcher {
	l := &launcher{jobs: make(chan func()), done: make(chan struct{})}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(l.done)
		for job := range l.jobs {
			job()
		}
	}()
	return l
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

// A child is a process that the sandbox started, in a process group of its own.
type child struct {
	name   string
	pid    int
	output *tail
	exited chan struct{} // closed after the process was waited for
	status string        // how it ended, readable after exited
	code   int           // its exit code, -1 if a signal ended it
}

// spawn starts a program. files become its descriptors 3 and up.
func (l *launcher) spawn(name, path string, args, env []string, dir string, files ...*os.File) (*child, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer write.Close()
	cmd := exec.Command(path, args...)
	cmd.Env = env
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = write, write
	cmd.ExtraFiles = files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := l.start(cmd); err != nil {
		read.Close()
		return nil, err
	}
	c := &child{name: name, pid: cmd.Process.Pid, output: newTail(read), exited: make(chan struct{})}
	go func() {
		defer close(c.exited)
		err := cmd.Wait()
		c.status, c.code = "exit status 0", 0
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			c.status, c.code = exit.Error(), exit.ExitCode()
		} else if err != nil {
			c.status, c.code = err.Error(), -1
		}
	}()
	return c, nil
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

// last returns the last lines of the output as one line, for an error text.
func (t *tail) last() string {
	lines := strings.Split(strings.TrimSpace(t.String()), "\n")
	text := strings.Join(lines[max(0, len(lines)-5):], " | ")
	if len(text) > 600 {
		text = "…" + strings.ToValidUTF8(text[len(text)-600:], "")
	}
	return text
}

// close stops reading; processes that still print get a broken pipe.
func (t *tail) close() {
	t.file.Close()
	<-t.done
}
