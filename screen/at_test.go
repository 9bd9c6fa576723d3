package screen

import (
	"image"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"desktop-agent/screen/atspi"
)

// dialogs is a program with two windows of one title, one above the other.
func dialogs(above ...Window) *Observation {
	return &Observation{
		Windows: append([]Window{
			{Title: "Find", Class: "Editor", PID: 7, Box: image.Rect(0, 0, 400, 300)},
			{Title: "Find", Class: "Editor", PID: 7, Box: image.Rect(200, 150, 600, 450)},
			{Title: "", Class: "Panel", Box: image.Rect(0, 500, 400, 530)},
		}, above...),
		Tree: Tree{Nodes: []atspi.Node{
			{ID: "n1", PID: 7, Parent: -1, Role: "dialog", Name: "Find", Box: image.Rect(200, 150, 600, 450)},
			{ID: "n2", PID: 7, Parent: 0, Role: "push button", Name: `Close "all"`, Box: image.Rect(220, 170, 280, 200)},
			{ID: "n3", PID: 7, Parent: -1, Role: "dialog", Name: "Find", Box: image.Rect(0, 0, 400, 300)},
			{ID: "n4", PID: 7, Parent: 2, Role: "entry", Box: image.Rect(0, 0, 8, 8)},
			{ID: "n5", PID: 9, Parent: -1, Role: "frame", Name: "Panel", Box: image.Rect(0, 500, 400, 530)},
		}},
	}
}

// What lies over a target for a moment and takes no input is not what a click is
// for: replays and recordings once saw the tooltip, macros what is below it.
func TestPlaceUnderTooltip(t *testing.T) {
	p := image.Pt(230, 180)
	over := func(kind string) Window {
		return Window{Title: "Closes all", Class: "Editor", PID: 7, Type: kind, Popup: true, Box: image.Rect(225, 175, 290, 195)}
	}
	for kind, want := range map[string]Place{
		"tooltip":      {Window: 1, Node: 1},
		"dnd":          {Window: 1, Node: 1},
		"notification": {Window: 3, Node: -1}, // which a click is for: macros once saw through it
		"popup_menu":   {Window: 3, Node: -1},
	} {
		assert.Equal(t, want, dialogs(over(kind)).PlaceAt(p), kind)
	}
	hidden := over("popup_menu")
	hidden.Hidden = true
	assert.Equal(t, Place{Window: 1, Node: 1}, dialogs(hidden).PlaceAt(p))
}

func TestDescribe(t *testing.T) {
	for _, tt := range []struct {
		at   image.Point
		want string
	}{
		{image.Pt(230, 180), `push button "Close \"all\""`},
		{image.Pt(4, 4), "entry"},
		{image.Pt(300, 300), `dialog "Find"`},
		{image.Pt(300, 510), "a window of Panel"},
		{image.Pt(900, 900), "a place on the desktop"},
	} {
		o := dialogs()
		at := o.PlaceAtDevice(tt.at)
		if at.Window == 2 {
			assert.Equal(t, tt.want, o.Windows[2].String())
			at.Node = -1
			assert.Equal(t, "a place in "+tt.want, o.Describe(at, strconv.Quote))
			continue
		}
		assert.Equal(t, tt.want, o.Describe(at, strconv.Quote))
	}
	marks := func(s string) string { return "<" + s + ">" }
	assert.Equal(t, `push button <Close "all">`, dialogs().Describe(Place{1, 1}, marks))
	assert.Equal(t, "a place in window <Find>", dialogs().Describe(Place{1, -1}, marks))
}

// Macros once took one window for both trees, and a window of an unknown program
// for that of a tree with another title, because it was at the same place.
func TestNodeWindows(t *testing.T) {
	o := dialogs()
	assert.Equal(t, []int{1, 1, 0, 0, -1}, o.NodeWindows())
	o.Windows[0].Box, o.Tree.Nodes[2].Box = o.Windows[1].Box, o.Windows[1].Box
	assert.Equal(t, []int{0, 0, 1, 1, -1}, o.NodeWindows(), "each its own, if nothing tells them apart")
	o = dialogs()
	o.Windows[1].Hidden, o.Tree.Nodes[4].PID = true, 7
	o.Tree.Nodes[4].Box = image.Rect(500, 500, 510, 510)
	assert.Equal(t, -1, o.NodeWindows()[4], "kept ready by a program that has other windows")
}

