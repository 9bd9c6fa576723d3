package run_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/run"
)

// TestTurns holds that each action has its own ruling, its own result, its proposal and what
// was seen when it began, also where two proposals of a step were performed; and that nothing
// comes of a turn any more once the next one has begun.
func TestTurns(t *testing.T) {
	var turns run.Turns
	add := func(step int, data run.EventData) run.Part {
		return turns.Add(run.Event{Agent: "agent", Step: step, Data: data})
	}
	copies := []run.Recorded{{Action: actuator.Copy{}}, {Action: actuator.Wait{Milliseconds: 1}}}
	do := func(index int) run.Acting { return run.Acting{Index: index, Action: copies[index]} }

	seen := add(1, run.Observed{FrameID: "f1"}).Seen
	call := add(1, run.ModelCalled{Role: llm.Actor}).Call
	add(1, run.ModelCalled{Role: llm.WorldModel})
	first := add(1, run.Proposed{FrameID: "f1", Actions: copies}).Proposal
	assert.Same(t, first, call.Proposal, "of the actor's call")
	assert.Same(t, seen, first.Seen)
	add(1, run.Guarded{Allowed: true, By: "table"})
	one := add(1, do(0)).Deed
	assert.Equal(t, "table", one.Ruling.By)
	assert.Same(t, first, one.Proposal)
	assert.Empty(t, one.Status())
	assert.Same(t, one, add(1, run.Acted{Status: actuator.NoEffect}).Deed)
	add(1, run.Guarded{Index: 1, By: "foresight"})
	refused := add(1, run.Refused{Index: 1, Action: copies[1], Reason: "no"}).Deed
	assert.Equal(t, actuator.Refused, refused.Status())
	assert.Equal(t, "foresight", refused.Ruling.By)

	add(1, run.Observed{FrameID: "f2"})
	second := add(1, run.Proposed{FrameID: "f2", Actions: copies}).Proposal
	two := add(1, do(0)).Deed
	add(1, run.Acted{Status: actuator.Delivered})
	cut := add(1, do(1)).Deed
	assert.Equal(t, actuator.NoEffect, one.Status(), "not the result of the second")
	assert.Equal(t, actuator.Delivered, two.Status())
	assert.Zero(t, two.Ruling, "not that of the first")
	assert.Equal(t, []string{"f1", "f2", "f2"}, []string{one.Seen.FrameID, two.Seen.FrameID, cut.Seen.FrameID})
	assert.Equal(t, []actuator.Action{copies[1].Action}, first.Undone(), "not what only the second did, nor what was refused")
	assert.Empty(t, second.Undone())
	assert.True(t, turns.GoesOn(1))

	assert.Nil(t, add(2, run.Proposed{FrameID: "f1"}).Proposal.Seen, "there is a newer one")
	assert.False(t, turns.GoesOn(1))
	assert.Nil(t, add(1, run.Acted{Index: 1}).Deed, "too late")
	assert.Nil(t, cut.Acted)
}

// TestTurnsAfterResumed holds that what came of an act which was in doubt is told after the
// run has gone on, and nothing of what was only thought.
func TestTurnsAfterResumed(t *testing.T) {
	var turns run.Turns
	add := func(agent string, step int, data run.EventData) run.Part {
		return turns.Add(run.Event{Agent: agent, Step: step, Data: data})
	}
	act := add("agent", 1, run.Acting{Action: run.Recorded{Action: actuator.Copy{}}}).Deed
	add("another", 2, run.ModelCalled{Role: llm.Actor})
	assert.True(t, turns.GoesOn(2))
	add("agent", 1, run.Resumed{})
	assert.False(t, turns.GoesOn(2))
	assert.Same(t, act, add("agent", 1, run.Acted{Status: actuator.Unknown, Detail: run.InDoubt}).Deed)
	assert.Equal(t, run.InDoubt, act.Acted.Detail)
}
