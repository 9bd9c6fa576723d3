package desktop_test

import (
	"path/filepath"
	"testing"

	"desktop-agent/replay/replaytest"
	"desktop-agent/tasks"
	"desktop-agent/tasks/bench"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOperator replays the runs in which a person took the decisions, from the
// requests alone: the agent of today goes the same way.
func TestOperator(t *testing.T) {
	assert.Len(t, replayed(t, "operator"), 7)
}

// TestCompared replays those in which each task was done with the plan and without it, in
// an order that alternates: no verdict on any of them is wrong.
func TestCompared(t *testing.T) {
	done := map[string][]string{}
	for _, r := range replayed(t, "compared") {
		done[r.Task] = append(done[r.Task], r.Config)
		assert.Equal(t, "done", r.Outcome, r.Run)
		assert.NotEmpty(t, r.Grade, r.Run)
	}
	assert.Len(t, done, 6)
	for task, configs := range done {
		assert.ElementsMatch(t, []string{"plan=on", "plan=off"}, configs, task)
	}
}

// replayed replays the runs of a folder of results, each of which has one there, and returns
// these.
func replayed(t *testing.T, folder string) []tasks.Result {
	results, err := bench.ReadResults(folder)
	require.NoError(t, err)
	journals, err := filepath.Glob(filepath.Join(folder, "*", "*", "*", "*", "events.jsonl"))
	require.NoError(t, err)
	var runs, named []string
	for _, j := range journals {
		runs = append(runs, filepath.Dir(j))
	}
	for _, r := range results {
		named = append(named, filepath.Join(folder, filepath.FromSlash(r.Run)))
	}
	assert.ElementsMatch(t, runs, named, "each run has its result")
	for _, r := range results {
		t.Run(r.Config+" "+r.Task, func(t *testing.T) {
			assert.True(t, r.Passed())
			replaytest.Run(t, filepath.Join(folder, filepath.FromSlash(r.Run)))
		})
	}
	return results
}
