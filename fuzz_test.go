package desktopagent_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readers has a row for each function that asks a model and reads what it answers, by its
// package: the fuzz targets that feed it, of the same package, or why it reads nothing.
var readers = map[string]string{
	"agent.Actor.propose":             "FuzzPropose",
	"agent.Grounder.find":             "FuzzFind",
	"agent.meter.Complete":            passes,
	"agent.Aimed.cost":                "- only what it costs is read",
	"engine.Engine.arguments":         "FuzzParameters",
	"engine.Engine.byTools":           "FuzzToolTalk",
	"engine.Engine.doSelf":            "FuzzThought",
	"engine.Execution.checkGoal":      "FuzzConclude",
	"engine.Execution.reflect":        "FuzzReflect",
	"guard.Draft":                     "FuzzDraft",
	"guard.Guard.analyse":             "FuzzVerdict",
	"llm.Client.attempt":              passes,
	"llm.CompleteTurn":                passes,
	"llm.Decode":                      "FuzzDecode FuzzExtract FuzzValidate",
	"llm/anthropic.Endpoint.Complete": "FuzzReply",
	"llm/gemini.Endpoint.Complete":    "FuzzReply",
	"llm/openai.Endpoint.Complete":    "FuzzReply",
	"llm/provider.complete":           passes,
	"llm/responses.Endpoint.Complete": "FuzzReply",
	"monitor.Monitor.Review":          "FuzzReview",
	"planner.making.feasible":         "FuzzFeasible",
	"planner.making.textPlan":         "FuzzText FuzzSteps",
	"planner.meter.Complete":          passes,
	"planner.ask":                     "FuzzGenerate FuzzRevise FuzzSteps",
	"rehearsal.Rehearsal.judge":       "FuzzChoose",
	"replay/macro.ModelHealer.Heal":   "FuzzHeal",
	"replay/offline.past.Complete":    passes,
	"run.retracedModel.Complete":      passes,
	"tasks/judge.ask":                 "FuzzVerdict",
	"tasks/judge.meter.Complete":      passes,
	"worldmodel.Model.Foresee":        "FuzzForesight",
	"worldmodel.Model.Transcribe":     "FuzzTranscribe",
	"worldmodel.askQuoted":            "FuzzAssessment FuzzGoalCheck",
	"planner.readText":                "FuzzAnalysis FuzzText",
}

const passes = "- it passes on what another reads"

// parsers are the packages that read what a model, or a server that it asks, wrote, without
// asking themselves.
var parsers = []string{
	"actuator/dialect", "actuator/ground", "actuator/native", "actuator/pyautogui", "actuator/toolcall", // what an actor writes
	"llm/wire", // what an endpoint answers
	"screen",   // the words by which a model means an element
	"tools",    // arguments, and what MCP servers offer and answer
}

// TestFuzzed holds that each function which reads the answer of a model has its fuzz target,
// and that "make fuzz" runs the targets of all these packages.
func TestFuzzed(t *testing.T) {
	asking, targets := sources(t)
	for name := range asking {
		assert.NotEmpty(t, readers[name], "%s asks a model (%s): write a fuzz target of what it reads, and name it in fuzz_test.go", name, asking[name])
	}
	made := regexp.MustCompile(`(?s)\nfuzz:\n\t@for p in (.*?); do`)
	makefile, err := os.ReadFile("Makefile")
	require.NoError(t, err)
	list := made.FindSubmatch(makefile)
	require.NotNil(t, list, "the Makefile has no fuzz: that begins so")
	run := strings.Fields(strings.ReplaceAll(string(list[1]), "\\\n", " "))
	for name, row := range readers {
		assert.NotEmpty(t, asking[name], "%s asks no model any more: take it out of fuzz_test.go", name)
		if strings.HasPrefix(row, "- ") {
			continue
		}
		folder := name[:strings.LastIndexByte(name, '/')+1] + strings.SplitN(path.Base(name), ".", 2)[0]
		assert.Contains(t, run, folder, "the list of the Makefile's fuzz")
		for target := range strings.FieldsSeq(row) {
			assert.Contains(t, targets[folder], target, name)
		}
	}
	for _, folder := range parsers {
		assert.Contains(t, run, folder, "the list of the Makefile's fuzz")
	}
	for _, folder := range run {
		assert.NotEmpty(t, targets[folder], "%s has no fuzz target", folder)
	}
}

// sources reads the module: the functions that ask a model, with the places, and the fuzz
// targets of each folder. Fakes and what is built for itself are left out.
func sources(t *testing.T) (asking map[string]string, targets map[string][]string) {
	t.Helper()
	asking, targets = map[string]string{}, map[string][]string{}
	files := token.NewFileSet()
	require.NoError(t, filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "llmtest" || len(d.Name()) > 1 && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case path.Ext(name) != ".go":
			return nil
		}
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(name))
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			switch {
			case !ok || f.Body == nil:
			case strings.HasSuffix(name, "_test.go"):
				if f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") {
					targets[folder] = append(targets[folder], f.Name.Name)
				}
			default:
				if at := asks(f.Body); at != token.NoPos {
					asking[folder+"."+nameOf(f)] = files.Position(at).String()
				}
			}
		}
		return nil
	}))
	require.NotEmpty(t, slices.Collect(maps.Keys(asking)))
	return asking, targets
}

// nameOf is a function with the type that it belongs to.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.Ident:
			return t.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

// asks returns where a function asks a model: by llm.Decode, llm.DecodeChecked or the method
// Complete of whatever has one.
func asks(body *ast.BlockStmt) (at token.Pos) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || at != token.NoPos {
			return at == token.NoPos
		}
		of := call.Fun
		switch f := of.(type) {
		case *ast.IndexExpr:
			of = f.X
		case *ast.IndexListExpr:
			of = f.X
		}
		if f, ok := of.(*ast.Ident); ok && f.Name == "CompleteTurn" { // within package llm
			at = call.Pos()
		}
		s, ok := of.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, _ := s.X.(*ast.Ident)
		inLLM := x != nil && x.Name == "llm" && slices.Contains([]string{"Decode", "DecodeChecked", "CompleteTurn"}, s.Sel.Name)
		if inLLM || s.Sel.Name == "Complete" && len(call.Args) >= 2 {
			at = call.Pos()
		}
		return true
	})
	return at
}
