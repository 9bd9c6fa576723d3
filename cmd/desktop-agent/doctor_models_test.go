package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/dialect"
	"desktop-agent/actuator/ground"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
)

var shot = regexp.MustCompile(`data:image/png;base64,([A-Za-z0-9+/=]+)`)

// redOf returns where the red circle is on the picture in a request of Chat Completions, and
// the size of the picture; false if it has none.
func redOf(body []byte) (at, size image.Point, ok bool) {
	found := shot.FindAllSubmatch(body, -1)
	if found == nil {
		return at, size, false
	}
	data, err := base64.StdEncoding.DecodeString(string(found[len(found)-1][1]))
	if err != nil {
		return at, size, false
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return at, size, false
	}
	var box image.Rectangle
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			if r, g, b, _ := picture.At(x, y).RGBA(); r > 0xc000 && g < 0x3000 && b < 0x4000 {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box.Min.Add(box.Max).Div(2), picture.Bounds().Size(), !box.Empty()
}

// A marksman plays models that see: it looks for the red circle on the picture that it gets,
// and answers so far beside it, in the form that the model writes.
type marksman struct {
	off     int
	answers string // instead, whatever is asked; "" to point
	blind   bool   // requests with a picture are refused
}

func (m marksman) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var request struct {
		Model  string          `json:"model"`
		Format json.RawMessage `json:"response_format"`
		Tools  json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		llmtest.Status(http.StatusBadRequest, "", err.Error())(w, r)
		return
	}
	at, size, sees := redOf(body)
	reply := llm.Response{Finish: llm.FinishStop, Usage: llm.Usage{Input: 1000, Cached: 700, Output: 20}}
	click := actuator.Click{At: &actuator.Point{X: at.X - m.off, Y: at.Y}, Button: actuator.Left, Count: 1}
	switch {
	case m.blind && shot.Match(body):
		llmtest.Status(http.StatusBadRequest, "", `{"error":{"message":"this model does not take image_url"}}`)(w, r)
		return
	case bytes.Contains(request.Format, []byte(`"left"`)):
		reply.Text = `{"left":"red","right":"blue"}`
	case !sees:
		reply.Text, reply.Usage.Input = "I see nothing.", 400
	case m.answers != "":
		reply.Text = m.answers
	case ground.Named(request.Model) != nil && strings.HasPrefix(request.Model, "gta"), request.Model == "infigui":
		reply.Text = ground.Named(request.Model).Write(*click.At, size)
	case formOf(request.Model) != nil:
		reply.Text, _ = formOf(request.Model).Write("I see it.", []actuator.Action{click}, size)
	case len(request.Tools) > 2:
		reply.Finish, reply.Calls = llm.FinishCalls, []llm.ToolCall{{ID: "c1", Name: "click", Arguments: fmt.Sprintf(`{"at":{"x":%d,"y":%d}}`, click.At.X, click.At.Y)}}
	default:
		reply.Text = fmt.Sprintf("Thought: t\nExpect: e\n```python\npyautogui.click(%d, %d)\n```", click.At.X, click.At.Y)
	}
	llmtest.CompletionOf(reply)(w, r)
}

// formOf is the form that a model was trained in; nil for code.
func formOf(model string) *dialect.Dialect {
	name, _, _ := dialect.Choose(dialect.Auto, model) // "" if there is none
	return dialect.Named(name)
}

// checkModels makes the checks of models, without a display.
func checkModels(t *testing.T, m marksman, format string, flags modelFlags) (pointing, grounder string, errs [3]error) {
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	flags.BaseURL, flags.API = server.URL+"/v1", "chat"
	p := &checkup{doctorCmd: &doctorCmd{Format: format, modelFlags: flags}}
	_, errs[0] = p.model(t.Context())
	pointing, errs[1] = p.pointing(t.Context())
	grounder, errs[2] = p.grounder(t.Context())
	return pointing, grounder, errs
}

