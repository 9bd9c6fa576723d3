package wire_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/llm/wire"
)

const key = wire.Secret("sk-test-0123456789abcdefghij")

// send sends one request as an adapter does, and returns its error.
func send(t *testing.T, x *wire.Exchange) error {
	base, query, err := x.Server.URL()
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/x?"+query.Encode(), http.NoBody)
	require.NoError(t, err)
	req.Header.Set("X-Stainless-OS", "Linux")
	resp, err := x.Client().Do(req)
	if err != nil {
		return x.Explain(t.Context(), err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.ReadAll(resp.Body)
	return err
}

// The providers write errors in forms of their own, which all come to the same kinds.
func TestErrorsOfProviders(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		status     int
		kind       error
		detail     string
		retry      bool
		wait       time.Duration
	}{
		{"OpenAI, no money", `{"error":{"message":"You exceeded your quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, 429, llm.ErrQuota, "You exceeded your quota", false, 0},
		{"OpenAI, rate", `{"error":{"message":"slow","type":"requests","code":"rate_limit_exceeded"}}`, 429, llm.ErrRateLimited, "slow", true, 0},
		{"Anthropic, key", `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"},"request_id":"r"}`, 401, llm.ErrAuth, "invalid x-api-key", false, 0},
		{"Anthropic, rights", `{"type":"error","error":{"type":"permission_error","message":"no"}}`, 403, llm.ErrAuth, "no", false, 0},
		{"Anthropic, money", `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, 400, llm.ErrQuota, "credit balance", false, 0},
		{"Anthropic, billing", `{"type":"error","error":{"type":"billing_error","message":"pay"}}`, 400, llm.ErrQuota, "pay", false, 0},
		{"Anthropic, too large", `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, 413, llm.ErrRequest, "maximum size", false, 0},
		{"Anthropic, overloaded", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, 529, llm.ErrUnavailable, "Overloaded", true, 0},
		{"Anthropic, request", `{"type":"error","error":{"type":"invalid_request_error","message":"messages: at least one"}}`, 400, llm.ErrRequest, "at least one", false, 0},
		{"Gemini, key", `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`, 400, llm.ErrAuth, "not valid", false, 0},
		{"Gemini, rate", `[{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}]`, 429, llm.ErrRateLimited, "Quota exceeded", true, 34500 * time.Millisecond},
		{"Gemini, the day's rate", `{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"2s"}]}}`, 429, llm.ErrQuota, "Quota exceeded", false, 2 * time.Second},
		{"Gemini, request", `{"error":{"code":400,"message":"Invalid JSON payload","status":"INVALID_ARGUMENT"}}`, 400, llm.ErrRequest, "Invalid JSON", false, 0},
		{"Gemini, overloaded", `{"error":{"code":503,"message":"The model is overloaded","status":"UNAVAILABLE"}}`, 503, llm.ErrUnavailable, "overloaded", true, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := llmtest.NewServer(t, llmtest.Status(tt.status, "", tt.body))
			err := send(t, &wire.Exchange{Server: &wire.Server{BaseURL: server.URL, Key: key}})
			var e *llm.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, tt.kind, e.Kind)
			assert.Equal(t, tt.status, e.Status)
			assert.Contains(t, e.Detail, tt.detail)
			assert.Equal(t, tt.retry, e.Retry)
			assert.Equal(t, tt.wait, e.RetryAfter)
		})
	}
}

// Nothing of the machine goes out, headers of the user do, and a redirect gets no key.
func TestWhatIsSent(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Status(200, "", "{}"), llmtest.Status(307, "Location: https://elsewhere.example/"+string(key), ""))
	x := &wire.Exchange{Server: &wire.Server{BaseURL: server.URL + "?v=2", Key: key, Headers: map[string]wire.Secret{"X-Title": "t"}}}
	require.NoError(t, send(t, x))
	got := server.Requests()[0]
	assert.Empty(t, got.Header.Get("X-Stainless-Os"))
	assert.Equal(t, wire.UserAgent, got.Header.Get("User-Agent"))
	assert.Equal(t, "t", got.Header.Get("X-Title"))
	assert.Equal(t, "v=2", got.Query)
	followed := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}
	x = &wire.Exchange{Server: &wire.Server{BaseURL: server.URL, Key: key, HTTP: followed}}
	err := send(t, x)
	require.ErrorIs(t, err, llm.ErrRequest)
	require.ErrorContains(t, err, "it redirects to https://elsewhere.example/[secret]")
	assert.Nil(t, followed.Transport, "the user's client is as it was")
}

// An answer that is none is told by what came instead.
func TestWhatIsNoReply(t *testing.T) {
	isReply := func(body []byte) bool { return string(body) == `{"ok":1}` }
	for body, want := range map[string]string{
		`{"ok":1}`:        "",
		`{"error":null}`:  `it is no Reply but "{\"error\":null}"`,
		`<html>`:          "it is no Reply but a web page",
		``:                "it is no Reply but nothing",
		`{"error":"off"}`: "status 502; off",
	} {
		server := llmtest.NewServer(t, llmtest.Status(200, "", body))
		err := send(t, &wire.Exchange{Server: &wire.Server{BaseURL: server.URL}, Reply: "Reply", Check: isReply})
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
	server := llmtest.NewServer(t, llmtest.Status(200, "", " null\n"))
	err := send(t, &wire.Exchange{Server: &wire.Server{BaseURL: server.URL}})
	require.ErrorContains(t, err, `it is no reply but "null"`, "whatever an answer is")
	huge := make([]byte, 16<<20+1)
	server = llmtest.NewServer(t, llmtest.Status(200, "", string(huge)))
	err = send(t, &wire.Exchange{Server: &wire.Server{BaseURL: server.URL}})
	require.ErrorIs(t, err, llm.ErrBadReply)
	require.ErrorContains(t, err, "longer than 16777216 bytes")
}

// What stands in the base URL is hidden, wherever a secret may be; but a value that is empty,
// or as short as a version, does not cut up what the server says.
func TestErrorsWithAQuery(t *testing.T) {
	for query, want := range map[string]string{"?beta": "model 2 is not there", "?v=2": "model 2 is not there", "?key=model": "[secret] 2 is not there"} {
		server := llmtest.NewServer(t, llmtest.Status(404, "", `{"error":{"message":"model 2 is not there"}}`))
		err := send(t, &wire.Exchange{Server: &wire.Server{BaseURL: server.URL + query}})
		require.ErrorContains(t, err, want, query)
	}
	server := llmtest.NewServer(t, llmtest.Status(404, "", `{"error":{"message":"token-1234 is unknown"}}`))
	err := send(t, &wire.Exchange{Server: &wire.Server{BaseURL: strings.Replace(server.URL, "://", "://token-1234:@", 1)}})
	require.ErrorContains(t, err, "[secret] is unknown")
}
