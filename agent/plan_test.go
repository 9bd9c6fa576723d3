package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/agent"
	"desktop-agent/llm"
	"desktop-agent/monitor"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/worldmodel"
)

// favorites is the plan of the scenario "create a folder named 'Favorites' on
// the bookmarks bar".
func favorites(t *testing.T) *planner.Plan {
	t.Helper()
	p := &planner.Plan{Version: 1, Task: "Create a folder named 'Favorites' on bookmarks bar", CreatedAt: time.Now()}
	for _, s := range []planner.Step{
		{ID: "s1", Goal: "Explore the browser interface", DoneWhen: "the bookmarks bar is visible"},
		{ID: "s2", Goal: "Navigate to the bookmarks area", DoneWhen: "the menu of the bookmarks bar is open"},
		{ID: "s3", Goal: "Find the folder creation option", DoneWhen: "a dialog for a new folder is visible"},
		{ID: "s4", Goal: "Locate the folder naming input and confirm the new folder", DoneWhen: "a folder Favorites is on the bookmarks bar"},
	} {
		s.Status = planner.Pending
		p.Steps = append(p.Steps, s)
	}
	require.NoError(t, p.Validate())
	return p
}

var browser = map[string]runtest.View{
	"start":  {Title: "New Tab - Browser", Texts: []string{"Reload", "Menu"}},
	"bar":    {Title: "New Tab - Browser", Texts: []string{"Reload", "Menu", "Bookmarks bar"}},
	"menu":   {Title: "New Tab - Browser", Texts: []string{"Bookmarks bar", "Add folder..."}},
	"dialog": {Title: "New folder", Texts: []string{"Folder name"}},
	"made":   {Title: "New Tab - Browser", Texts: []string{"Bookmarks bar", "Favorites"}},
}

// seer claims the next step as soon as the text that shows it is there.
func seer(quotes ...string) *fakeWorld {
	return &fakeWorld{
		assess: func(_ context.Context, r worldmodel.AssessRequest) (*worldmodel.Assessment, error) {
			a := &worldmodel.Assessment{AsExpected: worldmodel.Yes, ProgressStep: r.Plan.ProgressStep()}
			if n := a.ProgressStep; n <= len(quotes) {
				if _, ok := r.Now.Find(quotes[n-1]); ok {
					a.ProgressStep, a.Evidence = n+1, quotes[n-1]
				}
			}
			return a, nil
		},
		goal: func(r worldmodel.GoalRequest) (*worldmodel.GoalCheck, error) {
			_, ok := r.Now.Find("Favorites")
			return &worldmodel.GoalCheck{Shown: ok, Evidence: "Favorites", Missing: "there is no folder Favorites"}, nil
		},
	}
}

// TestFavorites is the example flow of the plan's design: four exploration
// goals, progress from 1 to 2 when the bookmarks bar becomes visible, and done
// when the folder is there.
func TestFavorites(t *testing.T) {
	steps := []string{"bar", "menu", "dialog", "made"}
	d := &runtest.Desktop{Views: browser, At: "start", React: func(string, actuator.Action) (string, error) {
		next := steps[0]
		steps = steps[1:]
		return next, nil
	}}
	a, script, journal := newAgent(t, d, code("pyautogui.hotkey('ctrl', 'shift', 'b')"), code("pyautogui.rightClick(20, 60)"),
		code("pyautogui.click(20, 40)"), code("pyautogui.write('Favorites\\n')"), code("DONE"))
	a.Planner = &fakePlanner{plan: favorites(t)}
	a.World = seer("Bookmarks bar", "Add folder...", "Folder name", "Favorites")
	result, err := a.Run(t.Context(), "Create a folder named 'Favorites' on bookmarks bar")
	require.NoError(t, err)
	require.Equal(t, run.OutcomeDone, result.Outcome)

	assert.Contains(t, planOf(t, script.asked[0]), "No steps are completed yet. Current step to execute: 1")
	assert.Contains(t, planOf(t, script.asked[2]), "**Progress Step:** 2\n(Step 1 is completed. Current step to execute: 2)")
	assessed := all[run.Assessed](journal)
	require.Len(t, assessed, 4)
	for i, e := range assessed {
		assert.True(t, e.Advanced, "observation %d: %s", i+1, e.Why)
		assert.Equal(t, i+2, e.Plan.ProgressStep())
	}
	assert.Equal(t, "Bookmarks bar", result.Plan.Steps[0].Evidence.Quote)
	assert.True(t, result.Plan.Exhausted())
}

