package desktopagent_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
)

// everyAction has each place named that must know an action and compiles without.
const everyAction = "go test -run 'TestEveryAction|TestSamples' . ./actuator ./actuator/dialect ./actuator/native ./run ./run/eventjson ./cmd/desktop-agent"

// TestEveryActionIsTold holds that who adds an action reads this command.
func TestEveryActionIsTold(t *testing.T) {
	for _, name := range []string{"doc.go", "docs/architecture.md"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		words := strings.Fields(strings.ReplaceAll(string(text), "//", " "))
		assert.Contains(t, strings.Join(words, " "), everyAction, name)
	}
}

// TestNewAction adds actions to a copy of the program and holds that each place
// that must know an action says so: the compiler where package actuator cannot do
// without, and [everyAction] for the rest. The copy is an overlay of a few
// files, so what does not depend on them is built once for this test and the
// others.
func TestNewAction(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds most of the program anew")
	}
	t.Run("compiler", func(t *testing.T) {
		out := goTool(t, "build", "incomplete.go", nil, "-gcflags=-e", "./actuator")
		for _, lacks := range []string{
			"missing method check", "missing method describe", "missing method perform",
			"too few values in struct literal of type traits", "not enough arguments in call to variantOf",
		} {
			assert.Contains(t, out, lacks)
		}
		t.Log(out)
	})
	t.Run("places", func(t *testing.T) {
		rows := `variantOf[Nudge](traits{Input, seen, anywhere, same}, "nudge", "Nudge it."),
		variantOf[Clutch](traits{Input, unseen, focused, down}, "clutch", "Hold it."),
		variantOf[Confer](traits{Question, unseen, anywhere, same}, "confer", "Talk about it."),
		`
		tests, packages, ok := strings.Cut(strings.TrimPrefix(everyAction, "go test -run '"), "' ")
		require.True(t, ok)
		args := append([]string{"-vet=off", "-run", "(" + tests + ")/^(nudge|clutch|confer)$"}, strings.Fields(packages)...)
		out := goTool(t, "test", "complete.go", []string{"variantOf[Ask]", rows + "variantOf[Ask]"}, args...)
		found := map[string][]string{}
		for _, m := range regexp.MustCompile(`(?m)^\s+\w+_test.go:\d+: (.+) does not know (\w+): (.*)$`).FindAllStringSubmatch(out, -1) {
			found[m[2]] = append(found[m[2]], m[1])
			t.Logf("%s: %s: %s", m[2], m[1], m[3])
		}
		assert.Equal(t, map[string][]string{
			"nudge":  {"the code form", "the guard", "the report", "the OSWorld layout", "the table as it is meant", "the input that a window gets", "each dialect", "each tool of a provider", "the golden file"},
			"clutch": {"the code form", "the guard", "the report", "the OSWorld layout", "the table as it is meant", "the input that a window gets", "each dialect", "each tool of a provider", "the golden file"},
			"confer": {"the code form", "the agent", "a replay by recorded replies", "a healed step", "the report", "the judge", "the table as it is meant", "each dialect", "each tool of a provider", "the golden file"},
		}, found, "%s", out)
		assert.NotContains(t, out, harmlessUnknown)
		assert.NotContains(t, out, "no tests to run")
		assert.NotContains(t, out, "--- FAIL: TestEveryActionOnADevice", "the device does what the methods say")
		assert.Contains(t, out, "ok  \tdesktop-agent/run", "the devices of a live desktop give it on")
		assert.Contains(t, out, "ok  \tdesktop-agent/cmd/desktop-agent", "a person reads what the methods say")
	})
}

// passedOver lists the switches over actions that neither panic nor make an error for one
// that they do not know, by their file and the declaration they are in, and why they need not.
var passedOver = map[string]string{
	"actuator/dialect/dialect.go:concluded":     "it stays as it is, as nothing of it is left out",
	"actuator/dialect/dialect.go:words":         "the text that an action enters is found by its fields",
	"actuator/dialect/glm.go:sayGLM":            "it is said that the form has no words for it",
	"actuator/dialect/holo.go:sayHolo":          "it is said that the form has no words for it",
	"actuator/dialect/opencua.go:sayPython":     "it is said that the form has no words for it",
	"actuator/dialect/qwen.go:sayQwen":          "it is said that the form has no words for it",
	"actuator/dialect/seed.go:seed":             "it is said as UI-TARS says it, or not",
	"actuator/dialect/uitars.go:sayUITars":      "it is said that the form has no words for it",
	"actuator/ground/read.go:clicked":           "an answer that does anything else is no place, which is an error",
	"actuator/native/anthropic.go:sayAnthropic": "it is said that the tool has no words for it",
	"actuator/native/gemini.go:sayGemini":       "it is said that the tool has no words for it",
	"actuator/native/openai.go:sayOpenAI":       "it is said that the tool has no words for it",
	"actuator/native/openai.go:withKeys":        "keys are pressed before it and let go after it",
	"guard/classify.go:classify":                "the world model is asked",
	"guard/reading.go:lineAfter":                "the line is unread then, which the guard does not take for harmless",
	"guard/scene.go:aimed":                      "its place is found by the types of its fields",
	"guard/scene.go:focused":                    "where the focus is then is not known, and said so",
	"guard/scene.go:partly":                     "its places are found by the types of its fields",
	"replay/macro/heal.go:take":                 "one for the agent is refused with the reason; one for the desktop goes by the hand",
	"replay/report/marks.go:draw":               "the page says that it is not drawn",
	"run/desktop.go:Do":                         "the device refuses what it does not know",
	"run/target.go:usesElement":                 "it is not done on what is disabled",
}

