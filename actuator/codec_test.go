package actuator

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator/actuatortest"
)

// samples returns an action of every variant, with every field set.
func samples(t *testing.T) (list []Action) {
	t.Helper()
	for _, v := range Variants() {
		fields, err := actuatortest.Fill(v.Schema)
		require.NoError(t, err, v.Name)
		a, err := Decode(v.Name, fields)
		require.NoError(t, err, v.Name)
		list = append(list, a)
	}
	return list
}

// TestVariantsComplete reads the declarations: a type that has the methods of an
// action and is missing from the table would not be read from a journal, and no
// model could call it.
func TestVariantsComplete(t *testing.T) {
	listed := map[string]bool{}
	for _, v := range variants() {
		listed[v.kind.Name()] = true
		assert.NotEmpty(t, v.Description, v.Name)
	}
	sources, err := filepath.Glob("*.go")
	require.NoError(t, err)
	assert.Empty(t, unlisted(t, listed, sources...))
	assert.Equal(t, []string{"Clutch", "Confer", "Nudge"}, unlisted(t, listed, append(sources, newActions)...), "where the table lacks a row")
}

// newActions declares three actions that there are not; see TestNewAction at the
// root of the module.
const newActions = "testdata/newaction/complete.go"

// unlisted returns the actions that source files declare and a list lacks.
func unlisted(t *testing.T, listed map[string]bool, sources ...string) (missing []string) {
	t.Helper()
	declared := 0
	for _, name := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name != "perform" || f.Recv == nil {
				continue
			}
			if of, ok := f.Recv.List[0].Type.(*ast.Ident); ok { // not *Device
				if declared++; !listed[of.Name] {
					missing = append(missing, of.Name)
				}
			}
		}
	}
	require.GreaterOrEqual(t, declared, len(listed))
	slices.Sort(missing)
	return missing
}

func TestMarshalRoundTrip(t *testing.T) {
	for _, a := range append(samples(t), Click{Button: Left, Count: 1}, Paste{}, Scroll{DY: 1}, Drag{Path: []Point{{X: 1, Y: 2}}, Button: Left}) {
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
		{"move", `{"at":{"x":12.0,"y":3e1}}`, Move{Point{X: 12, Y: 30}}},
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