// TestNodesIn holds that what a program tells of another of its windows, and what was read
// from the picture, tells nothing of a window; nor does a frame alone.
func TestNodesIn(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(*Observation)
		in      []int // the second window
		located bool
	}{
		"an element":         {func(*Observation) {}, []int{1}, true},
		"read":               {func(o *Observation) { o.Tree.Nodes[1].Read = true }, nil, false},
		"frame only":         {func(o *Observation) { o.Tree.Nodes = o.Tree.Nodes[:1] }, nil, false},
		"the other window's": {func(o *Observation) { o.Tree.Nodes[1].Parent = 2 }, nil, false},
		"unknown process": {func(o *Observation) {
			for i := range o.Windows {
				o.Windows[i].PID, o.Windows[i].Title = 0, "Letter"
			}
			for i := range o.Tree.Nodes {
				o.Tree.Nodes[i].PID = 0
			}
		}, nil, false},
		"without a place": {func(o *Observation) { o.Tree.Nodes[1].Box = image.Rectangle{} }, []int{1}, false},
		"at another place": {func(o *Observation) {
			o.Windows[0].Title = "Letter"
			o.Tree.Nodes[0].Box = o.Tree.Nodes[0].Box.Sub(o.Tree.Nodes[0].Box.Min)
		}, []int{1}, false},
	} {
		o := dialogs()
		o.Tree.Nodes = o.Tree.Nodes[:3]
		tt.change(o)
		assert.Equal(t, tt.in, o.NodesIn(1), name)
		assert.Equal(t, tt.located, o.Locates(1), name)
	}
}

// Each control can be clicked, and all that is said to be one is a role there is.
func TestOperable(t *testing.T) {
	for _, role := range []string{"icon", "calendar", "color chooser", "date editor", "dial", "editbar", "terminal", "tearoff menu item"} {
		assert.True(t, atspi.Operable(role), "%s: one of three lists had it, or two", role)
		assert.True(t, atspi.Clickable(role), role)
	}
	for _, role := range []string{"table cell", "scroll bar", "table column header", "row header"} {
		assert.False(t, atspi.Operable(role), role)
		assert.True(t, atspi.Clickable(role), role)
	}
	for _, role := range []string{"panel", "label", "paragraph", "document text", "table", "frame", ""} {
		assert.False(t, atspi.Clickable(role), role)
	}
}

// Keys go to the innermost node that has the focus, of the window that has it.
func TestFocusedNode(t *testing.T) {
	focused := []string{"focused"}
	for name, tt := range map[string]struct {
		nodes  []int // that say so
		window int   // -1: none
		want   int
	}{
		"none":                               {nil, 0, -1},
		"the window":                         {[]int{2}, 0, 2},
		"in the window":                      {[]int{2, 3}, 0, 3},
		"a later one, less deep":             {[]int{3, 4}, 0, 3},
		"the last of two":                    {[]int{4, 5}, 0, 5},
		"another window has it":              {[]int{1}, 0, -1},
		"both windows say so":                {[]int{1, 4}, 0, 4},
		"no window is known to":              {[]int{1}, -1, 1},
		"of a program without a window here": {[]int{7}, 0, 7},
	} {
		o := dialogs()
		n := o.Tree.Nodes
		o.Tree.Nodes = append(n[:4:4],
			atspi.Node{PID: 7, Parent: 2, Depth: 1, Role: "text"}, atspi.Node{PID: 7, Parent: 2, Depth: 1, Role: "text"}, n[4],
			atspi.Node{PID: 99, Parent: -1, Role: "frame", Name: "Elsewhere"})
		o.Tree.Nodes[1].Depth, o.Tree.Nodes[3].Depth = 1, 2
		for _, i := range tt.nodes {
			o.Tree.Nodes[i].States = focused
		}
		if tt.window >= 0 {
			o.Windows[tt.window].Focused = true
		}
		assert.Equal(t, tt.want, o.FocusedNode(), name)
	}
}
