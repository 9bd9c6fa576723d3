package eventjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/planner"
	"desktop-agent/run"
)

// kinds reads from the source of package run which kinds of events there are: the
// results of the methods kind.
func kinds(t *testing.T) (list []string) {
	t.Helper()
	files, err := filepath.Glob("../*.go")
	require.NoError(t, err)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "kind" {
				continue
			}
			value := f.Body.List[0].(*ast.ReturnStmt).Results[0].(*ast.BasicLit).Value
			kind, err := strconv.Unquote(value)
			require.NoError(t, err)
			list = append(list, kind)
		}
	}
	return list
}

// decode makes an event of a line.
func decode(line []byte) (run.Event, error) {
	l, err := Parse(line)
	if err != nil {
		return run.Event{}, err
	}
	return l.Event()
}

func TestEveryKindHasAForm(t *testing.T) {
	assert.ElementsMatch(t, kinds(t), Kinds())
	for kind, blank := range forms {
		data := blank().Data()
		assert.Equal(t, kind, run.Kind(data), "the kind of %T", data)
		back, err := FormOf(data)
		require.NoError(t, err)
		assert.IsType(t, blank(), back)
	}
	_, err := FormOf(nil)
	assert.Error(t, err)
}

// A filler sets everything that it is given to values that are not zero, of which
// no two are the same.
type filler struct {
	n     int
	plans int  // around what is filled
	sub   bool // one step has a plan: a further one would tell nothing new
}

func (f *filler) next() int { f.n++; return f.n }

func (f *filler) fill(v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = time.Unix(1e9+int64(f.next()), 123456789).UTC()
		return
	case *json.RawMessage:
		*x = fmt.Appendf(nil, `{"n":%d}`, f.next())
		return
	case *actuator.Action:
		*x = actuator.Click{At: &actuator.Point{X: f.next(), Y: f.next()}, Button: actuator.Right, Count: 2, Modifiers: []actuator.Key{"ctrl"}}
		return
	}
	switch v.Interface().(type) {
	case *planner.Plan, *plan:
		if f.plans > 0 && f.sub {
			return
		}
		f.sub = f.plans > 0
		f.plans++
		defer func() { f.plans-- }()
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("%d \"漢\" <&>\n", f.next()))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(f.next()))
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(uint64(f.next() % 251))
	case reflect.Float64:
		v.SetFloat(float64(f.next()) + 0.25)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"number": float64(f.next()), "list": []any{"text", true, nil}}))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			f.fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key)
			f.fill(value)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			f.fill(field)
		}
	default:
		panic("fill: " + v.Type().String())
	}
	switch x := v.Addr().Interface().(type) { // other versions are refused
	case *planner.Plan:
		x.Version = planner.Version
	case *plan:
		x.Version = planner.Version
	case *run.RunStarted:
		x.Schema = run.Schema
		x.Models = x.Settings.Models.Models() // what stands beside the settings is among them
		x.Settings.Agent.Planning, x.Settings.Agent.Format = x.Planning, x.Parser
	case *runStarted:
		x.Schema = run.Schema
	}
}

// event returns an event of a kind, with all but its data set.
func (f *filler) event(kind string) (e run.Event) {
	for v, i := reflect.ValueOf(&e).Elem(), 0; i < v.NumField(); i++ {
		if v.Type().Field(i).Name != "Data" {
			f.fill(v.Field(i))
		}
	}
	e.Kind = kind
	return e
}

// A field that an event, or anything that it holds, has and its form has not is
// lost on the way; one that two forms mix up comes back with another value.
func TestEveryFieldSurvives(t *testing.T) {
	for _, kind := range Kinds() {
		f := &filler{}
		want := f.event(kind)
		data := reflect.New(reflect.TypeOf(forms[kind]().Data())).Elem()
		f.fill(data)
		want.Data = data.Interface().(run.EventData)
		line, err := Encode(want)
		require.NoError(t, err)
		got, err := decode(line)
		require.NoError(t, err, "%s", line)
		assert.Empty(t, cmp.Diff(want, got), want.Kind)

		text, err := Marshal(want.Data)
		require.NoError(t, err)
		assert.Contains(t, string(line), string(text))
		back, err := Unmarshal(want.Kind, text)
		require.NoError(t, err)
		assert.Empty(t, cmp.Diff(want.Data, back), want.Kind)
	}
}

