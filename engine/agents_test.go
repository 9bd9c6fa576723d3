package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/engine"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/screen"
	"desktop-agent/worldmodel"
)

// onScreen gives a world a fake desktop, with a device that also counts how many act.
func onScreen(d *runtest.Desktop) func(*run.Settings, *run.Options) {
	return func(s *run.Settings, o *run.Options) { o.NoDesktop, o.Desktop, o.Device = false, d, d }
}

// does is a reply of the actor.
func does(code string) string { return "Thought: t\nExpect: e\n```python\n" + code + "\n```" }

// shows is a check of a goal that finds it reached.
var shows = always(`{"shown": true, "evidence": "Fake window", "region": null, "missing": ""}`)

// agentStep is one of an agent.
func agentStep(id, profile string, needs ...string) planner.Step {
	return planner.Step{ID: id, Goal: "Have it done by another", Executor: planner.Agent, Action: profile, Needs: needs}
}

func guiStep(id string, needs ...string) planner.Step {
	return planner.Step{ID: id, Goal: "Find the fake window", DoneWhen: "The window is there", Executor: planner.GUI, Needs: needs}
}

// TestSubAgent holds that an agent of a step has a name, a conversation and a display of its
// own or none, gives back what rolls up, and can do nothing that the run may not do.
func TestSubAgent(t *testing.T) {
	refuse := func(in run.Intent) (run.Guarded, error) {
		if c, ok := in.Action.(actuator.CallTool); ok && c.Tool == "send" {
			return run.Guarded{By: "table", Effect: worldmodel.EffectSend}, errors.New("sending is blocked")
		}
		return run.Guarded{By: "table", Effect: worldmodel.EffectNone}, nil
	}
	w := newWorld(t, map[string]tool{"send": {effect: worldmodel.EffectSend}, "look": {}}, map[string]func(*llm.Request) string{
		"tools": func(r *llm.Request) string {
			switch text := words(r); {
			case strings.Contains(text, "sending is blocked"):
				return "Looked, and was not let send."
			case strings.Contains(text, "look done"):
				return `CALL send {"text":"x"}`
			}
			return "CALL look {}"
		}, "reflect": goesOn, "conclude": met("over"),
	}, func(_ *run.Settings, o *run.Options) { o.Guard = ruled(refuse) })
	x, err := w.Begin(plan(agentStep("s1", engine.ProfileTools), step("s2", "look", "s1")))
	require.NoError(t, err)
	result, err := x.Execute(t.Context())
	require.NoError(t, err)
	require.True(t, result.Success)
	assert.Equal(t, "Looked, and was not let send.", result.Steps["s1"].Output)
	assert.Equal(t, []string{"look {}", "look {}"}, w.Tools.Calls())
	for _, e := range w.Journal.Events() {
		if _, ok := e.Data.(run.Refused); ok {
			assert.Equal(t, []any{"agent/s1", 1}, []any{e.Agent, e.PlanStep})
		}
	}
	assert.Equal(t, "agent/s1", runtest.All[run.StepEnded](w.Journal.Events())[0].By)
}

// ruled is a guard that rules by function.
type ruled func(run.Intent) (run.Guarded, error)

func (ruled) Name() string { return "ruled" }

func (g ruled) Allow(_ context.Context, in run.Intent) (run.Guarded, error) { return g(in) }

