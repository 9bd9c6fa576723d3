package engine_test

import (
	"cmp"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/engine"
	"desktop-agent/llm"
	"desktop-agent/monitor"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
)

// TestOneLimitForAll holds that the most steps at the same time are those of the plan and
// of all plans within it together: three agents whose plans have three steps each share
// three places, and one place is enough for all to come to their end.
func TestOneLimitForAll(t *testing.T) {
	unsaid := run.Defaults().Agent.Execution.MaxParallel
	for limit, takes9 := range map[int]time.Duration{0: 9 * time.Second / time.Duration(unsaid), 1: 9 * time.Second, 3: 3 * time.Second, 9: time.Second} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, map[string]tool{"slow": takes(time.Second)}, nil, func(s *run.Settings, _ *run.Options) {
					s.Agent.Execution.Mode, s.Agent.Execution.MaxParallel = engine.Parallel, limit
				})
				outer := plan()
				for i := range 3 {
					s := agentStep(fmt.Sprintf("s%d", i+1), engine.ProfileTools)
					s.Status, s.Sub = planner.Pending, plan(step("s1", "slow"), step("s2", "slow"), step("s3", "slow"))
					if i == 2 { // a plan within a step that no agent has
						s.Executor, s.Action = planner.Self, ""
					}
					outer.Steps = append(outer.Steps, s)
				}
				x, err := w.Begin(outer)
				require.NoError(t, err)
				result, err := x.Execute(t.Context())
				require.NoError(t, err)
				require.True(t, result.Success, result.Answer)
				assert.Len(t, w.Tools.Calls(), 9)
				assert.Equal(t, cmp.Or(limit, unsaid), w.Tools.most)
				assert.Equal(t, takes9, result.Elapsed)
			})
		})
	}
}

// TestDefaultStepActions holds that an attempt at a step on the screen for which no number of
// turns is said has the one that the settings have by default.
func TestDefaultStepActions(t *testing.T) {
	want := run.Defaults().Agent.Execution.StepActions
	for said, turns := range map[int]int{0: want, 4: 4} {
		d := &runtest.Desktop{}
		d.React = func(string, actuator.Action) (string, error) { d.Tick++; return "", nil }
		w := newWorld(t, nil, map[string]func(*llm.Request) string{"propose": always(does("pyautogui.press('a')"))}, onScreen(d), func(s *run.Settings, _ *run.Options) {
			s.Agent.Execution.StepActions, s.Agent.Execution.Retries, s.Agent.Detectors = said, 0, monitor.Limits{Stuck: 100}
		})
		x, err := w.Begin(plan(guiStep("s1")))
		require.NoError(t, err)
		result, err := x.Execute(t.Context())
		require.NoError(t, err)
		assert.False(t, result.Success)
		assert.Len(t, runtest.All[run.Proposed](w.Journal.Events()), turns)
	}
}

// TestPlaceAndTime holds that the time of a step begins once it has a place: a step that
// waited for longer than it may take is done all the same.
func TestPlaceAndTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]tool{"slow": takes(50 * time.Second)}, nil, func(s *run.Settings, _ *run.Options) {
			s.Agent.Execution.Mode, s.Agent.Execution.MaxParallel = engine.Parallel, 2
		})
		within := func(id string) planner.Step {
			s := agentStep(id, engine.ProfileTools)
			s.Sub = plan(step("s1", "slow"), step("s2", "slow"))
			return s
		}
		x, err := w.Begin(plan(within("s1"), within("s2")))
		require.NoError(t, err)
		result, err := x.Execute(t.Context())
		require.NoError(t, err)
		require.True(t, result.Success, result.Answer)
		assert.Equal(t, 100*time.Second, result.Elapsed, "four steps, two at a time")
	})
}

// thinks is a step of the model alone.
func thinks(id string, needs ...string) planner.Step {
	return planner.Step{ID: id, Goal: "Think about " + id, Executor: planner.Self, Needs: needs}
}

