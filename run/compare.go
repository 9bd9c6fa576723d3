package run

import (
	"desktop-agent/actuator"
	"desktop-agent/monitor"
	"desktop-agent/screen"
	"fmt"
	"image"
	"slices"
)

// A Comparison tells by pictures, windows and trees what changed on a desktop. It
// is part of every [Desktop] that is looked at; the zero value works. One
// goroutine at a time uses it.
type Comparison struct{ screens monitor.Screens }

// ScreenName names the screen of an observation; see [monitor.Screens].
func (c *Comparison) ScreenName(o *screen.Observation) string { return c.screens.Name(o.Bare) }

// Unchanged asks look.
func (c *Comparison) Unchanged(_ int, look func() bool) bool { return look() }

// Unchanged reports whether two observations show the same, but for the pointer
// and a blinking caret: the action between them had no effect that can be seen.
func Unchanged(before, after *screen.Observation) bool {
	return SamePicture(before.Bare, after.Bare) && SameTree(before, after)
}

// caret is the largest box, in device pixels, whose change alone is no effect:
// a text cursor that blinks.
var caret = image.Pt(4, 64)

// SamePicture reports whether two pictures differ in nothing but a blinking caret.
func SamePicture(a, b *image.RGBA) bool {
	if a.Rect != b.Rect {
		return false
	}
	box := screen.DiffBox(a, b)
	return box.Dx() <= caret.X && box.Dy() <= caret.Y
}

// SameTree reports whether two observations tell the same of every node.
func SameTree(a, b *screen.Observation) bool {
	if len(a.Tree.Nodes) != len(b.Tree.Nodes) {
		return false
	}
	for i, n := range a.Tree.Nodes {
		m := b.Tree.Nodes[i]
		if n.Role != m.Role || n.Name != m.Name || n.Text != m.Text || n.Box != m.Box || !slices.Equal(n.States, m.States) {
			return false
		}
	}
	return true
}

// targetReach is half the side, in device pixels, of the square around a target that
// must look as it did when the model chose it.
const targetReach = 12

// Surprise returns why an action must not be performed: the desktop is not what
// the model saw. An action that was proposed again after a surprise is held up
// only by another size of the screen.
func (c *Comparison) Surprise(aim Aim) string {
	chosen, now := aim.Chosen, aim.Now
	if chosen.Bare.Rect != now.Bare.Rect {
		return fmt.Sprintf("the screen's size changed from %v to %v", chosen.Bare.Rect.Size(), now.Bare.Rect.Size())
	}
	if aim.Again {
		return ""
	}
	if len(aim.Done) == 0 && actuator.UsesFocus(aim.Action) {
		if why := windowChange(chosen.Windows, now.Windows); why != "" {
			return why + " since the screenshot " + chosen.FrameID
		}
	}
	for _, p := range actuator.Points(aim.Action) {
		if pointedAt(aim.Done, p) {
			continue // its look may have changed by that
		}
		at := chosen.Image.Mapping.ToDevice(image.Pt(p.X, p.Y))
		box := image.Rectangle{Min: at, Max: at}.Inset(-targetReach).Intersect(now.Bare.Rect)
		was, is := chosen.Bare.SubImage(box).(*image.RGBA), now.Bare.SubImage(box).(*image.RGBA)
		if !SamePicture(was, is) {
			return fmt.Sprintf("what is at (%d, %d) is no longer what the screenshot %s shows", p.X, p.Y, chosen.FrameID)
		}
	}
	return ""
}

// pointedAt reports whether one of the actions aims at p.
func pointedAt(list []actuator.Action, p actuator.Point) bool {
	return slices.ContainsFunc(list, func(a actuator.Action) bool { return slices.Contains(actuator.Points(a), p) })
}

// WindowChange compares the windows.
func (c *Comparison) WindowChange(before, after Capture) string {
	return windowChange(before.Windows, after.Windows)
}

// windowChange returns in words how two lists of windows differ, or "". It names
// no titles: they are text from outside, and the list of the screen has them.
// Menus and tooltips come and go with what one does; what they cover is seen by
// [Comparison.Surprise].
func windowChange(before, after []screen.Window) string {
	before, after = managed(before), managed(after)
	has := func(list []screen.Window, id uint32) bool {
		return slices.ContainsFunc(list, func(w screen.Window) bool { return w.ID == id })
	}
	for _, w := range after {
		if !has(before, w.ID) {
			return "a window opened"
		}
	}
	for _, w := range before {
		if !has(after, w.ID) {
			return "a window closed"
		}
	}
	for _, w := range after {
		if w.Focused && !slices.ContainsFunc(before, func(b screen.Window) bool { return b.ID == w.ID && b.Focused }) {
			return "another window has the focus"
		}
	}
	return ""
}

// managed leaves out menus, tooltips and the like.
func managed(list []screen.Window) (rest []screen.Window) {
	for _, w := range list {
		if !w.Popup {
			rest = append(rest, w)
		}
	}
	return rest
}
