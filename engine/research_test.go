package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/engine"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/tools"
)

const (
	search  = "mcp__web__search"
	archive = "mcp__web__archive"
)

// research is the plan of the example: two searches, and a summary of what they found.
var research = [][]string{
	{"s1", "tool", search, `{"query":"Galilei pendulum"}`, "Search for what Galilei saw of the pendulum", "the result names a year"},
	{"s2", "tool", search, `{"query":"Huygens clock"}`, "Search for the first pendulum clock", "the result names a year", "s1"},
	{"s3", "tool", search, `{"query":"deadbeat"}`, "Search for the deadbeat escapement", "the result names a year", "s2"},
	{"s4", "self", "", "", "Sum up what the sources say of the pendulum clock", "the result is a summary with years", "s1,s2,s3"},
}

// researcher opens a world whose tools are those of an MCP server, which dies so often when
// it is asked for Huygens. asked returns what it was asked.
func researcher(t *testing.T, dies int, replies map[string]func(*llm.Request) string, change ...func(*run.Settings, *run.Options)) (w *world, asked func() []string) {
	t.Helper()
	dir := t.TempDir()
	file, left := filepath.Join(dir, "asked"), filepath.Join(dir, "deaths")
	require.NoError(t, os.WriteFile(left, []byte(strconv.Itoa(dies)), 0o600))
	servers := tools.Open(t.Context(), map[string]tools.Server{"web": searchServer(file, left)}, nil)
	t.Cleanup(servers.Close)
	require.NoError(t, servers.Status()[0].Err)
	registry := &tools.Registry{} // a call has a minute
	require.NoError(t, registry.Add(servers.Tools()...))
	w = guarded(t, nil, replies, append(change, func(_ *run.Settings, o *run.Options) { o.Tools = registry })...)
	return w, func() []string {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		return strings.Split(strings.TrimSpace(string(data)), "\n")
	}
}

// revision is the rest of a plan as a model writes it anew.
func revision(t *testing.T, steps ...[]string) string {
	var all struct {
		Steps json.RawMessage `json:"steps"`
	}
	require.NoError(t, json.Unmarshal([]byte(scriptOf("", steps...)), &all))
	data, err := json.Marshal(all)
	require.NoError(t, err)
	return string(data)
}

