package gemini_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/gemini"
	"desktop-agent/llm/llmtest"
)

func TestReplies(t *testing.T) {
	used := llm.Usage{Input: 1000, Cached: 10, Output: 25} // thoughts are written too
	state := func(data string) *llm.State {
		return &llm.State{API: gemini.API, Model: "gemini-3.5-flash", Data: data}
	}
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		want   llm.Response
	}{
		{"text in two parts", parts("STOP", say("hé "), say("you")), llm.Response{Text: "hé you", Finish: llm.FinishStop}},
		{"a signed text", parts("STOP", `{ "text" : "a", "thoughtSignature" : "c2ln" }`), llm.Response{Text: "a", Finish: llm.FinishStop, State: state(`[{"text":"a","thoughtSignature":"c2ln"}]`)}},
		{"a thought is no text", parts("STOP", `{"text":"hm","thought":true}`, say("a")), llm.Response{Text: "a", Finish: llm.FinishStop}},
		{"a call, its arguments untouched", parts("STOP", signed("f1", "click", `{"y":1.50,"x":1e2}`, "a-_=")),
			llm.Response{Finish: llm.FinishCalls, Calls: []llm.ToolCall{{ID: "f1", Name: "click", Arguments: `{"y":1.50,"x":1e2}`}},
				State: state(`[{"functionCall":{"id":"f1","name":"click","args":{"y":1.50,"x":1e2}},"thoughtSignature":"a-_="}]`)}},
		{"a gateway's word for its end", parts("FUNCTION_CALL", call("f1", "a", `{}`)),
			llm.Response{Finish: llm.FinishCalls, Calls: []llm.ToolCall{{ID: "f1", Name: "a", Arguments: `{}`}}, State: state(`[{"functionCall":{"id":"f1","name":"a","args":{}}}]`)}},
		{"no arguments", parts("STOP", `{"functionCall":{"name":"take_screenshot"}}`, `{"functionCall":{"name":"b","args":null}}`),
			llm.Response{Finish: llm.FinishCalls, Calls: []llm.ToolCall{{ID: "call_1", Name: "take_screenshot", Arguments: `{}`}, {ID: "call_2", Name: "b", Arguments: `{}`}},
				State: state(`[{"functionCall":{"name":"take_screenshot"}},{"functionCall":{"name":"b","args":null}}]`)}},
		{"one ID twice", parts("STOP", call("call_2", "a", `{}`), call("", "b", `{}`), call("call_2", "c", `{}`)),
			llm.Response{Finish: llm.FinishCalls, Calls: []llm.ToolCall{{ID: "call_2", Name: "a", Arguments: `{}`}, {ID: "call_2_again", Name: "b", Arguments: `{}`}, {ID: "call_2_again_again", Name: "c", Arguments: `{}`}},
				State: state(`[{"functionCall":{"id":"call_2","name":"a","args":{}}},{"functionCall":{"name":"b","args":{}}},{"functionCall":{"id":"call_2","name":"c","args":{}}}]`)}},
		{"a part of a new kind", parts("STOP", `{"hologram":{"x":1}}`, say("a")), llm.Response{Text: "a", Finish: llm.FinishStop}},
		{"cut off", parts("MAX_TOKENS", say("half")), llm.Response{Text: "half", Finish: llm.FinishLength}},
		{"all went into thoughts", parts("MAX_TOKENS"), llm.Response{Finish: llm.FinishLength}},
		{"withheld in its middle", parts("SAFETY", say("half")), llm.Response{Text: "half", Finish: llm.FinishFilter}},
		{"recited", parts("RECITATION", say("half")), llm.Response{Text: "half", Finish: llm.FinishFilter}},
		{"to be continued", parts("CONTINUATION", say("half")), llm.Response{Text: "half", Finish: llm.FinishPaused}},
		{"a reason of a newer version", parts("TIRED", say("a")), llm.Response{Text: "a", Finish: "tired"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := ask(t, question(), tt.answer)
			require.NoError(t, err)
			tt.want.Model, tt.want.Usage = "gemini-3.5-flash", used
			assert.Equal(t, tt.want, *got)
		})
	}
}

func TestUsageThatCannotBe(t *testing.T) {
	for usage, want := range map[string]llm.Usage{
		`{"promptTokenCount":5,"cachedContentTokenCount":9,"candidatesTokenCount":-3}`:   {Input: 5, Cached: 5},
		`{"promptTokenCount":-5,"cachedContentTokenCount":9,"thoughtsTokenCount":7}`:     {Output: 7},
		`{"promptTokenCount":5,"toolUsePromptTokenCount":6,"cachedContentTokenCount":1}`: {Input: 11, Cached: 1},
		`{}`: {},
	} {
		got, _, err := ask(t, question(), llmtest.Status(200, "", `{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":`+usage+`}`))
		require.NoError(t, err)
		assert.Equal(t, want, got.Usage, usage)
		assert.Equal(t, "gemini-3.5-flash", got.Model, "where the reply names none")
	}
}

