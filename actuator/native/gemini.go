package native

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/actuator/dialect"
)

// Gemini is the vocabulary of Google's computer tool: each call is one function, whose
// points are on a grid from 0 to 999 over the screenshot. Its models have changed the
// names of functions and arguments over time, and documents and servers differ in some;
// all that were met are read, and the newest are written.
var Gemini = &Vocabulary{
	Name: "gemini", Image: dialect.Image{Side: 1440}, Scale: 1000, why: "intent",
	also:  []actuator.Action{actuator.ButtonDown{}, actuator.ButtonUp{}, actuator.KeyDown{}, actuator.KeyUp{}},
	verbs: geminiVerbs, split: splitGemini, say: sayGemini, join: aCallEach,
}

var geminiVerbs = map[string]dialect.Verb{
	"click": dialect.Clicks(actuator.Left, 1, true, "at"), "click_at": dialect.Clicks(actuator.Left, 1, true, "at"), "left_click": dialect.Clicks(actuator.Left, 1, true, "at"),
	"double_click": dialect.Clicks(actuator.Left, 2, true, "at"), "double_click_at": dialect.Clicks(actuator.Left, 2, true, "at"),
	"triple_click": dialect.Clicks(actuator.Left, 3, true, "at"), "triple_click_at": dialect.Clicks(actuator.Left, 3, true, "at"),
	"right_click": dialect.Clicks(actuator.Right, 1, true, "at"), "right_click_at": dialect.Clicks(actuator.Right, 1, true, "at"),
	"middle_click": dialect.Clicks(actuator.Middle, 1, true, "at"), "middle_click_at": dialect.Clicks(actuator.Middle, 1, true, "at"),
	"mouse_down": buttonGemini(true), "mouse_up": buttonGemini(false),
	"long_press": longGemini, "long_press_at": longGemini,
	"move": dialect.Moves("at"), "move_mouse": dialect.Moves("at"), "mouse_move": dialect.Moves("at"), "hover": dialect.Moves("at"), "hover_at": dialect.Moves("at"),
	"drag_and_drop": dialect.Drags([]string{"start"}, []string{"end"}), "drag": dialect.Drags([]string{"start"}, []string{"end"}),
	"type": typeGemini(false), "type_text": typeGemini(false), "type_text_at": typeGemini(true),
	"press_key": dialect.Presses("key", "keys"), "key": dialect.Presses("key", "keys"),
	"hotkey": dialect.Presses("keys", "key"), "key_combination": dialect.Presses("keys", "key"),
	"key_down": keyGemini(true), "key_up": keyGemini(false),
	"scroll": scrollGemini(300), "scroll_at": scrollGemini(800), "scroll_document": pageGemini,
	"wait": dialect.Waits(1, "seconds", "duration"), "wait_5_seconds": dialect.Waits(5, "seconds"),
	"take_screenshot": dialect.Does(), "screenshot": dialect.Does(),
	"navigate":   dialect.Visits("url"),
	"go_back":    dialect.Does(actuator.Press{Keys: []actuator.Key{"alt", "left"}, Count: 1}),
	"go_forward": dialect.Does(actuator.Press{Keys: []actuator.Key{"alt", "right"}, Count: 1}),
}

// pointsGemini are the arguments that are points, by the names of their coordinates.
var pointsGemini = []struct {
	name string
	x, y []string
	also []string // one argument for both: a list, or an object
}{
	{"at", []string{"x"}, []string{"y"}, []string{"coordinate"}},
	{"start", []string{"start_x", "x"}, []string{"start_y", "y"}, []string{"start", "start_coordinate", "coordinate"}},
	{"end", []string{"end_x", "destination_x"}, []string{"end_y", "destination_y"}, []string{"end", "end_coordinate", "destination"}},
}

