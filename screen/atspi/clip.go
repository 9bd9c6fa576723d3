package atspi

import (
	"image"
	"slices"
	"strings"
)

const (
	minSeen   = 6   // pixels of something cut off that a person could still hit
	legible   = 14  // and of its height, if less than two fifths of it are left, to know what it is
	webBar    = 15  // pixels that a scroll bar of a web page takes across
	maxBar    = 30  // pixels that a scroll bar takes across
	menuArrow = 24  // pixels that an arrow takes at the edge of a menu that scrolls, in GTK 3's own theme
	attached  = 4   // pixels between a field and the list that drops down from it
	maxEdges  = 400 // objects out of view that are asked where they are, to learn what hides them
)

// tooThin reports whether so little is seen of something that is cut off that nobody
// would click on it.
func tooThin(seen, box image.Rectangle) bool {
	height := max(minSeen, min(legible, 2*box.Dy()/5))
	return seen.Empty() || seen.Dx() < min(minSeen, box.Dx()) || seen.Dy() < min(height, box.Dy())
}

// inside returns the part of an object's box in which it shows its children.
func (o *object) inside(box image.Rectangle) image.Rectangle {
	if o.scrollsDown {
		box.Max.X -= webBar
	}
	if o.scrollsRight {
		box.Max.Y -= webBar
	}
	return box
}

// children appends the nodes of an object's children, and counts those out of view. It
// returns the box around what can be seen of them.
func (a *assembler) children(o *object, here inherited) (all image.Rectangle) {
	free := here
	var bars []*object
	for _, c := range o.children {
		switch {
		case c.isBar():
			bars = append(bars, c)
			here.clip = beside(here.clip, c.box.Add(here.shift), o.box.Add(here.shift))
		case c.isHeader() && o.role.tabular():
			here.clip.Min.Y = max(here.clip.Min.Y, c.box.Max.Y+here.shift.Y)
		}
	}
	seen := make([]image.Rectangle, len(o.children))
	for i, c := range o.children {
		if c.isHeader() { // first, as it stands above the rest
			seen[i] = a.add(c, free)
		}
	}
	for i, c := range o.children {
		switch {
		case c.isHeader():
		case c.isBar(), c.beyondAny(bars):
			seen[i] = a.add(c, free)
		default:
			seen[i] = a.add(c, here)
		}
	}
	if o.role.lists() && o.placed && !o.box.Empty() && here.node >= 0 {
		a.nodes[here.node].Beyond = o.beyond(seen)
	}
	for _, box := range seen {
		all = all.Union(box)
	}
	return all
}

// isBar reports whether an object is a scroll bar that can be seen.
func (o *object) isBar() bool {
	return o != nil && o.visible && o.placed && o.role == roleScrollBar && !o.box.Empty() && min(o.box.Dx(), o.box.Dy()) <= maxBar
}

// beyondAny reports whether an object lies below one of the scroll bars, or on the right of
// it: it does not scroll by that, and is not hidden there, such as the tabs of LibreOffice's
// sheets.
func (o *object) beyondAny(bars []*object) bool {
	return o != nil && o.placed && slices.ContainsFunc(bars, func(bar *object) bool {
		return bar.box.Dx() > bar.box.Dy() && o.box.Min.Y >= bar.box.Max.Y || bar.box.Dy() > bar.box.Dx() && o.box.Min.X >= bar.box.Max.X
	})
}

// isHeader reports whether an object is the header of a column, which lies above
// rows that are scrolled.
func (o *object) isHeader() bool {
	return o != nil && o.visible && o.placed && o.role == roleTableColumnHeader && !o.box.Empty()
}

// beside returns the part of a clip beside a scroll bar at an edge of a box.
func beside(clip, bar, box image.Rectangle) image.Rectangle {
	switch {
	case bar.Dy() >= bar.Dx() && bar.Min.X > (box.Min.X+box.Max.X)/2:
		clip.Max.X = min(clip.Max.X, bar.Min.X)
	case bar.Dy() >= bar.Dx():
		clip.Min.X = max(clip.Min.X, bar.Max.X)
	default:
		clip.Max.Y = min(clip.Max.Y, bar.Min.Y)
	}
	return clip
}