// TestResearch is the research example from end to end, with a server of tools that is a
// program of its own: the plan is made with the user's instructions and what was said before;
// its steps search, each is reflected on, and one reflection changes the steps that are open;
// the model sums up what was found; and the check of the goal gives the answer. The journal
// and the hook have it all, in order.
func TestResearch(t *testing.T) {
	const summary = "1602 Galilei, 1656 Huygens, about 1670 the anchor."
	w, asked := researcher(t, 0, map[string]func(*llm.Request) string{
		"plan_analysis": always("TASK: as told\nREFLECT: yes"),
		"plan_review":   always("Plan Adjustments: none"),
		"plan_steps":    always(scriptOf("the history of the pendulum clock is told", research...)),
		"reflect": func(r *llm.Request) string {
			if strings.Contains(words(r), "ended: s2:") {
				return `{"verdict": "refine", "reason": "the anchor came before Graham", "guidance": "search for the anchor escapement", "answer": null}`
			}
			return goesOn(r)
		},
		"plan_revise": func(r *llm.Request) string {
			assert.Contains(t, words(r), "search for the anchor escapement")
			return revision(t,
				[]string{"s5", "tool", search, `{"query":"anchor escapement"}`, "Search for the anchor escapement", "the result names a year", "s2"},
				[]string{"s4", "self", "", "", "Sum up what the sources say of the pendulum clock", "the result is a summary with years", "s1,s2,s5"})
		},
		"self": func(r *llm.Request) string {
			text := words(r)
			assert.Contains(t, text, "Sum up what the sources say", "what it is to do now")
			for _, word := range []string{"Galilei", "Huygens", "anchor"} {
				assert.Contains(t, text, found[word], "and what came of the steps before")
			}
			return `{"output": ` + quoted(summary) + `, "reached": true, "missing": null}`
		},
		"conclude": met(summary),
	}, func(s *run.Settings, _ *run.Options) { s.Plan.Instructions = "You work for a museum of clocks." })
	w.Earlier = []string{"The user collects clocks."}
	var heard []run.EventData
	w.Hooks.Event = func(_ context.Context, data run.EventData) error {
		heard = append(heard, data)
		return nil
	}
	result, err := w.Run(t.Context(), "Research the history of the pendulum clock")
	require.NoError(t, err)
	require.True(t, result.Success, result.Answer)

	// What the planner was told.
	analysis := words(w.Model.of("plan_analysis")[0])
	assert.Contains(t, analysis, "You work for a museum of clocks.")
	assert.Contains(t, analysis, "The user collects clocks.")
	assert.Contains(t, analysis, search+": Searches for a query.")

	// What was done, in order: a step, the reflection on it, the change of the plan.
	assert.Equal(t, []string{"search Galilei pendulum", "search Huygens clock", "search anchor escapement"}, asked())
	var order []string
	for _, data := range heard {
		switch d := data.(type) {
		case run.Planned:
			order = append(order, "plan "+string(d.Plan.State))
		case run.Planning:
			if d.Label != "" {
				order = append(order, d.Label)
			}
		case run.PlanMade:
			order = append(order, "made "+string(d.Result))
		case run.StepStarted:
			order = append(order, "start "+d.Step)
		case run.StepEnded:
			order = append(order, "end "+d.Step+" "+string(d.Status))
		case run.Reflected:
			order = append(order, string(d.Verdict)+" "+d.Step)
		}
	}
	assert.Equal(t, []string{
		"Working on it...", "Reviewing plan...", "Building execution plan...", "made plan", "plan created", "start s1", "end s1 completed", "continue s1", "start s2", "end s2 completed", "refine s2", "plan running",
		"start s5", "end s5 completed", "continue s5", "start s4", "end s4 completed", "plan completed",
	}, order)

	// The change of the plan: what is done stays byte for byte, what goes is told.
	require.Equal(t, 1, result.Revisions)
	kinds := map[string]planner.Change{}
	for _, c := range result.Final.Revisions[0].Changes {
		kinds[c.Type] = c
	}
	require.Contains(t, kinds, "added")
	assert.Equal(t, "s5", kinds["added"].New.ID)
	require.Contains(t, kinds, "removed")
	assert.Equal(t, "s3", kinds["removed"].Old.ID)
	for _, id := range []string{"s1", "s2"} {
		s := result.Final.Step(id)
		assert.Equal(t, result.Initial.Step(id).Goal, s.Goal)
		assert.False(t, s.Result.At.IsZero())
	}
	assert.Equal(t, found["Huygens"], result.Steps["s2"].Output)

	// The result, and that of the steps, in the last event too.
	assert.Equal(t, summary, result.Output)
	assert.Equal(t, planner.PlanCompleted, result.State)
	last := heard[len(heard)-1].(run.Planned)
	assert.Equal(t, summary, last.Plan.Step("s4").Result.Output)

	history(t, w, result)
}

// history holds that the journal has the history: each message of a model, and each call of
// a tool, with its time and the step of the plan that it is for.
func history(t *testing.T, w *world, result engine.Result) {
	t.Helper()
	purposes, calls := map[string][]int{}, map[int]int{}
	for _, e := range w.Journal.Events() {
		assert.False(t, e.Time.IsZero())
		switch d := e.Data.(type) {
		case run.ModelCalled:
			assert.NotEmpty(t, d.Response.Text)
			if d.Shared == 0 {
				assert.Equal(t, llm.System, d.Messages[0].From, "the whole conversation is there")
			}
			purposes[d.Purpose] = append(purposes[d.Purpose], e.PlanStep)
		case run.Acting:
			calls[e.PlanStep]++
		}
	}
	assert.Equal(t, map[int]int{1: 1, 2: 1, 5: 1}, calls)
	assert.Equal(t, []int{1, 2, 5}, purposes["reflect"])
	assert.Equal(t, []int{4}, purposes["self"])
	for _, purpose := range []string{"plan_analysis", "plan_review", "plan_steps", "plan_revise", "conclude"} {
		assert.Len(t, purposes[purpose], 1, purpose)
	}
	made := runtest.All[run.PlanMade](w.Journal.Events())
	require.Len(t, made, 1)
	require.Len(t, made[0].Phases, 3)
	assert.Equal(t, "Plan Adjustments: none", made[0].Phases[1].Output)
	assert.False(t, made[0].At.IsZero())
	ended := runtest.All[run.RunEnded](w.Journal.Events())
	require.Len(t, ended, 1)
	assert.Equal(t, result.Outcome, ended[0].Outcome)
}

