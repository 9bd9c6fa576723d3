package llm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
)

// TestMessage holds that a reply goes back with all that it said, and what its provider wants.
func TestMessage(t *testing.T) {
	r := llm.Response{Text: "I look.", Calls: []llm.ToolCall{{ID: "c", Name: "look"}}, State: &llm.State{API: "a", Model: "m", Data: "signed"}}
	require.Equal(t, llm.Message{From: llm.Assistant, Parts: []llm.Part{llm.Text("I look.")}, Calls: r.Calls, State: r.State}, r.Message())
	require.Equal(t, llm.Message{From: llm.Assistant}, (&llm.Response{}).Message(), "no text is no part")
}

// TestEnding holds what a reply is, by why it ended and whether it makes calls.
func TestEnding(t *testing.T) {
	for finish, want := range map[string]llm.Ending{
		llm.FinishStop: llm.Answered, llm.FinishCalls: llm.Answered, "": llm.Answered, "eos": llm.Answered,
		llm.FinishPaused: llm.Paused, llm.FinishLength: llm.CutOff, llm.FinishMalformed: llm.CutOff,
		llm.FinishRefusal: llm.Declined, llm.FinishFilter: llm.Declined,
	} {
		r := llm.Response{Text: "Well.", Finish: finish}
		require.Equal(t, want, r.Ending(), finish)
		r.Calls = []llm.ToolCall{{ID: "c", Name: "look"}}
		require.Equal(t, llm.Answered, r.Ending(), "%s, with calls that are to be answered", finish)
	}
}

// TestCompleteTurn holds that a model which only pauses is asked to go on with what it said,
// a few times.
func TestCompleteTurn(t *testing.T) {
	pause := llm.Response{Text: "I look first.", Finish: llm.FinishPaused, State: &llm.State{API: "a", Model: "m", Data: "p"}}
	model := &llmtest.Recorder{Model: sequence(t, llmtest.Reply(pause), llmtest.Reply(pause), llmtest.Text("Done."))}
	req := request()
	resp, before, err := llm.CompleteTurn(t.Context(), model, req)
	require.NoError(t, err)
	require.Equal(t, "Done.", resp.Text)
	require.Equal(t, []llm.Message{pause.Message(), pause.Message()}, before)
	require.Equal(t, append(request().Messages, before...), model.Requests()[2].Messages)
	require.Equal(t, request().Messages, req.Messages, "the question stays as it is")

	p := llmtest.Reply(pause)
	resp, before, err = llm.CompleteTurn(t.Context(), sequence(t, p, p, p, p), req)
	require.NoError(t, err)
	require.Equal(t, llm.Paused, resp.Ending())
	require.Len(t, before, 3)
}
