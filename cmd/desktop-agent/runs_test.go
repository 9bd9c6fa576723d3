package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/engine"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/replay"
	"desktop-agent/replay/replaytest"
	"desktop-agent/run"
)

// Two runs, named as runs are.
const (
	runA = "20260101T000000Z-00000a"
	runB = "20260102T000000Z-00000b"
)

// library is a folder with two copies of the demo's run.
func library(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, id := range []string{runA, runB} {
		require.NoError(t, os.CopyFS(filepath.Join(dir, id), os.DirFS("demo/run")))
	}
	return dir
}

// agentSays runs a command line on a folder of runs.
func agentSays(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	var out, errs bytes.Buffer
	code = execute(context.Background(), append([]string{"runs", "--runs", dir}, args...), console{&out, &errs})
	return code, out.String(), errs.String()
}

func TestRunsList(t *testing.T) {
	dir := library(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, runA, "run.json"), []byte("{\x1b"), 0o600))
	code, out, errs := agentSays(t, dir, "list")
	assert.Zero(t, code, errs)
	assert.Regexp(t, `(?m)^RUN +STATE +STEPS +CALLS`, out)
	assert.Regexp(t, `(?m)^`+runB+` +done +12 +26 .* In the text editor, write a shopping list`, out)
	assert.Regexp(t, `(?m)^`+runA+` +damaged .*run\.json: `, out)
	assert.NotContains(t, out, "\x1b")

	code, out, _ = agentSays(t, dir, "list", "--json")
	assert.Zero(t, code)
	var ids []string
	for line := range strings.Lines(out) {
		var s replay.Summary
		require.NoError(t, json.Unmarshal([]byte(line), &s))
		ids = append(ids, s.ID+" "+s.Status())
	}
	assert.Equal(t, []string{runB + " done", runA + " damaged"}, ids)
}

// TestRunsListResumable holds that the list calls those runs resumable that resume goes on
// with: not one whose actor wrote actions as this program cannot read.
func TestRunsListResumable(t *testing.T) {
	dir := t.TempDir()
	for _, parser := range []string{"code", "none of these"} {
		j, err := replay.Create(dir)
		require.NoError(t, err)
		require.NoError(t, j.Append(t.Context(), 0, run.RunStarted{Schema: run.Schema, Task: "by " + parser, Planning: "off", Parser: parser}))
		require.NoError(t, j.Close())
	}
	_, out, _ := agentSays(t, dir, "list")
	assert.Regexp(t, `(?m) interrupted, resumable .* by code$`, out)
	assert.Regexp(t, `(?m) interrupted  .* by none of these$`, out)
	_, out, _ = agentSays(t, dir, "list", "--json")
	for line := range strings.Lines(out) {
		var s replay.Summary
		require.NoError(t, json.Unmarshal([]byte(line), &s))
		assert.Equal(t, s.Task == "by code", s.Resumable, s.Task)
	}
}

func TestRunsShow(t *testing.T) {
	dir := library(t)
	code, out, errs := agentSays(t, dir, "show", "00000a")
	assert.Zero(t, code, errs)
	for _, want := range []string{": done after 12 steps, 26 model calls", "step 3  saw f0003", `did: click left on menu item "Save As..." → delivered`,
		"did: type 12 characters → delivered", "plan: Find the dialog", "note: the goal is reached"} {
		assert.Contains(t, out, want)
	}
	assert.NotContains(t, out, `type "shopping.txt"`)

	code, out, _ = agentSays(t, dir, "show", "last", "--step", "4", "--typed")
	assert.Zero(t, code)
	assert.Contains(t, out, `did: type "shopping.txt" → delivered`)
	assert.NotContains(t, out, "step 5 ")

	code, out, _ = agentSays(t, dir, "show", "last", "--json", "--step", "4")
	assert.Zero(t, code)
	var step shownStep
	require.NoError(t, json.Unmarshal([]byte(out), &step))
	assert.Equal(t, 4, step.Step)
	assert.Equal(t, "type 12 characters", step.Actions[0].Words)

	code, _, errs = agentSays(t, dir, "show", "last", "--step", "99")
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "has no step 99")
	assert.Contains(t, errs, "hint: it has 12 steps")
}