// TestResearchEndsEarly ends with the answer of a reflection that says the task is reached,
// and none of the steps that are left is done.
func TestResearchEndsEarly(t *testing.T) {
	w, asked := researcher(t, 0, map[string]func(*llm.Request) string{
		"plan_analysis": always("TASK: as told"),
		"plan_steps":    always(scriptOf("the history of the pendulum clock is told", research...)),
		"reflect":       always(`{"verdict": "complete", "reason": "it says all", "guidance": null, "answer": "1602."}`),
		"conclude":      always(`{"met": true, "missing": null, "answer": ""}`),
	})
	result, err := w.Run(t.Context(), "When did Galilei see it?")
	require.NoError(t, err)
	assert.Equal(t, "1602.", result.Output)
	assert.Len(t, asked(), 1)
	assert.Equal(t, map[string]planner.Status{"s1": planner.Completed, "s2": planner.Skipped, "s3": planner.Skipped, "s4": planner.Skipped}, statuses(result.Final))
}

// TestResearchHookFails ends the run at the event whose hook fails, with an error that says
// where, and nothing is done after it.
func TestResearchHookFails(t *testing.T) {
	w, asked := researcher(t, 0, map[string]func(*llm.Request) string{
		"plan_steps": always(scriptOf("the history of the pendulum clock is told", research...)),
	})
	full := errors.New("the list of what was done is full")
	w.Hooks.Event = func(_ context.Context, data run.EventData) error {
		if d, ok := data.(run.StepEnded); ok && d.Step == "s2" {
			return full
		}
		return nil
	}
	_, err := w.Run(t.Context(), "Research the history of the pendulum clock")
	require.ErrorIs(t, err, full)
	assert.ErrorContains(t, err, "the hook of events, at step_ended")
	assert.Len(t, asked(), 2)
}

// TestMaking holds that the journal tells how the making of a plan went: the tokens of each
// phase, what it put out, and why one gave nothing; and that a hook that fails at a line of
// status costs nothing, while one that fails at the record ends the run.
func TestMaking(t *testing.T) {
	open := func() *world {
		return guarded(t, map[string]tool{"a": {}}, map[string]func(*llm.Request) string{
			"plan_steps": always("no plan"), "plan_text": always("none"), "tools": always("done without"),
		})
	}
	w := open()
	w.Hooks.Event = func(_ context.Context, data run.EventData) error {
		if _, ok := data.(run.Planning); ok {
			return errors.New("nobody listens")
		}
		return nil
	}
	result, err := w.Run(t.Context(), "Do it")
	require.NoError(t, err)
	assert.Equal(t, "done without", result.Output)
	made := runtest.All[run.PlanMade](w.Journal.Events())
	require.Len(t, made, 1)
	assert.Equal(t, planner.Made3Error, made[0].Result)
	require.Len(t, made[0].Phases, 2)
	assert.Equal(t, "TASK: as told\nREFLECT: no", made[0].Phases[0].Output)
	assert.Equal(t, 3, made[0].Phases[1].Phase)
	assert.NotEmpty(t, made[0].Phases[1].Error)
	var used []int
	for _, p := range runtest.All[run.Planning](w.Journal.Events()) {
		if p.Label == "" {
			used = append(used, p.Phase)
			assert.Positive(t, p.Usage.Input+p.Usage.Output)
		}
	}
	assert.Equal(t, []int{1, 3}, used)

	w = open()
	w.Hooks.Event = func(_ context.Context, data run.EventData) error {
		if _, ok := data.(run.PlanMade); ok {
			return errors.New("full")
		}
		return nil
	}
	_, err = w.Run(t.Context(), "Do it")
	assert.ErrorContains(t, err, "the hook of events, at plan_made: full")
}

