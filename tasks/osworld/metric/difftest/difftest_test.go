package difftest

import (
	"bytes"
	"cmp"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"desktop-agent/tasks/osworld/evaluate"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// python skips a test where there is no interpreter.
func python(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath(cmp.Or(os.Getenv("PYTHON"), "python3"))
	if err != nil {
		t.Skip("there is no Python: ", err)
	}
	return path
}

// seeds are the documents and presentations of the metrics' own tests.
func seeds(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, name := range []string{"document/testdata/gold.docx", "document/testdata/office.docx", "slides/testdata/impress.pptx"} {
		text, err := os.ReadFile(filepath.Join("..", name))
		require.NoError(t, err)
		all[filepath.Base(name)] = text
	}
	return all
}

func compared(t *testing.T, checkout string, each int) ([]*Row, *Python) {
	t.Helper()
	p, err := Start(t.Context(), python(t), checkout)
	require.NoError(t, err)
	defer p.Close()
	cases, err := Cases(t.TempDir(), 1, each, seeds(t))
	require.NoError(t, err)
	only := regexp.MustCompile(os.Getenv("DIFFTEST_ONLY"))
	cases = slices.DeleteFunc(cases, func(c Case) bool { return !only.MatchString(c.Metric) })
	rows, err := Compare(t.Context(), p, cases)
	require.NoError(t, err)
	return rows, p
}

// With a stand-in of a few functions, the harness finds the one that judges otherwise,
// bears exceptions, prints and modules that are missing, and says what nothing lists.
func TestStandIn(t *testing.T) {
	rows, p := compared(t, "testdata/standin", 10)
	// no_such_speed is not among them: a library that does without it is not told otherwise.
	assert.Equal(t, []string{"no_such_module", "no_such_package"}, p.Missing)
	assert.NotContains(t, p.Functions, "check_csv", "a file that does not load takes no other with it")
	assert.NoFileExists(t, "left behind", "what functions leave where they are does not stay")
	by := map[string]*Row{}
	for _, r := range rows {
		by[r.Metric] = r
	}
	for _, name := range []string{"exact_match", "match_in_list", "compare_text_file"} {
		require.NotNil(t, by[name], name)
		assert.Positive(t, by[name].Cases, name)
		assert.Zero(t, by[name].Lacks, name)
		assert.Zero(t, by[name].Compat+by[name].Default, "%s: %v", name, by[name].Examples)
	}
	other := by["check_include_exclude"]
	assert.Positive(t, other.Compat)
	assert.Positive(t, other.Default)
	assert.NotEmpty(t, other.Examples)
	assert.Equal(t, by["diff_text_file"].Cases, by["diff_text_file"].Lacks)
	assert.Equal(t, by["compare_csv"].Cases, by["compare_csv"].Raised)
	assert.Positive(t, by["compare_csv"].Compat, "a score where theirs raises is a difference")

	list := strings.Join(Unlisted(rows), "\n")
	assert.Contains(t, list, "check_include_exclude: "+strconv.Itoa(other.Compat)+" cases have another score with --compat")
	assert.NotContains(t, list, "exact_match")
	var b bytes.Buffer
	require.NoError(t, Print(&b, rows))
	assert.Regexp(t, `FUNCTION +CASES +RAISED`, b.String())
	assert.Regexp(t, `exact_match +21 +0 +0 +0 +0\n`, b.String())
	assert.Contains(t, b.String(), "check_include_exclude: --compat: ")
}

// The same number makes the same cases, and every function that cases are made for is
// one of the metrics.
func TestCases(t *testing.T) {
	dir := t.TempDir()
	one, err := Cases(dir, 7, 1, seeds(t))
	require.NoError(t, err)
	two, err := Cases(dir, 7, 1, seeds(t))
	require.NoError(t, err)
	assert.Equal(t, one, two)
	names, kinds := evaluate.Names(), map[string]bool{}
	for _, c := range one {
		assert.Contains(t, names, c.Metric)
		kinds[c.Metric] = true
	}
	assert.Greater(t, len(kinds), 60)
	metrics, err := evaluate.Metrics(nil)
	require.NoError(t, err)
	full := map[string]bool{}
	for _, c := range one { // what nobody changed is right, or a rule would compare nothing
		if score, err := metrics[c.Metric](t.Context(), c.Result, c.Expected, c.Options); err == nil && score.Value == 1 {
			full[c.Metric] = true
		}
	}
	assert.Greater(t, len(full), 40, "%v", full)
	assert.Contains(t, full, "check_transition", "a number of a rule is one as in a task's file")
}

// What is changed in a file stays such that a program may have written it, or the
// libraries refuse the whole file and nothing is compared: words are those of other
// elements of the same name, and numbers are in their range.
func TestChanges(t *testing.T) {
	m := &maker{rand: rand.New(rand.NewPCG(1, 1))}
	const text = `<c:chart><c:dispBlanksAs val="gap"/><c:legendPos val="r"/><c:legendPos val="b"/><family val="2"/><c r="A1" s="1"><v/></c><a:defRPr sz="900"/><a:off x="5"/></c:chart>`
	allowed := map[string]string{"c:dispBlanksAs val": "^gap$", "c:legendPos val": "^[rb]$", "family val": "^([0-9]|1[0-4])$", "c s": "^[01]$", "a:defRPr sz": `^\d{3,4}$`, "a:off x": `^-?\d+$`}
	seen := map[string]map[string]bool{}
	for range 2000 {
		_, changed := m.xml(text)
		for _, at := range regexp.MustCompile(`<([\w:]+)[^<>]*?( val| s| sz| x)="([^"]*)"`).FindAllStringSubmatch(changed, -1) {
			key := at[1] + at[2]
			require.Regexp(t, allowed[key], at[3], "%s in %s", key, changed)
			if seen[key] == nil {
				seen[key] = map[string]bool{}
			}
			seen[key][at[3]] = true
		}
	}
	assert.Contains(t, seen["family val"], "14", "a greater number is the greatest")
	assert.Contains(t, seen["c s"], "0")
	assert.Contains(t, seen["a:defRPr sz"], "100", "a lesser one the least")
	assert.Len(t, seen["c:legendPos val"], 2)
	assert.Contains(t, seen["a:off x"], "365", "what has no range is changed as before")
}

func TestStartFails(t *testing.T) {
	_, err := Start(t.Context(), "/no/such/python", "testdata/standin")
	require.Error(t, err)
	_, err = Start(t.Context(), python(t), t.TempDir())
	require.ErrorContains(t, err, "FileNotFoundError")
}

// docs/suites.md names every function once, as the same or as corrected, and what it
// calls corrected is what may differ.
func TestListed(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/suites.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "| of | same | corrected |\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	name := regexp.MustCompile("`([a-zA-Z0-9_]+)`")
	var same, corrected []string
	for _, row := range strings.Split(table, "\n")[1:] {
		cells := strings.Split(row, "|")
		require.Len(t, cells, 5, row)
		for _, m := range name.FindAllStringSubmatch(cells[2], -1) {
			same = append(same, m[1])
		}
		for _, m := range name.FindAllStringSubmatch(cells[3], -1) {
			corrected = append(corrected, m[1])
		}
	}
	assert.ElementsMatch(t, Corrected(), corrected)
	all := slices.Sorted(slices.Values(slices.Concat(same, corrected)))
	assert.Equal(t, evaluate.Names(), all)
	for metric := range Listed {
		assert.Contains(t, all, metric)
	}
}

// TestOSWorld compares with a checkout of OSWorld, and prints the table.
func TestOSWorld(t *testing.T) {
	checkout := os.Getenv("OSWORLD_DIR")
	if checkout == "" {
		t.Skip("there is no checkout of OSWorld: set OSWORLD_DIR to it")
	}
	each := 200
	if text := os.Getenv("DIFFTEST_EACH"); text != "" {
		var err error
		each, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	rows, p := compared(t, checkout, each)
	t.Logf("missing modules: %v; %d functions loaded", p.Missing, len(p.Functions))
	var b bytes.Buffer
	require.NoError(t, Print(&b, rows))
	t.Log("\n" + b.String())
	assert.Empty(t, Unlisted(rows))
}

// An option of a wrong type is an error that names it, and never a score: of whatever it
// says, something else was meant.
func TestWrongOptions(t *testing.T) {
	cases, err := Cases(t.TempDir(), 3, 0, seeds(t))
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, compat := range []bool{false, true} {
		metrics, err := evaluate.Metrics(&evaluate.Options{Compat: compat})
		require.NoError(t, err)
		for _, c := range cases {
			for key := range c.Options {
				seen[key] = true
				for _, wrong := range []any{map[string]any{"x": 1.0}, []any{map[string]any{}}, "perhaps"} {
					if _, text := c.Options[key].(string); text && wrong == "perhaps" {
						continue
					}
					options := maps.Clone(c.Options)
					options[key] = wrong
					score, err := metrics[c.Metric](t.Context(), c.Result, c.Expected, options)
					if assert.Error(t, err, "%s: %s is %v: score %v", c.Metric, key, wrong, score) {
						assert.Contains(t, err.Error(), strings.TrimSuffix(key, "s"), c.Metric)
					}
				}
			}
		}
	}
	assert.Greater(t, len(seen), 15)
}
