package dialect

import (
	"errors"
	"maps"
	"strings"

	"desktop-agent/actuator"
)

// holo is the form of the Holo models: one object of JSON with a note, a thought and an
// action.
//
//	{"note": "", "thought": "…", "action": {"action": "click_element", "element": "File", "x": 24, "y": 12}}
//
// Their published actions are those of a browser; keys, drags and plain typing are here
// in the same form. Answers of a grounder, Click(24, 12) or {"x": 24, "y": 12}, are
// clicks.
var holo = &vocabulary{
	verbs: holoVerbs, one: true, split: splitHolo, say: sayHolo,
	join: func(thought string, calls []Call) string {
		action := map[string]any{"action": calls[0].Name}
		for _, a := range calls[0].Args {
			action[a.Name] = a.Value
		}
		return ToJSON(map[string]any{"note": "", "thought": thought, "action": action})
	},
}

var holoVerbs = map[string]Verb{
	"click_element": clickHolo(actuator.Left, 1), "click": clickHolo(actuator.Left, 1), "click_absolute": clickHolo(actuator.Left, 1),
	"double_click_element": clickHolo(actuator.Left, 2), "right_click_element": clickHolo(actuator.Right, 1), "middle_click_element": clickHolo(actuator.Middle, 1),
	"move_to_element":   moveHolo,
	"write_element_abs": writeHolo, "write_element": writeHolo, "write": Types("content", "text"), "type": Types("content", "text"),
	"hotkey": Presses("keys", "key"), "drag": Drags([]string{"start"}, []string{"end"}), "scroll": scrollHolo,
	"go_back": Does(actuator.Press{Keys: []actuator.Key{"alt", "left"}, Count: 1}),
	"refresh": Does(actuator.Press{Keys: []actuator.Key{"f5"}, Count: 1}), "goto": Visits("url"),
	"wait": Waits(2, "seconds"), "answer": ends("content"), "give_up": giveUp,
}

// at is a call with its x and y as one point.
func (c Call) at() Call {
	x, y := c.Value("x"), c.Value("y")
	if x == nil && y == nil && len(c.Args) == 2 && c.Args[0].Name == "" { // Click(x, y)
		x, y = c.Args[0].Value, c.Args[1].Value
	}
	if x == nil || y == nil {
		return c
	}
	return Call{c.Name, append([]Arg{{"at", []any{x, y}}}, c.Args...)}
}

func clickHolo(button actuator.Button, count int) Verb {
	return func(c Call, s Space) ([]actuator.Action, error) {
		at, err := c.at().NeedPoint(s, "at")
		return One(actuator.Click{At: at, Button: button, Count: count}, err)
	}
}

func moveHolo(c Call, s Space) ([]actuator.Action, error) { return Moves("at")(c.at(), s) }

func scrollHolo(c Call, s Space) ([]actuator.Action, error) {
	return Scrolls(5, "notches", "at")(c.at(), s)
}

// writeHolo clicks on an element, writes, and presses Enter: so this action is meant.
func writeHolo(c Call, s Space) ([]actuator.Action, error) {
	at, err := c.at().NeedPoint(s, "at")
	if err != nil {
		return nil, err
	}
	text, err := c.NeedText("content", "text")
	if err != nil {
		return nil, err
	}
	return []actuator.Action{
		actuator.Click{At: at, Button: actuator.Left, Count: 1},
		actuator.Type{Text: actuator.Secret(strings.TrimSuffix(text, "\n") + "\n")},
	}, nil
}

func giveUp(c Call, _ Space) ([]actuator.Action, error) {
	text, err := c.Text("content", "reason")
	return One(actuator.Infeasible{Reason: text}, err)
}

func sayHolo(a actuator.Action, s Space) (Call, bool) {
	at := func(name string, p *actuator.Point, more ...Arg) (Call, bool) {
		c := Call{name, more}
		if p != nil {
			xy := pair(s, *p)
			c.Args = append(c.Args, Arg{"element", ""}, Arg{"x", xy[0]}, Arg{"y", xy[1]})
		}
		return c, p != nil
	}
	switch a := a.(type) {
	case actuator.Click:
		name, ok := PlainClick(a, map[string]string{"left 1": "click_element", "left 2": "double_click_element", "right 1": "right_click_element", "middle 1": "middle_click_element"})
		if !ok || len(a.Modifiers) > 0 {
			return Call{}, false
		}
		return at(name, a.At)
	case actuator.Move:
		return at("move_to_element", &a.At)
	case actuator.Drag:
		if len(a.Path) != 2 || a.Button != actuator.Left || len(a.Modifiers) > 0 {
			return Call{}, false
		}
		return Call{"drag", []Arg{{"start", pair(s, a.Path[0])}, {"end", pair(s, a.Path[1])}}}, true
	case actuator.Scroll:
		way, n, ok := WayOf(a)
		if !ok {
			return Call{}, false
		}
		c, _ := at("scroll", a.At, Arg{"direction", way}, Arg{"notches", n})
		return c, true
	case actuator.Type:
		return Call{"write", []Arg{{"content", string(a.Text)}}}, true
	case actuator.Press:
		return Call{"hotkey", []Arg{{"keys", a.Keys}}}, a.Count == 1
	case actuator.Wait:
		return Call{"wait", []Arg{{"seconds", float64(a.Milliseconds) / 1000}}}, true
	case actuator.Done:
		return Call{"answer", []Arg{{"content", a.Answer}}}, true
	case actuator.Infeasible:
		return Call{"give_up", []Arg{{"content", a.Reason}}}, true
	default: // the form has no words for it
	}
	return Call{}, false
}

// splitHolo finds the one object of a reply, or the call of a grounder.
func splitHolo(reply actuator.Reply) (thought string, calls []Call, err error) {
	text := reply.Text
	if trimmed := strings.TrimSpace(text); callHead.MatchString(trimmed) {
		calls, err := readCalls(trimmed)
		return "", calls, err
	}
	for at, tries := 0, 0; tries < maxObjects; tries++ {
		i := strings.IndexByte(text[at:], '{')
		if i < 0 {
			break
		}
		object, rest, err := decodeObject(text[at+i:])
		if err != nil {
			at += i + 1
			continue
		}
		c, said, ok := holoCall(object)
		if !ok {
			return "", nil, errNoHolo
		}
		thought, at = strings.TrimSpace(thought+"\n"+said), len(text)-len(rest)
		calls = append(calls, c)
	}
	if len(calls) == 0 {
		return "", nil, errNoHolo
	}
	return thought, calls, nil
}

var errNoHolo = errors.New(`there is no step that can be read, so nothing was done; write one object of JSON, such as {"note": "", "thought": "…", "action": {"action": "wait", "seconds": 2}}`)

// holoCall is the action of a step, with what was thought and noted.
func holoCall(object map[string]any) (c Call, said string, ok bool) {
	for _, key := range []string{"thought", "note"} {
		if text, _ := object[key].(string); text != "" {
			said = strings.TrimSpace(said + "\n" + text)
		}
	}
	action, nested := object["action"].(map[string]any)
	if !nested {
		action = object
	}
	if name, ok := action["action"].(string); ok {
		rest := maps.Clone(action)
		delete(rest, "action")
		return NewCall(name, rest), said, true
	}
	if action["x"] != nil && action["y"] != nil {
		return NewCall("click_absolute", action), said, true
	}
	return Call{}, "", false
}
