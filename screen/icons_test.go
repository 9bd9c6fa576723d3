package screen

import (
	"image"
	"image/draw"
	"image/png"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/screen/atspi"
)

// picture reads a picture of testdata, which was taken at a place of the screen.
func picture(t *testing.T, name string, at image.Point) *image.RGBA {
	f, err := os.Open("testdata/" + name)
	require.NoError(t, err)
	defer f.Close()
	p, err := png.Decode(f)
	require.NoError(t, err)
	m := image.NewRGBA(p.Bounds().Add(at))
	draw.Draw(m, m.Rect, p, p.Bounds().Min, draw.Src)
	return m
}

// TestDrawings holds that each picture of Writer's status bar is found, once, and neither
// the lines between its panes nor a pane without anything.
func TestDrawings(t *testing.T) {
	m := picture(t, "status_bar.png", image.Pt(1262, 1056))
	for name, c := range map[string]struct{ pane, want []image.Rectangle }{
		"the selection":  {rects(1268, 1060, 1330, 1079), nil},
		"the mode":       {rects(1336, 1060, 1359, 1079), rects(1339, 1065, 1355, 1075)},
		"changes":        {rects(1365, 1060, 1388, 1079), nil},
		"the views":      {rects(1653, 1060, 1723, 1079), rects(1661, 1065, 1669, 1075, 1675, 1065, 1693, 1075, 1699, 1065, 1715, 1075)},
		"less, a slider": {rects(1729, 1060, 1866, 1079), rects(1734, 1069, 1744, 1071, 1851, 1065, 1861, 1075)},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, drawings(m, c.pane[0], nil))
		})
	}
}

// rects makes rectangles of four numbers each.
func rects(at ...int) (list []image.Rectangle) {
	for r := range slices.Chunk(at, 4) {
		list = append(list, image.Rect(r[0], r[1], r[2], r[3]))
	}
	return list
}

// TestIconsAreListed holds that what is drawn in the panes of a status bar is listed with its
// place, and that it is not what the program tells.
func TestIconsAreListed(t *testing.T) {
	m := picture(t, "status_bar.png", image.Pt(1262, 1056))
	o := &Observation{
		Image: Image{Mapping: Mapping{Source: m.Rect, Size: m.Rect.Size()}}, Frame: m, Bare: m,
		Windows: []Window{{ID: 1, Title: "Letter", Class: "libreoffice-writer", PID: 5, Box: m.Rect, Focused: true}},
		Tree: Tree{Nodes: []atspi.Node{
			{ID: "n1", App: "soffice", PID: 5, Parent: -1, Role: "frame", Name: "Letter", Box: m.Rect},
			{ID: "n2", App: "soffice", PID: 5, Parent: 0, Depth: 1, Role: "status bar", Box: image.Rect(1262, 1058, 1920, 1080)},
			{ID: "n3", App: "soffice", PID: 5, Parent: 1, Depth: 2, Role: "label", Box: image.Rect(1365, 1060, 1388, 1079)},
			{ID: "n4", App: "soffice", PID: 5, Parent: 1, Depth: 2, Role: "label", Text: "Outline 1", Box: image.Rect(1394, 1060, 1647, 1079)},
			{ID: "n5", App: "soffice", PID: 5, Parent: 1, Depth: 2, Role: "label", Box: image.Rect(1729, 1060, 1866, 1079)},
			{ID: "n6", App: "soffice", PID: 5, Parent: 1, Depth: 2, Role: "label", Text: "100%", Box: image.Rect(1872, 1060, 1914, 1079)},
		}},
	}
	told := o.Text(0)
	(&Screen{}).read(t.Context(), o)
	assert.Contains(t, o.Text(0), `"Outline 1" @258,13; icon @477; icon @594; "100%"`)
	assert.Equal(t, told, o.Told().Text(0))
	assert.False(t, o.Unread)
}
