package replaytest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/run"
)

// The first steps of a run are a whole run, with the events and the frames of
// the other byte for byte.
func TestFirst(t *testing.T) {
	begun := First(t, demo, 4)
	v, err := begun.Verify(t.Context())
	require.NoError(t, err)
	assert.True(t, v.Whole(), "%v", v.Problems)
	assert.Equal(t, run.OutcomeDone, begun.Info.Ended.Outcome)
	assert.Equal(t, 4, begun.Info.Ended.Steps)
	frames, err := filepath.Glob(filepath.Join(begun.Dir, "frames", "*"))
	require.NoError(t, err)
	assert.Len(t, frames, 5, "one before each step, and one after the last")
	for _, file := range frames {
		want, err := os.ReadFile(filepath.Join(demo, "frames", filepath.Base(file)))
		require.NoError(t, err)
		got, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, want, got, file)
	}
}
