package actuator

import "slices"

// Clicked returns the click that an action makes: itself, or that of a button which comes up
// on what it went down on, by the same pixel or as the same element. Of two places in one
// element, who knows what that is may know that the button drags something there. done are the
// actions before it, and pointer is where the pointer was before those; nil if that is not
// known. A button of which nothing says where it went down is taken to click where it comes
// up. The point of the click is nil if it is not known.
func Clicked(a Action, done []Action, pointer *Point) (c Click, ok bool) {
	if c, ok := a.(Click); ok {
		c.At = reached(c.At, done, pointer)
		return c, true
	}
	up, ok := a.(ButtonUp)
	if !ok {
		return Click{}, false
	}
	c = Click{At: reached(up.At, done, pointer), Button: up.Button, Count: 1}
	from := PressedAt(up.Button, done, pointer)
	return c, from == nil || c.At == nil || together(*from, *c.At)
}

// Pushed returns the button that an action presses on what it points at, and that may click
// there: that of a click, or one that goes down. ok is false if it presses none.
func Pushed(a Action) (b Button, ok bool) {
	if c, ok := a.(Click); ok {
		return c.Button, true
	}
	down, ok := a.(ButtonDown)
	return down.Button, ok
}

// PressedAt returns where a button went down last, of what [Clicked] is told; nil if that is
// not known.
func PressedAt(b Button, done []Action, pointer *Point) *Point {
	for i, a := range slices.Backward(done) {
		if down, ok := a.(ButtonDown); ok && down.Button == b {
			return reached(down.At, done[:i], pointer)
		}
	}
	return nil
}

// PointerAfter returns where the pointer is after several actions, if it was at pointer before
// the first; nil if that is not known.
func PointerAfter(done []Action, pointer *Point) *Point {
	for _, a := range slices.Backward(done) {
		if _, set := a.(Set); set { // without the mouse
			continue
		}
		if points := Points(a); len(points) > 0 {
			return &points[len(points)-1]
		}
	}
	return pointer
}

// reached is what an action aims at that begins where the pointer is if at is nil.
func reached(at *Point, done []Action, pointer *Point) *Point {
	if at != nil {
		return at
	}
	return PointerAfter(done, pointer)
}

// together reports whether two points are one pixel, or on one element as far as they tell.
func together(p, q Point) bool {
	if p.Placed() && q.Placed() && p.X == q.X && p.Y == q.Y {
		return true
	}
	return p.Element == q.Element && (p.Element.ID != "" || p.Element.Name != "" || p.Element.Words != "")
}
