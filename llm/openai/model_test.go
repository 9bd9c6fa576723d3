package openai_test

import (
	"net/http"
	"slices"
	"testing"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/llm/openai"
)

// TestEndpointIsModel holds that an endpoint is a model, alone and behind a client.
func TestEndpointIsModel(t *testing.T) {
	alone := func(answers ...http.HandlerFunc) func(testing.TB) llm.Model {
		return func(t testing.TB) llm.Model {
			return &openai.Endpoint{BaseURL: llmtest.NewServer(t, answers...).URL, Key: key}
		}
	}
	behind := func(answers ...http.HandlerFunc) func(testing.TB) llm.Model {
		return func(t testing.TB) llm.Model { return fast(llmtest.NewServer(t, answers...)) }
	}
	calls := llmtest.CompletionOf(llm.Response{Finish: "tool_calls", Usage: llm.Usage{Input: 9, Output: 2},
		Calls: []llm.ToolCall{{ID: "1", Name: "click", Arguments: "{}"}}})
	failures := func(of func(...http.HandlerFunc) func(testing.TB) llm.Model) map[string]llmtest.Failure {
		return map[string]llmtest.Failure{
			"key":       {New: of(llmtest.Refusal(401, "", "no", "")), Want: llm.ErrAuth},
			"credit":    {New: of(llmtest.Status(402, "", "")), Want: llm.ErrQuota},
			"rate":      {New: of(slices.Repeat([]http.HandlerFunc{llmtest.Refusal(429, "", "slow down", "")}, 3)...), Want: llm.ErrRateLimited},
			"broken":    {New: of(slices.Repeat([]http.HandlerFunc{llmtest.HangUp()}, 3)...), Want: llm.ErrUnavailable},
			"refused":   {New: of(llmtest.Refusal(404, "", "no such model", "model")), Want: llm.ErrRequest},
			"half":      {New: of(slices.Repeat([]http.HandlerFunc{llmtest.HalfReply()}, 3)...), Want: llm.ErrBadReply},
			"no choice": {New: of(slices.Repeat([]http.HandlerFunc{llmtest.NoChoices()}, 3)...), Want: llm.ErrBadReply},
			"no URL":    {New: func(testing.TB) llm.Model { return &openai.Endpoint{} }, Want: llm.ErrRequest},
		}
	}
	full := func() *llm.Request {
		zero := 0.0
		r := request()
		r.Temperature, r.MaxTokens = &zero, 99
		r.Messages = append(r.Messages, llm.Message{From: llm.User, Parts: []llm.Part{llm.Text("see"), llm.Image{Data: []byte("p"), Type: "image/png"}}})
		r.Tools = []llm.Tool{{Name: "click", Description: "Click.", Parameters: []byte(`{"type":"object"}`)}}
		r.Schema = &llm.Schema{Name: "plan", JSON: []byte(`{"type":"object"}`)}
		return r
	}
	for name, s := range map[string]*llmtest.Subject{
		"text":  {New: alone(slices.Repeat([]http.HandlerFunc{llmtest.Completion("ok")}, 8)...), Request: request, Fail: failures(alone)},
		"calls": {New: alone(slices.Repeat([]http.HandlerFunc{calls}, 8)...), Request: full, Hang: alone(llmtest.HangInReply())},
		"behind a client": {New: behind(slices.Repeat([]http.HandlerFunc{llmtest.Completion("ok")}, 8)...), Request: full,
			Hang:  behind(llmtest.HangRequest()),
			Empty: behind(llmtest.Completion(""), llmtest.Completion(" "), llmtest.Completion("")), Fail: failures(behind)},
	} {
		s.Calls, s.Counted = 8, true
		if s.Hang == nil {
			s.Hang = alone(llmtest.HangRequest())
		}
		t.Run(name, func(t *testing.T) { llmtest.TestModel(t, s) })
	}
}
