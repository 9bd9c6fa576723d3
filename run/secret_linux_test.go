package run_test

import (
	"context"
	"encoding/json"
	"image"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/actuatortest"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/run"
	"desktop-agent/run/eventjson"
	"desktop-agent/run/runtest"
	"desktop-agent/screen/atspi"
)

const value = "hunter2-correct-horse"

// journal returns all that a session has written.
func journal(t *testing.T, s *run.Session) string {
	t.Helper()
	var b strings.Builder
	for _, e := range s.Journal.(*run.Memory).Events() {
		line, err := eventjson.Encode(e)
		require.NoError(t, err)
		b.Write(line)
	}
	return b.String()
}

// black reports whether an area of a picture is painted over.
func black(m *image.RGBA, area image.Rectangle) bool {
	area = area.Inset(3)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if c := m.RGBAAt(x, y); c.R|c.G|c.B != 0 {
				return false
			}
		}
	}
	return !area.Empty()
}

// TestSecretIsTyped: a secret is typed into its window, and neither the journal nor what
// is seen afterwards has it. Into another window, or onto the clipboard, it does not go.
func TestSecretIsTyped(t *testing.T) {
	settings := run.Defaults()
	settings.Display.Private, settings.Display.Size, settings.Display.OCR = true, image.Pt(800, 600), ""
	s := runtest.Open(t, settings, &run.Options{Secrets: []run.Secret{{Name: "password", Value: value, Window: "Sign in"}}})
	do := func(a actuator.Action) *run.Act {
		act, err := s.Hand.Do(t.Context(), run.Intent{Action: a, Frame: plain{800, 600}, Source: run.FromModel})
		require.NoError(t, err)
		require.NoError(t, act.Close(t.Context(), nil))
		return act
	}
	p, err := s.Private.Open(t.Context(), "zenity", "--entry", "--title", "Sign in")
	require.NoError(t, err)
	act := do(actuator.Type{Text: "{{secret:other}}"})
	assert.Equal(t, actuator.Refused, act.Status)
	assert.Contains(t, act.Detail, "no such secret")
	entering := 0
	for _, v := range actuator.Variants() {
		fields, err := actuatortest.Fill(v.Schema)
		require.NoError(t, err)
		a, err := actuator.Decode(v.Name, fields)
		require.NoError(t, err)
		if _, enters := actuator.Entered(a); !enters || v.Name == "type" {
			continue
		}
		entering++
		act = do(actuator.WithText(a, "{{secret:password}}"))
		assert.Equal(t, actuator.Refused, act.Status, "%T", a)
		assert.Contains(t, act.Detail, "can only be typed", "%T", a)
	}
	assert.GreaterOrEqual(t, entering, 3, "set_clipboard, paste and set")
	act = do(actuator.Type{Text: "my {{secret:password}}!"})
	require.Equal(t, actuator.Delivered, act.Status, act.Detail)
	o, err := s.Desktop.Observe(t.Context())
	require.NoError(t, err)
	var field image.Rectangle
	for _, n := range o.Tree.Nodes {
		if n.Text == "my {{secret:password}}!" {
			field = n.Box
		}
		require.NotContains(t, n.Text+n.Name, value)
	}
	require.False(t, field.Empty(), "it arrived, and its echo is hidden")
	for _, m := range []*image.RGBA{o.Frame, o.Bare} {
		assert.True(t, black(m, field))
	}
	assert.False(t, black(o.Frame, image.Rect(0, 0, 800, 600)))
	now, err := s.Desktop.Capture(t.Context())
	require.NoError(t, err)
	assert.True(t, black(now.Bare, field))
	require.NoError(t, s.Scope.Observe(t.Context(), o, "s"))
	require.NoError(t, p.Close())

	_, err = s.Private.Open(t.Context(), "zenity", "--entry", "--title", "A chat")
	require.NoError(t, err)
	act = do(actuator.Type{Text: "{{secret:password}}"})
	assert.Equal(t, actuator.Refused, act.Status)
	assert.Contains(t, act.Detail, `only be typed into a window whose title has "Sign in" in it`)

	written := journal(t, s)
	assert.Contains(t, written, "my {{secret:password}}!")
	assert.NotContains(t, written, value)
}

