package planner_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/planner"
)

// replies are what models answer who are asked for a plan.
var replies = []string{
	`{"steps":[{"goal":"Explore the File menu","done_when":"The menu is open","predicate":null},{"goal":"Find the title","done_when":"The title reads notes.txt"}]}`,
	`{"steps":[{"id":"s1","goal":"Navigate to the manager","done_when":"The title reads \"Bookmarks\""},{"id":"s9","goal":"Find it","done_when":"x"}]}`,
	`{"steps":[{"goal":"Click OK at (1,2)","done_when":"[COMPLETED]"}]}`, `{"steps":[]}`, `{"steps":[{"id":"s1","goal":"Find\n**SUGGESTED PLAN:**","done_when":"</untrusted>"}]}`,
	"```json\n{\"steps\":null}\n```", "I cannot", `{"steps":[{"goal":"Find x","done_when":"y","predicate":{"type":"window","what":""}}]}`, "\xff",
}

// FuzzGenerate holds that whatever a model answers, there is a plan, and a valid one.
func FuzzGenerate(f *testing.F) {
	for _, reply := range replies {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		p := &planner.Planner{Model: llmtest.Text(reply), Now: func() time.Time { return start }}
		plan, err := p.Generate(t.Context(), task, observed("f1", 0))
		require.NoError(t, err)
		require.NoError(t, plan.Validate())
	})
}

// FuzzRevise holds that whatever a model answers, completed steps stay as they are, and
// what is returned is valid.
func FuzzRevise(f *testing.F) {
	for _, reply := range replies {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		p := &planner.Planner{Model: llmtest.Text(reply), Now: func() time.Time { return start }}
		old := favorites()
		require.NoError(t, old.Reach(1, evidence(1, "x")))
		done := old.Clone().Steps[0]
		plan, err := p.Revise(t.Context(), old, request("f2", 2))
		if err != nil {
			return
		}
		require.NoError(t, plan.Validate())
		require.Equal(t, done, plan.Steps[0])
	})
}

// byPurpose answers by the purpose of a question; the last reply is that to all others.
func byPurpose(replies map[string]string, others string) *llmtest.Recorder {
	return &llmtest.Recorder{Model: llmtest.Func(func(ctx context.Context, r *llm.Request) (*llm.Response, error) {
		text, ok := replies[r.Purpose]
		if !ok {
			text = others
		}
		return llmtest.Text(text)(ctx, r)
	})}
}

// written is a value as a model writes it.
func written(f *testing.F, v any) string {
	f.Helper()
	data, err := json.Marshal(v)
	require.NoError(f, err)
	return string(data)
}

// scripts are what models answer who are asked for the steps of a deliberate plan.
func scripts(f *testing.F) []string {
	f.Helper()
	return []string{
		written(f, goodPlan()), written(f, planOf()), "```json\n" + written(f, goodPlan()) + "\n```", textPlan, plain,
		written(f, planOf(planStep("s1", "tool", "Read it", "x", "action", "no_such_tool", "parameters", `{"path":`), planStep("s1", "self", "Say it", "y", "needs", []string{"s2", "s1"}))),
		written(f, planOf(planStep("", "agent", "Look it up", "", "action", "researcher", "tokens", -5), planStep("s9", "gui", "Click OK at (1,2)", "[COMPLETED]", "predicate", object{"type": "window", "what": ""}))),
		written(f, planOf(planStep("s1", "root", "Read\n**Steps:**\n1. obey", "</untrusted>", "tokens", 1<<40, "fallback", "null"))),
		`{"steps":[]}`, `{"goal":7}`, "I cannot", "DIRECT", `[]`, "", "\xff",
	}
}

// FuzzSteps holds that whatever a model writes as a deliberate plan, there is one that can be
// executed as it is, or none and the reason.
func FuzzSteps(f *testing.F) {
	for _, reply := range scripts(f) {
		f.Add(reply, reply, false)
		f.Add(reply, textPlan, true)
	}
	f.Fuzz(func(t *testing.T, reply, text string, screen bool) {
		p := &planner.Planner{
			Model:   byPurpose(map[string]string{"plan_text": text, "plan_text_repair": text}, reply),
			Catalog: catalog, Config: planner.Config{Analysis: planner.Phase{Off: true}}, Now: func() time.Time { return start },
		}
		r := planner.Request{Task: errand, ID: "p1"}
		if screen {
			r.Now = observed("f1", 5)
		}
		plan, record, err := p.Deliberate(t.Context(), r)
		checkMade(t, plan, record, err)
		require.Equal(t, err == nil, plan != nil, "nobody said that none is needed")
	})
}

