package desktopagent_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/run"
	"desktop-agent/tools"
)

const module = "desktop-agent/"

// A rule says what packages may import of this module, and why.
type rule struct {
	packages string // a package, or a folder with all below it: "tasks/osworld/metric/..."
	imports  string // the same, separated by spaces
	tests    string // what their tests may import besides
	why      string
}

// layers names the packages below the agent, which tests may use together.
const layers = "actuator/... seat screen/... sandbox llm/... planner worldmodel monitor run/... internal/..."

// rules has one rule for each package: its own, or that of the nearest folder. A package may
// always import what lies in its own folder or below.
var rules = []rule{
	{"internal/...", "", "sandbox", "anybody may use them, so they know nobody"},

	{"internal/npmtest", "", "", "programs of the npm registry, for tests"},
	{"internal/webpage/webpagetest", "", "", "our own pages in a real browser, for tests"},
	{"internal/x11/x11test", "internal/x11", "", "the hands of a person and of a program, and which server is which, for tests"},

	{"actuator", "internal/spell internal/x11 internal/permit internal/process", "sandbox internal/...", "an action knows no desktop; only the device needs a permit"},
	{"actuator/actuatortest", "actuator", "", "examples of every action"},
	{"actuator/eventwin", "internal/x11", "sandbox", "a window that records input, whoever sends it"},
	{"actuator/dialect", "actuator actuator/pyautogui internal/spell", "screen", "the forms of models, one of which is code"},
	{"actuator/ground", "actuator actuator/dialect internal/spell", "", "where something is on a picture, in the forms of models: of the dialects' building blocks"},
	{"actuator/native", "actuator actuator/dialect actuator/toolcall", "", "the tools of providers: calls in words of their own, of the dialects' building blocks"},
	{"actuator/...", "actuator internal/spell", "", "what a model writes becomes actions, and nothing is performed here"},
	{"seat", "internal/x11", "sandbox internal/...", "who acts on a display, whatever is done there"},
	{"screen", "internal/x11 internal/process", "sandbox internal/...", "it looks, and knows neither actions nor models"},
	{"screen/ocr", "screen internal/child", "screen/atspi sandbox internal/x11 internal/x11/x11test", "text from a picture, by a program of its own: whoever looks need not know which"},
	{"screen/atspi", "internal/bus internal/permit internal/process", "internal/x11 internal/x11/x11test sandbox", "the accessibility tree, apart from pictures; to set an element takes a permit"},
	{"screen/eyestest", "", "screen screen/atspi screen/ocr sandbox internal/x11 internal/x11/x11test internal/webpage/webpagetest", "it judges what the screen says, by others than those who say it"},
	{"sandbox", "internal/bus internal/x11 internal/seal", "internal/x11/x11test", "a desktop to start and to end, whoever works on it"},
	{"llm", "", "", "the port to models, which knows no model"},
	{"llm/wire", "llm internal/retry", "llm/llmtest", "what adapters have in common, which know their providers' forms"},
	{"llm/provider", "llm llm/... internal/spell", "internal/npmtest", "it opens the adapter that a table says"},
	{"llm/...", "llm llm/wire internal/retry", "llm/llmtest internal/npmtest", "an adapter or a fake behind that port"},

	{"planner", "screen screen/atspi llm internal/canon internal/spell internal/within", "screen/...  llm/...", "a plan advises: it knows no actions, but what is a control and what a text"},
	{"planner/planfile", "planner internal/spell", "llm", "a plan as a file of a person's"},
	{"worldmodel/lexicon", "worldmodel", "", "what words on a desktop mean, for whoever judges by them"},
	{"worldmodel", "actuator screen screen/atspi planner llm", layers, "what came of an action, and what is shown"},
	{"monitor", "actuator screen screen/atspi planner worldmodel llm", layers, "whether a run gets anywhere"},

	{"run", "actuator actuator/dialect actuator/native seat screen screen/atspi screen/ocr sandbox llm planner worldmodel monitor internal/permit internal/shlex internal/within", layers,
		"what a run is; the guard is met through an interface, the journal too"},
	{"run/eventjson", "run actuator screen screen/atspi llm planner worldmodel monitor", layers, "the form on disk of all that an event holds"},
	{"run/runtest", "run screen screen/atspi actuator actuator/actuatortest", layers, "what tests of runs share"},
	{"guard", "run actuator screen screen/atspi worldmodel worldmodel/lexicon llm internal/canon internal/within", layers + " agent replay", "it allows and refuses by what a run is; the hand asks it, and knows it not"},
	{"agent", "run actuator actuator/dialect actuator/ground actuator/native actuator/pyautogui actuator/toolcall screen llm planner worldmodel worldmodel/lexicon monitor", layers, "the loop: it neither opens nor closes anything"},

	{"tools", "run actuator llm worldmodel internal/spell internal/child internal/within", layers + " guard", "what can be called, whoever calls it"},

	{"engine", "agent run actuator llm planner screen worldmodel internal/canon internal/confirm", layers + " guard tools", "it executes plans: the loop is an episode of it, tools are met through the hand"},

	{"replay", "run run/eventjson actuator screen screen/atspi llm planner internal/filelock", layers + " replay/report", "the journal knows events, and not who makes them"},
	{"replay/record", "run actuator screen monitor llm internal/x11", layers + " replay replay/macro", "a person acts here, and no agent"},
	{"replay/export", "replay replay/offline run run/eventjson actuator planner screen screen/atspi", layers + " replay/replaytest", "a run in other forms"},
	{"replay/report", "replay run run/eventjson actuator llm planner screen worldmodel internal/webpage", layers + " engine", "a run as a page; its test has an engine do one"},
	{"replay/replaytest", "replay replay/offline run screen llm/llmtest", layers + " agent replay/macro", "a test of a recorded run"},
	{"replay/offline", "replay agent engine tools run run/eventjson actuator llm monitor planner worldmodel screen screen/atspi", layers, "a run again by who did it: an agent, or an engine that executes a plan, with the facts that its tools keep"},
	{"replay/...", "replay agent run run/eventjson actuator llm monitor planner worldmodel screen screen/atspi internal/spell", layers, "a run again"},

	{"rehearsal", "agent guard run replay replay/report llm", layers + " replay/offline", "it has agents try a task, and knows nothing of what they do"},

	{"tasks", "", "", "what a task, its result and a metric are"},
	{"tasks/office/...", "tasks/office", "tasks", "the archives of office programs, below metrics and getters"},
	{"tasks/osworld/metric/difftest", "tasks tasks/osworld/evaluate", "", "all metrics, beside those of others"},
	{"tasks/osworld/defect/defecttest", "tasks tasks/osworld/defect", "", "lists of defects, held to the tests of their packages"},
	{"tasks/osworld/defect", "", "", "how a list of OSWorld's defects looks, whoever has one"},
	{"tasks/osworld/metric/...", "tasks tasks/office/... tasks/osworld/defect tasks/osworld/metric/fuzzy tasks/osworld/metric/rule", "tasks/osworld/defect/defecttest", "a metric compares what it is given, and looks at no computer"},
	{"tasks/env", "tasks run actuator actuator/pyautogui screen screen/atspi sandbox internal/...", "", "the computer of a task"},
	{"tasks/env/envtest", "tasks/env", "", "tests of others start computers too"},
	{"tasks/asset", "tasks tasks/env internal/retry", "", "what a task downloads"},
	{"tasks/osworld/setup", "tasks tasks/env tasks/asset tasks/osworld/defect screen sandbox internal/...", "tasks/env/envtest tasks/osworld/defect/defecttest", "it changes the computer of a task"},
	{"tasks/osworld/getter", "tasks tasks/env tasks/asset tasks/office/... tasks/osworld/defect screen internal/...", "tasks/osworld/metric/program tasks/osworld/defect/defecttest tasks/env/envtest", "it looks at the computer of a task, and judges nothing"},
	{"tasks/osworld/evaluate", "tasks tasks/env tasks/osworld/defect tasks/osworld/setup tasks/osworld/getter tasks/osworld/metric/...", "tasks/asset tasks/env/envtest", "getters and metrics together"},
	{"tasks/plant", "tasks tasks/env tasks/office tasks/osworld/setup screen internal/spell", "tasks/osworld/... tasks/env/envtest", "attacks and harm on the computer of a task, whoever works there"},
	{"tasks/osworld", "tasks tasks/env tasks/osworld/setup tasks/osworld/getter tasks/osworld/evaluate internal/spell", "", "OSWorld's files, read as tasks"},
	{"tasks/judge", "tasks replay run actuator llm screen", layers, "a model judges a run, from its journal alone"},
	{"tasks/bench", "tasks internal/filelock internal/child", "", "the queue knows trials, and not what is done in them"},
	{"tasks/bench/report", "tasks internal/webpage", "internal/webpage/webpagetest", "the report knows results alone"},
	{"tasks/trial", "tasks tasks/env tasks/osworld/defect tasks/osworld/setup tasks/osworld/getter tasks/osworld/evaluate tasks/judge tasks/plant tasks/osworld/metric/text agent engine guard run replay replay/report llm sandbox internal/regular", layers + " tasks/osworld tasks/asset tasks/env/envtest", "all of these, once"},

	{"suites/suitetest", "tasks tasks/env tasks/osworld tasks/trial", "", "the test of a suite"},
	{"suites/safety", "", "tasks tasks/osworld tasks/trial replay run llm llm/llmtest", "files, and models that fall for attacks"},
	{"suites/desktop", "", "actuator actuator/pyautogui guard llm llm/llmtest run replay/replaytest suites/suitetest tasks tasks/...", "files; its tests play its solutions through a guarded hand"},
	{"suites/...", "", "replay/replaytest suites/suitetest tasks tasks/bench tasks/osworld tasks/osworld/setup tasks/trial", "our own suite is files"},
	{"cmd/desktop-agent", "...", "...", "a command puts things together"},
	{"", "", "...", "tests of the whole module"},
}