// What is nil, and what is there but empty, is written in two ways, and read back
// as what it was.
func TestEmptyAndMissing(t *testing.T) {
	for _, kind := range Kinds() {
		for _, set := range []bool{false, true} {
			v := reflect.New(reflect.TypeOf(forms[kind]().Data())).Elem()
			for i := range v.NumField() {
				switch f := v.Field(i); {
				case kind == "run_started" && v.Type().Field(i).Name == "Schema":
					f.SetInt(run.Schema)
				case kind == "run_started" && v.Type().Field(i).Name == "Settings" && set:
					f.Set(reflect.ValueOf(run.Settings{Like: &run.Demonstration{Steps: []string{}}, Models: run.ModelSettings{
						Roles: map[llm.Role]llm.Settings{}, Prices: llm.Prices{},
					}}))
				case set && f.Kind() == reflect.Slice && v.Type().Field(i).Name != "Params": // left out when empty
					f.Set(reflect.MakeSlice(f.Type(), 0, 0))
				case set && f.Kind() == reflect.Map:
					f.Set(reflect.MakeMap(f.Type()))
				case f.Type() == reflect.TypeFor[run.Recorded]():
					f.Set(reflect.ValueOf(run.Recorded{Action: actuator.Copy{}}))
				}
			}
			want := run.Event{Kind: kind, Data: v.Interface().(run.EventData)}
			line, err := Encode(want)
			require.NoError(t, err)
			got, err := decode(line)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(want, got), "%s", line)
		}
	}
}

// actions holds an action of every type.
func actions() []actuator.Action {
	p, text := actuator.Point{X: 12, Y: 30}, actuator.Secret("wörd \"<&>\"\n")
	e := actuator.Element{ID: "n39", Role: "push button", Name: "Delete"}
	return []actuator.Action{
		actuator.Move{At: p},
		actuator.Click{At: &p, Button: actuator.Right, Count: 2, Modifiers: []actuator.Key{"ctrl", "shift"}},
		actuator.ButtonDown{At: &p, Button: actuator.Left},
		actuator.ButtonUp{At: &p, Button: actuator.Middle},
		actuator.Drag{Path: []actuator.Point{p, {X: 40, Y: 50}}, Button: actuator.Left, Modifiers: []actuator.Key{"shift"}},
		actuator.Scroll{At: &p, DX: -2, DY: 5, Modifiers: []actuator.Key{"ctrl"}},
		actuator.Type{Text: text},
		actuator.Press{Keys: []actuator.Key{"ctrl", "s"}, Count: 3},
		actuator.KeyDown{Key: "alt"},
		actuator.KeyUp{Key: "alt"},
		actuator.Hold{Keys: []actuator.Key{"shift", "a"}, Milliseconds: 1500},
		actuator.Copy{},
		actuator.Paste{Text: &text},
		actuator.SetClipboard{Text: text},
		actuator.Wait{Milliseconds: 250},
		actuator.Zoom{Region: actuator.Region{X: 1, Y: 2, Width: 30, Height: 40}},
		actuator.Note{Text: "the total is 42"}, actuator.CallTool{Tool: "read_file", Arguments: `{"path":"a.txt"}`},
		actuator.Done{Answer: "it is 42"},
		actuator.Infeasible{Reason: "there is no such menu"},
		actuator.Ask{Question: "which one?"},
		actuator.Click{At: &actuator.Point{X: 793, Y: 466, Element: e}, Button: actuator.Left, Count: 1, Modifiers: []actuator.Key{}},
		actuator.Move{At: actuator.Point{Element: actuator.Element{ID: "n39"}}},
		actuator.Move{At: actuator.Point{X: 5, Y: 6, Element: actuator.Element{Role: "text"}}},
		actuator.Set{At: actuator.Point{X: 793, Y: 466, Element: e}, Text: text},
		actuator.WaitUntil{For: actuator.ElementSign, What: "n39", Gone: true, Milliseconds: 10_000, Element: e},
		actuator.WaitUntil{For: actuator.WindowSign, What: "Save As", Milliseconds: 1},
		actuator.WaitUntil{For: actuator.ElementSign, What: `button "Save"`, Milliseconds: 1},
	}
}

