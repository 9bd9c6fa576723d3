package desktopagent_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// untoured lists the packages that the tour of doc.go need not name, and why.
var untoured = []struct{ packages, why string }{
	{"", "it is the tour"},
	{"internal/...", "who uses them says what for"},
	{"actuator/actuatortest", "examples of actions, for tests"},
	{"actuator/eventwin", "a window that records input, for tests and the check of a desktop"},
	{"llm/llmtest", "models and providers, for tests"},
	{"run/runtest", "what tests of runs share"},
	{"screen/eyestest", "it tests what the screen says"},
	{"suites/suitetest", "the test of a suite"},
	{"tasks/env/envtest", "computers for tests"},
	{"tasks/office/xlsx", "a part of tasks/office"},
	{"tasks/osworld/defect/defecttest", "it tests lists of defects"},
	{"tasks/osworld/metric/fuzzy", "metrics use it, and none is added there"},
	{"tasks/osworld/metric/media/picture", "a part of the metrics of media"},
	{"tasks/osworld/metric/rule", "metrics use it, and none is added there"},
}

// aPath finds a link to a package, and else what has a slash or the ending of a file.
var aPath = regexp.MustCompile(`\[desktop-agent/([\w/-]+)|([\w*-]+(?:/[\w*-]+)+(?:\.\w+)?|[\w-]+\.(?:go|md|toml|tmpl))\b`)

// paths returns those that a text names.
func paths(text string) (list []string) {
	for _, m := range aPath.FindAllStringSubmatch(text, -1) {
		list = append(list, m[1]+m[2])
	}
	return list
}

// TestTour holds that the tour names each package of the module, but for those that are
// excused, and no path that is not there.
func TestTour(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	require.NoError(t, err)
	named := paths(file.Doc.Text())
	for _, p := range named {
		found, err := filepath.Glob(filepath.FromSlash(p))
		require.NoError(t, err)
		assert.NotEmpty(t, found, "the tour names %s, which is not there", p)
	}
	used := map[string]bool{}
	for _, p := range packages(t) {
		name, excused := local(p.ImportPath), false
		for _, u := range untoured {
			if fits(name, u.packages) {
				excused, used[u.packages] = true, true
			}
		}
		if excused {
			assert.NotContains(t, named, name, "the tour names it, so it needs no excuse")
		} else {
			assert.True(t, slices.Contains(named, name), "the tour of doc.go does not name the package %s", name)
		}
	}
	for _, u := range untoured {
		assert.True(t, used[u.packages], "there is no package %q to excuse", u.packages)
		assert.NotEmpty(t, u.why, u.packages)
	}
}

// TestPaths holds what is taken for a path.
func TestPaths(t *testing.T) {
	const text = "See a/b.go, [desktop-agent/screen], [desktop-agent/llm/x.Y.Z], (c.md) and d/*.tmpl, not run.Open; e/f."
	assert.Equal(t, []string{"a/b.go", "screen", "llm/x", "c.md", "d/*.tmpl", "e/f"}, paths(text))
}