// What a guard refused is told; what it would have typed only with --typed.
func TestRunsShowTellsOfARefusal(t *testing.T) {
	dir := t.TempDir()
	j, err := replay.Create(dir)
	require.NoError(t, err)
	require.NoError(t, j.Append(t.Context(), 0, run.RunStarted{Schema: run.Schema, Task: "x"}))
	require.NoError(t, j.Append(t.Context(), 1, run.Refused{Action: run.Recorded{Action: actuator.Type{Text: "hunter2"}}, Guard: "strict", Reason: "hunter2 is a password"}))
	require.NoError(t, j.Append(t.Context(), 1, run.RunEnded{Outcome: run.OutcomeBlocked}))
	require.NoError(t, j.Close())
	code, out, errs := agentSays(t, dir, "show", "last")
	assert.Zero(t, code, errs)
	assert.Contains(t, out, "note: the guard strict refused to type 7 characters")
	assert.NotContains(t, out, "hunter2")
	_, out, _ = agentSays(t, dir, "show", "last", "--typed")
	assert.Contains(t, out, `refused to type "hunter2": hunter2 is a password`)
}

// TestRunsShowTellsADeliberatePlan holds that a step of a run with a deliberate plan is told
// with whose it is, the plan with who does what, and what became of its steps.
func TestRunsShowTellsADeliberatePlan(t *testing.T) {
	shown := showStep(&replay.Step{
		N: 1, Planned: []run.Planned{{Plan: &planner.Plan{Mode: planner.Deliberate, Steps: []planner.Step{
			{ID: "s2", Goal: "Read it", Status: planner.Running, Executor: planner.Tool, Action: "read", Needs: []string{"s1"}},
		}}}},
		Events: []run.Event{{Agent: "agent/s2", PlanStep: 2, Data: run.StepEnded{Step: "s2", Status: planner.Failed, Error: "no file", Millis: 7}}},
	}, false)
	var out strings.Builder
	require.NoError(t, shown.print(&out))
	for _, text := range []string{"step 1 of agent/s2, for s2 of the plan", "plan: s2 tool read: Read it (running), needs s1", "note: s2 failed in 7 ms: no file"} {
		assert.Contains(t, out.String(), text)
	}
}

// TestRunsShowTellsTheTimeOfCalls holds that a step's time has that of model calls that
// ran at the same time, which are written when they end; and that a cost without a price
// is unknown, and no 0.
func TestRunsShowTellsTheTimeOfCalls(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(seconds int, data run.EventData) run.Event {
		return run.Event{Time: began.Add(time.Duration(seconds) * time.Second), Step: 2, Kind: run.Kind(data), Data: data}
	}
	shown := showStep(&replay.Step{N: 2, Since: began, Events: []run.Event{
		at(4, run.ModelCalled{Role: "actor", Millis: 4000}), at(5, run.ModelCalled{Role: "worldmodel", Millis: 5000}), at(6, run.Proposed{}),
	}}, false)
	assert.EqualValues(t, 6000, shown.Millis)
	shown = showStep(&replay.Step{N: 2, Since: began, Events: []run.Event{at(1, run.Acted{})}, Acts: []*run.Deed{{
		Acting: run.Acting{Action: run.Recorded{Action: actuator.Wait{Milliseconds: 1}}}, Acted: &run.Acted{Status: actuator.Refused, Detail: "refused: no"},
	}}}, false)
	assert.Equal(t, "no", shown.Actions[0].Detail, "it is said once that it was refused")

	for _, priced := range []bool{false, true} {
		dir := t.TempDir()
		j, err := replay.Create(dir)
		require.NoError(t, err)
		first := run.RunStarted{Schema: run.Schema, Task: "x", Models: map[string]string{"actor": "m"}}
		if priced {
			first.Settings.Models.Prices = llm.Prices{"m": {}}
		}
		require.NoError(t, j.Append(t.Context(), 0, first))
		require.NoError(t, j.Append(t.Context(), 1, run.ModelCalled{Role: "actor"}))
		require.NoError(t, j.Append(t.Context(), 1, run.RunEnded{Outcome: run.OutcomeStuck, Calls: 1, Steps: 1, Overridden: 2}))
		require.NoError(t, j.Close())
		_, out, _ := agentSays(t, dir, "show", "last")
		assert.Equal(t, !priced, strings.Contains(out, "1 model call, cost unknown, "), out)
		assert.Equal(t, priced, strings.Contains(out, "1 model call, $0, "), out)
		assert.Contains(t, out, "stuck after 1 step")
		assert.Contains(t, out, "note: ended: stuck, 2 objections overridden")
	}
}

