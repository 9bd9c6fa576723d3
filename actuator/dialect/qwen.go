package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"strings"

	"desktop-agent/actuator"
)

// qwen is the form of the one function computer_use, which Qwen2.5-VL brought up:
//
//	Action: click on the File menu.
//	<tool_call>
//	{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [24, 12]}}
//	</tool_call>
//
// Its arguments may be in tags instead, as later models write them, or the JSON stands
// alone, or the server has made a tool call of it.
func qwen(more map[string]Verb) *vocabulary {
	verbs := maps.Clone(qwenVerbs)
	maps.Copy(verbs, more)
	return &vocabulary{
		verbs: verbs, one: true, split: splitQwen, say: sayQwen,
		join: func(thought string, calls []Call) string { return labelled("Action", thought) + joinQwen(calls[0]) },
	}
}

var qwenPoint = []string{"coordinate", "coordinates", "point", "position"}

var qwenVerbs = map[string]Verb{
	"key": Presses("keys", "key", "text"), "type": Types("text", "content"), "mouse_move": Moves(qwenPoint...), "move": Moves(qwenPoint...),
	"left_click": Clicks(actuator.Left, 1, false, qwenPoint...), "click": Clicks(actuator.Left, 1, false, qwenPoint...),
	"right_click": Clicks(actuator.Right, 1, false, qwenPoint...), "middle_click": Clicks(actuator.Middle, 1, false, qwenPoint...),
	"double_click": Clicks(actuator.Left, 2, false, qwenPoint...), "triple_click": Clicks(actuator.Left, 3, false, qwenPoint...),
	"left_click_drag": dragQwen, "drag": dragQwen,
	"scroll": scrollQwen(false), "hscroll": scrollQwen(true),
	"wait": Waits(1, "time", "seconds"), "screenshot": observeAgain,
	"terminate": terminateQwen, "answer": ends("text", "answer"),
}

// dragQwen drags to a point from where the pointer is.
func dragQwen(c Call, s Space) ([]actuator.Action, error) {
	end, err := c.NeedPoint(s, append(qwenPoint, "end_coordinate", "coordinate2")...)
	if err != nil {
		return nil, err
	}
	path := []actuator.Point{*end}
	begin, err := c.Point(s, "start_coordinate", "startCoordinate")
	if begin != nil {
		path = []actuator.Point{*begin, *end}
	}
	if err != nil {
		return nil, err
	}
	held, err := modifiersOf(c)
	return One(actuator.Drag{Path: path, Button: actuator.Left, Modifiers: held}, err)
}

// A scroll is said in pixels. Small numbers are notches, though: the programs that these
// models were trained with took them as such.
const (
	mostNotches = 20
	notchPixels = 100
	farthest    = 100 // notches
)

// scrollQwen scrolls up by a positive number of pixels, or to the right.
func scrollQwen(sideways bool) Verb {
	return func(c Call, s Space) ([]actuator.Action, error) {
		at, err := c.Point(s, qwenPoint...)
		if err != nil {
			return nil, err
		}
		pixels, err := c.Number(0, "pixels", "amount")
		if err == nil && pixels == 0 {
			err = fmt.Errorf("%s scrolls by nothing; write pixels, positive for up and negative for down", c.Form())
		}
		if err != nil {
			return nil, err
		}
		n := pixels
		if math.Abs(n) > mostNotches {
			n = max(-farthest, min(farthest, math.Round(pixels/notchPixels)))
		}
		if math.Abs(n) < 1 {
			n = math.Copysign(1, pixels)
		}
		held, err := modifiersOf(c)
		if sideways {
			return One(actuator.Scroll{At: at, DX: int(n), Modifiers: held}, err)
		}
		return One(actuator.Scroll{At: at, DY: -int(n), Modifiers: held}, err)
	}
}

