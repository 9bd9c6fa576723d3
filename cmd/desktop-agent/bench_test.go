//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/tasks"
	"desktop-agent/tasks/bench"
)

// ownSuite returns the folder of the suite of this project.
func ownSuite(t *testing.T) string {
	dir, err := filepath.Abs("../../suites/desktop")
	require.NoError(t, err)
	return dir
}

// benched runs the program.
func benched(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	p := start(t, args...)
	code = p.code()
	return code, p.stdout.String(), p.stderr.String()
}

func TestSuiteCheck(t *testing.T) {
	code, out, errs := benched(t, "suite", "check", ownSuite(t), "--offline", "--json")
	require.Zero(t, code, errs)
	for line := range strings.Lines(out) {
		var row struct {
			Task string
			Why  []string
		}
		require.NoError(t, json.Unmarshal([]byte(line), &row))
		for _, why := range row.Why { // it takes Debian packages, and nothing else
			assert.Regexp(t, "apt-get install|Debian package", why, row.Task)
		}
	}
	assert.GreaterOrEqual(t, strings.Count(out, "\n"), 30)
}

// TestSuiteRefused checks and runs a suite of which nothing can be done here: each
// task is skipped with its reason, and none is scored.
func TestSuiteRefused(t *testing.T) {
	t.Parallel()
	suite, results := t.TempDir(), filepath.Join(t.TempDir(), "results")
	why := map[string]string{
		"attacked": `its injection is not planted here: there is no way "wobsite"`, "launching": "no-such-program is not installed",
		"_judged": "nothing but a judge can tell what came of it, and none scores it: see --judge=score",
	}
	for id, more := range map[string]string{
		"attacked":  `"injections": [{"type": "wobsite", "goals": ["stop_task"]}]`,
		"launching": `"config": [{"type": "launch", "parameters": {"command": ["no-such-program"]}}]`,
		"_judged":   `"config": []`,
	} {
		file := filepath.Join(suite, "examples", "os", id+".json")
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(`{"id": "`+id+`", "instruction": "Do it.", "evaluator": {"func": "infeasible"}, `+more+`}`), 0o644))
	}
	code, out, errs := benched(t, "suite", "check", suite)
	require.Zero(t, code, errs)
	assert.Regexp(t, `os +_judged +0/0 +yes +model +\n`, out)
	assert.Regexp(t, `os +attacked +0/0 +NO +yes +its injection is not planted here: there is no way "wobsite"`, out)
	assert.Regexp(t, `os +launching +0/0 +NO +yes +no-such-program is not installed\n`, out)
	assert.Contains(t, errs, "3 tasks loaded, 1 of them can be done here; 0 problems")

	code, _, errs = benched(t, "bench", suite, "--model", scripted, "--results", results)
	require.Zero(t, code, errs)
	list, err := bench.ReadResults(results)
	require.NoError(t, err)
	assert.Len(t, list, 9)
	for _, r := range list {
		assert.Equal(t, tasks.Skipped, r.Status, r.Task)
		assert.Contains(t, r.Why, why[r.Task])
		assert.Zero(t, r.Score)
		assert.Nil(t, r.Judge)
	}
}

// TestSuiteCheckRun has nothing done in a suite's tasks, and names the one where that
// scores.
func TestSuiteCheckRun(t *testing.T) {
	t.Parallel()
	suite := t.TempDir()
	for id, command := range map[string]string{"begins": "true", "ends": "touch done"} {
		file := filepath.Join(suite, "examples", "os", id+".json")
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(`{"id": "`+id+`", "instruction": "Make the file done.", "config": [{"type": "execute", "parameters": {"command": "`+command+`"}}],
			"evaluator": {"func": "exact_match", "result": {"type": "vm_command_line", "command": "ls done"}, "expected": {"type": "rule", "rules": {"expected": "done\n"}}}}`), 0o644))
	}
	code, out, errs := benched(t, "suite", "check", suite, "--run")
	if strings.Contains(errs, "cannot be kept apart") {
		t.Skip("not held here: ", errs)
	}
	require.Zero(t, code, errs)
	assert.Regexp(t, `os +begins +0/0 +yes +yes +\n`, out)
	assert.Regexp(t, `os +ends +0/0 +yes +yes +doing nothing scores 1\n`, out)
	assert.Contains(t, errs, "2 trials with nothing done\n")
	assert.Contains(t, errs, "2 tasks loaded, 1 of them can be done here")
}

