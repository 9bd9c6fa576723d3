package run

import (
	"context"
	"fmt"
	"image"
	"slices"

	"desktop-agent/actuator"
	"desktop-agent/monitor"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// A Comparison tells by pictures, windows and trees what changed on a desktop. It
// is part of every [Desktop] that is looked at; the zero value works. One
// goroutine at a time uses it.
type Comparison struct{ screens monitor.Screens }

// ScreenName names the screen of an observation; see [monitor.Screens].
func (c *Comparison) ScreenName(o *screen.Observation) string { return c.screens.Name(o.Bare) }

// Recall keeps a name in mind; see [monitor.Screens].
func (c *Comparison) Recall(picture *image.RGBA, name string) { c.screens.Recall(picture, name) }

// Unchanged asks look.
func (c *Comparison) Unchanged(_ int, look func() bool) bool { return look() }

// NothingChanged compares, for [Desktop.Unchanged], what was seen before and after the
// action of an index: before is the picture right before it. The tree is only known, by what
// the batch was chosen on, before the first action, and of a text cursor it knows only where
// one tells where it is. When what was seen after it had not come to rest, something may still
// be to come.
func NothingChanged(a actuator.Action, index int, before *image.RGBA, chosen, now *screen.Observation) bool {
	switch {
	case !now.Settled.Rested() || !screen.SamePicture(before, now.Bare):
		return false
	case index == 0 && !screen.SameTree(chosen, now):
		return false
	case index == 0 && tellsCaret(chosen) && tellsCaret(now):
		return true // it blinks
	}
	return samePicture(a, before, now.Bare)
}

// tellsCaret reports whether the element that keys go to says where its text cursor is.
func tellsCaret(o *screen.Observation) bool {
	n := o.FocusedNode()
	return n >= 0 && o.Tree.Nodes[n].Caret > 0
}

// samePicture reports whether two pictures, before and after an action, are the same to a
// person who has no tree: a text cursor that is seen in one of them alone blinks, unless the
// action goes to where it is, and may have moved it.
func samePicture(a actuator.Action, before, after *image.RGBA) bool {
	if !screen.SamePicture(before, after) {
		return false
	}
	return !actuator.UsesFocus(a) || screen.DiffBox(before, after).Empty()
}

// Surprise returns why an action must not be performed: the desktop is not what
// the model saw. An action that was proposed again after a surprise is held up
// only by another size of the screen.
func (c *Comparison) Surprise(_ context.Context, aim Aim) string {
	if why, over := c.anyway(aim); over {
		return why
	}
	return c.changed(aim, nil)
}

// anyway returns why an action must not be performed whatever is at its points. over
// says that nothing else matters.
func (c *Comparison) anyway(aim Aim) (why string, over bool) {
	chosen, now := aim.Chosen, aim.Now
	if chosen.Bare.Rect != now.Bare.Rect {
		return fmt.Sprintf("the screen's size changed from %v to %v", chosen.Bare.Rect.Size(), now.Bare.Rect.Size()), true
	}
	if aim.Again {
		return "", true
	}
	if len(aim.Done) == 0 && actuator.UsesFocus(aim.Action) {
		if why := windowChange(chosen.Windows, now.Windows); why != "" {
			return why + " since the screenshot " + chosen.FrameID, true
		}
	}
	return "", false
}

// changed returns which point of an action looks otherwise than it did when the action
// was chosen. known, if not nil, tells whether what is at a pixel is known to be the same
// thing all the same.
func (c *Comparison) changed(aim Aim, known func(device image.Point) bool) string {
	chosen := aim.Chosen
	for _, p := range actuator.Points(aim.Action) {
		if pointedAt(aim.Done, p) {
			continue // its look may have changed by that
		}
		if p.Element.ID != "" {
			continue // [Desktop.Locate] has found the element itself
		}
		at := chosen.Image.Mapping.ToDevice(image.Pt(p.X, p.Y))
		if !screen.SameAround(chosen.Bare, aim.Now.Bare, at) && (known == nil || !known(at)) {
			return fmt.Sprintf("what is at (%d, %d) is no longer what the screenshot %s shows", p.X, p.Y, chosen.FrameID)
		}
	}
	return ""
}

// pointedAt reports whether one of the actions aims at p, or at the element there.
func pointedAt(list []actuator.Action, p actuator.Point) bool {
	return slices.ContainsFunc(list, func(a actuator.Action) bool {
		return slices.ContainsFunc(actuator.Points(a), func(q actuator.Point) bool { return p == q || sameElement(p.Element, q.Element) })
	})
}

// sameElement reports whether two points that were given in pixels of one image are on
// one element that is operated as a whole.
func sameElement(a, b actuator.Element) bool {
	return a == b && a.ID == "" && a.Name != "" && atspi.Operable(a.Role)
}

// Raised returns the look from before an action as it would have been if the window that
// the action hits had the focus already, where it has it after: that a click gives the
// focus to what it hits is no change that comes from elsewhere. on is what the action
// was chosen on.
func Raised(before, after Capture, a actuator.Action, on *screen.Observation) Capture {
	focused := screen.FocusedWindow(after.Windows)
	if focused < 0 {
		return before
	}
	for _, p := range actuator.Points(a) {
		hit := windowAt(before.Windows, on.Image.Mapping.ToDevice(image.Pt(p.X, p.Y))).ID
		if hit == 0 || hit != after.Windows[focused].ID {
			continue
		}
		before.Windows = slices.Clone(before.Windows)
		for i, w := range before.Windows {
			before.Windows[i].Focused = w.ID == hit
		}
	}
	return before
}

// windowAt returns the window that a click at a device pixel hits; the zero one for the
// desktop.
func windowAt(list []screen.Window, at image.Point) screen.Window {
	o := screen.Observation{Windows: list}
	if i := o.PlaceAtDevice(at).Window; i >= 0 {
		return list[i]
	}
	return screen.Window{}
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
