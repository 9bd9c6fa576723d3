package replaytest_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/replay/offline"
	"desktop-agent/replay/replaytest"
	"desktop-agent/run"
)

// TestForms replays, with neither desktop nor model, the kept runs of every adapter, of a
// dialect and of two models that gave way to another: each goes the same way, and asks the
// models by the names that it asked them by. TestRunByEach records them anew.
func TestForms(t *testing.T) {
	dirs, err := filepath.Glob("testdata/forms/*")
	require.NoError(t, err)
	var names []string
	for _, dir := range dirs {
		name := filepath.Base(dir)
		names = append(names, name)
		t.Run(name, func(t *testing.T) {
			stored, err := replay.Open(dir)
			require.NoError(t, err)
			var recorded, asked []string
			for e, err := range stored.Events() {
				require.NoError(t, err)
				if call, ok := e.Data.(run.ModelCalled); ok && call.Role == llm.Actor {
					recorded = append(recorded, call.Model)
				}
			}
			r := replaytest.Run(t, dir)
			require.Equal(t, run.OutcomeDone, r.Outcome)
			require.Equal(t, "All is typed.", r.Answer)
			stored, err = replay.Open(dir) // with -update it is another now
			require.NoError(t, err)
			again, err := offline.New(stored, &offline.Options{Watch: func(e run.Event) {
				if call, ok := e.Data.(run.ModelCalled); ok && call.Role == llm.Actor {
					asked = append(asked, call.Model)
				}
			}})
			require.NoError(t, err)
			_, err = again.Run(t.Context())
			require.NoError(t, err)
			require.Equal(t, recorded, asked)
			if name == "fallback" || name == "fallback-elsewhere" {
				require.Len(t, slices.Compact(asked), 2, "one way, and not back")
			}
		})
	}
	require.Equal(t, []string{"anthropic", "chat", "dialect", "fallback", "fallback-elsewhere", "gemini", "responses", "responses-stored"}, names)
}
