package toolcall

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"strings"
	"testing"

	"desktop-agent/actuator"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var screen = image.Rect(0, 0, 1280, 720)

func call(name, arguments string) actuator.Reply {
	return actuator.Reply{Calls: []actuator.Call{{ID: "1", Name: name, Arguments: arguments}}}
}

func element(id actuator.Handle) *actuator.Point {
	return &actuator.Point{Element: actuator.Element{ID: id}}
}

func words(s string) *actuator.Point {
	return &actuator.Point{Element: actuator.Element{Words: s}}
}

func TestParse(t *testing.T) {
	p, text := &actuator.Point{X: 12, Y: 30}, actuator.Secret("a\nb")
	for _, tt := range []struct {
		name, arguments string
		want            actuator.Action
	}{
		{"move", `{"at":{"x":12,"y":30}}`, actuator.Move{At: *p}},
		{"click", `{"at":{"x":12,"y":30},"button":"right","count":2,"modifiers":["ctrl"]}`, actuator.Click{At: p, Button: "right", Count: 2, Modifiers: []actuator.Key{"ctrl"}}},
		{"click", `{"at":{"x":12.0,"y":3e1}}`, actuator.Click{At: p, Button: "left", Count: 1, Modifiers: []actuator.Key{}}},
		{"click", `{"at":null,"modifiers":null}`, actuator.Click{Button: "left", Count: 1}},
		{"button_down", `{"at":null}`, actuator.ButtonDown{Button: "left"}},
		{"button_up", `{"at":null,"button":"middle"}`, actuator.ButtonUp{Button: "middle"}},
		{"drag", `{"path":[{"x":12,"y":30},{"x":0,"y":0}]}`, actuator.Drag{Path: []actuator.Point{*p, {}}, Button: "left", Modifiers: []actuator.Key{}}},
		{"scroll", `{"at":null,"dx":0,"dy":-5}`, actuator.Scroll{DY: -5, Modifiers: []actuator.Key{}}},
		{"type", `{"text":"a\r\nb"}`, actuator.Type{Text: "a\nb"}},
		{"type", `{"text":"\ud83d\ude00 <&>"}`, actuator.Type{Text: "😀 <&>"}},
		{"press", `{"keys":["Control","S"]}`, actuator.Press{Keys: []actuator.Key{"ctrl", "s"}, Count: 1}},
		{"key_down", `{"key":"Shift_L"}`, actuator.KeyDown{Key: "shiftleft"}},
		{"key_up", `{"key":"shift"}`, actuator.KeyUp{Key: "shift"}},
		{"hold", `{"keys":["shift"],"milliseconds":500}`, actuator.Hold{Keys: []actuator.Key{"shift"}, Milliseconds: 500}},
		{"copy", `{}`, actuator.Copy{}},
		{"copy", ``, actuator.Copy{}},
		{"copy", ` null `, actuator.Copy{}},
		{"copy", `""`, actuator.Copy{}},
		{"functions.copy", `{}`, actuator.Copy{}},
		{"Key-Up", `{"key":"a"}`, actuator.KeyUp{Key: "a"}},
		{"paste", `{"text":"a\nb"}`, actuator.Paste{Text: &text}},
		{"paste", `{"text":null}`, actuator.Paste{}},
		{"set_clipboard", `{"text":"a\nb"}`, actuator.SetClipboard{Text: text}},
		{"click", `{"at":"n39"}`, actuator.Click{At: element("n39"), Button: "left", Count: 1, Modifiers: []actuator.Key{}}},
		{"click", `{"at":{"x":1,"y":2,"element":{"id":"n39","role":"push button"}}}`, actuator.Click{At: element("n39"), Button: "left", Count: 1, Modifiers: []actuator.Key{}}},
		{"click", `{"at":{"x":12,"y":30,"element":{"role":"push button"}}}`, actuator.Click{At: p, Button: "left", Count: 1, Modifiers: []actuator.Key{}}},
		{"drag", `{"path":["n1",{"x":12,"y":30}]}`, actuator.Drag{Path: []actuator.Point{*element("n1"), *p}, Button: "left", Modifiers: []actuator.Key{}}},
		{"click", `{"at":"the Save button of the dialog"}`, actuator.Click{At: words("the Save button of the dialog"), Button: "left", Count: 1, Modifiers: []actuator.Key{}}},
		{"drag", `{"path":["the red circle","n1"]}`, actuator.Drag{Path: []actuator.Point{*words("the red circle"), *element("n1")}, Button: "left", Modifiers: []actuator.Key{}}},
		{"set", `{"at":"the Name field","text":"a"}`, actuator.Set{At: *words("the Name field"), Text: "a"}},
		{"set", `{"at":"n7","text":"a\nb"}`, actuator.Set{At: *element("n7"), Text: text}},
		{"set", `{"at":{"x":12,"y":30},"text":""}`, actuator.Set{At: *p}},
		{"wait_until", `{"for":"window","what":"Save As","milliseconds":10000}`, actuator.WaitUntil{For: "window", What: "Save As", Milliseconds: 10000}},
		{"wait_until", `{"for":"element","what":"\"Save\"","milliseconds":1}`, actuator.WaitUntil{For: "element", What: `"Save"`, Milliseconds: 1}},
		{"wait_until", `{"for":"element","what":"n39","gone":true,"milliseconds":1}`, actuator.WaitUntil{For: "element", What: "n39", Gone: true, Milliseconds: 1}},
		{"wait", `{"milliseconds":250}`, actuator.Wait{Milliseconds: 250}},
		{"wait", `"{\"milliseconds\": 250}"`, actuator.Wait{Milliseconds: 250}},
		{"zoom", `{"region":{"x":1,"y":2,"width":3,"height":4}}`, actuator.Zoom{Region: actuator.Region{X: 1, Y: 2, Width: 3, Height: 4}}},
		{"done", `{"answer":"42"}`, actuator.Done{Answer: "42"}},
		{"done", `{}`, actuator.Done{}},
		{"done", ``, actuator.Done{}},
		{"note", `{"text":"the total is 42"}`, actuator.Note{Text: "the total is 42"}},
		{"infeasible", `{"reason":"no"}`, actuator.Infeasible{Reason: "no"}},
		{"ask", `{"question":"which?"}`, actuator.Ask{Question: "which?"}},
	} {
		t.Run(tt.name+tt.arguments, func(t *testing.T) {
			got, err := Parser{}.Parse(call(tt.name, tt.arguments), screen)
			require.NoError(t, err)
			assert.Equal(t, []actuator.Action{tt.want}, got.Actions)
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ name, arguments, want string }{
		{"clik", `{}`, `tool "clik": there is no action "clik"; the nearest are "click"`},
		{"", `{}`, `tool "?": there is no action ""`},
		{strings.Repeat("x", 1000), `{}`, `xxx…": there is no action`},
		{"click", ``, `at is missing; write {"at": {"x": integer, "y": integer} or "n39" or null, "button": "left" or`},
		{"click", `{"x":1,"y":2}`, `at is missing; "x" is unknown; "y" is unknown; write {"at"`},
		{"click", `{"at":{"x":1280,"y":2}}`, "outside the screenshot; x goes from 0 to 1279"},
		{"click", `{"at":{"x":1,"y":2},"count":4}`, "1 to 3"},
		{"click", `{"at":{"x":1,"y":2},"button":"fourth"}`, `button must be "left" or "middle" or "right", not "fourth"`},
		{"click", `{"at":{"x":"1","y":2}}`, "at.x must be integer, not string"},
		{"click", `{"at":[1,2]}`, `at must be {"x": integer, "y": integer} or "n39" or null, not array`},
		{"click", `{"at":{"x":1`, "end in the middle"},
		{"click", `{"at" 5}`, "are not JSON"},
		{"click", `[1, 2]`, "one JSON object"},
		{"click", `{"at":null}{}`, "more than one JSON object"},
		{"press", `{"keys":["retrun"]}`, `unknown key "retrun": the nearest are "enter"`},
		{"press", `{"keys":["ctrl+s"]}`, `["ctrl" "s"]`},
		{"press", `{"keys":"enter"}`, "keys must be [string, …], not string"},
		{"type", `{"text":""}`, "empty"},
		{"type", `{"text":"\ud83d"}`, "valid Unicode"},
		{"type", "{\"text\":\"\xff\"}", "UTF-8"},
		{"type", `{"text":"` + strings.Repeat("a", 10_001) + `"}`, "at most 10000"},
		{"type", `{"text":"` + strings.Repeat("a", 10<<20) + `"}`, "was not read"},
		{"click", `{"at":"39"}`, `"39" is no element: write the ID at the beginning of its line in the list, such as "n39"`},
		{"click", `{"at":""}`, `"" is no element`},
		{"drag", `{"path":["n1","nn2"]}`, `"nn2" is no element`},
		{"set", `{"at":null,"text":"a"}`, `at must be {"x": integer, "y": integer} or "n39", not null`},
		{"wait_until", `{"for":"sound","what":"ping","milliseconds":9}`, `for must be "window" or "text" or "element", not "sound"`},
		{"wait_until", `{"for":"element","what":"39","milliseconds":9}`, `"39" is no element`},
		{"wait_until", `{"for":"element","what":"n39 button \"Save\"","milliseconds":9}`, `such as button "Save"`},
		{"wait_until", `{"for":"text","what":" % ","milliseconds":9}`, "cannot be told from others"},
		{"wait_until", `{"for":"window","what":" ","milliseconds":9}`, "which window is waited for is not said"},
		{"wait_until", `{"for":"window","what":"a","milliseconds":120001}`, "1 to 120000"},
		{"wait", `{"milliseconds":61000}`, "1 to 60000"},
		{"zoom", `{"region":{"x":1270,"y":2,"width":30,"height":4}}`, "outside"},
	} {
		t.Run(tt.name[:min(9, len(tt.name))]+tt.arguments[:min(40, len(tt.arguments))], func(t *testing.T) {
			got, err := Parser{}.Parse(call(tt.name, tt.arguments), screen)
			require.Error(t, err)
			_, ok := errors.AsType[*actuator.ParseError](err)
			assert.True(t, ok, "%T", err)
			assert.Contains(t, err.Error(), tt.want)
			assert.Less(t, len(err.Error()), 1000)
			assert.Empty(t, got)
		})
	}
}

func TestParseReply(t *testing.T) {
	p, err := Parser{}.Parse(actuator.Reply{Text: "Thought: it is there.\nExpect: the menu opens.", Calls: []actuator.Call{
		{Name: "press", Arguments: `{"keys":["alt","f"]}`}, {Name: "done", Arguments: `{"answer":""}`}}}, screen)
	require.NoError(t, err)
	assert.Equal(t, "it is there.", p.Thought)
	assert.Equal(t, "the menu opens.", p.Expect)
	assert.Len(t, p.Actions, 2)

	for name, tt := range map[string]struct {
		reply actuator.Reply
		want  string
	}{
		"no call":        {actuator.Reply{Text: "Thought: I click."}, "no tool was called, so nothing was done; call one of the tools: move, click"},
		"too long":       {actuator.Reply{Text: strings.Repeat("a", 10<<20), Calls: call("copy", "").Calls}, "was not read"},
		"too many":       {actuator.Reply{Calls: make([]actuator.Call, 101)}, "101 calls"},
		"after the end":  {actuator.Reply{Calls: append(call("done", `{"answer":""}`).Calls, call("copy", "").Calls...)}, "nothing is done after done"},
		"one of several": {actuator.Reply{Calls: append(call("copy", "").Calls, call("move", "{}").Calls...)}, `tool "move": at is missing; write {"at": {"x": integer, "y": integer} or "n39"} (call 2 of 2; none of them was done)`},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Parser{}.Parse(tt.reply, screen)
			assert.ErrorContains(t, err, tt.want)
			assert.IsType(t, &actuator.ParseError{}, err)
			assert.Empty(t, p)
		})
	}
}