// only lists packages that nobody may import but those named, with the reason.
var only = []struct{ packages, by, tests, why string }{
	{"internal/permit", "actuator run screen/atspi", "actuator screen/atspi", "who has a permit opens an input device or sets an element: nothing acts but by the hand of package run"},
	{"llm/openai", "llm/provider", "", "which adapter is asked, one table says"},
	{"llm/gemini", "llm/provider", "llm/gemini", "which adapter is asked, one table says"},
	{"llm/anthropic", "llm/provider", "llm/anthropic", "which adapter is asked, one table says"},
	{"llm/responses", "llm/provider", "...", "which adapter is asked, one table says; tests of whole runs play a provider"},
	{"actuator/actuatortest", "run/runtest", "...", "it is for tests, and runtest is of tests"},
	{"run/runtest", "", "...", "it is for tests"},
	{"tasks/env/envtest", "", "...", "it is for tests"},
	{"llm/llmtest", "replay/replaytest", "...", "it is for tests; replaytest makes tests"},
	{"github.com/go-vgo/robotgo/...", "actuator", "", "input goes by the device"},
	{"internal/x11/x11test", "", "...", "it is for tests"},
	{"internal/npmtest", "", "...", "it is for tests"},
	{"internal/webpage/webpagetest", "", "...", "it is for tests"},
	{"archive/zip", "tasks/office tasks/osworld/metric/difftest suites/desktop/generate", "...", "a stranger's archive is read within the bounds of tasks/office; the others read and write archives of our own"},
	{"github.com/jezek/xgb/xtest", "actuator internal/x11/x11test", "internal/x11 actuator/eventwin sandbox", "input goes by the device; tests below it send their own"},
	{"run/eventjson", "replay/... cmd/...", "...", "the form on disk is the journal's; whoever has events needs none"},
}

