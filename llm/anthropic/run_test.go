package anthropic_test

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/anthropic"
)

var palette = color.Palette{color.Black, color.White}

// A conversation is asked on in the shape that the agent gives it: a turn is what was
// asked, what was said and what became of each call. With functions alone the plan and the
// list of what is on the screen are new in each request, and are not repeated.
type conversation struct {
	t     testing.TB
	model *anthropic.Endpoint
	name  string
	shot  []byte
	whole int // so many of the newest turns stand as they were, and go interval at a time; 0 for all
	every int
	alone bool // functions alone are offered

	turns []turn
	old   int
	zoom  bool // the last turn asked for a region
}

type turn struct {
	asked []llm.Message
	said  []llm.Message
	tools []llm.Message
}

var noteTool = llm.Tool{Name: "note", Description: "Keeps a fact.", Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)}

// request is the next one.
func (k *conversation) request() *llm.Request {
	n := len(k.turns)
	messages := []llm.Message{llm.SystemText("You work on a desktop. " + strings.Repeat("A rule of the work is told here. ", 100)), llm.UserText("Task: buy milk")}
	if k.whole > 0 && n-k.old >= k.whole+k.every {
		k.old = n - k.whole
	}
	if k.old > 0 {
		messages = append(messages, llm.UserText(fmt.Sprintf("The first %d turns went well.", k.old)))
	}
	for _, t := range k.turns[k.old:] {
		messages = append(append(append(messages, t.asked...), t.said...), t.tools...)
	}
	messages = append(messages, k.seen(n), llm.UserText(fmt.Sprintf("**SUGGESTED PLAN:**\n%d. Go on.", n)))
	now := llm.UserText(fmt.Sprintf("On the screen in step %d:\n%s", n, strings.Repeat("n1 button Save (10, 20)\n", 60)))
	if k.zoom {
		now.Parts = append(now.Parts, llm.Image{Data: k.shot, Type: "image/png", FrameID: "zoom"})
	}
	r := &llm.Request{Role: llm.Actor, Model: k.name, Messages: append(messages, now), Tools: []llm.Tool{noteTool}}
	if !k.alone {
		r.Computer = &llm.Computer{Size: image.Pt(1280, 720)}
	}
	return r
}

func (k *conversation) seen(n int) llm.Message {
	return llm.Message{From: llm.User, Parts: []llm.Part{
		llm.Text(fmt.Sprintf("Report of step %d: something changed.", n)), llm.Image{Data: k.shot, Type: "image/png", FrameID: fmt.Sprint("f", n)}}}
}

// step asks once, and does what was called but for what fails. A reply that is paused is
// asked to go on; one that was refused is forgotten.
func (k *conversation) step(fails func(i int, c llm.ToolCall) bool) *llm.Response {
	req := k.request()
	asked := slices.Clone(req.Messages[len(req.Messages)-3:])
	if k.alone {
		asked = asked[:1]
	}
	var said []llm.Message
	for {
		resp, err := k.model.Complete(k.t.Context(), req)
		require.NoError(k.t, err, "step %d", len(k.turns))
		if resp.Finish == llm.FinishRefusal {
			return resp
		}
		m := llm.Message{From: llm.Assistant, Parts: []llm.Part{llm.Text(resp.Text)}, Calls: resp.Calls, State: resp.State}
		said = append(said, m)
		if resp.Finish == llm.FinishPaused {
			req.Messages = append(req.Messages, m)
			continue
		}
		t := turn{asked: asked, said: said}
		k.zoom = false
		failed := false
		for i, c := range resp.Calls {
			reply := llm.Message{From: llm.ToolReply, CallID: c.ID, Parts: []llm.Part{llm.Text("delivered")}}
			if failed = failed || fails != nil && fails(i, c); failed {
				reply.Failed, reply.Parts = true, []llm.Part{llm.Text(fmt.Sprintf("not done: call %d is refused", i))}
			} else if strings.Contains(c.Name+c.Arguments, "zoom") {
				k.zoom = true
			}
			t.tools = append(t.tools, reply)
		}
		k.turns = append(k.turns, t)
		return resp
	}
}

func thinking(text string) map[string]any {
	return map[string]any{"type": "thinking", "thinking": text, "signature": ""}
}
func says(text string) map[string]any {
	return map[string]any{"type": "text", "text": text, "citations": nil}
}

// does is a call of the toolset.
func does(id, name string, input map[string]any) map[string]any {
	return map[string]any{"type": "tool_use", "id": id, "name": name, "toolset_name": "computer", "input": input, "caller": map[string]any{"type": "direct"}}
}

