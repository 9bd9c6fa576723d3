//go:build linux

package replay

import (
	"context"
	"image"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/run/runtest"
	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// question opens a real dialog with a button on a desktop of its own, and looks
// at it.
func question(t *testing.T, button string) *screen.Observation {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	desktop, err := sandbox.Start(ctx, &sandbox.Options{Size: image.Pt(1280, 800)})
	require.NoError(t, err)
	defer func() { assert.NoError(t, desktop.Close()) }()
	_, err = desktop.Open(ctx, "zenity", "--question", "--title=List", "--text=Keep the list?", "--ok-label="+button)
	require.NoError(t, err)
	tree, err := atspi.Open(ctx, runtest.Tree(desktop))
	require.NoError(t, err)
	defer tree.Close()
	s, err := screen.Open(ctx, &screen.Options{Display: desktop.Display(), Tree: tree, Settle: runtest.Settle})
	require.NoError(t, err)
	defer s.Close()
	for { // a program tells of itself a moment after its window is shown
		o, err := s.Observe(ctx)
		require.NoError(t, err)
		require.NoError(t, o.Tree.Err)
		if slices.ContainsFunc(o.Tree.Nodes, func(n atspi.Node) bool { return n.Name == button }) {
			return o
		}
	}
}

// buttonAt returns the middle of a button in the image.
func buttonAt(t *testing.T, o *screen.Observation, name string) image.Point {
	t.Helper()
	for i, n := range o.Tree.Nodes {
		if _, at, ok := o.PointOf(i); ok && n.Name == name && strings.Contains(n.Role, "button") {
			return at
		}
	}
	require.Fail(t, "no such button", "%s in %+v", name, o.Tree.Nodes)
	return image.Point{}
}

// TestRecordedOnRealDesktops records a click on a button of a real program, and
// gives it on other desktops: one with the same dialog, one with another button
// at the same place; with the accessibility tree, and by the pixels alone.
func TestRecordedOnRealDesktops(t *testing.T) {
	then, same, other := question(t, "Keep"), question(t, "Keep"), question(t, "Drop")
	at := buttonAt(t, then, "Keep")
	require.Equal(t, at, buttonAt(t, other, "Drop"), "the buttons are at the same place")

	for _, tt := range []struct {
		name, wantErr string
		tree          bool
		live          *screen.Observation
	}{
		{"the same, by the tree", "", true, same},
		{"another button, by the tree", `button "Drop" there`, true, other},
		{"the same, by pixels", "", false, same},
		{"another button, by pixels", "found another one (", false, other},
	} {
		t.Run(tt.name, func(t *testing.T) {
			recorded, live := *then, *tt.live
			if !tt.tree {
				recorded.Tree, live.Tree = screen.Tree{}, screen.Tree{}
			}
			recorded.FrameID, live.FrameID = "then", "now"
			j := newJournal(t)
			put(t, j, started("keep it"))
			look(t, j, 0, &recorded)
			put(t, j, called(1, llm.Actor, "propose", "", "click it"), proposes(1, "then",
				actuator.Click{At: &actuator.Point{X: at.X, Y: at.Y}, Button: actuator.Left, Count: 1}))
			require.NoError(t, j.Close())
			r, err := Open(j.Dir())
			require.NoError(t, err)

			now := newJournal(t)
			put(t, now, started("keep it"))
			look(t, now, 0, &live)
			m, err := NewRecorded(r, now)
			require.NoError(t, err)
			_, err = m.Complete(t.Context(), request(llm.Actor, "propose", "", "now"))
			if tt.wantErr == "" {
				assert.NoError(t, err)
				return
			}
			var mismatch *MismatchError
			require.ErrorAs(t, err, &mismatch)
			assert.ErrorContains(t, err, tt.wantErr)
		})
	}
}
