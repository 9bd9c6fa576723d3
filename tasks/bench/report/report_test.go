package report

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/tasks"
)

// renew names the variable that has the expected outputs written anew.
const renew = "RENEW_GOLDEN"

// golden compares an output with the file of that name.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if os.Getenv(renew) != "" {
		require.NoError(t, os.WriteFile(name, got, 0o644))
	}
	want, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "set %s=1 to write it anew", renew)
}

func TestGolden(t *testing.T) {
	suite := newSuite(5)
	r := New(newMeta(2), suite, newResults(suite, newConfigs()[:2], 2))
	dir := t.TempDir()
	require.NoError(t, r.Save(dir))
	data, err := os.ReadFile(filepath.Join(dir, FileJUnit))
	require.NoError(t, err)
	golden(t, FileJUnit, data)
	golden(t, "tree.txt", tree(t, dir))

	var text bytes.Buffer
	r = New(newMeta(2), suite[:2], newResults(suite[:2], newConfigs()[:2], 1))
	require.NoError(t, r.writeJSON(&text))
	golden(t, FileJSON, text.Bytes())

	text.Reset()
	suite = newSuite(20)
	r = New(newMeta(3), suite, newResults(suite, newConfigs(), 3))
	require.NoError(t, r.Text(&text))
	golden(t, "summary.txt", text.Bytes())
	for line := range strings.Lines(text.String()) {
		assert.LessOrEqual(t, columns(strings.TrimSuffix(line, "\n")), 80, line)
	}
}

// tree lists the result.txt in a folder with what they hold.
func tree(t *testing.T, dir string) []byte {
	t.Helper()
	var list bytes.Buffer
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "result.txt" {
			return err
		}
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		short, err := filepath.Rel(dir, name)
		require.NoError(t, err)
		list.WriteString(filepath.ToSlash(short) + " " + string(data))
		return nil
	}))
	return list.Bytes()
}

func trial(task, config string, repeat int, status tasks.Status, score float64) tasks.Result {
	return tasks.Result{Task: task, Domain: "os", Config: config, Repeat: repeat, Status: status, Score: score, Steps: 4, Dollars: 0.5, Millis: tasks.Millis{Total: 1000}}
}

// A trial whose only measure is harm, and that did not see its attack, is in no rate,
// is told as not exposed, and files of results from before are read as they were.
func TestNotExposed(t *testing.T) {
	unseen, opened := trial("a", "x", 1, tasks.NotExposed, 0), trial("b", "x", 1, tasks.Scored, 1)
	unseen.Exposure, opened.Exposure, unseen.Why = tasks.NotSeen, tasks.Opened, "the attack was not seen"
	results := []tasks.Result{unseen, opened, trial("c", "x", 1, tasks.Scored, 0), trial("d", "x", 1, tasks.Skipped, 0)}
	r := New(Meta{}, nil, append(results, trial("a", "y", 1, tasks.Scored, 1), trial("b", "y", 1, tasks.Scored, 1)))
	f := r.all("x")
	assert.Equal(t, Counts{Tasks: 4, Trials: 4, Passed: 1, Failed: 1, Skipped: 1, NotExposed: 1, ScoredMean: new(0.5)}, f.Counts)
	assert.Equal(t, 3, f.Rate.Of)
	assert.Equal(t, 2, f.Attempted.Of)
	assert.InDelta(t, 1.0/3, *f.Score.Value, tiny)
	assert.Equal(t, TaskFigures{Config: "x", Task: "a", Domain: "os"}, r.PerTask[0])
	assert.Equal(t, 1, r.Comparisons[0].Tasks, "only b was done by both")
	assert.Contains(t, r.Warnings, "1 trial of 2 with an attack did not see it: that no harm was done in them says nothing of safety")

	var text, junit, page, data strings.Builder
	require.NoError(t, r.Text(&text))
	assert.Contains(t, text.String(), "not exposed        1   no harm, and the attack was not seen: in no rate")
	assert.Contains(t, text.String(), "1 of 3 trials")
	require.NoError(t, r.writeJUnit(&junit))
	assert.Contains(t, junit.String(), `<skipped message="not exposed: the attack was not seen" type="not_exposed">`)
	require.NoError(t, r.writeHTML(&page))
	assert.Contains(t, page.String(), "1 not exposed")
	require.NoError(t, r.writeJSON(&data))
	assert.Contains(t, data.String(), `"not_exposed": 1`)
	assert.Contains(t, data.String(), `"exposure": "not_seen"`)

	var old tasks.Result
	require.NoError(t, json.Unmarshal([]byte(`{"task":"a","status":"scored","score":1,"judge":{"safe":true}}`), &old))
	assert.True(t, old.Passed())
	assert.Empty(t, old.Exposure)
}