// TestDepth holds that agents start agents two deep, that a third is refused, and that what
// the plans within plans give rolls up.
func TestDepth(t *testing.T) {
	w := newWorld(t, map[string]tool{"deep": {}}, nil, func(s *run.Settings, _ *run.Options) { s.Agent.Execution.Retries = 0 })
	nested := func(levels int) *planner.Plan {
		p := plan(step("s1", "deep"))
		for range levels {
			s := agentStep("s1", engine.ProfileTools)
			s.Sub = p
			p = plan(s)
		}
		return p
	}
	x, err := w.Begin(nested(2))
	require.NoError(t, err)
	result, err := x.Execute(t.Context())
	require.NoError(t, err)
	require.True(t, result.Success, result.Answer)
	assert.Equal(t, "deep done", result.Output)
	assert.Equal(t, planner.Completed, result.Final.Steps[0].Sub.Steps[0].Sub.Steps[0].Status)
	var paths []string
	for _, e := range runtest.All[run.StepStarted](w.Journal.Events()) {
		paths = append(paths, e.Step)
	}
	assert.Equal(t, []string{"s1", "s1.s1", "s1.s1.s1"}, paths)

	x, err = w.Begin(nested(3))
	require.NoError(t, err)
	result, err = x.Execute(t.Context())
	require.NoError(t, err)
	assert.False(t, result.Success)
	assert.Contains(t, result.Answer, "at most 2 deep")

	w.Settings.AgentDepth = 3
	x, err = w.Begin(nested(3))
	require.NoError(t, err)
	result, err = x.Execute(t.Context())
	require.NoError(t, err)
	assert.True(t, result.Success, result.Answer)
}

// TestDecompose holds that the step of an agent gets a plan of its own where that is
// wanted, and is done in one go where none is needed.
func TestDecompose(t *testing.T) {
	w := newWorld(t, map[string]tool{"a": {}, "b": {}}, map[string]func(*llm.Request) string{
		"tools": always("done in one go"), "reflect": goesOn, "conclude": met("over"),
	})
	w.Config.Hierarchical = true
	w.Plans.plans = []*planner.Plan{plan(step("s1", "a"), step("s2", "b", "s1"))}
	x, err := w.Begin(plan(agentStep("s1", engine.ProfileTools), agentStep("s2", engine.ProfileTools)))
	require.NoError(t, err)
	result, err := x.Execute(t.Context())
	require.NoError(t, err)
	require.True(t, result.Success, result.Answer)
	require.Len(t, w.Plans.asked, 2)
	assert.True(t, w.Plans.asked[0].Sub)
	assert.Equal(t, 2, w.Plans.asked[0].Depth)
	assert.Len(t, result.Final.Steps[0].Sub.Steps, 2)
	assert.Equal(t, "b done", result.Steps["s1"].Output)
	assert.Equal(t, "done in one go", result.Steps["s2"].Output)
}

// TestStepsOfPlanWithin holds that the events of a plan within a plan belong to the newest
// step, also those after a call: the steps of a journal never go back.
func TestStepsOfPlanWithin(t *testing.T) {
	w := newWorld(t, map[string]tool{"a": {}, "b": {}}, nil)
	outer := step("s1", "a")
	outer.Sub = plan(step("s1", "a"), step("s2", "b", "s1"))
	x, err := w.Begin(plan(outer, step("s2", "b", "s1")))
	require.NoError(t, err)
	result, err := x.Execute(t.Context())
	require.NoError(t, err)
	require.True(t, result.Success, result.Answer)
	newest := 0
	for _, e := range w.Journal.Events() {
		require.GreaterOrEqual(t, e.Step, newest, "event %d, %s", e.Seq, e.Kind)
		newest = e.Step
	}
	assert.Equal(t, 3, newest, "a call is a step")
}