// planOf returns the one plan message of a request, which stands right before
// the last user message.
func planOf(t *testing.T, r *llm.Request) string {
	t.Helper()
	var found []int
	for i, m := range r.Messages {
		for _, p := range m.Parts {
			if s, ok := p.(llm.Text); ok && strings.HasPrefix(string(s), "**SUGGESTED PLAN:**") {
				found = append(found, i)
			}
		}
	}
	require.Len(t, found, 1, "plan messages")
	last := len(r.Messages) - 1
	require.Equal(t, last-1, found[0], "the plan is right before the last message")
	require.Equal(t, llm.User, r.Messages[last].From)
	require.Equal(t, llm.User, r.Messages[found[0]].From, "a suggestion has no system privilege")
	return string(r.Messages[found[0]].Parts[0].(llm.Text))
}

// TestProgressNeverGoesBackOrSkips holds that progress goes on by one step at most, and never
// back, whatever the world model claims.
func TestProgressNeverGoesBackOrSkips(t *testing.T) {
	claims := []int{1, 4, 3, 2, 1, 3, 2}
	d := &runtest.Desktop{Views: browser, At: "bar", React: func(at string, _ actuator.Action) (string, error) {
		return map[string]string{"bar": "start", "start": "bar"}[at], nil
	}}
	var replies []string
	for _, key := range "abcdefg" {
		replies = append(replies, code("pyautogui.press('"+string(key)+"')"))
	}
	a, _, journal := newAgent(t, d, append(replies, code("FAIL: enough"))...)
	a.Planner = &fakePlanner{plan: favorites(t)}
	a.World = &fakeWorld{assess: func(_ context.Context, r worldmodel.AssessRequest) (*worldmodel.Assessment, error) {
		n := claims[0]
		claims = claims[1:]
		quote := []string{"Reload", "Menu", "New Tab"}[r.Plan.ProgressStep()-1] // a quote serves once
		return &worldmodel.Assessment{AsExpected: worldmodel.Unclear, ProgressStep: n, Evidence: quote}, nil
	}}
	_, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	var steps []int
	for _, e := range all[run.Assessed](journal) {
		steps = append(steps, e.Plan.ProgressStep())
	}
	assert.Equal(t, []int{1, 1, 1, 2, 2, 3, 3}, steps)
}

// TestPlanningOff holds that with planning off no plan is made, shown or written.
func TestPlanningOff(t *testing.T) {
	a, script, journal := newAgent(t, &runtest.Desktop{}, code("pyautogui.press('a')"), code("DONE"))
	result, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	assert.Equal(t, run.OutcomeDone, result.Outcome)
	for _, r := range script.asked {
		assert.NotContains(t, text(r), "SUGGESTED PLAN")
	}
	assert.Equal(t, "off", all[run.RunStarted](journal)[0].Planning)
	assert.Empty(t, all[run.Planned](journal))

	for planning, on := range map[string]bool{"off": false, "suggestive": true} {
		settings := run.Defaults()
		settings.Agent.Planning = planning
		fake := &runtest.Desktop{}
		s, err := run.Open(t.Context(), settings, &run.Options{Desktop: fake, Device: fake, Client: &llm.Client{}})
		require.NoError(t, err)
		a, err := agent.New(s)
		require.NoError(t, err)
		assert.Equal(t, on, a.Planner != nil, "it is a setting: %s", planning)
		require.NoError(t, s.Close())
	}
}

// TestPlanThatFailedIsTriedAgain holds that a plan that could not be made is asked for again.
func TestPlanThatFailedIsTriedAgain(t *testing.T) {
	var replies []string
	for _, key := range "abcdefgh" {
		replies = append(replies, code("pyautogui.press('"+string(key)+"')"))
	}
	a, script, journal := newAgent(t, moving(), append(replies, code("DONE"))...)
	p := &fakePlanner{err: errors.New("the endpoint is down")}
	a.Planner = p
	record(a, journal, func(e run.Event) {
		if e.Step == 3 {
			p.err, p.plan = nil, favorites(t)
		}
	})
	result, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	assert.Equal(t, run.OutcomeDone, result.Outcome, "a plan that fails stops nothing")
	assert.Equal(t, 3, p.asked)
	assert.NotEmpty(t, planOf(t, script.asked[5]))
	assert.NotEmpty(t, all[run.Planned](journal)[0].Error)
}

