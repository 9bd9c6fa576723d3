package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// A watchdog is a process that outlives this one. When this one ends, however
// it does, the watchdog kills what carries the mark and removes the folder. The
// kernel's parent-death signal is faster, but reaches only direct children.
type watchdog struct {
	cmd    *exec.Cmd
	leash  *os.File // the write end of a pipe that nobody else has
	exited chan error
}

func startWatchdog(folder, mark string) (*watchdog, error) {
	script, err := fs.ReadFile(files, "files/watchdog.sh")
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("watchdog: %w", err)
	}
	defer read.Close()
	cmd := exec.Command("/bin/sh", "-c", string(script), "desktop-agent-watchdog", folder, mark)
	cmd.Stdin = read
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	// A session of its own: neither Ctrl-C nor the end of a terminal reaches it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		write.Close()
		return nil, fmt.Errorf("watchdog: %w", err)
	}
	w := &watchdog{cmd: cmd, leash: write, exited: make(chan error, 1)}
	go func() { w.exited <- cmd.Wait() }()
	return w, nil
}

// tell says that a process group is there, or that its leader is gone, after
// which its number may become another's. It never waits: a pipe has room for
// thousands of lines, and the watchdog reads them at once.
func (w *watchdog) tell(what string, pid int) {
	_, _ = fmt.Fprintln(w.leash, what, pid)
}

// close ends the watchdog: at once where nothing is left for it to do, else
// after it has tried.
func (w *watchdog) close(clean bool) error {
	if clean {
		_, _ = w.leash.WriteString("clean\n")
	}
	w.leash.Close()
	select {
	case err := <-w.exited:
		if err != nil {
			return fmt.Errorf("watchdog: %w", err)
		}
		return nil
	case <-time.After(2 * killPeriod):
		_ = w.cmd.Process.Kill()
		<-w.exited
		return errors.New("watchdog: took too long, killed")
	}
}
