package anthropic_test

import (
	"encoding/json"
	"image"
	"net/http"
	"testing"

	"desktop-agent/llm"
	"desktop-agent/llm/anthropic"
	"desktop-agent/llm/llmtest"
)

// FuzzReply holds what every adapter promises of whatever an endpoint answers.
func FuzzReply(f *testing.F) {
	reply := func(stop, blocks string) string {
		return `{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5","content":` + blocks + `,"stop_reason":` + stop + `,"usage":{"input_tokens":10,"cache_read_input_tokens":4,"output_tokens":7}}`
	}
	calls := `[{"type":"thinking","thinking":"so","signature":"c2ln"},{"type":"text","text":""},{"type":"tool_use","id":"a","name":"left_click","toolset_name":"computer","input":{"coordinate":[1,2]}},` +
		`{"type":"tool_use","id":"a","name":"note","input":{"text":"x"}},{"type":"tool_use","id":"not an id","name":"","input":null},{"type":"tool_use"}]`
	llmtest.FuzzEndpoint(f, &llmtest.FuzzSubject{
		New: func(c *http.Client) llm.Model {
			return &anthropic.Endpoint{BaseURL: "http://model.test", Key: key, HTTP: c}
		},
		Request: func() *llm.Request {
			r := request()
			r.Model, r.Computer, r.Tools = "claude-opus-5-5", &llm.Computer{Size: image.Pt(1280, 720)}, []llm.Tool{noteTool}
			return r
		},
		Secret: key,
		Calls: func(sent []byte) (called, answered []string) {
			var r struct {
				Messages []struct {
					Content []struct {
						Type   string `json:"type"`
						ID     string `json:"id"`
						CallID string `json:"tool_use_id"`
					} `json:"content"`
				} `json:"messages"`
			}
			if err := json.Unmarshal(sent, &r); err != nil {
				panic(err)
			}
			for _, m := range r.Messages {
				for _, b := range m.Content {
					switch b.Type {
					case "tool_use":
						called = append(called, b.ID)
					case "tool_result":
						answered = append(answered, b.CallID)
					}
				}
			}
			return called, answered
		},
	},
		reply(`"end_turn"`, `[{"type":"text","text":"hello"}]`), reply(`"tool_use"`, calls), reply(`"max_tokens"`, calls), reply(`"refusal"`, calls), reply(`"pause_turn"`, `[{"type":"server_tool_use","id":"s","name":"web"}]`),
		reply(`null`, `[]`), reply(`"tool_use"`, `[null,7]`), reply(`"tool_use"`, `[null]`), reply(`"end_turn"`, `null`), reply(`7`, `[{"type":"new","x":1}]`), `{"content":[],"usage":{"input_tokens":-1}}`,
	)
}
