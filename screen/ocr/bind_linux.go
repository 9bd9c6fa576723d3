package ocr

import (
	"os/exec"
	"syscall"
)

// bind gives a process a group of its own, which is killed with it, and has the
// kernel kill it when the thread ends that started it.
func bind(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
