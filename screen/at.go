package screen

import (
	"image"
	"slices"
	"strconv"

	"desktop-agent/screen/atspi"
)

// A Place is what lies at a point of the screen.
type Place struct {
	Window int // index of the topmost window there; -1: only the desktop
	Node   int // index of the node that a click there would hit; -1: none is known
}

// PlaceAt returns what a click at a point of the image would hit; nothing outside of
// the image. Of the nodes on top it is the smallest; a dialog of a page is above what
// comes before it, and a part in a higher layer of it above the others; a text that was read from the picture is none. A minimised
// window covers nothing, and neither does one that takes no input, see
// [Window.Passive].
func (o *Observation) PlaceAt(p image.Point) Place {
	if m := o.Image.Mapping; m.known() {
		if !p.In(m.Bounds()) {
			return Place{-1, -1}
		}
		p = m.ToDevice(p)
	}
	return o.PlaceAtDevice(p)
}

// PlaceAtDevice is PlaceAt for a point in device pixels.
func (o *Observation) PlaceAtDevice(p image.Point) Place {
	return o.view().placeAt(p)
}

// ButtonOf returns the button that an arrow belongs to, as which a place in it counts in
// recordings that know of no arrows, and of any other node that itself. -1 stays -1.
func (o *Observation) ButtonOf(node int) int {
	if node >= 0 && o.Tree.Nodes[node].Role == atspi.RoleArrow && o.Tree.Nodes[node].Parent >= 0 {
		return o.Tree.Nodes[node].Parent
	}
	return node
}

func (v *view) placeAt(p image.Point) Place {
	at := Place{-1, -1}
	for i := len(v.Windows) - 1; i >= 0; i-- {
		if w := &v.Windows[i]; !w.Hidden && !w.Passive() && p.In(w.Box) {
			at.Window = i
			break
		}
	}
	var bestLayer, bestArea int
	for i := range v.Tree.Nodes {
		n := &v.Tree.Nodes[i] // a copy of each, for each place, would be most of what this takes
		if n.Read || !p.In(n.Box) {
			continue
		}
		layer, ok := v.layer(i, at.Window)
		if !ok || slices.ContainsFunc(v.boxes, func(d int) bool { return p.In(v.Tree.Nodes[d].Box) && v.over(d, i) }) {
			continue
		}
		area := area(n.Box)
		if at.Node < 0 || layer > bestLayer || layer == bestLayer && area <= bestArea {
			at.Node, bestLayer, bestArea = i, layer, area
		}
	}
	return at
}

// layer returns how far up a node lies where a window is the topmost; ok is false
// for one that no click there hits.
func (v *view) layer(i, top int) (layer int, ok bool) {
	window := v.window[i]
	switch {
	case window == nowhere:
		return 0, false
	case window == loose || v.popped[i]:
		return len(v.Windows), true
	}
	w := &v.Windows[window]
	return window, window >= top && !w.Hidden && !w.Passive()
}

// Describe says in words what lies at a place: the role and the name of the node,
// such as `push button "Save"`, or else in which window it is. quote puts what a
// program calls it in quotes; [strconv.Quote] does.
func (o *Observation) Describe(at Place, quote func(string) string) string {
	switch {
	case at.Node >= 0 && o.Tree.Nodes[at.Node].Role == atspi.RoleArrow:
		return atspi.RoleArrow + " of " + o.Tree.Nodes[o.Tree.Nodes[at.Node].Parent].Describe(quote)
	case at.Node >= 0:
		return o.Tree.Nodes[at.Node].Describe(quote)
	case at.Window >= 0:
		return "a place in " + o.Windows[at.Window].Describe(quote)
	}
	return "a place on the desktop"
}

// FocusedNode returns the node that keys go to: the innermost one that says so, the last of
// several, in the window that has the focus, or of which nobody knows which window it is in;
// where no window is known to have it, in any. -1: none is known.
func (o *Observation) FocusedNode() int { return o.view().focusedNode() }

func (v *view) focusedNode() int {
	_, known := v.Focused()
	best := -1
	for i, n := range v.Tree.Nodes {
		w := v.window[i]
		if n.Has("focused") && (w == loose || w >= 0 && (v.Windows[w].Focused || !known)) && (best < 0 || n.Depth >= v.Tree.Nodes[best].Depth) {
			best = i
		}
	}
	return best
}

// PID returns the process of the program that a place is of; 0 if it is not known.
func (o *Observation) PID(at Place) int {
	switch {
	case at.Node >= 0:
		return o.Tree.Nodes[at.Node].PID
	case at.Window >= 0:
		return o.Windows[at.Window].PID
	}
	return 0
}

// Covered reports whether other windows lie over a part of a window, in pixels of the desktop,
// or it is minimised.
func (o *Observation) Covered(window int, part image.Rectangle) bool {
	return o.Windows[window].Hidden || !slices.Equal(o.uncovered(window, part), []image.Rectangle{part})
}

// NodeWindows returns for each node the index of the window that it is in; -1
// where nothing tells, or where that window is not there.
func (o *Observation) NodeWindows() []int {
	list := o.view().window
	for i, w := range list {
		list[i] = max(w, -1)
	}
	return list
}

// NodesIn returns the indexes of the nodes that tell what is in a window: those below the one
// that stands for it, see [Observation.NodeWindows]. What was read from the picture is none.
func (o *Observation) NodesIn(window int) []int { return o.view().nodesIn(window) }

func (v *view) nodesIn(window int) (list []int) {
	for i, w := range v.window {
		if n := &v.Tree.Nodes[i]; w == window && n.Parent >= 0 && !n.Read {
			list = append(list, i)
		}
	}
	return list
}

// Locates reports whether nodes tell where in a window something is: one of [Observation.NodesIn]
// lies in it, and the one that stands for it is where it is.
func (o *Observation) Locates(window int) bool {
	v := o.view()
	return slices.ContainsFunc(v.nodesIn(window), func(i int) bool {
		return !v.odd[v.root[i]] && o.Tree.Nodes[i].Box.Overlaps(o.Windows[window].Box)
	})
}

// String is Describe in the quotes of Go.
func (w Window) String() string { return w.Describe(strconv.Quote) }

// Describe says in words which window it is: by its title, or else its program.
func (w Window) Describe(quote func(string) string) string {
	if w.Title == "" {
		return "a window of " + w.Class
	}
	return "window " + quote(w.Title)
}

// Passive reports whether the window takes no input: it is a tooltip, or what is
// being dragged. What a click there is for lies below.
func (w Window) Passive() bool { return w.Popup && (w.Type == "tooltip" || w.Type == "dnd") }