// splitGemini returns the one action of a call, its coordinates put together to points.
func splitGemini(c actuator.Call) ([]dialect.Call, error) {
	var args map[string]any
	if err := json.Unmarshal([]byte(cmp.Or(strings.TrimSpace(c.Arguments), "{}")), &args); err != nil {
		return nil, errors.New("the arguments of the call are no JSON object, so nothing was done; make it again")
	}
	whole := map[string]any{}
	maps.Copy(whole, args)
	first := func(names []string) any {
		for _, n := range names {
			if args[n] != nil {
				return args[n]
			}
		}
		return nil
	}
	for _, p := range pointsGemini {
		x, y := first(p.x), first(p.y)
		if x != nil || y != nil {
			whole[p.name] = []any{x, y}
		} else if both := first(p.also); both != nil {
			whole[p.name] = both
		}
	}
	for _, p := range pointsGemini {
		for _, name := range append(append([]string{"coordinate"}, p.x...), p.y...) {
			delete(whole, name)
		}
	}
	return []dialect.Call{dialect.NewCall(c.Name, whole)}, nil
}

// buttonGemini is mouse_down and mouse_up, of the left button where none is said.
func buttonGemini(down bool) dialect.Verb {
	return func(c dialect.Call, s dialect.Space) ([]actuator.Action, error) {
		at, err := c.Point(s, "at")
		if err != nil {
			return nil, err
		}
		name, err := c.Text("button")
		button := actuator.Button(strings.ToLower(cmp.Or(strings.TrimSpace(name), string(actuator.Left))))
		if down {
			return dialect.One(actuator.ButtonDown{At: at, Button: button}, err)
		}
		return dialect.One(actuator.ButtonUp{At: at, Button: button}, err)
	}
}

// longGemini holds the button down for a time.
func longGemini(c dialect.Call, s dialect.Space) ([]actuator.Action, error) {
	at, err := c.NeedPoint(s, "at")
	if err != nil {
		return nil, err
	}
	wait, err := c.Wait(2, "seconds", "duration", "duration_seconds")
	if err != nil {
		return nil, err
	}
	return []actuator.Action{actuator.ButtonDown{At: at, Button: actuator.Left}, wait, actuator.ButtonUp{At: at, Button: actuator.Left}}, nil
}

// typeGemini types, in older versions at a place: there what was written is replaced, and
// Enter pressed, unless the call says otherwise.
func typeGemini(older bool) dialect.Verb {
	return func(c dialect.Call, s dialect.Space) (list []actuator.Action, err error) {
		at, err := c.Point(s, "at")
		if err != nil {
			return nil, err
		}
		if at == nil && older {
			return nil, fmt.Errorf("%s says no point; write x and y of it", c.Form())
		}
		text, err := c.Text("text")
		if err != nil {
			return nil, err
		}
		enter, clears := c.Flag(older, "press_enter"), c.Flag(older, "clear_before_typing")
		if at != nil {
			list = append(list, actuator.Click{At: at, Button: actuator.Left, Count: 1})
		}
		if clears {
			list = append(list, actuator.Press{Keys: []actuator.Key{"ctrl", "a"}, Count: 1}, actuator.Press{Keys: []actuator.Key{"backspace"}, Count: 1})
		}
		if text != "" {
			list = append(list, actuator.Type{Text: actuator.Secret(text)})
		}
		if enter {
			list = append(list, actuator.Press{Keys: []actuator.Key{"enter"}, Count: 1})
		}
		if text == "" && !enter && !clears {
			return nil, fmt.Errorf("%s says no text; write what it is", c.Form())
		}
		return list, nil
	}
}

// keyGemini is key_down and key_up.
func keyGemini(down bool) dialect.Verb {
	return func(c dialect.Call, _ dialect.Space) ([]actuator.Action, error) {
		keys, err := c.Keys("key", "keys")
		if err == nil && len(keys) != 1 {
			err = fmt.Errorf("%s needs one key; write the others in calls of their own, or hotkey for a shortcut", c.Form())
		}
		if err != nil {
			return nil, err
		}
		if down {
			return dialect.One(actuator.KeyDown{Key: keys[0]}, nil)
		}
		return dialect.One(actuator.KeyUp{Key: keys[0]}, nil)
	}
}

