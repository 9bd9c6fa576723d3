package native

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/actuator/dialect"
)

// Anthropic is the vocabulary of Claude's computer tools: each call is one action, named by
// the call, or in an older tool by its argument "action". Points are pixels of the
// screenshot, and "text" beside one names keys that are held.
//
// The screenshot has a size that every model sees as it is: older ones at most 1568 pieces
// of 28×28 pixels. Newer ones take more, up to 1920×1080.
//
// What is cached is read from the beginning on, and written anew, for a price, from where
// something changed: so old screenshots go many at a time.
var Anthropic = &Vocabulary{
	Name: "anthropic", Image: dialect.Image{Side: 1280, Max: 1_100_000}, Prune: 8, also: []actuator.Action{actuator.Zoom{}}, verbs: anthropicVerbs, split: splitAnthropic, say: sayAnthropic, join: aCallEach,
}

var anthropicVerbs = map[string]dialect.Verb{
	"screenshot":      dialect.Does(),
	"zoom":            zoomAnthropic,
	"left_click":      dialect.Clicks(actuator.Left, 1, false, "coordinate"),
	"double_click":    dialect.Clicks(actuator.Left, 2, false, "coordinate"),
	"triple_click":    dialect.Clicks(actuator.Left, 3, false, "coordinate"),
	"right_click":     dialect.Clicks(actuator.Right, 1, false, "coordinate"),
	"middle_click":    dialect.Clicks(actuator.Middle, 1, false, "coordinate"),
	"left_click_drag": dragAnthropic,
	"mouse_move":      dialect.Moves("coordinate"),
	"left_mouse_down": buttonAnthropic(func(at *actuator.Point) actuator.Action { return actuator.ButtonDown{At: at, Button: actuator.Left} }),
	"left_mouse_up":   buttonAnthropic(func(at *actuator.Point) actuator.Action { return actuator.ButtonUp{At: at, Button: actuator.Left} }),
	"scroll":          scrollAnthropic,
	"type":            dialect.Types("text"),
	"key":             pressAnthropic,
	"hold_key":        holdAnthropic,
	"wait":            waitAnthropic,
	"cursor_position": func(dialect.Call, dialect.Space) ([]actuator.Action, error) {
		return nil, errors.New("where the pointer is cannot be asked, so nothing was done; it is where you put it last: give the coordinate instead")
	},
}

// splitAnthropic returns the only action of a call.
func splitAnthropic(c actuator.Call) ([]dialect.Call, error) {
	var input map[string]any
	if err := json.Unmarshal([]byte(c.Arguments), &input); err != nil || input == nil {
		return nil, fmt.Errorf("the input of %q is no object of JSON, so nothing was done; make the call again", dialect.Clip(c.Name, 40))
	}
	name := c.Name
	if name == "computer" {
		name, _ = input["action"].(string)
		delete(input, "action")
	}
	return []dialect.Call{dialect.NewCall(name, input)}, nil
}

func buttonAnthropic(of func(*actuator.Point) actuator.Action) dialect.Verb {
	return func(c dialect.Call, s dialect.Space) ([]actuator.Action, error) {
		at, err := c.Point(s, "coordinate")
		if err != nil {
			return nil, err
		}
		return dialect.One(of(at), nil)
	}
}

// heldAnthropic returns the keys that are held during an action of the mouse.
func heldAnthropic(c dialect.Call) ([]actuator.Key, error) {
	if text, err := c.Text("text"); err != nil || strings.TrimSpace(text) == "" {
		return nil, err
	}
	return c.Keys("text")
}

func dragAnthropic(c dialect.Call, s dialect.Space) ([]actuator.Action, error) {
	to, err := c.NeedPoint(s, "coordinate")
	if err != nil {
		return nil, err
	}
	from, err := c.Point(s, "start_coordinate")
	if err != nil {
		return nil, err
	}
	keys, err := heldAnthropic(c)
	a := actuator.Drag{Path: []actuator.Point{*to}, Button: actuator.Left, Modifiers: keys}
	if from != nil { // else it begins where the pointer is
		a.Path = []actuator.Point{*from, *to}
	}
	return dialect.One(a, err)
}

