//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/replay"
	"desktop-agent/run"
)

// TestDemo drives a real editor through the whole pipeline, with the recorded
// replies of a model.
func TestDemo(t *testing.T) {
	runs := t.TempDir()
	// What is set for other runs changes nothing.
	for name, value := range map[string]string{"PLAN": "off", "FORMAT": "tools", "MAX_STEPS": "1", "REVIEW_EVERY": "1", "MODEL": "m", "MAX_DOLLARS": "1"} {
		t.Setenv("DESKTOP_AGENT_"+name, value)
	}
	var out, progress bytes.Buffer
	code := execute(t.Context(), []string{"demo", "--runs", runs, "--plan=suggestive"}, console{&out, &progress})
	require.Equal(t, exitDone, code, "%s%s", out.String(), progress.String())
	assert.True(t, strings.HasPrefix(out.String(), "PASS: "), out.String())

	dirs, err := filepath.Glob(filepath.Join(runs, "*"))
	require.NoError(t, err)
	require.Len(t, dirs, 1)
	stored, err := replay.Open(dirs[0])
	require.NoError(t, err)
	advanced := 0
	for e, err := range stored.Events() {
		require.NoError(t, err)
		if d, ok := e.Data.(run.Assessed); ok && d.Advanced {
			advanced++
		}
	}
	assert.Equal(t, 6, advanced, "every step of the plan is completed by what the live screen shows")
	assert.FileExists(t, filepath.Join(dirs[0], "report.html"))
}

// TestDemoFailsOnAnotherFile holds that the demo passes by the bytes of the file
// alone.
func TestDemoFailsOnAnotherFile(t *testing.T) {
	for name, content := range map[string]string{"changed": "milk\nbread\napples", "missing": "", "one byte more": "milk\ncheese\napples\n"} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if content != "" {
				require.NoError(t, os.WriteFile(filepath.Join(home, "shopping.txt"), []byte(content), 0o600))
			}
			var out bytes.Buffer
			err := (&demoCmd{}).verdict(console{Out: &out}, map[string]string{"shopping.txt": "milk\ncheese\napples"}, home, nil, nil, 0, 0)
			assert.ErrorIs(t, err, errNotDone)
			assert.True(t, strings.HasPrefix(out.String(), "FAIL: "), out.String())
		})
	}
}
