package guard_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator/pyautogui"
	"desktop-agent/agent"
	"desktop-agent/guard"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/screen"
	"desktop-agent/worldmodel"
)

// A branch is one way that a step of the original can take, and what happens here.
type branch struct {
	name     string
	original string // what the original does
	actor    []string
	foresee  []llmtest.Func // one for each call
	judge    llmtest.Func   // nil: the task asks for nothing that cannot be undone
	approve  guard.Mode
	answer   *guard.Answer
	onBlock  string
}

func foreseen(effect string, reversible, asked bool, more map[string]any) llmtest.Func {
	words := ""
	if asked {
		words = "Delete"
	}
	f := foresight(effect, reversible, asked, words)
	maps.Copy(f, more)
	return llmtest.JSON(f)
}

var (
	lost      = foreseen("delete", false, false, nil)
	wanted    = foreseen("delete", false, true, nil)
	noPolicy  = foreseen("none", true, true, map[string]any{"violated_policy_ids": []string{"None"}})
	violating = foreseen("delete", true, true, map[string]any{"violated_policy_ids": []string{"deleting"}})
	aligned   = foreseen("delete", true, true, map[string]any{"violated_policy_ids": []string{"goal"}})
	demanding = llmtest.JSON(map[string]any{"reason": "it deletes", "irreversible": true, "blocked_effects": []string{"delete"}, "blocked_tools": []string{}})
	reading   = llmtest.JSON(map[string]any{"reason": "it reads", "irreversible": false, "blocked_effects": []string{}, "blocked_tools": []string{}})
)

const (
	scrolls = "pyautogui.scroll(-3)"
	delKey  = "pyautogui.press('delete')"
)

var branches = []branch{
	{name: "safe", original: "1 call to judge risk, for every action", actor: []string{scrolls, "DONE"}},
	{name: "risky, and wanted", original: "risk is .8 or 0", actor: []string{delKey, "DONE"}, foresee: []llmtest.Func{wanted}, judge: demanding},
	{name: "blocked, the first regeneration is safe", original: "the plan is rewritten first; 5 calls", actor: []string{delKey, scrolls, "DONE"}, foresee: []llmtest.Func{lost}},
	{name: "blocked, the second regeneration is safe", original: "the plan is rewritten twice; 8 calls", actor: []string{delKey, delKey, scrolls, "DONE"}, foresee: []llmtest.Func{lost}},
	{name: "blocked until the tries are used up: ask, nobody there", original: "the blocked action is executed; 9 calls", actor: []string{delKey, delKey, delKey}, foresee: []llmtest.Func{lost}},
	{name: "blocked until the tries are used up: stop", original: "the blocked action is executed", actor: []string{delKey, delKey, delKey}, foresee: []llmtest.Func{lost}, onBlock: run.OnBlockStop},
	{name: "blocked until the tries are used up: wait", original: "the blocked action is executed", actor: []string{delKey, delKey, delKey, delKey, "DONE"}, foresee: []llmtest.Func{lost}, onBlock: run.OnBlockWait},
	{name: "the world model fails", original: "the task is aborted, as if out of time", actor: []string{delKey, delKey, "DONE"}, judge: demanding, foresee: []llmtest.Func{llmtest.Fail(&llm.Error{Kind: llm.ErrUnavailable}), wanted}},
	{name: "an unknown policy, then none", original: "it blocks", actor: []string{delKey, "DONE"}, judge: demanding, foresee: []llmtest.Func{noPolicy, wanted}},
	{name: "an unknown policy, twice", original: "it blocks, and rewrites the plan", actor: []string{delKey, "DONE"}, judge: demanding, foresee: []llmtest.Func{noPolicy, noPolicy}},
	{name: "a policy is violated", original: "blocked with a reason that gets lost", actor: []string{delKey, "DONE"}, judge: demanding, foresee: []llmtest.Func{violating}},
	{name: "goal alignment alone", original: "it blocks, refusal too", actor: []string{delKey, "DONE"}, judge: demanding, foresee: []llmtest.Func{aligned}},
	{name: "the analysis of the task fails", original: "there is none", actor: []string{delKey, "DONE"}, judge: llmtest.Fail(errors.New("no network")), foresee: []llmtest.Func{wanted}},
	{name: "what the user alone can allow", original: "nobody is asked", actor: []string{delKey, "DONE"}, foresee: []llmtest.Func{lost}, approve: guard.Risky, answer: &guard.Answer{Yes: true}},
	{name: "and does not", original: "nobody is asked", actor: []string{delKey, "DONE"}, foresee: []llmtest.Func{wanted}, judge: demanding, approve: guard.Risky, answer: &guard.Answer{Reason: "keep it"}},
	{name: "two actions, the first is refused", original: "only the first of a reply survives", actor: []string{delKey + "\n" + scrolls, "DONE"}, foresee: []llmtest.Func{lost}},
	{name: "waiting and giving up", original: "WAIT and FAIL cost a call, and may be blocked", actor: []string{"WAIT", "FAIL: it must not be"}},
}

