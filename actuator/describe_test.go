package actuator

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDescribe(t *testing.T) {
	p, text := &Point{X: 12, Y: 30}, Secret("hunter2")
	for _, tt := range []struct {
		a          Action
		want, full string // full is want where empty
	}{
		{Move{*p}, "move the pointer to (12, 30)", ""},
		{Click{p, Left, 1, nil}, "click left at (12, 30)", ""},
		{Click{nil, Right, 2, []Key{"ctrl", "shiftleft"}}, "hold Ctrl+Shift (left) and double-click right where the pointer is", ""},
		{Click{p, Middle, 3, nil}, "triple-click middle at (12, 30)", ""},
		{ButtonDown{p, Left}, "press the left button down at (12, 30)", ""},
		{ButtonUp{nil, Left}, "let the left button go where the pointer is", ""},
		{Drag{[]Point{{X: 1, Y: 2}, {X: 3, Y: 4}, {X: 5, Y: 6}}, Left, nil}, "drag left from (1, 2) to (5, 6) by way of 1 more", ""},
		{Drag{[]Point{{X: 1, Y: 2}}, Left, []Key{"alt"}}, "hold Alt and drag left from where the pointer is to (1, 2)", ""},
		{Scroll{p, -2, 5, nil}, "scroll down 5 left 2 at (12, 30)", ""},
		{Type{text}, "type 7 characters", `type "hunter2"`},
		{Type{"x"}, "type 1 character", `type "x"`},
		{Type{Secret(strings.Repeat("é", 300))}, "type 300 characters", `type "` + strings.Repeat("é", 200) + `"… (300 characters)`},
		{Press{[]Key{"ctrl", "s"}, 1}, "press Ctrl+S", ""},
		{Press{[]Key{"pagedown"}, 3}, "press PageDown 3 times", ""},
		{KeyDown{"shift"}, "hold down Shift", ""},
		{KeyUp{"left"}, "let go of Left", ""},
		{Hold{[]Key{"shift", "a"}, 1500}, "hold Shift+A for 1.5s", ""},
		{Copy{}, "copy the selection", ""},
		{Paste{&text}, "paste 7 characters", `paste "hunter2"`},
		{Paste{}, "paste what is on the clipboard", ""},
		{Click{&Point{Element: Element{ID: "n39"}}, Left, 1, nil}, "click left at n39", ""},
		{Click{&Point{793, 466, Element{"n39", "push button", "Delete", ""}}, Left, 1, nil}, `click left at (793, 466) on n39 push button "Delete"`, ""},
		{Click{&Point{793, 466, Element{"", "push button", "Dele\nte\"", ""}}, Left, 1, nil}, `click left at (793, 466) on push button "Dele\nte\""`, ""},
		{Move{Point{1, 2, Element{"", "text", "", ""}}}, "move the pointer to (1, 2) on text", ""},
		{Move{Point{1, 2, Element{"", "label", strings.Repeat("é", 101), ""}}}, `move the pointer to (1, 2) on label "` + strings.Repeat("é", 100) + `"…`, ""},
		{Set{Point{1, 2, Element{"n7", "entry", "Name", ""}}, text}, `set the text at (1, 2) on n7 entry "Name" to 7 characters`, `set the text at (1, 2) on n7 entry "Name" to "hunter2"`},
		{WaitUntil{"window", "Save As", false, 10000, Element{}}, `wait until window "Save As" is there, for 10s at most`, ""},
		{WaitUntil{"element", `check item "Sa\u0076e"`, false, 1500, Element{}}, `wait until check item "Save" is there, for 1.5s at most`, ""},
		{WaitUntil{"element", "n39", true, 1500, Element{}}, "wait until n39 is gone, for 1.5s at most", ""},
		{WaitUntil{"element", "n39", false, 1500, Element{"n39", "push button", "Save", ""}}, `wait until n39 push button "Save" is there, for 1.5s at most`, ""},
		{SetClipboard{text}, "put 7 characters on the clipboard", `put "hunter2" on the clipboard`},
		{Wait{250}, "wait 250ms", ""},
		{Zoom{Region{1, 2, 30, 40}}, "zoom into 30×40 at (1, 2)", ""},
		{Note{"the total\nis 42"}, "note: the total is 42", ""},
		{CallTool{"read_file", `{"path":"a"}`}, `call the tool "read_file" with 12 characters`, `call the tool "read_file" with "{\"path\":\"a\"}"`},
		{CallTool{"now", "{}"}, `call the tool "now"`, ""},
		{Done{"it is 42"}, "done: it is 42", ""},
		{Done{}, "done", ""},
		{Infeasible{"no\nmenu"}, "give up: no menu", ""},
		{Ask{"which?"}, "ask: which?", ""},
		{nil, "nothing", ""},
	} {
		assert.Equal(t, tt.want, Describe(tt.a))
		if tt.full == "" {
			tt.full = tt.want
		}
		assert.Equal(t, tt.full, DescribeFull(tt.a))
	}
	for _, a := range samples(t) {
		assert.NotEqual(t, Name(a), Describe(a), "described in words")
	}
}

