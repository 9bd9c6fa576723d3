package anthropic_test

import (
	"encoding/json"
	"fmt"
	"image"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/anthropic"
	"desktop-agent/llm/llmtest"
	"desktop-agent/llm/wire"
)

const key = "sk-ant-test-0123456789abcdefghij"

func request() *llm.Request {
	return &llm.Request{Role: llm.Actor, Model: "claude-opus-5", Messages: []llm.Message{llm.UserText("hello")}}
}

// fast is a client that does not wait between attempts.
func fast(s *llmtest.Server) *llm.Client {
	return &llm.Client{
		Model:   &anthropic.Endpoint{BaseURL: s.URL, Key: key},
		Default: llm.Settings{Model: "claude-opus-5"},
		Retry:   llm.Retry{Attempts: 3, First: time.Microsecond},
	}
}

// message answers with blocks.
func message(stop string, blocks ...any) http.HandlerFunc {
	if blocks == nil {
		blocks = []any{}
	}
	data, err := json.Marshal(map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5-20260801", "content": blocks, "stop_reason": stop,
		"usage": map[string]any{"input_tokens": 10, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 50, "output_tokens": 7}})
	if err != nil {
		panic(err)
	}
	return llmtest.Status(200, "", string(data))
}

func answer(text string) http.HandlerFunc { return message("end_turn", says(text)) }

// failure answers with an error in Anthropic's form.
func failure(status int, headers, kind, text string) http.HandlerFunc {
	data, err := json.Marshal(map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": text}, "request_id": "req_1"})
	if err != nil {
		panic(err)
	}
	return llmtest.Status(status, headers, string(data))
}

// TestBadEndpoints holds that each failure comes as the kind that callers know.
func TestBadEndpoints(t *testing.T) {
	garbage := llmtest.Status(200, "", `{"content": [{"te`)
	overloaded := failure(529, "", "overloaded_error", "Overloaded")
	times := func(n int, h http.HandlerFunc) []http.HandlerFunc { return slices.Repeat([]http.HandlerFunc{h}, n) }
	for _, tt := range []struct {
		name     string
		answers  []http.HandlerFunc
		want     error
		text     string
		requests int
	}{
		{"refuses the key", times(1, failure(401, "", "authentication_error", "invalid x-api-key "+key)), llm.ErrAuth, "invalid x-api-key [secret]", 1},
		{"no rights", times(1, failure(403, "", "permission_error", "no")), llm.ErrAuth, "status 403; no", 1},
		{"no credit", times(1, failure(400, "", "invalid_request_error", "Your credit balance is too low to access the Anthropic API.")), llm.ErrQuota, "credit balance", 1},
		{"billing", times(1, failure(402, "", "billing_error", "pay")), llm.ErrQuota, "pay", 1},
		{"no such model", times(1, failure(404, "", "not_found_error", "model: claude-opus-9")), llm.ErrRequest, "claude-opus-9", 1},
		{"too large", times(1, failure(413, "", "request_too_large", "Request exceeds the maximum size")), llm.ErrRequest, "maximum size", 1},
		{"malformed", times(1, failure(400, "", "invalid_request_error", "messages: at least one message is required")), llm.ErrRequest, "at least one", 1},
		{"rate, told to wait too long", times(1, failure(429, "retry-after: 3600\nanthropic-ratelimit-requests-remaining: 0", "rate_limit_error", "slow down")), llm.ErrRateLimited, "it asks to wait 1h0m0s", 1},
		{"rate, to the end", times(3, failure(429, "", "rate_limit_error", "slow down")), llm.ErrRateLimited, "slow down", 3},
		{"overloaded to the end", times(3, overloaded), llm.ErrUnavailable, "status 529; Overloaded", 3},
		{"overloaded once", []http.HandlerFunc{overloaded, answer("ok")}, nil, "", 2},
		{"500 and 504", []http.HandlerFunc{failure(500, "", "api_error", "oops"), failure(504, "", "timeout_error", "late"), answer("ok")}, nil, "", 3},
		{"an error with status 200", times(3, llmtest.Status(200, "", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)), llm.ErrUnavailable, "Overloaded", 3},
		{"garbage", times(3, garbage), llm.ErrBadReply, "it is no Messages reply but", 3},
		{"Chat Completions", times(3, llmtest.Completion("ok")), llm.ErrBadReply, "it is no Messages reply but", 3},
		{"blocks of another kind", times(3, llmtest.Status(200, "", `{"content":[7]}`)), llm.ErrBadReply, "no list of blocks", 3},
		{"a text as content", times(3, llmtest.Status(200, "", `{"content":"ok"}`)), llm.ErrBadReply, "no Messages reply", 3},
		{"negative usage", times(3, llmtest.Status(200, "", `{"content":[],"usage":{"input_tokens":-5}}`)), llm.ErrBadReply, "usage cannot be", 3},
		{"a web page", times(1, llmtest.Status(200, "Content-Type: text/html", "<!doctype html>")), llm.ErrBadReply, "a web page", 1},
		{"a proxy's page", times(3, llmtest.Status(502, "Content-Type: text/html", "<html>Bad gateway")), llm.ErrUnavailable, "status 502; a web page", 3},
		{"nothing", times(3, llmtest.Status(200, "", "")), llm.ErrBadReply, "but nothing", 3},
		{"half a reply", times(3, llmtest.HalfReply()), llm.ErrBadReply, "the connection broke off", 3},
		{"hangs up", times(3, llmtest.HangUp()), llm.ErrUnavailable, "EOF", 3},
		{"no blocks", times(3, message("end_turn")), llm.ErrBadReply, "the reply is empty", 3},
		{"redirects", times(1, llmtest.Status(308, "Location: https://elsewhere.example/v1", "")), llm.ErrRequest, "it redirects to https://elsewhere.example/v1", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := llmtest.NewServer(t, tt.answers...)
			resp, err := fast(server).Complete(t.Context(), request())
			assert.Len(t, server.Requests(), tt.requests)
			if tt.want == nil {
				require.NoError(t, err)
				assert.Equal(t, "ok", resp.Text)
				return
			}
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, tt.text)
			assert.NotContains(t, fmt.Sprintf("%+v %#v", err, err), key)
			assert.Less(t, len(err.Error()), 800)
		})
	}
}

