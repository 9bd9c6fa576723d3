package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/llm/wire"
)

// A form is how a provider writes what can come back of a request.
type form struct {
	key     wire.Secret
	failure func(status int, message string) string
	reply   func(content, finish string) string // a whole one, with what it took
	bare    func(content string) string         // one without
	text    func(text string) string            // content that says this
	call    func(id string) string              // content that calls a tool; without an ID if it is ""
	calls   func(contents string) string        // content of calls
	done    string                              // how a whole reply ends
	called  string                              // how one with calls ends
	nothing string                              // content that says nothing
	refused func() string                       // a whole reply in which the model declines
	paused  func() string                       // one that is to be continued; nil: the API has none
	checks  func(code string) string            // a whole reply that raises a check; nil: the API has none
	length  string                              // how one ends that was cut off
}

// forms are those of all adapters.
var forms = map[string]form{
	"chat": {
		key: "sk-test-0123456789abcdefghij",
		failure: func(status int, message string) string {
			return fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","param":null,"code":null}}`, message)
		},
		reply: func(content, finish string) string {
			return `{"id":"1","object":"chat.completion","choices":[{"index":0,"finish_reason":"` + finish + `","message":{"role":"assistant",` + content + `}}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`
		},
		bare: func(content string) string {
			return `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant",` + content + `}}]}`
		},
		text:  func(text string) string { return `"content":"` + text + `"` },
		calls: func(list string) string { return `"tool_calls":[` + list + `]` },
		call: func(id string) string {
			return field("id", id) + `"type":"function","function":{"name":"note","arguments":"{\"a\":1}"}}`
		},
		done: "stop", called: "tool_calls", nothing: `"content":null`, length: "length",
		refused: func() string {
			return `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":null,"refusal":"I decline."}}]}`
		},
	},
	"responses": {
		key: "sk-test-0123456789abcdefghij",
		failure: func(status int, message string) string {
			return fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","param":null,"code":"x"}}`, message)
		},
		reply: func(content, finish string) string {
			return `{"id":"resp_1","object":"response","status":"` + finish + `","incomplete_details":{"reason":"max_output_tokens"},"model":"m","output":[` + content + `],"usage":{"input_tokens":9,"output_tokens":2}}`
		},
		bare: func(content string) string {
			return `{"id":"resp_1","object":"response","status":"completed","model":"m","output":[` + content + `]}`
		},
		text: func(text string) string {
			return `{"type":"message","id":"msg","role":"assistant","status":"completed","content":[{"type":"output_text","text":"` + text + `","annotations":[]}]}`
		},
		calls: func(list string) string { return list },
		call: func(id string) string {
			return field("call_id", id) + `"type":"function_call","id":"fc","name":"note","arguments":"{\"a\":1}","status":"completed"}`
		},
		done: "completed", called: "completed", length: "incomplete",
		refused: func() string {
			return `{"id":"resp_1","object":"response","status":"completed","output":[{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"refusal","refusal":"I decline."}]}]}`
		},
		paused: func() string {
			return `{"id":"resp_1","object":"response","status":"completed","output":[{"type":"message","id":"m","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"I look.","annotations":[]}]}]}`
		},
		checks: func(code string) string {
			return `{"id":"resp_1","object":"response","status":"completed","output":[{"type":"computer_call","id":"c","call_id":"call_1","status":"completed","actions":[{"type":"wait"}],"pending_safety_checks":[{"id":"sc","code":"` + code + `","message":"Look."}]}]}`
		},
	},
	"anthropic": {
		key: "sk-ant-test-0123456789abcdefghij",
		failure: func(status int, message string) string {
			return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, map[int]string{
				400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large",
				429: "rate_limit_error", 500: "api_error", 504: "timeout_error", 529: "overloaded_error"}[status], message)
		},
		reply: func(content, finish string) string {
			return `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[` + content + `],"stop_reason":"` + finish + `","usage":{"input_tokens":9,"output_tokens":2}}`
		},
		bare: func(content string) string {
			return `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[` + content + `],"stop_reason":"end_turn"}`
		},
		text:  func(text string) string { return `{"type":"text","text":"` + text + `"}` },
		calls: func(list string) string { return list },
		call: func(id string) string {
			return field("id", id) + `"type":"tool_use","name":"note","input":{"a":1}}`
		},
		done: "end_turn", called: "tool_use", length: "max_tokens",
		refused: func() string {
			return `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"I decline."}],"stop_reason":"refusal","usage":{"input_tokens":9,"output_tokens":2}}`
		},
		paused: func() string {
			return `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"I look."}],"stop_reason":"pause_turn","usage":{"input_tokens":9,"output_tokens":2}}`
		},
	},
	"gemini": {
		key: "AIza-test-0123456789abcdefghij",
		failure: func(status int, message string) string {
			return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":%q}}`, status, message, map[int]string{
				400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}[status])
		},
		reply: func(content, finish string) string {
			return `{"candidates":[{"content":{"role":"model","parts":[` + content + `]},"finishReason":"` + finish + `"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2}}`
		},
		bare: func(content string) string {
			return `{"candidates":[{"content":{"role":"model","parts":[` + content + `]},"finishReason":"STOP"}]}`
		},
		text:  func(text string) string { return `{"text":"` + text + `"}` },
		calls: func(list string) string { return list },
		call: func(id string) string {
			return `{"functionCall":` + field("id", id) + `"name":"note","args":{"a":1}}}`
		},
		done: "STOP", called: "STOP", length: "MAX_TOKENS",
		refused: func() string {
			return `{"candidates":[{"content":{"role":"model","parts":[{"text":"I"}]},"finishReason":"SAFETY"}],"usageMetadata":{"promptTokenCount":9}}`
		},
		paused: func() string {
			return `{"candidates":[{"content":{"role":"model","parts":[{"text":"I look."}]},"finishReason":"CONTINUATION"}]}`
		},
		checks: func(code string) string {
			return `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"call_1","name":"click","args":{"x":1,"y":1,"safety_decision":{"decision":"` + code + `","explanation":"Look."}}}}]},"finishReason":"STOP"}]}`
		},
	},
}

