package openai_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/llm/openai"
)

// FuzzReply holds what every adapter promises of whatever an endpoint answers.
func FuzzReply(f *testing.F) {
	choice := func(message, finish string) string {
		return `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":` + message + `,"finish_reason":` + finish + `}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`
	}
	calls := `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"click","arguments":"{\"x\":1}"}},{"id":"a","function":{"name":"","arguments":"{"}},{"id":"","function":{"name":"b"}}]}`
	llmtest.FuzzEndpoint(f, &llmtest.FuzzSubject{
		New: func(c *http.Client) llm.Model {
			return &openai.Endpoint{BaseURL: "http://model.test/v1", Key: key, HTTP: c}
		},
		Request: func() *llm.Request {
			r := request()
			r.Tools = []llm.Tool{{Name: "click", Description: "Click.", Parameters: []byte(`{"type":"object"}`)}}
			return r
		},
		Secret: key,
		Calls: func(sent []byte) (called, answered []string) {
			var r struct {
				Messages []struct {
					Calls []struct {
						ID string `json:"id"`
					} `json:"tool_calls"`
					CallID string `json:"tool_call_id"`
					Role   string `json:"role"`
				} `json:"messages"`
			}
			if err := json.Unmarshal(sent, &r); err != nil {
				panic(err)
			}
			for _, m := range r.Messages {
				for _, c := range m.Calls {
					called = append(called, c.ID)
				}
				if m.Role == "tool" {
					answered = append(answered, m.CallID)
				}
			}
			return called, answered
		},
	},
		choice(`{"role":"assistant","content":"hello"}`, `"stop"`), choice(calls, `"tool_calls"`), choice(calls, `"length"`), choice(calls, `"content_filter"`), choice(calls, `null`),
		choice(`{"content":[{"type":"text","text":"a"},{"Type":"text"}],"refusal":"no"}`, `"stop"`), choice(`{"content":null,"refusal":"I will not","tool_calls":[{"id":"a","function":{}}]}`, `"stop"`),
		choice(`{"content":7,"tool_calls":{}}`, `7`), choice(`null`, `"stop"`), `{"choices":[]}`, `{"choices":[null]}`, `{"choices":[{}],"usage":{"prompt_tokens":-9e18,"completion_tokens":1e400}}`,
	)
}
