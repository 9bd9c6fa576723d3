package trial

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"desktop-agent/tasks"
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

// callTest imports a module and calls a function of it: exit code 0 if that
// returns something true.
const callTest = `import importlib, sys
sys.path.insert(0, ".")
sys.exit(0 if getattr(importlib.import_module(sys.argv[1]), sys.argv[2])() else 3)`

// python runs a test suite inside the task's computer: what it tests is the
// agent's, and nothing of it runs on this machine.
func python(ctx context.Context, e *env.Env, t text.PythonTest) (text.PythonResult, error) {
	for _, file := range append(tasks.Files{t.Suite}, t.Files...) {
		if file.Path == "" {
			continue
		}
		if err := e.Put(file.Path, path.Join(judging, filepath.Base(file.Path))); err != nil {
			return text.PythonResult{}, err
		}
	}
	module := strings.TrimSuffix(filepath.Base(t.Suite.Path), ".py")
	out, err := e.Run(ctx, env.Command{Args: []string{"python3", "-c", callTest, module, t.Function}, Dir: judging})
	if errors.Is(err, env.ErrLimit) {
		return text.PythonResult{Output: "it took too long"}, nil
	}
	if err != nil {
		return text.PythonResult{}, err
	}
	return text.PythonResult{Passed: out.Code == 0, Output: string(out.Stdout) + string(out.Stderr)}, nil
}