// TestEndpointIsModel holds that an endpoint is a model, alone and behind a client.
func TestEndpointIsModel(t *testing.T) {
	alone := func(answers ...http.HandlerFunc) func(testing.TB) llm.Model {
		return func(t testing.TB) llm.Model {
			return &anthropic.Endpoint{BaseURL: llmtest.NewServer(t, answers...).URL, Key: key}
		}
	}
	behind := func(answers ...http.HandlerFunc) func(testing.TB) llm.Model {
		return func(t testing.TB) llm.Model { return fast(llmtest.NewServer(t, answers...)) }
	}
	acts := message("tool_use", thinking("hm"), does("toolu_1", "left_click", at(1, 2)))
	failures := func(of func(...http.HandlerFunc) func(testing.TB) llm.Model) map[string]llmtest.Failure {
		return map[string]llmtest.Failure{
			"key":     {New: of(failure(401, "", "authentication_error", "no")), Want: llm.ErrAuth},
			"credit":  {New: of(failure(402, "", "billing_error", "no")), Want: llm.ErrQuota},
			"rate":    {New: of(slices.Repeat([]http.HandlerFunc{failure(429, "", "rate_limit_error", "slow")}, 3)...), Want: llm.ErrRateLimited},
			"broken":  {New: of(slices.Repeat([]http.HandlerFunc{llmtest.HangUp()}, 3)...), Want: llm.ErrUnavailable},
			"refused": {New: of(failure(404, "", "not_found_error", "model")), Want: llm.ErrRequest},
			"half":    {New: of(slices.Repeat([]http.HandlerFunc{llmtest.HalfReply()}, 3)...), Want: llm.ErrBadReply},
			"no URL":  {New: func(testing.TB) llm.Model { return &anthropic.Endpoint{} }, Want: llm.ErrRequest},
		}
	}
	full := func() *llm.Request {
		half := 0.5
		r := request()
		r.Model, r.Temperature, r.MaxTokens = "claude-opus-5-5", &half, 99
		r.Computer = &llm.Computer{Size: image.Pt(64, 64)}
		r.Messages = append(r.Messages, llm.Message{From: llm.Assistant, Parts: []llm.Part{llm.Text("hi")}, Calls: []llm.ToolCall{{ID: "1", Name: "click", Arguments: "{}"}}},
			llm.Message{From: llm.ToolReply, CallID: "1", Parts: []llm.Part{llm.Text("done")}},
			llm.Message{From: llm.User, Parts: []llm.Part{llm.Text("see"), llm.Image{Data: []byte("p"), Type: "image/png"}}})
		r.Tools = []llm.Tool{{Name: "click", Description: "Click.", Parameters: []byte(`{"type":"object"}`)}}
		return r
	}
	for name, s := range map[string]*llmtest.Subject{
		"text":  {New: alone(slices.Repeat([]http.HandlerFunc{answer("ok")}, 8)...), Request: request, Fail: failures(alone)},
		"calls": {New: alone(slices.Repeat([]http.HandlerFunc{acts}, 8)...), Request: full, Hang: alone(llmtest.HangInReply())},
		"behind a client": {New: behind(slices.Repeat([]http.HandlerFunc{answer("ok")}, 8)...), Request: full, Hang: behind(llmtest.HangRequest()),
			Empty: behind(answer(""), answer(" "), message("end_turn")), Fail: failures(behind)},
	} {
		s.Calls, s.Counted = 8, true
		if s.Hang == nil {
			s.Hang = alone(llmtest.HangRequest())
		}
		t.Run(name, func(t *testing.T) { llmtest.TestModel(t, s) })
	}
}