func terminateQwen(c Call, _ Space) ([]actuator.Action, error) {
	status, err := c.Text("status")
	if err != nil {
		return nil, err
	}
	said, err := c.Text("answer", "text", "reason")
	if err != nil {
		return nil, err
	}
	switch strings.ToLower(strings.TrimSpace(status)) {
	case "success", "": // Fara leaves the status out where it answers
		return One(actuator.Done{Answer: said}, nil)
	case "failure", "fail", "failed":
		return One(actuator.Infeasible{Reason: said}, nil)
	}
	return nil, fmt.Errorf("%s has no status that there is; write \"success\" or \"failure\"", c.Form())
}

func sayQwen(a actuator.Action, s Space) (Call, bool) {
	c := Call{}
	add := func(name string, v any) { c.Args = append(c.Args, Arg{name, v}) }
	aim := func(p *actuator.Point) {
		if p != nil {
			add("coordinate", pair(s, *p))
		}
	}
	held := func(keys []actuator.Key) {
		if len(keys) > 0 {
			add("text", JoinKeys(keys, "+"))
		}
	}
	ok := true
	switch a := a.(type) {
	case actuator.Click:
		c.Name, ok = PlainClick(a, map[string]string{"left 1": "left_click", "left 2": "double_click", "left 3": "triple_click", "right 1": "right_click", "middle 1": "middle_click"})
		aim(a.At)
		held(a.Modifiers)
	case actuator.Move:
		c.Name = "mouse_move"
		aim(&a.At)
	case actuator.Drag:
		c.Name, ok = "left_click_drag", len(a.Path) == 1 && a.Button == actuator.Left
		if ok {
			aim(&a.Path[0])
			held(a.Modifiers)
		}
	case actuator.Scroll:
		n := -a.DY
		if c.Name = "scroll"; a.DX != 0 {
			c.Name, n = "hscroll", a.DX
		}
		if ok = a.DX == 0 || a.DY == 0; n > mostNotches || n < -mostNotches {
			n *= notchPixels
		}
		aim(a.At)
		add("pixels", float64(n))
		held(a.Modifiers)
	case actuator.Type:
		c.Name = "type"
		add("text", string(a.Text))
	case actuator.Press:
		var keys []any
		for _, k := range a.Keys {
			keys = append(keys, string(k))
		}
		c.Name, ok = "key", a.Count == 1
		add("keys", keys)
	case actuator.Wait:
		c.Name = "wait"
		add("time", float64(a.Milliseconds)/1000)
	case actuator.Done:
		if c.Name = "answer"; a.Answer == "" {
			c.Name = "terminate"
			add("status", "success")
		} else {
			add("text", a.Answer)
		}
	case actuator.Infeasible:
		c.Name = "terminate"
		add("status", "failure")
	default: // the form has no words for it
		ok = false
	}
	return c, ok
}

// pair is a point as JSON has it.
func pair(s Space, p actuator.Point) []json.Number {
	x, y := s.Say(p)
	return []json.Number{json.Number(x), json.Number(y)}
}

func joinQwen(c Call) string {
	arguments := map[string]any{"action": c.Name}
	for _, a := range c.Args {
		arguments[a.Name] = a.Value
	}
	return "<tool_call>\n" + ToJSON(map[string]any{"name": "computer_use", "arguments": arguments}) + "\n</tool_call>"
}

// ToJSON writes what is made here, which always can be written, with < and > as they are.
func ToJSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "" // of a number that is none, which no action has
	}
	return strings.TrimSpace(b.String())
}

var (
	toolCall  = regexp.MustCompile(`<tool_call>`)
	toolFrame = regexp.MustCompile(`</?tool_call>`)
)

