package replay

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/run"
)

// What was recorded is written again byte for byte.
func TestRecordedInfos(t *testing.T) {
	n := 0
	for _, pattern := range []string{"../cmd/desktop-agent/demo/run", "replaytest/testdata/*/run", "../suites/desktop/operator/*/*/*/*"} {
		dirs, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, dir := range dirs {
			want, err := os.ReadFile(filepath.Join(dir, infoFile))
			require.NoError(t, err)
			info, err := decodeInfo(want)
			require.NoError(t, err, dir)
			got, err := info.encode()
			require.NoError(t, err)
			assert.Equal(t, string(want), string(got), dir)
			n++
		}
	}
	assert.GreaterOrEqual(t, n, 13)
}

// A field that [Info] has and its form has not is lost on the way.
func TestEveryFieldOfInfoSurvives(t *testing.T) {
	now := time.Date(2026, 1, 2, 15, 4, 5, 6, time.UTC)
	want := Info{
		Schema: run.Schema, ID: "20260102T150405Z-7f3a9c", State: Ended, Created: now, Closed: now.Add(time.Hour),
		Asked:  &run.RunStarted{Schema: run.Schema, Task: "write <&>", Settings: run.Settings{Agent: run.AgentSettings{MaxSteps: 7}}},
		Ended:  &run.RunEnded{Outcome: run.OutcomeDone, Steps: 3},
		Events: 4, Frames: 5, Error: "none", Head: "abc", Files: map[string]string{"frames/f1.png": "def"},
	}
	for v, i := reflect.ValueOf(want), 0; i < v.NumField(); i++ {
		require.False(t, v.Field(i).IsZero(), "the test sets no %s", v.Type().Field(i).Name)
	}
	data, err := want.encode()
	require.NoError(t, err)
	got, err := decodeInfo(data)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(want, got))
}
