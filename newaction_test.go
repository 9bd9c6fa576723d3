package desktopagent_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
)

// TestNewAction adds actions to a copy of the program and holds that each place
// that must know an action says so: the compiler where package actuator cannot do
// without, and [TestEveryAction] for the rest. The copy is an overlay of a few
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
		out := goTool(t, "test", "complete.go", []string{"variantOf[Ask]", rows + "variantOf[Ask]"},
			"-vet=off", "-run", "^(TestEveryAction|TestSamples)$/^(nudge|clutch|confer)$", ".", "./actuator", "./actuator/dialect", "./actuator/native")
		found := map[string][]string{}
		for _, m := range regexp.MustCompile(`(?m)^\s+\w+_test.go:\d+: (.+) does not know (\w+): (.*)$`).FindAllStringSubmatch(out, -1) {
			found[m[2]] = append(found[m[2]], m[1])
			t.Logf("%s: %s: %s", m[2], m[1], m[3])
		}
		assert.Equal(t, map[string][]string{
			"nudge":  {"the code form", "the guard", "the report", "the OSWorld layout", "each dialect", "each tool of a provider"},
			"clutch": {"the code form", "the guard", "the report", "the OSWorld layout", "each dialect", "each tool of a provider"},
			"confer": {"the code form", "the agent", "a replay by recorded replies", "a healed step", "the report", "the judge", "each dialect", "each tool of a provider"},
		}, found, "%s", out)
		assert.NotContains(t, out, harmlessUnknown)
		assert.Contains(t, out, "ok  \tdesktop-agent/actuator", "the device does what the methods say")
	})
}

// TestSwitches finds every type switch over actions, and holds that it has a
// default: what it makes of an action that it does not know is decided. Such a default
// panics, returns an error, or says on its line why it need not.
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
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		isAction := func(e ast.Expr) bool {
			switch e := e.(type) {
			case *ast.Ident:
				return file.Name.Name == "actuator" && types[e.Name]
			case *ast.SelectorExpr:
				of, ok := e.X.(*ast.Ident)
				return ok && of.Name == "actuator" && types[e.Sel.Name]
			}
			return false
		}
		ast.Inspect(file, func(n ast.Node) bool {
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
				if assert.NotNil(t, fallback, "%v: this switch over actions has no default", files.Position(s.Pos())) {
					assert.True(t, fails(fallback) || reasoned(files, file, fallback), "%v: an action that is not known is passed over: fail, or say why not on this line", files.Position(fallback.Pos()))
				}
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	assert.Positive(t, found)
	t.Logf("%d type switches over actions", found)
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

// reasoned reports whether a case has a comment on its line.
func reasoned(files *token.FileSet, file *ast.File, c *ast.CaseClause) bool {
	return slices.ContainsFunc(file.Comments, func(g *ast.CommentGroup) bool {
		return files.Position(g.Pos()).Line == files.Position(c.Colon).Line
	})
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
	flags := []string{command, "-overlay", write("overlay.json", overlay)}
	info, ok := debug.ReadBuildInfo()
	require.True(t, ok)
	for _, s := range info.Settings { // as this test was built, and GOFLAGS says more: the cache has the rest
		if slices.Contains([]string{"-race", "-tags", "-trimpath", "-cover"}, s.Key) {
			flags = append(flags, s.Key+"="+s.Value)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", append(flags, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.Error(t, cmd.Run(), "nothing fails: %s", out.String())
	return out.String()
}
