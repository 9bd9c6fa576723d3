package trial

import (
	"context"
	"errors"
	"maps"
	"math"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"desktop-agent/tasks/env"
	"desktop-agent/tasks/osworld/evaluate"
	"desktop-agent/tasks/osworld/metric/text"
)

// evaluation returns how a trial is judged: what is looked at is kept in the
// folder "judged" of the trial.
func (r *Runner) evaluation(s *Stage) *evaluate.Options {
	return &evaluate.Options{
		Folder: filepath.Join(s.Dir, "judged"), Cache: r.Cache, Offline: r.Offline, Password: r.Password, Compat: r.Compat, Log: s.Log,
		Python: func(ctx context.Context, t text.PythonTest) (text.PythonResult, error) { return python(ctx, s.Env, t) },
	}
}

// judging is the folder, inside the task's computer, of Python test suites.
const judging = "/tmp/desktop-agent-judge"

// callTest imports a module, calls a function of it, and prints what that returns
// as a score in the last line: numbers between 0 and 1 as they are, anything else as
// Python takes it for true or false.
const callTest = `import importlib, sys
sys.path.insert(0, ".")
score = getattr(importlib.import_module(sys.argv[1]), sys.argv[2])()
if isinstance(score, bool) or not isinstance(score, (int, float)):
    score = bool(score)
print()
print(max(0.0, min(1.0, float(score))))`

// python runs a test suite inside the task's computer: what it tests is the
// agent's, and nothing of it runs on this machine.
func python(ctx context.Context, e *env.Env, t text.PythonTest) (text.PythonResult, error) {
	files := maps.Clone(t.Beside)
	files[filepath.Base(t.Suite)] = t.Suite
	for name, file := range files {
		if err := e.Put(file, path.Join(judging, filepath.ToSlash(name))); err != nil {
			return text.PythonResult{}, err
		}
	}
	module := strings.TrimSuffix(filepath.Base(t.Suite), ".py")
	out, err := e.Run(ctx, env.Command{Args: []string{"python3", "-c", callTest, module, t.Function}, Dir: judging})
	if errors.Is(err, env.ErrLimit) {
		return text.PythonResult{Output: "it took too long"}, nil
	}
	if err != nil {
		return text.PythonResult{}, err
	}
	stdout := strings.TrimRight(string(out.Stdout), "\n")
	at := strings.LastIndexByte(stdout, '\n') + 1
	score, err := strconv.ParseFloat(stdout[at:], 64)
	if err != nil || out.Code != 0 || math.IsNaN(score) {
		return text.PythonResult{Output: string(out.Stdout) + string(out.Stderr)}, nil
	}
	return text.PythonResult{Score: score, Output: stdout[:at] + string(out.Stderr)}, nil
}
