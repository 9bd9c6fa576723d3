package atspi

import "image"

// arrowWidth is how wide LibreOffice draws the arrow behind the picture of a button that
// opens a list, in pixels of an interface that is not scaled: TB_DROPDOWNARROWWIDTH in its
// vcl/inc/toolbox.h.
const arrowWidth = 11

// RoleArrow is the role of a node that stands for the arrow of a button, which is its parent.
const RoleArrow = "arrow"

// arrowPart marks the key of an arrow: that of its button is before it.
const arrowPart = " arrow"

// arrow returns the part of a button in a tool bar of LibreOffice that opens its list,
// where the rest does something else, as the program tells its boxes; empty if there is
// none. The program tells of the whole button alone. But all buttons of such a bar are as
// wide as a picture, or wider by an arrow: where there is any other width they have words,
// and nothing can be told by it; nor in a bar that goes from right to left. A button that is
// disabled has none.
func (o *object) arrow() (arrow image.Rectangle) {
	if !o.isTool() || !o.parent.within(roleRootPane) || o.states.disabled() {
		return arrow
	}
	plain := o.box.Dx()
	for _, b := range o.parent.children {
		if b.isTool() && b.box.Dy() == o.box.Dy() {
			plain = min(plain, b.box.Dx())
		}
	}
	wide := o.box.Dx() - plain
	if scale := wide / arrowWidth; wide != scale*arrowWidth || scale < 1 || scale > 3 || 2*wide > plain {
		return arrow
	}
	var before image.Rectangle
	for _, b := range o.parent.children {
		if !b.isTool() {
			continue
		}
		if b.box.Dx() != plain && b.box.Dx() != plain+wide || leftward(before, b.box) > 0 {
			return arrow
		}
		before = b.box
	}
	arrow = o.box
	arrow.Min.X = arrow.Max.X - wide
	return arrow
}

// isTool reports whether an object is a button of a tool bar that has a place there.
func (o *object) isTool() bool {
	return o != nil && o.visible && o.placed && !o.box.Empty() && o.parent != nil && o.parent.role == roleToolBar &&
		(o.role == rolePushButton || o.role == roleToggleButton)
}

// appendArrow appends the node of the arrow of a button, of which the node is the last one.
// It has no name: that of the button says what a click on the rest does. Of an arrow
// nothing is seen if there is none.
func (a *assembler) appendArrow(o *object, seen image.Rectangle) {
	if seen.Empty() {
		return
	}
	button := len(a.nodes) - 1
	n := a.nodes[button]
	a.nodes = append(a.nodes, Node{
		App: n.App, PID: n.PID, Parent: button, Depth: n.Depth + 1, Key: n.Key + arrowPart,
		Role: RoleArrow, Box: seen,
	})
	a.objects = append(a.objects, o)
}
