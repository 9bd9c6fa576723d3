package bench

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup gives a process a group of its own: Ctrl-C at the terminal then
// reaches this process only, which tells the worker in its own way; and what the
// worker has started can be killed with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killSelf ends this process and its group, if that is its own.
func killSelf() {
	if pid := os.Getpid(); unix.Getpgrp() == pid {
		_ = unix.Kill(-pid, unix.SIGKILL)
	}
	_ = unix.Kill(os.Getpid(), unix.SIGKILL)
}
