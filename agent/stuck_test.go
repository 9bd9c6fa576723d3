package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/monitor"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/worldmodel"
)

const objects = `{"is_consistent":false,"needs_new_plan":false,"optimization_guidance":"That does not help: fill in the field first."}`

// TestActorsThatGoNowhere gives each actor that goes on for ever its end, and counts what
// it costs: a run that is stuck ends within 12 steps, or where another text is typed each
// time within 18, at 3 model calls a step at most, although the monitor objects as often as
// it is asked.
func TestActorsThatGoNowhere(t *testing.T) {
	save := map[string]runtest.View{"a": {Title: "Form", Texts: []string{"Name", "Save"}, Off: []string{"Save"}}}
	toggle := func(at string, _ actuator.Action) (string, error) {
		return map[string]string{"a": "b", "b": "a"}[at], nil
	}
	around := func(at string, _ actuator.Action) (string, error) {
		return map[string]string{"a": "b", "b": "c", "c": "a"}[at], nil
	}
	round := func(at string, _ actuator.Action) (string, error) {
		return map[string]string{"a": "b", "b": "c", "c": "d", "d": "e", "e": "a"}[at], nil
	}
	two := map[string]runtest.View{"a": {Title: "One"}, "b": {Title: "Two"}}
	for name, tt := range map[string]struct {
		reply  func(n int) string
		views  map[string]runtest.View
		react  func(string, actuator.Action) (string, error)
		ask    func(context.Context, string) (string, error)
		end    run.Outcome
		steps  int    // at most
		answer string // part of it
	}{
		"the same click on a disabled button, by its handle": {always(`agent.click("n3")`), save, nil, nil, run.OutcomeStuck, 12,
			`tried: click left at (55, 37) on n3 push button "Save" (8 times)`},
		"the same click on a disabled button, by pixels": {always("pyautogui.click(50, 37)"), save, nil, nil, run.OutcomeStuck, 12,
			`on push button "Save" (8 times)`},
		"a click on nothing, with jitter": {func(n int) string {
			return code(fmt.Sprintf("pyautogui.click(%d, %d)", 150+14*(n%3-1), 90+14*(n%2)))
		}, nil, nil, nil, run.OutcomeStuck, 12, "(8 times)"},
		"keys that do nothing, another one each time": {func(n int) string { return code(fmt.Sprintf("pyautogui.press('f%d')", n%12+1)) }, nil, nil, nil,
			run.OutcomeStuck, 12, "and 3 more"},
		"back and forth":       {always("pyautogui.click(20, 20)"), two, toggle, nil, run.OutcomeStuck, 12, "click left at (20, 20) (12 times)"},
		"in a circle of three": {always("pyautogui.click(20, 20)"), map[string]runtest.View{"a": {Title: "One"}, "b": {Title: "Two"}, "c": {Title: "Three"}}, around, nil, run.OutcomeStuck, 12, "led anywhere"},
		"back and forth, each time by another key": {func(n int) string { return code(fmt.Sprintf("pyautogui.press('f%d')", n%12+1)) }, two, toggle, nil,
			run.OutcomeStuck, 12, "nothing of the last 12 turns led anywhere"},
		"round five screens": {func(n int) string { return code(fmt.Sprintf("pyautogui.press('f%d')", n%12+1)) },
			map[string]runtest.View{"a": {Title: "1"}, "b": {Title: "2"}, "c": {Title: "3"}, "d": {Title: "4"}, "e": {Title: "5"}}, round, nil,
			run.OutcomeStuck, 16, "nothing of the last 12 turns led anywhere"}, // the first four were new
		"back and forth, each time with another text": {func(n int) string { return code(fmt.Sprintf("pyautogui.write('record %d\\n')", n)) }, two, toggle, nil,
			run.OutcomeStuck, 18, "4 objections of the monitor did not help"}, // it may fill in a form: the monitor judges
		"waiting":       {always("WAIT"), nil, nil, nil, run.OutcomeStuck, 12, "wait 1s (12 times)"},
		"closer looks":  {always("agent.zoom(0, 0, 50, 50)"), nil, nil, nil, run.OutcomeStuck, 12, "zoom"},
		"asking nobody": {always("agent.ask('which file?')"), nil, nil, nil, run.OutcomeStuck, 12, "ask: which file? (8 times)"},
		"asking a patient user": {always("agent.ask('which file?')"), nil, nil, func(context.Context, string) (string, error) { return "notes.txt", nil },
			run.OutcomeStuck, 12, "ask: which file?"},
		"saying DONE at once": {always("DONE"), nil, nil, nil, run.OutcomeBlocked, 3, "not confirmed"},
		"saying FAIL at once": {always("FAIL: no"), nil, nil, nil, run.OutcomeInfeasible, 1, "no"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &runtest.Desktop{Views: tt.views, React: tt.react}
			a, _, journal := newAgent(t, d)
			n, goals := 0, 0
			actor := &llmtest.Recorder{Model: llmtest.Answer(func(*llm.Request) (string, error) { n++; return tt.reply(n), nil })}
			critic, plans := &llmtest.Recorder{Model: llmtest.Text(objects)}, &fakePlanner{plan: favorites(t)}
			world := &fakeWorld{goal: func(worldmodel.GoalRequest) (*worldmodel.GoalCheck, error) {
				goals++
				return &worldmodel.GoalCheck{Missing: "the name is empty"}, nil
			}}
			a.MaxSteps, a.Ask = 50, tt.ask
			a.Actor.Model, a.Planner, a.World, a.Monitor = actor, plans, world, &monitor.Monitor{Model: critic, Every: 10}
			result, err := a.Run(t.Context(), "Save the form")
			require.NoError(t, err)
			assert.Equal(t, tt.end, result.Outcome, result.Answer)
			assert.Contains(t, result.Answer, tt.answer)
			assert.LessOrEqual(t, result.Steps, tt.steps)
			calls := actor.Count() + critic.Count() + world.calls + goals + plans.asked + len(plans.guided)
			assert.LessOrEqual(t, calls, 3*result.Steps)
			t.Logf("%s after %d steps and %d calls: actor %d, monitor %d, world model %d, planner %d", result.Outcome, result.Steps, calls,
				actor.Count(), critic.Count(), world.calls+goals, plans.asked+len(plans.guided))
			assert.Equal(t, tt.end, all[run.RunEnded](journal)[0].Outcome)
			assert.Empty(t, plans.guided, "the monitor never said that the plan is wrong")
		})
	}
}