// did is a call of an older tool.
func did(id, action string, input map[string]any) map[string]any {
	input["action"] = action
	return map[string]any{"type": "tool_use", "id": id, "name": "computer", "input": input}
}

func calls(id, name string, input map[string]any) map[string]any {
	return map[string]any{"type": "tool_use", "id": id, "name": name, "input": input}
}

func at(x, y int) map[string]any { return map[string]any{"coordinate": []int{x, y}} }

// The states of the scripted run, by the number of the request.
var states = map[int]func(n int) reply{
	1: func(int) reply {
		return reply{blocks: []map[string]any{does("t1", "screenshot", map[string]any{})}, stop: "tool_use"}
	},
	3: func(int) reply { // a batch
		return reply{blocks: []map[string]any{thinking("I see a field."), says("I fill it in."), does("t3a", "left_click", at(1, 2)), does("t3b", "type", map[string]any{"text": "milk"}),
			does("t3c", "key", map[string]any{"text": "Return"})}, stop: "tool_use"}
	},
	4: func(int) reply {
		return reply{blocks: []map[string]any{thinking("Too small."), does("t4", "zoom", map[string]any{"region": []int{0, 0, 100, 80}})}, stop: "tool_use"}
	},
	5: func(int) reply { // one of which fails in its middle
		return reply{blocks: []map[string]any{thinking(""), does("t5a", "left_click", at(1, 2)), does("t5b", "left_click", at(3, 4)), does("t5c", "type", map[string]any{"text": "bread"}),
			does("t5d", "screenshot", map[string]any{})}, stop: "tool_use"}
	},
	6: func(int) reply { // functions beside it
		return reply{blocks: []map[string]any{thinking("Note it."), calls("t6a", "note", map[string]any{"text": "blue"}), does("t6b", "left_click", at(5, 6)), calls("t6c", "note", map[string]any{"text": "green"})}, stop: "tool_use"}
	},
	7: func(int) reply {
		return reply{blocks: []map[string]any{does("t7", "left_click", at(9999, 4))}, stop: "tool_use"}
	},
	8: func(int) reply {
		return reply{blocks: []map[string]any{does("t8a", "zoom", map[string]any{"region": []int{0, 0, 100, 80}}), does("t8b", "left_click", at(7, 8))}, stop: "tool_use"}
	},
	9: func(int) reply { // cut off
		return reply{blocks: []map[string]any{thinking("A long way."), does("t9a", "left_click", at(7, 8)), does("t9b", "type", map[string]any{})}, stop: "max_tokens"}
	},
	11: func(int) reply { return reply{blocks: []map[string]any{thinking("Wait.")}, stop: "pause_turn"} },
	12: func(int) reply {
		return reply{blocks: []map[string]any{says("Now."), does("t12", "left_click", at(7, 8))}, stop: "tool_use"}
	},
	13: func(int) reply {
		return reply{blocks: []map[string]any{does("t13", "left_click", at(7, 8))}, stop: "refusal", extra: map[string]any{"stop_details": map[string]any{
			"type": "refusal", "category": "cyber", "explanation": nil, "fallback_credit_token": nil, "fallback_has_prefill_claim": nil, "recommended_model": nil}}}
	},
	14: func(int) reply {
		return reply{blocks: []map[string]any{thinking("Redacted?"), {"type": "redacted_thinking", "data": "b3BhcXVl"}, does("t14", "wobble", map[string]any{"foo": 1})}, stop: "tool_use"}
	},
	15: func(int) reply { return reply{blocks: []map[string]any{says(""), says("Shall I?")}, stop: "end_turn"} },
	32: func(int) reply {
		return reply{blocks: []map[string]any{thinking("All is there."), says("It is done.")}, stop: "end_turn"}
	},
}

func scripted(n int, _ wireRequest) reply {
	if state := states[n]; state != nil {
		return state(n)
	}
	id := fmt.Sprintf("t%d", n)
	return reply{blocks: []map[string]any{thinking(fmt.Sprint("Thought of ", n)), does(id, "left_click", at(n, n))}, stop: "tool_use"}
}

