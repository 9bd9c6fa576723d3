//go:build linux

package record_test

import (
	"context"
	"image"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"desktop-agent/actuator"
	"desktop-agent/actuator/eventwin"
	"desktop-agent/replay"
	"desktop-agent/replay/record"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A stage is a private desktop on which a script plays the person who is recorded.
type stage struct {
	t       *testing.T
	ctx     context.Context
	desktop *sandbox.Desktop
	person  *run.Session // its hand acts as a person does
	screen  *screen.Screen
	quick   *screen.Screen
	tree    *atspi.Reader
	looks   looks
	acted   time.Time // when the last action of a recording ended; zero where nothing is recorded
}

// looks are those of the recorder, by which a person can wait for it.
type looks struct {
	*screen.Screen
	mu    sync.Mutex
	began time.Time // the newest that has ended
}

// Observe looks.
func (l *looks) Observe(ctx context.Context) (*screen.Observation, error) {
	began := time.Now()
	o, err := l.Screen.Observe(ctx)
	if err == nil {
		l.mu.Lock()
		l.began = began
		l.mu.Unlock()
	}
	return o, err
}

// all maps points of the desktop to themselves.
type all struct{ image.Rectangle }

func (a all) Bounds() image.Rectangle            { return a.Rectangle }
func (a all) ToDevice(p image.Point) image.Point { return p }

var stageSize = image.Pt(1024, 768)

// newStage starts a desktop.
func newStage(t *testing.T, home string) *stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	s := &stage{t: t, ctx: ctx}
	t.Cleanup(cancel)
	var err error
	s.desktop, err = sandbox.Start(ctx, &sandbox.Options{Size: stageSize, Home: home})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.desktop.Close()) })
	s.tree, err = atspi.Open(ctx, runtest.Tree(s.desktop))
	require.NoError(t, err)
	t.Cleanup(func() { s.tree.Close() })
	s.screen, err = screen.Open(ctx, &screen.Options{Display: s.desktop.Display(), Tree: s.tree})
	require.NoError(t, err)
	t.Cleanup(func() { s.screen.Close() })
	s.quick, err = screen.Open(ctx, &screen.Options{Display: s.desktop.Display(), Tree: s.tree, Settle: screen.SettleOptions{Off: true}})
	require.NoError(t, err)
	t.Cleanup(func() { s.quick.Close() })
	s.person = runtest.On(t, s.desktop.Display(), s.screen, nil)
	return s
}

// do performs actions on the desktop, one after the other, with rests between
// them that are a person's.
func (s *stage) do(rest time.Duration, actions ...actuator.Action) {
	s.t.Helper()
	for _, a := range actions {
		in := run.Intent{Action: a, Frame: all{image.Rectangle{Max: stageSize}}, Source: run.FromProgram}
		require.NoError(s.t, s.person.Hand.Perform(s.ctx, in), "%T", a)
		if s.looks.Screen != nil {
			s.acted = time.Now()
		}
		s.rest(rest)
	}
}

// rest waits for a time. On a machine that does much else a person's rest may be too short
// for the recorder to look, which a person would see: so it lasts until a look that began
// well after the last action, to see what that did, has ended.
func (s *stage) rest(d time.Duration) {
	const late = 300 * time.Millisecond // a second look follows 500 ms after any input
	for end, begun := time.Now().Add(d), time.Now(); s.ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		s.looks.mu.Lock()
		seen := s.acted.IsZero() || s.looks.began.Sub(s.acted) > late
		s.looks.mu.Unlock()
		if time.Now().After(end) && (seen || d < human || time.Since(begun) > time.Minute) {
			time.Sleep(20 * time.Millisecond) // for the recorder to take it in
			return
		}
	}
}

// human is how long a person rests between two actions.
const human = 700 * time.Millisecond