// asserted lists the type assertions on actions, by their file, the declaration they are in and
// the type: each passes over an action that it does not know, and why it may.
var asserted = map[string]string{
	"actuator/click.go:Clicked ButtonUp":              "what clicks is told here",
	"actuator/click.go:Clicked Click":                 "what clicks is told here",
	"actuator/click.go:PointerAfter Set":              "it alone has a point and moves no pointer",
	"actuator/click.go:PressedAt ButtonDown":          "a click and a drag let go what they press",
	"actuator/click.go:Pushed ButtonDown":             "what presses a button is told here; a drag goes elsewhere",
	"actuator/click.go:Pushed Click":                  "what presses a button is told here; a drag goes elsewhere",
	"actuator/dialect/dialect.go:Plain Type":          "only what is typed has Enter in it",
	"actuator/dialect/vocabulary.go:write Infeasible": "a form says its reason as a thought",
	"actuator/native/native.go:offGrid Zoom":          "its region is no point; points are moved by their type",
	"actuator/pyautogui/parser.go:ended Wait":         "its form has a word for it that may end a reply",
	"actuator/toolcall/toolcall.go:parse Type":        "only what is typed has Enter in it",
	"actuator/traits.go:Silent Press":                 "only a press is a whole shortcut",
	"agent/act.go:awaited WaitUntil":                  "only it waits for a window",
	"agent/act.go:focuses Click":                      "a button that comes up is not expected to show anything",
	"agent/act.go:focuses Type":                       "another action shows whether it had the focus",
	"agent/act.go:perform Note":                       "only it gives a fact to keep",
	"agent/deeds.go:chordOf KeyUp":                    "a key that is let go presses nothing",
	"agent/deeds.go:deedOf SetClipboard":              "its text goes into no document",
	"agent/episode.go:closed Done":                    "only it has an answer",
	"agent/episode.go:closed Note":                    "only it gives a fact to keep",
	"agent/review.go:endsWithDone Done":               "only it claims that the task is done",
	"guard/classify.go:class CallTool":                "what a tool reaches the screen does not tell",
	"guard/gates.go:gates CallTool":                   "only a tool is held back by its name",
	"guard/guard.go:named CallTool":                   "only a tool has a name in a verdict",
	"guard/keys.go:enter Press":                       "a key that is held or repeated enters more than a line",
	"guard/rehearse.go:holdBack CallTool":             "only a tool has an effect outside the desktop",
	"guard/resume.go:Doubt CallTool":                  "a tool may have done it, whatever the table says",
	"guard/resume.go:signOf CallTool":                 "a tool is known by its name and arguments",
	"guard/scene.go:sceneOf Click":                    "only for a click does it matter which keys are held",
	"monitor/stuck.go:leaves Press":                   "what enters a character leaves it",
	"replay/export/collect.go:press KeyUp":            "a key that is let go writes nothing",
	"replay/export/pixels.go:movesFocus Press":        "only a whole shortcut selects all",
	"replay/export/scene.go:mark Click":               "only it has a count, which is drawn",
	"replay/export/scene.go:mark Scroll":              "only it has a direction without a point",
	"replay/macro/hold.go:missing KeyUp":              "a drag begins anew where its button went down",
	"replay/offline/reader.go:zooms Zoom":             "only it looks at the last frame's pixels",
	"replay/record/gesture.go:actions Press":          "a recording is made of these itself",
	"replay/record/gesture.go:actions Type":           "a recording is made of these itself",
	"replay/record/gesture.go:buttonDown Click":       "a recording is made of these itself",
	"replay/record/gesture.go:buttonUp Click":         "a recording is made of these itself",
	"replay/record/gesture.go:shortcut Press":         "a recording is made of these itself",
	"replay/record/gesture.go:turn Scroll":            "a recording is made of these itself",
	"replay/record/session.go:dropInterrupt Press":    "a recording is made of these itself",
	"run/begun.go:deed CallTool":                      "only calls of tools are counted there",
	"run/begun.go:effectOf CallTool":                  "only a tool declares its effect",
	"run/begun.go:owners CallTool":                    "only a tool is named by a step",
	"run/desktop.go:Surprise ButtonUp":                "what went down must come up, whatever has opened meanwhile",
	"run/hand.go:effect CallTool":                     "only a tool declares its effect",
	"run/hand.go:perform CallTool":                    "only a tool goes to the toolbox; the device refuses what it does not know",
	"run/resume.go:Do CallTool":                       "a device of tools is given nothing else, and panics",
	"run/resume.go:typedSecret Type":                  "a secret is filled into nothing else",
	"run/secret.go:fill Type":                         "a secret is refused in all else that enters text",
	"run/target.go:Name WaitUntil":                    "only it names an element that may not be there yet",
}