// TestRun plays 30 steps with every state that a run can come to. The fake checks each
// request and each reply by the official schema, the pairing of calls and results, the
// rules after a failure, and that signed thinking comes back in the conversation that it
// was signed in.
func TestRun(t *testing.T) {
	f := newFake(t, scripted)
	k := &conversation{t: t, model: &anthropic.Endpoint{BaseURL: f.URL, Key: key}, name: "claude-opus-5-5", shot: screenshot(t, 1280, 720)}
	second := func(i int, c llm.ToolCall) bool { return i == 1 && c.ID == "t5b" }
	for n := 1; n <= 30; n++ {
		switch resp := k.step(func(i int, c llm.ToolCall) bool { return second(i, c) || c.ID == "t7" || c.Name == "wobble" }); len(f.requests) {
		case 1:
			assert.Equal(t, []llm.ToolCall{{ID: "t1", Name: "screenshot", Arguments: "{}", Computer: true}}, resp.Calls)
			assert.Equal(t, llm.FinishCalls, resp.Finish)
		case 3:
			assert.Equal(t, "I fill it in.", resp.Text)
			assert.Len(t, resp.Calls, 3)
		case 4:
			assert.Equal(t, "Too small.", resp.Text, "what a model says between calls is in its thinking")
		case 6:
			assert.Equal(t, []bool{false, true, false}, []bool{resp.Calls[0].Computer, resp.Calls[1].Computer, resp.Calls[2].Computer})
		case 9:
			assert.Equal(t, llm.FinishLength, resp.Finish)
			assert.Len(t, resp.Calls, 1, "a call that may be cut off is none")
		case 12:
			assert.Equal(t, "t12", resp.Calls[0].ID)
		case 13:
			assert.Equal(t, llm.FinishRefusal, resp.Finish)
			assert.Equal(t, "The model declined to answer (cyber).", resp.Text)
			assert.Empty(t, resp.Calls, "what a model asks for that declines is not done")
			assert.Nil(t, resp.State)
		case 15:
			assert.Equal(t, llm.FinishStop, resp.Finish)
			assert.Equal(t, "\nShall I?", resp.Text)
		case 24:
			assert.Zero(t, f.dropped)
			k.whole, k.every = 3, 1 // old turns are taken away
		}
	}
	require.Len(t, f.requests, 31, "30 steps, of which one was paused")
	first := f.requests[0]
	assert.Equal(t, []string{"computer_toolset_20260801", ""}, []string{first.Tools[0].Type, first.Tools[1].Type})
	assert.Contains(t, string(f.bodies[0]), `"configs":{"cursor_position":{"enabled":false}}`)
	assert.Contains(t, string(f.bodies[0]), `"thinking":{"display":"summarized","type":"adaptive"}`)
	for i, r := range f.requests {
		assert.Equal(t, i >= 24, r.Thinking.Binding.Mismatch == "drop_block", "request %d: thinking is dropped only when the conversation changed", i+1)
	}
	assert.Positive(t, f.dropped)
	after5 := f.requests[5].Messages
	results := after5[len(after5)-1].Content
	assert.Equal(t, []string{"delivered", "not done: call 1 is refused", "Not executed: an earlier computer action in this turn failed.", "Not executed: an earlier computer action in this turn failed."},
		[]string{results[0].Content[0].Text, results[1].Content[0].Text, results[2].Content[0].Text, results[3].Content[0].Text})
	assert.Equal(t, []bool{false, true, true, true}, []bool{results[0].Error, results[1].Error, results[2].Error, results[3].Error})
	shown := slices.IndexFunc(results, func(b wireBlock) bool { return b.Type == "image" })
	assert.Greater(t, shown, 3, "the screenshot stands behind the results of a batch that failed")
	after4 := f.requests[4].Messages
	zoomed := after4[len(after4)-1].Content
	assert.Equal(t, "image", zoomed[0].Content[1].Type, "the region is the result of the call")
	assert.Equal(t, 1, slices.IndexFunc(zoomed, func(b wireBlock) bool { return b.Type == "text" }))
	assert.Contains(t, string(f.bodies[11]), "Wait.", "the paused reply goes back")
	last := f.requests[11].Messages
	assert.Equal(t, "assistant", last[len(last)-1].Role)
}