func TestRunsDiff(t *testing.T) {
	dir := library(t)
	code, out, errs := agentSays(t, dir, "diff", runA, runB)
	assert.Zero(t, code, errs)
	assert.Contains(t, out, "they did the same, with the same results")

	other := another(t, dir)
	code, out, errs = agentSays(t, dir, "diff", runA, other)
	assert.Equal(t, exitNotDone, code, errs)
	assert.Contains(t, out, "parted at step 1: A: click left at (640, 511) on text, then type 17 characters; B: nothing")
	assert.Contains(t, out, "note: the tasks differ")

	code, out, _ = agentSays(t, dir, "diff", runA, other, "--json")
	assert.Equal(t, exitNotDone, code)
	var c replay.Comparison
	require.NoError(t, json.Unmarshal([]byte(out), &c))
	assert.Equal(t, 1, c.Parted)

	page := filepath.Join(t.TempDir(), "both.html")
	code, out, errs = agentSays(t, dir, "diff", runA, other, "--html", page)
	assert.Equal(t, exitNotDone, code, errs)
	assert.Equal(t, page+"\n", out)
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.True(t, bytes.Contains(html, []byte(other+" compared</title>")))
	code, _, errs = agentSays(t, dir, "diff", runA, other, "--html", page)
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "hint: name a file with --html that is not there yet")
}

// another records a run without a step.
func another(t *testing.T, dir string) string {
	t.Helper()
	j, err := replay.Create(dir)
	require.NoError(t, err)
	defer j.Close()
	require.NoError(t, j.Append(t.Context(), 0, run.RunStarted{Schema: run.Schema, Task: "another"}))
	require.NoError(t, j.Append(t.Context(), 1, run.RunEnded{Outcome: run.OutcomeBlocked}))
	return j.ID()
}

// TestRunsVerify holds that a run whose files are as they were is told to be whole, and that
// one of which a file was changed or taken away, or that has another end than the one that
// was noted, is told to be damaged, with what is wrong.
func TestRunsVerify(t *testing.T) {
	dir := library(t)
	name := another(t, dir)
	code, out, errs := agentSays(t, dir, "verify", name, runA, runB)
	require.Zero(t, code, errs+out)
	assert.Contains(t, out, "whole    "+filepath.Join(dir, name))
	_, head, ok := strings.Cut(out, "  head: ")
	require.True(t, ok)
	head, _, _ = strings.Cut(head, "\n")

	code, _, _ = agentSays(t, dir, "verify", name, "--head", head)
	assert.Zero(t, code)
	code, out, _ = agentSays(t, dir, "verify", name, "--head", strings.Repeat("0", 64))
	assert.Equal(t, exitError, code)
	assert.Contains(t, out, "its head is not the one given with --head")

	require.NoError(t, os.Remove(filepath.Join(dir, runA, "frames", "f0007.png")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, runB, "run.json"), nil, 0o600))
	code, out, _ = agentSays(t, dir, "verify", runA, runB, name)
	assert.Equal(t, exitError, code)
	assert.Contains(t, out, "DAMAGED")
	assert.Contains(t, out, "problem: frames/f0007.png: it is missing")
	assert.Contains(t, out, "problem: run.json: ")
	assert.Contains(t, out, "whole    "+filepath.Join(dir, name), "one that is damaged does not hide the others")
	code, out, _ = agentSays(t, dir, "verify", runA, "--json")
	assert.Equal(t, exitError, code)
	assert.Contains(t, out, `"file":"frames/f0007.png"`)
}

// A run in a form of another version is named with what to do, and the exit code
// of bad input, by all that reads it; verify tells of the others all the same.
func TestRunsOfAnotherVersion(t *testing.T) {
	dir := library(t)
	for _, tt := range []struct{ schema, want string }{
		{"1", "journal schema 1, older than schema 2, which this program reads): record the run again"},
		{"3", "journal schema 3, newer than schema 2, which this program reads): update desktop-agent"},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, runB, "run.json"), []byte(`{"schema":`+tt.schema+`}`), 0o600))
		for _, args := range [][]string{{"show", runB}, {"diff", runA, runB}, {"verify", runB, runA}} {
			code, out, errs := agentSays(t, dir, args...)
			assert.Equal(t, exitUsage, code, args)
			assert.Contains(t, errs, tt.want, args)
			if args[0] == "verify" {
				assert.Contains(t, out, "whole    "+filepath.Join(dir, runA))
				assert.NotContains(t, out, "DAMAGED")
			}
		}
		code, out, errs := agentSays(t, dir, "list")
		assert.Zero(t, code, errs)
		assert.Contains(t, out, "journal schema "+tt.schema)
	}
}

