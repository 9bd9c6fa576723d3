package screen

import (
	"fmt"
	"image"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"desktop-agent/screen/atspi"
)

// form is a window with a few nodes, below what else is on the screen.
func form(nodes []atspi.Node, above ...Window) *Observation {
	o := &Observation{Windows: append([]Window{{Title: "Form", PID: 7, Box: image.Rect(0, 0, 400, 300), Focused: true}}, above...)}
	o.Tree.Nodes = []atspi.Node{{ID: "n1", PID: 7, Parent: -1, Role: "frame", Name: "Form", Box: image.Rect(0, 0, 400, 300)}}
	for i, n := range nodes {
		n.ID, n.PID, n.Depth = fmt.Sprint("n", i+2), 7, o.Tree.Nodes[n.Parent].Depth+1
		o.Tree.Nodes = append(o.Tree.Nodes, n)
	}
	return o
}

func TestPointOf(t *testing.T) {
	over := func(x0, y0, x1, y1 int) Window { return Window{PID: 9, Box: image.Rect(x0, y0, x1, y1)} }
	node := func(role string, x0, y0, x1, y1 int) atspi.Node {
		return atspi.Node{Role: role, Box: image.Rect(x0, y0, x1, y1)}
	}
	child := func(parent int, n atspi.Node) atspi.Node { n.Parent = parent; return n }
	field := node("entry", 100, 100, 200, 120)
	for _, tt := range []struct {
		name string
		o    *Observation
		want image.Point
		ok   bool
	}{
		{"in the open", form([]atspi.Node{field}), image.Pt(150, 110), true},
		{"the middle is covered, most is not", form([]atspi.Node{field}, over(90, 90, 160, 130)), image.Pt(180, 110), true},
		{"the larger of two parts", form([]atspi.Node{field}, over(120, 90, 160, 130)), image.Pt(180, 110), true},
		{"the middle of the whole is as good as any", form([]atspi.Node{field}, over(90, 90, 120, 130)), image.Pt(150, 110), true},
		{"all is covered", form([]atspi.Node{field}, over(90, 90, 210, 130)), image.Point{}, false},
		{"all but a strip is covered", form([]atspi.Node{field}, over(90, 90, 196, 130)), image.Point{}, false},
		{"a minimised window covers nothing", form([]atspi.Node{field}, Window{Hidden: true, Box: image.Rect(90, 90, 210, 130)}), image.Pt(150, 110), true},
		{"it leaves the window", form([]atspi.Node{node("entry", 350, 100, 450, 120)}), image.Pt(375, 110), true},
		{"a strip of it is in the window", form([]atspi.Node{node("entry", 395, 100, 450, 120)}), image.Point{}, false},
		{"beyond the window", form([]atspi.Node{node("entry", 410, 100, 450, 120)}), image.Point{}, false},
		{"small by nature", form([]atspi.Node{node("push button", 100, 100, 106, 105)}), image.Pt(103, 102), true},
		{"below a scroll bar", form([]atspi.Node{field, node("scroll bar", 140, 0, 200, 300)}), image.Pt(120, 110), true},
		{"a button in its middle", form([]atspi.Node{node("list item", 100, 100, 200, 120), child(1, node("push button", 130, 100, 180, 120))}), image.Pt(115, 110), true},
		{"a label in its middle", form([]atspi.Node{node("list item", 100, 100, 200, 120), child(1, node("label", 130, 100, 180, 120))}), image.Pt(150, 110), true},
		{"filled by what it holds", form([]atspi.Node{node("list item", 100, 100, 200, 120), child(1, node("link", 100, 100, 200, 120))}), image.Point{}, false},
		{"another control lies over it", form([]atspi.Node{field, node("push button", 140, 100, 200, 120)}), image.Pt(120, 110), true},
		{"half below a dialog of the page", form([]atspi.Node{field, node("dialog", 140, 50, 300, 200)}), image.Pt(120, 110), true},
		{"below a dialog of the page", form([]atspi.Node{field, node("dialog", 90, 50, 300, 200)}), image.Point{}, false},
		{"out of the list that scrolls", form([]atspi.Node{node("list", 0, 0, 400, 100), child(1, node("list item", 0, 100, 400, 120))}), image.Point{}, false},
		{"below a tooltip, which takes no input", form([]atspi.Node{field}, Window{Popup: true, Type: "tooltip", Box: image.Rect(90, 90, 210, 130)}), image.Pt(150, 110), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := 1
			if tt.o.Tree.Nodes[1].Role == "list" { // it is about the item
				i = 2
			}
			device, at, ok := tt.o.PointOf(i)
			assert.Equal(t, tt.ok, ok)
			assert.Equal(t, tt.want, device)
			assert.Equal(t, tt.want, at, "without an image its pixels are those of the device")
		})
	}
}