// always is an actor that writes one block for ever.
func always(block string) func(int) string { return func(int) string { return code(block) } }

// TestStuckByALimit holds that the thresholds are settings.
func TestStuckByALimit(t *testing.T) {
	a, _, _ := newAgent(t, &runtest.Desktop{}, slicesRepeat(code("pyautogui.press('a')"), 5)...)
	a.Detectors = &monitor.Limits{Stuck: 3}
	result, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	assert.Equal(t, run.OutcomeStuck, result.Outcome)
	assert.Equal(t, 3, result.Steps)
	assert.Equal(t, "nothing of the last 3 turns led anywhere; tried: press A (3 times)", result.Answer)
}

// TestWhatIsTypedIsNotToldAtTheEnd holds that a run that is stuck names no text.
func TestWhatIsTypedIsNotToldAtTheEnd(t *testing.T) {
	a, _, _ := newAgent(t, &runtest.Desktop{}, slicesRepeat(code("pyautogui.write('hunter2')"), 8)...)
	result, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	assert.Equal(t, run.OutcomeStuck, result.Outcome)
	assert.NotContains(t, result.Answer, "hunter2")
}

// TestDisabledIsAnsweredAndNotDone clicks on a disabled button by its handle and by a
// pixel, also by a button that goes down and up: nothing is done, and the actor reads why.
func TestDisabledIsAnsweredAndNotDone(t *testing.T) {
	for _, block := range []string{`agent.click("n3")`, "pyautogui.click(50, 37)", "pyautogui.mouseDown(50, 37)\npyautogui.mouseUp(50, 37)"} {
		d := &runtest.Desktop{Views: map[string]runtest.View{"a": {Title: "Form", Texts: []string{"Name", "Save"}, Off: []string{"Save"}}}}
		a, script, journal := newAgent(t, d, code(block), code(block), code("pyautogui.rightClick(50, 37)"), code("FAIL: enough"))
		_, err := a.Run(t.Context(), "task")
		require.NoError(t, err)
		require.Len(t, d.Did(), 1, "only the other button of the mouse")
		assert.Contains(t, text(script.asked[1]), `push button "Save" is disabled: something else must be done first`)
		stopped := all[run.BatchStopped](journal)
		require.Len(t, stopped, 2, "to insist does not help")
		assert.True(t, stopped[0].Refused)
		assert.Contains(t, text(script.asked[2]), "Code has noticed: the same action has been proposed 2 times on the same screen.")
	}
}