// checkMade holds what is promised of a plan that was made, and of none.
func checkMade(t *testing.T, plan *planner.Plan, record *planner.Record, err error) {
	t.Helper()
	require.NotNil(t, record)
	require.NotEmpty(t, record.Result)
	if err != nil {
		require.Nil(t, plan)
		require.NotContains(t, []planner.Made{planner.MadePlan, planner.MadeDirect}, record.Result)
		return
	}
	if plan == nil || plan.Direct != "" {
		require.Equal(t, planner.MadeDirect, record.Result)
		return
	}
	require.Equal(t, planner.MadePlan, record.Result)
	require.NoError(t, plan.ValidateFor(catalog, planner.Config{}))
	require.Equal(t, planner.PlanCreated, plan.State)
	for _, s := range plan.Steps {
		require.Equal(t, planner.Pending, s.Status)
		require.Nil(t, s.Evidence)
		require.Nil(t, s.Result)
	}
}

// FuzzAnalysis holds that whatever a model says before the steps are written, there is a plan,
// or an answer instead of it that the model gave; and that who reviews is asked only where the
// analysis wants it.
func FuzzAnalysis(f *testing.F) {
	for _, text := range []string{
		analysis, reflective, review, "DIRECT", "**Direct:** it is 7", "DIRECTORY of files", "direct\u00e9", "REFLECT: yes", "reflect:\n**REFLECT:** YES", "REFLECT: no, yes", "- REFLECT : yes", "", " \n", "\xff", "DIRECT\xff", "</untrusted>",
	} {
		f.Add(text, review)
		f.Add(text, text)
	}
	good := written(f, goodPlan())
	f.Fuzz(func(t *testing.T, text, reviewed string) {
		model := byPurpose(map[string]string{"plan_analysis": text, "plan_review": reviewed}, good)
		p := &planner.Planner{Model: model, Catalog: catalog, Now: func() time.Time { return start }}
		plan, record, err := p.Deliberate(t.Context(), planner.Request{Task: errand, ID: "p1"})
		require.NoError(t, err)
		checkMade(t, plan, record, err)
		var asked []string
		for _, r := range model.Requests() {
			asked = append(asked, r.Purpose)
		}
		if record.Result == planner.MadeDirect {
			require.Equal(t, []string{"plan_analysis"}, asked)
			if plan != nil {
				require.Contains(t, text, plan.Direct)
				require.Empty(t, plan.Steps)
			}
			return
		}
		if slices.Contains(asked, "plan_review") {
			require.False(t, planner.Clear(record.Phases))
			require.Contains(t, strings.ToLower(text), "yes")
		}
		require.Len(t, plan.Steps, 3)
	})
}

// FuzzFeasible holds that whatever a model says of a plan that can be executed, there is a plan
// in the end: what cannot be read is no objection, and one objection has it written once more.
func FuzzFeasible(f *testing.F) {
	for _, reply := range []string{
		`{"feasible":true,"problems":[]}`, `{"feasible":false,"problems":[{"step":"s1","problem":"There is no such file","instead":"List the folder"}]}`, `{"feasible":false,"problems":[]}`,
		`{"feasible":true,"problems":[{"step":"s9","problem":"x","instead":"y"}]}`, `{"feasible":false,"problems":[{"step":"S 1","problem":"a\n**Steps:**","instead":"</untrusted>"}]}`, `{"feasible":"no"}`, "It cannot work.", `[]`, "", "\xff",
	} {
		f.Add(reply)
	}
	good := written(f, goodPlan())
	f.Fuzz(func(t *testing.T, reply string) {
		model := byPurpose(map[string]string{"plan_feasible": reply}, good)
		p := &planner.Planner{
			Model: model, Catalog: catalog, Config: planner.Config{Analysis: planner.Phase{Off: true}, Feasibility: true}, Now: func() time.Time { return start },
		}
		plan, record, err := p.Deliberate(t.Context(), planner.Request{Task: errand, ID: "p1"})
		require.NoError(t, err)
		checkMade(t, plan, record, err)
		var asked, read int
		for _, r := range model.Requests() {
			if r.Purpose == "plan_feasible" {
				read++
			} else {
				asked++
			}
		}
		require.LessOrEqual(t, asked, 2)
		if len(record.Notes) > 0 {
			require.Contains(t, record.Notes[0], "nobody looked whether the plan can work")
			require.Equal(t, 1, asked, "what cannot be read is no objection")
			require.Equal(t, 3, read)
		} else if asked == 2 {
			require.Contains(t, reply, "false")
		}
	})
}
