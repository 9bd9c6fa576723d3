package getter

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What getters and metrics both need lies below both.
func TestImportsNoMetrics(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "desktop-agent/tasks/office\n")
	assert.NotContains(t, string(out), "desktop-agent/tasks/osworld/metric")
}
