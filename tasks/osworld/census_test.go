package osworld_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/evaluate"
	"desktop-agent/tasks/osworld/getter"
	"desktop-agent/tasks/osworld/setup"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// census counts the names that the public tasks use; it is not part of this project.
var census = filepath.Join(os.Getenv("OSWORLD_DATA"), "osworld_census.json")

// Every name that a public task uses is known, also where it cannot be done here.
func TestCensus(t *testing.T) {
	text, err := os.ReadFile(census)
	if err != nil {
		t.Skip("there is no census of the public tasks: set OSWORLD_DATA to a folder with osworld_census.json")
	}
	var counts struct {
		Metrics  map[string]int `json:"funcs_by_tasks"`
		Setup    map[string]int `json:"config_types_by_tasks"`
		Post     map[string]int `json:"postconfig_types_by_tasks"`
		Results  map[string]int `json:"result_getters_by_tasks"`
		Expected map[string]int `json:"expected_getters_by_tasks"`
	}
	require.NoError(t, json.Unmarshal(text, &counts))
	require.NotEmpty(t, counts.Metrics)
	known := append(evaluate.Names(), "infeasible")
	for _, name := range slices.Sorted(maps.Keys(counts.Metrics)) {
		assert.Contains(t, known, name)
	}
	for _, list := range []map[string]int{counts.Setup, counts.Post} {
		for name := range list {
			if err := setup.Check(tasks.Step{Type: name, Params: tasks.Params{}}); err != nil {
				assert.NotContains(t, err.Error(), "unknown")
			}
		}
	}
	for _, list := range []map[string]int{counts.Results, counts.Expected} {
		for name := range list {
			if err := getter.Check(&tasks.Getter{Type: name, Params: tasks.Params{}}); err != nil {
				assert.NotContains(t, err.Error(), "unknown getter")
			}
		}
	}
}
