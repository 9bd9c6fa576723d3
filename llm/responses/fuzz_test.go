package responses_test

import (
	"encoding/json"
	"image"
	"net/http"
	"strings"
	"testing"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/llm/responses"
)

// FuzzReply holds what every adapter promises of whatever an endpoint answers.
func FuzzReply(f *testing.F) {
	click := `{"type":"computer_call","id":"i","call_id":"a","status":"completed","actions":[{"type":"click","x":1,"y":2,"button":"left"}],"pending_safety_checks":[{"id":"s","code":"c","message":"m"}]}`
	function := `{"type":"function_call","call_id":"b","name":"note","arguments":"{\"text\":\"x\"}"}`
	says := `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hello"}]}`
	incomplete := strings.Replace(body(function), `"completed"`, `"incomplete"`, 1)
	llmtest.FuzzEndpoint(f, &llmtest.FuzzSubject{
		New: func(c *http.Client) llm.Model {
			return &responses.Endpoint{BaseURL: "http://model.test/v1", Key: key, HTTP: c}
		},
		Request: func() *llm.Request {
			r := request()
			r.Computer = &llm.Computer{Size: image.Pt(1280, 720)}
			r.Tools = []llm.Tool{{Name: "note", Description: "Keeps a fact.", Parameters: []byte(`{"type":"object"}`)}}
			return r
		},
		Secret: string(key),
		Calls: func(sent []byte) (called, answered []string) {
			var r struct {
				Input []struct {
					Type   string `json:"type"`
					CallID string `json:"call_id"`
				} `json:"input"`
			}
			if err := json.Unmarshal(sent, &r); err != nil {
				panic(err)
			}
			for _, item := range r.Input {
				switch item.Type {
				case "function_call", "computer_call":
					called = append(called, item.CallID)
				case "function_call_output", "computer_call_output":
					answered = append(answered, item.CallID)
				}
			}
			return called, answered
		},
	},
		body(says), body(click), body(function), body(says+","+click+","+function), body(click+","+click), incomplete, strings.Replace(body(function), `"completed"`, `"failed"`, 1),
		body(`{"type":"reasoning","encrypted_content":"x","summary":[]},{"type":"message","phase":"commentary","content":[{"type":"refusal","refusal":"no"}]}`),
		body(`{"type":"computer_call","call_id":"a","action":{"type":"screenshot"},"status":"in_progress"}`), body(`{"type":"function_call","name":"note"}`), body(`null`), body(`7,{"type":"new","call_id":"n"}`),
		`{"object":"response","output":{}}`, `{"status":"cancelled"}`, `{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow\ndown"}}`,
	)
}
