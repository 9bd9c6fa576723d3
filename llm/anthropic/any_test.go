package anthropic_test

import (
	"encoding/json"
	"fmt"
	"image"
	"io"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"desktop-agent/llm"
	"desktop-agent/llm/anthropic"
	"desktop-agent/llm/llmtest"
)

// TestAnyConversation holds that whatever a conversation is, with calls without results,
// results without calls, IDs that are there twice, replies of other models and states that
// are broken, the request is one that the provider documents, and each call in it has its
// one result.
func TestAnyConversation(t *testing.T) {
	shot := screenshot(t, 16, 16)
	rapid.Check(t, func(rt *rapid.T) {
		r := &llm.Request{Model: rapid.SampledFrom([]string{"claude-opus-5-5", "claude-opus-5", "claude-sonnet-4-6", "claude-haiku-4-5"}).Draw(rt, "model")}
		if rapid.Bool().Draw(rt, "computer") {
			r.Computer = &llm.Computer{Size: image.Pt(16, 16)}
		}
		if rapid.Bool().Draw(rt, "functions") {
			r.Tools = []llm.Tool{noteTool}
		}
		id := rapid.SampledFrom([]string{"a", "b", "c", "toolu_1", "", "x y", "é"})
		text := rapid.SampledFrom([]string{"", " \n", "one", "two", "<untrusted>"})
		for range rapid.IntRange(1, 12).Draw(rt, "messages") {
			m := llm.Message{From: rapid.SampledFrom([]llm.Speaker{llm.System, llm.User, llm.User, llm.Assistant, llm.Assistant, llm.ToolReply, llm.ToolReply}).Draw(rt, "from")}
			for range rapid.IntRange(0, 2).Draw(rt, "parts") {
				m.Parts = append(m.Parts, llm.Text(text.Draw(rt, "text")))
			}
			switch m.From {
			case llm.Assistant:
				m.Calls, m.State = drawCalls(rt, id), nil
				if rapid.Bool().Draw(rt, "state") {
					m.State = drawState(rt, r.Model, m.Calls)
				}
			case llm.ToolReply:
				m.CallID, m.Failed = id.Draw(rt, "call"), rapid.Bool().Draw(rt, "failed")
			default: // the user and the system say only what their parts are
			}
			if (m.From == llm.User || m.From == llm.ToolReply) && rapid.Bool().Draw(rt, "picture") {
				m.Parts = append(m.Parts, llm.Image{Data: shot, Type: "image/png"})
			}
			r.Messages = append(r.Messages, m)
		}
		r.Messages = append(r.Messages, llm.UserText("go on"))
		var body []byte
		client := &http.Client{Transport: llmtest.RoundTrip(func(req *http.Request) (*http.Response, error) {
			body, _ = io.ReadAll(req.Body)
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn"}`))}, nil
		})}
		if _, err := (&anthropic.Endpoint{BaseURL: "http://fake", HTTP: client}).Complete(t.Context(), r); err != nil {
			rt.Fatalf("%v", err)
		}
		if err := llmtest.Official("anthropic", "BetaCreateMessageParams", body); err != nil {
			rt.Fatalf("%v\n%s", err, body)
		}
		var sent wireRequest
		if err := json.Unmarshal(body, &sent); err != nil {
			rt.Fatalf("%v", err)
		}
		for _, said := range llmtest.Failures(t, func(t testing.TB) { (&fake{t: t}).checkResults(sent) }) {
			rt.Errorf("%s\n%s", said, body)
		}
		if sent.Messages[0].Role != "user" {
			rt.Errorf("the %s begins: %s", sent.Messages[0].Role, body)
		}
	})
}

func drawCalls(rt *rapid.T, id *rapid.Generator[string]) (list []llm.ToolCall) {
	for range rapid.IntRange(0, 4).Draw(rt, "calls") {
		list = append(list, rapid.SampledFrom([]llm.ToolCall{
			{Name: "left_click", Arguments: `{"coordinate":[1,2]}`, Computer: true}, {Name: "zoom", Arguments: `{"region":[0,0,5,5]}`, Computer: true},
			{Name: "computer", Arguments: `{"action":"left_click","coordinate":[1,2]}`, Computer: true}, {Name: "computer", Arguments: `{"action":"zoom"}`, Computer: true},
			{Name: "note", Arguments: `{"text":"a"}`}, {Name: "note", Arguments: `{"text":`}, {Name: "no name", Arguments: `{}`}, {Name: "note", Arguments: `null`},
		}).Draw(rt, "call"))
		list[len(list)-1].ID = id.Draw(rt, "id")
	}
	return list
}

// drawState is a state as the adapter makes it of the calls, or one that is broken.
func drawState(rt *rapid.T, model string, calls []llm.ToolCall) *llm.State {
	family, _ := anthropic.About(model)
	blocks := []map[string]any{{"type": "thinking", "thinking": "", "signature": "s"}}
	for i, c := range calls {
		if !json.Valid([]byte(c.Arguments)) || c.Arguments == "null" || strings.Contains(c.Name, " ") {
			continue
		}
		b := map[string]any{"type": "tool_use", "id": fmt.Sprintf("s%d", i), "name": c.Name, "input": json.RawMessage(c.Arguments)}
		if c.Computer && strings.Contains(family.Tool, "toolset") {
			b["toolset_name"] = "computer"
		}
		blocks = append(blocks, b)
	}
	data, err := json.Marshal(map[string]any{"content": blocks, "tool": family.Tool, "prefix": "p", "thought": true, "after": rapid.SampledFrom([][]string{nil, {"one"}, {"one", "two"}}).Draw(rt, "after")})
	if err != nil {
		rt.Fatalf("%v", err)
	}
	return &llm.State{API: rapid.SampledFrom([]string{anthropic.API, anthropic.API, "gemini"}).Draw(rt, "api"), Model: rapid.SampledFrom([]string{model, model, "other"}).Draw(rt, "of"),
		Data: rapid.SampledFrom([]string{string(data), string(data), `{`, `{"content":7}`, `{"content":[7]}`, ``}).Draw(rt, "data")}
}
