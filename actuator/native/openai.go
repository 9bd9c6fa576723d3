package native

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/actuator/dialect"
)

// OpenAI is the vocabulary of the tool "computer" of the Responses API: a call has a list
// of actions, whose points are pixels of the screenshot, and whose keys are held for that
// action alone.
var OpenAI = &Vocabulary{Name: "openai", Image: dialect.Image{Side: 1600}, verbs: openaiVerbs, split: splitOpenAI, say: sayOpenAI, join: joinOpenAI}

var openaiVerbs = map[string]dialect.Verb{
	"click":        clickOpenAI,
	"double_click": withKeys(dialect.Clicks(actuator.Left, 2, true, "at")),
	"drag":         dragOpenAI,
	"keypress":     dialect.Presses("keys"),
	"move":         withKeys(dialect.Moves("at")),
	"scroll":       scrollOpenAI,
	"type":         dialect.Types("text"),
	"wait":         dialect.Waits(2),
	"screenshot":   dialect.Does(),
}

// splitOpenAI returns the actions of a call: those of the list, or the only one that an
// older tool has.
func splitOpenAI(c actuator.Call) ([]dialect.Call, error) {
	var call struct {
		Actions []map[string]any `json:"actions"`
		Action  map[string]any   `json:"action"`
	}
	if err := json.Unmarshal([]byte(c.Arguments), &call); err != nil {
		return nil, errors.New("the call is no list of actions, so nothing was done; make it again")
	}
	list := call.Actions
	if len(list) == 0 && call.Action != nil {
		list = append(list, call.Action)
	}
	if len(list) == 0 {
		return nil, errors.New("the call has no actions, so nothing was done; ask for one, or for a screenshot")
	}
	calls := make([]dialect.Call, len(list))
	for i, a := range list {
		name, _ := a["type"].(string)
		delete(a, "type")
		if a["x"] != nil || a["y"] != nil {
			a["at"] = []any{a["x"], a["y"]}
			delete(a, "x")
			delete(a, "y")
		}
		calls[i] = dialect.NewCall(name, a)
	}
	return calls, nil
}

// keysOf returns the keys that are held during an action of the mouse; a modifier alone
// can be.
func keysOf(c dialect.Call) ([]actuator.Key, error) {
	if list, ok := c.Value("keys").([]any); c.Value("keys") == nil || ok && len(list) == 0 {
		return nil, nil
	}
	return c.Keys("keys")
}

// withKeys has keys held during what a verb does.
func withKeys(does dialect.Verb) dialect.Verb {
	return func(c dialect.Call, s dialect.Space) ([]actuator.Action, error) {
		keys, err := keysOf(c)
		if err != nil {
			return nil, err
		}
		list, err := does(c, s)
		if err != nil || len(keys) == 0 {
			return list, err
		}
		switch a := list[0].(type) {
		case actuator.Click:
			a.Modifiers = keys
			return []actuator.Action{a}, nil
		case actuator.Drag:
			a.Modifiers = keys
			return []actuator.Action{a}, nil
		case actuator.Scroll:
			a.Modifiers = keys
			return []actuator.Action{a}, nil
		default: // it has no field for them
		}
		return held(keys, list...), nil
	}
}

func clickOpenAI(c dialect.Call, s dialect.Space) ([]actuator.Action, error) {
	name, err := c.Text("button")
	if err != nil {
		return nil, err
	}
	button := actuator.Button(strings.ToLower(cmp.Or(name, string(actuator.Left))))
	switch button {
	case "wheel":
		button = actuator.Middle
	case "back", "forward":
		// They are buttons of a mouse: the pointer goes there, and the browser's key is pressed.
		moves, err := dialect.Moves("at")(c, s)
		return append(moves, actuator.Press{Keys: []actuator.Key{actuator.Key("browser" + string(button))}, Count: 1}), err
	default: // left and right, or one that there is not, which is refused
	}
	return withKeys(dialect.Clicks(button, 1, true, "at"))(c, s)
}