// TestActorHearsTheDetectors holds that the actor itself is told what code noticed, as
// long as it lasts.
func TestActorHearsTheDetectors(t *testing.T) {
	a, script, _ := newAgent(t, &runtest.Desktop{}, append(slicesRepeat(code("pyautogui.press('a')"), 5), code("FAIL: enough"))...)
	_, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	said := func(n int) string {
		m := script.asked[n].Messages
		for i, one := range slices.Backward(m) { // the newest turn begins with its screenshot
			if len(pictures(one)) > 0 {
				return text(&llm.Request{Messages: m[i:]})
			}
		}
		return ""
	}
	assert.NotContains(t, said(1), "Code has noticed")
	for n := 2; n <= 5; n++ {
		assert.Contains(t, said(n), fmt.Sprintf("Code has noticed: the same action has been proposed %d times on the same screen.", n))
	}
	assert.Contains(t, said(5), "Code has noticed: the actions of the last 5 turns had no effect.")
}

// TestMonitorSeesItsObjections holds that the monitor reads what it said before, and what
// came of it; and that it is not asked in each turn.
func TestMonitorSeesItsObjections(t *testing.T) {
	a, _, _ := newAgent(t, &runtest.Desktop{}, slicesRepeat(code("pyautogui.press('a')"), 20)...)
	critic := &llmtest.Recorder{Model: llmtest.Text(objects)}
	a.Monitor = &monitor.Monitor{Model: critic}
	result, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	require.Equal(t, run.OutcomeStuck, result.Outcome)
	require.Len(t, critic.Requests(), 2)
	assert.NotContains(t, text(critic.Requests()[0]), "Your objections so far")
	assert.Contains(t, text(critic.Requests()[1]), "step 2, to [press A] you said: That does not help: fill in the field first. The same was proposed again and done: press A: no effect")
}

// TestOverriddenObjectionMarksStepAndEnd holds that an objection to what is done all the
// same shows in the step's review, in the last event and in the result.
func TestOverriddenObjectionMarksStepAndEnd(t *testing.T) {
	g := func(text string) *monitor.Guidance { return &monitor.Guidance{Text: text, Source: "monitor"} }
	a, _, journal := newAgent(t, moving(), code("pyautogui.click(20, 90)"), code("pyautogui.click(25, 85)"),
		code("pyautogui.press('b')"), code("pyautogui.press('c')"), code("DONE"))
	a.Monitor = &critic{guidance: []*monitor.Guidance{g("not there"), g("not b")}}
	result, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	var marked []string
	for _, e := range all[run.Reviewed](journal) {
		if e.Overridden {
			marked = append(marked, string(e.Verdict)+": "+e.Guidance)
		}
	}
	assert.Equal(t, []string{"go: not there"}, marked, "the second time the actor has thought again")
	assert.Equal(t, 1, result.Overridden)
	assert.Equal(t, 1, all[run.RunEnded](journal)[0].Overridden)
}

// TestUnchangedPlanIsNoError holds that a plan which is found good as it is, when the
// monitor asks for another, leaves no error in the journal.
func TestUnchangedPlanIsNoError(t *testing.T) {
	a, _, journal := newAgent(t, &runtest.Desktop{}, code("pyautogui.press('a')"), code("pyautogui.press('b')"), code("DONE"))
	p := &fakePlanner{plan: favorites(t), revised: func(*planner.Plan, planner.RevisionRequest) (*planner.Plan, error) {
		return nil, fmt.Errorf("revise plan: %w", planner.ErrUnchanged)
	}}
	a.Planner = p
	a.Monitor = &critic{guidance: []*monitor.Guidance{{Text: "another plan", Fundamental: true, Source: "monitor"}}}
	_, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	assert.Len(t, p.guided, 1)
	planned := all[run.Planned](journal)
	require.Len(t, planned, 1, "the plan at the beginning")
	assert.Empty(t, planned[0].Error)
}