// What is no reply, or one whose calls must not be done.
func TestRepliesThatAreNone(t *testing.T) {
	body := func(text string) http.HandlerFunc { return llmtest.Status(200, "", text) }
	click := call("f1", "click", `{"x":1,"y":2}`)
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		kind   error
		detail string
		retry  bool
	}{
		{"blocked", body(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT","blockReasonMessage":"no"},"usageMetadata":{"promptTokenCount":7}}`), llm.ErrRequest, "the provider blocked the prompt: PROHIBITED_CONTENT: no", false},
		{"no candidates", body(`{"usageMetadata":{"promptTokenCount":7}}`), llm.ErrBadReply, "the reply has no candidates", true},
		{"nothing of anything", body(`{}`), llm.ErrBadReply, "the reply has no candidates", true},
		{"malformed", parts("MALFORMED_FUNCTION_CALL"), llm.ErrBadReply, "could not be read by the provider: MALFORMED_FUNCTION_CALL", true},
		{"malformed, with a message", body(`{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: print()"}]}`), llm.ErrBadReply, "MALFORMED_FUNCTION_CALL: Malformed function call: print()", true},
		{"malformed, but with a call", parts("MALFORMED_FUNCTION_CALL", click), llm.ErrBadReply, "could not be read", true},
		{"unexpected", parts("UNEXPECTED_TOOL_CALL", click), llm.ErrBadReply, "could not be read", true},
		{"withheld", parts("SAFETY"), llm.ErrBadReply, "the provider withheld the reply: SAFETY", false},
		{"withheld, but with a call", parts("PROHIBITED_CONTENT", say("a"), click), llm.ErrBadReply, "withheld", false},
		{"cut off among calls", parts("MAX_TOKENS", click), llm.ErrBadReply, "cut off among its calls", false},
		{"ended among calls", parts("OTHER", click), llm.ErrBadReply, "the reply ended among its calls, so none of them is done: OTHER", true},
		{"a signature is missed", parts("MISSING_THOUGHT_SIGNATURE"), llm.ErrRequest, "misses a signature", false},
		{"a call without a name", parts("STOP", `{"functionCall":{"args":{}}}`), llm.ErrBadReply, "without a name", true},
		{"a call that is none", parts("STOP", `{"functionCall":7}`), llm.ErrBadReply, "cannot be read", true},
		{"a part that is none", parts("STOP", `7`), llm.ErrBadReply, "cannot be read", true},
		{"a number that is none", parts("STOP", call("f1", "click", `{"x":NaN}`)), llm.ErrBadReply, "it is no Gemini reply but", true},
		{"counts that are none", body(`{"candidates":[{"content":{"parts":[]}}],"usageMetadata":{"promptTokenCount":"many"}}`), llm.ErrBadReply, "it is no Gemini reply", true},
		{"half", body(`{"candidates":[{"content":{"parts":[{"te`), llm.ErrBadReply, "it is no Gemini reply but", true},
		{"a list", body(`[{"candidates":[]}]`), llm.ErrBadReply, "it is no Gemini reply", true},
		{"a page", llmtest.Status(200, "Content-Type: text/html", "<!doctype html><title>Proxy</title>"), llm.ErrBadReply, "it is no Gemini reply but a web page", false},
		{"nothing", body(``), llm.ErrBadReply, "it is no Gemini reply but nothing", true},
		{"an error with a good status", body(`{"error":{"code":403,"message":"no","status":"PERMISSION_DENIED"}}`), llm.ErrAuth, "no", false},
		{"it breaks off", llmtest.HalfReply(), llm.ErrBadReply, "the connection broke off", true},
		{"it hangs up", llmtest.HangUp(), llm.ErrUnavailable, "EOF", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req := question()
			req.Computer = &llm.Computer{}
			resp, _, err := ask(t, req, tt.answer)
			var e *llm.Error
			require.ErrorAs(t, err, &e)
			assert.Nil(t, resp)
			assert.Equal(t, tt.kind, e.Kind)
			assert.Contains(t, e.Detail, tt.detail)
			assert.Equal(t, tt.retry, e.Retry)
		})
	}
}

// TestTenMegabytes: a reply may be long. What is longer than any is provider.TestBadReplies.
func TestTenMegabytes(t *testing.T) {
	long := llmtest.Status(200, "", `{"candidates":[{"content":{"parts":[{"text":"`+strings.Repeat("a", 10<<20)+`"}]},"finishReason":"STOP"}]}`)
	got, _, err := ask(t, question(), long)
	require.NoError(t, err)
	assert.Len(t, got.Text, 10<<20)
	assert.Nil(t, got.State, "what is not signed need not be kept twice")
}

