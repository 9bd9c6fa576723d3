package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/engine"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/tools"
	"desktop-agent/worldmodel"
)

// TestOverIsOver holds that a step which the end of the run has interrupted is tried
// neither again nor by its fallback: nothing of it begins any more.
func TestOverIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]tool{"never": takes(24 * time.Hour), "spare": {}}, nil, func(s *run.Settings, _ *run.Options) { s.Agent.Execution.Retries = 5 })
		begun := 0
		w.Hooks.Event = func(_ context.Context, e run.EventData) error {
			if _, ok := e.(run.StepStarted); ok {
				begun++
			}
			return nil
		}
		one := step("s1", "never")
		one.Fallback = "spare"
		x, err := w.Begin(plan(one))
		require.NoError(t, err)
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { stop(errors.New("the user pressed the stop keys")) })
		result, err := x.Execute(ctx)
		require.NoError(t, err)
		assert.Equal(t, run.OutcomeStopped, result.Outcome)
		assert.Equal(t, 1, begun)
		assert.Equal(t, 1, result.Final.Step("s1").Attempts)
	})
}

// TestAllFailed holds that a plan whose steps failed is never told as done, however many
// failures the user bears and whether or not a model can judge it.
func TestAllFailed(t *testing.T) {
	w := newWorld(t, map[string]tool{"bad": fails(99)}, nil, func(s *run.Settings, _ *run.Options) { s.Agent.Execution.ContinueOnFailure = true })
	x, err := w.Begin(plan(step("s1", "bad")))
	require.NoError(t, err)
	result, err := x.Execute(t.Context())
	require.NoError(t, err)
	assert.False(t, result.Success)
	assert.Equal(t, run.OutcomeBlocked, result.Outcome)
	assert.Contains(t, result.Answer, "s1")

	inner := plan(step("s1", "bad"))
	outer := planner.Step{ID: "s1", Goal: "Have it done", Executor: planner.Self, Sub: inner}
	w = newWorld(t, map[string]tool{"bad": fails(99)}, nil, func(s *run.Settings, _ *run.Options) { s.Agent.Execution.ContinueOnFailure = true })
	w.Session.Client = &llm.Client{Model: &mind{}, Default: llm.Settings{Model: "test"}}
	x, err = w.Begin(plan(outer))
	require.NoError(t, err)
	result, err = x.Execute(t.Context())
	require.NoError(t, err)
	assert.Equal(t, planner.Failed, result.Final.Step("s1").Status, "nor is one within a plan")
	assert.False(t, result.Success)
}

// TestNoPlanGiven holds that a plan that is missing is an error with a name.
func TestNoPlanGiven(t *testing.T) {
	w := newWorld(t, map[string]tool{"a": {}}, nil)
	_, err := w.RunPlan(t.Context(), nil)
	require.ErrorIs(t, err, engine.ErrPlanNotInitialized)
	w.Plans.plans = []*planner.Plan{plan(step("s1", "a"))}
	w.Hooks.PlanGenerated = func(context.Context, *planner.Plan) (*planner.Plan, error) { return nil, nil }
	_, err = w.Plan(t.Context(), "Do it")
	require.ErrorIs(t, err, engine.ErrPlanNotInitialized)
}

// TestAgentSaysNothing holds that an agent which answers nothing has done nothing, however
// it writes that it failed, and that a task without a plan ends with a result then.
func TestAgentSaysNothing(t *testing.T) {
	for _, says := range []string{" \n", "FAIL: no such site", "**FAIL:** no such site"} {
		w := newWorld(t, map[string]tool{"a": {}}, map[string]func(*llm.Request) string{"tools": always(says), "conclude": met("fine")})
		x, err := w.Begin(plan(planner.Step{ID: "s1", Goal: "Search the web", Executor: planner.Agent, Action: engine.ProfileTools}))
		require.NoError(t, err)
		result, err := x.Execute(t.Context())
		require.NoError(t, err)
		assert.Equal(t, planner.Failed, result.Final.Step("s1").Status, "%q", says)
		assert.False(t, result.Success)
	}
	w := newWorld(t, map[string]tool{"a": {}}, map[string]func(*llm.Request) string{"tools": always("FAIL: no such site")})
	result, err := w.Run(t.Context(), "Search the web")
	require.NoError(t, err, "a task that fails is a result")
	assert.Equal(t, run.OutcomeBlocked, result.Outcome)
	w = newWorld(t, map[string]tool{"a": {}}, map[string]func(*llm.Request) string{"tools": always("CALL a {}")})
	result, err = w.Run(t.Context(), "Search the web")
	require.NoError(t, err)
	assert.Equal(t, run.OutcomeOutOfSteps, result.Outcome)
}

