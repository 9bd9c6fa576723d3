package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"desktop-agent/screen"
)

// A field is what keys go into.
type field int

const (
	unknown  field = iota // it could not be looked at
	mute                  // the program with the focus tells nothing of its fields
	plain                 // no password field
	password              // a password field, or it may be one
)

// A reading is what an observation tells of the focus.
type reading struct {
	at, done time.Time // when it began to wait for the screen to be still, and when it was finished
	field    field
	focus    string // names the node with the focus; "" if it is not known
}

// passwordRole is the role of password fields.
const passwordRole = "password text"

// fieldOf tells what keys would have gone into when an observation was taken.
// In doubt between a password field and another it is a password field: all nodes that say
// they have the focus count, not only [screen.Observation.FocusedNode].
func fieldOf(o *screen.Observation) field {
	if locked(o) {
		return password
	}
	window := screen.FocusedWindow(o.Windows)
	if window < 0 {
		return unknown
	}
	w := o.Windows[window]
	hangs := o.Tree.Hangs(w.PID)
	if o.Tree.Err != nil && !hangs { // there is no tree at all
		return mute
	}
	in := o.NodesIn(window)
	shown, elsewhere := false, false
	for i, n := range o.Tree.Nodes {
		focused := n.Has("focused")
		_, here := slices.BinarySearch(in, i)
		if n.Role == passwordRole && focused {
			return password
		}
		shown = shown || n.Role == passwordRole && (here || w.PID != 0 && n.PID == w.PID) // in doubt it is in this window
		elsewhere = elsewhere || focused && here
	}
	switch {
	case hangs: // what it does not tell may be a password field
		return unknown
	case shown && !elsewhere:
		return password
	case len(in) == 0:
		return mute
	}
	return plain
}

// locked reports whether something that no window manager manages lies over the
// whole screen: a screen lock gets all keys, whatever window has the focus.
func locked(o *screen.Observation) bool {
	for _, w := range o.Windows {
		menu := strings.Contains(w.Type, "menu") || w.Type == "tooltip" || w.Type == "dnd"
		if size := o.Frame.Rect; w.Popup && !w.Hidden && !menu && w.Box.Dx() >= size.Dx() && w.Box.Dy() >= size.Dy() {
			return true
		}
	}
	return false
}

// A shift is a moment at which the focus may have moved.
type shift struct {
	at   time.Time
	soft bool // Enter: within a text it moves nothing
}

// A span is the time between two shifts.
type span struct{ since, until time.Time } // zero where there is none

func (s span) holds(x reading) bool {
	return !x.at.Before(s.since) && (s.until.IsZero() || !x.done.After(s.until))
}

// spans returns the time around a gesture in which the focus has not moved, and
// that in which nothing but Enter can have moved it. n is how many shifts came
// before the gesture. The order in which events came counts, since many can
// have the same time.
func spans(shifts []shift, n int) (strict, loose span) {
	if n > 0 {
		strict.since = shifts[n-1].at
	}
	if n < len(shifts) {
		strict.until = shifts[n].at
	}
	for _, s := range slices.Backward(shifts[:n]) {
		if !s.soft {
			loose.since = s.at
			break
		}
	}
	for _, s := range shifts[n:] {
		if !s.soft {
			loose.until = s.at
			break
		}
	}
	return strict, loose
}

// judge tells what the keys from begin to end went into. Only observations that
// were taken while the focus stayed where it was count, and all of these must
// agree that there is no password field. One before the keys is not asked for if
// there is one after them: somebody who types at once, where a click has led, is
// believed to type into what was clicked. A program that tells nothing of its
// fields is mute. Of lines that are typed faster than
// one can look it is enough that the same field has the focus before the first
// and after the last one.
func judge(begin, end time.Time, sights []reading, strict, loose span) field {
	result := unknown
	var before, after *reading
	for i, s := range sights {
		if !loose.holds(s) {
			continue
		}
		if s.field == password {
			return password
		}
		if strict.holds(s) {
			result = max(result, s.field)
		}
		if !s.done.After(begin) {
			before = &sights[i]
		}
		if after == nil && !s.at.Before(end) {
			after = &sights[i]
		}
	}
	if result == unknown && before != nil && after != nil && before.field == after.field && before.focus == after.focus &&
		(before.field == mute || before.focus != "") {
		return before.field
	}
	return result
}

// focusOf names the node that has the focus; "" if that is not known.
func focusOf(o *screen.Observation) string {
	w, ok := o.Focused()
	i := o.FocusedNode()
	if !ok || i < 0 || o.Tree.Nodes[i].Parent < 0 {
		return ""
	}
	n := o.Tree.Nodes[i]
	return fmt.Sprint(w.ID, n.Role, n.Name, n.Box)
}