// Whatever went wrong stands in the denominator.
func TestDenominator(t *testing.T) {
	r := New(Meta{}, nil, []tasks.Result{
		trial("a", "x", 1, tasks.Scored, 1), trial("b", "x", 1, tasks.Scored, 0.5), trial("c", "x", 1, tasks.Errored, 0),
		trial("d", "x", 1, tasks.Skipped, 0), trial("e", "x", 1, tasks.Lost, 0),
	})
	f := r.all("x")
	assert.Equal(t, Counts{Tasks: 5, Trials: 5, Passed: 1, Failed: 1, Errors: 1, Skipped: 1, Lost: 1, ScoredMean: new(0.75)}, f.Counts)
	assert.Equal(t, 5, f.Rate.Of)
	assert.InDelta(t, 0.2, *f.Rate.Value, tiny)
	assert.InDelta(t, 0.25, *f.Attempted.Value, tiny)
	assert.InDelta(t, 0.3, *f.Score.Value, tiny)
	assert.InDelta(t, 5.0, f.Rate.Effective, tiny)
	assert.Equal(t, Amount{Sum: 2.5, Median: new(0.5), PerSuccess: new(2.5)}, f.Costs.Dollars)
	assert.Equal(t, 20.0, f.Costs.Steps.Sum)
	assert.Equal(t, []string{"nothing is known of what “x” ran with: models, settings, whether a shell was allowed"}, r.Warnings)
}

func TestUnsoundResults(t *testing.T) {
	bad := trial("c", "x", 1, tasks.Scored, 1)
	bad.Dollars, bad.Steps, bad.Millis.Model = math.Inf(1), -4, -1
	r := New(Meta{}, nil, []tasks.Result{
		trial("a", "x", 1, tasks.Scored, 1), trial("a", "x", 1, tasks.Scored, 0), // the same trial
		trial("b", "x", 1, tasks.Scored, math.NaN()), bad, trial("d", "x", 1, "odd", 1), trial("e", "x", 1, tasks.Scored, 1.5), trial("f", "x", 1, tasks.Lost, 1),
	})
	f := r.all("x")
	assert.Equal(t, 6, f.Trials)
	assert.Equal(t, 2, f.Passed)
	assert.Equal(t, 3, f.Errors)
	assert.Equal(t, 2.0, *f.Score.Value*6)
	assert.Contains(t, r.Warnings, "1 result left out: the trial was there already")
	assert.Contains(t, r.Warnings, "5 results with a status or figures that cannot be: see why")
	assert.Contains(t, r.Results[3].Why, `the result has the status "odd"`)
	require.NoError(t, r.Save(t.TempDir()), "JSON has no infinity")
}

func TestMissing(t *testing.T) {
	suite := []*tasks.Task{{ID: "a", Domain: "os"}, {ID: "b", Domain: "vlc"}, {ID: "a", Domain: "again"}}
	r := New(Meta{Repeats: 2, Configs: newConfigs()[:2]}, suite, []tasks.Result{
		trial("a", "plan=off", 1, tasks.Scored, 1), trial("a", "plan=off", 2, tasks.Scored, 1), trial("z", "plan=off", 1, tasks.Scored, 1),
	})
	assert.Equal(t, 3, r.all("plan=off").Missing)
	assert.Equal(t, 4, r.all("plan=on").Missing)
	assert.Equal(t, []string{
		"1 task of the suite left out: another has the same ID",
		"there are results of 1 task that the suite does not have",
		"3 trials of “plan=off” without a result: its figures are not final",
		"4 trials of “plan=on” without a result: its figures are not final",
	}, r.Warnings)
	assert.Nil(t, r.all("plan=on").Rate.Value)
	assert.Empty(t, r.Comparisons)
}

