package agent

import (
	"image"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/ground"
	"desktop-agent/llm/llmtest"
	"desktop-agent/run/runtest"
)

// FuzzFind holds that whatever a model says of a place, it is a pixel of the picture that is not
// on what is called otherwise, or the reason why it is none; and that it is asked twice at most.
func FuzzFind(f *testing.F) {
	for i, g := range ground.All() {
		f.Add(uint8(i), g.Write(actuator.Point{X: 55, Y: 17}, image.Pt(200, 120)), "the Reload label")
		f.Add(uint8(i), g.Write(actuator.Point{X: 55, Y: 17}, image.Pt(200, 120)), "the Save button")
	}
	f.Add(uint8('.'), "0", " ") // nothing is named
	f.Add(uint8(0), "0", strings.Repeat("x", 501))
	for _, reply := range []string{`{"x":1e308,"y":-1}`, "[[1,2,3,4]]", "not there", "", "\xff"} {
		f.Add(uint8(0), reply, "x")
	}
	o, err := (&runtest.Desktop{}).Observe(f.Context())
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, form uint8, reply, words string) {
		model := &llmtest.Recorder{Model: llmtest.Text(reply)}
		forms := ground.All()
		s, err := (&Grounder{Model: model, Form: forms[int(form)%len(forms)]}).find(t.Context(), words, o)
		if err != nil {
			_, bad := forms[int(form)%len(forms)].Ask(words, image.Pt(200, 120))
			require.Error(t, bad, "only words that name nothing are not looked for")
			require.Zero(t, model.Count())
			return
		}
		require.Equal(t, s.Asked, model.Count())
		require.LessOrEqual(t, s.Asked, 2)
		if s.Why != "" {
			require.Equal(t, 2, s.Asked)
			return
		}
		require.True(t, s.At.In(o.Image.Mapping.Bounds()), "%v", s.At)
		if n := o.PlaceAt(s.At).Node; n >= 0 {
			require.True(t, o.MayBe(words, n))
		}
	})
}

// TestTries holds that it is a setting how often a model is asked for one place.
func TestTries(t *testing.T) {
	o, err := (&runtest.Desktop{}).Observe(t.Context())
	require.NoError(t, err)
	for tries, want := range map[int]int{0: 2, 1: 1, 4: 4} {
		model := &llmtest.Recorder{Model: llmtest.Text("not there")}
		s, err := (&Grounder{Model: model, Form: ground.All()[0], Tries: tries}).find(t.Context(), "the red circle", o)
		require.NoError(t, err)
		require.NotEmpty(t, s.Why)
		require.Equal(t, want, s.Asked)
		require.Equal(t, want, model.Count())
	}
}