// A listed package is one as "go list -json" tells of it.
type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// packages returns those of the module as they are built in an environment.
func packages(t *testing.T, environment ...string) (list []listed) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Env = append(os.Environ(), environment...)
	out, err := cmd.Output()
	require.NoError(t, err)
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else {
			require.NoError(t, err)
		}
		list = append(list, p)
	}
}

// TestImports holds the rules: of all packages, of their tests too, as they are built
// here and as they are for Windows.
func TestImports(t *testing.T) {
	used := map[string]bool{}
	windows := packages(t, "GOOS=windows", "CGO_ENABLED=0", "GOFLAGS=") // the race detector needs cgo
	for _, p := range slices.Concat(packages(t), windows) {
		name := local(p.ImportPath)
		r := ruleOf(name)
		if !assert.NotNil(t, r, "package %q has no rule: say in deps_test.go what it may import, and why", name) {
			continue
		}
		used[r.packages] = true
		inTests := slices.Concat(p.TestImports, p.XTestImports)
		for _, problem := range append(forbidden(name, p.Imports, r.imports, false), forbidden(name, inTests, r.imports+" "+r.tests, true)...) {
			t.Error(problem + " (" + r.why + ")")
		}
	}
	for _, r := range rules {
		assert.True(t, used[r.packages], "no package has the rule of %q", r.packages)
		assert.NotEmpty(t, r.why, "the rule of %q has no reason", r.packages)
	}
	require.Greater(t, len(used), 30)
}