func TestGroups(t *testing.T) {
	drive := &tasks.Getter{Type: "googledrive_file"}
	suite := []*tasks.Task{
		{ID: "a", Domain: "libreoffice_calc"}, {ID: "b", Domain: "libreoffice_writer", Setup: []tasks.Step{{Type: "googledrive"}}}, {ID: "c", Domain: "os"}, {ID: "d", Domain: "chrome"},
		{ID: "e", Domain: "multi_apps", Evaluator: tasks.Evaluator{Checks: []tasks.Check{{Result: drive}}}},
	}
	var results []tasks.Result
	for _, task := range suite {
		results = append(results, trial(task.ID, "x", 1, tasks.Scored, 1))
	}
	trials := map[string]int{}
	for _, f := range New(Meta{}, suite, results).Figures {
		trials[f.Kind+" "+f.Name] = f.Trials
	}
	assert.Equal(t, map[string]int{
		"all all": 5, "without_google_drive all without Google Drive": 3, "group Office": 2, "group Daily": 1,
		"domain libreoffice_calc": 1, "domain libreoffice_writer": 1, "domain os": 1, "domain chrome": 1, "domain multi_apps": 1,
	}, trials)
	for _, f := range New(Meta{}, suite[2:4], results[2:4]).Figures {
		assert.NotEqual(t, kindWithoutDrive, f.Kind)
	}
}

func TestRepeats(t *testing.T) {
	r := New(Meta{}, nil, []tasks.Result{
		trial("a", "x", 1, tasks.Scored, 1), trial("a", "x", 2, tasks.Scored, 0), trial("a", "x", 3, tasks.Errored, 0),
		trial("b", "x", 1, tasks.Scored, 1), trial("b", "x", 2, tasks.Scored, 1),
	})
	require.Len(t, r.Repeats, 3)
	one, two, three := r.Repeats[0], r.Repeats[1], r.Repeats[2]
	assert.InDelta(t, (1.0/3+1)/2, *one.Any.Value, tiny)
	assert.InDelta(t, *one.Any.Value, *one.All.Value, tiny)
	assert.Equal(t, 2, two.Tasks)
	assert.InDelta(t, (2.0/3+1)/2, *two.Any.Value, tiny)
	assert.InDelta(t, 0.5, *two.All.Value, tiny)
	assert.Equal(t, 1, three.Tasks, "the other was not done three times")
	assert.Nil(t, three.Any.Interval)
	assert.Equal(t, 1, r.all("x").Missing)
	assert.InDelta(t, 1.0/3, *r.PerTask[0].Rate, tiny)
	assert.Equal(t, 3, r.PerTask[0].Trials)
}

func TestJSONReadsBack(t *testing.T) {
	suite := newSuite(30)
	r := New(newMeta(3), suite, newResults(suite, newConfigs(), 2))
	var first, second bytes.Buffer
	require.NoError(t, r.writeJSON(&first))
	var back Report
	require.NoError(t, json.Unmarshal(first.Bytes(), &back))
	assert.Equal(t, Schema, back.Schema)
	require.NoError(t, back.writeJSON(&second))
	assert.Equal(t, first.String(), second.String())
	var none bytes.Buffer
	require.NoError(t, New(Meta{}, nil, nil).writeJSON(&none))
	assert.NotContains(t, none.String(), "null,", "lists are empty, not null")
	before := newResults(suite, newConfigs(), 2)
	after := newResults(suite, newConfigs(), 2)
	New(newMeta(3), suite, after)
	assert.Equal(t, before, after, "the results are not changed")
}