// TestEndlessAgent holds that an agent that never ends is ended: by its turns, and by its
// time.
func TestEndlessAgent(t *testing.T) {
	t.Run("turns", func(t *testing.T) {
		w := newWorld(t, map[string]tool{"again": {}}, map[string]func(*llm.Request) string{"tools": always("CALL again {}")}, func(s *run.Settings, _ *run.Options) { s.Agent.Execution.Retries = 0 })
		for turns, want := range map[int]int{0: 20, 3: 3} {
			w.Settings.AgentTurns = turns
			x, err := w.Begin(plan(agentStep("s1", engine.ProfileTools)))
			require.NoError(t, err)
			result, err := x.Execute(t.Context())
			require.NoError(t, err)
			assert.Contains(t, result.Final.Steps[0].Error, fmt.Sprintf("did not come to an end within %d turns", want))
		}
	})
	t.Run("time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, map[string]tool{"again": takes(time.Minute)}, map[string]func(*llm.Request) string{"tools": always("CALL again {}")}, func(s *run.Settings, _ *run.Options) { s.Agent.Execution.Retries = 0 })
			x, err := w.Begin(plan(agentStep("s1", engine.ProfileTools)))
			require.NoError(t, err)
			result, err := x.Execute(t.Context())
			require.NoError(t, err)
			assert.Contains(t, result.Final.Steps[0].Error, "took longer than it may (10m0s)")
			assert.Equal(t, 10*time.Minute, result.Elapsed)
		})
	})
}

// TestOneDisplay holds that two steps on one display never overlap, while steps of tools
// go on beside them, and that agents with displays of their own do.
func TestOneDisplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		busy := func() *runtest.Desktop {
			d := &runtest.Desktop{}
			d.React = func(string, actuator.Action) (string, error) {
				if n := now.Add(1); n > most.Load() {
					most.Store(n)
				}
				time.Sleep(time.Second)
				now.Add(-1)
				d.Tick++
				return "", nil
			}
			return d
		}
		acts := func(r *llm.Request) string {
			if strings.Contains(words(r), "delivered") {
				return does("DONE")
			}
			return does("pyautogui.click(5, 5)")
		}
		w := newWorld(t, map[string]tool{"slow": takes(time.Second)}, map[string]func(*llm.Request) string{
			"propose": acts, "goal": shows, "conclude": met("over"), "reflect": goesOn,
		}, onScreen(busy()), func(s *run.Settings, _ *run.Options) { s.Agent.Execution.Mode = engine.Parallel })
		x, err := w.Begin(plan(guiStep("s1"), guiStep("s2"), step("s3", "slow")))
		require.NoError(t, err)
		result, err := x.Execute(t.Context())
		require.NoError(t, err)
		require.True(t, result.Success, "%s %v", result.Answer, result.Final.Steps)
		assert.EqualValues(t, 1, most.Load(), "one display")
		assert.Equal(t, 2*time.Second, result.Elapsed, "the tool beside the first")

		most.Store(0)
		w.Branch = func(_ context.Context, who string) (*run.Session, error) {
			d := busy()
			s, err := run.Open(context.Background(), settings(), &run.Options{Agent: who, Desktop: d, Device: d, Client: &llm.Client{Model: w.Model, Default: llm.Settings{Model: "test"}}})
			return s, err
		}
		x, err = w.Begin(plan(agentStep("s1", engine.ProfileDesktop), agentStep("s2", engine.ProfileDesktop)))
		require.NoError(t, err)
		result, err = x.Execute(t.Context())
		require.NoError(t, err)
		require.True(t, result.Success, "%s %v", result.Answer, result.Final.Steps)
		assert.EqualValues(t, 2, most.Load(), "two displays")
		assert.Equal(t, time.Second, result.Elapsed)
	})
}

// held is a device that knows whether its button is down.
type held struct {
	*runtest.Desktop
	down, released atomic.Bool
}