// aName finds the packages in a text of docs/architecture.md.
var aName = regexp.MustCompile("`([a-z0-9/-]+)`")

// TestImportsOnThePage holds that the table of docs/architecture.md says what the rules do: a
// row is of a folder with all below it that has no row, and so are the names in its last column,
// which are those that its rules let it import. What is below internal is told of after the table.
func TestImportsOnThePage(t *testing.T) {
	page, err := os.ReadFile("docs/architecture.md")
	require.NoError(t, err)
	_, text, ok := strings.Cut(string(page), "| package | is | may import |\n|---|---|---|\n")
	require.True(t, ok, "there is no table of packages")
	table, after, _ := strings.Cut(text, "\n\n")
	says := map[string][]string{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		require.Len(t, cells, 3, line)
		may := []string{}
		if cells[2] == "all" {
			may = append(may, ".") // the folder of all
		}
		for _, m := range aName.FindAllStringSubmatch(cells[2], -1) {
			may = append(may, m[1])
		}
		says[strings.Trim(cells[0], "`")] = may
	}
	rowOf := func(pattern string) string {
		row := strings.TrimSuffix(pattern, "/...")
		for says[row] == nil && row != "." {
			row = path.Dir(row)
		}
		return row
	}
	ruled := map[string][]string{}
	for _, r := range rules {
		if r.packages == "" || strings.HasPrefix(r.packages, "internal/") {
			continue
		}
		row := rowOf(r.packages)
		may := append([]string{}, ruled[row]...)
		for imports := range strings.FieldsSeq(r.imports) {
			if to := rowOf(imports); to != row && !strings.HasPrefix(imports, "internal/") && !slices.Contains(may, to) {
				may = append(may, to)
			}
		}
		ruled[row] = may
	}
	for row, may := range ruled {
		assert.ElementsMatch(t, may, says[row], "what %q may import, by its rules and by docs/architecture.md", row)
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(ruled)), slices.Collect(maps.Keys(says)), "packages with rules, and rows of docs/architecture.md")

	var told, there []string
	inner, _, _ := strings.Cut(after, "\n\n")
	for _, m := range regexp.MustCompile("\\("+aName.String()+"\\)").FindAllStringSubmatch(inner, -1) {
		told = append(told, m[1])
	}
	folders, err := os.ReadDir("internal")
	require.NoError(t, err)
	for _, f := range folders {
		there = append(there, f.Name())
	}
	assert.ElementsMatch(t, there, told, "packages below internal, and those that docs/architecture.md tells of")
}