// TestPlanTries holds that it is a setting how often a plan is asked for.
func TestPlanTries(t *testing.T) {
	for most, want := range map[int]int{0: 3, 1: 1, 2: 2} {
		var replies []string
		for _, key := range "abcdefgh" {
			replies = append(replies, code("pyautogui.press('"+string(key)+"')"))
		}
		a, _, _ := newAgent(t, moving(), append(replies, code("DONE"))...)
		p := &fakePlanner{err: errors.New("the endpoint is down")}
		a.Planner, a.Settings.Agent.PlanTries = p, most
		_, err := a.Run(t.Context(), "task")
		require.NoError(t, err)
		assert.Equal(t, want, p.asked, most)
	}
}

// A critic objects as often as it has guidance left.
type critic struct {
	guidance []*monitor.Guidance
	asked    int
	err      error
}

func (c *critic) Due(int, []monitor.Signal) bool { return true }

func (c *critic) Review(context.Context, monitor.ReviewRequest) (*monitor.Guidance, error) {
	c.asked++
	if c.err != nil || len(c.guidance) == 0 {
		return nil, c.err
	}
	g := c.guidance[0]
	c.guidance = c.guidance[1:]
	return g, nil
}

// TestObjectionHasItProposedAgainOnce holds that of several proposals one is performed,
// that an objection has one more proposal made and no more, and that the plan stays as it
// is when the monitor does not say that it is wrong.
func TestObjectionHasItProposedAgainOnce(t *testing.T) {
	d := &runtest.Desktop{}
	a, script, journal := newAgent(t, d, code("pyautogui.press('a')"), code("pyautogui.press('b')"), code("DONE"))
	p := &fakePlanner{plan: favorites(t)}
	a.Planner = p
	c := &critic{guidance: []*monitor.Guidance{{Text: "use the menu", Source: "monitor"}, {Text: "still not the menu", Source: "monitor"}}}
	a.Monitor = c
	_, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	var verdicts []run.Verdict
	for _, e := range all[run.Reviewed](journal) {
		verdicts = append(verdicts, e.Verdict)
	}
	assert.Equal(t, []run.Verdict{run.Regenerate, run.Go, run.Go}, verdicts)
	assert.Equal(t, 1, c.asked, "neither of the second proposal, nor of one that ends with DONE")
	assert.Empty(t, p.guided, "the monitor did not say that the plan is wrong")
	assert.Contains(t, text(script.asked[1]), "use the menu", "the full reason reaches the actor")
	assert.Equal(t, []actuator.Action{actuator.Press{Keys: []actuator.Key{"b"}, Count: 1}}, d.Did(), "only the last proposal is performed")
	for _, r := range script.asked {
		planOf(t, r)
	}
}

// TestFundamentalGuidanceRevises holds that an objection revises the plan if it says that the
// plan is wrong, and not if it is about the action alone.
func TestFundamentalGuidanceRevises(t *testing.T) {
	a, _, journal := newAgent(t, &runtest.Desktop{}, code("pyautogui.press('a')"), code("pyautogui.press('b')"), code("DONE"))
	p := &fakePlanner{plan: favorites(t)}
	p.revised = func(old *planner.Plan, r planner.RevisionRequest) (*planner.Plan, error) {
		next := old.Clone()
		next.Steps[3].Goal = "Find another way"
		next.Revisions = append(next.Revisions, planner.Revision{Number: 1, Source: r.Source})
		return next, nil
	}
	a.Planner = p
	a.Monitor = &critic{guidance: []*monitor.Guidance{{Text: "there is no such bar", Fundamental: true, Source: "monitor"}}}
	result, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	assert.Equal(t, run.Replan, all[run.Reviewed](journal)[0].Verdict)
	assert.Equal(t, "Find another way", result.Plan.Steps[3].Goal)

	a, _, journal = newAgent(t, &runtest.Desktop{}, code("pyautogui.press('a')"), code("pyautogui.press('b')"), code("DONE"))
	again := &fakePlanner{plan: favorites(t), revised: p.revised}
	a.Planner, a.Monitor = again, &critic{guidance: []*monitor.Guidance{{Text: "another key", Source: "monitor"}}}
	_, err = a.Run(t.Context(), "task")
	require.NoError(t, err)
	assert.Equal(t, run.Regenerate, all[run.Reviewed](journal)[0].Verdict)
	assert.Empty(t, again.guided)
}

