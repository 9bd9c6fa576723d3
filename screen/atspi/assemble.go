package atspi

import (
	"image"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// everywhere is a box that holds every place of a desktop.
var everywhere = image.Rect(-maxCoordinate, -maxCoordinate, maxCoordinate, maxCoordinate)

// An assembler makes nodes of the objects of one program.
type assembler struct {
	app     string
	pid     int
	windows []*object
	loose   bool              // the toolkit does not tell where its windows are
	nodes   []Node            // of the objects that can be seen
	objects []*object         // which these are
	boxes   []image.Rectangle // where they would be from left to right: see mirror
}

// inherited is what an object has from its parent.
type inherited struct {
	node  int // index of the parent's node; -1 for a window
	depth int
	raw   image.Rectangle // the parent's box as the program tells it
	shift image.Point     // how far that is from where it is on the screen
	clip  image.Rectangle // the part of the screen in which children can be seen
}

// assemble makes the nodes of all windows.
func (a *assembler) assemble() {
	for _, w := range a.windows {
		a.add(w, inherited{node: -1, clip: everywhere})
	}
	a.label()
}

// add appends the nodes of an object and of all below it, and returns the part of
// the object that can be seen.
func (a *assembler) add(o *object, in inherited) (seen image.Rectangle) {
	if o == nil || !o.known || !o.visible {
		return seen
	}
	here := in
	if o.placed && o.box.Empty() {
		if !o.within(roleDocumentWeb) {
			return seen // a tool bar of no height, with buttons that nobody sees
		}
		return a.children(o, here) // a page shows what is beyond the box, and tells what it hides
	}
	if o.placed {
		here.raw, here.shift = o.box, shiftOf(o, in)
		box := o.box.Add(here.shift)
		if o.role == roleParagraph && !box.Overlaps(in.raw.Add(in.shift)) {
			box = in.raw.Add(in.shift) // LibreOffice, of a cell that is being edited and is aligned to the right
		}
		seen = box.Intersect(in.clip)
		if tooThin(seen, box) {
			return image.Rectangle{}
		}
		a.append(o, seen, in)
		here.node, here.depth = len(a.nodes)-1, in.depth+1
		a.appendArrow(o, o.arrow().Add(here.shift).Intersect(seen))
		if o.role.clips() || o.clips || in.node < 0 && !a.loose {
			here.clip = seen.Intersect(o.inside(box))
		}
		if o.role == roleMenu && o.holdsOne() {
			here.clip = seen.Intersect(o.betweenArrows().Add(here.shift))
		}
	}
	if o.role.popsUp() && !(o.role == roleMenu && o.holdsOne()) {
		here.clip = everywhere
		if a.dropDown(o, in, here) {
			return seen
		}
	}
	a.children(o, here)
	return seen
}

// within reports whether an object is in one of a role: in a page of a browser, say.
func (o *object) within(r role) bool {
	for p := o.parent; p != nil; p = p.parent {
		if p.role == r {
			return true
		}
	}
	return false
}

// holdsOne reports whether one of the children lies in the object: then it is the
// menu itself, of which some may be scrolled away, and not what it drops down from.
func (o *object) holdsOne() bool {
	return o.placed && slices.ContainsFunc(o.children, func(c *object) bool {
		return c != nil && c.visible && c.placed && !c.box.Empty() && c.box.In(o.box)
	})
}

// betweenArrows returns the part of a menu that shows its items: where there are more, an
// arrow by which it scrolls lies over the item at its edge.
func (o *object) betweenArrows() image.Rectangle {
	seen := o.box
	for _, c := range o.children {
		if c == nil || !c.visible || !c.placed || c.box.Empty() || c.box.Min.X < o.box.Min.X || c.box.Max.X > o.box.Max.X {
			continue // an item is not wider than its menu
		}
		if c.box.Min.Y < o.box.Min.Y {
			seen.Min.Y = o.box.Min.Y + menuArrow
		}
		if c.box.Max.Y > o.box.Max.Y {
			seen.Max.Y = o.box.Max.Y - menuArrow
		}
	}
	return seen
}

// append appends the node of an object.
func (a *assembler) append(o *object, seen image.Rectangle, in inherited) {
	n := Node{
		App: a.app, PID: a.pid, Parent: in.node, Depth: in.depth, Key: o.ref.key(),
		Role: o.role.String(), Name: o.name, Text: o.told(), States: o.states.told(o.role), Box: seen,
		Start: o.start, Length: o.length, Line: o.line, Formula: o.formula, Settable: o.settable(),
	}
	if a.pictures(o, in.node) || isIconName(n.Name) {
		n.Name = ""
	}
	if at := o.caret - o.start; at > 0 && at <= utf8.RuneCountInString(n.Text)+1 {
		n.Caret = at
	}
	o.labelled(&n)
	a.nodes, a.objects = append(a.nodes, n), append(a.objects, o)
}

// pictures reports whether an object in a node is the icon in a field: its name is that
// of the picture, not of what it stands for.
func (a *assembler) pictures(o *object, node int) bool {
	return o.role == roleIcon && node >= 0 && a.objects[node].role.field()
}

// isIconName reports whether a name is that of an icon in a theme, which GTK tells as the
// name of whatever shows the icon first, such as a list of choices: "emblem-ok-symbolic"
// (https://specifications.freedesktop.org/icon-naming-spec/latest).
func isIconName(name string) bool {
	return strings.HasSuffix(name, "-symbolic") && strings.IndexFunc(name, func(r rune) bool {
		return r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) < 0
}

// told returns an object's text where it says more than the name and the
// children do.
func (o *object) told() string {
	const embedded = "\uFFFC" // stands for a child
	if o.role != roleComboBox && strings.TrimSpace(o.text) == o.name || len(o.children) > 0 && strings.Contains(o.text, embedded) {
		return ""
	}
	return o.text
}

// shiftOf returns how far an object's box is from where the object really is.
//
// LibreOffice tells the places of all that it draws itself, below the menu bar,
// as if there were no menu bar: its root pane has the size of the panel that
// holds it, but lies above it. What is drawn by GTK inside of that is told
// right again: it lies where its parent really is, not where that says to be.
func shiftOf(o *object, in inherited) image.Point {
	if o.role == roleRootPane && in.node >= 0 && o.box.Size() == in.raw.Size() {
		return in.raw.Min.Add(in.shift).Sub(o.box.Min)
	}
	if in.shift != (image.Point{}) && area(o.box.Intersect(in.raw.Add(in.shift))) > area(o.box.Intersect(in.raw)) {
		return image.Point{}
	}
	return in.shift
}

func area(r image.Rectangle) int { return r.Dx() * r.Dy() }

// number gives the nodes of several programs, one list after the other, their
// IDs and the right indices.
func number(lists [][]Node) []Node {
	var all []Node
	for _, list := range lists {
		offset := len(all)
		for _, n := range list {
			if n.Parent >= 0 {
				n.Parent += offset
			}
			n.ID = "n" + strconv.Itoa(len(all)+1)
			all = append(all, n)
		}
	}
	return all
}