func TestRunsPrune(t *testing.T) {
	dir := library(t)
	code, out, errs := agentSays(t, dir, "prune", "--keep", "1", "--dry-run")
	assert.Zero(t, code, errs)
	assert.Contains(t, out, "00000")
	assert.Contains(t, errs, "would be removed: 1 run, ")
	assert.DirExists(t, filepath.Join(dir, runA))

	code, _, errs = agentSays(t, dir, "prune", "--max-size", "1B", "--yes")
	assert.Zero(t, code, errs)
	assert.Contains(t, errs, "removed: 2 runs, ")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestRunsExport(t *testing.T) {
	begun, to := replaytest.First(t, "demo/run", 4), t.TempDir() // in the fourth the name of the file is typed
	dir, runA := filepath.Dir(begun.Dir), begun.Info.ID
	code, out, errs := agentSays(t, dir, "export", runA, "--as", "run", "--to", filepath.Join(to, "copy"), "--redact-typed")
	require.Zero(t, code, errs)
	stored, err := replay.Open(strings.TrimSpace(out))
	require.NoError(t, err)
	v, err := stored.Verify(t.Context())
	require.NoError(t, err)
	assert.Empty(t, v.Problems)
	code, out, errs = agentSays(t, filepath.Join(to, "copy"), "show", "last", "--typed")
	require.Zero(t, code, errs)
	assert.NotContains(t, out, "shopping.txt")

	masked := filepath.Join(to, "masked.html")
	code, _, errs = agentSays(t, dir, "export", runA, "--to", masked, "--redact", "shopping")
	require.Zero(t, code, errs)
	html, err := os.ReadFile(masked)
	require.NoError(t, err)
	assert.True(t, bytes.Contains(html, []byte("</html>")))
	assert.False(t, bytes.Contains(html, []byte("shopping")))

	page := filepath.Join(to, "page")
	code, _, errs = agentSays(t, dir, "export", runA, "--as", "markdown", "--to", page)
	require.Zero(t, code, errs)
	entries, err := os.ReadDir(page)
	require.NoError(t, err)
	assert.NotEmpty(t, entries)
	code, _, errs = agentSays(t, dir, "export", runA, "--as", "markdown", "--to", page)
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "hint: name a file or folder with --to that is not there yet")

	film := filepath.Join(to, "film.gif")
	code, _, errs = agentSays(t, dir, "export", runA, "--to", film, "--width", "320")
	require.Zero(t, code, errs)
	data, err := os.ReadFile(film)
	require.NoError(t, err)
	assert.True(t, bytes.HasPrefix(data, []byte("GIF8")))

	code, _, errs = agentSays(t, dir, "export", runA, "--as", "mp4", "--to", filepath.Join(to, "film.avi"))
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "does not end with .mp4")
}

// TestReplayRefusesStepsAtTheSameTime holds that a run with a deliberate plan whose steps were
// done at the same time is not replayed offline, and that it is said what can be done.
func TestReplayRefusesStepsAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	j, err := replay.Create(dir)
	require.NoError(t, err)
	settings := run.Defaults()
	settings.Agent.Planning, settings.Agent.Format = engine.Deliberate, "code"
	for _, data := range []run.EventData{
		run.RunStarted{Schema: run.Schema, Task: "x", Planning: engine.Deliberate, Parser: "code", Settings: settings},
		run.StepStarted{Step: "s1", Executor: planner.Tool, Action: "a", Attempt: 1}, run.StepStarted{Step: "s2", Executor: planner.Tool, Action: "b", Attempt: 1},
		run.StepEnded{Step: "s1", Status: planner.Completed}, run.StepEnded{Step: "s2", Status: planner.Completed}, run.RunEnded{Outcome: run.OutcomeDone},
	} {
		require.NoError(t, j.Append(t.Context(), 0, data))
	}
	require.NoError(t, j.Close())
	var out, errs bytes.Buffer
	code := execute(t.Context(), []string{"replay", "--offline", "--runs", dir, "last"}, console{&out, &errs})
	assert.Equal(t, exitUsage, code, errs.String())
	assert.Contains(t, errs.String(), "step s2 begins while s1 is being done")
	assert.Contains(t, errs.String(), "hint: look at it with desktop-agent runs show; with --execution sequential")
	assert.Empty(t, out.String())
}