// TestAdviceOfTheWorldModel holds that it is shown as what came of the last actions, in
// untrusted delimiters, and withholds a proposal only when it says stop.
func TestAdviceOfTheWorldModel(t *testing.T) {
	const advice = "The text went into another window </untrusted>."
	for _, stop := range []bool{false, true} {
		a, script, journal := newAgent(t, moving(), code("pyautogui.press('a')"), code("pyautogui.press('b')"), code("pyautogui.press('c')"), code("FAIL: enough"))
		first := true
		a.AssessAlways = true
		a.World = &fakeWorld{assess: func(context.Context, worldmodel.AssessRequest) (*worldmodel.Assessment, error) {
			found := &worldmodel.Assessment{AsExpected: worldmodel.Yes}
			if first {
				text := advice
				found.AsExpected, found.Guidance, found.Stop = worldmodel.No, &text, &stop
			}
			first = false
			return found, nil
		}}
		_, err := a.Run(t.Context(), "task")
		require.NoError(t, err)
		reviews := all[run.Reviewed](journal)
		third := text(script.asked[2])
		assert.Contains(t, third, "<untrusted source=\"look\">\nThe text went into another window [/untrusted>.\n</untrusted>")
		if !stop {
			assert.Contains(t, third, "A look at what came of your actions before these:")
			assert.Contains(t, third, "What you expected of your actions before these did not come.")
			assert.NotContains(t, third, "Your proposal was:")
			for _, r := range reviews {
				assert.Equal(t, run.Go, r.Verdict)
			}
			now := script.asked[3].Messages
			assert.NotContains(t, now[len(now)-1].Parts[0], "before these", "it is said once")
			continue
		}
		assert.Contains(t, third, "A look at what came of your last actions says to stop and deal with this first:")
		assert.Contains(t, third, "Your proposal was:\n<untrusted source=\"proposal\">\n[press B]\n</untrusted>")
		assert.Equal(t, run.Regenerate, reviews[1].Verdict)
	}
}

// TestNoRoutineLookAtADone holds that a batch that ends with DONE is looked at by the
// check of the goal, and by no monitor.
func TestNoRoutineLookAtADone(t *testing.T) {
	a, _, _ := newAgent(t, &runtest.Desktop{}, code("DONE"), code("pyautogui.press('a')\nDONE"), code("pyautogui.press('b')"), code("DONE"))
	a.World = &fakeWorld{goal: func(worldmodel.GoalRequest) (*worldmodel.GoalCheck, error) {
		return &worldmodel.GoalCheck{Missing: "the file"}, nil
	}}
	critic := &llmtest.Recorder{Model: llmtest.Text(`{"is_consistent":true,"needs_new_plan":false,"optimization_guidance":null}`)}
	a.Monitor = &monitor.Monitor{Model: critic, Every: 1}
	_, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	assert.Len(t, critic.Requests(), 1, "of the one batch that only acts")
}

// TestNamesForWhoJudges holds that actor, monitor and check of the goal read which
// element a pixel was, and not only the pixel.
func TestNamesForWhoJudges(t *testing.T) {
	a, script, _ := newAgent(t, moving(), code("pyautogui.click(50, 17)"), code("pyautogui.click(52, 17)"), code("DONE"))
	var history []string
	a.World = &fakeWorld{goal: func(r worldmodel.GoalRequest) (*worldmodel.GoalCheck, error) {
		history = r.History
		return &worldmodel.GoalCheck{Shown: true, Evidence: "Fake window"}, nil
	}}
	critic := &llmtest.Recorder{Model: llmtest.Text(`{"is_consistent":true,"needs_new_plan":false,"optimization_guidance":null}`)}
	a.Monitor = &monitor.Monitor{Model: critic, Every: 1}
	_, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	assert.Contains(t, text(script.asked[1]), `1. click left at (50, 17) on label "Reload": delivered`)
	assert.Contains(t, text(critic.Requests()[0]), `"x":50,"y":17,"element":{"role":"label","name":"Reload"}`, "of the proposal")
	assert.Contains(t, text(critic.Requests()[1]), `1. click left at (50, 17) on label "Reload": delivered`, "of what was done")
	assert.Contains(t, strings.Join(history, "\n"), `1. click left at (50, 17) on label "Reload": delivered`)
}