// What unfolds what is below it is clicked at its arrow, and not in the middle of what it
// has unfolded.
func TestPointOfArrow(t *testing.T) {
	unfolded := []atspi.Node{{Role: "toggle button", Name: "Details", Box: image.Rect(20, 40, 300, 200), States: []string{"expanded"}}, {Parent: 1, Role: "panel", Box: image.Rect(20, 60, 300, 200)}}
	folded := []atspi.Node{{Role: "toggle button", Name: "Details", Box: image.Rect(20, 40, 300, 60), States: []string{"collapsed"}}}
	plain := []atspi.Node{{Role: "toggle button", Name: "Details", Box: image.Rect(20, 40, 300, 60)}}
	for _, tt := range []struct {
		nodes []atspi.Node
		want  image.Point
	}{{unfolded, image.Pt(30, 50)}, {folded, image.Pt(30, 50)}, {plain, image.Pt(160, 50)}} {
		device, _, ok := form(tt.nodes).PointOf(1)
		assert.True(t, ok)
		assert.Equal(t, tt.want, device)
	}
}

// A row of which the list shows a strip is not clicked.
func TestPointOfRowCutOff(t *testing.T) {
	for _, tt := range []struct {
		high, shown int
		ok          bool
	}{{20, 4, false}, {20, 8, false}, {21, 8, false}, {20, 9, true}, {15, 8, true}, {8, 8, true}} {
		rows := []atspi.Node{{Role: "table", Box: image.Rect(0, 0, 400, 2*tt.high+tt.shown)}}
		for y := 0; y < 3*tt.high; y += tt.high {
			rows = append(rows, atspi.Node{Parent: 1, Role: "table cell", Name: fmt.Sprint(y), Box: image.Rect(0, y, 400, min(y+tt.high, 2*tt.high+tt.shown))})
		}
		o := form(rows)
		_, _, ok := o.PointOf(3)
		assert.True(t, ok)
		_, _, ok = o.PointOf(4)
		assert.Equal(t, tt.ok, ok, "%d of %d pixels", tt.shown, tt.high)
	}
}

// Whatever lies over whatever: where a node is said to be, a click hits it, or
// something in its window that does nothing by itself.
func TestPointOfAndPlaceAtAgree(t *testing.T) {
	roles := []string{"panel", "push button", "label", "entry", "list item", "table cell", "scroll bar", "list", "menu", "menu item", "dialog"}
	rapid.Check(t, func(t *rapid.T) {
		box := func(name string) image.Rectangle {
			at := image.Pt(rapid.IntRange(-20, 420).Draw(t, name+" x"), rapid.IntRange(-20, 320).Draw(t, name+" y"))
			return image.Rectangle{Min: at, Max: at.Add(image.Pt(rapid.IntRange(1, 200).Draw(t, name+" w"), rapid.IntRange(1, 100).Draw(t, name+" h")))}
		}
		var nodes []atspi.Node
		for i := range rapid.IntRange(1, 12).Draw(t, "nodes") {
			nodes = append(nodes, atspi.Node{Parent: rapid.IntRange(0, i).Draw(t, "parent"), Role: rapid.SampledFrom(roles).Draw(t, "role"), Box: box("node")})
		}
		var above []Window
		for range rapid.IntRange(0, 3).Draw(t, "windows") {
			above = append(above, Window{PID: 9, Popup: rapid.Bool().Draw(t, "popup"), Type: "tooltip", Box: box("window")})
		}
		o := form(nodes, above...)
		if rapid.Bool().Draw(t, "scaled") {
			o.Image.Mapping = Mapping{Source: image.Rect(0, 0, 400, 300), Size: image.Pt(133, 100)}
		}
		for i, n := range o.Tree.Nodes {
			device, at, ok := o.PointOf(i)
			if !ok {
				continue
			}
			require.True(t, device.In(n.Box), "%v is not in %v", device, n.Box)
			hit := o.PlaceAt(at)
			require.Equal(t, hit, o.PlaceAtDevice(device))
			require.GreaterOrEqual(t, hit.Node, 0)
			require.True(t, hit.Node == i || !isOperable(o.Tree.Nodes[hit.Node]), "%s hits %s", n.ID, o.Tree.Nodes[hit.Node].ID)
		}
	})
}
