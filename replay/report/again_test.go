package report

import (
	"html"
	"image"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// redone writes a replay of the sample without a model: one target was found
// elsewhere, one step was healed, one was refused, and the last diverged.
func redone(t testing.TB, shots []*image.RGBA) *replay.Run {
	t.Helper()
	j := newJournal(t)
	s := &story{t: t, j: j, now: time.Date(2026, 1, 3, 9, 0, 0, 0, time.UTC), shots: shots}
	s.put("run_started", run.RunStarted{
		Schema: run.Schema, Task: "Write a shopping list with milk, bread and apples, save it as shopping.txt, and then replace bread by rolls.",
		Planning: "off", Guard: "none", Models: map[string]string{"actor": "person"}, Replay: &run.Replay{Run: "20260102T150405Z-7f3a9c", How: "macro"},
	}, 0)
	s.look("Untitled 1 - Mousepad", screen.SettledQuiet)
	s.repeat(actuator.Delivered, run.Located{How: "scaled_patch", Target: `button "Save"`, Was: image.Pt(800, 200), Now: image.Pt(500, 400), Score: .973}, nil,
		click(500, 400), actuator.Type{Text: "Milk\nBread\nApples"})
	s.repeat(actuator.Delivered, run.Located{Index: 7, How: "model", Target: "nothing like it"}, &run.Diverged{Of: 2, Frame: "f0002", Expected: `a window titled "Save As"`, Found: `a dialog "Overwrite?"`, Healing: true},
		actuator.Press{Keys: []actuator.Key{"ctrl", "s"}, Count: 1})
	s.repeat(actuator.Refused, run.Located{}, nil, click(660, 46))
	s.step++
	s.put("diverged", run.Diverged{Of: 4, Frame: "f0004", Expected: "the button Save", Found: "no such button"}, time.Millisecond)
	s.put("run_ended", run.RunEnded{Outcome: run.OutcomeBlocked, Answer: "step 4 is not as recorded", Steps: 4}, time.Millisecond)
	require.NoError(t, j.Close())
	r, err := replay.Open(j.Dir())
	require.NoError(t, err)
	return r
}

func (s *story) repeat(status actuator.Status, found run.Located, lost *run.Diverged, actions ...actuator.Action) {
	s.t.Helper()
	s.step++
	p := run.Proposed{FrameID: s.frame, Thought: "As recorded.", Params: []run.Param{{Index: 1, Name: "items"}, {Index: 99, Name: "out of range"}}}
	for _, a := range actions {
		p.Actions = append(p.Actions, run.Recorded{Action: a})
	}
	if lost != nil {
		s.put("diverged", *lost, time.Millisecond)
	}
	s.put("proposed", p, 3*time.Millisecond)
	if found.How != "" {
		s.put("located", found, time.Millisecond)
	}
	s.do("Save As", status, "", actions...)
}

func TestReportTellsAReplay(t *testing.T) {
	page := render(t, redone(t, drawn(5, image.Pt(1280, 800))))
	words := html.UnescapeString(page)
	for _, text := range []string{
		"replay of 20260102T150405Z-7f3a9c: its actions, without a model", "done by a person",
		`Found again</b> by its picture, at another size: button "Save" <span>(800, 200) → (500, 400), score 0.97`,
		"by a model: nothing like it", "parameter items", `a dialog "Overwrite?"`, "step 2 of the recorded run, frame f0002",
		"a model is asked", "The desktop is not as recorded", `class="line found"`,
	} {
		assert.True(t, strings.Contains(words, text), text)
	}
	assert.False(t, strings.Contains(words, "<dt>model calls"), "none was asked")
	assert.False(t, strings.Contains(words, "out of range"))
	v := newView(redone(t, drawn(5, image.Pt(320, 240))))
	var got []mood
	for _, e := range v.Steps {
		got = append(got, e.Mood)
	}
	assert.Equal(t, []mood{"", good, healed, bad, diverged}, got)
}
