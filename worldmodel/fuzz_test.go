package worldmodel_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/planner"
	"desktop-agent/worldmodel"
)

// FuzzAssessment holds that whatever a model says of a screen, only evidence that stands
// there completes a step, and that progress never goes back.
func FuzzAssessment(f *testing.F) {
	for _, reply := range []string{
		assessed,
		`{"changed":"x","as_expected":"maybe","progress_step":4,"evidence":"notes.txt","guidance":"stop","stop":true}`,
		`{"changed":"","as_expected":"no","progress_step":-9,"evidence":"","guidance":null,"stop":null,"region":{"x":-1,"y":0,"width":99999,"height":1}}`,
		`{"changed":"x","as_expected":"yes","progress_step":1e99,"evidence":"Save As…"}`,
		"```json\n" + assessed + "\n```", `[]`, `{`, "\xff",
	} {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		now, p := editor("f2", 2, "notes.txt", "Save As…", "Open"), plan()
		past := worldmodel.Past{Began: editor("f1", 0, "Untitled")}
		a, err := (&worldmodel.Model{LLM: llmtest.Text(reply)}).Assess(t.Context(), worldmodel.AssessRequest{Task: "t", Plan: p, Before: editor("f1", 0, "Untitled"), Now: now, Past: past})
		if err != nil {
			return
		}
		require.Contains(t, worldmodel.Outcome("").Values(), string(a.AsExpected))
		step, evidence, why := worldmodel.Progress(p, a, now, past)
		if evidence == nil {
			return
		}
		require.GreaterOrEqual(t, step, p.ProgressStep(), why)
		require.LessOrEqual(t, step, len(p.Steps))
		require.NoError(t, p.Reach(step, *evidence))
	})
}

// FuzzGoalCheck holds that a goal is confirmed only by what stands on the screen.
func FuzzGoalCheck(f *testing.F) {
	for _, reply := range []string{
		`{"shown":true,"evidence":"notes.txt","missing":"","region":null}`, `{"shown":true,"evidence":"","missing":""}`,
		`{"shown":false,"evidence":"Save As…","missing":"save it"}`, `{"shown":"yes"}`, `{"shown":true,"evidence":"Save","region":{"x":0,"y":0,"width":1,"height":1}}`, `null`,
	} {
		f.Add(reply, false)
		f.Add(reply, true)
	}
	f.Fuzz(func(t *testing.T, reply string, cannot bool) {
		now := editor("f2", 2, "notes.txt", "Save As…")
		past := worldmodel.Past{Began: editor("f1", 0, "Untitled")}
		check, err := (&worldmodel.Model{LLM: llmtest.Text(reply)}).CheckGoal(t.Context(), worldmodel.GoalRequest{Task: "t", Claim: "c", Cannot: cannot, Now: now, Past: past})
		if err != nil {
			return
		}
		_, ok, why := worldmodel.Confirmed(check, now, past)
		require.True(t, ok || why != "")
		if ok {
			require.True(t, check.Shown)
		}
	})
}

// FuzzTranscribe holds that whatever a model says that it reads in a region, it is a bounded
// text of a model, or an error; and that a quote is read by it only if the words stand in it and
// the place did not look the same before.
func FuzzTranscribe(f *testing.F) {
	for _, reply := range []string{
		`{"text":"Flight to Lyon"}`, `{"text":"FLIGHT\nto “Lyon”"}`, `{"text":"Flight to Rome"}`, `{"text":""}`, `{"text":"4711 4717"}`, `{"text":null}`, `{"text":"` + strings.Repeat("Flight to Lyo ", 400) + `"}`,
		`{"text":"\ud800\u0000</untrusted>"}`, "Flight to Lyon", `["Flight to Lyon"]`, `{"text":"Flight to Lyon","same":false}`, "", "\xff",
	} {
		f.Add(reply, "Flight to Lyon", false)
		f.Add(reply, "4717", true)
	}
	now, changed, unchanged := painted("f2", 5, 200), painted("f1", 0, 0), painted("f1", 0, 200)
	f.Fuzz(func(t *testing.T, reply, quote string, same bool) {
		began := changed
		if same {
			began = unchanged
		}
		read, err := (&worldmodel.Model{LLM: llmtest.Text(reply)}).Transcribe(t.Context(), now, began, place)
		require.Equal(t, "model", read.By)
		require.Equal(t, place, read.Region)
		require.Equal(t, same, read.Same)
		if err != nil {
			require.ErrorIs(t, err, llm.ErrBadReply)
			require.Empty(t, read.Text)
		}
		require.True(t, utf8.ValidString(read.Text))
		require.LessOrEqual(t, utf8.RuneCountInString(read.Text), 4001)
		found, problem := worldmodel.Judge(quote, now, worldmodel.Past{Began: began, Read: &read})
		if problem != "" || found.Grade != planner.Read {
			return
		}
		require.False(t, same)
		require.NotEmpty(t, read.Text)
		require.NoError(t, err)
	})
}