// TestBranches walks every way that a step of the original can take (a safe action, a
// blocked one that is regenerated once, twice, until the tries are used up, a world
// model or an analysis that fails, policies that are not there), and shows ours at
// each: which calls, which rulings, and what is done. The plan enters no question of the guard. An action is done only if a line
// "acting" is there; none follows a ruling that refused.
func TestBranches(t *testing.T) {
	var got strings.Builder
	for _, b := range branches {
		fmt.Fprintf(&got, "# %s\n  original: %s\n", b.name, b.original)
		walk(t, b, &got)
	}
	const name = "testdata/branches.golden"
	if llmtest.Updating() {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(name, []byte(got.String()), 0o600))
	}
	want, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, string(want), got.String())
}

// walk runs an agent along a branch, and writes what happened.
func walk(t *testing.T, b branch, w *strings.Builder) {
	t.Helper()
	foresees, turn := 0, 0
	model := llmtest.Func(func(ctx context.Context, r *llm.Request) (*llm.Response, error) {
		if run.GuardPurpose(r.Purpose) {
			assert.NotContains(t, llmtest.AllText(r), "Explore", "the plan is no part of it")
		}
		switch strings.TrimSuffix(r.Purpose, "_again") {
		case run.PurposeJudge:
			if b.judge != nil {
				return b.judge(ctx, r)
			}
			return reading(ctx, r)
		case run.PurposeForesee:
			require.Less(t, foresees, len(b.foresee), "%s: one foresight too many", b.name)
			foresees++
			return b.foresee[foresees-1](ctx, r)
		case "assess":
			return llmtest.JSON(map[string]any{"changed": "x", "as_expected": "yes", "progress_step": 1, "evidence": "", "guidance": nil, "stop": false, "region": nil})(ctx, r)
		case "goal":
			return llmtest.JSON(map[string]any{"shown": true, "evidence": "Fake window", "missing": "", "region": nil})(ctx, r)
		case "propose":
			turn++
			if b.actor[turn-1] == "" {
				return nil, errors.New("no more turns")
			}
			return llmtest.Text("Thought: t\nExpect: e\n```python\n"+b.actor[turn-1]+"\n```")(ctx, r)
		}
		return nil, fmt.Errorf("nobody plays %q", r.Purpose)
	})
	d, journal := &runtest.Desktop{}, &run.Memory{}
	scope := run.NewRecorder(journal, nil).Scope(run.Where{})
	client := &llm.Client{Model: model, Default: llm.Settings{Model: "m"}, Record: scope.Call, Retry: llm.Retry{Attempts: 1}}
	world := &worldmodel.Model{LLM: client}
	g := &guard.Guard{World: world, Policies: guard.DefaultPolicies(), Model: client, Analysers: []llm.Role{llm.Monitor}, Approve: b.approve}
	if b.answer != nil {
		g.Ask = func(context.Context, guard.Approval) (guard.Answer, error) { return *b.answer, nil }
	}
	hand := run.NewHand(d, scope, g)
	a := &agent.Agent{
		Desktop: d, Hand: hand, Scope: scope, World: world, Planner: planned{}, MaxSteps: 8,
		Actor:    &agent.Actor{Model: client, Format: agent.Format{Name: "code", Parser: pyautogui.Parser{}}},
		Settings: run.Settings{Agent: run.AgentSettings{OnBlock: b.onBlock}},
	}
	_, err := a.Run(t.Context(), "Delete the old report")
	require.NoError(t, err, b.name)
	assert.Equal(t, len(b.foresee), foresees, "%s: every foresight is asked for", b.name)
	refused := false
	for _, e := range journal.Events() {
		switch e := e.Data.(type) {
		case run.TaskJudged:
			fmt.Fprintf(w, "  task judged: irreversible %v %v %s\n", e.Irreversible, e.Effects, e.Error)
		case run.Proposed:
			fmt.Fprintf(w, "  proposed\n")
		case run.Planned:
			fmt.Fprintf(w, "  planned\n")
		case run.ModelCalled:
			if run.GuardPurpose(e.Purpose) && e.Purpose != run.PurposeJudge {
				fmt.Fprintf(w, "  called: %s\n", e.Purpose)
			}
		case run.Guarded:
			refused = !e.Allowed
			fmt.Fprintf(w, "  guarded: allowed %v, effect %q, by %s: %s\n", e.Allowed, e.Effect, e.By, e.Reason)
		case run.Refused:
			fmt.Fprintf(w, "  refused; the actor reads: %s\n", e.Reason)
		case run.Acting:
			assert.False(t, refused, "%s: what was refused is done", b.name)
			fmt.Fprintf(w, "  acting\n")
		case run.RunEnded:
			fmt.Fprintf(w, "  ended: %s, %d model calls\n", e.Outcome, e.Calls)
		}
	}
}

// A planned planner has a plan, and is asked to revise nothing.
type planned struct{}

func (planned) Generate(context.Context, string, *screen.Observation) (*planner.Plan, error) {
	return &planner.Plan{Version: planner.Version, Task: "Delete the old report", Steps: []planner.Step{{ID: "s1", Goal: "Explore the reports", DoneWhen: "It is gone", Status: planner.Pending}}}, nil
}

func (planned) Revise(context.Context, *planner.Plan, planner.RevisionRequest) (*planner.Plan, error) {
	return nil, errors.New("a refusal must not change the plan")
}
