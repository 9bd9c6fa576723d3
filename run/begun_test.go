package run_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// TestBegunPutBack holds which steps wait again: those that were being done; and on a new
// desktop also those on the screen that were done, but for one that did what cannot be taken
// back, and for those elsewhere. A step of an agent that is not done has lost its desktop in
// any case.
func TestBegunPutBack(t *testing.T) {
	gui := func(id string) planner.Step {
		return planner.Step{ID: id, Goal: "Find it", Status: planner.Pending}
	}
	plan := &planner.Plan{Version: planner.Version, Mode: planner.Deliberate, Steps: []planner.Step{
		gui("s1"), gui("s2"), {ID: "s3", Executor: planner.Tool, Status: planner.Pending}, gui("s4"),
		{ID: "s5", Executor: planner.Agent, Action: "desktop", Status: planner.Pending, Sub: &planner.Plan{Mode: planner.Deliberate, Steps: []planner.Step{gui("s1"), gui("s2")}}},
	}}
	for to, want := range map[run.Return][]string{
		run.SameDesktop:  {"s4", "s5", "s5.s1", "s5.s2"},
		run.FreshDesktop: {"s1", "s4", "s5", "s5.s1", "s5.s2"},
		run.FreshKept:    {"s1", "s4", "s5", "s5.s1", "s5.s2"},
	} {
		var b run.Begun
		add := func(step int, data run.EventData) {
			b.Add(run.Event{Agent: "agent", Display: ":9", PlanStep: step, Step: step, Kind: run.Kind(data), Data: data})
		}
		add(0, run.RunStarted{Task: "x"})
		add(0, run.Planned{Plan: plan})
		for n, id := range []string{"s1", "s2", "s3"} {
			add(n+1, run.StepStarted{Step: id, Attempt: 1})
			add(n+1, run.StepEnded{Step: id, Status: planner.Completed, Output: "done", Final: id == "s2", Evidence: &planner.Evidence{Grade: planner.Proved}})
		}
		add(4, run.StepStarted{Step: "s4", Attempt: 1})
		add(5, run.StepStarted{Step: "s5", Attempt: 1})
		add(5, run.StepStarted{Step: "s5.s1", Attempt: 1})
		add(5, run.StepEnded{Step: "s5.s1", Status: planner.Completed})
		add(5, run.StepStarted{Step: "s5.s2", Attempt: 1})
		b.Interrupt()
		assert.Equal(t, want, b.PutBack(to), to)
		assert.Equal(t, planner.Completed, b.Plan.Step("s2").Status)
		assert.Equal(t, "done", b.Plan.Step("s3").Result.Output)
		assert.Equal(t, to == run.SameDesktop, b.Plan.Step("s1").Evidence != nil, to)
	}
}

// TestBegunDoubts holds what is in doubt when a program ends: what was begun, has no end and
// belongs to a step that has none; and that it cannot be taken back only if its effect says
// so. What is refused was not attempted. A try counts if another one came after it, and not
// if the program ended amid it.
func TestBegunDoubts(t *testing.T) {
	var b run.Begun
	turn := 0
	add := func(step int, data run.EventData) {
		b.Add(run.Event{Agent: "agent", PlanStep: step, Step: turn, Kind: run.Kind(data), Data: data})
	}
	tool := func(name string, e worldmodel.Effect) run.Tool {
		return run.Tool{Tool: llm.Tool{Name: name}, Effect: e}
	}
	call := func(step int, name string) {
		turn++
		add(step, run.Acting{Action: run.Recorded{Action: actuator.CallTool{Tool: name, Arguments: "{}"}}})
	}
	plan := &planner.Plan{Version: planner.Version, Mode: planner.Deliberate}
	for _, id := range []string{"s1", "s2", "s3", "s4"} {
		plan.Steps = append(plan.Steps, planner.Step{ID: id, Executor: planner.Tool, Status: planner.Pending})
	}
	add(0, run.RunStarted{Task: "x", Settings: run.Settings{Tools: []run.Tool{tool("look", worldmodel.EffectNone), tool("post", worldmodel.EffectSend)}}})
	add(0, run.Planned{Plan: plan})
	for n, id := range []string{"s1", "s2", "s3", "s4"} {
		add(n+1, run.StepStarted{Step: id, Attempt: 1})
	}
	call(1, "look")
	call(2, "post")
	call(3, "post")
	add(3, run.Acted{Status: actuator.Refused})
	add(3, run.StepStarted{Step: "s3", Attempt: 2})
	call(4, "post") // its time was over, which its end tells
	add(4, run.StepEnded{Step: "s4", Status: planner.Failed, Error: "too late", Effect: worldmodel.EffectSend, Final: true})
	b.Interrupt()

	require.Len(t, b.Doubts(), 2)
	assert.False(t, b.Open["s1"].Doubt, "it only looks")
	assert.True(t, b.Open["s2"].Doubt)
	_, final := b.Open["s3"].Attempted()
	assert.False(t, final)
	assert.Equal(t, 1, b.Open["s3"].Tries)
	assert.Zero(t, b.Open["s2"].Tries)
	require.Len(t, b.Spent, 1)
	assert.Equal(t, "s4", b.Spent[0].Path)
	assert.Equal(t, []string{"s4"}, b.Failed)
}