// TestRulesRefuse holds that a rule does refuse: that of an import which does not
// fit, of a test that goes round the hand, and of a package without a rule.
func TestRulesRefuse(t *testing.T) {
	for _, tt := range []struct {
		name, imports string
		tests         bool
		want          string
	}{
		{"screen", "desktop-agent/actuator", false, "screen must not import actuator"},
		{"replay/macro", "desktop-agent/internal/permit", false, "replay/macro must not import internal/permit"},
		{"replay/macro", "desktop-agent/internal/permit", true, "who has a permit"},
		{"tasks/osworld/metric/text", "desktop-agent/tasks/env", true, "tests of tasks/osworld/metric/text must not import tasks/env"},
		{"replay/macro", "github.com/jezek/xgb/xtest", false, "input goes by the device"},
		{"tasks/osworld/metric/text", "archive/zip", false, "within the bounds of tasks/office"},
		{"agent", "desktop-agent/agent/inner", false, ""},
		{"agent", "fmt", false, ""},
	} {
		r := ruleOf(tt.name)
		require.NotNil(t, r)
		got := strings.Join(forbidden(tt.name, []string{tt.imports}, r.imports+" "+r.tests, tt.tests), "\n")
		if tt.want == "" {
			assert.Empty(t, got)
		}
		assert.Contains(t, got, tt.want)
	}
	assert.Nil(t, ruleOf("ghost"), "a package that is not there")
	assert.Equal(t, "replay/record", ruleOf("replay/record").packages, "its own rule counts")
}

// besideTheHand lists who can reach a desktop's programs by another way than input, which
// goes by the hand, and why that is no way round it.
var besideTheHand = []struct {
	way   string   // an import, names of a package, methods or fields of its types, or a field that is set
	files []string // and why, after a colon
}{
	{"xproto.SendEvent xproto.WarpPointer xproto.SetInputFocus", []string{
		"actuator/clipboard_linux.go: the device owns the clipboard, and answers who asks for its text",
		"actuator/eventwin/eventwin.go: a window of our own asks for the focus, and answers the ping of the window manager",
		"internal/x11/barrier.go: a program or the window manager is asked whether it has taken what was sent before",
		"tasks/env/windows_linux.go: set-up has the window manager bring a window to the front, or close it, as a pager does",
	}},
	{"github.com/godbus/dbus/v5", []string{
		"internal/bus/bus.go: it connects, and asks for addresses and processes; accessibility is switched on",
		"sandbox/bus_linux.go: a private desktop's own bus, before anybody acts on it",
		"sandbox/desktop_linux.go: a private desktop's own bus, before anybody acts on it",
		"screen/atspi/app.go: the tree is read",
		"screen/atspi/reader.go: the tree is read",
		"screen/atspi/set.go: an element is set, which takes a permit of the hand's",
		"tasks/osworld/getter/bus.go: the tree is read",
	}},
	{"desktop-agent/internal/devtools", []string{
		"tasks/osworld/getter/chrome.go: evaluation reads pages, and opens and closes some of its own",
		"tasks/osworld/getter/desktop.go: evaluation asks VLC for its state",
		"tasks/osworld/getter/html.go: evaluation reads pages",
		"tasks/osworld/getter/tabs.go: evaluation reads pages, and opens and closes some of its own",
		"tasks/osworld/setup/chrome.go: set-up opens and closes pages, as the task says",
	}},
	{"sandbox.Command", []string{
		"tasks/env/container_linux.go: a shell looks whether tasks can be kept apart, before anybody acts",
		"tasks/env/dial_linux.go: evaluation reaches a server of the task's computer by a relay",
		"tasks/env/lookout_linux.go: what the programs use is counted",
		"tasks/env/run_linux.go: a command of the task, which is refused if it is known to send input; what the programs that it starts do by themselves nobody can know",
	}},
	{"run.ExemptDoctor run.ExemptSetup run.Exemption", []string{
		"cmd/desktop-agent/doctor.go: the user asked for the check by name, and it acts in a window of its own",
		"run/eventjson/form.go: an event that tells of it is written and read",
		"tasks/env/gui_linux.go: a task's author wrote it, for the task's own computer",
	}},
	{"Exempt=", []string{
		"cmd/desktop-agent/doctor.go: as above",
		"run/eventjson/form.go: as above",
		"run/hand.go: an event tells of it",
		"run/part.go: another desktop of a run has what the run has",
		"tasks/env/gui_linux.go: as above",
	}},
	{"sandbox.Desktop.Open sandbox.Desktop.Launch", []string{
		"run/session.go: the program that the user names to begin with, before anybody acts",
		"sandbox/container_linux.go: what keeps a home apart, before anybody acts",
		"sandbox/launchers_linux.go: what a program of the desktop asks to have started, as a desktop environment does",
		"tasks/env/container_linux.go: as above",
		"tasks/env/dial_linux.go: as above",
		"tasks/env/lookout_linux.go: as above",
		"tasks/env/run_linux.go: as above",
	}},
	{"tools.Registry.Call tools.Registry.Do tools.Tool.Call run.Toolbox.Do", []string{
		"cmd/desktop-agent/tools.go: the user calls it by its name, and no model has a part in that",
		"run/hand.go: the hand itself, which the guard has answered",
		"run/resume.go: a hand of a run that is resumed: what the journal has no answer to is called",
		"tools/mcp.go: a server's tool is made one of the registry's",
		"tools/tool.go: a call that was checked is given on",
		"tools/toolbox.go: the hand's own way to them",
	}},
	{"exec.Command exec.CommandContext", []string{ // a program could send input by itself
		"actuator/watcher_linux.go: the device's own watcher, which lets go what is held when this program ends",
		"cmd/desktop-agent/plan_approve.go: the user's editor, at the user's wish",
		"guard/extract.go: pdftotext reads a document",
		"internal/npmtest/npmtest.go: for tests, npm and node",
		"llm/gemini/testdata/sdk/main.go: for tests, a module of its own, which asks go where a library is",
		"replay/export/video.go: ffmpeg makes a film of a run",
		"sandbox/container_linux.go: bubblewrap is tried",
		"sandbox/desktop_linux.go: find opens the folders of a desktop that is removed",
		"sandbox/launch_linux.go: what a private desktop is made of, and opens: its user or a task says which program",
		"sandbox/screen_linux.go: bubblewrap is tried",
		"sandbox/watchdog_linux.go: a shell removes a desktop whose program was killed",
		"screen/ocr/tesseract.go: tesseract reads a picture",
		"tasks/bench/local.go: workers, which are this program",
		"tasks/env/groups_linux.go: a shell writes to a control group",
		"tasks/osworld/metric/difftest/python.go: for tests, the reference's functions",
		"tasks/osworld/metric/media/run.go: programs that read pictures, sound and films",
		"tools/builtin.go: a tool that the user has offered by name, called by the hand",
		"tools/mcp.go: a server of tools that the user has named, whose calls go by the hand",
	}},
	{"run.NewHand", []string{
		"run/runtest/desktop.go: a suite for tests, whose devices are its own",
	}},
}