// beyond counts the children out of view before the first and after the last of
// those that are seen; of a table, its rows.
func (o *object) beyond(seen []image.Rectangle) (b Beyond) {
	first, last := -1, -1
	rows, columns := map[int]bool{}, map[int]bool{}
	for i, box := range seen {
		if box.Empty() || o.children[i].isBar() || o.children[i].isHeader() {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
		rows[box.Min.Y], columns[box.Min.X] = true, true
	}
	if first < 0 {
		return b
	}
	before, after := 0, 0
	for i, c := range o.children {
		if c != nil && seen[i].Empty() && c.states.has(stateVisible) && !c.states.has(stateIconified) {
			if i < first {
				before++
			} else if i > last {
				after++
			}
		}
	}
	if o.role == roleDocumentText && (o.before == Some || o.after == Some) {
		return Beyond{Above: o.before, Below: o.after}
	}
	switch {
	case o.role.tabular():
		before, after = before/len(columns), after/len(columns)
	case o.role == roleSection && len(rows) == 1:
		return b // nobody tells which way it is scrolled
	case len(rows) == 1 && len(columns) > 1:
		return Beyond{Left: before + o.before, Right: after + o.after}
	}
	return Beyond{Above: before + o.before, Below: after + o.after}
}

// dropDown appends the nodes of the list that dropped down from a combo box of a
// browser, which shows it in a window of its own and tells the places of its entries,
// and which of them are in view, as if it were not scrolled. Where all entries fit in,
// they are placed. Else nobody tells where they are: then they are the text of the list.
func (a *assembler) dropDown(o *object, in, here inherited) bool {
	if o.role != roleComboBox || len(o.children) != 1 || o.children[0] == nil || !o.placed {
		return false
	}
	list := o.children[0]
	window := a.droppedFrom(o.box.Add(here.shift))
	if !list.visible || !list.placed || window == nil {
		return false
	}
	all, names, fits := image.Rectangle{}, []string{}, true
	for _, c := range list.children {
		switch {
		case c == nil:
		case c.visible && c.placed:
			all, names = all.Union(c.box), append(names, c.name)
		case c.name != "":
			names, fits = append(names, c.name), false
		}
	}
	if all.Empty() {
		return false
	}
	a.append(list, window.box, here)
	node := &a.nodes[len(a.nodes)-1]
	if !fits || all.Dy() > window.box.Dy() {
		node.Text = cut(strings.Join(names, "\n"), maxText)
		return true
	}
	border := (window.box.Dy() - all.Dy()) / 2
	inside := inherited{
		node: len(a.nodes) - 1, depth: here.depth + 1, raw: list.box, clip: window.box,
		shift: image.Pt(here.shift.X, window.box.Min.Y+border-all.Min.Y),
	}
	a.children(list, inside)
	return true
}

// droppedFrom returns the window without a name or content that is attached to a box.
func (a *assembler) droppedFrom(box image.Rectangle) *object {
	for _, w := range a.windows {
		if !w.known || !w.visible || !w.placed || w.name != "" || len(w.children) > 0 {
			continue
		}
		below, above := distance(w.box.Min.Y, box.Max.Y), distance(w.box.Max.Y, box.Min.Y)
		if min(below, above) <= attached && distance(w.box.Min.X, box.Min.X) <= attached {
			return w
		}
	}
	return nil
}

func distance(a, b int) int { return max(a-b, b-a) }

// askFlows asks the first and the last paragraph of each document what comes before and after
// them. LibreOffice has no children for what is scrolled out of view, but tells that.
func (w *walk) askFlows() (asked bool) {
	anyObject(w.windows, func(o *object) bool {
		if o.role != roleDocumentText || !o.visible {
			return false
		}
		paragraph := func(c *object) bool { return c != nil && c.visible && c.role == roleParagraph }
		first := slices.IndexFunc(o.children, paragraph)
		if first < 0 {
			return false
		}
		last := len(o.children) - 1
		for !paragraph(o.children[last]) {
			last--
		}
		for _, end := range []struct {
			at    int
			kind  uint32
			count *int
		}{{first, relationFlowsFrom, &o.before}, {last, relationFlowsTo, &o.after}} {
			asked = true
			w.relations(o.children[end.at], func(kind uint32, ref reference) {
				if next := w.seen[ref]; kind == end.kind && (next == nil || !next.visible) {
					*end.count = Some
				}
			})
		}
		return false
	})
	return asked
}

// askEdges asks where the first children out of view are of objects of a web page,
// to learn which of the objects around them hide them: no browser tells that.
func (w *walk) askEdges() (asked bool) {
	left := maxEdges
	var look func(o *object, page image.Rectangle)
	look = func(o *object, page image.Rectangle) {
		if o == nil || !o.visible || !o.placed {
			return
		}
		if o.role == roleDocumentWeb {
			page = o.box
		}
		for i, c := range o.children {
			if !page.Empty() && c != nil && c.outOfView() && left > 0 && o.shows(i-1, i+1) && c.ref.name == w.root.name {
				left--
				w.ask(c.ref, component, "GetExtents", func(body []any) {
					if box, ok := rectangle(body); ok && !box.Empty() && box.Overlaps(page) {
						o.hide(box)
					}
				}, uint32(0))
			}
			look(c, page)
		}
	}
	for _, win := range w.windows {
		look(win, image.Rectangle{})
	}
	return left < maxEdges
}

// outOfView reports whether an object is one that is not hidden, but cannot be seen
// where it is.
func (o *object) outOfView() bool {
	return !o.visible && o.states.has(stateVisible) && !o.states.has(stateShowing)
}

// shows reports whether one of two children can be seen.
func (o *object) shows(i, j int) bool {
	for _, k := range []int{i, j} {
		if k >= 0 && k < len(o.children) && o.children[k] != nil && o.children[k].visible {
			return true
		}
	}
	return false
}

// hide marks the innermost object that has nothing of a box in it, which is one of
// its children's that cannot be seen, as one that hides what is beyond its own.
func (o *object) hide(box image.Rectangle) {
	for p := o; p != nil && p.role != roleDocumentWeb; p = p.parent {
		if p.placed && !p.box.Empty() && !p.box.Overlaps(box) {
			p.clips = true
			for _, c := range p.children { // what is beyond, in part or whole
				if c != nil && c.visible && c.placed {
					box = box.Union(c.box)
				}
			}
			p.scrollsDown = p.scrollsDown || box.Max.Y > p.box.Max.Y || box.Min.Y < p.box.Min.Y
			p.scrollsRight = p.scrollsRight || box.Max.X > p.box.Max.X || box.Min.X < p.box.Min.X
			return
		}
	}
}