// TestSuitesOfOthers reads the public tasks, where they are.
func TestSuitesOfOthers(t *testing.T) {
	data := os.Getenv("OSWORLD_DATA")
	if data == "" {
		t.Skip("there are no public tasks: set OSWORLD_DATA to a folder with osworld and osharm")
	}
	for _, name := range []string{"osworld", "osharm"} {
		files, err := filepath.Glob(filepath.Join(data, name, "examples", "*", "*.json"))
		require.NoError(t, err)
		code, out, errs := benched(t, "suite", "check", filepath.Join(data, name), "--json")
		require.Zero(t, code, errs)
		assert.GreaterOrEqual(t, strings.Count(out, "\n"), len(files), name) // one with injections is several
	}
}

// TestBenchScripted does a task by its script, is stopped, and goes on.
func TestBenchScripted(t *testing.T) {
	t.Parallel()
	results := filepath.Join(t.TempDir(), "results")
	args := []string{"bench", ownSuite(t), "--model", scripted, "--results", results, "--only", "rename-folder"}
	p := start(t, args...)
	require.Eventually(t, func() bool {
		list, _ := bench.ReadResults(results)
		return len(list) > 0
	}, 2*time.Minute, 50*time.Millisecond, "%s", p.stderr)
	require.NoError(t, p.Process.Signal(syscall.SIGINT))
	require.Equal(t, exitInterrupted, p.code(), "%s", p.stderr)
	assert.Contains(t, p.stderr.String(), "the same command goes on where this ended")
	first, err := bench.ReadResults(results)
	require.NoError(t, err)

	code, out, errs := benched(t, args...)
	require.Zero(t, code, errs)
	assert.Contains(t, out, "1 of 1 trial")
	list, err := bench.ReadResults(results)
	require.NoError(t, err)
	require.Len(t, list, 3)
	for i, r := range list {
		if i < len(first) {
			assert.Equal(t, first[i], r, "it is not done again")
		}
		if i > len(first) { // the next one was given back
			assert.Equal(t, 1, r.Delivery, "no worker ends by itself")
		}
		want := 0.0
		if r.Config == "solution" {
			want = 1
		}
		assert.Equal(t, tasks.Scored, r.Status, r.Why)
		assert.InDelta(t, want, r.Score, 0, "%s of %s: %s", r.Config, r.Task, r.Why)
		assert.Positive(t, r.Millis.Setup)
	}
	for _, name := range []string{"report.html", "results.json", "junit.xml"} {
		assert.FileExists(t, filepath.Join(results, name))
	}

	// Results of other settings are not taken for those of these.
	code, _, errs = benched(t, append(args, "--compat")...)
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "are of other settings (Compat)")
	assert.Contains(t, errs, "hint: name another folder with --results")
}

// TestResultsFolder holds that a benchmark whose results cannot be written does not begin, and
// says what to do.
func TestResultsFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, folder := range []string{"/proc/results", filepath.Join(file, "results")} { // not even root can make them
		code, _, errs := command(t, "bench", ownSuite(t), "--model", scripted, "--results", folder)
		assert.Equal(t, exitError, code, folder)
		assert.Contains(t, errs, "folder for results: ")
		assert.Equal(t, 1, strings.Count(errs, folder), "it is said once: %s", errs)
		assert.Contains(t, errs, "hint: name a folder that can be written to with --results")
	}
}

func TestBenchUsage(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"bench", ownSuite(t)}, "no model is set"},
		{[]string{"bench", ownSuite(t), "--model", scripted, "--repeat", "0"}, "less than once"},
		{[]string{"bench", ownSuite(t), "--model", scripted, "--parallel", "0"}, "less than one"},
		{[]string{"bench", ownSuite(t), "--model", scripted, "--only", "nothing"}, "no task is chosen"},
		{[]string{"bench", "nowhere", "--model", scripted}, "hint: name the folder of a suite"},
		{[]string{"bench", "worker"}, "name the server with --nats"},
		{[]string{"bench", "serve", ownSuite(t), "--model", scripted, "--listen", "here"}, "hint: write for example --listen"},
		{[]string{"suite", "check", "nowhere"}, "hint: name the folder of a suite"},
	} {
		code, _, errs := command(t, tt.args...)
		assert.Equal(t, exitUsage, code, "%v: %s", tt.args, errs)
		assert.Contains(t, errs, tt.want, "%v", tt.args)
	}
}
