package replay

import (
	"fmt"
	"image"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// one returns the only step of a run that begins with these events.
func one(t *testing.T, list ...run.EventData) *Step {
	t.Helper()
	j := newJournal(t)
	put(t, j, started("x"))
	for _, data := range list {
		put(t, j, run.Event{Kind: run.Kind(data), Data: data})
	}
	require.NoError(t, j.Close())
	r, err := Open(j.Dir())
	require.NoError(t, err)
	for s, err := range r.Steps() {
		require.NoError(t, err)
		return s
	}
	return nil
}

// A run may have begun to act before anything was observed: nobody can say what was there.
func TestWordsWithoutAScreen(t *testing.T) {
	click := actuator.Click{At: &actuator.Point{X: 3, Y: 4}, Button: actuator.Left, Count: 1}
	s := one(t, run.Acting{Action: run.Recorded{Action: click}}, run.Acted{Status: actuator.Delivered})
	require.Len(t, s.Acts, 1)
	assert.Empty(t, s.words())
}

// Agents act beside each other, so that events of others stand within a turn: what was seen
// and proposed in it, and what came of its acts, are its own all the same.
func TestActsOfTwoAgents(t *testing.T) {
	look := func(id string) run.Observed { return run.Observed{FrameID: id, Frame: image.Pt(4, 4)} }
	propose := func(id string) run.Proposed {
		return run.Proposed{FrameID: id, Actions: []run.Recorded{{Action: actuator.Copy{}}, {Action: actuator.Copy{}}}}
	}
	do := func(index int) run.Acting {
		return run.Acting{Index: index, Action: run.Recorded{Action: actuator.Copy{}}}
	}
	came := func(index int, of string) run.Acted {
		return run.Acted{Index: index, Status: actuator.Delivered, Output: of}
	}
	type event struct {
		agent    string
		planStep int
		step     int
		data     run.EventData
	}
	reply := func(text string) run.ModelCalled {
		return run.ModelCalled{Role: llm.Actor, Response: &llm.Response{Text: text}}
	}
	events := []event{
		{"agent", 1, 1, look("a1")},
		{"agent", 1, 1, reply("a1")},
		{"agent/s2", 2, 2, look("b1")},
		{"agent/s2", 2, 2, propose("b1")},
		{"agent", 1, 1, propose("a1")},
		{"agent/s2", 2, 2, do(0)},
		{"agent", 1, 1, do(0)},
		{"agent/s2", 2, 2, came(0, "b0")},
		{"agent/s2", 2, 2, do(1)},
		{"agent", 1, 1, came(0, "a0")},
		{"agent/s2", 2, 3, look("b2")}, // it was cut off in the second act
		{"agent", 1, 1, look("a2")},
		{"agent", 1, 4, do(0)},
		{"agent/s2", 2, 5, do(0)}, // two tools of one plan within the plan
		{"agent/s2", 2, 6, do(0)},
		{"agent/s2", 2, 5, came(0, "tool 5")},
		{"agent/s2", 2, 6, came(0, "tool 6")},
		{"agent/s2", 2, 7, do(0)},
		{"agent/s2", 2, 8, look("b3")}, // who decides by the screen does not wait for a tool
		{"agent/s2", 2, 7, came(0, "tool 7")},
		{"agent", 1, 4, came(0, "a4")},
		{"agent", 0, 6, run.StepEnded{Step: "s1"}},
		{"agent", 1, 4, came(0, "too late")},
	}
	j := newJournal(t)
	put(t, j, started("x"))
	for _, e := range events {
		put(t, j, run.Event{Agent: e.agent, PlanStep: e.planStep, Step: e.step, Kind: run.Kind(e.data), Data: e.data})
	}
	require.NoError(t, j.Close())
	r, err := Open(j.Dir())
	require.NoError(t, err)
	var acts, undone, steps []string
	for s, err := range r.Steps() {
		require.NoError(t, err)
		steps = append(steps, fmt.Sprint(s.N))
		for _, a := range s.Acts {
			seen, proposed, of := "nothing", "nothing", "nobody knows"
			if a.Seen != nil {
				seen = a.Seen.FrameID
			}
			if a.Proposal != nil {
				proposed = a.Proposal.FrameID
			}
			if a.Acted != nil {
				of = a.Acted.Output
			}
			acts = append(acts, fmt.Sprintf("%d.%d sees %s, proposed on %s: %s", s.N, a.Index, seen, proposed, of))
		}
		for _, p := range s.Proposals {
			undone = append(undone, fmt.Sprintf("%s: %d", p.FrameID, len(p.Undone())))
		}
		for _, c := range s.Calls {
			require.NotNil(t, c.Proposal)
			assert.Equal(t, []string{"a1", "a1"}, []string{c.Proposal.FrameID, c.Proposal.Seen.FrameID})
		}
	}
	assert.Equal(t, "0 1 2 1 2 1 2 1 3 1 4 5 6 5 6 7 8 7 4 6 4", strings.Join(steps, " "), "in the order of their events")
	assert.Equal(t, []string{
		"2.0 sees b1, proposed on b1: b0", "1.0 sees a1, proposed on a1: a0", "2.1 sees b1, proposed on b1: nobody knows",
		"4.0 sees a2, proposed on nothing: a4", "5.0 sees b2, proposed on nothing: tool 5", "6.0 sees b2, proposed on nothing: tool 6",
		"7.0 sees b2, proposed on nothing: tool 7",
	}, acts)
	assert.Equal(t, []string{"b1: 0", "a1: 1"}, undone)
}

// What a step is about is what who acts in it has seen, and not what another one saw on
// another display meanwhile; after a pause of the run it is what was observed since.
func TestSeenOnTwoDisplays(t *testing.T) {
	look := func(id string) run.Observed { return run.Observed{FrameID: id, Frame: image.Pt(4, 4)} }
	copies := []run.Recorded{{Action: actuator.Copy{}}}
	j := newJournal(t)
	put(t, j, started("x"))
	for _, e := range []struct {
		agent, display string
		step           int
		data           run.EventData
	}{
		{"agent", ":1", 1, look("a1")},
		{"agent/s2", ":2", 2, look("d2-b1")},
		{"agent", ":1", 3, run.Proposed{FrameID: "a1", Actions: copies}},
		{"agent/s2", ":2", 4, run.Noted{Text: "x"}},
		{"agent", ":1", 3, run.Acting{Action: copies[0]}}, // the rest of a turn
		{"agent/s2", ":2", 4, look("d2-b2")},
		{"agent/s2", ":2", 4, run.Proposed{FrameID: "d2-b2", Actions: copies}},
		{"main", "", 5, run.StepEnded{Step: "s1"}}, // of who sees no display
	} {
		put(t, j, run.Event{Agent: e.agent, Display: e.display, PlanStep: 1, Step: e.step, Kind: run.Kind(e.data), Data: e.data})
	}
	require.NoError(t, j.Close())
	r, err := Open(j.Dir())
	require.NoError(t, err)
	id := func(o *run.Observed) string {
		if o == nil {
			return "-"
		}
		return o.FrameID
	}
	var got []string
	for s, err := range r.Steps() {
		require.NoError(t, err)
		got = append(got, fmt.Sprintf("%d %s %s", s.N, id(s.Before), id(s.Seen())))
	}
	assert.Equal(t, []string{"0 - -", "1 - -", "2 - -", "3 a1 a1", "4 d2-b1 d2-b1", "3 a1 a1", "4 d2-b1 d2-b2", "5 - -"}, got)
}

// The steps of one who acts alone do not go back; those before are given.
func TestStepsGoForward(t *testing.T) {
	j := newJournal(t)
	put(t, j, started("x"))
	act := run.Acting{Action: run.Recorded{Action: actuator.Copy{}}}
	for n := 1; n <= 3; n++ { // each is cut off, and the next one begins
		put(t, j, run.Event{Step: n, Kind: run.Kind(act), Data: act})
	}
	put(t, j, run.Event{Step: 2, Kind: run.Kind(act), Data: act}) // nobody goes back
	require.NoError(t, j.Close())
	r, err := Open(j.Dir())
	require.NoError(t, err)
	var steps []int
	for s, err := range r.Steps() {
		if err != nil {
			require.ErrorContains(t, err, "event 5 is of step 2, after events of step 3")
			break
		}
		steps = append(steps, s.N)
	}
	assert.Equal(t, []int{0, 1, 2}, steps)
}

// The plan of a step is the newest: a revision after the assessment counts.
func TestPlanOfAStep(t *testing.T) {
	first, second := &planner.Plan{Version: 1, Task: "first"}, &planner.Plan{Version: 1, Task: "second"}
	assert.Equal(t, "second", one(t, run.Assessed{Plan: first}, run.Planned{Plan: second}).Plan.Task)
	assert.Equal(t, "first", one(t, run.Assessed{Plan: first}, run.Planned{Error: "none"}).Plan.Task)
	assert.Nil(t, one(t, run.Planned{Error: "none"}).Plan)
}

// What two agents say in turn to a model of one role are two conversations, as
// their recorder has them.
func TestConversationsOfTwoAgents(t *testing.T) {
	j := newJournal(t)
	rec := run.NewRecorder(j, nil)
	one, two := rec.Scope(run.Where{Agent: "one"}), rec.Scope(run.Where{Agent: "two"})
	require.NoError(t, one.Emit(t.Context(), run.RunStarted{Schema: run.Schema}))
	said := map[string][]llm.Message{}
	for _, s := range []struct {
		scope *run.Scope
		text  string
	}{{one, "a"}, {two, "x"}, {one, "b"}, {two, "y"}, {one, "c"}} {
		key := "two"
		if s.scope == one {
			key = "one"
		}
		said[key] = append(said[key], llm.UserText(s.text))
		require.NoError(t, s.scope.Call(t.Context(), llm.Call{Request: &llm.Request{Role: llm.Actor, Purpose: "propose", Messages: said[key]}}))
	}
	r, err := Open(j.Dir())
	require.NoError(t, err)
	var whole []string
	for s, err := range r.Steps() {
		require.NoError(t, err)
		for _, c := range s.Calls {
			var text strings.Builder
			for _, m := range c.Whole() {
				text.WriteString(m.Text)
			}
			whole = append(whole, text.String())
		}
	}
	assert.Equal(t, []string{"a", "x", "ab", "xy", "abc"}, whole)
}

// A step's time begins where that of the one before ends.
func TestTimeOfSteps(t *testing.T) {
	j := newJournal(t)
	start := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	for i, step := range []int{0, 0, 1, 2} {
		e := run.Event{Seq: i + 1, Step: step, Time: start.Add(time.Duration(i) * time.Second), Kind: "answered", Data: run.Answered{}}
		require.NoError(t, j.Event(t.Context(), e))
	}
	r, err := Open(j.Dir())
	require.NoError(t, err)
	var total Spent
	for s, err := range r.Steps() {
		require.NoError(t, err)
		assert.Equal(t, time.Second, s.Spent().Total)
		total.Add(s.Spent())
	}
	assert.Equal(t, Spent{Other: 3 * time.Second, Total: 3 * time.Second}, total)
}

func TestSpend(t *testing.T) {
	start := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	at := func(ms int, data run.EventData) run.Event {
		return run.Event{Time: start.Add(time.Duration(ms) * time.Millisecond), Data: data}
	}
	got := Spend([]run.Event{
		at(1000, run.ModelCalled{Millis: 1000}),
		at(1500, run.ModelCalled{Millis: 1400}), // at the same time as the first, but for 500 ms
		at(1510, run.Acting{}),
		at(1700, run.Observed{Timing: screen.Timing{Settle: 60e6, Total: 100e6}}),
		at(1710, run.Acted{Millis: 190}), // as if the look after it belonged to it
	}, start)
	assert.Equal(t, Spent{
		Model: 1500 * time.Millisecond, Settle: 60 * time.Millisecond, Look: 40 * time.Millisecond,
		Act: 90 * time.Millisecond, Other: 20 * time.Millisecond, Total: 1710 * time.Millisecond,
	}, got)
	assert.Zero(t, Spend(nil, start))
}