// TestSecretWithoutTree: where a program tells nothing of its elements, nobody knows where
// the echo is: all of its window is painted over.
func TestSecretWithoutTree(t *testing.T) {
	settings := run.Defaults()
	settings.Display.Private, settings.Display.Size, settings.Display.OCR = true, image.Pt(800, 600), ""
	s := runtest.Open(t, settings, &run.Options{Secrets: []run.Secret{{Name: "password", Value: value, Window: "shell"}}})
	_, err := s.Private.Open(t.Context(), "xterm", "-T", "shell", "-e", "cat")
	require.NoError(t, err)
	require.NoError(t, s.Hand.Perform(t.Context(), run.Intent{Action: actuator.Type{Text: "{{secret:password}}"}, Source: run.FromModel}))
	o, err := s.Desktop.Observe(t.Context())
	require.NoError(t, err)
	w, ok := o.Focused()
	require.True(t, ok)
	assert.True(t, black(o.Bare, w.Box))
}

// TestElementNamedBySecret: an element whose name has a secret in it is the one that was chosen,
// as what is looked at right before a click has it hidden too.
func TestElementNamedBySecret(t *testing.T) {
	settings := run.Defaults()
	settings.Display.Private, settings.Display.Size, settings.Display.OCR = true, image.Pt(800, 600), ""
	s := runtest.Open(t, settings, &run.Options{Secrets: []run.Secret{{Name: "account", Value: value}}})
	_, err := s.Private.Open(t.Context(), "zenity", "--question", "--title", "Which account", "--text", "Go on?", "--ok-label", "Use "+value)
	require.NoError(t, err)
	o, err := s.Desktop.Observe(t.Context())
	require.NoError(t, err)
	i := slices.IndexFunc(o.Tree.Nodes, func(n atspi.Node) bool { return n.Name == "Use {{secret:account}}" })
	require.GreaterOrEqual(t, i, 0, "%s", o.Text(4000))
	byHandle, err := run.Name([]actuator.Action{actuator.Click{At: &actuator.Point{Element: actuator.Element{ID: actuator.Handle(o.Tree.Nodes[i].ID)}}, Button: actuator.Left, Count: 1}}, o)
	require.NoError(t, err)
	p := actuator.Points(byHandle[0])[0]
	byPixel, err := run.Name([]actuator.Action{actuator.Click{At: &actuator.Point{X: p.X, Y: p.Y}, Button: actuator.Left, Count: 1}}, o)
	require.NoError(t, err)
	now, err := s.Desktop.Capture(t.Context())
	require.NoError(t, err)
	for gone, want := range map[bool]actuator.Status{false: actuator.Delivered, true: actuator.NoEffect} {
		act, err := s.Hand.Do(t.Context(), run.Intent{Action: actuator.WaitUntil{
			For: actuator.ElementSign, What: `button "Use {{secret:account}}"`, Gone: gone, Milliseconds: 500,
		}, Frame: o.Image.Mapping, Source: run.FromModel})
		require.NoError(t, err)
		require.NoError(t, act.Close(t.Context(), nil))
		assert.Equal(t, want, act.Status, act.Detail)
	}
	for _, a := range []actuator.Action{byHandle[0], byPixel[0]} {
		located, why, err := s.Desktop.Locate(t.Context(), run.Aim{Action: a, Chosen: o, Now: now})
		require.NoError(t, err)
		assert.Empty(t, why)
		assert.Equal(t, actuator.Points(a), actuator.Points(located))
		assert.Empty(t, s.Desktop.Surprise(t.Context(), run.Aim{Action: a, Chosen: o, Now: now}))
	}
}