// TestResearchServerDies holds that a server that dies amid a plan costs that call only: the
// step is tried again with the server started anew, or goes by its fallback, or fails alone.
func TestResearchServerDies(t *testing.T) {
	replies := func(fallback string) map[string]func(*llm.Request) string {
		script := scriptOf("the history of the pendulum clock is told", research...)
		if fallback != "" {
			script = withFallback(t, script, "s2", fallback)
		}
		return map[string]func(*llm.Request) string{
			"plan_steps": always(script), "conclude": met("told"),
			"self": always(`{"output": "told", "reached": true, "missing": null}`),
		}
	}
	for _, tt := range []struct {
		name, fallback string
		deaths         int
		asked          []string
		statuses       map[string]planner.Status
	}{
		{"again", "", 1, []string{"search Galilei pendulum", "search Huygens clock", "search Huygens clock", "search deadbeat"},
			map[string]planner.Status{"s1": planner.Completed, "s2": planner.Completed, "s3": planner.Completed, "s4": planner.Completed}},
		{"fallback", archive, 2, []string{"search Galilei pendulum", "search Huygens clock", "search Huygens clock", "archive Huygens clock", "search deadbeat"},
			map[string]planner.Status{"s1": planner.Completed, "s2": planner.Completed, "s3": planner.Completed, "s4": planner.Completed}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, asked := researcher(t, tt.deaths, replies(tt.fallback))
			result, err := w.Run(t.Context(), "Research the history of the pendulum clock")
			require.NoError(t, err)
			require.True(t, result.Success, result.Answer)
			assert.Equal(t, tt.asked, asked())
			assert.Equal(t, tt.statuses, statuses(result.Final))
			assert.Equal(t, found["Huygens"], result.Steps["s2"].Output)
			assert.Equal(t, tt.deaths+1, result.Final.Step("s2").Attempts)
			assert.Zero(t, result.Revisions)
		})
	}
	t.Run("alone", func(t *testing.T) {
		steps := [][]string{research[0], research[1], {"s3", "tool", search, `{"query":"deadbeat"}`, "Search for the deadbeat escapement", "the result names a year"}}
		w, asked := researcher(t, 9, map[string]func(*llm.Request) string{
			"plan_steps": always(scriptOf("the history of the pendulum clock is told", steps...)), "conclude": met("what was found"),
		}, func(s *run.Settings, _ *run.Options) {
			s.Agent.Execution.ContinueOnFailure, s.Plan.FreeOrder, s.Plan.Threshold = true, true, 0.9
		})
		result, err := w.Run(t.Context(), "Research the history of the pendulum clock")
		require.NoError(t, err)
		assert.Equal(t, map[string]planner.Status{"s1": planner.Completed, "s2": planner.Failed, "s3": planner.Completed}, statuses(result.Final))
		assert.Equal(t, "search deadbeat", asked()[len(asked())-1], "the server is there again")
		assert.Contains(t, result.Final.Step("s2").Error, "the server web")
	})
}

// withFallback is a script of which one step has a fallback.
func withFallback(t *testing.T, script, id, fallback string) string {
	t.Helper()
	var all map[string]any
	require.NoError(t, json.Unmarshal([]byte(script), &all))
	for _, s := range all["steps"].([]any) {
		if step := s.(map[string]any); step["id"] == id {
			step["fallback"] = fallback
		}
	}
	data, err := json.Marshal(all)
	require.NoError(t, err)
	return string(data)
}
