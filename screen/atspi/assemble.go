package atspi

import (
	"image"
	"strconv"
	"strings"
)

// everywhere is a box that holds every place of a desktop.
var everywhere = image.Rect(-maxCoordinate, -maxCoordinate, maxCoordinate, maxCoordinate)

// An assembler makes nodes of the objects of one program.
type assembler struct {
	app   string
	pid   int
	nodes []Node
}

// A place is what an object inherits from its parent.
type place struct {
	node  int // index of the parent's node; -1 for a window
	depth int
	raw   image.Rectangle // the parent's box as the program tells it
	shift image.Point     // how far that is from where it is on the screen
	clip  image.Rectangle // the part of the screen in which children can be seen
}

// add appends the nodes of an object and of all below it.
func (a *assembler) add(o *object, in place) {
	if o == nil || !o.known || !o.visible {
		return
	}
	here := place{node: in.node, depth: in.depth, raw: in.raw, shift: in.shift, clip: in.clip}
	if o.placed {
		if o.box.Empty() {
			return // a tool bar of no height, with buttons that nobody sees
		}
		here.raw, here.shift = o.box, shiftOf(o, in)
		box := o.box.Add(here.shift)
		seen := box.Intersect(in.clip)
		if seen.Empty() {
			return
		}
		a.nodes = append(a.nodes, Node{
			App: a.app, PID: a.pid, Parent: in.node, Depth: in.depth, Key: o.ref.key(),
			Role: o.role.String(), Name: o.name, Text: o.told(), States: o.states.told(o.role), Box: seen,
		})
		here.node, here.depth = len(a.nodes)-1, in.depth+1
		if o.role.clips() {
			here.clip = seen
		}
	}
	if o.role.popsUp() {
		here.clip = everywhere
	}
	for _, c := range o.children {
		a.add(c, here)
	}
}

// told returns an object's text where it says more than the name and the
// children do.
func (o *object) told() string {
	const embedded = "\uFFFC" // stands for a child
	if strings.TrimSpace(o.text) == o.name || len(o.children) > 0 && strings.Contains(o.text, embedded) {
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
func shiftOf(o *object, in place) image.Point {
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