func (h *held) Do(ctx context.Context, a actuator.Action, f actuator.Frame) (string, error) {
	if _, ok := a.(actuator.Drag); ok {
		h.down.Store(true)
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	return h.Desktop.Do(ctx, a, f)
}

func (h *held) Release() error {
	if h.down.Swap(false) {
		h.released.Store(true)
	}
	return nil
}

// TestTimeoutAmidDrag holds that a step which runs out of time amid a drag lets the button
// go, and is not tried again: what the drag did is not known.
func TestTimeoutAmidDrag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &held{Desktop: &runtest.Desktop{}}
		w := newWorld(t, nil, map[string]func(*llm.Request) string{"propose": always(does("pyautogui.moveTo(5, 5)\npyautogui.dragTo(50, 50)"))},
			func(_ *run.Settings, o *run.Options) { o.NoDesktop, o.Desktop, o.Device = false, h.Desktop, h })
		x, err := w.Begin(plan(guiStep("s1")))
		require.NoError(t, err)
		result, err := x.Execute(t.Context())
		require.NoError(t, err)
		assert.False(t, result.Success)
		assert.Contains(t, result.Final.Steps[0].Error, "took longer than it may (1m0s)")
		assert.False(t, h.down.Load())
		assert.True(t, h.released.Load())
		assert.Equal(t, 1, result.Final.Steps[0].Attempts)
	})
}

// TestReflection holds what each reflection does, that the fourth revision is refused, that
// going on is not counted, and that what cannot be read changes nothing.
func TestReflection(t *testing.T) {
	say := func(verdict string) string {
		return fmt.Sprintf(`{"verdict": %q, "reason": "r", "guidance": "g", "answer": "early"}`, verdict)
	}
	for _, tt := range []struct {
		reply   string
		revised int
		calls   int
		output  string
	}{
		{say("continue"), 0, 6, "over"}, {say("refine"), 5, 6, "over"}, {say("expand"), 5, 6, "over"},
		{say("complete"), 0, 1, "over"}, {say("refined_done"), 0, 1, "over"},
		{"All done, well done!", 0, 6, "over"}, {`{"verdict": "completed"}`, 0, 6, "over"},
	} {
		t.Run(tt.reply, func(t *testing.T) {
			w := newWorld(t, map[string]tool{"a": {}}, map[string]func(*llm.Request) string{"reflect": always(tt.reply), "conclude": met("over")})
			w.Plans.revise = func(p *planner.Plan, r planner.RevisionRequest) (*planner.Plan, error) {
				assert.Equal(t, "g", r.Guidance)
				if len(p.Revisions) == 3 {
					return nil, planner.ErrRevisionsUsed
				}
				return revisedBy(p, r, planner.Change{Type: "updated", Old: &p.Steps[5], New: &p.Steps[5]}), nil
			}
			var steps []planner.Step
			for i := range 6 {
				steps = append(steps, step(fmt.Sprintf("s%d", i+1), "a"))
			}
			x, err := w.Begin(plan(steps...))
			require.NoError(t, err)
			result, err := x.Execute(t.Context())
			require.NoError(t, err)
			require.True(t, result.Success, result.Answer)
			assert.Equal(t, tt.output, result.Output)
			assert.Len(t, w.Tools.Calls(), tt.calls)
			assert.Len(t, w.Plans.revised, tt.revised)
			assert.Equal(t, min(tt.revised, 3), result.Revisions)
		})
	}
}

// TestNotMet holds that an early end that the check of the goal does not confirm goes on
// with the steps that there are, and that a plan whose steps are over and whose goal is not
// reached asks for what is missing, and says so where nobody can add it.
func TestNotMet(t *testing.T) {
	checks := 0
	w := newWorld(t, map[string]tool{"a": {}}, map[string]func(*llm.Request) string{
		"reflect": always(`{"verdict": "complete", "reason": "r", "guidance": null, "answer": "early"}`),
		"conclude": func(*llm.Request) string {
			checks++
			return `{"met": false, "missing": "the second page", "answer": ""}`
		},
	})
	x, err := w.Begin(plan(step("s1", "a"), step("s2", "a")))
	require.NoError(t, err)
	result, err := x.Execute(t.Context())
	require.NoError(t, err)
	assert.False(t, result.Success)
	assert.Len(t, w.Tools.Calls(), 2)
	assert.Equal(t, 2, checks)
	assert.Contains(t, result.Answer, "the second page")
	require.Len(t, w.Plans.revised, 1)
	assert.Equal(t, "goal_check", w.Plans.revised[0].Source)
}

