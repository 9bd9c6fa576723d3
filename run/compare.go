package run

import (
	"context"
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

// Surprise returns why an action must not be performed: the desktop is not what
// the model saw. An action that was proposed again after a surprise is held up
// only by another size of the screen.
func (c *Comparison) Surprise(_ context.Context, aim Aim) string {
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
		if p.Element.ID != "" {
			continue // [Desktop.Locate] has found the element itself
		}
		at := chosen.Image.Mapping.ToDevice(image.Pt(p.X, p.Y))
		if !screen.SameAround(chosen.Bare, now.Bare, at) {
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
