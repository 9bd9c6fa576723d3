//go:build !linux

package child

import "os/exec"

// Bind does nothing where processes have no groups to kill.
func Bind(*exec.Cmd) {}

// Kill ends a process.
func Kill(cmd *exec.Cmd) error {
	if cmd.Process == nil {
		return nil
	}
	return cmd.Process.Kill()
}

// Wait waits for a process, as [exec.Cmd.Wait] does.
func Wait(cmd *exec.Cmd) error { return cmd.Wait() }
