//go:build linux

package atspi

import (
	"image"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An element is asked for alone: as long as it is there it tells what it is, and a
// program that has ended tells nothing.
func TestNow(t *testing.T) {
	b := newBench(t, nil)
	p := b.open("mousepad")
	nodes, i := b.waitAll("the menu", named("menu", "File"))
	menu := nodes[i]
	now, err := b.Now(t.Context(), menu)
	require.NoError(t, err)
	assert.Equal(t, menu, now)

	elsewhere := menu
	elsewhere.Box = menu.Box.Add(image.Pt(0, 30))
	_, err = b.Now(t.Context(), elsewhere)
	require.ErrorIs(t, err, ErrUnknown, "of another tree than the last")

	b.click(menu.Box)
	nodes, i = b.waitAll("the open menu", named("menu item", "New"))
	item := nodes[i]
	b.chord(0xff1b) // Escape: a click within 500 ms of the one that opened it leaves a menu of GTK open
	require.Eventually(t, func() bool {
		_, err := b.Now(t.Context(), item)
		return err != nil
	}, patience, 1e6, "the menu is closed")

	require.NoError(t, p.Close())
	require.Eventually(t, func() bool {
		_, err := b.Now(t.Context(), menu)
		return err != nil
	}, patience, 1e6, "the program has ended")
	_, err = b.Now(t.Context(), Node{})
	require.ErrorIs(t, err, ErrUnknown)
}

func TestMoved(t *testing.T) {
	box, told := image.Rect(10, 40, 30, 60), image.Rect(10, 20, 30, 50)
	assert.Equal(t, box, moved(box, told, told))
	assert.Equal(t, box.Add(image.Pt(5, 7)), moved(box, told, told.Add(image.Pt(5, 7))))
	assert.Equal(t, image.Rect(10, 40, 40, 60), moved(box, told, image.Rect(10, 20, 40, 50)))
}

// BenchmarkNow asks a spreadsheet for one of its elements.
func BenchmarkNow(b *testing.B) {
	desk := newBench(b, nil)
	desk.openCalc()
	nodes, i := desk.waitAll("the menu", named("menu", "File"))
	for b.Loop() {
		_, err := desk.Now(b.Context(), nodes[i])
		require.NoError(b, err)
	}
}
