package child

import (
	"errors"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Bind gives a process that is still to be started a group of its own, which is
// killed when its context ends, and has the kernel kill it when the thread ends that
// started it.
func Bind(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return Kill(cmd) }
}

// Kill ends a process with all that it started and that is still in its group, also
// when it has ended itself a moment ago. Long after it was waited for, another group may
// have its number: see [Wait].
func Kill(cmd *exec.Cmd) error {
	if cmd.Process == nil {
		return nil
	}
	return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}

// Wait waits for a process that has a group of its own, as [exec.Cmd.Wait] does, and kills
// what it leaves behind there. That is done before the process is reaped: until then,
// nobody else gets its number. A group that is to end sooner ends with its first process,
// [os.Process.Kill].
func Wait(cmd *exec.Cmd) error {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	_ = Kill(cmd)
	return cmd.Wait()
}
