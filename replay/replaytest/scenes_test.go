//go:build linux

package replaytest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/agent"
	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/replay/macro"
	"desktop-agent/replay/replaytest"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// A scene is a recorded run of a real program with the desktop that it began on,
// and what it left there. Its folder holds scene.json, home and run.
type scene struct {
	Task     string            `json:"task"`
	Open     string            `json:"open"`
	Size     string            `json:"size"`
	DPI      int               `json:"dpi"`
	Wants    map[string]string `json:"wants"`    // files in the home folder, byte for byte
	Contains map[string]string `json:"contains"` // part of files whose rest differs
	Gone     []string          `json:"gone"`     // files that are no longer there
	Shows    string            `json:"shows"`    // text on the last screen

	dir string
}

// TestScenes replays each recorded run in all three ways.
func TestScenes(t *testing.T) {
	dirs, err := filepath.Glob("testdata/*/scene.json")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(dirs), 5)
	dirs = append(dirs, "../../cmd/desktop-agent/demo/scene.json")
	for _, path := range dirs {
		s := scene{dir: filepath.Dir(path)}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &s), path)
		t.Run(filepath.Base(s.dir), func(t *testing.T) {
			t.Run("offline", func(t *testing.T) {
				replaytest.Run(t, filepath.Join(s.dir, "run"))
			})
			t.Run("live desktop", func(t *testing.T) { s.on(t, s.replies) })
			t.Run("macro", func(t *testing.T) { s.on(t, s.macro) })
		})
	}
}

// A stage is a private desktop on which a scene begins.
type stage struct {
	home     string
	computer *run.Computer
}

// on opens the desktop of a scene, plays it in one way, and checks what it left.
func (s scene) on(t *testing.T, play func(*testing.T, context.Context, *replay.Run, *stage)) {
	t.Helper()
	words := strings.Fields(s.Open)
	if _, err := exec.LookPath(words[0]); err != nil {
		t.Skipf("%s is not installed; scripts/setup test installs it", words[0])
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	home := filepath.Join(t.TempDir(), "user")
	require.NoError(t, os.CopyFS(home, os.DirFS(filepath.Join(s.dir, "home"))))
	var size image.Point
	_, err := fmt.Sscanf(s.Size, "%dx%d", &size.X, &size.Y)
	require.NoError(t, err)
	desktop, err := sandbox.Start(ctx, &sandbox.Options{Size: size, DPI: s.DPI, Home: home})
	require.NoError(t, err)
	defer func() { assert.NoError(t, desktop.Close()) }()
	_, err = desktop.Open(ctx, words[0], words[1:]...)
	require.NoError(t, err)
	tree, err := atspi.Open(ctx, runtest.Tree(desktop))
	require.NoError(t, err)
	defer tree.Close()
	eyes, err := screen.Open(ctx, &screen.Options{Display: desktop.Display(), Tree: tree, Settle: runtest.Settle})
	require.NoError(t, err)
	defer eyes.Close()
	defer func() {
		if !t.Failed() {
			return
		}
		if o, err := eyes.Observe(ctx); err == nil {
			t.Log("the screen at the end:\n" + o.Text(10_000))
			for _, w := range o.Windows {
				t.Logf("a window at the end: %q at %v", w.Title, w.Box)
			}
		}
		_ = fs.WalkDir(os.DirFS(home), ".", func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && !strings.HasPrefix(path, ".") {
				t.Log("a file at the end: " + path)
			}
			return nil
		})
	}()
	stored, err := replay.Open(filepath.Join(s.dir, "run"))
	require.NoError(t, err)
	s.begins(t, ctx, stored, eyes)

	play(t, ctx, stored, &stage{home, &run.Computer{Display: desktop.Display(), Screen: eyes, Home: home}})

	s.check(t, home)
	if s.Shows != "" {
		var shown string
		soon(t, func() bool {
			o, err := eyes.Observe(ctx)
			require.NoError(t, err)
			shown = o.Text(100_000)
			return strings.Contains(shown, s.Shows)
		})
		assert.Contains(t, shown, s.Shows)
	}
}

// begins waits for the window in which the recording began: a program may name its
// window anew when it is already there, as a browser does once it has read the page.
func (s scene) begins(t *testing.T, ctx context.Context, stored *replay.Run, eyes *screen.Screen) {
	t.Helper()
	var want string
	for e, err := range stored.Events() {
		require.NoError(t, err)
		if seen, ok := e.Data.(run.Observed); ok {
			w, focused := replay.Recall(&seen).Focused()
			require.True(t, focused, "the recording begins in a window")
			want = w.Title
			break
		}
	}
	var got screen.Window
	soon(t, func() bool {
		o, err := eyes.Observe(ctx)
		require.NoError(t, err)
		got, _ = o.Focused()
		return got.Title == want
	})
	require.Equal(t, want, got.Title, "the window in which the recording began")
}

// check compares the home folder with what the task asks for.
func (s scene) check(t *testing.T, home string) {
	t.Helper()
	for name, want := range s.Wants {
		var got []byte
		soon(t, func() bool {
			got, _ = os.ReadFile(filepath.Join(home, name))
			return string(got) == want
		})
		assert.Equal(t, want, string(got), name)
	}
	for name, part := range s.Contains {
		var got []byte
		soon(t, func() bool {
			got, _ = os.ReadFile(filepath.Join(home, name))
			return strings.Contains(string(got), part)
		})
		assert.Contains(t, string(got), part, name)
	}
	for _, name := range s.Gone {
		path := filepath.Join(home, name)
		soon(t, func() bool { _, err := os.Lstat(path); return os.IsNotExist(err) })
		assert.NoFileExists(t, path)
	}
}

// soon waits for a condition for longer than any program takes: one may tell, or
// look, as if it had saved before it has.
func soon(t *testing.T, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !condition() && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
}

// replies gives the recorded replies to the live desktop.
func (s scene) replies(t *testing.T, ctx context.Context, stored *replay.Run, on *stage) {
	journal := create(t)
	recorded, err := replay.NewRecorded(stored, journal)
	require.NoError(t, err)
	defer recorded.Close()
	session, err := run.Open(ctx, stored.Info.Asked.Settings, &run.Options{
		Computer: on.computer, Journal: func() (run.Journal, error) { return journal, nil },
		Client: &llm.Client{Model: recorded, Default: llm.Settings{Model: "operator"}},
	})
	require.NoError(t, err)
	defer session.Close()
	a, err := agent.New(session)
	require.NoError(t, err)
	result, err := a.Run(ctx, s.Task)
	require.NoError(t, err)
	assert.Equal(t, run.OutcomeDone, result.Outcome, result.Answer)
	assert.Zero(t, recorded.Count().Unused)
}

// macro does the recorded actions.
func (s scene) macro(t *testing.T, ctx context.Context, stored *replay.Run, on *stage) {
	m, err := macro.Load(stored, nil)
	require.NoError(t, err)
	journal := create(t)
	session, err := run.Open(ctx, run.Settings{}, &run.Options{
		Computer: on.computer, Journal: func() (run.Journal, error) { return journal, nil },
	})
	require.NoError(t, err)
	defer session.Close()
	result, err := macro.New(session).Play(ctx, m)
	require.NoError(t, err)
	assert.Equal(t, run.OutcomeDone, result.Outcome)
	assert.Equal(t, len(m.Steps), result.Steps)
}

// create makes a journal whose run is kept with the test's artefacts if it fails.
func create(t *testing.T) *replay.Journal {
	t.Helper()
	journal, err := replay.Create(t.ArtifactDir())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, journal.Close()) })
	return journal
}
