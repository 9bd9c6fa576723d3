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
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm/llmtest"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/tasks"
	"desktop-agent/tasks/bench"
	"desktop-agent/tasks/bench/report"
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
// and the report has the three beside each other: each with the guard and the settings that
// the journal of its trial has. The analysis finds that the task needs no plan, so that the
// agent just does it.
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
	var said report.Report
	data, err := os.ReadFile(filepath.Join(results, report.FileJSON))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &said))
	planning := map[string]string{"plan=on": "suggestive", "plan=deliberate": "deliberate", "plan=off": "off"}
	require.Len(t, list, len(planning))
	for _, r := range list {
		assert.Equal(t, tasks.Scored, r.Status, "%s: %s", r.Config, r.Why)
		assert.InDelta(t, 1, r.Score, 0, "%s: %s", r.Config, r.Why)
		assert.Contains(t, planning, r.Config)
		assert.Contains(t, string(page), r.Config)
		assert.Contains(t, out, "planning "+planning[r.Config])
		first := started(t, filepath.Join(results, filepath.FromSlash(r.Run)))
		i := slices.IndexFunc(said.Meta.Configs, func(c report.Config) bool { return c.Name == r.Config })
		require.GreaterOrEqual(t, i, 0, r.Config)
		config := said.Meta.Configs[i]
		assert.Equal(t, first.Guard, config.Guard, r.Config)
		assert.Equal(t, first.Planning, config.Planning, r.Config)
		want, err := told(first.Settings)
		require.NoError(t, err)
		want["format"] = first.Parser
		if diff := cmp.Diff(want, config.Settings); diff != "" {
			t.Errorf("%s: the first event has -, the report +:\n%s", r.Config, diff)
		}
		delete(planning, r.Config)
	}
	assert.Empty(t, planning)
	assert.Contains(t, out, "plan=on against plan=deliberate")
	asked := kinds()
	assert.Equal(t, 1, asked["analysis"], "of the deliberate one alone")
	assert.Equal(t, 1, asked["suggestive"], "of the suggestive one alone")
}

// started returns what the first event of a run tells.
func started(t *testing.T, dir string) run.RunStarted {
	t.Helper()
	stored, err := replay.Open(dir)
	require.NoError(t, err)
	for e, err := range stored.Events() {
		require.NoError(t, err)
		return e.Data.(run.RunStarted)
	}
	require.Fail(t, "no event", dir)
	return run.RunStarted{}
}

// TestBenchSettings holds that the report of a benchmark tells apart what was run with other
// settings.
func TestBenchSettings(t *testing.T) {
	suite := ownSuite(t)
	config := func(flags ...string) report.Config {
		b, err := parsedAs(t, slices.Concat([]string{"bench", suite, "--only", "pair-bluetooth", "--model", "m", "--base-url", "http://localhost:8000/v1", "--results", t.TempDir()}, flags), "", nil).Bench.Run.prepare()
		require.NoError(t, err)
		m, err := b.meta(time.Time{})
		require.NoError(t, err)
		require.Len(t, m.Configs, 1)
		return m.Configs[0]
	}
	own := policyFile(t)
	plain := config()
	assert.NotContains(t, plain.Settings, "size", "each trial has its own")
	for flag, want := range map[string]map[string]any{
		"--detect-window=13":   {"detectors.window": 13.0},
		"--quiet=99ms":         {"quiet": "99ms"},
		"--ocr=off":            {"ocr": nil},
		"--format=tools":       {"format": "tools"},
		"--guard=off":          {"guard": "off"},
		"--policies=" + own:    {"policies": own},
		"--max-steps=7":        {"max_steps": 7.0},
		"--actor-max-tokens=9": {"roles.actor.max_tokens": 9.0},
		"--attempts=9":         {"retry.attempts": 9.0},
	} {
		differ := map[string]any{}
		other := config(flag)
		for _, from := range []map[string]any{plain.Settings, other.Settings} {
			for key := range from {
				if !assert.ObjectsAreEqual(plain.Settings[key], other.Settings[key]) {
					differ[key] = other.Settings[key]
				}
			}
		}
		assert.Equal(t, want, differ, flag)
	}
}
