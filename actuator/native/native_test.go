package native

import (
	"errors"
	"image"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
)

var (
	size   = image.Pt(1000, 700)
	bounds = image.Rectangle{Max: size}
)

func at(x, y int) *actuator.Point { return &actuator.Point{X: x, Y: y} }

func click(x, y int) actuator.Action {
	return actuator.Click{At: at(x, y), Button: actuator.Left, Count: 1}
}

func press(keys ...actuator.Key) actuator.Action { return actuator.Press{Keys: keys, Count: 1} }

// samples are actions of each type, in all the ways that some tool can say.
func samples() []actuator.Action {
	var list []actuator.Action
	for _, p := range []*actuator.Point{at(0, 0), at(999, 699), at(333, 431), nil} {
		for _, b := range []actuator.Button{actuator.Left, actuator.Middle, actuator.Right} {
			for count := 1; count <= 3; count++ {
				list = append(list, actuator.Click{At: p, Button: b, Count: count})
			}
			list = append(list, actuator.ButtonDown{At: p, Button: b}, actuator.ButtonUp{At: p, Button: b})
		}
		for _, n := range []int{-60, -5, -1, 1, 3, 20, 100} {
			list = append(list, actuator.Scroll{At: p, DY: n}, actuator.Scroll{At: p, DX: n})
		}
		list = append(list, actuator.Click{At: p, Button: actuator.Left, Count: 1, Modifiers: []actuator.Key{"ctrl", "shift"}}, actuator.Scroll{At: p, DY: 2, Modifiers: []actuator.Key{"ctrl"}}, actuator.Scroll{At: p, DX: 1, DY: 1})
	}
	for _, text := range []string{"milk", "milk\nbread\n", "it's \"so\"", `C:\new\t`, " 漢😀 ", "tab\there", "{\"action\": 1}", "12", "true", "<think>"} {
		s := actuator.Secret(text)
		list = append(list, actuator.Type{Text: s}, actuator.SetClipboard{Text: s}, actuator.Paste{Text: &s}, actuator.Done{Answer: text})
	}
	for _, k := range actuator.Keys() {
		list = append(list, press(k), press("ctrl", k), actuator.KeyDown{Key: k}, actuator.KeyUp{Key: k})
	}
	for _, ms := range []int{1000, 1500, 2000, 5000, 60000} {
		list = append(list, actuator.Wait{Milliseconds: ms}, actuator.Hold{Keys: []actuator.Key{"a"}, Milliseconds: ms})
	}
	return append(list,
		actuator.Note{Text: "x"}, actuator.CallTool{Tool: "read_file", Arguments: "{}"}, actuator.Infeasible{Reason: "x"}, actuator.Ask{Question: "x"},
		actuator.WaitUntil{For: actuator.TextSign, What: "ab", Milliseconds: 5},
		actuator.Move{At: *at(333, 431)}, actuator.Copy{}, actuator.Press{Keys: []actuator.Key{"down"}, Count: 3}, press("ctrl", "shift", "alt", "t"),
		actuator.Drag{Path: []actuator.Point{*at(1, 2), *at(333, 431)}, Button: actuator.Left}, actuator.Drag{Path: []actuator.Point{*at(333, 431)}, Button: actuator.Left},
		actuator.Drag{Path: []actuator.Point{*at(1, 2), *at(3, 4), *at(5, 6)}, Button: actuator.Left, Modifiers: []actuator.Key{"ctrl"}}, actuator.Drag{Path: []actuator.Point{*at(1, 2), *at(3, 4)}, Button: actuator.Right},
		actuator.Zoom{Region: actuator.Region{X: 10, Y: 20, Width: 300, Height: 200}}, actuator.Set{At: *at(1, 2), Text: "x"},
		actuator.Click{At: &actuator.Point{Element: actuator.Element{ID: "n3"}}, Button: actuator.Left, Count: 1},
	)
}

// TestSamples holds that there is a sample of each type of action, so that [roundTrip] says
// of each tool whether it has words for it.
func TestSamples(t *testing.T) {
	for _, v := range actuator.Variants() {
		t.Run(v.Name, func(t *testing.T) {
			if !slices.ContainsFunc(samples(), func(a actuator.Action) bool { return actuator.Name(a) == v.Name }) {
				t.Errorf("each tool of a provider does not know %s: add a sample, and say in the test of that tool who has words for it", v.Name)
			}
		})
	}
}

// roundTrip holds that what a vocabulary can say of an action is read as that action
// again, on screenshots of several sizes; and which types it can say.
func roundTrip(t *testing.T, v *Vocabulary, can string) {
	said := map[string]bool{}
	for _, size := range []image.Point{size, image.Pt(1456, 819), image.Pt(3840, 2160)} {
		for _, a := range samples() {
			calls, ok := v.Write([]actuator.Action{a}, size)
			if !ok || actuator.Validate(a, image.Rectangle{Max: size}) != nil {
				continue
			}
			got, err := Parser{Of: v}.Parse(actuator.Reply{Calls: calls}, image.Rectangle{Max: size})
			require.NoError(t, err, "%v: %+v", size, calls)
			if size.X > 1000 && v.Scale > 0 { // a grid does not reach every pixel
				require.Len(t, got.Actions, 1)
				require.Equal(t, actuator.Name(a), actuator.Name(got.Actions[0]))
				continue
			}
			said[actuator.Name(a)] = true
			require.Equal(t, []actuator.Action{a}, got.Actions, "%v: %+v", size, calls)
		}
	}
	var names []string
	for _, x := range actuator.Variants() {
		if said[x.Name] {
			names = append(names, x.Name)
		}
	}
	require.ElementsMatch(t, strings.Fields(can), names)
}