// aMethod is a method or a field of a type of a package.
var aMethod = regexp.MustCompile(`^\w+\.[A-Z]\w*\.\w+$`)

// TestBesideTheHand holds that nobody else does.
func TestBesideTheHand(t *testing.T) {
	t.Parallel()
	found := make([][]string, len(besideTheHand))
	var methods []string
	for _, b := range besideTheHand {
		for way := range strings.FieldsSeq(b.way) {
			if aMethod.MatchString(way) {
				methods = append(methods, way)
			}
		}
	}
	used := methodsUsed(t, methods)
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		uses := map[string]bool{}
		names := map[string]string{} // of packages, by what the file calls them
		for _, imp := range file.Imports {
			of := strings.Trim(imp.Path.Value, `"`)
			uses[of] = true
			called := path.Base(of)
			if imp.Name != nil {
				called = imp.Name.Name
			}
			names[called] = path.Base(of)
		}
		sets := func(field ast.Expr) {
			if f, ok := field.(*ast.SelectorExpr); ok {
				field = f.Sel
			}
			if name, ok := field.(*ast.Ident); ok {
				uses[name.Name+"="] = true
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if of, ok := n.X.(*ast.Ident); ok {
					uses[names[of.Name]+"."+strings.TrimSuffix(n.Sel.Name, "Checked")] = true
				}
			case *ast.KeyValueExpr:
				sets(n.Key)
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					sets(to)
				}
			}
			return true
		})
		for i, b := range besideTheHand {
			if slices.ContainsFunc(strings.Fields(b.way), func(way string) bool { return uses[way] || slices.Contains(used[way], filepath.ToSlash(name)) }) {
				found[i] = append(found[i], filepath.ToSlash(name))
			}
		}
		return nil
	})
	require.NoError(t, err)
	for i, b := range besideTheHand {
		var listed []string
		for _, f := range b.files {
			name, why, _ := strings.Cut(f, ": ")
			assert.NotEmpty(t, why, name)
			listed = append(listed, name)
		}
		assert.ElementsMatch(t, listed, found[i], "%s: what acts on a desktop goes by run.Hand and its guard; list what does not, with the reason", b.way)
	}
}