// TestOldTools plays a run with the tools before the toolset, whose thinking is bound to
// nothing.
func TestOldTools(t *testing.T) {
	for model, tool := range map[string]string{"claude-sonnet-4-6": "computer_20251124", "anthropic/claude-haiku-4.5": "computer_20250124"} {
		f := newFake(t, func(n int, _ wireRequest) reply {
			id := fmt.Sprintf("t%d", n)
			if n%5 == 0 {
				return reply{blocks: []map[string]any{did(id+"a", "left_click", at(1, 2)), did(id+"b", "left_click", at(1, 2)), did(id+"c", "type", map[string]any{"text": "a"})}, stop: "tool_use"}
			}
			if n%7 == 0 {
				return reply{blocks: []map[string]any{did(id, "zoom", map[string]any{"region": []int{0, 0, 100, 80}})}, stop: "tool_use"}
			}
			return reply{blocks: []map[string]any{thinking("Hm."), did(id, "left_click", at(n, n))}, stop: "tool_use"}
		})
		f.bound = false
		k := &conversation{t: t, model: &anthropic.Endpoint{BaseURL: f.URL, Key: key}, name: model, shot: screenshot(t, 1280, 720), whole: 3, every: 4}
		for range 16 {
			resp := k.step(func(i int, c llm.ToolCall) bool { return i == 1 })
			assert.True(t, resp.Calls[0].Computer)
		}
		assert.Equal(t, tool, f.requests[0].Tools[0].Type)
		assert.Contains(t, string(f.bodies[0]), `"display_height_px":720,"display_width_px":1280`)
		assert.Equal(t, tool == "computer_20251124", strings.Contains(string(f.bodies[0]), `"enable_zoom":true`))
		for _, body := range f.bodies {
			assert.NotContains(t, string(body), "toolset_name")
			assert.NotContains(t, string(body), "block_binding")
			assert.NotContains(t, string(body), "context_management")
		}
		assert.Zero(t, f.dropped)
	}
}

// TestFunctionsAlone holds that a model whose thinking is bound finds it where it was, also
// where the caller does not repeat all that it asked: the reply keeps that.
func TestFunctionsAlone(t *testing.T) {
	f := newFake(t, func(n int, _ wireRequest) reply {
		return reply{blocks: []map[string]any{thinking("Thought."), calls(fmt.Sprintf("t%d", n), "note", map[string]any{"text": "a"})}, stop: "tool_use"}
	})
	k := &conversation{t: t, model: &anthropic.Endpoint{BaseURL: f.URL, Key: key}, name: "claude-opus-5-5", shot: screenshot(t, 1280, 720), alone: true}
	for range 8 {
		assert.False(t, k.step(nil).Calls[0].Computer)
	}
	assert.Zero(t, f.dropped)
	assert.Contains(t, string(f.bodies[7]), "On the screen in step 0", "what was asked is said again")
	assert.NotContains(t, string(f.bodies[7]), "block_binding")
	assert.NotContains(t, string(f.bodies[7]), "context_management")
	assert.GreaterOrEqual(t, f.share(), 0.7)
}

// TestCache counts what a run of 20 steps costs by the provider's rules for its cache.
func TestCache(t *testing.T) {
	for _, tt := range []struct {
		model        string
		least        int
		bound        bool
		whole, every int
		share        float64
	}{
		{"claude-opus-5-5", 512, true, 0, 0, 0.80},
		{"claude-opus-5", 512, false, 0, 0, 0.80},
		{"claude-sonnet-4-6", 4096, false, 0, 0, 0.80},
		{"claude-opus-5-5", 512, true, 3, 25, 0.80},
		{"claude-opus-5", 512, false, 3, 8, 0.80},
		{"claude-opus-5", 512, false, 3, 4, 0.75}, // old turns go 4 at a time
	} {
		f := newFake(t, func(n int, r wireRequest) reply {
			id := fmt.Sprintf("t%d", n)
			if r.Tools[0].Type != "computer_toolset_20260801" {
				return reply{blocks: []map[string]any{thinking("Thought."), did(id, "left_click", at(n, n))}, stop: "tool_use"}
			}
			return reply{blocks: []map[string]any{thinking("Thought."), does(id, "left_click", at(n, n)), does(id+"b", "key", map[string]any{"text": "Return"})}, stop: "tool_use"}
		})
		f.least, f.bound, f.counts = tt.least, tt.bound, true
		k := &conversation{t: t, model: &anthropic.Endpoint{BaseURL: f.URL, Key: key}, name: tt.model, shot: screenshot(t, 1280, 720), whole: tt.whole, every: tt.every}
		var total llm.Usage
		for range 20 {
			total = total.Plus(k.step(nil).Usage)
		}
		bytes := 0
		for _, b := range f.bodies {
			bytes += len(b)
		}
		t.Logf("%s, keep %d every %d: %.1f %% of %d input tokens were cached, %d written; %d bytes a step", tt.model, tt.whole, tt.every, 100*f.share(), total.Input, total.Written, bytes/20)
		assert.GreaterOrEqual(t, f.share(), tt.share, tt.model)
		assert.InDelta(t, f.share(), float64(total.Cached)/float64(total.Input), 1e-9, "the adapter tells what the provider counted")
		if tt.whole == 0 || tt.every > 20 {
			assert.Zero(t, f.dropped)
			for _, u := range f.usage[2:] {
				assert.Greater(t, u.read, u.written+u.fresh, "a turn is paid once")
			}
		}
	}
}