// TestSamples holds that there is a sample of each type of action, so that [TestGolden] has it.
func TestSamples(t *testing.T) {
	for _, v := range actuator.Variants() {
		t.Run(v.Name, func(t *testing.T) {
			if !slices.ContainsFunc(actions(), func(a actuator.Action) bool { return actuator.Name(a) == v.Name }) {
				t.Errorf("the golden file does not know %s: add a sample, and run TestGolden with -update", v.Name)
			}
		})
	}
}

// The golden file holds a line of each kind with every key, and one with each type
// of action. A key that is renamed, moved or left out changes what is written, and
// can make recorded runs unreadable: that takes a new schema.
func TestGolden(t *testing.T) {
	const name = "testdata/golden.jsonl"
	var list []run.Event
	for _, kind := range Kinds() {
		f := &filler{} // anew, so that another key changes one line
		form := forms[kind]()
		f.fill(reflect.ValueOf(form).Elem())
		list = append(list, run.Event{
			Seq: 7, Time: time.Unix(1e9, 5).UTC(), Step: 3, Agent: "clerk", Display: ":7", PlanStep: 2, Kind: kind, Data: form.Data(),
		})
	}
	all := run.Proposed{}
	for _, a := range actions() {
		all.Actions = append(all.Actions, run.Recorded{Action: a})
	}
	list = append(list, run.Event{Kind: "proposed", Data: all})
	var got bytes.Buffer
	for _, e := range list {
		line, err := Encode(e)
		require.NoError(t, err)
		got.Write(line)
	}
	if llmtest.Updating() {
		require.NoError(t, os.WriteFile(name, got.Bytes(), 0o600))
	}
	want, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, string(want), got.String())
	n := 0
	for line := range bytes.Lines(want) {
		e, err := decode(line)
		require.NoError(t, err)
		assert.Empty(t, cmp.Diff(list[n], e))
		n++
	}
	assert.Len(t, list, n)
}

// What was recorded is written again byte for byte, but for what chains the lines.
func TestRecordedRuns(t *testing.T) {
	for pattern, runs := range map[string]int{ // at least
		"../../cmd/desktop-agent/demo/run":       1,
		"../../replay/replaytest/testdata/*/run": 5,
		"../../suites/desktop/operator/*/*/*/*":  7,
	} {
		dirs, err := filepath.Glob(pattern)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, len(dirs), runs, pattern)
		for _, dir := range dirs {
			data, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
			require.NoError(t, err)
			require.NotEmpty(t, data)
			for line := range bytes.Lines(data) {
				l, err := Parse(line)
				require.NoError(t, err, dir)
				e, err := l.Event()
				require.NoError(t, err, dir)
				again, err := Encode(e)
				require.NoError(t, err)
				again, err = Link(again, l.Files, l.Prev)
				require.NoError(t, err)
				// A plan of version 1 is one of version 2.
				line = bytes.ReplaceAll(line, []byte(`"plan":{"version":1,`), []byte(`"plan":{"version":2,`))
				require.Equal(t, string(line), string(again), dir)
			}
		}
	}
}

