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

// Parts that are three columns apart are one drawing, and four are two.
func TestDrawingsApart(t *testing.T) {
	for gap, want := range map[int]int{1: 1, 3: 1, 4: 2, 9: 2} {
		m := image.NewRGBA(image.Rect(0, 0, 60, 20))
		draw.Draw(m, image.Rect(10, 5, 20, 15), image.White, image.Point{}, draw.Src)
		draw.Draw(m, image.Rect(20+gap, 5, 30+gap, 15), image.White, image.Point{}, draw.Src)
		assert.Len(t, drawings(m, m.Rect, nil), want, gap)
	}
	assert.Empty(t, drawings(image.NewRGBA(image.Rectangle{}), image.Rectangle{}, nil))
}

// TestCalendarSigns holds that signs are left out of what is read in a calendar, and of nothing
// that lies over it.
func TestCalendarSigns(t *testing.T) {
	box := image.Rect(0, 0, 300, 200)
	word := func(s string, x int) OCRWord { return OCRWord{s, image.Rect(x, 20, x+30, 30)} }
	lines := []OCRLine{
		{Text: "<", Words: []OCRWord{word("<", 0)}, Box: image.Rect(0, 20, 30, 30)},
		{Text: "2026 >", Words: []OCRWord{word("2026", 100), word(">", 140)}, Box: image.Rect(100, 20, 170, 30)},
		{Text: "$ ls", Words: []OCRWord{word("$", 200), word("ls", 240)}, Box: image.Rect(200, 20, 270, 30)},
	}
	o := &Observation{
		Windows: []Window{{ID: 1, PID: 5, Title: "Day", Box: box}, {ID: 2, PID: 6, Title: "xterm", Box: image.Rect(190, 0, 300, 200)}},
		Tree: Tree{Nodes: []atspi.Node{
			{ID: "n1", PID: 5, Parent: -1, Role: "frame", Name: "Day", Box: box},
			{ID: "n2", PID: 5, Parent: 0, Depth: 1, Role: "calendar", Box: box},
		}},
	}
	var said []string
	for _, l := range o.view().legible(lines) {
		said = append(said, l.Text)
	}
	assert.Equal(t, []string{"2026", "$ ls"}, said)
}

// TestIconsAreBounded holds that no status bar gives more than so many icons, or is looked at for
// longer than in so many panes.
func TestIconsAreBounded(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 400, 40))
	for x := 0; x < 400; x += 10 {
		draw.Draw(m, image.Rect(x+2, 10, x+7, 20), image.White, image.Point{}, draw.Src)
	}
	for name, c := range map[string]struct {
		picture       *image.RGBA
		panes         int
		looked, found int
	}{
		"few":              {m, 1, 1, 40},
		"many icons":       {m, 10, 2, maxIcons},
		"many empty panes": {image.NewRGBA(m.Rect), 3 * maxPanes, maxPanes, 0},
	} {
		o := &Observation{Bare: c.picture, Windows: []Window{{ID: 1, PID: 5, Title: "Bar", Box: m.Rect}}}
		o.Tree.Nodes = []atspi.Node{{PID: 5, Parent: -1, Role: "frame", Name: "Bar", Box: m.Rect}, {PID: 5, Parent: 0, Depth: 1, Role: "status bar", Box: m.Rect}}
		for range c.panes {
			o.Tree.Nodes = append(o.Tree.Nodes, atspi.Node{PID: 5, Parent: 1, Depth: 2, Role: "label", Box: m.Rect})
		}
		list := o.view().icons(nil)
		found := 0
		for _, icons := range list {
			found += len(icons)
		}
		assert.Equal(t, c.looked, len(list), name)
		assert.Equal(t, c.found, found, name)
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
	told, before := o.Text(0), *o
	(&Screen{}).read(t.Context(), o)
	assert.Contains(t, o.Text(0), `"Outline 1" @258,13; icon @477; icon @594; "100%"`)
	assert.Equal(t, told, o.Told().Text(0))
	assert.False(t, o.Unread)
	assert.Equal(t, "nothing", DescribeChanges(&before, o), "what is drawn may be covered, and come back")
	new(namer).name(o.Tree.Nodes, o.untold)
	for _, n := range o.Tree.Nodes {
		assert.Equal(t, isDrawn(n), n.ID == "", "a drawing is aimed at by its place alone: %+v", n)
	}
}
