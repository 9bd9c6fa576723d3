package screen

import (
	"image"
	"slices"
	"strings"

	"desktop-agent/screen/atspi"
)

// RoleIcon is the role of what is drawn where a program tells nothing, and is no text: a
// picture to click, as in a status bar.
const RoleIcon = "icon"

// Limits of what is taken for an icon, in pixels.
const (
	iconContrast = 48 // of 255, by which a channel differs from what is behind it
	highestRow   = 48 // of what is looked at
	iconGap      = 4  // between two icons; parts of one are nearer
	leastIcon    = 5  // of the longer side
	leastStroke  = 2  // of the shorter one
	widestIcon   = 3  // in heights of its row: what is wider is a slider, or progress
	maxPanes     = 32 // that are looked at in one observation
	maxIcons     = 64 // that are found in it
	textMargin   = 2  // what a line of text may have around it that was not read
)

// icons returns what is drawn in elements that tell nothing of it, by the node of each: in the
// panes of status bars, and beside the month and the year of a calendar, of which lines are
// read. Parts of a calendar of which no line was read are not known.
func (v *view) icons(lines []OCRLine) map[int][]image.Rectangle {
	list := map[int][]image.Rectangle{}
	left := maxIcons
	for i, n := range v.Tree.Nodes {
		if len(list) == maxPanes || left == 0 {
			break
		}
		w := v.window[i]
		if w < 0 || v.Windows[w].Hidden || !v.leaf(i) || n.Name != "" || n.Text != "" {
			continue
		}
		area := n.Box
		var texts []image.Rectangle
		switch {
		case n.Role == "label" && n.Parent >= 0 && v.Tree.Nodes[n.Parent].Role == "status bar":
		case n.Role == "calendar":
			area, texts = heading(n.Box, lines)
		default:
			continue
		}
		if !area.Empty() && area.Dy() <= highestRow && area.In(v.Bare.Rect) && slices.Equal(v.uncovered(w, area), []image.Rectangle{area}) {
			found := drawings(v.Bare, area, texts)
			list[i] = found[:min(len(found), left)]
			left -= len(list[i])
			for k := range list[i] { // a click above and below it is one on it
				list[i][k].Min.Y, list[i][k].Max.Y = area.Min.Y, area.Max.Y
			}
		}
	}
	return list
}

// legible returns the lines without what was read from arrows in calendars, where signs alone
// are no words.
func (v *view) legible(lines []OCRLine) (list []OCRLine) {
	sign := func(w OCRWord) bool { return !strings.ContainsFunc(w.Text, isWord) }
	var calendars []int
	for i, n := range v.Tree.Nodes {
		if n.Role == "calendar" && v.leaf(i) {
			calendars = append(calendars, i)
		}
	}
	for _, l := range lines {
		at := middle(l.Box)
		in := func(i int) bool { return at.In(v.Tree.Nodes[i].Box) && v.window[i] == v.topmost(at) }
		if !slices.ContainsFunc(l.Words, sign) || !slices.ContainsFunc(calendars, in) {
			list = append(list, l)
			continue
		}
		left := OCRLine{Confidence: l.Confidence}
		for _, w := range l.Words {
			if !sign(w) {
				left.Text = strings.TrimSpace(left.Text + " " + w.Text)
				left.Words, left.Box = append(left.Words, w), left.Box.Union(w.Box)
			}
		}
		if left.Words != nil {
			list = append(list, left)
		}
	}
	return list
}

// heading returns the first row of an area in which lines were read, as wide as the area, and
// where in it they are.
func heading(area image.Rectangle, lines []OCRLine) (row image.Rectangle, texts []image.Rectangle) {
	for _, l := range lines {
		if middle(l.Box).In(area) {
			texts = append(texts, l.Box.Inset(-textMargin))
		}
	}
	if len(texts) == 0 {
		return row, nil
	}
	first := slices.MinFunc(texts, func(a, b image.Rectangle) int { return a.Min.Y - b.Min.Y })
	row = image.Rect(area.Min.X, first.Min.Y, area.Max.X, first.Max.Y).Intersect(area)
	return row, texts
}

// drawings returns what stands side by side in a row, drawn on one colour, in pixels of the
// picture, from left to right; what some rectangles in it hold does not count, and neither do
// lines that part one thing from the next, sliders, and what fills the row.
func drawings(m *image.RGBA, row image.Rectangle, but []image.Rectangle) (list []image.Rectangle) {
	behind := commonest(m, row)
	var drawn image.Rectangle // that has no end yet
	for x := row.Min.X; x <= row.Max.X; x++ {
		for y := row.Min.Y; y < row.Max.Y && x < row.Max.X; y++ {
			if p := image.Pt(x, y); differs(m, p, behind) && !slices.ContainsFunc(but, p.In) {
				drawn = drawn.Union(image.Rect(x, y, x+1, y+1))
			}
		}
		if drawn.Empty() || x+1-drawn.Max.X < iconGap && x < row.Max.X {
			continue
		}
		line := drawn.Dy() < leastStroke || drawn.Dx() <= leastStroke && 2*drawn.Dy() > row.Dy()
		long := drawn.Dx() > widestIcon*row.Dy() || drawn.Dx() == row.Dx()
		if !line && !long && max(drawn.Dx(), drawn.Dy()) >= leastIcon {
			list = append(list, drawn)
		}
		drawn = image.Rectangle{}
	}
	return list
}

// commonest returns the colour that most pixels of an area have.
func commonest(m *image.RGBA, area image.Rectangle) (c [3]byte) {
	count := map[[3]byte]int{}
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			at := [3]byte(m.Pix[m.PixOffset(x, y):])
			if count[at]++; count[at] > count[c] {
				c = at
			}
		}
	}
	return c
}

// differs reports whether a pixel stands out from a colour.
func differs(m *image.RGBA, p image.Point, c [3]byte) bool {
	for k, v := range m.Pix[m.PixOffset(p.X, p.Y):][:3] {
		if d := int(v) - int(c[k]); d > iconContrast || -d > iconContrast {
			return true
		}
	}
	return false
}

// iconNode is the node of a drawing.
func iconNode(r image.Rectangle) atspi.Node {
	return atspi.Node{Role: RoleIcon, Box: r, Read: true}
}

// isDrawn reports whether a node is that of a drawing.
func isDrawn(n atspi.Node) bool { return n.Read && n.Role == RoleIcon }
