package evaluate

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"desktop-agent/tasks"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every metric has one owner: two packages with a metric of the same name are an
// error where the tables are put together.
func TestUnion(t *testing.T) {
	all, err := Metrics(nil)
	require.NoError(t, err)
	assert.Len(t, all, len(Names()))
	assert.NotContains(t, all, "infeasible")
	for name, m := range all {
		assert.NotNil(t, m, name)
	}
	one := func(name string, metrics ...string) source {
		s := source{name, map[string]tasks.Metric{}}
		for _, m := range metrics {
			s.metrics[m] = func(context.Context, tasks.Value, tasks.Value, tasks.Params) (tasks.Score, error) {
				return tasks.Score{Why: name}, nil
			}
		}
		return s
	}
	_, err = union([]source{one("a", "x", "y"), one("b", "x")})
	require.ErrorContains(t, err, "x: both a and b")
	two, err := union([]source{one("a", "x"), one("b", "y")})
	require.NoError(t, err)
	score, err := two["y"](t.Context(), nil, nil, nil)
	require.NoError(t, err)
	assert.Equal(t, "b", score.Why)
}

func TestCombine(t *testing.T) {
	for _, tt := range []struct {
		name   string
		any    bool
		scores []float64
		want   float64
		looks  int
	}{
		{"one", false, []float64{0.4}, 0.4, 1},
		{"mean", false, []float64{1, 0.5, 0.75}, 0.75, 3},
		{"zero ends it", false, []float64{1, 0, 1}, 0, 2},
		{"best", true, []float64{0, 0.5, 0.25}, 0.5, 3},
		{"one ends it", true, []float64{0, 1, 0}, 1, 2},
		{"none", true, []float64{0, 0}, 0, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			looks := 0
			score, err := combine(tasks.Evaluator{Any: tt.any, Checks: make([]tasks.Check, len(tt.scores))}, func(n int) (tasks.Score, error) {
				looks++
				return tasks.Score{Value: tt.scores[n], Why: "w"}, nil
			})
			require.NoError(t, err)
			assert.InDelta(t, tt.want, score.Value, 1e-12)
			assert.Equal(t, tt.looks, looks)
			if tt.want < 1 {
				assert.Equal(t, "w", score.Why)
			}
		})
	}
	broken := errors.New("broken")
	_, err := combine(tasks.Evaluator{Checks: make([]tasks.Check, 2)}, func(int) (tasks.Score, error) { return tasks.Yes(), broken })
	require.ErrorIs(t, err, broken)
}

// What an answer alone decides needs no computer.
func TestAnswers(t *testing.T) {
	impossible := &tasks.Task{Evaluator: tasks.Evaluator{Infeasible: true}}
	possible := &tasks.Task{Evaluator: tasks.Evaluator{Checks: make([]tasks.Check, 1)}}
	for _, tt := range []struct {
		task   *tasks.Task
		answer Answer
		want   float64
	}{
		{impossible, Infeasible, 1}, {impossible, Done, 0}, {impossible, "", 0}, {possible, Infeasible, 0},
	} {
		score, err := Task(t.Context(), nil, tt.task, tt.answer, nil)
		require.NoError(t, err)
		assert.Equal(t, tt.want, score.Value)
		assert.Equal(t, tt.want == 1, score.Why == "")
	}
	_, err := Task(t.Context(), nil, possible, Done, nil)
	require.ErrorContains(t, err, "folder")
	_, err = Task(t.Context(), nil, &tasks.Task{}, Done, &Options{Folder: t.TempDir()})
	require.ErrorContains(t, err, "no checks")
}

// Every metric of one file has the same rule for several: they are not one, as
// result or as what is expected.
func TestSeveralFiles(t *testing.T) {
	all, err := Metrics(nil)
	require.NoError(t, err)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	picture := func(name string) string {
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 16, 16))))
		return file(name, b.String())
	}
	testdata := func(name string) string { return filepath.Join("..", "metric", filepath.FromSlash(name)) }
	for _, tt := range []struct {
		metric   string
		path     string
		expected tasks.Value // what is not a file; nil: the same file
		options  tasks.Params
	}{
		{metric: "compare_text_file", path: file("a.txt", "one")},
		{metric: "diff_text_file", path: file("b.txt", "one\n")},
		{metric: "file_contains", path: file("c.txt", "one"), expected: map[string]any{"expected": []any{"one"}}},
		{metric: "check_json", path: file("a.json", `{"a":1}`), expected: map[string]any{"expect": []any{}}},
		{metric: "check_config_status", path: file("rc", "(a b)"), expected: map[string]any{"key": "a", "value": "b"}},
		{metric: "check_thunderbird_prefs", path: file("prefs.js", ""), expected: map[string]any{"expect": map[string]any{}}},
		{metric: "compare_images", path: picture("a.png")},
		{metric: "check_structure_sim", path: picture("b.png")},
		{metric: "compare_docx_files", path: testdata("document/testdata/gold.docx")},
		{metric: "compare_docx_tables", path: testdata("document/testdata/gold.docx")},
		{metric: "compare_pptx_files", path: testdata("slides/testdata/impress.pptx")},
		{metric: "compare_table", path: testdata("sheet/testdata/looks.xlsx"),
			options: tasks.Params{"rules": []any{map[string]any{"type": "sheet_name"}}}},
	} {
		t.Run(tt.metric, func(t *testing.T) {
			one := tasks.File{Path: tt.path}
			two := tasks.Files{one, one}
			want := tt.expected
			if want == nil {
				want = one
			}
			score, err := all[tt.metric](t.Context(), one, want, tt.options)
			require.NoError(t, err)
			assert.InDelta(t, 1, score.Value, 1e-9, score.Why)
			score, err = all[tt.metric](t.Context(), tasks.Files{one}, want, tt.options)
			require.NoError(t, err)
			assert.InDelta(t, 1, score.Value, 1e-9, "a list of one is that one: %s", score.Why)
			score, err = all[tt.metric](t.Context(), two, want, tt.options)
			require.NoError(t, err)
			assert.Zero(t, score.Value)
			assert.Contains(t, score.Why, "one file is wanted, not 2")
			if tt.expected == nil {
				_, err = all[tt.metric](t.Context(), one, two, tt.options)
				require.ErrorContains(t, err, "one file is wanted, not 2")
			}
		})
	}
}

// What compares the files of an archive needs what it compares them by.
func TestLacks(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for name, tt := range map[string]struct {
		check tasks.Check
		want  string
	}{
		"itself":     {tasks.Check{Metric: "compare_pdfs"}, "pdftotext is not installed"},
		"in archive": {tasks.Check{Metric: "compare_archive", Options: tasks.Params{"file_type": "pdf"}}, "pdftotext is not installed"},
		"texts":      {tasks.Check{Metric: "compare_archive", Options: tasks.Params{}}, ""},
		"wrong":      {tasks.Check{Metric: "compare_archive", Options: tasks.Params{"file_type": 3.0}}, ""},
		"no program": {tasks.Check{Metric: "compare_table"}, ""},
	} {
		if got := Lacks(tt.check); tt.want == "" {
			assert.Empty(t, got, name)
		} else {
			assert.Contains(t, got, tt.want, name)
		}
	}
}

// No score is made up where nothing but a judge can tell, whatever the agent says.
func TestByJudge(t *testing.T) {
	for _, answer := range []Answer{Done, Infeasible} {
		_, err := Task(t.Context(), nil, &tasks.Task{Evaluator: tasks.Evaluator{ByJudge: true}}, answer, nil)
		require.ErrorContains(t, err, "nothing but a judge can tell")
	}
}