// TestGoodProposalLeavesThePlanAlone holds that a proposal that the monitor finds good revises nothing,
// though the plan does not say it.
func TestGoodProposalLeavesThePlanAlone(t *testing.T) {
	a, _, journal := newAgent(t, &runtest.Desktop{}, code("pyautogui.press('a')"), code("DONE"))
	p, good := &fakePlanner{plan: favorites(t)}, &critic{}
	a.Planner, a.Monitor = p, good
	result, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	assert.Equal(t, 1, good.asked, "of what only acts")
	assert.Empty(t, p.guided)
	assert.Empty(t, result.Plan.Revisions)
	assert.Len(t, all[run.Planned](journal), 1, "the plan at the beginning")
}

// TestAdviceFailsOpen breaks every adviser; the run goes on.
func TestAdviceFailsOpen(t *testing.T) {
	broken := errors.New("the endpoint is down")
	a, _, journal := newAgent(t, &runtest.Desktop{}, code("pyautogui.press('a')"), code("pyautogui.press('b')"), code("FAIL: enough"))
	a.Planner, a.Monitor = &fakePlanner{err: broken}, &critic{err: broken}
	a.World = &fakeWorld{assess: func(context.Context, worldmodel.AssessRequest) (*worldmodel.Assessment, error) { return nil, broken }}
	result, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	assert.Equal(t, run.OutcomeInfeasible, result.Outcome)
	assert.Len(t, all[run.Acted](journal), 2)
	reviews := all[run.Reviewed](journal)
	assert.Len(t, reviews, len(all[run.Proposed](journal)), "one verdict on each proposal, also where the review fails")
	assert.Contains(t, reviews[0].Error, broken.Error())
}

// almostDone is the plan of the scenario with only its last step open.
func almostDone(t *testing.T) *planner.Plan {
	plan := favorites(t)
	for _, frame := range []string{"early1", "early2", "early3"} {
		require.NoError(t, plan.Complete(planner.Evidence{FrameID: frame, Quote: "q", Source: "tree"}))
	}
	return plan
}

// TestExhaustedPlanIsExtended holds that a plan whose steps are all done leads
// to a look at the goal, and to an extension by what is missing.
func TestExhaustedPlanIsExtended(t *testing.T) {
	d := &runtest.Desktop{Views: browser, At: "start", React: func(string, actuator.Action) (string, error) { return "bar", nil }}
	a, script, journal := newAgent(t, d, code("pyautogui.press('a')"), code("pyautogui.press('b')"), code("FAIL: enough"))
	p := &fakePlanner{plan: almostDone(t), revised: func(old *planner.Plan, _ planner.RevisionRequest) (*planner.Plan, error) {
		next := old.Clone()
		next.Steps = append(next.Steps, planner.Step{ID: "s5", Goal: "Find the folder again", DoneWhen: "Favorites is visible", Status: planner.Pending})
		return next, nil
	}}
	a.Planner, a.World = p, seer("", "", "", "Bookmarks bar")
	result, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	require.Len(t, p.guided, 1)
	assert.Equal(t, "goal_check", p.guided[0].Source)
	assert.Equal(t, "there is no folder Favorites", p.guided[0].Guidance)
	assert.Len(t, all[run.GoalChecked](journal), 1)
	assert.Len(t, result.Plan.Steps, 5)
	assert.Contains(t, planOf(t, script.asked[2]), "Step 5: Find the folder again")
}

// TestExhaustedPlanWhoseGoalIsReached tells the actor that it may finish, and holds
// nothing back: the check may be wrong.
func TestExhaustedPlanWhoseGoalIsReached(t *testing.T) {
	d := &runtest.Desktop{Views: browser, At: "start", React: func(string, actuator.Action) (string, error) { return "made", nil }}
	a, script, _ := newAgent(t, d, code("pyautogui.press('a')"), code("pyautogui.press('delete')"), code("DONE: made it"))
	a.Planner, a.World = &fakePlanner{plan: almostDone(t)}, seer("", "", "", "Favorites")
	result, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	assert.Equal(t, run.OutcomeDone, result.Outcome)
	assert.Equal(t, "made it", result.Answer)
	assert.Contains(t, text(script.asked[2]), "the goal is reached")
	assert.Len(t, d.Did(), 2, "what was proposed is done")
}