// maxNotches is how far a wheel is turned at once.
const maxNotches = 100

func scrollAnthropic(c dialect.Call, s dialect.Space) ([]actuator.Action, error) {
	at, err := c.Point(s, "coordinate")
	if err != nil {
		return nil, err
	}
	amount, err := c.Number(0, "scroll_amount")
	if err != nil {
		return nil, err
	}
	way, err := c.NeedText("scroll_direction")
	if err != nil {
		return nil, err
	}
	n := int(math.Round(amount))
	if n < 1 || n > maxNotches {
		return nil, fmt.Errorf("%s turns the wheel by %d clicks; write 1 to %d in scroll_amount", c.Form(), n, maxNotches)
	}
	keys, err := heldAnthropic(c)
	a := actuator.Scroll{At: at, Modifiers: keys}
	switch strings.ToLower(strings.TrimSpace(way)) {
	case "up":
		a.DY = -n
	case "down":
		a.DY = n
	case "left":
		a.DX = -n
	case "right":
		a.DX = n
	default:
		return nil, fmt.Errorf("%s goes nowhere; write the scroll_direction up, down, left or right", c.Form())
	}
	return dialect.One(a, err)
}

// chordsOf returns the shortcuts of a text: xdotool, whose names the tool has, presses what
// has a space between one after the other.
func chordsOf(c dialect.Call) (list [][]actuator.Key, err error) {
	text, err := c.NeedText("text")
	if err != nil {
		return nil, err
	}
	words := strings.Fields(strings.ReplaceAll(text, " + ", "+"))
	if _, err := actuator.ParseKey(text); err == nil || len(words) == 0 {
		words = []string{text}
	}
	for _, w := range words {
		keys, err := dialect.NewCall(c.Name, map[string]any{"text": w}).Keys("text")
		if err != nil {
			return nil, err
		}
		list = append(list, keys)
	}
	return list, nil
}

func pressAnthropic(c dialect.Call, _ dialect.Space) ([]actuator.Action, error) {
	chords, err := chordsOf(c)
	if err != nil {
		return nil, err
	}
	repeat, err := c.Number(1, "repeat")
	if err != nil {
		return nil, err
	}
	n := int(math.Round(repeat))
	if len(chords) == 1 {
		return dialect.One(actuator.Press{Keys: chords[0], Count: n}, nil)
	}
	if n < 1 || n*len(chords) > actuator.MaxActions {
		return nil, fmt.Errorf("%s presses too much at once; press one shortcut in a call", c.Form())
	}
	var list []actuator.Action
	for range n {
		for _, keys := range chords {
			list = append(list, actuator.Press{Keys: keys, Count: 1})
		}
	}
	return list, nil
}

func holdAnthropic(c dialect.Call, _ dialect.Space) ([]actuator.Action, error) {
	keys, err := c.Keys("text")
	if err != nil {
		return nil, err
	}
	seconds, err := c.Number(1, "duration")
	return dialect.One(actuator.Hold{Keys: keys, Milliseconds: int(math.Round(seconds * 1000))}, err)
}

// Waits are for so long at most in an action, and in a call.
const (
	maxWait  = 60
	maxWaits = 300
)

func waitAnthropic(c dialect.Call, _ dialect.Space) (list []actuator.Action, err error) {
	seconds, err := c.Number(1, "duration")
	if err != nil {
		return nil, err
	}
	if seconds < 0 || seconds > maxWaits {
		return nil, fmt.Errorf("%s waits for less than nothing, or for too long; write 0 to %d seconds", c.Form(), maxWaits)
	}
	for ; seconds > maxWait; seconds -= maxWait {
		list = append(list, actuator.Wait{Milliseconds: maxWait * 1000})
	}
	return append(list, actuator.Wait{Milliseconds: max(1, int(math.Round(seconds*1000)))}), nil
}