// field begins an object with a field, if that has a value.
func field(name, value string) string {
	if value == "" {
		return "{"
	}
	return fmt.Sprintf(`{%q:%q,`, name, value)
}

// ask has an adapter send one request, which gets these answers: the last one again and again.
func ask(t *testing.T, api string, req *llm.Request, attempts int, answers ...http.HandlerFunc) (got *llm.Response, requests int, err error) {
	t.Helper()
	for len(answers) < attempts {
		answers = append(answers, answers[len(answers)-1])
	}
	server := llmtest.NewServer(t, answers...)
	model, err := Choice{API: api, BaseURL: server.URL}.Open(Options{Key: forms[api].key})
	require.NoError(t, err)
	client := &llm.Client{Model: model, Default: llm.Settings{Model: "m"}, Retry: llm.Retry{Attempts: attempts, First: time.Microsecond}}
	got, err = client.Complete(t.Context(), req)
	if err != nil {
		assert.NotContains(t, err.Error(), string(forms[api].key))
		assert.NotContains(t, err.Error(), "\n")
		assert.Less(t, len(err.Error()), 700)
	}
	return got, len(server.Requests()), err
}

func question() *llm.Request {
	return &llm.Request{Role: llm.Actor, Messages: []llm.Message{llm.UserText("hello")}, Computer: nil,
		Tools: []llm.Tool{{Name: "note", Description: "Keeps a fact.", Parameters: []byte(`{"type":"object"}`)}}}
}

// recordTo keeps calls.
func recordTo(calls *[]llm.Call) func(context.Context, llm.Call) error {
	return func(_ context.Context, c llm.Call) error {
		*calls = append(*calls, c)
		return nil
	}
}

// A never is a way to nobody.
type never func()

func (n never) RoundTrip(*http.Request) (*http.Response, error) {
	n()
	return nil, errors.New("nothing is to be sent")
}

func each(t *testing.T, test func(t *testing.T, api string, f form)) {
	require.Equal(t, APIs(), slices.Sorted(maps.Keys(forms)), "every adapter is tried")
	for api, f := range forms {
		t.Run(api, func(t *testing.T) { test(t, api, f) })
	}
}

