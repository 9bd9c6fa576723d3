package report

import (
	"bytes"
	"encoding/xml"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/tasks"
)

// hostile is text that breaks out of whatever forgets to escape it.
const hostile = "</script></style></title><img src=x onerror=\"window.pwned=1\"><script>window.pwned=2</script>\" onmouseover=\"window.pwned=3\" ' {{.}} ]]> &lt; javascript:window.pwned=4 \x1b[2J\x1b]0;x\a\x00\x7f\u202e\u2066 ../../../etc \xff\n\t%s"

// hostileReport has hostile text wherever there is text.
func hostileReport() *Report {
	configs := []Config{{Name: hostile + "plan=off"}, {Name: hostile + "plan=on", Planning: hostile}}
	for i := range configs {
		c := &configs[i]
		c.Models, c.Settings = map[string]string{hostile: hostile, "x": hostile}, map[string]any{}
		c.Guard, c.ActionSpace, c.Observation = hostile, hostile, hostile
	}
	configs[0].Settings = map[string]any{"x": hostile, hostile: []string{hostile}}
	configs[1].Settings = map[string]any{hostile: hostile, "x": make(chan int)}
	meta := Meta{Suite: hostile, Configs: configs, Host: map[string]string{hostile: hostile}, Versions: map[string]string{hostile: hostile}}
	suite := []*tasks.Task{nil, {ID: hostile, Domain: hostile, Instruction: hostile}, {ID: "javascript:alert(1)", Domain: hostile}}
	var results []tasks.Result
	for i, config := range []string{configs[0].Name, configs[1].Name, hostile} {
		for _, task := range []string{hostile, "javascript:alert(1)", "../../" + hostile, ".", ""} {
			for repeat, status := range []tasks.Status{tasks.Scored, tasks.Errored, tasks.Skipped, tasks.Lost, hostile} {
				r := tasks.Result{Config: config, Task: task, Repeat: repeat, Status: status}
				each(reflect.ValueOf(&r).Elem(), hostile)
				r.Config, r.Task, r.Status, r.Score = config, task, status, float64(i%2)
				r.Run = []string{"../out", "/etc", "javascript:window.pwned=5", hostile, "a/../../b"}[repeat]
				results = append(results, r)
			}
		}
	}
	return New(meta, suite, results)
}

// each sets every string in a struct.
func each(v reflect.Value, text string) {
	for _, field := range v.Fields() {
		switch {
		case field.Kind() == reflect.String:
			field.SetString(text)
		case field.Kind() == reflect.Struct && field.Type() != reflect.TypeFor[time.Time]():
			each(field, text)
		}
	}
}

func TestHostileText(t *testing.T) {
	r := hostileReport()
	dir := filepath.Join(t.TempDir(), "deep", "results")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.Error(t, r.writeJSON(io.Discard), "a setting that is no JSON")
	delete(r.Meta.Configs[1].Settings, "x")
	require.NoError(t, r.Save(dir))
	above, err := os.ReadDir(filepath.Dir(filepath.Dir(dir)))
	require.NoError(t, err)
	require.Len(t, above, 1, "nothing is written outside")

	var page, text, junit bytes.Buffer
	require.NoError(t, r.writeHTML(&page))
	for _, bad := range []string{"<img", "<script>window", "onerror=\"", "onmouseover=\"", `href="javascript`, `href="../`, `href="/`, "\x1b", "\u202e", "\u2066"} {
		assert.False(t, strings.Contains(page.String(), bad), bad)
	}
	assert.Equal(t, 1, strings.Count(page.String(), "<script>"))
	assert.True(t, strings.Contains(page.String(), "&lt;img src=x"))
	require.NoError(t, r.Text(&text))
	for _, c := range text.String() {
		if c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c)) {
			t.Fatalf("the text holds %U", c)
		}
	}
	for line := range strings.Lines(text.String()) {
		assert.LessOrEqual(t, columns(strings.TrimSuffix(line, "\n")), 80, line)
	}
	require.NoError(t, r.writeJUnit(&junit))
	var back junitSuites
	require.NoError(t, xml.Unmarshal(junit.Bytes(), &back), "it is XML")
	assert.Equal(t, len(r.Results), back.Tests)
	assert.False(t, strings.Contains(junit.String(), "\x1b"))
}

