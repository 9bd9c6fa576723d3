package atspi

import (
	"image"
	"testing"

	"github.com/stretchr/testify/assert"
)

// shown is an object that can be seen, with what is in it.
func shown(of role, name string, box image.Rectangle, children ...*object) *object {
	o := &object{role: of, name: name, box: box, known: true, visible: true, placed: true, children: children}
	o.states = 1<<stateShowing | 1<<stateVisible | 1<<stateEnabled
	for _, c := range children {
		c.parent = o
	}
	return o
}

// What hangs out of a box of no height is there in a page, which tells itself what it
// hides: the browser's own pages of settings have all of their content in one. In a
// window nobody sees it.
func TestBoxOfNoHeight(t *testing.T) {
	flat := image.Rect(280, 285, 990, 285)
	inner := image.Rect(804, 442, 955, 479)
	in := func(holder role) []Node {
		a := assembler{windows: []*object{shown(rolePanel, "window", image.Rect(0, 0, 1000, 700),
			shown(holder, "holder", image.Rect(0, 100, 1000, 700),
				shown(roleSection, "", flat, shown(roleSection, "", flat, shown(rolePushButton, "Sign in", inner)))))}}
		a.assemble()
		return a.nodes
	}
	page := in(roleDocumentWeb)
	if assert.Len(t, page, 3) {
		assert.Equal(t, "Sign in", page[2].Name)
		assert.Equal(t, inner, page[2].Box)
		assert.Equal(t, 1, page[2].Parent, "what has no box is nobody's parent")
		assert.Zero(t, page[1].Beyond, "nothing of the page is out of view")
	}
	assert.Len(t, in(rolePanel), 2)
}

// What lies below a scroll bar does not scroll by it and is seen, such as the tabs of
// LibreOffice's sheets; rows that reach under the bar are hidden there, and so are those
// beyond the pane, in which the bar is the last.
func TestBelowScrollBar(t *testing.T) {
	bar := shown(roleScrollBar, "", image.Rect(0, 180, 300, 190))
	side := shown(roleScrollBar, "", image.Rect(290, 0, 300, 180))
	pane := shown(roleScrollPane, "", image.Rect(0, 0, 300, 210), bar, side,
		shown(roleTableCell, "row", image.Rect(0, 160, 300, 200)),
		shown(roleTableCell, "row beyond", image.Rect(0, 215, 300, 235)),
		shown(rolePageTab, "Notes", image.Rect(0, 190, 60, 210)))
	a := assembler{windows: []*object{shown(rolePanel, "window", image.Rect(0, 0, 1000, 700), pane)}}
	a.assemble()
	boxes := map[string]image.Rectangle{}
	for _, n := range a.nodes {
		boxes[n.Name] = n.Box
	}
	assert.Equal(t, image.Rect(0, 190, 60, 210), boxes["Notes"])
	assert.Equal(t, image.Rect(0, 160, 290, 180), boxes["row"])
	assert.NotContains(t, boxes, "row beyond")
}

// A box of no height hides nothing of a page that is scrolled: what is around it does.
func TestBoxOfNoHeightHidesNothing(t *testing.T) {
	below := shown(rolePushButton, "below", image.Rect(10, 900, 100, 920))
	flat := shown(roleSection, "", image.Rect(0, 100, 500, 100), below)
	scrolled := shown(roleSection, "", image.Rect(0, 100, 500, 400), flat)
	shown(roleDocumentWeb, "page", image.Rect(0, 0, 1000, 1000), scrolled)
	flat.hide(below.box)
	assert.False(t, flat.clips)
	assert.True(t, scrolled.clips)
	assert.True(t, scrolled.scrollsDown)
}

// In a form that is laid out from right to left the labels stand on the right of their
// fields: what is on the left of one is the label of the next.
func TestLabelsFromRightToLeft(t *testing.T) {
	form := func(names [4]string, mirrored, related bool) map[string]image.Rectangle {
		at := func(x0, y0, x1, y1 int) image.Rectangle {
			if mirrored {
				x0, x1 = 600-x1, 600-x0
			}
			return image.Rect(x0, y0, x1, y1)
		}
		var children []*object
		for i, name := range names {
			x, y := 300*(i%2), 40*(i/2)
			label := shown(roleLabel, name, at(x+10, y+10, x+80, y+30))
			field := shown(roleEntry, "", at(x+90, y+10, x+290, y+30))
			if related && i == 0 {
				field.label, field.from, label.takenFor = name, label, true
			}
			children = append(children, label, field)
		}
		above := shown(roleLabel, names[0], at(10, 100, 70, 118))
		children = append(children, above, shown(roleEntry, "", at(10, 120, 590, 140)))
		a := assembler{windows: []*object{shown(rolePanel, "", image.Rect(0, 0, 600, 200), children...)}}
		a.assemble()
		fields := map[string]image.Rectangle{}
		for _, n := range a.nodes {
			if n.Role == "entry" && n.Label != "" {
				fields[n.Label] = fields[n.Label].Union(n.Box)
			}
		}
		return fields
	}
	english, hebrew := [4]string{"Name", "Street", "Town", "Land"}, [4]string{"שם", "רחוב", "עיר", "מדינה"}
	for _, tt := range []struct {
		name              string
		names             [4]string
		mirrored, related bool
	}{
		{"from left to right", english, false, false},
		{"by the script", hebrew, true, false},
		{"by a label that the program tells", english, true, true},
		{"by such a label, against the script", hebrew, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fields := form(tt.names, tt.mirrored, tt.related)
			want := map[string]image.Rectangle{
				tt.names[0]: image.Rect(10, 10, 590, 140), // two: beside, and below
				tt.names[1]: image.Rect(390, 10, 590, 30), tt.names[2]: image.Rect(90, 50, 290, 70), tt.names[3]: image.Rect(390, 50, 590, 70),
			}
			if tt.mirrored {
				want[tt.names[1]], want[tt.names[2]], want[tt.names[3]] = image.Rect(10, 10, 210, 30), image.Rect(310, 50, 510, 70), image.Rect(10, 50, 210, 70)
			}
			assert.Equal(t, want, fields)
		})
	}
}

func TestIsIconName(t *testing.T) {
	for name, want := range map[string]bool{
		"emblem-default-symbolic": true, "dialog-error-symbolic": true, "view-list-16-symbolic": true,
		"": false, "Non-symbolic": false, "a text that is non-symbolic": false, "symbolic": false, "emblem-default": false,
	} {
		assert.Equal(t, want, isIconName(name), name)
	}
}