// TestBadStatus: every status of a failure, in the form in which each provider writes it, is
// an error of its kind, tried again where that can help, that another model may take over
// from or may not; it says what the provider said, and neither the key nor more than a line.
func TestBadStatus(t *testing.T) {
	each(t, func(t *testing.T, api string, f form) {
		for status, want := range map[int]struct {
			kind   error
			again  bool
			others bool // another model may take over
		}{
			400: {llm.ErrRequest, false, false}, 401: {llm.ErrAuth, false, true}, 402: {llm.ErrQuota, false, true}, 403: {llm.ErrAuth, false, true},
			404: {llm.ErrRequest, false, false}, 405: {llm.ErrRequest, false, false}, 408: {llm.ErrUnavailable, true, true}, 409: {llm.ErrUnavailable, true, true}, 413: {llm.ErrRequest, false, false},
			422: {llm.ErrRequest, false, false}, 429: {llm.ErrRateLimited, true, true}, 500: {llm.ErrUnavailable, true, true}, 502: {llm.ErrUnavailable, true, true},
			503: {llm.ErrUnavailable, true, true}, 504: {llm.ErrUnavailable, true, true}, 529: {llm.ErrUnavailable, true, true},
		} {
			for name, body := range map[string]string{
				"its form": f.failure(status, "no, "+string(f.key)+"\nno"), "no body": "", "text": "oops " + string(f.key), "a page": "<!doctype html><html><title>Proxy</title></html>",
			} {
				what := fmt.Sprintf("%d, %s", status, name)
				_, n, err := ask(t, api, question(), 2, llmtest.Status(status, "", body))
				require.ErrorIs(t, err, want.kind, what)
				e := require.New(t)
				var failed *llm.Error
				e.ErrorAs(err, &failed, what)
				e.Equal(status, failed.Status, what)
				e.Equal(want.again, failed.Retry, what)
				e.Equal(map[bool]int{true: 2, false: 1}[want.again], n, what)
				s := llm.Settings{Model: "m", Fallback: []string{"n"}}
				e.Equal(map[bool]int{true: 1, false: 0}[want.others], s.Left("m", err), what)
				if name == "its form" {
					e.Contains(err.Error(), "no, [secret] no", what)
				}
				if name == "a page" {
					e.Contains(err.Error(), "a web page", what)
				}
			}
		}
	})
}

// TestBadReplies: whatever can come with a good status in place of a reply is an error that
// says what it is, or what it can be used as: never half a call.
func TestBadReplies(t *testing.T) {
	ok := func(body string) http.HandlerFunc { return llmtest.Status(200, "", body) }
	each(t, func(t *testing.T, api string, f form) {
		refuses := func(name string, kind error, text string, answer http.HandlerFunc) {
			t.Helper()
			got, _, err := ask(t, api, question(), 2, answer)
			require.ErrorIs(t, err, kind, name)
			require.ErrorContains(t, err, text, name)
			require.Nil(t, got, name)
		}
		refuses("a stream cut off", llm.ErrBadReply, "broke off", llmtest.HalfReply())
		refuses("hangs up", llm.ErrUnavailable, "EOF", llmtest.HangUp())
		refuses("a page of a proxy", llm.ErrBadReply, "but a web page", llmtest.Status(200, "Content-Type: text/html", "<html><body>Sign in</body></html>"))
		refuses("nothing", llm.ErrBadReply, "but nothing", ok(""))
		refuses("half of JSON", llm.ErrBadReply, "it is no", ok(`{"id":"1","outp`))
		refuses("JSON of another kind", llm.ErrBadReply, "", ok(`[1]`))
		refuses("an object of another kind", llm.ErrBadReply, "", ok(`{"hello":1}`))
		refuses("an error with status 200", llm.ErrUnavailable, "provider is down", ok(`{"error":{"message":"provider is down"}}`))
		refuses("an empty text", llm.ErrBadReply, "empty", ok(f.reply(f.text(""), f.done)))
		refuses("nothing in it", llm.ErrBadReply, "", ok(f.reply(f.nothing, f.done)))
		if !t.Failed() { // a server that is back answers the second time
			got, n, err := ask(t, api, question(), 2, llmtest.HalfReply(), ok(f.reply(f.text("ok"), f.done)))
			require.NoError(t, err)
			require.Equal(t, "ok", got.Text)
			require.Equal(t, 2, n)
		}
		got, _, err := ask(t, api, question(), 1, ok(f.reply(f.text(strings.Repeat("x", 1<<20)), f.done)))
		require.NoError(t, err)
		require.Len(t, got.Text, 1<<20, "1 MB is read; that 10 MB are is gemini.TestTenMegabytes")
		got, n, err := ask(t, api, question(), 2, ok(f.reply(f.text(strings.Repeat("x", 16<<20)), f.done)))
		require.ErrorIs(t, err, llm.ErrBadReply)
		require.ErrorContains(t, err, "longer than 16777216 bytes")
		require.Nil(t, got)
		require.Equal(t, 1, n, "the next would be as long")

		var calls []llm.Call
		server := llmtest.NewServer(t, ok(f.bare(f.text("ok"))))
		model, err := Choice{API: api, BaseURL: server.URL}.Open(Options{Key: f.key})
		require.NoError(t, err)
		client := &llm.Client{Model: model, Default: llm.Settings{Model: "m"}, Record: recordTo(&calls)}
		_, err = client.Complete(t.Context(), question())
		require.NoError(t, err, "no usage")
		require.Positive(t, calls[0].Usage.Input, "what is not counted is estimated, so that a budget ends")
		require.Positive(t, calls[0].Usage.Output)

		got, _, err = ask(t, api, question(), 1, ok(f.reply(f.calls(f.call("call_1")), f.length)))
		require.True(t, err != nil || len(got.Calls) == 0, "a call in a reply that was cut off is none: %+v", got)

		got, _, err = ask(t, api, question(), 1, ok(f.refused()))
		if err != nil {
			require.ErrorIs(t, err, llm.ErrBadReply, "a refusal")
		} else {
			require.Contains(t, []string{llm.FinishRefusal, llm.FinishFilter}, got.Finish, "a refusal")
			require.Empty(t, got.Calls)
		}
		if f.paused != nil {
			got, _, err = ask(t, api, question(), 1, ok(f.paused()))
			require.NoError(t, err)
			require.Equal(t, llm.FinishPaused, got.Finish)
			require.Equal(t, "I look.", got.Text)
		}
	})
}

