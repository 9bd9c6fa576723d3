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
	for _, tt := range []struct {
		script string
		kill   bool
		status string
	}{
		{"sleep 3607 & exit 3", false, "exit status 3"},
		{"sleep 3608 & wait", true, "signal: killed"},
	} {
		cmd := exec.Command("sh", "-c", tt.script)
		child.Bind(cmd)
		cmd.Cancel = nil // it has no context
		require.NoError(t, cmd.Start())
		if tt.kill {
			require.NoError(t, cmd.Process.Kill())
		}
		assert.EqualError(t, child.Wait(cmd), tt.status)
		assert.Eventually(t, func() bool { return syscall.Kill(-cmd.Process.Pid, 0) != nil }, time.Minute, 5*time.Millisecond, "its group is gone")
	}
}