// scrollGemini scrolls by notches of the wheel where the call says so, and otherwise by
// parts of a thousand of the screenshot's width or height.
func scrollGemini(otherwise float64) dialect.Verb {
	return func(c dialect.Call, s dialect.Space) ([]actuator.Action, error) {
		clicks, err := c.Number(0, "magnitude_in_wheel_clicks", "wheel_clicks", "amount")
		if err != nil {
			return nil, err
		}
		parts, err := c.Number(otherwise, "magnitude_in_pixels", "magnitude")
		if err != nil {
			return nil, err
		}
		if clicks < 0 || parts <= 0 {
			return nil, fmt.Errorf("%s scrolls by nothing, or backwards; write how far, and the direction", c.Form())
		}
		turned := int(math.Ceil(min(clicks, 100)))
		if clicks == 0 {
			across, err := s.Point(min(parts, 999), min(parts, 999))
			if err != nil {
				return nil, err
			}
			way, _ := c.Text("direction")
			pixels := across.Y
			if way = strings.ToLower(strings.TrimSpace(way)); way == "left" || way == "right" {
				pixels = across.X
			}
			turned = notches(float64(max(1, pixels)))
		}
		return dialect.Scrolls(turned, "", "at")(c, s)
	}
}

// pageGemini scrolls by a page, wherever the pointer is.
func pageGemini(c dialect.Call, s dialect.Space) ([]actuator.Action, error) {
	way, err := c.NeedText("direction")
	if err != nil {
		return nil, err
	}
	switch strings.ToLower(strings.TrimSpace(way)) {
	case "up":
		return dialect.One(actuator.Press{Keys: []actuator.Key{"pageup"}, Count: 1}, nil)
	case "down":
		return dialect.One(actuator.Press{Keys: []actuator.Key{"pagedown"}, Count: 1}, nil)
	}
	return scrollGemini(500)(c, s)
}

func sayGemini(a actuator.Action, s dialect.Space) ([]dialect.Call, bool) {
	c := dialect.Call{}
	add := func(name string, v any) { c.Args = append(c.Args, dialect.Arg{Name: name, Value: v}) }
	aim := func(p *actuator.Point, x, y string) bool {
		if p == nil {
			return false
		}
		across, down := s.Say(*p)
		add(x, json.Number(across))
		add(y, json.Number(down))
		return true
	}
	ok := true
	switch a := a.(type) {
	case actuator.Click:
		c.Name, ok = dialect.PlainClick(a, map[string]string{"left 1": "click", "left 2": "double_click", "left 3": "triple_click", "right 1": "right_click", "middle 1": "middle_click"})
		ok = aim(a.At, "x", "y") && ok && len(a.Modifiers) == 0
	case actuator.ButtonDown:
		c.Name, ok = "mouse_down", aim(a.At, "x", "y") && a.Button == actuator.Left
	case actuator.ButtonUp:
		c.Name, ok = "mouse_up", aim(a.At, "x", "y") && a.Button == actuator.Left
	case actuator.Move:
		c.Name, ok = "move", aim(&a.At, "x", "y")
	case actuator.Drag:
		if c.Name = "drag_and_drop"; len(a.Path) != 2 || a.Button != actuator.Left || len(a.Modifiers) > 0 {
			return nil, false
		}
		aim(&a.Path[0], "start_x", "start_y")
		aim(&a.Path[1], "end_x", "end_y")
	case actuator.Scroll:
		way, n, can := dialect.WayOf(a)
		c.Name, ok = "scroll", aim(a.At, "x", "y") && can
		add("direction", way)
		add("magnitude_in_wheel_clicks", n)
	case actuator.Type:
		c.Name = "type"
		add("text", string(a.Text))
	case actuator.Press:
		if c.Name, ok = "hotkey", a.Count == 1; len(a.Keys) == 1 {
			c.Name = "press_key"
			add("key", string(a.Keys[0]))
		} else {
			add("keys", a.Keys)
		}
	case actuator.KeyDown:
		c.Name = "key_down"
		add("key", string(a.Key))
	case actuator.KeyUp:
		c.Name = "key_up"
		add("key", string(a.Key))
	case actuator.Wait:
		c.Name = "wait"
		add("seconds", float64(a.Milliseconds)/1000)
	default: // the tool has no words for it
		ok = false
	}
	return []dialect.Call{c}, ok
}
