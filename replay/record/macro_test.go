//go:build linux

package record_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/replay"
	"desktop-agent/replay/macro"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
)

// find returns where the middle of a control is, once it is there.
func (s *stage) find(role, name string) *actuator.Point {
	s.t.Helper()
	for {
		o, err := s.quick.Observe(s.ctx)
		require.NoError(s.t, err, "%s %q does not appear", role, name)
		for _, n := range o.Tree.Nodes {
			if strings.Contains(n.Role, role) && n.Name == name {
				at := n.Box.Min.Add(n.Box.Max).Div(2)
				s.rest(human) // a person has to aim
				return &actuator.Point{X: at.X, Y: at.Y}
			}
		}
	}
}

// editor opens the editor on a desktop of its own.
func editor(t *testing.T) *stage {
	s := newStage(t, "")
	_, err := s.desktop.Open(s.ctx, "mousepad")
	require.NoError(t, err)
	s.find("menu", "File")
	return s
}

// saved returns a file of the desktop's home once it is there.
func (s *stage) saved(name string) string {
	s.t.Helper()
	for {
		data, err := os.ReadFile(filepath.Join(s.desktop.Home(), name))
		if err == nil && len(data) > 0 {
			return string(data)
		}
		require.NoError(s.t, s.ctx.Err(), "%s is not saved", name)
		s.rest(50 * time.Millisecond)
	}
}

// TestReplay writes and saves a text in an editor, and has the recording do the
// same on another desktop.
func TestReplay(t *testing.T) {
	const file, text = "list.txt", "milk\nGrüße\n2 apples"
	folder := t.TempDir()
	var stored *replay.Run
	t.Run("record", func(t *testing.T) {
		s := editor(t)
		result, recorded := s.record(false, func() {
			s.rest(human)
			s.do(human, actuator.Type{Text: text})
			s.do(human, actuator.Click{At: s.find("menu", "File"), Button: actuator.Left, Count: 1})
			s.do(human, actuator.Click{At: s.find("menu item", "Save As..."), Button: actuator.Left, Count: 1})
			s.find("button", "Save")
			s.do(human, actuator.Press{Keys: []actuator.Key{"ctrl", "a"}, Count: 1}, actuator.Type{Text: file})
			s.do(human, actuator.Click{At: s.find("button", "Save"), Button: actuator.Left, Count: 1})
		})
		stored = recorded
		assert.Zero(t, result.Missed+result.Unsure+result.Withheld+result.Secrets)
		assert.Equal(t, text, s.saved(file))
		dir := filepath.Join(folder, "run")
		require.NoError(t, os.CopyFS(dir, os.DirFS(stored.Dir)))
		var err error
		stored, err = replay.Open(dir)
		require.NoError(t, err)
	})
	require.NotNil(t, stored)
	t.Run("replay", func(t *testing.T) {
		s := editor(t)
		m, err := macro.Load(stored, nil)
		require.NoError(t, err)
		journal, err := replay.Create(t.TempDir())
		require.NoError(t, err)
		defer journal.Close()
		result, err := macro.New(runtest.On(t, s.desktop.Display(), s.screen, journal)).Play(s.ctx, m)
		require.NoError(t, err)
		assert.Equal(t, run.OutcomeDone, result.Outcome)
		assert.Equal(t, text, s.saved(file))
	})
}
