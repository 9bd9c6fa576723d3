package text

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"desktop-agent/tasks"
)

// checkPython: the function "test" of the expected file, or that of the option
// "test_function_name", is true for the files of the result, or gives a score. All
// files that the task copies lie beside the suite, whatever it gives the metric, and
// only the suite says whether one that is missing is needed.
func (j judge) checkPython(ctx context.Context, result, expected tasks.Value, options tasks.Params) (tasks.Score, error) {
	if j.Python == nil {
		return tasks.Score{}, fmt.Errorf("check_python_file_by_test_suite needs a Python interpreter: run it where one is set up")
	}
	function, err := options.Text("test_function_name")
	if err != nil {
		return tasks.Score{}, err
	}
	if function == "" {
		function = "test"
	}
	e, err := expectedFile(expected)
	if err != nil {
		return tasks.Score{}, err
	}
	if err := e.check(maxText); err != nil {
		return tasks.Score{}, err
	}
	test := PythonTest{Suite: e.path, Function: function, Beside: map[string]string{}}
	beside(test.Beside, expected, nil)
	var bad error
	beside(test.Beside, result, func(path string) bool {
		err := file{path, true}.check(maxText)
		bad = cmp.Or(bad, err)
		return err == nil
	})
	delete(test.Beside, filepath.Base(e.path))
	if len(test.Beside) == 0 {
		return tasks.Score{}, cmp.Or(bad, lacking("result: %v", tasks.ErrNoFile))
	}
	r, err := j.Python(ctx, test)
	if err != nil {
		return tasks.Score{}, fmt.Errorf("test suite: %w", err)
	}
	score := tasks.Score{Value: min(max(r.Score, 0), 1)}
	if score.Value < 1 {
		score.Why = fmt.Sprintf("the test suite fails: %.500s", r.Output)
	}
	return score, nil
}

// beside notes the files of a value by the names that they have beside a test suite:
// those that were copied for the task, also where the metric is given only one.
func beside(names map[string]string, v tasks.Value, good func(path string) bool) {
	files, err := tasks.AllFiles(v)
	if err != nil {
		return
	}
	for _, f := range files {
		all := f.All
		if all == nil {
			all = map[string]string{filepath.Base(f.Path): f.Path}
		}
		for name, path := range all {
			if path != "" && (good == nil || good(path)) {
				names[name] = path
			}
		}
	}
}
