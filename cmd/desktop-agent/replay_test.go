//go:build linux

package main

import (
	"bytes"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/replay"
	"desktop-agent/run"
)

// again replays the demo's run, and returns the run that is written.
func again(t *testing.T, wantCode int, args ...string) (stored *replay.Run, said string) {
	t.Helper()
	runs := t.TempDir()
	var out, progress bytes.Buffer
	code := execute(t.Context(), append([]string{"replay", "--runs", runs, "demo/run"}, args...), console{&out, &progress})
	require.Equal(t, wantCode, code, "%s%s", out.String(), progress.String())
	assert.Empty(t, out.String())
	dir, err := replay.Find(runs, "last")
	require.NoError(t, err)
	stored, err = replay.Open(dir)
	require.NoError(t, err)
	assert.FileExists(t, filepath.Join(dir, "report.html"))
	return stored, progress.String()
}

// title is the title of the window with the focus on the last screen.
func title(t *testing.T, stored *replay.Run) (last string) {
	t.Helper()
	for step, err := range stored.Steps() {
		require.NoError(t, err)
		if step.After == nil {
			continue
		}
		for _, w := range step.After.Windows {
			if w.Focused {
				last = w.Title
			}
		}
	}
	return last
}

func TestReplayLiveDesktop(t *testing.T) {
	stored, said := again(t, exitDone, "--live-desktop")
	assert.Contains(t, said, "desktop: private, 1280×960, with mousepad, home demo/home\n")
	of, err := replay.Open("demo/run")
	require.NoError(t, err)
	assert.Equal(t, &run.Replay{Run: of.Info.ID, How: "model"}, stored.Info.Asked.Replay)
	assert.Contains(t, stored.Info.Asked.Guard, "table alone", "the recording had no guard")
	assert.Equal(t, "shopping.txt - Mousepad", title(t, stored))
}

// TestReplayLiveDesktopElsewhere gives the recorded replies where they do not fit.
func TestReplayLiveDesktopElsewhere(t *testing.T) {
	stored, said := again(t, exitNotDone, "--live-desktop", "--size", "1024x768")
	assert.Contains(t, said, "does not match the recording at step 1")
	assert.Contains(t, said, "\nhint: begin from the same state")
	assert.Equal(t, run.OutcomeFailed, stored.Info.Ended.Outcome)
}

// TestReplayLiveDesktopRefuses: where there are no replies that an agent could be given, or no
// desktop, nothing is begun.
func TestReplayLiveDesktopRefuses(t *testing.T) {
	for want, asked := range map[string]run.RunStarted{
		"no model decided in run r1":        {},
		"run r1 executed a deliberate plan": {Parser: "code", Planning: "deliberate"},
		"no display":                        {Parser: "code", Planning: "suggestive", Settings: run.Settings{Agent: run.Defaults().Agent}},
	} {
		read, line := parsedLine(t, []string{"replay", "last", "--live-desktop"}, "", map[string]string{"DISPLAY": ""})
		stored := &replay.Run{Dir: t.TempDir(), Info: replay.Info{ID: "r1", Asked: &asked}}
		var out, progress bytes.Buffer
		err := read.Replay.live(t.Context(), console{&out, &progress}, read, stored, line)
		var usage *usageError
		require.ErrorAs(t, err, &usage, "nothing was opened, and the program ends with 2")
		assert.ErrorContains(t, err, want)
		assert.Empty(t, progress.String())
	}
}

// TestReplayMacro does the recorded actions on a screen of another size, with
// another file name.
func TestReplayMacro(t *testing.T) {
	stored, said := again(t, exitDone, "--macro", "--size", "1024x768", "--set", "file=einkauf.txt", "--yes")
	assert.Contains(t, said, "desktop: private, 1024×768, with mousepad, home demo/home\n")
	assert.Contains(t, said, "11 of 11 steps done\n")
	assert.Equal(t, "macro", stored.Info.Asked.Replay.How)
	assert.Contains(t, stored.Info.Asked.Guard, "table alone", "the recording had no guard")
	assert.Equal(t, "einkauf.txt - Mousepad", title(t, stored))
}

// TestReplayMacroElsewhere does the recorded actions where another program is.
func TestReplayMacroElsewhere(t *testing.T) {
	stored, said := again(t, exitNotDone, "--macro", "--open", "xterm")
	assert.Contains(t, said, "0 of 11 steps done\n")
	assert.Contains(t, said, "\nhint: begin from the same state, or add --heal model")
	assert.FileExists(t, filepath.Join(stored.Dir, divergedFile))
	for e, err := range stored.Events() {
		require.NoError(t, err)
		assert.NotEqual(t, "acting", e.Kind, "nothing was done")
	}
}

// TestReplayGuard: the recording had no guard; whether one watches now is not for it to say. What a
// model chooses in place of a recorded step is refused where nobody foresees what it does.
func TestReplayGuard(t *testing.T) {
	e := newEndpoint(t, slices.Repeat([]http.HandlerFunc{says(`pyautogui.write("rm -r important\n")`)}, 80)...)
	healed := []string{"--macro", "--patience", "2s", "--open", "xterm", "--heal", "model", "--model", "m", "--base-url", e.URL + "/v1", "--approve", "never"}
	for _, tt := range []struct {
		name    string
		args    []string
		guard   string
		refused bool
	}{
		{"by default", healed, "foresight", true},
		{"none is wanted", append(slices.Clone(healed), "--guard=off"), "none", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stored, said := again(t, exitNotDone, tt.args...)
			assert.Contains(t, stored.Info.Asked.Guard, tt.guard)
			refused, did := false, false
			for e, err := range stored.Events() {
				require.NoError(t, err)
				refused = refused || e.Kind == "refused"
				did = did || e.Kind == "acting"
			}
			assert.Equal(t, []bool{tt.refused, !tt.refused}, []bool{refused, did}, said)
		})
	}
}