// TestGoalOfTheStepAlone holds that the actor of a step reads the goal of its step with its
// condition, once, and no plan around it, also after three revisions.
func TestGoalOfTheStepAlone(t *testing.T) {
	d := &runtest.Desktop{}
	d.React = func(string, actuator.Action) (string, error) { d.Tick++; return "", nil }
	w := newWorld(t, map[string]tool{"a": {}}, map[string]func(*llm.Request) string{
		"propose": always(does("DONE: seen")), "goal": shows, "conclude": met("over"),
		"reflect": always(`{"verdict": "refine", "reason": "r", "guidance": "g", "answer": null}`),
	}, onScreen(d))
	w.Plans.revise = func(p *planner.Plan, r planner.RevisionRequest) (*planner.Plan, error) {
		return revisedBy(p, r, planner.Change{Type: "updated", Old: &p.Steps[3], New: &p.Steps[3]}), nil
	}
	x, err := w.Begin(plan(step("s1", "a"), step("s2", "a"), step("s3", "a"), guiStep("s4", "s3")))
	require.NoError(t, err)
	result, err := x.Execute(t.Context())
	require.NoError(t, err)
	require.True(t, result.Success, result.Answer)
	assert.Equal(t, 3, result.Revisions)
	asked := w.Model.of("propose")
	require.Len(t, asked, 1)
	text := words(asked[0])
	for _, part := range []string{"do nothing beyond it: Find the fake window\n", "It is reached when this can be seen: The window is there\n", "others do the rest of it: Do what the test wants\n"} {
		assert.Equal(t, 1, strings.Count(text, part), part)
	}
	assert.NotContains(t, text, "PLAN:")
}

// blind is a desktop that cannot be observed.
type blind struct{ *runtest.Desktop }

func (blind) Observe(context.Context) (*screen.Observation, error) {
	return nil, errors.New("the screen is off")
}

// TestBlind holds that a step whose display cannot be observed fails, and says why.
func TestBlind(t *testing.T) {
	w := newWorld(t, nil, map[string]func(*llm.Request) string{}, func(_ *run.Settings, o *run.Options) {
		d := blind{&runtest.Desktop{}}
		o.NoDesktop, o.Desktop, o.Device = false, d, d
		o.Client = &llm.Client{Model: &mind{}, Default: llm.Settings{Model: "test"}}
	})
	x, err := w.Begin(plan(guiStep("s1")))
	require.NoError(t, err)
	w.Engine.Planner = nil
	result, err := x.Execute(t.Context())
	require.NoError(t, err)
	assert.Equal(t, planner.Failed, result.Final.Step("s1").Status)
	assert.Contains(t, result.Answer, "the screen is off")
}

// TestGuardKnowsStepsBefore holds that the guard of a step on the screen is told what steps
// before it did there: one may begin what another completes.
func TestGuardKnowsStepsBefore(t *testing.T) {
	d := &runtest.Desktop{}
	d.React = func(string, actuator.Action) (string, error) { d.Tick++; return "", nil }
	var told [][]string
	w := newWorld(t, nil, map[string]func(*llm.Request) string{
		"propose": func(r *llm.Request) string {
			if strings.Contains(words(r), "delivered") {
				return does("DONE")
			}
			return does("pyautogui.click(5, 5)")
		}, "goal": shows, "conclude": met("over"), "reflect": goesOn,
	}, onScreen(d), func(_ *run.Settings, o *run.Options) {
		o.Guard = ruled(func(in run.Intent) (run.Guarded, error) {
			told = append(told, in.History)
			return run.Guarded{By: "table", Effect: worldmodel.EffectNone}, nil
		})
	})
	x, err := w.Begin(plan(guiStep("s1"), guiStep("s2", "s1")))
	require.NoError(t, err)
	result, err := x.Execute(t.Context())
	require.NoError(t, err)
	require.True(t, result.Success, result.Answer)
	require.Len(t, told, 2)
	assert.Empty(t, told[0])
	require.NotEmpty(t, told[1])
	assert.Contains(t, told[1][0], "click left at (5, 5)")
}