// TestSwitches finds every type switch over actions, and holds that it decides what becomes
// of an action that it does not know: its default panics or makes an error, or it is listed
// with the reason why it need not. So is every type assertion on an action.
func TestSwitches(t *testing.T) {
	types := map[string]bool{}
	for _, v := range actuator.Variants() {
		var name strings.Builder
		for word := range strings.SplitSeq(v.Name, "_") {
			name.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
		types[name.String()] = true
	}
	require.True(t, types["ButtonDown"])
	files := token.NewFileSet()
	found := 0
	var passing []string
	asserting := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		actionOf := func(e ast.Expr) string { // "" if it is none
			switch e := e.(type) {
			case *ast.Ident:
				if file.Name.Name == "actuator" && types[e.Name] {
					return e.Name
				}
			case *ast.SelectorExpr:
				if of, ok := e.X.(*ast.Ident); ok && of.Name == "actuator" && types[e.Sel.Name] {
					return e.Sel.Name
				}
			}
			return ""
		}
		isAction := func(e ast.Expr) bool { return actionOf(e) != "" }
		for _, decl := range file.Decls {
			ast.Inspect(decl, func(n ast.Node) bool {
				if a, ok := n.(*ast.TypeAssertExpr); ok && isAction(a.Type) {
					asserting[filepath.ToSlash(path)+":"+declared(decl)+" "+actionOf(a.Type)] = true
				}
				s, ok := n.(*ast.TypeSwitchStmt)
				if !ok {
					return true
				}
				actions := false
				var fallback *ast.CaseClause
				for _, c := range s.Body.List {
					list := c.(*ast.CaseClause).List
					actions = actions || slices.ContainsFunc(list, isAction)
					if list == nil {
						fallback = c.(*ast.CaseClause)
					}
				}
				if actions {
					found++
					if assert.NotNil(t, fallback, "%v: this switch over actions has no default", files.Position(s.Pos())) && !fails(fallback) {
						passing = append(passing, filepath.ToSlash(path)+":"+declared(decl))
					}
				}
				return true
			})
		}
		return nil
	})
	require.NoError(t, err)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(passedOver)), passing,
		"an action that is not known is passed over: fail, or list the switch with the reason why it need not")
	assert.ElementsMatch(t, slices.Collect(maps.Keys(asserted)), slices.Collect(maps.Keys(asserting)),
		"an assertion passes over any other action that does the same, as a button that comes up clicks: ask package actuator, or list it with the reason")
	for _, list := range []map[string]string{passedOver, asserted} {
		for where, why := range list {
			assert.NotEmpty(t, why, where)
		}
	}
	t.Logf("%d type switches over actions, %d type assertions", found, len(asserting))
}

// declared is the name of what a declaration declares first.
func declared(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Name.Name
	case *ast.GenDecl:
		if v, ok := d.Specs[0].(*ast.ValueSpec); ok {
			return v.Names[0].Name
		}
	}
	return ""
}

// fails reports whether a case of a switch panics or makes an error.
func fails(c *ast.CaseClause) (found bool) {
	ast.Inspect(c, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			switch f := call.Fun.(type) {
			case *ast.Ident:
				found = found || f.Name == "panic"
			case *ast.SelectorExpr:
				of, _ := f.X.(*ast.Ident)
				found = found || of != nil && (of.Name == "fmt" && f.Sel.Name == "Errorf" || of.Name == "errors" && f.Sel.Name == "New")
			}
		}
		return true
	})
	return found
}

// goTool runs the go command on the program with a file of
// actuator/testdata/newaction in package actuator, and with replacements in its
// table of actions. It returns what the command prints; the command must fail.
func goTool(t *testing.T, command, file string, replace []string, args ...string) string {
	t.Helper()
	dir, err := filepath.Abs("actuator")
	require.NoError(t, err)
	table, err := os.ReadFile(filepath.Join(dir, "variant.go"))
	require.NoError(t, err)
	changed := strings.NewReplacer(replace...).Replace(string(table))
	require.Equal(t, len(replace) > 0, changed != string(table), "the table has a row of Ask")
	temp := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(temp, name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		return path
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(dir, "new_action.go"): filepath.Join(dir, "testdata", "newaction", file),
		filepath.Join(dir, "variant.go"):    write("variant.go", []byte(changed)),
	}})
	require.NoError(t, err)
	flags := append([]string{command, "-overlay", write("overlay.json", overlay)}, buildFlags(t)...)
	cmd := exec.CommandContext(t.Context(), "go", append(flags, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.Error(t, cmd.Run(), "nothing fails: %s", out.String())
	return out.String()
}
