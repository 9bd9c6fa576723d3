package screen

import (
	"image"

	"desktop-agent/screen/atspi"
)

// A view is an observation together with what lies where.
type view struct {
	*Observation
	window []int        // for each node, the index of the window that it is in; or one of those below
	root   []int        // for each node, the one without a parent that it is in
	popped []bool       // for each node, whether it is in an open menu, which lies above all windows
	odd    map[int]bool // roots that tell another place than that of their window
	bars   []int        // the scroll bars
	boxes  []int        // what a page may show over its own parts: dialogs, and what lies in a layer above that around it
	shown  image.Rectangle
	mapped bool
	every  bool // every place is told
}

// What a node has instead of a window.
const (
	loose   = -1 // it is on the screen, but nothing tells in which window
	nowhere = -2 // its program keeps it ready in a window that is not there
)

func (o *Observation) view() *view {
	count := len(o.Tree.Nodes)
	v := &view{Observation: o, window: make([]int, count), root: make([]int, count), popped: make([]bool, count), odd: map[int]bool{}}
	v.mapped, v.shown = o.Image.Mapping.known(), o.Image.Mapping.Source
	taken := map[int]bool{}
	for i := range o.Tree.Nodes {
		n := &o.Tree.Nodes[i] // the list is gone through often, and a node is large
		if n.Role == "scroll bar" {
			v.bars = append(v.bars, i)
		}
		if n.Parent >= 0 && (pageDialog(*n) || n.Layer > o.Tree.Nodes[n.Parent].Layer) {
			v.boxes = append(v.boxes, i)
		}
		if n.Parent >= 0 {
			v.window[i], v.root[i] = v.window[n.Parent], v.root[n.Parent]
			v.popped[i] = v.popped[n.Parent] || outside(n, &o.Tree.Nodes[n.Parent])
			continue
		}
		w := o.windowOf(*n, taken)
		v.window[i], v.root[i], taken[w] = w, i, true
		v.odd[i] = w >= 0 && !o.Windows[w].Hidden && 2*area(n.Box.Intersect(o.Windows[w].Box)) < area(o.Windows[w].Box)
	}
	return v
}

func area(r image.Rectangle) int { return r.Dx() * r.Dy() }

// outside reports whether a node is in an open menu of its parent: beside it, but for the
// edge by which it may lie on what it opens from.
func outside(n, parent *atspi.Node) bool {
	if !popsUp(parent.Role) {
		return false
	}
	common := area(n.Box.Intersect(parent.Box))
	return common == 0 || 4*common < area(n.Box)
}

// leaf reports whether there is nothing in a node.
func (v *view) leaf(i int) bool {
	return i+1 == len(v.Tree.Nodes) || v.Tree.Nodes[i+1].Parent != i
}

// popsUp reports whether children outside of the box of a node of the role are in
// an open menu.
func popsUp(role string) bool {
	switch role {
	case "menu", "popup menu", "combo box", "push button menu":
		return true
	}
	return false
}

// windowOf returns the index of the window that a node without a parent stands
// for, if there is one. Both the process and the title should be the same. Of one
// of them it is enough (titles change while one looks), and then the place decides;
// the place alone is not.
func (o *Observation) windowOf(root atspi.Node, taken map[int]bool) int {
	best, most := loose, 0
	for i, w := range o.Windows {
		overlap := w.Box.Intersect(root.Box)
		same := w.Title != "" && w.Title == root.Name
		score := 0
		switch {
		case w.PID != 0 && w.PID == root.PID:
			score = 2
			if best == loose {
				best = nowhere // unless one of its windows is the one
			}
		case same:
			score = 1
		default:
			continue
		}
		if same {
			score += 4
		}
		// A menu or a tip of the same process lies on its window, but does not fill it.
		if 4*area(overlap) >= 3*area(w.Box) {
			score += 2
		} else if !same {
			continue
		}
		if taken[i] {
			score--
		}
		if score > most {
			best, most = i, score
		}
	}
	return best
}

// place moves the nodes of programs that tell only where things are in their
// window to where that window is. GTK 4 is one: it does not know.
func (t *Tree) place(windows []Window) {
	var shift image.Point
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Parent < 0 {
			shift = offset(*n, windows)
		}
		n.Box = n.Box.Add(shift)
	}
}

// offset returns where the only window is that a node without a parent can
// stand for, if that node claims to be in the corner of the screen.
func offset(root atspi.Node, windows []Window) image.Point {
	if root.Box.Min != (image.Point{}) {
		return image.Point{}
	}
	var found []image.Point
	for _, w := range windows {
		if w.PID == root.PID && w.PID != 0 && w.Box.Size() == root.Box.Size() && !w.Hidden {
			if w.Title == root.Name {
				found = append([]image.Point{w.Box.Min}, found...)
			} else if w.Popup {
				found = append(found, w.Box.Min)
			}
		}
	}
	if len(found) == 0 {
		return image.Point{}
	}
	return found[0]
}

// minWord is how many device pixels of a text must be seen, across, unless it has no more:
// of two letters nobody reads the rest.
const minWord = 24

// there reports whether a node is in a window that is there, seen or not, or nothing tells
// in which it is.
func (v *view) there(i int) bool { return v.window[i] != nowhere }

// readable reports whether a part of a node can be seen: in the image, and not
// below other windows; of one that is there to be read, a word. Of a node whose place
// is not known, it can.
func (v *view) readable(i int) bool {
	switch {
	case !v.there(i):
		return false
	case v.odd[v.root[i]]:
		return true
	}
	area := v.area(i)
	part := largest(area, v.covers(i, area, func(Window) bool { return true }))
	switch v.Tree.Nodes[i].Role {
	case "paragraph", "heading", "label", "static":
		return !part.Empty() && part.Dx() >= min(minWord, area.Dx())
	}
	return !part.Empty()
}
