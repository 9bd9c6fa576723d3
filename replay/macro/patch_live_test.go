//go:build linux

package macro

import (
	"context"
	"image"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/run/runtest"
	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// ask opens a real dialog with two buttons, and looks at it.
func ask(t *testing.T, dpi int, theme, ok, cancel string) *screen.Observation {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	d, err := sandbox.Start(ctx, &sandbox.Options{Size: image.Pt(1280, 800), DPI: dpi, Env: []string{"GTK_THEME=" + theme}})
	require.NoError(t, err)
	defer func() { assert.NoError(t, d.Close()) }()
	_, err = d.Open(ctx, "zenity", "--question", "--title=List", "--text=What becomes of the list?", "--ok-label="+ok, "--cancel-label="+cancel)
	require.NoError(t, err)
	tree, err := atspi.Open(ctx, runtest.Tree(d))
	require.NoError(t, err)
	defer tree.Close()
	s, err := screen.Open(ctx, &screen.Options{Display: d.Display(), Tree: tree, Settle: runtest.Settle})
	require.NoError(t, err)
	defer s.Close()
	for { // a program tells of itself a moment after its window is shown
		o, err := s.Observe(ctx)
		require.NoError(t, err)
		if len(o.Tree.Nodes) > 1 {
			return o
		}
	}
}

func buttons(o *screen.Observation) map[string]image.Rectangle {
	list := map[string]image.Rectangle{}
	for _, n := range o.Tree.Nodes {
		if n.Role == "push button" {
			list[n.Name] = n.Box
		}
	}
	return list
}

// TestPatchOnRealWindows holds that buttons of a program that tells nothing are
// found by their picture in other sizes, and that others are not taken for them.
func TestPatchOnRealWindows(t *testing.T) {
	was := newScene(ask(t, 96, "Adwaita", "Keep it", "Ask later"))
	for _, tt := range []struct {
		name, theme, ok, cancel string
		dpi                     int
		how                     string // "" for not found
	}{
		{"the same size", "Adwaita", "Keep it", "Ask later", 96, "patch"},
		{"font 125 %", "Adwaita", "Keep it", "Ask later", 120, "scaled_patch"},
		{"font 150 %, moved by another label", "Adwaita", "Keep it", "Ask later", 144, "scaled_patch"},
		{"other buttons", "Adwaita", "Drop it", "Task late", 96, ""},
		{"other buttons, font 125 %", "Adwaita", "Drop it", "Mask later", 120, ""},
		{"light on dark", "Adwaita:dark", "Keep it", "Ask later", 96, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := ask(t, tt.dpi, tt.theme, tt.ok, tt.cancel)
			truth := buttons(o)
			o.Tree = screen.Tree{}
			now := newScene(o)
			for name, box := range buttons(was.Observation) {
				target := newTarget(was, was.Bare, box.Min.Add(box.Max).Div(2))
				s, bad := newPair(was, now, nil).locate(t.Context(), &target)
				if tt.how == "" {
					assert.NotNil(t, bad, "%s at %v, %.2f", name, s.device, s.score)
				} else if assert.Nil(t, bad, "%s: %v", name, bad) {
					assert.Equal(t, tt.how, s.how)
					assert.True(t, s.device.In(truth[name]), "%s at %v", name, s.device)
				}
			}
		})
	}
}
