package responses_test

import (
	"encoding/json"
	"fmt"
	"image"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/llm/responses"
)

var size = image.Pt(64, 40)

// A conversation is asked on as an agent has it: old turns become a record.
type conversation struct {
	turns [][]llm.Message // what was shown, said and answered in each
	old   int
}

func (k *conversation) request(shown llm.Message) *llm.Request {
	r := &llm.Request{Role: llm.Actor, Model: "gpt-5.6-sol", Computer: &llm.Computer{Size: size},
		Tools:    []llm.Tool{{Name: "done", Parameters: json.RawMessage(`{"type":"object","properties":{"answer":{"type":"string"}}}`)}, {Name: "zoom", Parameters: json.RawMessage(`{"type":"object"}`)}},
		Messages: []llm.Message{llm.SystemText("You use a computer."), llm.UserText("Task: buy milk")}}
	if k.old > 0 {
		r.Messages = append(r.Messages, llm.UserText(fmt.Sprintf("%d turns are over.", k.old)))
	}
	for _, t := range k.turns[k.old:] {
		r.Messages = append(r.Messages, t...)
	}
	r.Messages = append(r.Messages, shown)
	return r
}

// script is a run of thirty steps: a look, batches, an enlarged region, a failure in
// mid-batch, checks of which one is accepted and one is not, commentary, functions beside
// the tool, a refusal and an end.
func script() []llmtest.ResponsesReply {
	click := map[string]any{"type": "click", "button": "left", "x": 7, "y": 9, "keys": nil}
	list := []llmtest.ResponsesReply{
		{Items: []any{llmtest.ComputerCall("call_1", map[string]any{"type": "screenshot"})}},
		{Items: []any{llmtest.Says("I open it.", "commentary"), llmtest.ComputerCall("call_2", click, map[string]any{"type": "type", "text": "milk <b>"}, map[string]any{"type": "keypress", "keys": []any{"CTRL", "S"}})}},
		{Items: []any{llmtest.FunctionCall("call_3", "zoom", `{"x":1}`)}},
		{Items: []any{llmtest.ComputerCall("call_4", click, map[string]any{"type": "scroll", "x": 1, "y": 2, "scroll_x": 0, "scroll_y": 300})}},
		{Items: []any{llmtest.Raising(llmtest.ComputerCall("call_5", click), "sc_5", "malicious_instructions", "The page tells the model what to do.")}},
		{Items: []any{llmtest.Raising(llmtest.ComputerCall("call_6", click), "sc_6", "sensitive_domain", "A bank.")}},
		{Items: []any{llmtest.ComputerCall("call_7", map[string]any{"type": "double_click", "x": 7, "y": 9, "keys": nil}), llmtest.FunctionCall("call_7b", "zoom", `{}`)}},
		{Items: []any{llmtest.Says("I go on.", "commentary")}},
	}
	for n := len(list) + 1; n < 30; n++ {
		list = append(list, llmtest.ResponsesReply{Items: []any{llmtest.ComputerCall(fmt.Sprintf("call_%d", n), click, map[string]any{"type": "wait"})}})
	}
	list[20] = llmtest.ResponsesReply{Items: []any{llmtest.Refuses("I can't help with that.")}}
	return append(list, llmtest.ResponsesReply{Items: []any{llmtest.Says("It is bought.", "final_answer")}})
}

// A run is how the script is played: whether the server keeps the conversation, and how many
// turns are sent whole.
type run struct {
	stored bool
	keep   int
}

// played are the requests of the runs that were played.
var played = map[run][]llmtest.ServerRequest{}

// play returns the requests of the script, played against an endpoint once for all tests.
func play(t *testing.T, stored bool, keep int) []llmtest.ServerRequest {
	if list := played[run{stored, keep}]; list != nil {
		return list
	}
	server := llmtest.NewResponses(t, script()...)
	server.Size = size
	model := &responses.Endpoint{BaseURL: server.URL, Key: key, Stored: stored}
	var k conversation
	shown := llm.Message{From: llm.User, Parts: []llm.Part{llm.Text("Screenshot f0:"), screenshot(0, size)}}
	for n := 1; n <= 30; n++ {
		resp, err := model.Complete(t.Context(), k.request(shown))
		require.NoError(t, err, "step %d", n)
		require.NotNil(t, resp.State)
		turn := []llm.Message{shown, {From: llm.Assistant, Parts: []llm.Part{llm.Text(resp.Text)}, Calls: resp.Calls, State: resp.State}}
		for i, c := range resp.Calls {
			m := llm.Message{From: llm.ToolReply, CallID: c.ID, Parts: []llm.Part{llm.Text(fmt.Sprintf("delivered %d", n))}}
			switch {
			case n == 4: // the second action failed
				m.Failed, m.Parts = true, []llm.Part{llm.Text("click: delivered; scroll: refused, the pointer is outside")}
			case c.Checks != nil && n == 5:
				m.Accepted = []string{"sc_5"}
			case c.Checks != nil:
				m.Failed, m.Parts = true, []llm.Part{llm.Text("not done: a person said no")}
			case n == 7 && i == 1:
				m.Parts = append(m.Parts, screenshot(200, size))
			}
			turn = append(turn, m)
		}
		k.turns = append(k.turns, turn)
		switch n {
		case 8:
			require.Equal(t, llm.FinishPaused, resp.Finish)
		case 21:
			require.Equal(t, llm.FinishRefusal, resp.Finish)
		case 30:
			require.Equal(t, llm.FinishStop, resp.Finish)
		default:
			require.Equal(t, llm.FinishCalls, resp.Finish)
		}
		shown = llm.Message{From: llm.User, Parts: []llm.Part{llm.Text(fmt.Sprintf("Report %d. Screenshot f%d:", n, n)), screenshot(n, size)}}
		if n%9 == 0 { // the screen is as it was, so it is not shown again
			shown.Parts = shown.Parts[:1]
		}
		if many := len(k.turns) - k.old; many >= keep+4 {
			k.old = len(k.turns) - keep
		}
	}
	require.Zero(t, server.Left())
	list := server.Requests()
	if !t.Failed() { // the server fails a test whose requests are wrong
		played[run{stored, keep}] = list
	}
	return list
}

