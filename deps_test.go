package desktopagent_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "desktop-agent/"

// mayImport lists, for each package, the packages of this module that it and
// its subpackages may import, subpackages included. Packages may always import
// their own subpackages. Only cmd, which is not listed, may import them all.
var mayImport = map[string][]string{
	"internal":   nil,
	"actuator":   {"internal"},
	"screen":     {"internal"},
	"sandbox":    {"internal"},
	"llm":        {"internal"},
	"planner":    {"internal", "screen", "llm"},
	"worldmodel": {"actuator", "screen", "planner", "llm"},
	"monitor":    {"actuator", "screen", "planner", "worldmodel", "llm"},
	"run":        {"internal", "actuator", "screen", "sandbox", "llm", "planner", "worldmodel", "monitor"},
	"agent":      {"run", "internal", "actuator", "screen", "sandbox", "llm", "planner", "worldmodel", "monitor"},
	"replay":     {"agent", "run", "internal", "actuator", "screen", "sandbox", "llm", "planner", "worldmodel", "monitor"},
	"tasks":      {"replay", "agent", "run", "internal", "actuator", "screen", "sandbox", "llm", "planner", "worldmodel", "monitor"},
	"suites":     {"replay", "tasks"},
}

// TestImports holds the table of packages that docs/architecture.md draws.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}:{{join .Imports " "}}`, "./...").Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		path, imports, _ := strings.Cut(strings.TrimSpace(line), ":")
		pkg := top(path)
		allowed, listed := mayImport[pkg]
		if pkg == "cmd" || pkg == "" {
			continue
		}
		require.True(t, listed, "package %s is not in the table of packages", path)
		for imp := range strings.FieldsSeq(imports) {
			if !strings.HasPrefix(imp, module) {
				continue
			}
			if to := top(imp); to != pkg && !slices.Contains(allowed, to) {
				t.Errorf("%s must not import %s", path, imp)
			}
		}
	}
}

// top returns the first folder of a package of this module.
func top(path string) string {
	name, ours := strings.CutPrefix(path, module)
	if !ours {
		return ""
	}
	name, _, _ = strings.Cut(name, "/")
	return name
}
