//go:build linux

package macro_test

import (
	"context"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator/eventwin"
	"desktop-agent/replay"
	"desktop-agent/replay/macro"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// A desk is a private desktop with an editor.
type desk struct {
	*sandbox.Desktop
	screen *screen.Screen
	tree   *atspi.Reader
	trap   *eventwin.Window // fills the screen below all others
}

// A setting is what is other than when the demo was recorded.
type setting struct {
	size   image.Point
	dpi    int
	env    []string
	gtk    string // settings.ini of GTK 3
	noTree bool
}

// demoDir is the recorded run of the demo.
const demoDir = "../../cmd/desktop-agent/demo/run"

// openDesk starts a desktop with the demo's editor.
func openDesk(ctx context.Context, t *testing.T, s setting) *desk {
	t.Helper()
	home, err := os.MkdirTemp("", "desktop-agent-macro-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(home) })
	write := func(name, text string) {
		file := filepath.Join(home, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write(".config/glib-2.0/settings/keyfile", "[org/xfce/mousepad/preferences/window]\npath-in-title=false\n")
	if s.gtk != "" {
		write(".config/gtk-3.0/settings.ini", s.gtk)
	}
	if s.size == (image.Point{}) {
		s.size = image.Pt(1280, 960) // as the demo: a Save dialog fits, with its frame
	}
	d := &desk{}
	d.Desktop, err = sandbox.Start(ctx, &sandbox.Options{Size: s.size, DPI: s.dpi, Home: home, Env: s.env})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	d.trap, err = eventwin.Open(ctx, d.Display(), image.Rectangle{Max: s.size})
	require.NoError(t, err)
	t.Cleanup(func() { d.trap.Close() })
	_, err = d.Open(ctx, "mousepad")
	require.NoError(t, err)
	options := &screen.Options{Display: d.Display(), Settle: runtest.Settle}
	if !s.noTree {
		d.tree, err = atspi.Open(ctx, runtest.Tree(d))
		require.NoError(t, err)
		t.Cleanup(func() { d.tree.Close() })
		options.Tree = d.tree
	}
	d.screen, err = screen.Open(ctx, options)
	require.NoError(t, err)
	t.Cleanup(func() { d.screen.Close() })
	return d
}

// player returns a player on the desktop.
func (d *desk) player(t *testing.T, j run.Journal) *macro.Player {
	return macro.New(runtest.On(t, d.Display(), d.screen, j))
}

func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// load reads the macro of a run.
func load(t *testing.T, dir string) *macro.Macro {
	t.Helper()
	stored, err := replay.Open(dir)
	require.NoError(t, err)
	m, err := macro.Load(stored, nil)
	require.NoError(t, err)
	return m
}

func newJournal(t *testing.T) *replay.Journal {
	t.Helper()
	j, err := replay.Create(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { j.Close() })
	return j
}

// assertText holds that a file of the desktop's home has a text, or soon will: a
// program may show that it has saved before it has.
func assertText(t *testing.T, d *desk, want, name string) {
	t.Helper()
	var got []byte
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && string(got) != want; time.Sleep(10 * time.Millisecond) {
		got, err = os.ReadFile(filepath.Join(d.Home(), name))
	}
	assert.NoError(t, err)
	assert.Equal(t, want, string(got), name)
}

// TestDemo replays the demo with another word, and then the run that this wrote.
func TestDemo(t *testing.T) {
	j := newJournal(t)
	t.Run("the recording", func(t *testing.T) {
		ctx := limited(t)
		d, m := openDesk(ctx, t, setting{}), load(t, demoDir)
		p := d.player(t, j)
		p.Params = map[string]string{"file": "list.txt", "text2": "butter"}
		result, err := p.Play(ctx, m)
		require.NoError(t, err)
		assert.Equal(t, run.OutcomeDone, result.Outcome)
		assert.Equal(t, len(m.Steps), result.Steps)
		assertText(t, d, "milk\ncheese\napples", "list.txt")
		require.NoError(t, j.Close())
	})
	t.Run("what it wrote", func(t *testing.T) {
		ctx := limited(t)
		d, m := openDesk(ctx, t, setting{}), load(t, j.Dir())
		_, err := d.player(t, newJournal(t)).Play(ctx, m)
		require.NoError(t, err)
		assertText(t, d, "milk\ncheese\napples", "list.txt")
	})
}

// savePicture keeps a picture where a person can look at it.
func savePicture(t *testing.T, img image.Image) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.ArtifactDir(), "diverged.png"))
	require.NoError(t, err)
	require.NoError(t, png.Encode(f, img))
	require.NoError(t, f.Close())
	t.Log(f.Name())
}
