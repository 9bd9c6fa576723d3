package actuator

import (
	"slices"
	"strings"
)

// traits are what holds of every action of a type, whatever is in its fields.
type traits struct {
	kind Kind
	seen visibility
	goes direction
	held grip
}

// A Kind is what an action asks for.
type Kind int

// What an action asks for. Only a [Device] gives input and pauses, only the tools of a
// run a service, and only the agent the rest.
const (
	Input    Kind = iota + 1 // input for the desktop, or text for its clipboard
	Pause                    // time
	View                     // a closer look at the screenshot
	Memory                   // that something is kept in mind
	Service                  // a tool, which is no input
	End                      // the end of the task
	Question                 // an answer of the user
)

// KindOf returns what an action asks for; 0 if there is none.
func KindOf(a Action) Kind { return rowOf(a).traits.kind }

// ForAgent reports whether an action asks something of the agent: a [Device]
// refuses it.
func ForAgent(a Action) bool { return KindOf(a) == View || KindOf(a) == Memory || Final(a) }

// Final reports whether nothing can be done after an action in the same reply:
// it says that the task is over, or asks what only a person can answer.
func Final(a Action) bool { return KindOf(a) == End || KindOf(a) == Question }

// visibility is whether an action changes the screen when it works.
type visibility int

const (
	unseen visibility = iota + 1
	seen
)

// Shows reports whether an action changes the screen when it works.
func Shows(a Action) bool { return rowOf(a).seen == seen && !Silent(a) }

// Silent reports whether an action is a shortcut that may work without a change of the
// screen, although most keys show: one that copies, cuts or saves.
func Silent(a Action) bool {
	press, ok := a.(Press)
	if !ok || len(press.Keys) < 2 || !slices.Contains([]Key{"c", "x", "s", "insert"}, press.Keys[len(press.Keys)-1]) {
		return false
	}
	held := press.Keys[:len(press.Keys)-1]
	return !slices.ContainsFunc(held, func(k Key) bool { return !k.Modifier() }) &&
		slices.ContainsFunc(held, func(k Key) bool { return strings.HasPrefix(string(k), "ctrl") || k == "win" })
}

// direction is where an action goes.
type direction int

const (
	anywhere direction = iota + 1 // to a point, or to no window
	focused                       // to the window with the focus
	written                       // to what has the focus in it, unless it is a shortcut
)

// UsesFocus reports whether an action goes where the focus is, so that it means
// another thing when another window has taken it.
//
// To let a key go is no such action, although the event goes there too: only the
// window that saw the key go down acts on it, and the key must come up whatever
// has the focus now. Held up until that is right, it would change all that comes
// before, as ctrl does a click.
func UsesFocus(a Action) bool { return rowOf(a).goes == focused || rowOf(a).goes == written }

// Writes reports whether an action writes where the focus is, so that the element
// that has it matters: a shortcut is for the window.
func Writes(a Action) bool {
	return rowOf(a).goes == written &&
		!slices.ContainsFunc(Pressed(a), func(k Key) bool { return k.Modifier() && k != "shift" })
}

// grip is what an action leaves of what is held down.
type grip int

const (
	same grip = iota + 1
	down      // its key or button stays down
	up        // its key or button is up
)

// KeysHeld returns the keys that are down after an action, in the order in which they went
// down, if held were before.
func KeysHeld(a Action, held []Key) []Key { return gripped(a, Pressed(a), held) }

// KeysHeldAfter returns the keys that are held after several actions, if held were before the
// first. The list is a new one.
func KeysHeldAfter(list []Action, held []Key) []Key {
	held = slices.Clone(held)
	for _, a := range list {
		held = KeysHeld(a, held)
	}
	return held
}

// Releases returns what lets go what is down after an action, in the order in which that
// went down; before is the same before the action.
func Releases(a Action, before []Action) []Action {
	var of []Action
	for _, k := range Pressed(a) {
		of = append(of, KeyUp{Key: k})
	}
	for _, b := range values[Button](a) {
		of = append(of, ButtonUp{Button: b})
	}
	return gripped(a, of, before)
}

// gripped returns what is held after an action with such keys or buttons, if held was
// before.
func gripped[T comparable](a Action, of, held []T) []T {
	held = slices.Clone(held)
	for _, t := range of {
		at := slices.Index(held, t)
		switch grip := rowOf(a).held; {
		case grip == down && at < 0:
			held = append(held, t)
		case grip == up && at >= 0:
			held = slices.Delete(held, at, at+1)
		}
	}
	return held
}

// ButtonHeld reports whether a mouse button is down after an action, if held
// tells whether one was before.
func ButtonHeld(a Action, held bool) bool {
	if len(values[Button](a)) == 0 || rowOf(a).held == same {
		return held
	}
	return rowOf(a).held == down
}
