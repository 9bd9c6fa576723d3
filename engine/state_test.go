package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/engine"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/worldmodel"
)

// TestExecutionDefaults holds how a plan is executed where nothing is said: one step at a
// time, three where several may be done, a minute for each, one further try, and an end at
// the first failure.
func TestExecutionDefaults(t *testing.T) {
	s := run.Defaults().Agent.Execution
	assert.Equal(t, engine.Sequential, s.Mode)
	assert.Equal(t, 3, s.MaxParallel)
	assert.Equal(t, time.Minute, s.StepTimeout)
	assert.Equal(t, 1, s.Retries)
	assert.False(t, s.ContinueOnFailure)
	assert.Equal(t, time.Minute, run.DefaultStepTimeout)
	assert.Equal(t, 2, s.AgentDepth)
	assert.Equal(t, 20, s.AgentTurns)
	assert.Equal(t, 0.2, s.LowBudget)
	assert.Equal(t, "on", run.Defaults().Agent.Guard, "nobody has to switch the guard on")
}

// TestState holds what can be known of a plan while it is executed and after it: each
// step's status, what it gave and when, the steps under way, the revisions and the times,
// all in copies; and that the result has the plan at its beginning and at its end.
func TestState(t *testing.T) {
	w := newWorld(t, map[string]tool{"a": {}, "b": {}, "bad": fails(99), "c": {}}, map[string]func(*llm.Request) string{"reflect": goesOn, "conclude": met("over")},
		func(s *run.Settings, _ *run.Options) {
			s.Agent.Execution.ContinueOnFailure, s.Agent.Execution.Retries = true, 0
		})
	made := plan(step("s1", "a"), step("s2", "b"), step("s3", "a"), step("s4", "bad"), step("s5", "c", "s4"))
	made.State = planner.PlanCreated
	w.Plans.plans = []*planner.Plan{made}
	x, err := w.Plan(t.Context(), "Do what the test wants")
	require.NoError(t, err)
	assert.Equal(t, planner.PlanCreated, x.State().Plan.State)
	assert.Zero(t, x.State().StartedAt)

	var during engine.State
	w.Hooks.Event = func(_ context.Context, data run.EventData) error {
		if e, ok := data.(run.StepStarted); ok && e.Step == "s2" {
			during = x.State()
		}
		return nil
	}
	result, err := x.Execute(t.Context())
	require.NoError(t, err)
	require.True(t, result.Success, result.Answer)
	assert.Equal(t, map[string]planner.Status{"s1": planner.Completed, "s2": planner.Running, "s3": planner.Pending, "s4": planner.Pending, "s5": planner.Blocked}, during.Statuses)
	assert.Equal(t, []string{"s2"}, during.Current)
	assert.Equal(t, planner.PlanRunning, during.Plan.State)
	assert.Equal(t, "a done", during.Results["s1"].Output)
	assert.NotZero(t, during.Results["s1"].At)
	assert.NotZero(t, during.StartedAt)
	assert.Zero(t, during.CompletedAt)

	after := x.State()
	assert.Equal(t, map[string]planner.Status{"s1": planner.Completed, "s2": planner.Completed, "s3": planner.Completed, "s4": planner.Failed, "s5": planner.Skipped}, after.Statuses)
	assert.Contains(t, after.Plan.Step("s4").Error, "the tool says that it failed")
	assert.Empty(t, after.Current)
	assert.Empty(t, after.Revisions)
	assert.False(t, after.CompletedAt.Before(after.StartedAt))
	after.Plan.Steps[0].Goal, after.Plan.Steps = "changed", after.Plan.Steps[:1]
	assert.Equal(t, "Have a done", x.Plan().Steps[0].Goal)
	assert.Len(t, x.Plan().Steps, 5)

	assert.Equal(t, planner.PlanCompleted, result.State)
	assert.Equal(t, planner.PlanCreated, result.Initial.State)
	assert.Equal(t, planner.PlanCompleted, result.Final.State)
	assert.Equal(t, "over", result.Output)
	assert.Len(t, result.Steps, 4)
	calls := runtest.All[run.Acting](w.Journal.Events())
	require.Len(t, calls, 4, "the calls of tools are in the journal")
	assert.Equal(t, actuator.CallTool{Tool: "a", Arguments: "{}"}, calls[0].Action.Action)
}

