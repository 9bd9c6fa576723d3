//go:build linux

package screen_test

import (
	"image"
	"os"
	"testing"

	"desktop-agent/screen"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWindows(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	s := d.screen(screen.Options{MaxImage: small})
	list, err := s.Windows(limit(t))
	require.NoError(t, err)
	assert.Empty(t, list, "the window manager's own windows are none")

	editor, err := d.Open(limit(t), "mousepad")
	require.NoError(t, err)
	box := d.openStaged(stagedCompute)
	o, err := s.Observe(limit(t))
	require.NoError(t, err)
	require.Len(t, o.Windows, 2)
	pad, staged := o.Windows[0], o.Windows[1]
	assert.Equal(t, editor.Window(), pad.ID)
	assert.Equal(t, "Untitled 1 - Mousepad", pad.Title)
	assert.Equal(t, "Mousepad", pad.Class)
	assert.Equal(t, "normal", pad.Type)
	assert.Equal(t, editor.PID(), pad.PID)
	assert.False(t, pad.Focused)

	assert.Equal(t, "staged compute", staged.Title)
	assert.Equal(t, "Staged", staged.Class)
	assert.Equal(t, box, staged.Box)
	assert.NotZero(t, staged.PID, "known to the server although the window does not tell")
	assert.NotEqual(t, os.Getpid(), staged.PID)
	focused, ok := o.Focused()
	assert.True(t, ok)
	assert.Equal(t, staged, focused)
}

func TestMenuAndDialogAreWindows(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	box := d.open("mousepad")
	s := d.screen(screen.Options{MaxImage: small, Settle: unhurried})
	look := func(click image.Point) *screen.Observation {
		d.click(box.Min.Add(click))
		o, err := s.Observe(limit(t))
		require.NoError(t, err)
		return o
	}
	menu := look(image.Pt(15, 12))
	require.Len(t, menu.Windows, 2)
	assert.True(t, menu.Windows[1].Popup)
	assert.False(t, menu.Windows[0].Popup)
	assert.Contains(t, menu.Windows[1].Type, "menu")
	assert.Equal(t, menu.Windows[0].PID, menu.Windows[1].PID)
	assert.True(t, menu.Windows[0].Focused, "a menu has no focus of its own")
	assert.True(t, menu.Windows[1].Box.Overlaps(menu.Windows[0].Box))

	dialog := look(image.Pt(60, 163))
	require.Len(t, dialog.Windows, 2)
	assert.Equal(t, "Save As", dialog.Windows[1].Title)
	assert.Equal(t, "dialog", dialog.Windows[1].Type)
	assert.True(t, dialog.Windows[1].Focused)
	assert.False(t, dialog.Windows[1].Popup)
}