func TestNothing(t *testing.T) {
	for name, r := range map[string]*Report{
		"nothing at all": New(Meta{}, nil, nil),
		"no results":     New(newMeta(3), newSuite(3), nil),
		"all skipped":    New(newMeta(1), newSuite(1), []tasks.Result{{Task: "a", Config: "plan=off", Status: tasks.Skipped, Repeat: 1}}),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, r.Save(dir))
			var text bytes.Buffer
			require.NoError(t, r.Text(&text))
			page, err := os.ReadFile(filepath.Join(dir, FileHTML))
			require.NoError(t, err)
			for _, bad := range []string{"NaN", "Inf", "%!", "<nil>", "no value"} {
				_, shown, _ := strings.Cut(string(page), "</script>")
				assert.False(t, strings.Contains(text.String()+shown, bad), bad)
			}
			assert.Empty(t, tree(t, dir))
		})
	}
}

// TestGradesAreTold holds that the page and results.json say how well it is known that an
// agent was done, and how often it overrode an objection.
func TestGradesAreTold(t *testing.T) {
	suite := newSuite(3)
	results := newResults(suite, newConfigs(), 1)
	for i, grade := range []string{"proved", "read", "claimed"} {
		results[i].Status, results[i].Outcome, results[i].Grade, results[i].Overridden = tasks.Scored, "done", grade, i
	}
	dir := t.TempDir()
	require.NoError(t, New(newMeta(3), suite, results).Save(dir))
	for name, wanted := range map[string][]string{
		FileHTML: {"done (proved)", "done (read), 1 objection overridden", "done (claimed), 2 objections overridden"},
		FileJSON: {`"grade": "proved"`, `"grade": "read"`, `"grade": "claimed"`},
	} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		for _, want := range wanted {
			assert.True(t, strings.Contains(string(data), want), "%s: %s", name, want)
		}
	}
}

