package child_test

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/internal/child"
)

// TestWait holds that what a process leaves in its group ends with it, and that the
// status is its own.
func TestWait(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 3607 & exit 3")
	child.Bind(cmd)
	cmd.Cancel = nil // it has no context
	require.NoError(t, cmd.Start())
	assert.EqualError(t, child.Wait(cmd), "exit status 3")
	assert.Eventually(t, func() bool { return syscall.Kill(-cmd.Process.Pid, 0) != nil }, time.Minute, 5*time.Millisecond, "its group is gone")

	cmd = exec.Command("sh", "-c", "sleep 3608 & wait")
	child.Bind(cmd)
	cmd.Cancel = nil
	require.NoError(t, cmd.Start())
	require.NoError(t, cmd.Process.Kill())
	assert.EqualError(t, child.Wait(cmd), "signal: killed")
	assert.Eventually(t, func() bool { return syscall.Kill(-cmd.Process.Pid, 0) != nil }, time.Minute, 5*time.Millisecond, "its group is gone")
}
