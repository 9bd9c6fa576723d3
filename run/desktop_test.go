//go:build linux

package run_test

import (
	"context"
	"image"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// TestLiveIsDesktop holds that a real display is a desktop.
func TestLiveIsDesktop(t *testing.T) {
	s := runtest.Open(t, run.Settings{Display: run.DisplaySettings{Private: true, Size: image.Pt(640, 480), MaxImage: 500}}, nil)
	runtest.TestDesktop(t, &runtest.DesktopSubject{
		Desktop: s.Desktop, Hand: s.Hand,
		Change: func(t testing.TB) {
			_, err := s.Private.Open(t.Context(), "xterm")
			require.NoError(t, err)
		},
	})
}

// A wizard tells of one button, which may be called otherwise on its next page, and looks as
// it did: nothing is drawn.
type wizard struct{ button atspi.Node }

func (w *wizard) Read(context.Context) ([]atspi.Node, []atspi.Program, error) {
	page := atspi.Node{PID: 7, Parent: -1, Role: "window", Name: "Set-up", Box: image.Rect(0, 0, 300, 200)}
	return []atspi.Node{page, w.button}, nil, nil
}

func (w *wizard) Now(context.Context, atspi.Node) (atspi.Node, error) { return w.button, nil }

// TestSecondClickOnAnotherButton holds that a batch which clicks twice at one place is put off
// once another button is there, whatever it looks like, and not where the element is one
// that the first click may have changed.
func TestSecondClickOnAnotherButton(t *testing.T) {
	d, err := sandbox.Start(t.Context(), &sandbox.Options{Size: image.Pt(300, 200)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	for _, tt := range []struct{ role, name, then, surprise string }{
		{"push button", "Next", "Next", ""},
		{"push button", "Next", "Install", `at (150, 100) there is push button "Install" now, and no longer push button "Next", which the screenshot f0001 shows`},
		{"table cell", "0 files", "1 file", ""},
	} {
		w := &wizard{atspi.Node{PID: 7, Depth: 1, Role: tt.role, Name: tt.name, Box: image.Rect(100, 80, 200, 120)}}
		s, err := screen.Open(t.Context(), &screen.Options{Display: d.Display(), Tree: w})
		require.NoError(t, err)
		live := &run.Live{Screen: s}
		chosen, err := live.Observe(t.Context())
		require.NoError(t, err)
		list, err := run.Name([]actuator.Action{clickAt(actuator.Point{X: 150, Y: 100}), clickAt(actuator.Point{X: 150, Y: 100})}, chosen)
		require.NoError(t, err)
		w.button.Name = tt.then
		aim := run.Aim{Action: list[1], Done: list[:1], Chosen: chosen}
		aim.Now, err = live.Capture(t.Context())
		require.NoError(t, err)
		assert.Equal(t, tt.surprise, live.Surprise(t.Context(), aim), "%s %s", tt.role, tt.then)
		require.NoError(t, s.Close())
	}
}

// TestClickBelowAWindowThatCame holds that a click is put off where another window has come
// over what it was meant for, although it looks alike there.
func TestClickBelowAWindowThatCame(t *testing.T) {
	r := newRoom(t)
	r.move(r.open("zenity", "--entry", "--title", "One"), image.Pt(200, 200))
	at := middle(r.see(1, named("push button", "Cancel"))[0].Box)
	chosen := *r.now
	list, err := run.Name([]actuator.Action{clickAt(pointAt(chosen.Image.Mapping.ToImage(at)))}, &chosen)
	require.NoError(t, err)
	surprise := func(done ...actuator.Action) string {
		t.Helper()
		now, err := r.Desktop.Capture(r.ctx)
		require.NoError(t, err)
		chosen.Bare = now.Bare // such windows can look alike
		return r.Desktop.Surprise(r.ctx, run.Aim{Action: list[0], Done: done, Chosen: &chosen, Now: now})
	}
	assert.Empty(t, surprise())
	r.move(r.open("zenity", "--entry", "--title", "Two"), image.Pt(180, 180))
	assert.Contains(t, surprise(), "another window lies now than the screenshot "+chosen.FrameID)
	assert.Contains(t, surprise(list...), "another window lies now", "also where the first click of a batch has opened it")
}
