package anthropic_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/internal/npmtest"
	"desktop-agent/llm"
	"desktop-agent/llm/anthropic"
	"desktop-agent/llm/llmtest"
)

// TestPrism sends the requests of a run to a server that nobody here wrote: prism, which takes
// what holds to the specification inside Anthropic's Go module, and refuses all else. It runs
// where npm is.
func TestPrism(t *testing.T) {
	bin := npmtest.Install(t, npmtest.Prism)
	spec, err := llmtest.OpenAPI("anthropic", "/v1/messages", "BetaCreateMessageParams", `{"id":"msg_1"}`)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "spec.json")
	require.NoError(t, os.WriteFile(file, spec, 0o600))
	url := npmtest.Serve(t, bin("prism"), "mock", file, "--host", "127.0.0.1", "--port", "0")
	post := func(body []byte) int {
		resp, err := http.Post(url+"/v1/messages", "application/json", bytes.NewReader(body))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode
	}
	for _, wrong := range []string{
		`{"model":"m","messages":[{"role":"user","content":"go"}]}`,
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"}],"tools":[{"type":"computer_toolset_20260801","name":"computer"}]}`,
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"tool_result","content":"no id"}]}]}`,
		`{"model":"m","max_tokens":"9","messages":[{"role":"user","content":"go"}]}`,
	} {
		assert.Equal(t, http.StatusUnprocessableEntity, post([]byte(wrong)), "were it to take everything, it would prove nothing: %s", wrong)
	}
	for _, model := range []string{"claude-opus-5-5", "claude-opus-5", "claude-sonnet-4-6"} {
		f := newFake(t, scripted)
		if f.counts, f.bound = true, model == "claude-opus-5-5"; model == "claude-sonnet-4-6" {
			f.script = func(n int, _ wireRequest) reply {
				return reply{blocks: []map[string]any{thinking("Hm."), did("t", "left_click", at(n, n))}, stop: "tool_use"}
			}
		}
		k := &conversation{t: t, model: &anthropic.Endpoint{BaseURL: f.URL, Key: key}, name: model, shot: screenshot(t, 1280, 720), whole: 3, every: 12}
		for range 30 {
			k.step(func(i int, c llm.ToolCall) bool { return c.ID == "t5b" || c.ID == "t7" })
		}
		for i, body := range f.bodies {
			assert.Equal(t, http.StatusOK, post(body), "%s, request %d", model, i+1)
		}
	}
}
