package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/engine"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
)

// TestKnown holds what code proves of a step that is not on the screen, and that all else is
// a claim: what a model wrote, a text that is part of a word, one that must not be there.
func TestKnown(t *testing.T) {
	for _, tt := range []struct {
		executor         planner.Executor
		doneWhen, output string
		want             planner.Grade
		quote            string
	}{
		{planner.Tool, `The result says "12 bytes"`, "wrote 12 bytes", planner.Proved, "12 bytes"},
		{planner.Tool, "It has “Ann” and `Bea`", "Bea, Ann", planner.Proved, "Ann; Bea"},
		{planner.Tool, `The result says "12 bytes"`, "wrote 112 bytes", planner.Claimed, ""},
		{planner.Tool, `The result says "2 bytes"`, "wrote 12 bytes, then 2 bytes", planner.Proved, "2 bytes"},
		{planner.Tool, "It has “Ann” and `Bea`", "Ann", planner.Claimed, ""},
		{planner.Tool, `The result says "保存"`, "已保存文件", planner.Proved, "保存"},
		{planner.Tool, `The result says "cafe"`, "cafe\u0301", planner.Claimed, ""},
		{planner.Tool, `The result says "12 bytes"`, "wrote 12\nbytes", planner.Proved, "12 bytes"},
		{planner.Tool, `The result says " "`, "wrote 12 bytes", planner.Claimed, ""},
		{planner.Tool, `The result does not say "error"`, "error", planner.Claimed, ""},
		{planner.Tool, `There isn't "error" in it`, "error", planner.Claimed, ""},
		{planner.Tool, "The text of the notes", "the text of the notes", planner.Claimed, ""},
		{planner.Tool, "", "done", planner.Claimed, ""},
		{planner.Self, `It says "yes"`, "yes", planner.Claimed, ""},
		{planner.Agent, `It says "yes"`, "yes", planner.Claimed, ""},
	} {
		e := engine.Known(&planner.Step{Executor: tt.executor, DoneWhen: tt.doneWhen}, tt.output, time.Unix(1, 0))
		assert.Equal(t, tt.want, e.Grade, "%s: %s", tt.doneWhen, tt.output)
		assert.Equal(t, tt.quote, e.Quote)
	}
}

// TestStepsHaveGrades holds that each step that is done says how well that is known, in the
// plan and in its event; that the plan's end is known as well as its last step; and that a
// step with a plan of its own is known as well as that.
func TestStepsHaveGrades(t *testing.T) {
	w := newWorld(t, map[string]tool{"write": {}}, map[string]func(*llm.Request) string{
		"self": always(`{"output": "a word", "reached": true, "missing": null}`), "reflect": goesOn, "conclude": met("over"),
	})
	proved := step("s2", "write", "s1")
	proved.DoneWhen = `The result says "write done"`
	inner := agentStep("s3", engine.ProfileTools)
	inner.Sub = plan(proved)
	inner.Sub.Steps[0].Needs = nil
	x, err := w.Begin(plan(planner.Step{ID: "s1", Goal: "Think", Executor: planner.Self}, inner, proved))
	require.NoError(t, err)
	result, err := x.Execute(t.Context())
	require.NoError(t, err)
	require.True(t, result.Success, result.Answer)
	var got []planner.Grade
	for _, s := range result.Final.Steps {
		got = append(got, s.Evidence.Grade)
	}
	assert.Equal(t, []planner.Grade{planner.Claimed, planner.Proved, planner.Proved}, got)
	assert.Equal(t, planner.Proved, result.Grade)
	for _, e := range runtest.All[run.StepEnded](w.Journal.Events()) {
		require.NotNil(t, e.Evidence, e.Step)
	}
}