// TestBadCalls: calls without an ID, and two with one, can be told apart and answered, or are
// refused; nothing of a reply with such a call is done that the provider could not be told of.
func TestBadCalls(t *testing.T) {
	each(t, func(t *testing.T, api string, f form) {
		for name, list := range map[string]string{
			"one without an ID": f.call(""), "two without": f.call("") + "," + f.call(""), "two with one ID": f.call("call_1") + "," + f.call("call_1"),
			"one with the ID of another's place": f.call("call_2") + "," + f.call(""),
		} {
			got, _, err := ask(t, api, question(), 1, llmtest.Status(200, "", f.reply(f.calls(list), f.called)))
			if err != nil {
				require.ErrorIs(t, err, llm.ErrBadReply, name)
				t.Logf("%s: %v", name, err)
				continue
			}
			ids := map[string]bool{}
			for _, c := range got.Calls {
				require.NotEmpty(t, c.ID, name)
				require.False(t, ids[c.ID], "%s: %q twice", name, c.ID)
				ids[c.ID] = true
			}
			require.NotEmpty(t, ids, name)
			t.Logf("%s: %d calls", name, len(ids))
		}
	})
}

// TestNewCheck: a check of a code that nobody knows yet is one that a person has to accept.
func TestNewCheck(t *testing.T) {
	each(t, func(t *testing.T, api string, f form) {
		if f.checks == nil {
			t.Log("the API has none")
			return
		}
		for _, code := range []string{"brand_new", "BLOCKED", "a b\\u00a0c"} {
			req := question()
			req.Computer = &llm.Computer{}
			got, _, err := ask(t, api, req, 1, llmtest.Status(200, "", f.checks(code)))
			require.NoError(t, err)
			require.Len(t, got.Calls, 1)
			require.Len(t, got.Calls[0].Checks, 1, code)
			require.NotEmpty(t, got.Calls[0].Checks[0].ID)
			require.Equal(t, "Look.", got.Calls[0].Checks[0].Message)
		}
	})
}

// TestForeignKeys: a key of one provider is sent to no other by any adapter: it is told of
// before anything is sent.
func TestForeignKeys(t *testing.T) {
	keys := map[string]wire.Secret{"OpenAI": "sk-proj-0123", "Anthropic": "sk-ant-0123", "Google": "AIza0123", "OpenRouter": "sk-or-v1-0123", "Groq": "gsk_0123", "xAI": "xai-0123", "Hugging Face": "hf_0123"}
	require.Len(t, keys, len(table.Provider))
	each(t, func(t *testing.T, api string, _ form) {
		for _, p := range table.Provider {
			for whose, key := range keys {
				sent := false
				_, err := Choice{API: api, BaseURL: p.BaseURL}.Open(Options{Key: key, HTTP: &http.Client{Transport: never(func() { sent = true })}})
				if whose == p.Name {
					require.NoError(t, err)
					continue
				}
				require.ErrorIs(t, err, llm.ErrAuth, "%s at %s", whose, p.Name)
				require.ErrorContains(t, err, "the key is one of "+whose)
				require.NotContains(t, err.Error(), "0123")
				require.False(t, sent)
			}
		}
	})
}
