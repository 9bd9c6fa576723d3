//go:build !linux

package ocr

import "os/exec"

// bind does nothing where processes have no groups to kill.
func bind(*exec.Cmd) {}