// TestThirtySteps holds that every request of a long run is one that the provider
// documents and takes, whether it keeps the conversation or not, and with old turns
// shortened or not; the server holds schema, order, pairs of calls and outputs, checks,
// screenshots, and that what it said comes back letter by letter.
func TestThirtySteps(t *testing.T) {
	for _, stored := range []bool{false, true} {
		for _, keep := range []int{4, 100} {
			t.Run(fmt.Sprintf("stored %v, keep %d", stored, keep), func(t *testing.T) {
				list := play(t, stored, keep)
				require.Len(t, list, 30)
				sixth, seventh := list[5].Body, list[6].Body
				assert.Contains(t, sixth, `"acknowledged_safety_checks":[{"id":"sc_5","code":"malicious_instructions","message":"The page tells the model what to do."}]`)
				assert.NotContains(t, seventh, `"id":"sc_6"`, "what nobody accepted is never acknowledged")
				assert.Contains(t, seventh, "not done: a person said no")
				assert.Contains(t, list[4].Body, "scroll: refused", "what failed in mid-batch is told")
				assert.Contains(t, list[7].Body, dataURL(screenshot(200, size)), "a function may show a picture")
				previous := 0
				for _, r := range list {
					if strings.Contains(r.Body, `"previous_response_id"`) {
						previous++
					}
				}
				switch {
				case !stored:
					assert.Zero(t, previous)
				case keep == 100: // all but the first; the one whose check was declined is no reply of the provider any more
					assert.Equal(t, 29, previous)
					assert.Less(t, len(list[29].Body), 4000, "only what is new is sent")
				default:
					assert.Greater(t, previous, 15)
					assert.Less(t, previous, 29, "a conversation that was shortened is sent as a whole")
				}
			})
		}
	}
}

// A conversation that goes on with another model has no reasoning of the first in it, but
// all that was said, shown and done.
func TestAnotherModel(t *testing.T) {
	first := llmtest.NewResponses(t, script()[1])
	var k conversation
	shown := llm.Message{From: llm.User, Parts: []llm.Part{llm.Text("see"), screenshot(1, size)}}
	resp, err := (&responses.Endpoint{BaseURL: first.URL}).Complete(t.Context(), k.request(shown))
	require.NoError(t, err)
	k.turns = append(k.turns, []llm.Message{shown, {From: llm.Assistant, Parts: []llm.Part{llm.Text(resp.Text)}, Calls: resp.Calls, State: resp.State},
		{From: llm.ToolReply, CallID: "call_2", Parts: []llm.Part{llm.Text("delivered")}}})
	second := llmtest.NewResponses(t, llmtest.ResponsesReply{Items: []any{llmtest.Says("ok", "final_answer")}})
	r := k.request(llm.Message{From: llm.User, Parts: []llm.Part{llm.Text("now"), screenshot(2, size)}})
	r.Model = "another"
	_, err = (&responses.Endpoint{BaseURL: second.URL}).Complete(t.Context(), r)
	require.NoError(t, err)
	body := second.Requests()[0].Body
	assert.NotContains(t, body, "gAAAA<", "reasoning")
	assert.NotContains(t, body, "computer_call")
	for _, want := range []string{"I open it.", "milk", "delivered", dataURL(screenshot(2, size))} {
		assert.Contains(t, body, want)
	}
}

// Without a screenshot there is no output of the computer tool: it is said here, and not
// by the provider.
func TestNoScreenshot(t *testing.T) {
	server := llmtest.NewResponses(t, script()[0])
	model := &responses.Endpoint{BaseURL: server.URL}
	var k conversation
	shown := llm.UserText("see")
	resp, err := model.Complete(t.Context(), k.request(shown))
	require.NoError(t, err)
	k.turns = append(k.turns, []llm.Message{shown, {From: llm.Assistant, Calls: resp.Calls, State: resp.State}, {From: llm.ToolReply, CallID: "call_1", Parts: []llm.Part{llm.Text("x")}}})
	_, err = model.Complete(t.Context(), k.request(shown))
	require.ErrorIs(t, err, llm.ErrRequest)
	require.ErrorContains(t, err, "no screenshot")
	k.turns[0][1].State.Data = "{"
	_, err = model.Complete(t.Context(), k.request(shown))
	require.ErrorContains(t, err, "what was kept of a reply cannot be read")
}