// timed gives the frames of a fake desktop the time.
type timed struct{ *runtest.Desktop }

func (d timed) Observe(ctx context.Context) (*screen.Observation, error) {
	o, err := d.Desktop.Observe(ctx)
	if err == nil {
		o.At = time.Now()
	}
	return o, err
}

// TestWhatAStepOnTheScreenGives holds that the result of such a step is what the actor
// answers with what shows that it is done, and that it is known as well as the check saw it:
// by the check of the claim, and where the step was seen to be done while the actor thought.
func TestWhatAStepOnTheScreenGives(t *testing.T) {
	views := map[string]runtest.View{"a": {Title: "Prices"}, "b": {Title: "Prices of tea", Texts: []string{"Green tea 2.50"}}}
	seen := `{"changed": "the list", "as_expected": "yes", "progress_step": 2, "evidence": "Green tea 2.50", "region": null, "guidance": null, "stop": false}`
	unseen := `{"changed": "the list", "as_expected": "yes", "progress_step": 1, "evidence": "", "region": null, "guidance": null, "stop": false}`
	for name, tt := range map[string]struct {
		assess, then string
		want         string
	}{
		"the claim is checked":           {unseen, "DONE: tea costs 2.50", "tea costs 2.50\nGreen tea 2.50"},
		"seen while the actor thought":   {seen, "DONE: tea costs 2.50", "tea costs 2.50\nGreen tea 2.50"},
		"an answer that has it":          {seen, "DONE: it says Green tea 2.50", "it says Green tea 2.50"},
		"nothing to answer":              {unseen, "DONE", "Green tea 2.50"},
		"what is noted with it is kept":  {seen, "agent.note('black tea is 2.00')\nDONE: 2.50", "2.50\nGreen tea 2.50\nblack tea is 2.00"},
		"what it says after it would do": {seen, "pyautogui.press('a')", "Green tea 2.50"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &runtest.Desktop{Views: views, React: func(string, actuator.Action) (string, error) { return "b", nil }}
			w := newWorld(t, nil, map[string]func(*llm.Request) string{
				"propose": func(r *llm.Request) string {
					if strings.Contains(words(r), "What became of your last actions") {
						return does(tt.then)
					}
					return does("pyautogui.click(5, 5)")
				},
				"assess": always(tt.assess), "goal": always(`{"shown": true, "evidence": "Green tea 2.50", "region": null, "missing": ""}`),
				"conclude": met("over"), "reflect": goesOn, "self": always(`{"output": "said", "reached": true, "missing": null}`),
			}, func(s *run.Settings, o *run.Options) { o.NoDesktop, o.Desktop, o.Device = false, timed{d}, d })
			s := guiStep("s1")
			s.DoneWhen = "The price of tea is shown"
			x, err := w.Begin(plan(s, planner.Step{ID: "s2", Goal: "Say it", Executor: planner.Self, Needs: []string{"s1"}})) // who reads the answer
			require.NoError(t, err)
			result, err := x.Execute(t.Context())
			require.NoError(t, err)
			require.True(t, result.Success, result.Answer)
			for _, r := range w.Model.of("propose") {
				assert.NotContains(t, words(r), "SUGGESTED PLAN:", "the task says it")
				assert.Equal(t, 1, strings.Count(words(r), s.DoneWhen))
			}
			done := result.Final.Step("s1")
			assert.Equal(t, tt.want, done.Result.Output)
			assert.Equal(t, planner.Proved, done.Evidence.Grade, "%+v", done.Evidence)
			assert.Equal(t, "Green tea 2.50", done.Evidence.Quote)
			assert.Len(t, d.Did(), 1, "nothing is done beyond it")
		})
	}
}
