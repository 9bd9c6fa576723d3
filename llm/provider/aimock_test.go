package provider

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/internal/npmtest"
	"desktop-agent/llm"
)

// conversation is what aimock's models say: by what was asked, or the call that was answered last.
const conversation = `{"fixtures": [
	{"match": {"userMessage": "refuse me: rate"},   "response": {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429}},
	{"match": {"userMessage": "refuse me: key"},    "response": {"error": {"message": "a bad key", "type": "authentication_error"}, "status": 401}},
	{"match": {"userMessage": "refuse me: server"}, "response": {"error": {"message": "overloaded", "type": "server_error"}, "status": 503}},
	{"match": {"userMessage": "refuse me: form"},   "response": {"error": {"message": "a bad request", "type": "invalid_request_error"}, "status": 400}},
	{"match": {"toolCallId": "call_b"}, "response": {"content": "One more.", "toolCalls": [{"id": "call_c", "name": "click", "arguments": {"x": 1, "y": 2}}]}},
	{"match": {"toolCallId": "call_c"}, "response": {"content": "It is done."}},
	{"match": {"userMessage": "go"}, "response": {"toolCalls": [{"id": "call_a", "name": "click", "arguments": {"x": 7, "y": 9}}, {"id": "call_b", "name": "note", "arguments": {"text": "häl <lo>"}}]}}
]}`

// TestAimock has every adapter hold a conversation with a server that nobody here wrote, which
// plays all the providers, and meet the failures that it plays: refusals of each kind, garbage,
// connections that end. It runs where npm is.
func TestAimock(t *testing.T) {
	bin := npmtest.Install(t, npmtest.Aimock)
	file := filepath.Join(t.TempDir(), "said.json")
	require.NoError(t, os.WriteFile(file, []byte(conversation), 0o600))
	url := npmtest.Serve(t, bin("llmock"), "-p", "0", "-f", file, "--strict")
	chaos := func(method, body string) {
		req, err := http.NewRequestWithContext(t.Context(), method, url+"/__aimock/chaos", strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Less(t, resp.StatusCode, 300, "%s %s", method, body)
	}
	for api, base := range map[string]string{"chat": url + "/v1", "responses": url + "/v1", "anthropic": url, "gemini": url + "/v1beta"} {
		t.Run(api, func(t *testing.T) {
			model, err := Choice{API: api, BaseURL: base}.Open(Options{Key: "k"})
			require.NoError(t, err)
			attempts := 0
			name := map[string]string{"chat": "gpt-4o", "responses": "gpt-5.6-sol", "anthropic": "claude-opus-5", "gemini": "gemini-3.5-flash"}[api]
			client := &llm.Client{Model: model, Default: llm.Settings{Model: name}, Retry: llm.Retry{Attempts: 2, First: time.Microsecond},
				Record: func(_ context.Context, c llm.Call) error { attempts = c.Attempts; return nil }}
			holdsConversation(t, client)
			for text, want := range map[string]error{"rate": llm.ErrRateLimited, "key": llm.ErrAuth, "server": llm.ErrUnavailable, "form": llm.ErrRequest} {
				_, err := client.Complete(t.Context(), &llm.Request{Role: llm.Actor, Messages: []llm.Message{llm.UserText("refuse me: " + text)}})
				require.ErrorIs(t, err, want, text)
				again := want == llm.ErrRateLimited || want == llm.ErrUnavailable
				require.Equal(t, again, attempts == 2, "%s: %d attempts: %v", text, attempts, err)
			}
			for fault, want := range map[string][]error{
				"dropRate": {llm.ErrUnavailable}, "malformedRate": {llm.ErrBadReply}, "rateLimitRate": {llm.ErrRateLimited}, "disconnectRate": {llm.ErrUnavailable, llm.ErrBadReply},
			} {
				chaos(http.MethodPost, `{"`+fault+`": 1}`)
				client.Retry.Attempts = 1 // it asks to wait for a while
				_, err := client.Complete(t.Context(), &llm.Request{Role: llm.Actor, Messages: []llm.Message{llm.UserText("go")}})
				found := false
				for _, w := range want {
					found = found || errors.Is(err, w)
				}
				assert.True(t, found, "%s: %v", fault, err)
				chaos(http.MethodDelete, "")
			}
			holdsConversation(t, client) // it is back
		})
	}
}

// holdsConversation goes through three turns: two calls, a text with one, and the end.
func holdsConversation(t *testing.T, client *llm.Client) {
	t.Helper()
	r := &llm.Request{Role: llm.Actor, Messages: []llm.Message{llm.SystemText("You act."), llm.UserText("go")}, Tools: []llm.Tool{
		{Name: "click", Parameters: []byte(`{"type":"object","properties":{"x":{"type":"integer"},"y":{"type":"integer"}},"required":["x","y"]}`)},
		{Name: "note", Parameters: []byte(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)},
	}}
	var said []string
	for range 3 {
		got, err := client.Complete(t.Context(), r)
		require.NoError(t, err)
		said = append(said, got.Text)
		m := llm.Message{From: llm.Assistant, Calls: got.Calls, State: got.State}
		if got.Text != "" {
			m.Parts = []llm.Part{llm.Text(got.Text)}
		}
		r.Messages = append(r.Messages, m)
		for _, c := range got.Calls {
			said = append(said, c.Name+c.Arguments)
			r.Messages = append(r.Messages, llm.Message{From: llm.ToolReply, CallID: c.ID, Parts: []llm.Part{llm.Text("delivered")}})
		}
	}
	require.Equal(t, []string{"", `click{"x":7,"y":9}`, `note{"text":"häl <lo>"}`, "One more.", `click{"x":1,"y":2}`, "It is done."}, said)
}