// Google's errors, each in its own form.
func TestErrors(t *testing.T) {
	failure := func(status int, name, message, details string) http.HandlerFunc {
		return llmtest.Status(status, "", fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":%q,"details":[%s]}}`, status, message, name, details))
	}
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		kind   error
		detail string
		retry  bool
		wait   string
	}{
		{"key", failure(400, "INVALID_ARGUMENT", "API key not valid: "+key, `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}`), llm.ErrAuth, "API key not valid: [secret]", false, "0s"},
		{"no key", failure(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers", ""), llm.ErrAuth, "unregistered", false, "0s"},
		{"expired", failure(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.", ""), llm.ErrAuth, "invalid authentication", false, "0s"},
		{"place", failure(400, "FAILED_PRECONDITION", "User location is not supported for the API use.", ""), llm.ErrRequest, "User location", false, "0s"},
		{"request", failure(400, "INVALID_ARGUMENT", "Computer Use is not enabled for models/gemini-3", ""), llm.ErrRequest, "not enabled", false, "0s"},
		{"model", failure(404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta", ""), llm.ErrRequest, "not found", false, "0s"},
		{"a minute's limit", failure(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota", `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"45.837906927s"}`), llm.ErrRateLimited, "current quota", true, "45.837906927s"},
		{"a day's limit", failure(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota", `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"38s"}`), llm.ErrQuota, "current quota", false, "38s"},
		{"gone", failure(499, "CANCELLED", "The operation was cancelled.", ""), llm.ErrRequest, "cancelled", false, "0s"},
		{"broken", failure(500, "INTERNAL", "An internal error has occurred.", ""), llm.ErrUnavailable, "internal error", true, "0s"},
		{"overloaded", failure(503, "UNAVAILABLE", "The model is overloaded.", ""), llm.ErrUnavailable, "overloaded", true, "0s"},
		{"too late", failure(504, "DEADLINE_EXCEEDED", "Deadline expired.", ""), llm.ErrUnavailable, "Deadline", true, "0s"},
		{"in a list", llmtest.Status(429, "", `[{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}]`), llm.ErrRateLimited, "slow", true, "0s"},
		{"a page", llmtest.Status(502, "Content-Type: text/html", "<html><title>502</title>"), llm.ErrUnavailable, "a web page", true, "0s"},
		{"redirects", llmtest.Status(302, "Location: https://elsewhere.example/"+key, ""), llm.ErrRequest, "it redirects to https://elsewhere.example/[secret]", false, "0s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := ask(t, question(), tt.answer)
			var e *llm.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, tt.kind, e.Kind)
			assert.Contains(t, e.Detail, tt.detail)
			assert.Equal(t, tt.retry, e.Retry)
			assert.Equal(t, tt.wait, e.RetryAfter.String())
		})
	}
}

// A decision that is not known, or not readable, is a check: nobody is asked too much.
func TestSafetyDecisions(t *testing.T) {
	check := func(code, message string) []llm.Check {
		return []llm.Check{{ID: "safety_decision", Code: code, Message: message}}
	}
	for decision, want := range map[string][]llm.Check{
		`{"decision":"require_confirmation","explanation":"It buys."}`: check("require_confirmation", "It buys."),
		`{"decision":"REQUIRE_CONFIRMATION"}`:                          check("require_confirmation", ""),
		`{"decision":"block","explanation":"Bad."}`:                    check("block", "Bad."),
		`{"decision":"ask_twice"}`:                                     check("ask_twice", ""),
		`"require_confirmation"`:                                       check("require_confirmation", ""),
		`[1]`:                                                          check("unreadable", ""),
		`7`:                                                            check("unreadable", ""),
		`{"decision":7}`:                                               check("unreadable", ""),
		`{"decision":"regular"}`:                                       nil,
		`{"decision":"allowed"}`:                                       nil,
		`{}`:                                                           nil,
		`null`:                                                         nil,
	} {
		req := question()
		req.Computer = &llm.Computer{}
		req.Tools = []llm.Tool{{Name: "note", Parameters: []byte(`{"type":"object","properties":{"text":{}}}`)}, {Name: "own", Parameters: []byte(`{"type":"object","properties":{"safety_decision":{},"intent":{}}}`)}}
		args := `{"text":"a<b","intent":"why","safety_decision":` + decision + `}`
		got, _, err := ask(t, req, parts("STOP", call("a", "click", args), call("b", "note", args), call("c", "own", args)))
		require.NoError(t, err)
		assert.Equal(t, want, got.Calls[0].Checks, decision)
		assert.Equal(t, args, got.Calls[0].Arguments)
		assert.Equal(t, want, got.Calls[1].Checks, "of a function beside the tool too")
		assert.Equal(t, `{"text":"a<b"}`, got.Calls[1].Arguments, "without what the tool adds")
		assert.Empty(t, got.Calls[2].Checks, "a function may have such an argument of its own")
		assert.Equal(t, args, got.Calls[2].Arguments)
	}
	got, _, err := ask(t, question(), parts("STOP", call("a", "own", `{"safety_decision":"x"}`)))
	require.NoError(t, err)
	assert.Empty(t, got.Calls[0].Checks, "where there is no computer tool, it says nothing")
}