// TestTools holds that each tool has a schema that an action of its type
// follows, so that a strict endpoint can produce it.
func TestTools(t *testing.T) {
	tools := map[string]Tool{}
	for _, tool := range Tools() {
		tools[tool.Name] = tool
		assert.NotEmpty(t, tool.Description, tool.Name)
		assert.Regexp(t, `^[a-z_]{1,64}$`, tool.Name)
	}
	assert.Len(t, tools, len(actuator.Variants())-1, "a tool of a run is called by its own name")
	for name, arguments := range map[string]string{
		"click": `{"at":{"x":1,"y":2},"button":"left","count":1,"modifiers":["ctrl"]}`,
		"press": `{"keys":["ctrl","f5"],"count":1}`,
		"copy":  `{}`,
		"paste": `{"text":null}`,
	} {
		schema := &jsonschema.Schema{}
		require.NoError(t, json.Unmarshal(tools[name].Parameters, schema))
		resolved, err := schema.Resolve(nil)
		require.NoError(t, err)
		var v any
		require.NoError(t, json.Unmarshal([]byte(arguments), &v))
		assert.NoError(t, resolved.Validate(v), name)
		assert.Error(t, resolved.Validate(map[string]any{"x": 1}), name)
		_, err = Parser{}.Parse(call(name, arguments), screen)
		assert.NoError(t, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("click", `{"at":{"x":1,"y":2.0},"button":"left"}`)
	f.Add("press", `{"keys":["ctrl","s"],"count":1e0}`)
	f.Add("functions.type", `"{\"text\":\"a\"}"`)
	f.Add("copy", "")
	f.Fuzz(func(t *testing.T, name, arguments string) {
		p, err := Parser{}.Parse(call(name, arguments), screen)
		if err != nil {
			if _, ok := errors.AsType[*actuator.ParseError](err); !ok || len(err.Error()) > 4000 {
				t.Errorf("%T %v", err, err)
			}
			return
		}
		data, err := actuator.Marshal(p.Actions[0])
		if err != nil {
			t.Fatal(err)
		}
		if back, err := actuator.Unmarshal(data); err != nil || actuator.DescribeFull(back) != actuator.DescribeFull(p.Actions[0]) {
			t.Errorf("%s comes back as %v, %v", data, back, err)
		}
		if err := actuator.Validate(p.Actions[0], screen); err != nil {
			t.Error(err)
		}
	})
}

func ExampleParser_Parse() {
	reply := actuator.Reply{
		Text:  "Thought: the File menu is at the top.\nExpect: it opens.",
		Calls: []actuator.Call{{Name: "click", Arguments: `{"at": {"x": 24, "y": 12}}`}},
	}
	p, err := Parser{}.Parse(reply, image.Rect(0, 0, 1280, 720))
	fmt.Println(p.Thought, actuator.Describe(p.Actions[0]), err)
	_, err = Parser{}.Parse(actuator.Reply{Calls: []actuator.Call{{Name: "move", Arguments: `{"x": 24}`}}}, image.Rect(0, 0, 1280, 720))
	fmt.Println(err)
	// Output:
	// the File menu is at the top. click left at (24, 12) <nil>
	// tool "move": at is missing; "x" is unknown; write {"at": {"x": integer, "y": integer} or "n39"}
}

// TestToolsAreSmall holds that no list of values and no description is paid for twice, that
// the schemas stay fit for strict mode, and how much a tool is on average.
func TestToolsAreSmall(t *testing.T) {
	size, whole := 0, 0
	lists, words := map[string]int{}, map[string]int{}
	var walk func(s map[string]any)
	walk = func(s map[string]any) {
		if list, ok := s["enum"].([]any); ok {
			lists[fmt.Sprint(list)]++
		}
		if text, ok := s["description"].(string); ok && len(text) > 30 {
			words[text]++
		}
		if items, ok := s["items"].(map[string]any); ok {
			walk(items)
		}
		properties, object := s["properties"].(map[string]any)
		if !object {
			return
		}
		assert.Equal(t, false, s["additionalProperties"])
		required, _ := s["required"].([]any)
		assert.Len(t, required, len(properties), "all are required, as in strict mode")
		for _, p := range properties {
			walk(p.(map[string]any))
		}
	}
	variants := actuator.Variants()
	for i, tool := range Tools() {
		size += len(tool.Name) + len(tool.Description) + len(tool.Parameters)
		whole += len(variants[i].Name) + len(variants[i].Description) + len(variants[i].Schema)
		var s map[string]any
		require.NoError(t, json.Unmarshal(tool.Parameters, &s))
		walk(s)
	}
	for list, n := range lists {
		assert.True(t, n == 1 || len(list) < 40, "%d times %s", n, list)
	}
	for text, n := range words {
		assert.Equal(t, 1, n, text)
	}
	t.Logf("the tools have %d bytes, with all said in each %d", size, whole)
	assert.Less(t, size, 400*len(variants))
}