// TestNothingComesFromTheEnvironment holds that the library reads no key, address or
// profile of the machine, and tells nothing of it.
func TestNothingComesFromTheEnvironment(t *testing.T) {
	for _, name := range []string{"API_KEY", "AUTH_TOKEN", "PROFILE", "FEDERATION_RULE_ID", "ORGANIZATION_ID", "IDENTITY_TOKEN"} {
		t.Setenv("ANTHROPIC_"+name, "from-environment")
	}
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1/from-environment")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Custom: from-environment")
	for _, k := range []wire.Secret{"", key} {
		server := llmtest.NewServer(t, answer("ok"))
		e := &anthropic.Endpoint{BaseURL: server.URL, Key: k, Headers: map[string]wire.Secret{"X-Title": "desktop"}}
		_, err := e.Complete(t.Context(), request())
		require.NoError(t, err)
		h := server.Requests()[0].Header
		assert.NotContains(t, fmt.Sprint(h), "from-environment")
		assert.Equal(t, string(k), h.Get("X-Api-Key"))
		assert.Empty(t, h.Values("Authorization"))
		assert.Equal(t, "desktop", h.Get("X-Title"))
		assert.Equal(t, "desktop-agent", h.Get("User-Agent"))
		for name := range h {
			assert.NotContains(t, name, "Stainless", "the library would tell of the machine")
		}
	}
}

// TestWhereRequestsGo holds that a base URL may have a version, a path and a query, that
// no log shows a secret.
func TestWhereRequestsGo(t *testing.T) {
	for path, want := range map[string]string{"": "/v1/messages", "/": "/v1/messages", "/v1": "/v1/messages", "/v1/": "/v1/messages", "/proxy/anthropic": "/proxy/anthropic/v1/messages", "/a/v1?k=2": "/a/v1/messages"} {
		server := llmtest.NewServer(t, answer("ok"))
		_, err := (&anthropic.Endpoint{BaseURL: strings.TrimSuffix(server.URL, "/v1") + path}).Complete(t.Context(), request())
		require.NoError(t, err)
		assert.Equal(t, want, server.Requests()[0].Path, path)
		assert.Equal(t, strings.Contains(path, "k=2"), strings.Contains(server.Requests()[0].Query, "k=2"))
	}
	_, err := (&anthropic.Endpoint{BaseURL: "localhost"}).Complete(t.Context(), request())
	require.ErrorContains(t, err, "it looks like https://api.anthropic.com")
	var log strings.Builder
	e := &anthropic.Endpoint{BaseURL: "https://user:" + key + "@api.anthropic.com/v1?k=" + key, Key: key}
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "endpoint", e)
	assert.NotContains(t, log.String(), key)
	assert.Contains(t, log.String(), "https://api.anthropic.com/v1")
}

// TestModels holds that the names of models are listed.
func TestModels(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Status(200, "", `{"data":[{"type":"model","id":"claude-b"},{"type":"model","id":"claude-a"}],"has_more":false}`), failure(404, "", "not_found_error", "no"))
	e := &anthropic.Endpoint{BaseURL: server.URL, Key: key}
	got, err := e.Models(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"claude-a", "claude-b"}, got)
	assert.Equal(t, "/v1/models", server.Requests()[0].Path)
	_, err = e.Models(t.Context())
	require.ErrorIs(t, err, llm.ErrRequest)
}

// TestAbout holds which model takes which tool, however its name is written.
func TestAbout(t *testing.T) {
	for name, want := range map[string]struct {
		tool  string
		bound bool
		side  int
		known bool
	}{
		"claude-opus-5-5":                     {"computer_toolset_20260801", true, 2576, true},
		"claude-haiku-5-5-20260819":           {"computer_toolset_20260801", true, 2576, true},
		"claude-opus-5":                       {"computer_toolset_20260801", false, 2576, true},
		"anthropic/claude-sonnet-5.5":         {"computer_toolset_20260801", true, 2576, true},
		"claude-fable-5-1":                    {"computer_toolset_20260801", false, 2576, true},
		"claude-opus-4-8":                     {"computer_toolset_20260801", false, 2576, true},
		"claude-opus-4-7":                     {"computer_20251124", false, 2576, true},
		"claude-opus-4-5-20251101":            {"computer_20251124", false, 1568, true},
		"us.anthropic.claude-sonnet-4-6-v1:0": {"computer_20251124", false, 1568, true},
		"claude-sonnet-4-5@20250929":          {"computer_20250124", false, 1568, true},
		"claude-haiku-4-5":                    {"computer_20250124", false, 1568, true},
		"claude-opus-4-1-20250805":            {"computer_20250124", false, 1568, true},
		"claude-sonnet-4-20250514":            {"computer_20250124", false, 1568, true},
		"claude-opus-55":                      {"computer_toolset_20260801", true, 2576, false},
		"claude-next":                         {"computer_toolset_20260801", true, 2576, false},
		"some-gateway-alias":                  {"computer_toolset_20260801", false, 2576, false},
	} {
		f, known := anthropic.About(name)
		assert.Equal(t, want.known, known, name)
		assert.Equal(t, want.tool, f.Tool, name)
		assert.Equal(t, want.bound, f.AppendOnly, name)
		assert.Equal(t, want.side, f.Side, name)
	}
}

func textLogger(w *strings.Builder) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }
