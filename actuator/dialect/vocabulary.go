package dialect

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/internal/spell"
)

// A Verb makes actions of a call.
type Verb func(c Call, s Space) ([]actuator.Action, error)

// A vocabulary is a form whose actions are calls of named functions.
type vocabulary struct {
	verbs map[string]Verb // by name, in lower case
	one   bool            // one action a turn: what comes after it was written without seeing what it does
	split func(reply actuator.Reply) (thought string, calls []Call, err error)
	say   func(a actuator.Action, s Space) (Call, bool)
	join  func(thought string, calls []Call) string
}

func (v *vocabulary) read(reply actuator.Reply, s Space) (string, []actuator.Action, error) {
	thought, calls, err := v.split(reply)
	if err != nil {
		return "", nil, err
	}
	if v.one && len(calls) > 1 {
		return "", nil, fmt.Errorf("these are %d actions, and one can be done in a turn, so none of them was done; write the first alone, and look at what it did", len(calls))
	}
	if len(calls) > actuator.MaxActions {
		return "", nil, fmt.Errorf("these are %d actions, more than %d, so none of them was done; write a few, then look at what they did", len(calls), actuator.MaxActions)
	}
	var list []actuator.Action
	for i, c := range calls {
		does, ok := v.verbs[c.Name]
		if !ok {
			return "", nil, v.unknown(c)
		}
		actions, err := does(withReleases(c, calls[i+1:]), s)
		if err != nil {
			return "", nil, err
		}
		list = append(list, actions...)
	}
	return thought, list, nil
}

// unknown says what to write instead of an action that there is not.
func (v *vocabulary) unknown(c Call) error { return Unknown(c, v.verbs) }

// Unknown says what to write instead of an action that there is not.
func Unknown(c Call, verbs map[string]Verb) error {
	names := slices.Sorted(maps.Keys(verbs))
	return fmt.Errorf("there is no action %q here, so nothing was done with %s; the nearest are %s, of all: %s",
		Clip(c.Name, 40), c.Form(), strings.Join(spell.Nearest(c.Name, names, 2), " and "), strings.Join(names, ", "))
}

func (v *vocabulary) write(thought string, actions []actuator.Action, s Space) (string, bool) {
	if v.one && len(actions) != 1 {
		return "", false
	}
	var calls []Call
	for _, a := range actions {
		c, ok := v.say(a, s)
		if !ok {
			return "", false
		}
		if reason, ok := a.(actuator.Infeasible); ok && thought == "" { // which its form has no argument for
			thought = reason.Reason
		}
		calls = append(calls, c)
	}
	return v.join(thought, calls), true
}

func (v *vocabulary) describe(a actuator.Action, s Space) (string, bool) {
	c, ok := v.say(a, s)
	return c.String(), ok
}

// One is the result of a verb that does one action.
func One(a actuator.Action, err error) ([]actuator.Action, error) {
	if err != nil {
		return nil, err
	}
	return []actuator.Action{a}, nil
}

// Does is a verb that always means the same.
func Does(a ...actuator.Action) Verb {
	return func(Call, Space) ([]actuator.Action, error) { return slices.Clone(a), nil }
}

// Clicks is a verb that clicks at the point of an argument; where the pointer is, if
// that is allowed and no point is given. Keys may be held meanwhile.
func Clicks(button actuator.Button, count int, needed bool, names ...string) Verb {
	return func(c Call, s Space) ([]actuator.Action, error) {
		at, err := pointFor(c, s, needed, names...)
		if err != nil {
			return nil, err
		}
		held, err := modifiersOf(c)
		return One(actuator.Click{At: at, Button: button, Count: count, Modifiers: held}, err)
	}
}

func pointFor(c Call, s Space, needed bool, names ...string) (*actuator.Point, error) {
	if needed {
		return c.NeedPoint(s, names...)
	}
	return c.Point(s, names...)
}

// modifiersOf returns the keys that are held during an action of the mouse.
func modifiersOf(c Call) ([]actuator.Key, error) {
	text, err := c.Text("text")
	if err != nil || strings.TrimSpace(text) == "" {
		return nil, err
	}
	return c.Keys("text")
}

// Moves is a verb that moves the pointer to a point.
func Moves(names ...string) Verb {
	return func(c Call, s Space) ([]actuator.Action, error) {
		at, err := c.NeedPoint(s, names...)
		if err != nil {
			return nil, err
		}
		return One(actuator.Move{At: *at}, nil)
	}
}

// Drags is a verb that drags from one point to another.
func Drags(from, to []string) Verb {
	return func(c Call, s Space) ([]actuator.Action, error) {
		begin, err := c.NeedPoint(s, from...)
		if err != nil {
			return nil, err
		}
		end, err := c.NeedPoint(s, to...)
		if err != nil {
			return nil, err
		}
		return One(actuator.Drag{Path: []actuator.Point{*begin, *end}, Button: actuator.Left}, nil)
	}
}

// Types is a verb that types a text.
func Types(names ...string) Verb {
	return func(c Call, _ Space) ([]actuator.Action, error) {
		text, err := c.NeedText(names...)
		return One(actuator.Type{Text: actuator.Secret(text)}, err)
	}
}

// Presses is a verb that presses a key or a shortcut.
func Presses(names ...string) Verb {
	return func(c Call, _ Space) ([]actuator.Action, error) {
		keys, err := c.Keys(names...)
		return One(actuator.Press{Keys: keys, Count: 1}, err)
	}
}

// Scrolls is a verb that turns the wheel in a direction.
func Scrolls(notches int, step string, names ...string) Verb {
	return func(c Call, s Space) ([]actuator.Action, error) {
		at, err := c.Point(s, names...)
		if err != nil {
			return nil, err
		}
		way, err := c.NeedText("direction")
		if err != nil {
			return nil, err
		}
		n, err := c.Number(float64(notches), step)
		if err != nil {
			return nil, err
		}
		a := actuator.Scroll{At: at}
		switch strings.ToLower(strings.TrimSpace(way)) {
		case "up":
			a.DY = -int(n)
		case "down":
			a.DY = int(n)
		case "left":
			a.DX = -int(n)
		case "right":
			a.DX = int(n)
		default:
			return nil, fmt.Errorf("%s goes nowhere; write the direction up, down, left or right", c.Form())
		}
		return One(a, nil)
	}
}

// WayOf is the way back of [Scrolls]: a direction and so many notches.
func WayOf(a actuator.Scroll) (way string, n int, ok bool) {
	if len(a.Modifiers) > 0 {
		return "", 0, false
	}
	switch {
	case a.DX == 0 && a.DY > 0:
		return "down", a.DY, true
	case a.DX == 0 && a.DY < 0:
		return "up", -a.DY, true
	case a.DY == 0 && a.DX > 0:
		return "right", a.DX, true
	case a.DY == 0 && a.DX < 0:
		return "left", -a.DX, true
	}
	return "", 0, false
}

// Waits is a verb that waits for so many seconds.
func Waits(otherwise float64, names ...string) Verb {
	return func(c Call, _ Space) ([]actuator.Action, error) { return One(c.Wait(otherwise, names...)) }
}

// observeAgain is what a model gets that asks for a screenshot: the next turn has one.
var observeAgain = Does(actuator.Wait{Milliseconds: 100})

func ends(names ...string) Verb {
	return func(c Call, _ Space) ([]actuator.Action, error) {
		text, err := c.Text(names...)
		return One(actuator.Done{Answer: text}, err)
	}
}

func asks(names ...string) Verb {
	return func(c Call, _ Space) ([]actuator.Action, error) {
		text, err := c.Text(names...)
		return One(actuator.Ask{Question: text}, err)
	}
}

// Visits is what a browser's own actions are on a desktop, where the browser is a window
// as any other and has the focus: what is typed goes into its address bar.
func Visits(what string) Verb {
	return func(c Call, _ Space) ([]actuator.Action, error) {
		text, err := c.NeedText(what)
		if err != nil {
			return nil, err
		}
		if strings.ContainsAny(text, "\r\n\t") {
			return nil, fmt.Errorf("the %s of %s has a line break or a tab in it; write it on one line", what, c.Name)
		}
		return []actuator.Action{
			actuator.Press{Keys: []actuator.Key{"ctrl", "l"}, Count: 1},
			actuator.Type{Text: actuator.Secret(text + "\n")},
		}, nil
	}
}

// withReleases marks a call of press that is followed by one of release: see [Presses] of UI-TARS.
func withReleases(c Call, after []Call) Call {
	if c.Name != "press" {
		return c
	}
	for _, r := range after {
		if r.Name == "release" || r.Name == "keyup" {
			return Call{"keydown", c.Args}
		}
	}
	return c
}

// PlainClick returns the name that a table has for a click without anything held; false
// if it has none.
func PlainClick(a actuator.Click, names map[string]string) (string, bool) {
	name, ok := names[fmt.Sprintf("%s %d", a.Button, a.Count)]
	return name, ok
}

// JoinKeys writes the keys of a shortcut.
func JoinKeys(keys []actuator.Key, between string) string {
	words := make([]string, len(keys))
	for i, k := range keys {
		words[i] = string(k)
	}
	return strings.Join(words, between)
}
