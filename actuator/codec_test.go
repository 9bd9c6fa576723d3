package actuator

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// samples holds an action of every variant, with every field set.
func samples() []Action {
	p, text := Point{12, 30}, Secret("pass \"wörd\"\n\t<&>")
	return []Action{
		Move{p},
		Click{&p, Right, 2, []Key{"ctrl", "shiftleft"}},
		ButtonDown{&p, Left},
		ButtonUp{&p, Middle},
		Drag{[]Point{p, {40, 50}, {0, 0}}, Left, []Key{"shift"}},
		Scroll{&p, -2, 5, []Key{"ctrl"}},
		Type{text},
		Press{[]Key{"ctrl", "+"}, 3},
		KeyDown{"alt"},
		KeyUp{"alt"},
		Hold{[]Key{"shift", "a"}, 1500},
		Copy{},
		Paste{&text},
		SetClipboard{text},
		Wait{250},
		Zoom{Region{1, 2, 30, 40}},
		Done{"it is 42"},
		Infeasible{"there is no such menu"},
		Ask{"which one?"},
	}
}

// TestVariantsComplete reads the declaration of the sum type: a type that has
// the sealing method and is missing from the list would not be read from a
// journal, and no model could call it.
func TestVariantsComplete(t *testing.T) {
	packages := token.NewFileSet()
	file, err := parser.ParseFile(packages, "action.go", nil, 0)
	require.NoError(t, err)
	var declared []string
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "action" && f.Recv != nil {
			declared = append(declared, f.Recv.List[0].Type.(*ast.Ident).Name)
		}
	}
	require.NotEmpty(t, declared)

	var listed, sampled []string
	for _, v := range variants() {
		listed = append(listed, v.kind.Name())
		assert.NotEmpty(t, v.Description, v.Name)
	}
	for _, a := range samples() {
		sampled = append(sampled, reflect.TypeOf(a).Name())
	}
	assert.Equal(t, declared, listed, "every variant of action.go, in its order")
	assert.Equal(t, declared, sampled, "a sample of every variant")
}

func TestMarshalRoundTrip(t *testing.T) {
	for _, a := range append(samples(), Click{Button: Left, Count: 1}, Paste{}, Scroll{DY: 1}, Drag{Path: []Point{{1, 2}}, Button: Left}) {
		data, err := Marshal(a)
		require.NoError(t, err)
		got, err := Unmarshal(data)
		require.NoError(t, err, string(data))
		assert.Equal(t, a, got, string(data))
		assert.True(t, strings.HasPrefix(string(data), `{"action":"`+Name(a)+`"`), string(data))
	}
	_, err := Marshal(nil)
	assert.Error(t, err)
	data, err := Marshal(Type{"secret <b>"})
	require.NoError(t, err)
	var m map[string]string
	require.NoError(t, json.Unmarshal(data, &m))
	assert.Equal(t, map[string]string{"action": "type", "text": "secret <b>"}, m, "the journal holds the text")
}

func TestUnmarshalRefuses(t *testing.T) {
	for _, tt := range []struct{ data, want string }{
		{``, "one JSON object"},
		{`null`, "write a JSON object"},
		{`[]`, "one JSON object"},
		{`{"action":"cop`, "in the middle"},
		{`{"action":"copy"} {}`, "more than one"},
		{`{"action":"copy","text":"\xff"}`, "UTF-8"},
		{`{}`, `key "action"`},
		{`{"action":7}`, `key "action"`},
		{`{"action":"clik"}`, `"click"`},
		{`{"action":"copy","what":1}`, `"what" is unknown`},
		{`{"action":"move"}`, "at is missing"},
		{`{"action":"move","at":{"x":1}}`, "at.y is missing"},
		{`{"action":"move","at":null}`, "at must be"},
		{`{"action":"move","at":{"x":1,"y":"2"}}`, "at.y must be integer, not string"},
		{`{"action":"move","at":{"x":1,"y":2.5}}`, "at.y must be integer, not number"},
		{`{"action":"move","at":{"x":1,"y":1e30}}`, "at.y is out of range"},
		{`{"action":"move","AT":{"x":1,"y":1},"at":{"x":1,"y":1}}`, `"AT" is unknown`},
		{`{"action":"button_up","at":null,"button":"lef"}`, `"left" or "middle" or "right"`},
		{`{"action":"press","keys":["retrun"],"count":1}`, `"enter"`},
		{`{"action":"press","keys":[],"count":1}`, "1 to 8"},
		{`{"action":"wait","milliseconds":60001}`, "1 to 60000"},
	} {
		a, err := Unmarshal([]byte(strings.ReplaceAll(tt.data, `\xff`, "\xff")))
		assert.ErrorContains(t, err, tt.want, tt.data)
		assert.Nil(t, a, tt.data)
	}
}

func TestDecodeTakesWhatModelsWrite(t *testing.T) {
	for _, tt := range []struct {
		name, fields string
		want         Action
	}{
		{"move", `{"at":{"x":12.0,"y":3e1}}`, Move{Point{12, 30}}},
		{"press", `{"keys":["Control_L","S"],"count":1.0}`, Press{[]Key{"ctrlleft", "s"}, 1}},
		{"click", `{"at":null,"button":"left","count":1,"modifiers":null}`, Click{Button: Left, Count: 1}},
		{"wait", `{"milliseconds":1,"milliseconds":2}`, Wait{2}},
	} {
		got, err := Decode(tt.name, []byte(tt.fields))
		require.NoError(t, err, tt.fields)
		assert.Equal(t, tt.want, got)
	}
}

// TestErrorsKeepText holds that what is typed is not in an error, which may be
// logged, even where it stands in the wrong place.
func TestErrorsKeepText(t *testing.T) {
	for _, fields := range []string{`{"text":["hunter2"]}`, `{"text":{"a":"hunter2"}}`, `{"text":"hunter2","x":"hunter2"}`, `{"text":"hunter2\u0001"}`, `{"txt":"hunter2"}`} {
		_, err := Decode("type", []byte(fields))
		require.Error(t, err, fields)
		assert.NotContains(t, err.Error(), "hunter2")
	}
}

// TestSchemasAreStrict holds what strict tool definitions demand: every object
// closed, every property required, no list that may be null.
func TestSchemasAreStrict(t *testing.T) {
	var walk func(path string, s map[string]any)
	walk = func(path string, s map[string]any) {
		if properties, ok := s["properties"].(map[string]any); ok {
			assert.Equal(t, false, s["additionalProperties"], path)
			required, _ := s["required"].([]any)
			assert.Len(t, required, len(properties), path)
			for name, p := range properties {
				walk(path+"."+name, p.(map[string]any))
			}
		}
		if items, ok := s["items"].(map[string]any); ok {
			assert.Equal(t, "array", s["type"], path)
			walk(path+"[]", items)
		}
	}
	for _, v := range Variants() {
		var s map[string]any
		require.NoError(t, json.Unmarshal(v.Schema, &s))
		require.Contains(t, s, "properties", v.Name)
		walk(v.Name, s)
	}
	i := slices.IndexFunc(Variants(), func(v Variant) bool { return v.Name == "key_down" })
	assert.Contains(t, string(Variants()[i].Schema), `"enum":["enter","tab"`)
	assert.NotContains(t, string(Variants()[1].Schema), `"f5"`, "modifiers of a click")
}
