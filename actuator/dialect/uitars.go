package dialect

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"desktop-agent/actuator"
)

// uitars is the vocabulary of UI-TARS 1.0, Doubao-1.5-UI-TARS and UI-TARS-1.5:
//
//	Thought: …
//	Action: click(point='<point>812 44</point>')
//
// Point writes a point as the version of the family was told to.
func uitars(point func(x, y string) string, start, end string) *vocabulary {
	return &vocabulary{
		verbs: uitarsVerbs,
		split: splitUITars,
		say: func(a actuator.Action, s Space) (Call, bool) {
			return sayUITars(a, func(p actuator.Point) any { return point(s.Say(p)) }, start, end)
		},
		join: func(thought string, calls []Call) string {
			var list []string
			for _, c := range calls {
				list = append(list, c.String())
			}
			return labelled("Thought", thought) + "Action: " + strings.Join(list, "\n\n")
		},
	}
}

func pointTag(x, y string) string { return "<point>" + x + " " + y + "</point>" }

func boxToken(x, y string) string { return "<|box_start|>(" + x + "," + y + ")<|box_end|>" }

// labelled is a line with a label; "" without text.
func labelled(label, text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return label + ": " + strings.TrimSpace(text) + "\n"
}

// What the versions of the family call a point.
var (
	uitarsPoint = []string{"point", "start_box", "start_point", "coordinate", ""}
	uitarsFrom  = []string{"start_point", "start_box", "point"}
	uitarsTo    = []string{"end_point", "end_box"}
)

var uitarsVerbs = map[string]Verb{
	"click": Clicks(actuator.Left, 1, true, uitarsPoint...), "left_single": Clicks(actuator.Left, 1, true, uitarsPoint...),
	"left_click": Clicks(actuator.Left, 1, true, uitarsPoint...), "left_double": Clicks(actuator.Left, 2, true, uitarsPoint...),
	"double_click": Clicks(actuator.Left, 2, true, uitarsPoint...), "right_single": Clicks(actuator.Right, 1, true, uitarsPoint...),
	"right_click": Clicks(actuator.Right, 1, true, uitarsPoint...), "middle_click": Clicks(actuator.Middle, 1, true, uitarsPoint...),
	"hover": Moves(uitarsPoint...), "move_to": Moves(uitarsPoint...), "mouse_move": Moves(uitarsPoint...),
	"drag": Drags(uitarsFrom, uitarsTo), "select": Drags(uitarsFrom, uitarsTo), "left_drag": Drags(uitarsFrom, uitarsTo),
	"hotkey": Presses("key", "hotkey", "keys", ""), "press": pressUITars,
	"keydown": keyDown, "key_down": keyDown, "release": keyUp, "keyup": keyUp, "key_up": keyUp,
	"mouse_down": holds(true), "mouse_up": holds(false),
	"type": Types("content", "text", ""), "scroll": Scrolls(5, "step", uitarsPoint...),
	"wait": Waits(5, "time", "seconds", "duration", ""), "take_screenshot": observeAgain, "screenshot": observeAgain, "open_computer": observeAgain,
	"finished": ends("content", "answer", ""), "call_user": asks("content", "question", ""),
}

// pressUITars reads press, which leaves a modifier down for what follows. Of any other
// key it is a tap, unless a release follows: a key that repeats while a model thinks is
// meant by nobody.
func pressUITars(c Call, s Space) ([]actuator.Action, error) {
	keys, err := c.Keys("key", "press", "")
	if err != nil {
		return nil, err
	}
	if len(keys) == 1 && keys[0].Modifier() {
		return keyDown(c, s)
	}
	return One(actuator.Press{Keys: keys, Count: 1}, nil)
}

func oneKey(c Call) (actuator.Key, error) {
	keys, err := c.Keys("key", "press", "release", "")
	if err == nil && len(keys) != 1 {
		err = fmt.Errorf("%s needs one key; write the others in actions of their own, or hotkey for a shortcut", c.Form())
	}
	if err != nil {
		return "", err
	}
	return keys[0], nil
}

func keyDown(c Call, _ Space) ([]actuator.Action, error) {
	k, err := oneKey(c)
	return One(actuator.KeyDown{Key: k}, err)
}

func keyUp(c Call, _ Space) ([]actuator.Action, error) {
	k, err := oneKey(c)
	return One(actuator.KeyUp{Key: k}, err)
}

// holds is mouse_down and mouse_up.
func holds(down bool) Verb {
	return func(c Call, s Space) ([]actuator.Action, error) {
		at, err := c.Point(s, uitarsPoint...)
		if err != nil {
			return nil, err
		}
		name, err := c.Text("button")
		if err != nil {
			return nil, err
		}
		button := actuator.Button(strings.ToLower(strings.TrimSpace(name)))
		if button == "" {
			button = actuator.Left
		}
		if down {
			return One(actuator.ButtonDown{At: at, Button: button}, nil)
		}
		return One(actuator.ButtonUp{At: at, Button: button}, nil)
	}
}