// splitQwen finds the calls of a reply.
func splitQwen(reply actuator.Reply) (thought string, calls []Call, err error) {
	text := reply.Text
	for _, c := range reply.Calls { // the server has read them
		object, _, err := decodeObject(c.Arguments)
		if err != nil {
			return "", nil, errors.New("the arguments of the call are no JSON, so nothing was done; write them again")
		}
		calls = append(calls, actionCall(c.Name, object))
	}
	if len(calls) > 0 {
		return actionWords(text), calls, nil
	}
	if strings.Contains(text, "<function") {
		thought, tagged, err := splitTags(text, toolFrame)
		for _, c := range tagged {
			object := map[string]any{}
			for _, a := range c.Args {
				object[a.Name] = fromTag(a.Name, a.Value)
			}
			calls = append(calls, actionCall(c.Name, object))
		}
		return actionWords(thought), calls, err
	}
	return splitObjects(text)
}

// fromTag returns the value of a parameter in tags: JSON, unless it is a text by its name.
func fromTag(name string, v any) any {
	text, ok := v.(string)
	if !ok || name == "text" || name == "content" {
		return v
	}
	var parsed any
	if json.Unmarshal([]byte(text), &parsed) == nil {
		return parsed
	}
	return strings.TrimSpace(text)
}

// maxObjects is how many places of a reply are tried for an object.
const maxObjects = 20

// splitObjects finds calls that are objects of JSON: in tags, or where there are none,
// the first that can be one.
func splitObjects(text string) (thought string, calls []Call, err error) {
	blocks := toolCall.FindAllStringIndex(text, maxObjects)
	for _, at := range blocks {
		object, rest, err := decodeObject(strings.TrimLeft(text[at[1]:], " \t\r\n`json"))
		if err != nil {
			return "", nil, errNoJSON
		}
		rest = strings.TrimLeft(rest, " \t\r\n`")
		if rest != "" && !strings.HasPrefix(rest, "</tool_call>") && !strings.HasPrefix(rest, "<tool_call>") {
			return "", nil, errors.New("there is text behind the JSON in <tool_call>, so nothing was done; write the JSON alone between the tags")
		}
		calls = append(calls, nestedCall(object))
	}
	if len(calls) > 0 {
		return actionWords(text[:blocks[0][0]]), calls, nil
	}
	for at, tries := 0, 0; tries < maxObjects; tries++ {
		i := strings.IndexByte(text[at:], '{')
		if i < 0 {
			break
		}
		object, rest, err := decodeObject(text[at+i:])
		if err == nil && (object["action"] != nil || object["arguments"] != nil) {
			if len(calls) == 0 {
				thought = actionWords(text[:at+i])
			}
			calls = append(calls, nestedCall(object))
			at = len(text) - len(rest)
			continue
		}
		at += i + 1
	}
	if len(calls) == 0 {
		return "", nil, errNoJSON
	}
	return thought, calls, nil
}

var errNoJSON = errors.New(`there is no call that can be read, so nothing was done; write one as JSON, such as <tool_call>{"name": "computer_use", "arguments": {"action": "wait", "time": 1}}</tool_call>`)

// nestedCall is the call of an object that names a function and its arguments, or has
// the arguments alone.
func nestedCall(object map[string]any) Call {
	name, _ := object["name"].(string)
	switch arguments := object["arguments"].(type) {
	case map[string]any:
		return actionCall(name, arguments)
	case string: // JSON in JSON
		if inner, _, err := decodeObject(arguments); err == nil {
			return actionCall(name, inner)
		}
	}
	return actionCall(name, object)
}

// actionCall is the call that the argument action names; type is what some call it.
func actionCall(name string, arguments map[string]any) Call {
	for _, key := range []string{"action", "type"} {
		if action, ok := arguments[key].(string); ok {
			rest := maps.Clone(arguments)
			delete(rest, key)
			return NewCall(action, rest)
		}
	}
	return NewCall(name, arguments)
}

var actionHead = regexp.MustCompile(`(?m)^[ \t*#>-]*(?:Action|Thought)s?[ \t*]*[:：][ \t*]*`)

// actionWords is what a model says before its call: what it does, or why.
func actionWords(text string) string {
	return strings.Trim(actionHead.ReplaceAllString(strings.ReplaceAll(strings.ReplaceAll(text, "```json", ""), "```", ""), ""), " \t\r\n")
}