// record records what the script does, and stops by the hotkey.
func (s *stage) record(unseen bool, script func()) (record.Result, *replay.Run) {
	s.t.Helper()
	journal, err := replay.Create(s.t.TempDir())
	require.NoError(s.t, err)
	ready := make(chan struct{})
	s.looks.Screen = s.screen
	r := &record.Recorder{
		Screen: &s.looks, Quick: s.quick, Display: s.desktop.Display(), Scope: run.NewRecorder(journal, nil).Scope(run.Where{Agent: "person"}), Task: "what the script does",
		TextUnseen: unseen, Ready: func() { close(ready) },
	}
	type ended struct {
		record.Result
		err error
	}
	done := make(chan ended, 1)
	go func() {
		result, err := r.Run(s.ctx)
		done <- ended{result, err}
	}()
	select {
	case <-ready:
	case e := <-done:
		require.NoError(s.t, e.err, "it ended before it began")
	}
	script()
	s.do(0, actuator.Press{Keys: []actuator.Key{"ctrl", "alt", "esc"}, Count: 1})
	var e ended
	select {
	case e = <-done:
	case <-s.ctx.Done():
		require.Fail(s.t, "the hotkey does not stop it")
	}
	s.acted = time.Time{}
	require.NoError(s.t, e.err)
	assert.Equal(s.t, run.OutcomeDone, e.Outcome)
	require.NoError(s.t, journal.Close())
	stored, err := replay.Open(journal.Dir())
	require.NoError(s.t, err)
	s.t.Logf("%+v, in %s", e.Result, stored.Dir)
	return e.Result, stored
}

// steps returns the steps of a run in which something was done.
func steps(t *testing.T, stored *replay.Run) (list []*replay.Step) {
	t.Helper()
	for step, err := range stored.Steps() {
		require.NoError(t, err)
		if step.Proposal() != nil {
			list = append(list, step)
		}
	}
	return list
}

// done returns all actions of a run as JSON, one a line.
func done(t *testing.T, stored *replay.Run) string {
	t.Helper()
	var list []actuator.Action
	for _, step := range steps(t, stored) {
		require.Len(t, step.Acts, len(step.Proposal().Actions))
		for i, a := range step.Proposal().Actions {
			require.Equal(t, a, step.Acts[i].Action)
			require.NotNil(t, step.Acts[i].Acted)
			list = append(list, a.Action)
		}
	}
	return asJSON(t, list...)
}

func asJSON(t *testing.T, actions ...actuator.Action) string {
	t.Helper()
	var lines []string
	for _, a := range actions {
		line, err := actuator.Marshal(a)
		require.NoError(t, err)
		lines = append(lines, strings.ReplaceAll(string(line), `"modifiers":[]`, `"modifiers":null`))
	}
	return strings.Join(lines, "\n")
}

// TestWindow plays all kinds of input onto a window that shows what arrives, and
// expects them back as they were done.
func TestWindow(t *testing.T) {
	s := newStage(t, "")
	w, err := eventwin.Open(s.ctx, s.desktop.Display(), image.Rect(100, 100, 900, 700))
	require.NoError(t, err)
	defer w.Close()
	at := func(x, y int) *actuator.Point { return &actuator.Point{X: x, Y: y} }
	want := []actuator.Action{
		actuator.Click{At: at(200, 200), Button: "left", Count: 1},
		actuator.Click{At: at(300, 250), Button: "left", Count: 2},
		actuator.Click{At: at(420, 350), Button: "left", Count: 3},
		actuator.Click{At: at(500, 300), Button: "right", Count: 1},
		actuator.Click{At: at(510, 420), Button: "middle", Count: 1, Modifiers: []actuator.Key{"ctrl", "shift"}},
		actuator.Drag{Path: []actuator.Point{{X: 200, Y: 200}, {X: 500, Y: 210}, {X: 520, Y: 500}}, Button: "left"},
		actuator.Drag{Path: []actuator.Point{{X: 300, Y: 300}, {X: 310, Y: 500}}, Button: "left", Modifiers: []actuator.Key{"alt"}},
		actuator.Scroll{At: at(400, 400), DY: 5},
		actuator.Scroll{At: at(400, 400), DY: -3},
		actuator.Scroll{At: at(400, 400), DX: 2, Modifiers: []actuator.Key{"shift"}},
		actuator.Type{Text: `Größe: 100 € "ÄÖÜ" – Ελλάδα Привет 日本語 ok`},
		actuator.Press{Keys: []actuator.Key{"enter"}, Count: 1},
		actuator.Press{Keys: []actuator.Key{"ctrl", "s"}, Count: 1},
		actuator.Press{Keys: []actuator.Key{"ctrl", "shift", "z"}, Count: 1},
		actuator.Press{Keys: []actuator.Key{"alt", "f4"}, Count: 1},
		actuator.Press{Keys: []actuator.Key{"shift", "tab"}, Count: 1},
		actuator.Press{Keys: []actuator.Key{"down"}, Count: 4},
		actuator.Press{Keys: []actuator.Key{"shift", "end"}, Count: 1},
		actuator.Press{Keys: []actuator.Key{"f5"}, Count: 1},
		actuator.Type{Text: "a b"},
		actuator.Press{Keys: []actuator.Key{"backspace"}, Count: 2},
		actuator.Type{Text: "c\u00a0d"},
	}
	result, stored := s.record(true, func() { s.do(human, want...) })
	assert.Equal(t, asJSON(t, want...), done(t, stored))
	assert.Zero(t, result.Missed)
	assert.Zero(t, result.Unsure)
	for _, step := range steps(t, stored) {
		for i, a := range step.Acts {
			assert.Len(t, a.Device, len(actuator.Points(step.Proposal().Actions[i].Action)))
		}
	}
}

