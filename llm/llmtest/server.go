package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"desktop-agent/llm"
)

// A Server speaks Chat Completions on a loopback address, with answers from a
// script. A request for which there is no answer fails the test.
type Server struct {
	URL string // the base URL

	t        testing.TB
	mu       sync.Mutex
	answers  []http.HandlerFunc
	requests []ServerRequest
}

// A ServerRequest is what came over the wire.
type ServerRequest struct {
	Method, Path string
	Query        string
	Header       http.Header
	Body         string
}

// JSON decodes the body into v and fails the test if it is no JSON.
func (r ServerRequest) JSON(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.Body), v); err != nil {
		t.Fatalf("request body: %v: %.200s", err, r.Body)
	}
}

// NewServer starts a server that gives the answers in order, and stops it at
// the end of the test.
func NewServer(t testing.TB, answers ...http.HandlerFunc) *Server {
	s := &Server{t: t, answers: answers}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		server.CloseClientConnections() // so that a hanging answer ends
		server.Close()
	})
	s.URL = server.URL + "/v1"
	return s
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a client that stops in mid-request is seen in what is there
	s.mu.Lock()
	s.requests = append(s.requests, ServerRequest{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Clone(), string(body)})
	n := len(s.requests)
	var answer http.HandlerFunc
	if len(s.answers) > 0 {
		answer, s.answers = s.answers[0], s.answers[1:]
	}
	s.mu.Unlock()
	if answer == nil {
		s.t.Errorf("llmtest.Server: request %d (%s %s), but there is no answer left for it", n, r.Method, r.URL.Path)
		answer = Status(http.StatusTeapot, "", "no answer left")
	}
	answer(w, r)
}

// Requests returns what came so far.
func (s *Server) Requests() []ServerRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ServerRequest(nil), s.requests...)
}

// Left returns how many answers were not used yet.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.answers)
}

// Completion answers with a good reply of this text.
func Completion(text string) http.HandlerFunc {
	return CompletionOf(llm.Response{Text: text, Finish: "stop", Usage: llm.Usage{Input: 100, Cached: 40, Output: 10}})
}

// CompletionOf answers with a good reply: the message, in the form of the wire.
func CompletionOf(r llm.Response) http.HandlerFunc {
	message := map[string]any{"role": "assistant", "content": r.Text}
	var calls []map[string]any
	for _, c := range r.Calls {
		calls = append(calls, map[string]any{"id": c.ID, "type": "function",
			"function": map[string]any{"name": c.Name, "arguments": c.Arguments}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return jsonAnswer(map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": r.Model,
		"choices": []any{map[string]any{"index": 0, "finish_reason": r.Finish, "message": message}},
		"usage": map[string]any{
			"prompt_tokens": r.Usage.Input, "completion_tokens": r.Usage.Output, "total_tokens": r.Usage.Input + r.Usage.Output,
			"prompt_tokens_details": map[string]any{"cached_tokens": r.Usage.Cached}},
	})
}

func jsonAnswer(v any) http.HandlerFunc {
	data, err := json.Marshal(v)
	if err != nil {
		return Status(http.StatusInternalServerError, "", err.Error())
	}
	return Status(http.StatusOK, "", string(data))
}

// Status answers with a status and a body. The headers are lines of "Name:
// value"; the content type is JSON if they do not say another.
func Status(code int, headers, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for line := range strings.Lines(headers) {
			if name, value, ok := strings.Cut(line, ":"); ok {
				w.Header().Set(strings.TrimSpace(name), strings.TrimSpace(value))
			}
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body) // the client may be gone
	}
}

// Refusal answers with a status and an error in OpenAI's form.
func Refusal(code int, headers, message, param string) http.HandlerFunc {
	data, err := json.Marshal(map[string]any{"error": map[string]any{
		"message": message, "type": "invalid_request_error", "param": param, "code": nil}})
	if err != nil {
		return Status(http.StatusInternalServerError, "", err.Error())
	}
	return Status(code, headers, string(data))
}

// NoChoices answers with a reply without a choice.
func NoChoices() http.HandlerFunc {
	return jsonAnswer(map[string]any{"id": "1", "object": "chat.completion", "model": "m", "choices": []any{},
		"usage": map[string]any{"prompt_tokens": 7, "completion_tokens": 0}})
}

// HalfReply promises a good reply and closes the connection in its middle.
func HalfReply() http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		const whole = `{"id":"1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hello"}}]}`
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(len(whole)))
		_, _ = io.WriteString(w, whole[:len(whole)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// HangUp closes the connection without an answer.
func HangUp() http.HandlerFunc {
	return func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
}

// HangRequest gives no answer until the client goes away.
func HangRequest() http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
}

// HangInReply sends the head and the begin of a reply, and then nothing until
// the client goes away.
func HangInReply() http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"1",`)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}
