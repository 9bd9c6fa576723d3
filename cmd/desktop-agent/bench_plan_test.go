//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm/llmtest"
	"desktop-agent/tasks"
	"desktop-agent/tasks/bench"
)

// planningEndpoint answers as a model does that finds out that a task cannot be done. kinds
// returns how often what was asked for.
func planningEndpoint(t *testing.T) (url string, kinds func() map[string]int) {
	var mu sync.Mutex
	asked := map[string]int{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var request struct {
			Format   json.RawMessage `json:"response_format"`
			Messages json.RawMessage `json:"messages"`
		}
		if err := json.Unmarshal(body, &request); err != nil {
			llmtest.Status(http.StatusBadRequest, "", err.Error())(w, r)
			return
		}
		kind, answer := "actor", "FAIL: there is no Bluetooth adapter here"
		switch {
		case bytes.Contains(request.Format, []byte(`"blocked_effects"`)):
			kind, answer = "judge", `{"reason": "nothing is sent", "irreversible": false, "blocked_effects": [], "blocked_tools": []}`
		case bytes.Contains(request.Format, []byte(`"steps"`)):
			kind, answer = "suggestive", `{"steps": [{"goal": "Locate the Bluetooth settings", "done_when": "The Bluetooth settings are shown", "predicate": null}]}`
		case bytes.Contains(request.Messages, []byte("DIRECT")):
			kind, answer = "analysis", "DIRECT"
		case bytes.Contains(request.Format, []byte(`"shown"`)):
			kind, answer = "goal", `{"shown": false, "evidence": "", "region": null, "missing": "no adapter is shown"}`
		case bytes.Contains(request.Format, []byte(`"is_consistent"`)):
			kind, answer = "review", `{"is_consistent": true, "needs_new_plan": false, "optimization_guidance": null, "risk_explanation": ""}`
		case len(request.Format) > 0:
			t.Errorf("no answer to %s", request.Format)
		}
		mu.Lock()
		asked[kind]++
		mu.Unlock()
		llmtest.Completion(answer)(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		return asked
	}
}

// TestBenchPlans does a task with the suggestive plan, with a deliberate one and without,
// and the report has the three beside each other. The analysis finds that the task needs no
// plan, so that the agent just does it.
func TestBenchPlans(t *testing.T) {
	t.Parallel()
	url, kinds := planningEndpoint(t)
	results := filepath.Join(t.TempDir(), "results")
	code, out, errs := benched(t, "bench", ownSuite(t), "--only", "pair-bluetooth", "--plan", "on,deliberate,off", "--model", "m", "--base-url", url, "--max-steps", "4", "--results", results)
	require.Zero(t, code, errs)
	list, err := bench.ReadResults(results)
	require.NoError(t, err)
	page, err := os.ReadFile(filepath.Join(results, "report.html"))
	require.NoError(t, err)
	planning := map[string]string{"plan=on": "suggestive", "plan=deliberate": "deliberate", "plan=off": "off"}
	require.Len(t, list, len(planning))
	for _, r := range list {
		assert.Equal(t, tasks.Scored, r.Status, "%s: %s", r.Config, r.Why)
		assert.InDelta(t, 1, r.Score, 0, "%s: %s", r.Config, r.Why)
		assert.Contains(t, planning, r.Config)
		assert.Contains(t, string(page), r.Config)
		assert.Contains(t, out, "planning "+planning[r.Config])
		delete(planning, r.Config)
	}
	assert.Empty(t, planning)
	assert.Contains(t, out, "plan=on against plan=deliberate")
	asked := kinds()
	assert.Equal(t, 1, asked["analysis"], "of the deliberate one alone")
	assert.Equal(t, 1, asked["suggestive"], "of the suggestive one alone")
}