// TestFastTyping types far faster than anybody can.
func TestFastTyping(t *testing.T) {
	s := newStage(t, "")
	w, err := eventwin.Open(s.ctx, s.desktop.Display(), image.Rect(100, 100, 900, 700))
	require.NoError(t, err)
	defer w.Close()
	text := strings.Repeat("The quick brown fox, 12345! Jumps ", 30)[:1000]
	result, stored := s.record(true, func() { s.do(0, actuator.Type{Text: actuator.Secret(text)}) })
	assert.Equal(t, asJSON(t, actuator.Type{Text: actuator.Secret(text)}), done(t, stored))
	assert.Zero(t, result.Missed)
}

// holds reports which files of a folder hold a text.
func holds(t *testing.T, dir, text string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), text) {
			files = append(files, path)
		}
		return err
	})
	require.NoError(t, err)
	return files
}

// TestPassword types into the fields of a real dialog.
func TestPassword(t *testing.T) {
	const user, secret actuator.Secret = "Amelie", "q#Z7!w%K9&x"
	s := newStage(t, "")
	_, err := s.desktop.Open(s.ctx, "zenity", "--password", "--username")
	require.NoError(t, err)
	result, stored := s.record(false, func() {
		s.rest(human)
		s.do(human, actuator.Type{Text: user}, actuator.Press{Keys: []actuator.Key{"tab"}, Count: 1})
		s.do(0, actuator.Type{Text: secret[:4]}, actuator.Press{Keys: []actuator.Key{"backspace"}, Count: 1})
		s.rest(2 * time.Second) // the run ends, and another goes on in the same field
		s.do(human, actuator.Type{Text: secret[3:]}, actuator.Press{Keys: []actuator.Key{"enter"}, Count: 1})
	})
	assert.Equal(t, asJSON(t, actuator.Type{Text: user}, actuator.Press{Keys: []actuator.Key{"tab"}, Count: 1}, actuator.Type{Text: record.Withheld},
		actuator.Press{Keys: []actuator.Key{"enter"}, Count: 1}), done(t, stored))
	assert.Equal(t, 1, result.Secrets)
	assert.Zero(t, result.Withheld)
	assert.NotEmpty(t, holds(t, stored.Dir, string(user)), "the search finds what is there")
	for i := range len(secret) - 3 {
		assert.Empty(t, holds(t, stored.Dir, string(secret[i:i+4])))
	}
	// Which gestures make a step depends on how fast they are looked at.
	var params []run.Param
	for _, step := range steps(t, stored) {
		for _, p := range step.Proposal().Params {
			assert.Equal(t, actuator.Type{Text: record.Withheld}, step.Proposal().Actions[p.Index].Action)
			params = append(params, run.Param{Name: p.Name, Secret: p.Secret})
		}
	}
	assert.Equal(t, []run.Param{{Name: "password1", Secret: true}}, params)
}
