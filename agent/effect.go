package agent

import (
	"fmt"
	"image"
	"slices"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// surprise is the function of that name, or what the past tells.
func (r *episode) surprise(done []actuator.Action, a actuator.Action, chosen *screen.Observation, now run.Glance, again bool) string {
	if past, ok := r.Desktop.(run.Past); ok {
		return past.Stopped(len(done))
	}
	return surprise(done, a, chosen, now, again)
}

// windowChange is the function of that name. What the past tells of it is asked
// for before the next action.
func (r *episode) windowChange(before, after run.Glance) string {
	if _, ok := r.Desktop.(run.Past); ok {
		return ""
	}
	return windowChange(before.Windows, after.Windows)
}

// still reports whether an action changed nothing, by looking or by what the
// past tells.
func (r *episode) still(index int, look func() bool) bool {
	if past, ok := r.Desktop.(run.Past); ok {
		return past.Still(index)
	}
	return look()
}

// screenName names the screen of an observation.
func (r *episode) screenName(o *screen.Observation) string {
	if past, ok := r.Desktop.(run.Past); ok {
		return past.Screen()
	}
	return r.screens.Name(o.Bare)
}

// surprise returns why an action of a batch must not be performed although it
// was proposed: the desktop is not what the model saw. done are the actions of
// the batch before it, chosen is what the model saw, and now what there is. It
// returns "" if there is nothing to say. An action that was proposed again after
// a surprise is held up only by another size of the screen.
func surprise(done []actuator.Action, a actuator.Action, chosen *screen.Observation, now run.Glance, again bool) string {
	if chosen.Bare.Rect != now.Bare.Rect {
		return fmt.Sprintf("the screen's size changed from %v to %v", chosen.Bare.Rect.Size(), now.Bare.Rect.Size())
	}
	if again {
		return ""
	}
	if len(done) == 0 && usesFocus(a) {
		if why := windowChange(chosen.Windows, now.Windows); why != "" {
			return why + " since the screenshot " + chosen.FrameID
		}
	}
	for _, p := range actuator.Points(a) {
		if pointedAt(done, p) {
			continue // its look may have changed by that
		}
		at := chosen.Image.Mapping.ToDevice(image.Pt(p.X, p.Y))
		if !screen.SameAround(chosen.Bare, now.Bare, at) {
			return fmt.Sprintf("what is at (%d, %d) is no longer what the screenshot %s shows", p.X, p.Y, chosen.FrameID)
		}
	}
	return ""
}

// usesFocus reports whether an action goes where the focus is.
func usesFocus(a actuator.Action) bool {
	switch a.(type) {
	case actuator.Type, actuator.Press, actuator.KeyDown, actuator.Hold, actuator.Copy, actuator.Paste:
		return true
	}
	return false
}

// pointedAt reports whether one of the actions aims at p.
func pointedAt(list []actuator.Action, p actuator.Point) bool {
	return slices.ContainsFunc(list, func(a actuator.Action) bool { return slices.Contains(actuator.Points(a), p) })
}

// windowChange returns in words how two lists of windows differ, or "". It names
// no titles: they are text from outside, and the list of the screen has them.
// Menus and tooltips come and go with what one does; what they cover is seen by
// [surprise].
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