// TestHandGivesNothingAway holds that who has a hand or a session gets at neither its device
// nor its tools: no exported field, and no result of a method, is one.
func TestHandGivesNothingAway(t *testing.T) {
	kept := []reflect.Type{reflect.TypeFor[run.Device](), reflect.TypeFor[run.Toolbox]()}
	check := func(what string, of reflect.Type) {
		for _, k := range kept {
			assert.False(t, of.Implements(k) || reflect.PointerTo(of).Implements(k), "%s can act past the guard: it is a %v", what, k)
		}
	}
	for _, holder := range []reflect.Type{reflect.TypeFor[run.Hand](), reflect.TypeFor[run.Session](), reflect.TypeFor[run.Act]()} {
		for _, f := range reflect.VisibleFields(holder) {
			if f.IsExported() {
				check(holder.Name()+"."+f.Name, f.Type)
			}
		}
		for m := range reflect.PointerTo(holder).Methods() {
			for out := range m.Type.Outs() {
				check(holder.Name()+"."+m.Name, out)
			}
		}
	}
	assert.True(t, reflect.TypeFor[*tools.Registry]().Implements(kept[1]), "such a field would be seen")
}

// forbidden says which imports of a package its rule does not allow.
func forbidden(name string, imports []string, allowed string, tests bool) (problems []string) {
	who := name
	if tests {
		who = "tests of " + name
	}
	seen := map[string]bool{}
	for _, imp := range imports {
		if to := local(imp); !fits(to, name+"/...") {
			seen[to] = strings.HasPrefix(imp, module)
		}
	}
	for _, to := range slices.Sorted(maps.Keys(seen)) {
		if ours := seen[to]; ours && !anyFits(to, allowed) {
			problems = append(problems, who+" must not import "+to)
		}
		for _, o := range only {
			by := o.by
			if tests {
				by += " " + o.tests
			}
			if fits(to, o.packages) && !anyFits(name, by) {
				problems = append(problems, who+" must not import "+to+": "+o.why)
			}
		}
	}
	return problems
}

// ruleOf returns the rule of a package: its own, or that of the nearest folder
// above it; nil if there is none.
func ruleOf(name string) *rule {
	for folder, pattern := name, name; ; folder, pattern = path.Dir(folder), path.Dir(folder)+"/..." {
		if i := slices.IndexFunc(rules, func(r rule) bool { return r.packages == pattern || r.packages == folder+"/..." }); i >= 0 {
			return &rules[i]
		}
		if folder == "." || folder == "" {
			return nil
		}
	}
}

// anyFits reports whether a package fits one of several patterns.
func anyFits(name, patterns string) bool {
	return slices.ContainsFunc(strings.Fields(patterns), func(p string) bool { return fits(name, p) })
}

// fits reports whether a package is the one that a pattern names, or one below.
func fits(name, pattern string) bool {
	folder, tree := strings.CutSuffix(pattern, "...")
	if !tree {
		return name == pattern
	}
	folder = strings.TrimSuffix(folder, "/")
	return folder == "" || name == folder || strings.HasPrefix(name, folder+"/")
}

// local returns the path of a package inside the module; "" for its root.
func local(importPath string) string {
	return strings.TrimPrefix(strings.TrimPrefix(importPath, strings.TrimSuffix(module, "/")), "/")
}