// zoomAnthropic reads two corners, of which the second is the first pixel outside.
func zoomAnthropic(c dialect.Call, _ dialect.Space) ([]actuator.Action, error) {
	list, _ := c.Value("region").([]any)
	if len(list) != 4 {
		return nil, fmt.Errorf("%s has no region; write [x0, y0, x1, y1] of the part that shall be enlarged", c.Form())
	}
	var corner [4]int
	for i, v := range list {
		f, err := dialect.NewCall(c.Name, map[string]any{"region": v}).Number(0, "region")
		if err != nil {
			return nil, err
		}
		corner[i] = int(math.Round(f))
	}
	return dialect.One(actuator.Zoom{Region: actuator.Region{X: corner[0], Y: corner[1], Width: corner[2] - corner[0], Height: corner[3] - corner[1]}}, nil)
}

var clicksAnthropic = map[string]string{
	"left 1": "left_click", "left 2": "double_click", "left 3": "triple_click", "right 1": "right_click", "middle 1": "middle_click",
}

func sayAnthropic(a actuator.Action, s dialect.Space) ([]dialect.Call, bool) {
	c := dialect.Call{}
	add := func(name string, v any) { c.Args = append(c.Args, dialect.Arg{Name: name, Value: v}) }
	aim := func(name string, p *actuator.Point) {
		if p != nil {
			x, y := s.Say(*p)
			add(name, []any{json.Number(x), json.Number(y)})
		}
	}
	hold := func(keys []actuator.Key) {
		if len(keys) > 0 {
			add("text", dialect.JoinKeys(keys, "+"))
		}
	}
	ok := true
	switch a := a.(type) {
	case actuator.Click:
		c.Name, ok = dialect.PlainClick(a, clicksAnthropic)
		aim("coordinate", a.At)
		hold(a.Modifiers)
	case actuator.Move:
		c.Name = "mouse_move"
		aim("coordinate", &a.At)
	case actuator.Drag:
		if len(a.Path) != 2 || a.Button != actuator.Left {
			return nil, false
		}
		c.Name = "left_click_drag"
		aim("start_coordinate", &a.Path[0])
		aim("coordinate", &a.Path[1])
		hold(a.Modifiers)
	case actuator.ButtonDown:
		c.Name, ok = "left_mouse_down", a.Button == actuator.Left && a.At == nil
	case actuator.ButtonUp:
		c.Name, ok = "left_mouse_up", a.Button == actuator.Left && a.At == nil
	case actuator.Scroll:
		way, n, one := dialect.WayOf(actuator.Scroll{DX: a.DX, DY: a.DY})
		c.Name, ok = "scroll", one && n <= maxNotches
		aim("coordinate", a.At)
		add("scroll_direction", way)
		add("scroll_amount", n)
		hold(a.Modifiers)
	case actuator.Type:
		c.Name = "type"
		add("text", string(a.Text))
	case actuator.Press:
		c.Name = "key"
		add("text", dialect.JoinKeys(a.Keys, "+"))
		if a.Count != 1 {
			add("repeat", a.Count)
		}
	case actuator.Hold:
		c.Name, ok = "hold_key", a.Milliseconds%1000 == 0
		add("text", dialect.JoinKeys(a.Keys, "+"))
		add("duration", a.Milliseconds/1000)
	case actuator.Wait:
		c.Name, ok = "wait", a.Milliseconds%1000 == 0
		add("duration", a.Milliseconds/1000)
	case actuator.Zoom:
		r := a.Region.Rect()
		c.Name = "zoom"
		add("region", []any{r.Min.X, r.Min.Y, r.Max.X, r.Max.Y})
	default: // the tool has no words for it
		ok = false
	}
	return []dialect.Call{c}, ok
}
