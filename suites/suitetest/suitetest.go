// Package suitetest checks that the tasks of a suite judge what they say: that a
// task scores 0 right after it is set up, 1 when a script has done it, and 0 when
// a script has nearly done it.
//
// The scripts lie beside the tasks, in solutions/<id>.json; see [trial.Script].
// Each of the three runs has a computer of its own.
package suitetest

import (
	"context"
	"errors"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/osworld"
	"desktop-agent/tasks/trial"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// limit is how long one run may take.
const limit = 4 * time.Minute

// Run checks tasks of the suite in a folder: those with the IDs, or all. It skips
// tasks whose programs are not installed, and all where programs cannot have a
// computer of their own. One process acts on one display at a time, so the tasks
// are checked one after the other.
func Run(t *testing.T, dir string, ids ...string) {
	if runtime.GOOS != "linux" {
		t.Skip("tasks need Linux")
	}
	suite, err := osworld.Load(dir)
	require.NoError(t, err)
	for _, id := range ids {
		require.True(t, slices.ContainsFunc(suite.Tasks, func(task *tasks.Task) bool { return task.ID == id }), "there is no task %s", id)
	}
	etc := &env.Etc{}
	t.Cleanup(func() { assert.NoError(t, etc.Close()) })
	for _, task := range suite.Tasks {
		if len(ids) > 0 && !slices.Contains(ids, task.ID) {
			continue
		}
		t.Run(task.ID, func(t *testing.T) {
			for _, way := range trial.Ways {
				t.Run(string(way), func(t *testing.T) { check(t, suite, task, way, etc) })
			}
		})
	}
}

// check makes one run.
func check(t *testing.T, suite *tasks.Suite, task *tasks.Task, way trial.Way, etc *env.Etc) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	act := func(ctx context.Context, s *trial.Stage) (trial.Ending, error) {
		keep(t, s.Env, "before.png")
		defer keep(t, s.Env, "after.png")
		return trial.Scripted(way)(ctx, s)
	}
	r := &trial.Runner{Suite: suite, Actors: map[string]trial.Act{string(way): act}, Etc: etc, Offline: true}
	result, err := r.Do(ctx, tasks.Trial{Task: task.ID, Config: string(way), Repeat: 1}, t.TempDir())
	if no, ok := errors.AsType[*env.NoIsolationError](err); ok {
		t.Skip("tasks need a computer of their own: ", no)
	}
	require.NoError(t, err, result.Stage)
	if result.Status == tasks.Skipped {
		t.Skip(result.Why)
	}
	t.Logf("score %v, %s (%.1f s)", result.Score, result.Why, float64(result.Millis.Total)/1000)
	want := 0.0
	if way == trial.Solution {
		want = 1
	}
	assert.InDelta(t, want, result.Score, 0, result.Why)
}

// keep keeps a picture of the desktop, if pictures are kept: go test -artifacts.
func keep(t *testing.T, e *env.Env, name string) {
	picture, err := e.Screen().Capture(context.WithoutCancel(t.Context()))
	if err != nil {
		t.Logf("no picture: %v", err)
		return
	}
	file, err := os.Create(filepath.Join(t.ArtifactDir(), name))
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, png.Encode(file, picture))
}
