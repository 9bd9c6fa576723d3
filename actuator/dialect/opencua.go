package dialect

import (
	"errors"
	"fmt"
	"image"
	"math"
	"regexp"
	"strconv"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/actuator/pyautogui"
)

// python is the form of models that write code which calls pyautogui and computer:
//
//	## Thought: …
//	## Action: click on the File menu.
//	## Code:
//	```python
//	pyautogui.click(x=24, y=12)
//	```
//
// Package pyautogui reads it. Models of both kinds of points go by one name: so a point
// with decimals of 1 at most is one in parts of the picture.
type python struct{}

func (python) read(reply actuator.Reply, s Space) (string, []actuator.Action, error) {
	parser := pyautogui.Parser{Place: func(x, y float64) (p image.Point, err error) {
		if s.model.X > 1 && x >= 0 && y >= 0 && x <= 1 && y <= 1 && (x != math.Trunc(x) || y != math.Trunc(y)) {
			return Space{image: s.image, model: image.Pt(1, 1), grid: true}.place(x, y)
		}
		return s.place(x, y)
	}}
	p, err := parser.Parse(reply, image.Rectangle{Max: s.image})
	return strings.TrimSpace(stepHead.ReplaceAllString(p.Thought, "")), p.Actions, err
}

// stepHead numbers the steps of a reply.
var stepHead = regexp.MustCompile(`(?m)^#+ *Step [0-9]+:?\s*$`)

func (python) write(thought string, actions []actuator.Action, s Space) (string, bool) {
	var lines []string
	language := "python"
	for _, a := range actions {
		line, ok := sayPython(a, s)
		if !ok {
			return "", false
		}
		if strings.HasPrefix(line, "computer.") {
			language = "code"
		}
		lines = append(lines, line)
	}
	if thought != "" {
		thought = "## Thought:\n" + thought + "\n\n"
	}
	return thought + "## Code:\n```" + language + "\n" + strings.Join(lines, "\n") + "\n```", true
}

func (python) describe(a actuator.Action, s Space) (string, bool) { return sayPython(a, s) }

func sayPython(a actuator.Action, s Space) (string, bool) {
	at := func(p *actuator.Point) string {
		if p == nil {
			return ""
		}
		x, y := s.Say(*p)
		return "x=" + x + ", y=" + y
	}
	and := func(args ...string) string {
		var list []string
		for _, arg := range args {
			if arg != "" {
				list = append(list, arg)
			}
		}
		return strings.Join(list, ", ")
	}
	button := func(b actuator.Button) string {
		if b == actuator.Left {
			return ""
		}
		return "button=" + strconv.Quote(string(b))
	}
	switch a := a.(type) {
	case actuator.Click:
		if a.Count == 3 && a.Button == actuator.Left && a.At != nil {
			return "computer.triple_click(" + at(a.At) + ")", len(a.Modifiers) == 0
		}
		count := ""
		if a.Count != 1 {
			count = fmt.Sprintf("clicks=%d", a.Count)
		}
		return "pyautogui.click(" + and(at(a.At), count, button(a.Button)) + ")", len(a.Modifiers) == 0
	case actuator.Move:
		return "pyautogui.moveTo(" + at(&a.At) + ")", true
	case actuator.ButtonDown:
		return "pyautogui.mouseDown(" + and(at(a.At), button(a.Button)) + ")", true
	case actuator.ButtonUp:
		return "pyautogui.mouseUp(" + and(at(a.At), button(a.Button)) + ")", true
	case actuator.Drag:
		if len(a.Path) != 1 || len(a.Modifiers) > 0 {
			return "", false
		}
		return "pyautogui.dragTo(" + at(&a.Path[0]) + ", button=" + strconv.Quote(string(a.Button)) + ")", true
	case actuator.Scroll:
		if len(a.Modifiers) > 0 || a.DX != 0 && a.DY != 0 {
			return "", false
		}
		if a.DX != 0 {
			return "pyautogui.hscroll(" + and(strconv.Itoa(a.DX), at(a.At)) + ")", true
		}
		return "pyautogui.scroll(" + and(strconv.Itoa(-a.DY), at(a.At)) + ")", true
	case actuator.Type:
		return "pyautogui.write(message=" + ToJSON(string(a.Text)) + ")", true
	case actuator.Press:
		if len(a.Keys) == 1 {
			count := ""
			if a.Count != 1 {
				count = fmt.Sprintf("presses=%d", a.Count)
			}
			return "pyautogui.press(" + and(ToJSON(string(a.Keys[0])), count) + ")", true
		}
		keys := make([]string, len(a.Keys))
		for i, k := range a.Keys {
			keys[i] = ToJSON(string(k))
		}
		return "pyautogui.hotkey(" + strings.Join(keys, ", ") + ")", a.Count == 1
	case actuator.KeyDown:
		return "pyautogui.keyDown(" + ToJSON(string(a.Key)) + ")", true
	case actuator.KeyUp:
		return "pyautogui.keyUp(" + ToJSON(string(a.Key)) + ")", true
	case actuator.Wait:
		return "time.sleep(" + decimal(float64(a.Milliseconds)/1000) + ")", true
	case actuator.Done:
		if a.Answer == "" {
			return `computer.terminate(status="success")`, true
		}
		return `computer.terminate(status="success", answer=` + ToJSON(a.Answer) + ")", true
	case actuator.Infeasible:
		if a.Reason == "" {
			return `computer.terminate(status="failure")`, true
		}
		return `computer.terminate(status="failure", info=` + ToJSON(a.Reason) + ")", true
	default: // the form has no words for it
	}
	return "", false
}

// either is the form of EvoCUA, which was trained in two: that of Qwen, and code.
type either struct{ *vocabulary }

func (e either) read(reply actuator.Reply, s Space) (string, []actuator.Action, error) {
	thought, list, err := e.vocabulary.read(reply, s)
	if errors.Is(err, errNoJSON) && strings.Contains(reply.Text, "```") {
		return python{}.read(reply, s)
	}
	return thought, list, err
}