func dragOpenAI(c dialect.Call, s dialect.Space) ([]actuator.Action, error) {
	list, _ := c.Value("path").([]any)
	if len(list) < 2 {
		return nil, fmt.Errorf("%s has no path of two points or more; write where it begins and where it ends", c.Form())
	}
	a := actuator.Drag{Button: actuator.Left}
	for _, item := range list {
		p, err := dialect.NewCall(c.Name, map[string]any{"path": item}).NeedPoint(s, "path")
		if err != nil {
			return nil, err
		}
		a.Path = append(a.Path, *p)
	}
	return withKeys(dialect.Does(a))(c, s)
}

// notch is how many pixels a notch of the wheel scrolls.
const notch = 100

func scrollOpenAI(c dialect.Call, s dialect.Space) ([]actuator.Action, error) {
	at, err := c.NeedPoint(s, "at")
	if err != nil {
		return nil, err
	}
	a := actuator.Scroll{At: at}
	for name, n := range map[string]*int{"scroll_x": &a.DX, "scroll_y": &a.DY} {
		pixels, err := c.Number(0, name)
		if err != nil {
			return nil, err
		}
		*n = notches(pixels)
	}
	if a.DX == 0 && a.DY == 0 {
		return nil, fmt.Errorf("%s scrolls by nothing; write pixels in scroll_x or scroll_y", c.Form())
	}
	return withKeys(dialect.Does(a))(c, s)
}

// notches returns how far the wheel is turned for so many pixels: one notch at least.
func notches(pixels float64) int {
	if pixels == 0 {
		return 0
	}
	n := math.Round(math.Abs(pixels) / notch)
	return int(math.Copysign(min(max(1, n), 100), pixels))
}

func sayOpenAI(a actuator.Action, s dialect.Space) ([]dialect.Call, bool) {
	c := dialect.Call{}
	add := func(name string, v any) { c.Args = append(c.Args, dialect.Arg{Name: name, Value: v}) }
	aim := func(p *actuator.Point) bool {
		if p == nil {
			return false
		}
		x, y := s.Say(*p)
		add("x", json.Number(x))
		add("y", json.Number(y))
		return true
	}
	hold := func(keys []actuator.Key) {
		if len(keys) > 0 {
			add("keys", upper(keys))
		}
	}
	ok := true
	switch a := a.(type) {
	case actuator.Click:
		switch {
		case a.Count == 1:
			c.Name = "click"
			add("button", strings.Replace(string(a.Button), "middle", "wheel", 1))
		case a.Count == 2 && a.Button == actuator.Left:
			c.Name = "double_click"
		default:
			return nil, false
		}
		ok = aim(a.At)
		hold(a.Modifiers)
	case actuator.Move:
		c.Name = "move"
		aim(&a.At)
	case actuator.Drag:
		path := []any{}
		for _, p := range a.Path {
			x, y := s.Say(p)
			path = append(path, map[string]any{"x": json.Number(x), "y": json.Number(y)})
		}
		c.Name, ok = "drag", len(a.Path) > 1 && a.Button == actuator.Left
		add("path", path)
		hold(a.Modifiers)
	case actuator.Scroll:
		c.Name = "scroll"
		ok = aim(a.At)
		add("scroll_x", a.DX*notch)
		add("scroll_y", a.DY*notch)
		hold(a.Modifiers)
	case actuator.Type:
		c.Name = "type"
		add("text", string(a.Text))
	case actuator.Press:
		c.Name, ok = "keypress", a.Count == 1
		add("keys", upper(a.Keys))
	case actuator.Wait:
		c.Name, ok = "wait", a.Milliseconds == 2000
	default: // the tool has no words for it
		ok = false
	}
	return []dialect.Call{c}, ok
}

// upper is how the tool writes names of keys.
func upper(keys []actuator.Key) []any {
	list := make([]any, len(keys))
	for i, k := range keys {
		list[i] = strings.ToUpper(string(k))
	}
	return list
}

// joinOpenAI makes one call of all actions.
func joinOpenAI(calls []dialect.Call) []actuator.Call {
	list := make([]map[string]any, len(calls))
	for i, c := range calls {
		list[i] = map[string]any{"type": c.Name}
		for _, a := range c.Args {
			list[i][a.Name] = a.Value
		}
	}
	return []actuator.Call{{Name: "computer", Arguments: dialect.ToJSON(map[string]any{"actions": list})}}
}