// TestNothingTypedIsShown prints and logs actions in every way that there is.
func TestNothingTypedIsShown(t *testing.T) {
	s := Secret("hunter2")
	values := []any{s, &s, Type{s}, &Type{s}, Paste{&s}, SetClipboard{s}, []Action{Type{s}, SetClipboard{s}},
		map[string]Action{"a": Type{s}}, Proposal{Actions: []Action{Type{s}, Paste{&s}}}, []Secret{s}}
	var out strings.Builder
	for _, v := range values {
		for verb := range strings.FieldsSeq("%v %+v %#v %s %q %x %X %d %t %5.1f %c %U %b %08s") {
			fmt.Fprintf(&out, verb, v)
		}
		fmt.Fprint(&out, Describe(Type{s}), v)
	}
	values = append(values[:6], Proposal{Thought: "I type hunter2", Actions: []Action{Type{s}}},
		Reply{Text: "hunter2"}, Call{Arguments: "hunter2"})
	var log bytes.Buffer
	for _, h := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		for _, v := range values {
			slog.New(h).Info("act", "action", v)
			slog.New(h).With("action", v).WithGroup("g").Info("act", slog.Group("x", "action", v))
		}
	}
	for _, hidden := range []string{"hunter2", fmt.Sprintf("%x", "hunter2"), fmt.Sprintf("%X", "hunter2")} {
		assert.NotContains(t, out.String(), hidden)
		assert.NotContains(t, log.String(), hidden)
	}
	assert.Contains(t, log.String(), "7 characters")
	assert.Equal(t, "hunter2", string(s))
}

func TestParseErrorText(t *testing.T) {
	assert.Equal(t, "line 3, column 7: write a number", (&ParseError{Line: 3, Column: 7, Message: "write a number"}).Error())
	assert.Equal(t, `tool "click": x is missing`, (&ParseError{Tool: "click", Message: "x is missing"}).Error())
	assert.Equal(t, "say something", (&ParseError{Message: "say something"}).Error())
}

func TestDescribeOn(t *testing.T) {
	name := func(p Point) string { return fmt.Sprintf("thing %d", p.X) }
	for want, a := range map[string]Action{
		`click left on thing 3`:              Click{At: &Point{X: 3}, Button: Left, Count: 1},
		`drag left from thing 1 to thing 2`:  Drag{Path: []Point{{X: 1}, {X: 2}}, Button: Left},
		`type "milk"`:                        Type{Text: "milk"},
		`scroll down 2 where the pointer is`: Scroll{DY: 2},
	} {
		assert.Equal(t, want, DescribeOn(a, name))
	}
	some := func(p Point) string {
		if p.X == 1 {
			return "thing 1"
		}
		return ""
	}
	for want, a := range map[string]Action{
		`move the pointer to thing 1`:         Move{At: Point{X: 1}},
		`drag left from thing 1 to (2, 0)`:    Drag{Path: []Point{{X: 1}, {X: 2}}, Button: Left},
		`click left at (3, 0) on link "Home"`: Click{At: &Point{X: 3, Element: Element{Role: "link", Name: "Home"}}, Button: Left, Count: 1},
		`set the text on thing 1 to "milk"`:   Set{At: Point{X: 1}, Text: "milk"},
	} {
		assert.Equal(t, want, DescribeOn(a, some))
	}
	assert.Equal(t, "set the text on thing 1 to 4 characters", DescribeNamed(Set{At: Point{X: 1}, Text: "milk"}, some))
}

func TestEntered(t *testing.T) {
	text := Secret("abc")
	for _, a := range []Action{Type{Text: text}, SetClipboard{Text: text}, Paste{Text: &text}} {
		got, ok := Entered(a)
		assert.True(t, ok, "%T", a)
		assert.Equal(t, "abc", got)
	}
	for _, a := range []Action{Paste{}, Copy{}, Press{Keys: []Key{"a"}, Count: 1}} {
		_, ok := Entered(a)
		assert.False(t, ok, "%T", a)
	}
}