// sayUITars returns the call for an action in the vocabulary of all versions.
func sayUITars(a actuator.Action, point func(actuator.Point) any, start, end string) (Call, bool) {
	at := func(name string, p *actuator.Point, more ...Arg) (Call, bool) {
		if p == nil {
			return Call{name, more}, true
		}
		return Call{name, append([]Arg{{start, point(*p)}}, more...)}, true
	}
	switch a := a.(type) {
	case actuator.Click:
		name, ok := PlainClick(a, map[string]string{"left 1": "click", "left 2": "left_double", "right 1": "right_single", "middle 1": "middle_click"})
		if !ok || a.At == nil || len(a.Modifiers) > 0 {
			return Call{}, false
		}
		return at(name, a.At)
	case actuator.Move:
		return at("hover", &a.At)
	case actuator.Drag:
		if len(a.Path) != 2 || a.Button != actuator.Left || len(a.Modifiers) > 0 {
			return Call{}, false
		}
		from, to := strings.Replace(start, "point", "start_point", 1), end
		return Call{"drag", []Arg{{from, point(a.Path[0])}, {to, point(a.Path[1])}}}, true
	case actuator.Scroll:
		way, n, ok := WayOf(a)
		if !ok || n != 5 {
			return Call{}, false
		}
		return at("scroll", a.At, Arg{"direction", way})
	case actuator.Type:
		return Call{"type", []Arg{{"content", string(a.Text)}}}, true
	case actuator.Press:
		if a.Count != 1 || len(a.Keys) > 3 {
			return Call{}, false
		}
		return Call{"hotkey", []Arg{{"key", JoinKeys(a.Keys, " ")}}}, true
	case actuator.KeyDown:
		return Call{"keydown", []Arg{{"key", string(a.Key)}}}, true
	case actuator.KeyUp:
		return Call{"keyup", []Arg{{"key", string(a.Key)}}}, true
	case actuator.Wait:
		return Call{Name: "wait"}, a.Milliseconds == 5000
	case actuator.Done:
		return Call{"finished", []Arg{{"content", a.Answer}}}, true
	case actuator.Ask:
		return Call{"call_user", []Arg{{"content", a.Question}}}, true
	default: // the form has no words for it
	}
	return Call{}, false
}

// actionLabel stands before the actions of a reply; the colon may be a full-width one.
var actionLabel = regexp.MustCompile(`(?m)^[ \t*#>-]*[Aa]ctions?[ \t*]*[:：][ \t*]*`)

// thoughtLabel stands before what is thought.
var thoughtLabel = regexp.MustCompile(`(?m)^[ \t*#>-]*(?:Thought|Reflection|Action_Summary|Reasoning)[ \t*]*[:：][ \t*]*`)

// computerTags frame the action of versions that answer in tags.
var computerTags = regexp.MustCompile(`</?(?:computer_env|answer)>|\[EOS\]|<\|im_end\|>`)

// splitUITars finds the calls of a reply: behind the label that a call follows, or at the
// beginning of a reply without a label.
func splitUITars(reply actuator.Reply) (thought string, calls []Call, err error) {
	text := computerTags.ReplaceAllString(reply.Text, "\n")
	body := ""
	for _, at := range actionLabel.FindAllStringIndex(text, -1) {
		if callHead.MatchString(strings.TrimLeft(text[at[1]:], " \t\r\n")) {
			thought, body = text[:at[0]], text[at[1]:]
			break
		}
	}
	if body == "" {
		if trimmed := strings.TrimSpace(text); callHead.MatchString(trimmed) {
			body = trimmed
		} else {
			return "", nil, errors.New("there is no action in the reply, so nothing was done; write it on a line of its own behind \"Action: \", such as Action: wait()")
		}
	}
	thought = strings.TrimSpace(thoughtLabel.ReplaceAllString(thought, ""))
	calls, err = readCalls(body)
	return thought, calls, err
}

// readCalls reads calls, one behind the other.
func readCalls(text string) (calls []Call, err error) {
	for {
		c, rest, ok, err := readCall(text)
		if err != nil {
			return nil, err
		}
		if !ok {
			if label := actionLabel.FindStringIndex(text); label != nil && label[0] == 0 { // a label before each
				text = text[label[1]:]
				continue
			}
			if len(calls) == 0 {
				return nil, errors.New("what stands in the place of the action is none, so nothing was done; write one action there, such as WAIT()")
			}
			if strings.Trim(text, " \t\r\n`;.") != "" {
				return nil, fmt.Errorf("what follows %s is not understood, so nothing was done; write nothing behind the action", calls[len(calls)-1].Form())
			}
			return calls, nil
		}
		if calls = append(calls, c); len(calls) > actuator.MaxActions {
			return calls, nil // more than the caller takes
		}
		text = strings.TrimLeft(rest, " \t\r\n;")
	}
}

var barePoint = regexp.MustCompile(`((?:start|end)_box)=(['"])(\(\s*-?[0-9.]+\s*,\s*-?[0-9.]+\s*\))['"]`)

// boxTokens writes the points of a past reply with the tokens that its model has for
// them: a server's decoding has taken them out.
func boxTokens(said string) string {
	return barePoint.ReplaceAllString(said, "$1=$2<|box_start|>$3<|box_end|>$2")
}