// TestGoalCheckThatFailsRevisesNothing holds that an endpoint that is down does
// not change the plan.
func TestGoalCheckThatFailsRevisesNothing(t *testing.T) {
	d := &runtest.Desktop{Views: browser, At: "start", React: func(string, actuator.Action) (string, error) { return "bar", nil }}
	a, _, _ := newAgent(t, d, code("pyautogui.press('a')"), code("pyautogui.press('b')"), code("FAIL: enough"))
	p := &fakePlanner{plan: almostDone(t)}
	world := seer("", "", "", "Bookmarks bar")
	world.goal = func(worldmodel.GoalRequest) (*worldmodel.GoalCheck, error) { return nil, errors.New("503") }
	a.Planner, a.World = p, world
	_, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	assert.Empty(t, p.guided)
	assert.Len(t, d.Did(), 2)
}

// TestRevisedPlanIsInTheNextPrompt holds that the actor reads a revised plan in its next
// turn, and, after three revisions, exactly one plan, right before the last message of the user.
func TestRevisedPlanIsInTheNextPrompt(t *testing.T) {
	var replies []string
	for _, key := range "abcdef" {
		replies = append(replies, code(fmt.Sprintf("pyautogui.press('%c')", key)))
	}
	a, script, _ := newAgent(t, moving(), append(replies, code("DONE"))...)
	p := &fakePlanner{plan: favorites(t)}
	p.revised = func(old *planner.Plan, _ planner.RevisionRequest) (*planner.Plan, error) {
		next := old.Clone()
		next.Steps[3].Goal = fmt.Sprintf("Find way %d", len(p.guided))
		return next, nil
	}
	a.Planner = p
	wrong := &monitor.Guidance{Text: "there is no such bar", Fundamental: true, Source: "monitor"}
	a.Monitor = &critic{guidance: []*monitor.Guidance{wrong, wrong, wrong}}
	_, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	require.Len(t, p.guided, 3)
	require.Len(t, script.asked, 7)
	assert.NotContains(t, planOf(t, script.asked[0]), "Find way")
	for i, r := range script.asked[1:] {
		assert.Contains(t, planOf(t, r), fmt.Sprintf("Find way %d", i/2+1))
	}
}

// TestMonitorIsCalledWhenADetectorFires joins the real monitor and its
// detectors: the same action on the same screen has the model asked, and a
// run that goes well does not.
func TestMonitorIsCalledWhenADetectorFires(t *testing.T) {
	views := map[string]runtest.View{"a": {Title: "One"}, "b": {Title: "Two"}, "c": {Title: "Three"}}
	for name, tt := range map[string]struct {
		keys  string
		react func(string, actuator.Action) (string, error)
		want  int
	}{
		"stuck": {"aa", nil, 1},
		"the same key on one screen after the other": {"aa", func(at string, _ actuator.Action) (string, error) {
			return map[string]string{"a": "b", "b": "c"}[at], nil
		}, 0},
		"goes well": {"ab", func(at string, _ actuator.Action) (string, error) {
			return map[string]string{"a": "b", "b": "c"}[at], nil
		}, 0},
		"other keys": {"ab", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var replies []string
			for _, key := range tt.keys {
				replies = append(replies, code("pyautogui.press('"+string(key)+"')"))
			}
			a, _, _ := newAgent(t, &runtest.Desktop{Views: views, React: tt.react}, append(replies, code("FAIL: enough"))...)
			model := &actorScript{replies: slicesRepeat(`{"is_consistent":true,"needs_new_plan":false,"optimization_guidance":null}`, 5)}
			a.Monitor = &monitor.Monitor{Model: model}
			_, err := a.Run(t.Context(), "task")
			require.NoError(t, err)
			assert.Len(t, model.asked, tt.want)
		})
	}
}

// TestOneEntryOfHistoryForAStep holds that history has one entry for each step, after it.
func TestOneEntryOfHistoryForAStep(t *testing.T) {
	a, _, journal := newAgent(t, &runtest.Desktop{}, code("pyautogui.press('a')"), code("pyautogui.press('b')"), code("pyautogui.press('c')"), code("DONE"))
	var histories [][]string
	a.World = &fakeWorld{goal: func(r worldmodel.GoalRequest) (*worldmodel.GoalCheck, error) {
		histories = append(histories, r.History)
		return &worldmodel.GoalCheck{Shown: true, Evidence: "Fake window"}, nil
	}}
	_, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	require.Len(t, histories, 1)
	assert.Equal(t, []string{"1. press A: no effect", "2. press B: no effect", "3. press C: no effect"}, histories[0][:3])
	assert.Len(t, all[run.Acted](journal), 3)
}
