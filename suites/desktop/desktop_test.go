package desktop_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"desktop-agent/suites/suitetest"
	"desktop-agent/tasks/osworld"
	"desktop-agent/tasks/osworld/setup"
	"desktop-agent/tasks/trial"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// few are tasks of different programs that do not take long.
var few = []string{"rename-folder", "respell-word", "quarter-totals", "open-tabs", "pair-bluetooth"}

// TestTasks runs the controls, solutions and near misses of a few tasks; of all
// with SUITE=all, and of some with their IDs in SUITE, separated by commas.
func TestTasks(t *testing.T) {
	ids := few
	switch chosen := os.Getenv("SUITE"); {
	case testing.Short():
		t.Skip("takes a minute")
	case chosen == "all":
		ids = nil
	case chosen != "":
		ids = strings.Split(chosen, ",")
	}
	suitetest.Run(t, ".", ids...)
}

// The suite is complete: every task is listed, has a solution whose steps are
// known, and every solution belongs to a task.
func TestSuite(t *testing.T) {
	suite, err := osworld.Load(".")
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(suite.Tasks), 32)
	files, err := filepath.Glob("examples/*/*.json")
	require.NoError(t, err)
	assert.Len(t, files, len(suite.Tasks), "test_all.json must list every task")
	var ids []string
	for _, task := range suite.Tasks {
		ids = append(ids, task.ID)
		s, err := trial.ReadScript(task)
		require.NoError(t, err)
		for _, step := range slices.Concat(s.Solution, s.NearMiss) {
			assert.NoError(t, setup.Check(step), task.ID)
		}
		assert.NotEqual(t, s.Solution, s.NearMiss, task.ID)
		assert.Contains(t, []string{"done", "infeasible"}, string(s.Answer), task.ID)
		for _, check := range task.Evaluator.Checks {
			if check.Expected == nil || check.Expected.Type != "cloud_file" {
				continue
			}
			gold, err := check.Expected.Params.Text("path")
			require.NoError(t, err)
			assert.FileExists(t, strings.TrimPrefix(gold, "file://"), task.ID)
		}
	}
	solutions, err := filepath.Glob("solutions/*.json")
	require.NoError(t, err)
	for _, file := range solutions {
		assert.Contains(t, ids, strings.TrimSuffix(filepath.Base(file), ".json"))
	}
}