func TestPage(t *testing.T) {
	suite := newSuite(30)
	r := New(newMeta(3), suite, newResults(suite, newConfigs(), 1))
	dir := t.TempDir()
	require.NoError(t, r.Save(dir))
	data, err := os.ReadFile(filepath.Join(dir, FileHTML))
	require.NoError(t, err)
	page := string(data)
	for _, text := range []string{
		"planning on against off", "shell: not allowed", "shell: allowed", "guard: none", "all without Google Drive", "Professional",
		`href="./plan=off/chrome/00000000-0000-4000-8000-000000000000/1/report.html"`, "files.txt is missing in /home/user/Desktop", "McNemar, exact", "cannot be done",
	} {
		assert.True(t, strings.Contains(page, text), text)
	}
	for _, elsewhere := range []string{"http://", "https://", "url(", "@import", "ZgotmplZ"} {
		assert.False(t, strings.Contains(page, elsewhere), elsewhere)
	}
	assert.Equal(t, 90, strings.Count(page, "<tr data-t="))
	var again bytes.Buffer
	require.NoError(t, r.writeHTML(&again))
	assert.Equal(t, page, again.String(), "it is the same each time")
	info, err := os.Stat(filepath.Join(dir, FileHTML))
	require.NoError(t, err)
	assert.EqualValues(t, 0o644, info.Mode().Perm()|0o644)
	left, err := filepath.Glob(filepath.Join(dir, ".new-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestPageStaysSmall(t *testing.T) {
	long := strings.Repeat(`<"long & 'hostile'">`, 125) // four times what is shown of a text at most
	for _, tt := range []struct {
		name           string
		tasks, repeats int
		text           string
	}{{"2000 results", 500, 2, ""}, {"2000 hostile results", 1000, 1, long}, {"20000 results", 10000, 1, ""}, {"20000 hostile results", 2000, 5, long}} {
		t.Run(tt.name, func(t *testing.T) {
			suite := newSuite(tt.tasks)
			results := newResults(suite, newConfigs()[:2], tt.repeats)
			for i := range results {
				results[i].Why += tt.text
				suite[i%len(suite)].Instruction = "do" + tt.text
			}
			var page bytes.Buffer
			require.NoError(t, New(newMeta(2), suite, results).writeHTML(&page))
			assert.Less(t, page.Len(), 5_000_000)
			if len(results) > maxRows {
				assert.True(t, strings.Contains(page.String(), "more in results.json"))
			}
		})
	}
	// All names are long and hostile, and there are many configurations.
	var results []tasks.Result
	for i := range 2000 {
		r := trial(long+string(rune('a'+i%26))+string(rune('a'+i/26%26)), long+string(rune('a'+i%10)), 1+i/260, tasks.Scored, float64(rand.IntN(2)))
		r.Domain, r.Outcome, r.Run, r.Why = long+string(rune('a'+i%7)), long, "a"+strings.Repeat("<", 150), long
		results = append(results, r)
	}
	var page bytes.Buffer
	require.NoError(t, New(Meta{}, nil, results).writeHTML(&page))
	assert.Less(t, page.Len(), 5_000_000)
}

func TestLink(t *testing.T) {
	for run, want := range map[string]string{
		"":                         "",
		"plan=on/os/a/1":           "./plan=on/os/a/1/report.html",
		"a b/ü/#?%/1":              "./a%20b/%C3%BC/%23%3F%25/1/report.html",
		"javascript:alert(1)":      "./javascript:alert%281%29/report.html",
		"../a":                     "",
		"a/../..":                  "",
		"/a":                       "",
		`a\b`:                      "",
		"a/./b/":                   "./a/b/report.html",
		strings.Repeat("a/", 1000): "",
		"http://example.org/a":     "./http:/example.org/a/report.html",
		"a\x00":                    "",
	} {
		assert.Equal(t, want, link(run), run)
	}
}

func TestFolderName(t *testing.T) {
	for text, want := range map[string]string{
		"": "none", "openai/gpt-5": "openai_gpt-5", "..": "none", ".a": "_.a", "a.": "a", "con": "_con", "COM1.x": "_COM1.x", "a b:c": "a_b_c", "\xff\x00~": "___",
		strings.Repeat("ü", 100): strings.Repeat("ü", 60),
	} {
		assert.Equal(t, want, folderName(text, "none"), text)
	}
	taken := map[string]bool{}
	assert.Equal(t, []string{"a", "A~2", "a~3"}, []string{free(taken, "a"), free(taken, "A"), free(taken, "a")})
	for f, want := range map[float64]string{0: "0.0", 1: "1.0", 0.5: "0.5", 0.00001: "1e-05", 2.0 / 3: "0.6666666666666666"} {
		assert.Equal(t, want, pythonFloat(f))
	}
}

func TestTreeOfOneConfiguration(t *testing.T) {
	r := New(newMeta(1), nil, []tasks.Result{trial("a", "plan=off", 1, tasks.Scored, 1), trial("A", "plan=off", 1, tasks.Scored, 0), trial("b", "plan=off", 1, tasks.Errored, 0)})
	dir := t.TempDir()
	require.NoError(t, r.saveTree(dir))
	assert.Equal(t, "results/native/screenshot/openai_gpt-5-nano/os/A/result.txt 0.0\nresults/native/screenshot/openai_gpt-5-nano/os/a~2/result.txt 1.0\n", string(tree(t, dir)))
	assert.Error(t, r.saveTree(filepath.Join(dir, "not there")))
}

func TestHistogram(t *testing.T) {
	var list []tasks.Result
	for i, steps := range []int{0, 3, 3, 100} {
		r := trial(string(rune('a'+i)), "x", 1, tasks.Scored, float64(i%2))
		r.Steps = steps
		list = append(list, r)
	}
	list = append(list, trial("skipped", "x", 1, tasks.Skipped, 0))
	h := newHistogram(New(Meta{}, nil, list), "x")
	require.Len(t, h.Bars, 21)
	assert.Equal(t, "0 to 4 steps: 1 passed, 2 not", h.Bars[0].Words())
	assert.Equal(t, "100 to 104 steps: 1 passed, 0 not", h.Bars[20].Words())
	assert.InDelta(t, 66.67, h.Bars[0].High(), 0.01)
	assert.InDelta(t, 33.33, h.Bars[0].Low(), 0.01)
	assert.Nil(t, newHistogram(New(Meta{}, nil, list[4:]), "x"))
}

func TestWords(t *testing.T) {
	for want, got := range map[string]string{
		"+0.0": points(new(-0.0001)), "−12.5": points(new(-0.125)), "33.3\u00a0%": percent(new(1.0 / 3)), "–": percent(nil),
		"< 0.0001": pvalue(new(0.00001)), "0.0500": pvalue(new(0.05)), "1\u202f234\u202f567": thousands(1234567),
		"unknown": cost(new(0.0), 3), "$0.25": cost(new(0.25), 3),
		"$0.0021": usd(new(0.0021)), "$0": usd(new(0.0)), "$12\u202f346": usd(new(12345.6)), "$3.50": usd(new(3.5)),
		"999\u00a0ms": millis(new(999.0)), "1.5\u00a0s": millis(new(1500.0)), "59\u00a0s": millis(new(59400.0)), "1\u00a0min\u00a000\u00a0s": millis(new(59600.0)), "1\u00a0h\u00a000\u00a0min": millis(new(3599600.0)), "2\u00a0min\u00a005\u00a0s": millis(new(125000.0)),
		"1\u202f000\u00a0h\u00a001\u00a0min": millis(new(1000*3600000 + 60000.0)), "6.5": number(new(6.5)), "1\u202f001": number(new(1000.6)),
		"00000000": shortID("00000000-0000-4000-8000-000000000000"), "x-1": shortID("x-1"), "日…": fit("日本語", 4), "a\uFFFDb c": plain("a\x1bb\nc", false),
	} {
		assert.Equal(t, want, got)
	}
}
