//go:build linux

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm/llmtest"
)

func TestDoctor(t *testing.T) {
	t.Parallel()
	e := httptest.NewServer(marksman{})
	t.Cleanup(e.Close)
	p := start(t, "doctor", "--virtual", "--open", "mousepad", "--dpi", "120", "--model", "m", "--planner-model", "n", "--actor-model", "UI-TARS-1.5-7B", "--base-url", e.URL+"/v1", "--files", t.TempDir(), "--verbose")
	require.Equal(t, exitDone, p.code(), "%s%s", p.stdout, p.stderr)
	lines := strings.Split(strings.TrimSpace(p.stdout.String()), "\n")
	require.Len(t, lines, 21+2, "%s", p.stdout)
	for _, line := range lines[:20] {
		assert.Regexp(t, `^ok    `, line)
	}
	assert.Regexp(t, `^skip  grounder +none is named`, lines[20])
	for _, want := range []string{"120 dpi", "Openbox", "1280x800 pixels", `Mousepad" has the focus`, "3 clicks arrived on the pixel",
		"letters of several scripts were written and read", "read in eng by tesseract ", "a model is sent 1260x784", `ui-tars-1.5: the model's name has "ui-tars-1.5" in it; the form of UI-TARS-1.5, with points in pixels of a picture whose sides are multiples of 28`, "api             chat at http://127.0.0.1", "n sees a picture", "m sees a picture", "UI-TARS-1.5-7B, which writes ui-tars-1.5, points "} {
		assert.Contains(t, p.stdout.String(), want)
	}
	assert.Equal(t, "Everything that was checked works.", lines[22])
	acted := 0
	for line := range strings.Lines(p.stderr.String()) {
		if strings.Contains(line, " msg=acting action=") && strings.Contains(line, " exempt=") {
			acted++
			assert.Contains(t, line, " exempt=doctor", "no guard is asked, and the log says why")
		}
	}
	assert.Positive(t, acted, "%s", p.stderr)
	assert.Empty(t, p.leftovers())
}

// TestDoctorFails: each line that fails says what to do, and the exit code too.
func TestDoctorFails(t *testing.T) {
	t.Parallel()
	blind := httptest.NewServer(llmtest.Completion(`{"left": "green", "right": "green"}`))
	t.Cleanup(blind.Close)
	refuses := httptest.NewServer(llmtest.Refusal(http.StatusUnauthorized, "", "no", ""))
	t.Cleanup(refuses.Close)
	for name, test := range map[string]struct {
		args []string
		want []string
		n    string
	}{
		"a model that sees nothing": {[]string{"--model", "m", "--base-url", blind.URL + "/v1"},
			[]string{`FAIL  model .*it does not see pictures; choose a vision model`, `FAIL  display .*no X display ":77777"`}, "2"},
		"a wrong key": {[]string{"--model", "m", "--base-url", refuses.URL + "/v1"},
			[]string{`FAIL  model .*the endpoint refused the key`, ` +→ set DESKTOP_AGENT_API_KEY`}, "2"},
		"a price is missing": {[]string{"--model", "m", "--max-dollars", "1"},
			[]string{`FAIL  model .*has no price`}, "2"},
		"no model": {nil, []string{`FAIL  display .*set DISPLAY to a running desktop, or use --virtual`,
			`skip  screenshot +an earlier check failed`, `skip  clipboard `, `skip  model +none is named`, `skip  pointing +no model is named`}, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, append([]string{"doctor", "--display", ":77777"}, test.args...)...)
			assert.Equal(t, exitError, p.code())
			for _, want := range test.want {
				assert.Regexp(t, `(?m)^`+want, p.stdout.String())
			}
			assert.Contains(t, p.stdout.String(), test.n+" of 21 checks failed. Do what the lines marked FAIL say")
			assert.Empty(t, p.stderr.String(), "all has been said")
		})
	}
	t.Run("no tesseract", func(t *testing.T) {
		p := startWith(t, []string{"PATH=" + t.TempDir()}, "doctor", "--display", ":77777")
		assert.Equal(t, exitError, p.code())
		assert.Regexp(t, `(?m)^skip  OCR +tesseract is not installed: .*apt-get install tesseract-ocr$`, p.stdout.String())
		assert.Contains(t, p.stdout.String(), "1 of 21 checks failed", "it can be done without")
	})
	t.Run("no display", func(t *testing.T) {
		p := start(t, "doctor")
		assert.Equal(t, exitError, p.code())
		assert.Regexp(t, `(?m)^FAIL  session .*DISPLAY is not set\n.*→ start from a desktop session, set DISPLAY, or add --virtual`, p.stdout.String())
	})
}
