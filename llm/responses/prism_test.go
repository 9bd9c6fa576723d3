package responses_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/internal/npmtest"
	"desktop-agent/llm/llmtest"
)

// TestPrism sends every request of the runs of thirty steps to a server that nobody here wrote:
// prism, which takes what holds to OpenAI's schema, and refuses all else. It runs where npm is.
func TestPrism(t *testing.T) {
	bin := npmtest.Install(t, npmtest.Prism)
	spec, err := llmtest.OpenAPI("openai", "/responses", "CreateResponse", `{"id":"resp_1"}`)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "spec.json")
	require.NoError(t, os.WriteFile(file, spec, 0o600))
	url := npmtest.Serve(t, bin("prism"), "mock", file, "--host", "127.0.0.1", "--port", "0")
	post := func(body string) int {
		resp, err := http.Post(url+"/responses", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode
	}
	sent := 0
	for _, stored := range []bool{false, true} {
		for _, keep := range []int{4, 100} {
			for i, r := range play(t, stored, keep) {
				sent++
				assert.Equal(t, http.StatusOK, post(r.Body), "stored %v, keep %d, request %d: %.300s", stored, keep, i+1, r.Body)
			}
		}
	}
	require.Equal(t, 120, sent)
	for _, wrong := range []string{
		`{"model":"m","input":[{"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot","image_url":7}}]}`,
		`{"model":"m","input":"x","store":"yes"}`,
		`{"model":"m","input":"x","tools":[{"type":"computer_toy"}]}`,
		`{"model":"m","input":"x","temperature":9}`,
	} {
		assert.Equal(t, http.StatusUnprocessableEntity, post(wrong), "were it to take everything, it would prove nothing: %s", wrong)
	}
}
