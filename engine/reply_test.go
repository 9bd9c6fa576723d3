package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/engine"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
)

// talks has an agent without a screen do a step, whose model gives the replies in order. It
// returns the step, and what the model was asked.
func talks(t *testing.T, replies ...llm.Response) (*planner.Step, []*llm.Request) {
	t.Helper()
	w := newWorld(t, map[string]tool{"look": {}}, map[string]func(*llm.Request) string{"reflect": goesOn, "conclude": met("over")}, once,
		func(s *run.Settings, _ *run.Options) { s.Agent.Execution.Retries = 0 })
	n := 0
	w.Model.whole = map[string]func(*llm.Request) llm.Response{run.PurposeTools: func(*llm.Request) llm.Response {
		n++
		return replies[n-1]
	}}
	result := executed(t, w, plan(agentStep("s1", engine.ProfileTools)))
	return result.Final.Step("s1"), w.Model.of(run.PurposeTools)
}

// TestNoAnswer holds that what a model says is not what a step gives where it declined or was
// cut off.
func TestNoAnswer(t *testing.T) {
	for finish, want := range map[string]string{
		llm.FinishRefusal: "the model declined: I will not",
		llm.FinishFilter:  "the model declined: I will not",
		llm.FinishLength:  "its answer was cut off at the limit of tokens",
	} {
		s, asked := talks(t, llm.Response{Text: "I will not", Finish: finish})
		assert.Equal(t, planner.Failed, s.Status, finish)
		assert.Nil(t, s.Result, finish)
		assert.Contains(t, s.Error, want, finish)
		assert.Len(t, asked, 1, finish)
	}
}

// TestReplyGoesBack holds that a model which only pauses is asked to go on, and that a reply
// goes back with what its provider wants to have back.
func TestReplyGoesBack(t *testing.T) {
	pause := llm.Response{Text: "I look first.", Finish: llm.FinishPaused, State: &llm.State{API: "a", Model: "test", Data: "p"}}
	call := llm.Response{Finish: llm.FinishCalls, Calls: []llm.ToolCall{{ID: "c", Name: "look", Arguments: "{}"}}, State: &llm.State{API: "a", Model: "test", Data: "signed"}}
	s, asked := talks(t, pause, call, llm.Response{Text: "Looked.", Finish: llm.FinishStop})
	require.Equal(t, planner.Completed, s.Status, s.Error)
	require.Equal(t, "Looked.", s.Result.Output)
	require.Len(t, asked, 3)
	last := asked[2].Messages
	require.Equal(t, pause.Message(), last[len(last)-3])
	require.Equal(t, call.Message(), last[len(last)-2])
}