// TestFallbackNeverTwice holds that what a fallback attempted and cannot be taken back is
// not done by a revision either.
func TestFallbackNeverTwice(t *testing.T) {
	unknown := tool{effect: worldmodel.EffectSend, do: func(context.Context, string) (string, error) { return "", errors.New("the line broke") }}
	w := newWorld(t, map[string]tool{"draft": fails(99), "send": unknown}, nil, func(s *run.Settings, _ *run.Options) { s.Agent.Execution.Retries = 0 })
	w.Plans.revise = func(p *planner.Plan, r planner.RevisionRequest) (*planner.Plan, error) {
		if len(p.Revisions) > 0 {
			return nil, planner.ErrUnchanged
		}
		p.Steps = append(p.Steps[:0], step("s2", "send"))
		p.Steps[0].Status = planner.Pending
		return revisedBy(p, r), nil
	}
	one := step("s1", "draft")
	one.Fallback = "send"
	x, err := w.Begin(plan(one))
	require.NoError(t, err)
	result, err := x.Execute(t.Context())
	require.NoError(t, err)
	assert.False(t, result.Success)
	assert.Equal(t, 1, count(w.Tools.Calls(), "send {}"))
	assert.Contains(t, result.Final.Step("s2").Error, "not done again")
}

// TestOtherWordsNeverTwice holds that a revision does not do again what cannot be taken back by
// writing the same call otherwise.
func TestOtherWordsNeverTwice(t *testing.T) {
	unknown := tool{effect: worldmodel.EffectSend, do: func(context.Context, string) (string, error) { return "", errors.New("the line broke") }}
	w := newWorld(t, map[string]tool{"send": unknown}, nil, func(s *run.Settings, _ *run.Options) { s.Agent.Execution.Retries = 0 })
	w.Plans.revise = func(p *planner.Plan, r planner.RevisionRequest) (*planner.Plan, error) {
		if len(p.Revisions) > 0 {
			return nil, planner.ErrUnchanged
		}
		p.Steps = []planner.Step{step("s2", "send")}
		p.Steps[0].Parameters, p.Steps[0].Status = `{ "text": "b", "to": "a" }`, planner.Pending
		return revisedBy(p, r), nil
	}
	one := step("s1", "send")
	one.Parameters = `{"to":"a","text":"b"}`
	x, err := w.Begin(plan(one))
	require.NoError(t, err)
	result, err := x.Execute(t.Context())
	require.NoError(t, err)
	assert.False(t, result.Success)
	assert.Len(t, w.Tools.Calls(), 1)
	assert.Contains(t, result.Final.Step("s2").Error, "not done again")
}

// TestAskedStandsStill holds that the clock of the run stands still while the user is asked
// whether a step may be done again.
func TestAskedStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]tool{"a": {}}, map[string]func(*llm.Request) string{"conclude": met("fine")})
		w.Session.Client.Budget = &llm.Budget{MaxTime: time.Minute}
		w.Session.Client.Budget.Start()
		w.Ask = func(context.Context, string) (string, error) {
			time.Sleep(time.Hour)
			return "yes", nil
		}
		x, err := w.Begin(plan(step("s1", "a")))
		require.NoError(t, err)
		x.Attempted("s1", worldmodel.EffectSend)
		result, err := x.Execute(t.Context())
		require.NoError(t, err)
		assert.Equal(t, run.OutcomeDone, result.Outcome, result.Answer)
	})
}

// TestRememberedAndAsked holds that what one step remembers is read by a later one, also by
// an agent of its own, and that a step may ask the user for as long as it takes.
func TestRememberedAndAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var facts tools.Facts
		remember, err := tools.Remember(&facts)
		require.NoError(t, err)
		var e *engine.Engine
		ask, err := tools.AskUser(func(ctx context.Context, q string) (string, error) { return e.Question(ctx, q) })
		require.NoError(t, err)
		box := &tools.Registry{}
		require.NoError(t, box.Add(remember, ask))
		w := newWorld(t, nil, map[string]func(*llm.Request) string{
			"self": always(`{"output": "done", "reached": true, "missing": null}`), "tools": always("done"), "conclude": met("fine"),
		}, func(_ *run.Settings, o *run.Options) { o.Tools = box })
		e = w.Engine
		e.Facts = facts.List
		e.Ask = func(context.Context, string) (string, error) {
			time.Sleep(time.Hour)
			return "the red one", nil
		}
		note, question := step("s1", "remember"), step("s2", "ask_user")
		note.Parameters, question.Parameters = `{"fact": "the rent is 940"}`, `{"question": "Which one?"}`
		x, err := w.Begin(plan(note, question,
			planner.Step{ID: "s3", Goal: "Sum it up", Executor: planner.Self},
			planner.Step{ID: "s4", Goal: "Search it", Executor: planner.Agent, Action: engine.ProfileTools}))
		require.NoError(t, err)
		result, err := x.Execute(t.Context())
		require.NoError(t, err)
		require.True(t, result.Success, result.Answer)
		assert.Equal(t, "the red one", result.Steps["s2"].Output)
		for _, who := range []string{"self", "tools"} {
			require.Len(t, w.Model.of(who), 1)
			assert.Contains(t, words(w.Model.of(who)[0]), "the rent is 940", who)
		}
	})
}
