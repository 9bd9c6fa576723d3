package wire_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/llm/wire"
)

// FuzzExchange holds that whatever a server answers, it is the answer that the library reads,
// or an error of a kind: short, in one line, without a secret, and with no wait beyond a day.
// What is tried again is never what a server refused for good.
func FuzzExchange(f *testing.F) {
	for _, body := range []string{
		`{"ok":1}`, `{"error":{"message":"bad key ` + string(key) + `","code":"invalid_api_key"}}`, `{"error":"sk-test-****ghij is no key"}`, `[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"99999h"},{"violations":[{"quotaId":"PerDay"}]}]}}]`,
		`{"error":{"code":503,"message":"a\nb"}}`, `{"error":{"message":"insufficient","type":"insufficient_quota"}}`, `{"message":"\u0000\ud800"}`, `{"detail":{"x":["` + strings.Repeat("y", 1000) + `"]}}`, `<html><title>` + string(key), "null", "[]", "", "\xff sk-test-012\xff3456789abcdefghij",
	} {
		for _, status := range []uint16{200, 307, 400, 401, 402, 429, 503} {
			f.Add(status, "1.5", body)
		}
	}
	f.Fuzz(func(t *testing.T, status uint16, wait, body string) {
		status = 200 + status%400
		server := &wire.Server{BaseURL: "http://model.test/v1?token=tok-tok-tok-tok", Key: key, HTTP: &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: llmtest.RoundTrip(func(r *http.Request) (*http.Response, error) {
				header := http.Header{"Content-Type": {"text/plain"}, "Retry-After": {wait}, "Location": {body}}
				return &http.Response{StatusCode: int(status), Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
			}),
		}}
		x := &wire.Exchange{Server: server, Check: func(body []byte) bool { return strings.HasPrefix(string(body), `{"ok"`) }}
		err := send(t, x)
		if err == nil {
			require.True(t, strings.HasPrefix(body, `{"ok"`) && status < 300)
			return
		}
		e, ok := errors.AsType[*llm.Error](err)
		require.True(t, ok, "%T %v", err, err)
		require.NotNil(t, e.Kind)
		require.NotEmpty(t, e.Detail)
		require.NotContains(t, err.Error(), "\n")
		require.True(t, utf8.ValidString(err.Error()))
		require.Less(t, len([]rune(e.Detail)), 500)
		for _, secret := range []string{string(key), "tok-tok-tok-tok"} {
			require.NotContains(t, err.Error(), secret)
		}
		require.GreaterOrEqual(t, e.RetryAfter, time.Duration(0))
		require.LessOrEqual(t, e.RetryAfter, 24*time.Hour)
		if errors.Is(e.Kind, llm.ErrAuth) || errors.Is(e.Kind, llm.ErrQuota) || errors.Is(e.Kind, llm.ErrRequest) {
			require.False(t, e.Retry)
		}
	})
}