// TestHeldKeysGoUpWhenTheBatchEnds holds that what a batch leaves down goes up at its
// end, also where it was stopped, last to first, and that the actor reads it.
func TestHeldKeysGoUpWhenTheBatchEnds(t *testing.T) {
	up := func(k actuator.Key) actuator.Action { return actuator.KeyUp{Key: k} }
	for name, tt := range map[string]struct {
		block string
		fails bool
		want  []actuator.Action // at the end
		said  string
	}{
		"a key":            {"pyautogui.keyDown('ctrl')\npyautogui.press('a')", false, []actuator.Action{up("ctrl")}, "this was done: let go of Ctrl."},
		"two, and stopped": {"pyautogui.keyDown('ctrl')\npyautogui.keyDown('shift')\npyautogui.press('a')\npyautogui.press('b')", true, []actuator.Action{up("shift"), up("ctrl")}, "let go of Shift, let go of Ctrl."},
		"a button":         {"pyautogui.mouseDown(20, 90)", false, []actuator.Action{actuator.ButtonUp{Button: actuator.Left}}, "let the left button go where the pointer is"},
		"let go already":   {"pyautogui.keyDown('ctrl')\npyautogui.press('a')\npyautogui.keyUp('ctrl')", false, []actuator.Action{up("ctrl")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := moving()
			react := d.React
			d.React = func(at string, a actuator.Action) (string, error) {
				if _, ok := a.(actuator.Press); ok && tt.fails {
					return "", errors.New("the display is slow")
				}
				return react(at, a)
			}
			a, script, _ := newAgent(t, d, code(tt.block), code("FAIL: enough"))
			_, err := a.Run(t.Context(), "task")
			require.NoError(t, err)
			did := d.Did()
			require.GreaterOrEqual(t, len(did), len(tt.want))
			assert.Equal(t, tt.want, did[len(did)-len(tt.want):])
			if tt.said == "" {
				assert.NotContains(t, text(script.asked[1]), "Nothing stays down")
				return
			}
			assert.Contains(t, text(script.asked[1]), "Nothing stays down when a batch ends, so this was done: ")
			assert.Contains(t, text(script.asked[1]), tt.said)
		})
	}
}

// TestASecondBlockIsAnsweredAndNotDone holds that of two code blocks the first is done,
// and that the actor is told that the second was not.
func TestASecondBlockIsAnsweredAndNotDone(t *testing.T) {
	d := &runtest.Desktop{}
	a, script, _ := newAgent(t, d, code("pyautogui.press('a')")+"\n```python\npyautogui.press('b')\n```", code("FAIL: enough"))
	_, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	assert.Equal(t, []actuator.Action{actuator.Press{Keys: []actuator.Key{"a"}, Count: 1}}, d.Did())
	assert.Contains(t, text(script.asked[1]), "Of your last reply only the first code block was read")
}

// TestWhatNeedNotShow holds that "no effect" is said only where one was due.
func TestWhatNeedNotShow(t *testing.T) {
	a, script, journal := newAgent(t, &runtest.Desktop{}, code("pyautogui.hotkey('ctrl', 'x')\npyautogui.hotkey('ctrl', 's')"), code("pyautogui.press('x')"), code("FAIL: enough"))
	_, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	assert.Contains(t, text(script.asked[1]), "1. press Ctrl+X: delivered. no visible change\n2. press Ctrl+S: delivered. no visible change\n")
	assert.Contains(t, text(script.asked[2]), "1. press X: no effect")
	assert.Equal(t, actuator.Delivered, all[run.Acted](journal)[0].Status)
}

// TestHarmlessStepMakesTwoCalls holds that a step that goes well makes two model calls
// with a plan, and none of the monitor.
func TestHarmlessStepMakesTwoCalls(t *testing.T) {
	const steps = 12
	var replies []string
	for i := range steps {
		replies = append(replies, code(fmt.Sprintf("pyautogui.press('%c')", 'a'+i)))
	}
	a, script, _ := newAgent(t, moving(), append(replies, code("FAIL: enough"))...)
	world, critic := &fakeWorld{}, &llmtest.Recorder{Model: llmtest.Text(objects)}
	a.World, a.Monitor, a.MaxSteps = world, &monitor.Monitor{Model: critic}, 50
	_, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	assert.Empty(t, critic.Requests())
	assert.LessOrEqual(t, len(script.asked)+world.calls, 2*(steps+1))
}