// TestRefuses holds that what is not of this form is refused with what is wrong: other kinds
// and keys, a journal or a plan of another version.
func TestRefuses(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"another kind", `{"kind":"danced","data":{}}`, `unknown kind of event "danced": it is one of acted, acting,`},
		{"another key of the line", `{"mood":1,"kind":"acted","data":{}}`, `unknown field "mood"`},
		{"another key", `{"kind":"acted","data":{"mood":1}}`, `acted: json: unknown field "mood"`},
		{"another key low", `{"kind":"observed","data":{"windows":[{"mood":1}]}}`, `unknown field "mood"`},
		{"another key of a rectangle", `{"kind":"observed","data":{"windows":[{"box":{"Min":{"Z":1}}}]}}`, `unknown field "Z"`},
		{"another action", `{"kind":"acting","data":{"action":{"action":"fly"}}}`, "acting: "},
		{"a key of an action", `{"kind":"acting","data":{"action":{"action":"copy","what":"x"}}}`, "what"},
		{"two values", `{"kind":"acted","data":{}} {}`, "after top-level value"},
		{"no data", `{"kind":"acted"}`, "acted: "},
		{"an older schema", `{"kind":"run_started","data":{"schema":1,"old":1}}`, "journal schema 1, older than schema 2"},
		{"a newer schema", `{"kind":"run_started","data":{"schema":3,"new":1}}`, "journal schema 3, newer than schema 2"},
		{"no schema", `{"kind":"run_started","data":{}}`, "journal schema 0: it must be 2"},
		{"a plan of a later version", `{"kind":"planned","data":{"plan":{"version":3,"tasks":["x"]}}}`, "version 3 is not known; this program reads versions 1 to 2"},
		{"a plan without a version", `{"kind":"planned","data":{"plan":{"task":"x"}}}`, `"version" is missing`},
		{"another key of a plan", `{"kind":"planned","data":{"plan":{"version":1,"stepz":[]}}}`, `unknown field "stepz"`},
		{"another key of a step", `{"kind":"planned","data":{"plan":{"version":1,"steps":[{"done-when":"x"}]}}}`, `unknown field "done-when"`},
		{"a plan of a wrong type", `{"kind":"planned","data":{"plan":{"version":1,"steps":[{"goal":7}]}}}`, "goal"},
		{"a plan that is no object", `{"kind":"planned","data":{"plan":[1]}}`, "plan: "},
	} {
		_, err := decode([]byte(tt.line))
		assert.ErrorContains(t, err, tt.want, tt.name)
	}
	e, err := decode([]byte(`{"kind":"planned","data":{"plan":null}}`))
	require.NoError(t, err)
	assert.Nil(t, e.Data.(run.Planned).Plan)
}

// TestUnreadKeys holds that what earlier builds of this schema wrote can be read, as an event
// without it, and that nothing beside that can.
func TestUnreadKeys(t *testing.T) {
	const filed, started = `{"kind":"filed","data":{"error":"e"%s}}`, `{"kind":"run_started","data":{"schema":2,"settings":{"execution":{"mode":"parallel"%s}}}}`
	for _, tt := range []struct{ form, key, refused string }{
		{filed, `,"frame_id":"f0001"`, `,"frame_ids":"f0001"`},
		{started, `,"failure_rate":0.5`, `,"failure_rates":0.5`},
		{started, `,"decompose":true`, `,"decomposed":true`},
		{started, `,"decompose_depth":2`, `,"depth":2`},
	} {
		want, err := decode(fmt.Appendf(nil, tt.form, ""))
		require.NoError(t, err)
		got, err := decode(fmt.Appendf(nil, tt.form, tt.key))
		require.NoError(t, err, tt.key)
		assert.Equal(t, want, got, tt.key)
		wanted, err := Encode(want)
		require.NoError(t, err)
		again, err := Encode(got)
		require.NoError(t, err)
		assert.Equal(t, string(wanted), string(again), tt.key)
		_, err = decode(fmt.Appendf(nil, tt.form, tt.refused))
		assert.ErrorContains(t, err, "unknown field", tt.refused)
	}
}

// Whatever can be read can be written, and is then read as the same.
func FuzzDecode(f *testing.F) {
	golden, err := os.ReadFile("testdata/golden.jsonl")
	require.NoError(f, err)
	for line := range bytes.Lines(golden) {
		f.Add(line)
	}
	f.Add([]byte(`{"kind":"planned","data":{"plan":{"version":1,"steps":[{"id":"s1","evidence":{}}],"revisions":[{"changes":[{}]}]}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := decode(line)
		if err != nil {
			return
		}
		again, err := Encode(e)
		if err != nil {
			return // such as a year that JSON has no form for
		}
		back, err := decode(again)
		require.NoError(t, err)
		third, err := Encode(back)
		require.NoError(t, err)
		assert.Equal(t, string(again), string(third))
	})
}