// TestReply holds what a reply means that calls functions beside the tool, or nothing.
func TestReply(t *testing.T) {
	parser := Parser{Of: OpenAI, Also: []string{"read_file"}}
	tool := actuator.Call{Name: "computer", Computer: true, Arguments: `{"actions":[{"type":"click","button":"left","x":1,"y":2},{"type":"wait"}]}`}
	look := actuator.Call{Name: "computer", Computer: true, Arguments: `{"actions":[{"type":"screenshot"}]}`}
	note := actuator.Call{Name: "note", Arguments: `{"text":"blue"}`}
	done := actuator.Call{Name: "done", Arguments: `{"answer":"42"}`}
	file := actuator.Call{Name: "read_file", Arguments: `{"path":"a"}`}
	for name, tt := range map[string]struct {
		reply actuator.Reply
		want  []actuator.Action
		calls []int
		bad   string
	}{
		"a function, the tool, a function": {actuator.Reply{Calls: []actuator.Call{note, tool, done}},
			[]actuator.Action{actuator.Note{Text: "blue"}, click(1, 2), actuator.Wait{Milliseconds: 2000}, actuator.Done{Answer: "42"}}, []int{0, 1, 1, 2}, ""},
		"a tool of the run":         {actuator.Reply{Calls: []actuator.Call{file}}, []actuator.Action{actuator.CallTool{Tool: "read_file", Arguments: `{"path":"a"}`}}, []int{0}, ""},
		"a screenshot and a note":   {actuator.Reply{Calls: []actuator.Call{look, note}}, []actuator.Action{actuator.Note{Text: "blue"}}, []int{1}, ""},
		"an answer":                 {actuator.Reply{Text: "It is 42.", Ended: true}, []actuator.Action{actuator.Done{Answer: "It is 42."}}, []int{-1}, ""},
		"a question":                {actuator.Reply{Text: "Shall I *send* it?**", Ended: true}, []actuator.Action{actuator.Ask{Question: "Shall I *send* it?**"}}, []int{-1}, ""},
		"cut off":                   {actuator.Reply{Text: "It is 4"}, nil, nil, "nothing was called"},
		"nothing":                   {actuator.Reply{Ended: true}, nil, nil, "the reply is empty"},
		"something behind the end":  {actuator.Reply{Calls: []actuator.Call{done, tool}}, nil, nil, "nothing is done after done"},
		"one that is none":          {actuator.Reply{Calls: []actuator.Call{tool, {Name: "wobble"}}}, nil, nil, `"wobble"`},
		"a function that is a tool": {actuator.Reply{Calls: []actuator.Call{{Name: "computer", Arguments: tool.Arguments}}}, nil, nil, `"computer"`},
	} {
		got, err := parser.Parse(tt.reply, bounds)
		if tt.bad != "" {
			var e *actuator.ParseError
			require.True(t, errors.As(err, &e), name)
			require.ErrorContains(t, err, tt.bad, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, tt.want, got.Actions, name)
		require.Equal(t, tt.calls, got.Calls, name)
	}
}

// Beside the tool stand functions for what it has no words for, and no others: a model
// that has two ways to click is asked in two forms.
func TestTools(t *testing.T) {
	for _, v := range vocabularies {
		require.Same(t, v, Named(v.Name))
		var names []string
		for _, f := range v.Tools() {
			names = append(names, f.Name)
		}
		for _, name := range []string{"done", "infeasible", "ask", "note", "wait_until", "set", "copy"} {
			require.Contains(t, names, name)
		}
		var said strings.Builder
		for _, f := range v.Tools() { // what is said once is said in a tool that is offered
			require.NotContains(t, string(f.Parameters), "named as in click", f.Name)
			said.WriteString(string(f.Parameters))
		}
		require.Contains(t, said.String(), "the left edge of the image", v.Name)
		for _, name := range []string{"click", "type", "press", "scroll", "drag", "move", "wait"} {
			require.NotContains(t, names, name)
		}
	}
	require.Nil(t, Named("nobody"))
}

// fuzz holds that whatever comes gives actions that are possible, or an error for the
// model, without a panic.
func fuzz(f *testing.F, v *Vocabulary, name string, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		p, err := Parser{Of: v}.Parse(actuator.Reply{Calls: []actuator.Call{{Name: name, Arguments: arguments, Computer: true}}}, bounds)
		if err != nil {
			if e, ok := errors.AsType[*actuator.ParseError](err); !ok || e.Message == "" || len(p.Actions) > 0 {
				t.Errorf("error %T %v with %d actions", err, err, len(p.Actions))
			}
			return
		}
		if len(p.Actions) == 0 || len(p.Actions) > actuator.MaxActions || len(p.Calls) != len(p.Actions) {
			t.Errorf("%d actions of %d calls", len(p.Actions), len(p.Calls))
		}
		for _, a := range p.Actions {
			if err := actuator.Validate(a, bounds); err != nil {
				t.Errorf("%s: %v", actuator.Describe(a), err)
			}
		}
	})
}

func FuzzOpenAI(f *testing.F) {
	fuzz(f, OpenAI, "computer", `{"actions":[{"type":"click","button":"left","x":1,"y":2}]}`, `{"actions":[{"type":"drag","path":[[1,2],{"x":1}]}]}`, `{"action":{"type":"scroll","x":1,"y":1,"scroll_y":1e308}}`)
}