// TestHooks holds that an error of a hook ends the run and says which hook it was, that
// nothing is done after it, and that the hook of events hears what a revision changed.
func TestHooks(t *testing.T) {
	broken := errors.New("the disk is full")
	for name, tt := range map[string]struct {
		set  func(*engine.Hooks)
		want string
	}{
		"generated": {func(h *engine.Hooks) {
			h.PlanGenerated = func(context.Context, *planner.Plan) (*planner.Plan, error) { return nil, broken }
		}, "the hook of a generated plan"},
		"approve": {func(h *engine.Hooks) {
			h.Approve = func(context.Context, *planner.Plan) (planner.Decision, error) { return planner.Decision{}, broken }
		}, "approval of the plan"},
		"event": {func(h *engine.Hooks) {
			h.Event = func(_ context.Context, data run.EventData) error {
				if _, ok := data.(run.StepStarted); ok {
					return broken
				}
				return nil
			}
		}, "the hook of events, at step_started"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]tool{"a": {}}, nil)
			w.Plans.plans = []*planner.Plan{plan(step("s1", "a"))}
			tt.set(&w.Hooks)
			_, err := w.Run(t.Context(), "Do what the test wants")
			require.ErrorIs(t, err, broken)
			require.ErrorContains(t, err, tt.want)
			assert.Empty(t, w.Tools.Calls())
		})
	}
	t.Run("changes", func(t *testing.T) {
		w := newWorld(t, map[string]tool{"bad": fails(99), "a": {}}, nil)
		w.Plans.revise = func(p *planner.Plan, r planner.RevisionRequest) (*planner.Plan, error) {
			old := p.Steps[0]
			p.Steps[0].Action, p.Steps[0].Status, p.Steps[0].Error = "a", planner.Pending, ""
			return revisedBy(p, r, planner.Change{Type: "updated", Old: &old, New: &p.Steps[0]}), nil
		}
		var heard []planner.Change
		w.Hooks.Event = func(_ context.Context, data run.EventData) error {
			if e, ok := data.(run.Planned); ok && len(heard) == 0 && len(e.Plan.Revisions) > 0 {
				heard = e.Plan.Revisions[0].Changes
			}
			return nil
		}
		x, err := w.Begin(plan(step("s1", "bad")))
		require.NoError(t, err)
		result, err := x.Execute(t.Context())
		require.NoError(t, err)
		assert.True(t, result.Success, result.Answer)
		require.Len(t, heard, 1)
		assert.Equal(t, []string{"updated", "bad", "a"}, []string{heard[0].Type, heard[0].Old.Action, heard[0].New.Action})
	})
}

// TestTriggers holds who asks for a revision, and with which trigger: a step that failed
// with all its tries and its fallback, a result that does not fit, news, and the user.
func TestTriggers(t *testing.T) {
	reflects := func(verdict string) map[string]func(*llm.Request) string {
		return map[string]func(*llm.Request) string{"conclude": met("over"),
			"reflect": always(fmt.Sprintf(`{"verdict": %q, "reason": "r", "guidance": "g", "answer": null}`, verdict))}
	}
	for _, tt := range []struct {
		source  string
		trigger planner.Trigger
		replies map[string]func(*llm.Request) string
		first   string // the tool of the first step
	}{
		{"engine", planner.StepFailure, nil, "bad"},
		{"reflection", planner.UnexpectedResult, reflects("refine"), "a"},
		{"reflection", planner.NewInformation, reflects("expand"), "a"},
		{"user", planner.UserRequest, nil, "ask"},
	} {
		t.Run(string(tt.trigger), func(t *testing.T) {
			var x *engine.Execution
			asks := tool{do: func(ctx context.Context, _ string) (string, error) {
				err := x.Revise(ctx, "the shop is closed")
				assert.ErrorIs(t, err, planner.ErrUnchanged)
				return "asked", nil
			}}
			w := newWorld(t, map[string]tool{"a": {}, "bad": fails(99), "spare": fails(99), "ask": asks}, tt.replies)
			first := step("s1", tt.first)
			first.Fallback = "spare"
			x, _ = w.Begin(plan(first, step("s2", "a")))
			_, err := x.Execute(t.Context())
			require.NoError(t, err)
			require.NotEmpty(t, w.Plans.revised)
			r := w.Plans.revised[0]
			assert.Equal(t, tt.trigger, r.Trigger)
			assert.Equal(t, tt.source, r.Source)
			if tt.first == "bad" {
				assert.Equal(t, []string{"bad {}", "bad {}", "spare {}"}, w.Tools.Calls(), "before anybody revises")
			}
		})
	}
}

// TestOwnConversation holds that an agent of a step begins with nothing of what another
// one was told or said, while one journal has what became of both.
func TestOwnConversation(t *testing.T) {
	w := newWorld(t, map[string]tool{"look": {effect: worldmodel.EffectNone}}, map[string]func(*llm.Request) string{
		"tools": always("done, and the word is sesame"), "reflect": goesOn, "conclude": met("over"),
	})
	x, err := w.Begin(plan(agentStep("s1", engine.ProfileTools), agentStep("s2", engine.ProfileTools)))
	require.NoError(t, err)
	_, err = x.Execute(t.Context())
	require.NoError(t, err)
	asked := w.Model.of("tools")
	require.Len(t, asked, 2)
	assert.Len(t, asked[1].Messages, len(asked[0].Messages))
	assert.NotContains(t, words(asked[1]), "sesame")
	assert.Len(t, runtest.All[run.StepEnded](w.Journal.Events()), 2)
}