// TestBegunLeftToGuard holds that the guard decides of what was in doubt on the screen of the
// run, and the engine of the rest; and that what was done in another step is not meant, though
// its turn has the same number.
func TestBegunLeftToGuard(t *testing.T) {
	var b run.Begun
	seq := 0
	add := func(agent string, step int, data run.EventData) int {
		seq++
		b.Add(run.Event{Seq: seq, Agent: agent, Display: ":9", PlanStep: step, Step: min(step, 1), Kind: run.Kind(data), Data: data})
		return seq
	}
	click := run.Acting{Action: run.Recorded{Action: actuator.Click{Button: actuator.Left, Count: 1}}}
	add("agent", 0, run.RunStarted{Task: "x"})
	add("agent", 0, run.Planned{Plan: &planner.Plan{Version: planner.Version, Mode: planner.Deliberate, Steps: []planner.Step{
		{ID: "s1"}, {ID: "s2"}, {ID: "s3", Executor: planner.Agent, Action: "desktop", Sub: &planner.Plan{Mode: planner.Deliberate, Steps: []planner.Step{{ID: "s1"}}}},
	}}})
	add("agent", 1, run.StepStarted{Step: "s1", Attempt: 1})
	done := add("agent", 1, click)
	add("agent", 1, run.Acted{Status: actuator.Delivered})
	add("agent", 1, run.StepEnded{Step: "s1", Status: planner.Completed})
	add("agent", 2, run.StepStarted{Step: "s2", Attempt: 1})
	doubt := add("agent", 2, click)
	add("agent", 3, run.StepStarted{Step: "s3", Attempt: 1})
	add("helper", 3, run.StepStarted{Step: "s3.s1", Attempt: 1})
	inner := add("helper", 3, click)
	b.Interrupt()
	var left []int
	for _, a := range b.LeftToGuard() {
		left = append(left, a.Seq)
	}
	assert.Equal(t, []int{doubt}, left, "done %d, of an agent %d", done, inner)
	assert.NotEmpty(t, b.Open["s3.s1"].Acts)
}

// TestBegunTellsOfBoth holds that what came of an action is known also where another step
// ended before that may have done it: both name its tool.
func TestBegunTellsOfBoth(t *testing.T) {
	var b run.Begun
	add := func(turn int, data run.EventData) {
		b.Add(run.Event{Agent: "agent", PlanStep: min(turn, 1), Step: turn, Kind: run.Kind(data), Data: data})
	}
	tools := func(ids ...string) *planner.Plan {
		plan := &planner.Plan{Version: planner.Version, Mode: planner.Deliberate}
		for _, id := range ids {
			plan.Steps = append(plan.Steps, planner.Step{ID: id, Executor: planner.Tool, Action: "post", Status: planner.Pending})
		}
		return plan
	}
	post := run.Acting{Action: run.Recorded{Action: actuator.CallTool{Tool: "post", Arguments: "{}"}}}
	add(0, run.RunStarted{Task: "x"})
	add(0, run.Planned{Plan: tools("s1")})
	add(1, run.Planned{Plan: tools("s1", "s2"), Step: "s1"})
	for _, path := range []string{"s1", "s1.s1", "s1.s2"} {
		add(1, run.StepStarted{Step: path, Attempt: 1})
	}
	add(2, post)
	add(3, post)
	add(2, run.Acted{Status: actuator.Delivered})
	add(2, run.StepEnded{Step: "s1.s1", Status: planner.Completed})
	add(3, run.Acted{Status: actuator.Delivered})
	b.Interrupt()
	assert.Empty(t, b.Doubts())
	assert.Len(t, b.Called, 2)
}