// TestBudgetNearlyUsed holds that a revision is asked for when a fifth of the budget is
// left, once, and that it makes do with what is left: the plan is shortened and comes to
// its end, where the whole of it would have run out. Where it cannot be paid itself, the plan
// goes on as it is.
func TestBudgetNearlyUsed(t *testing.T) {
	chain := func() *planner.Plan {
		return plan(thinks("s1"), thinks("s2"), thinks("s3"), thinks("s4"), thinks("s5"))
	}
	replies := map[string]func(*llm.Request) string{
		"self": always(`{"output": "thought", "reached": true, "missing": null}`), "reflect": goesOn, "conclude": met("all of it"),
	}
	w := newWorld(t, nil, replies)
	w.Session.Client.Budget = &llm.Budget{MaxCalls: 7} // each step is a thought and a reflection
	w.Plans.revise = func(p *planner.Plan, r planner.RevisionRequest) (*planner.Plan, error) {
		gone := p.Steps[3:]
		p.Steps = p.Steps[:3]
		return revisedBy(p, r, planner.Change{Type: "removed", Old: &gone[0]}, planner.Change{Type: "removed", Old: &gone[1]}), nil
	}
	x, err := w.Begin(chain())
	require.NoError(t, err)
	result, err := x.Execute(t.Context())
	require.NoError(t, err)
	assert.True(t, result.Success, result.Answer)
	assert.Equal(t, "all of it", result.Answer)
	require.Len(t, w.Plans.revised, 1)
	r := w.Plans.revised[0]
	assert.Equal(t, planner.TokenBudget, r.Trigger)
	assert.Equal(t, "budget", r.Source)
	assert.Equal(t, planner.ReplanRemaining, r.Strategy)
	assert.Contains(t, r.Guidance, "only 14 % of the budget of model calls is left")
	planned := runtest.All[run.Planned](w.Journal.Events())
	assert.Equal(t, planner.TokenBudget, planned[0].Plan.Revisions[0].Trigger)

	w = newWorld(t, nil, replies) // nothing of the plan may be left out: it runs out, and is asked once
	w.Session.Client.Budget = &llm.Budget{MaxCalls: 7}
	x, err = w.Begin(chain())
	require.NoError(t, err)
	result, err = x.Execute(t.Context())
	require.NoError(t, err)
	assert.Equal(t, run.OutcomeOutOfBudget, result.Outcome)
	assert.Len(t, w.Plans.revised, 1)

	w = newWorld(t, nil, replies) // not before so much is used
	w.Session.Client.Budget, w.Settings.LowBudget = &llm.Budget{MaxCalls: 20}, 0.01
	x, err = w.Begin(chain())
	require.NoError(t, err)
	_, err = x.Execute(t.Context())
	require.NoError(t, err)
	assert.Empty(t, w.Plans.revised)

	w = newWorld(t, nil, replies) // a plan that is gone on with was asked for already
	w.Session.Client.Budget = &llm.Budget{MaxCalls: 7}
	before := chain()
	before.Revisions = []planner.Revision{{Number: 1, Trigger: planner.TokenBudget}}
	x, err = w.Begin(before)
	require.NoError(t, err)
	_, err = x.Execute(t.Context())
	require.NoError(t, err)
	assert.Empty(t, w.Plans.revised)

	w = newWorld(t, map[string]tool{"a": {}}, replies, func(s *run.Settings, _ *run.Options) { s.Agent.Execution.Reflect = false })
	w.Session.Client.Budget = &llm.Budget{MaxCalls: 5}
	w.Session.Client.Budget.Resume(llm.Spent{Calls: 5})
	w.Plans.revise = func(*planner.Plan, planner.RevisionRequest) (*planner.Plan, error) {
		return nil, fmt.Errorf("revise plan: %w", &llm.BudgetError{Resource: llm.Calls, Used: 5, Max: 5})
	}
	x, err = w.Begin(plan(step("s1", "a"), step("s2", "a"), step("s3", "a")))
	require.NoError(t, err)
	result, err = x.Execute(t.Context())
	require.NoError(t, err)
	assert.Len(t, w.Plans.revised, 1)
	assert.Len(t, w.Tools.Calls(), 3, "tools cost nothing")
	assert.Equal(t, run.OutcomeOutOfBudget, result.Outcome, "the check of the goal does")
}

// TestPlanOfAnAgentWithoutScreen holds that the plan of an agent without a display is made
// and checked for what that agent has, though the run is at a screen: who makes it is told
// that there is none, a step on the screen is refused with what to write instead and before
// anything of the plan is done, and an agent that is as deep as agents are is offered no
// others.
func TestPlanOfAnAgentWithoutScreen(t *testing.T) {
	w := newWorld(t, map[string]tool{"a": {}}, map[string]func(*llm.Request) string{"reflect": goesOn, "conclude": met("over"), "tools": always("done by tools")},
		onScreen(&runtest.Desktop{}), func(s *run.Settings, _ *run.Options) { s.Agent.Execution.Retries = 0 })
	w.Config.Hierarchical, w.Config.MaxDepth = true, 4
	inner := agentStep("s1", engine.ProfileTools)
	inner.DoneWhen = "It is looked up"
	w.Plans.plans = []*planner.Plan{plan(inner)}
	x, err := w.Begin(plan(agentStep("s1", engine.ProfileTools)))
	require.NoError(t, err)
	result, err := x.Execute(t.Context())
	require.NoError(t, err)
	require.True(t, result.Success, result.Answer)
	require.Len(t, w.Plans.asked, 2)
	one, two := w.Plans.asked[0], w.Plans.asked[1]
	assert.False(t, one.Catalog.Screen)
	assert.Len(t, one.Catalog.Agents, 2)
	assert.Len(t, one.Catalog.Tools, 1)
	assert.Empty(t, two.Catalog.Agents, "two deep")
	assert.Nil(t, one.Now)

	w.Validate = func(p *planner.Plan, c planner.Catalog) error { return p.ValidateFor(c, w.Config) }
	w.Tools.calls = nil
	first := step("s1", "a")
	first.Goal, first.DoneWhen = "Read the price list", "It has the prices"
	within := agentStep("s1", engine.ProfileTools)
	within.DoneWhen = "It has the prices"
	within.Sub = plan(first, guiStep("s2", "s1"))
	_, err = w.Begin(plan(within))
	require.EqualError(t, err, "step 1, its plan: step 2: there is no screen to do it on; write a step of a tool, an agent or self")
	w.Plans.plans = []*planner.Plan{within.Sub} // from a planner that does not heed it
	within.Sub = nil
	x, err = w.Begin(plan(within))
	require.NoError(t, err)
	result, err = x.Execute(t.Context())
	require.NoError(t, err)
	assert.False(t, result.Success)
	assert.Contains(t, result.Final.Steps[0].Error, "step 2: there is no screen to do it on; write a step of a tool")
	assert.Empty(t, w.Tools.Calls(), "nothing of that plan")
}