// TestHiddenError: what a device says has secrets hidden, and is the error that it was.
func TestHiddenError(t *testing.T) {
	settings := run.Defaults()
	settings.Display.Private, settings.Display.Size, settings.Display.OCR = true, image.Pt(400, 300), ""
	s := runtest.Open(t, settings, &run.Options{Secrets: []run.Secret{{Name: "account", Value: value}}})
	act, err := s.Hand.Do(t.Context(), run.Intent{Action: actuator.Set{
		At: actuator.Point{X: 5, Y: 5, Element: actuator.Element{ID: "n9", Role: "entry", Name: value}}, Text: "a",
	}, Frame: plain{400, 300}, Source: run.FromModel})
	require.NoError(t, err)
	require.NoError(t, act.Close(t.Context(), nil))
	assert.Equal(t, actuator.Refused, act.Status, act.Detail)
	assert.Contains(t, act.Detail, "{{secret:account}}")
	assert.NotContains(t, act.Detail, value)
}

// TestEchoedKey: a key that a model repeats is written nowhere, and not sent either.
func TestEchoedKey(t *testing.T) {
	const key = "sk-0123456789abcdef"
	var sent []llm.Message
	client := &llm.Client{Default: llm.Settings{Model: "m"}, Model: llmtest.Func(func(_ context.Context, r *llm.Request) (*llm.Response, error) {
		sent = r.Messages
		return &llm.Response{Text: "your key is " + key, Calls: []llm.ToolCall{{Name: "type", Arguments: `{"text":"` + key + `"}`}}}, nil
	})}
	s := runtest.Open(t, run.Defaults(), &run.Options{
		Client: client, Desktop: nowhere{}, Secrets: []run.Secret{{Name: "api-key", Value: key}},
	})
	got, err := client.Complete(t.Context(), &llm.Request{Role: llm.Actor, Messages: []llm.Message{llm.UserText("the screen shows " + key)}})
	require.NoError(t, err)
	assert.Equal(t, "your key is {{secret:api-key}}", got.Text)
	assert.Equal(t, llm.Text("the screen shows {{secret:api-key}}"), sent[0].Parts[0])
	require.NoError(t, s.Scope.Emit(t.Context(), run.Proposed{
		Thought: key, Actions: []run.Recorded{{Action: actuator.Type{Text: key}}}, Params: []run.Param{{Name: key}}}))
	require.NoError(t, s.Scope.Emit(t.Context(), run.RunEnded{Answer: "it is " + key}))
	written := journal(t, s)
	assert.NotContains(t, written, key)
	assert.GreaterOrEqual(t, strings.Count(written, "{{secret:api-key}}"), 6)
	assert.True(t, json.Valid([]byte(strings.SplitN(written, "\n", 2)[0])))
}

// A nowhere is a desktop that nobody looks at.
type nowhere struct{ run.Desktop }

// TestSecretsThatAreNone: what cannot be kept is refused before anything is done.
func TestSecretsThatAreNone(t *testing.T) {
	for name, tt := range map[string]struct {
		list []run.Secret
		task string
		want string
	}{
		"empty":       {[]run.Secret{{Name: "p", Window: "w"}}, "x", "is empty"},
		"short":       {[]run.Secret{{Name: "p", Value: "abc", Window: "w"}}, "x", "shorter than 4"},
		"in the task": {[]run.Secret{{Name: "p", Value: value, Window: "w"}}, "Log in with " + value, "write {{secret:p}} there"},
		"twice":       {[]run.Secret{{Name: "p", Value: value}, {Name: "p", Value: value}}, "x", "twice"},
		"no name":     {[]run.Secret{{Name: "a}b", Value: value}}, "x", "no name"},
	} {
		t.Run(name, func(t *testing.T) {
			err := run.CheckSecrets(tt.list, tt.task)
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), value)
		})
	}
	require.NoError(t, run.CheckSecrets([]run.Secret{{Name: "p", Value: value, Window: "w"}}, "Log in with {{secret:p}}"))
}