// TestDoctorHasModelsPoint holds what doctor tells of how models point, by servers that look
// at the picture which they get: in each form, at the size that is sent.
func TestDoctorHasModelsPoint(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ model, format, form, size string }{
		{"m", "auto", "code", "1280x800"},
		{"m", "tools", "tools", "1280x800"},
		{"ui-tars-1.5", "auto", "ui-tars-1.5", "1260x784"},
		{"qwen3-vl", "auto", "qwen3-vl", "1280x800"},
		{"glm-4.5v", "auto", "glm-4.5v", "1280x800"},
	} {
		found, _, errs := checkModels(t, marksman{}, tt.format, modelFlags{Model: tt.model})
		require.NoError(t, errs[0], tt.model)
		require.NoError(t, errs[1], tt.model)
		assert.Regexp(t, `^`+tt.model+`, which writes `+tt.form+`, points [0-2] pixels from the middle of a mark on a picture of `+tt.size+
			`, in \d+ ms; the picture costs 600 tokens; of what was sent before, 70 % comes from the cache$`, found)
		assert.ErrorIs(t, errs[2], errNotChecked, "no grounder is named")

		_, _, errs = checkModels(t, marksman{off: 40}, tt.format, modelFlags{Model: tt.model})
		require.ErrorContains(t, errs[1], "points 4", tt.model)
		assert.Regexp(t, `points (39|40|41) pixels from the middle of a mark on a picture of `+tt.size+`, beside it`, errs[1].Error())
		assert.Contains(t, hintOf(errs[1]), "--max-image")

		_, _, errs = checkModels(t, marksman{answers: "I would rather not."}, tt.format, modelFlags{Model: tt.model})
		require.ErrorContains(t, errs[1], "was shown a mark on a picture of "+tt.size, tt.model)
		assert.NotEmpty(t, hintOf(errs[1]))

		_, _, errs = checkModels(t, marksman{blind: true}, tt.format, modelFlags{Model: tt.model})
		require.ErrorIs(t, errs[0], llm.ErrRequest, tt.model)
		require.ErrorIs(t, errs[1], errEarlier, "it has been told of")
	}
}

// TestDoctorHasAGrounderPoint holds the same of a model that finds what the actor names.
func TestDoctorHasAGrounderPoint(t *testing.T) {
	t.Parallel()
	for model, size := range map[string]string{"gta1": "1260x784", "infigui": "1260x784"} {
		flags := modelFlags{Model: "m"}
		flags.Grounder.Model = model
		_, found, errs := checkModels(t, marksman{}, "auto", flags)
		require.NoError(t, errs[2])
		assert.Regexp(t, `^`+model+`, asked as `+model+`, points [0-2] pixels from the middle of a mark on a picture of `+size+
			`, in \d+ ms; the picture costs 600 tokens; of what was sent before, 70 % comes from the cache$`, found)
		_, _, errs = checkModels(t, marksman{off: 40}, "auto", flags)
		require.ErrorContains(t, errs[2], "beside it")
		assert.Contains(t, hintOf(errs[2]), "--grounder-form")
		_, _, errs = checkModels(t, marksman{answers: "It is on the right."}, "auto", flags)
		require.ErrorContains(t, errs[2], "the answer is no point")
		_, _, errs = checkModels(t, marksman{blind: true}, "auto", flags)
		require.ErrorIs(t, errs[2], llm.ErrRequest)
	}
	p := &checkup{doctorCmd: &doctorCmd{modelFlags: modelFlags{Model: "m"}}}
	p.Grounder.Form = "gta1"
	_, err := p.grounder(t.Context())
	require.ErrorContains(t, err, "no model for it")
	p.Grounder.Model, p.Format, p.Model = "gta1", "auto", "ui-tars-1.5"
	_, err = p.grounder(t.Context())
	require.ErrorContains(t, err, "nothing is named in words")
}
