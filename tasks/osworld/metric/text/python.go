package text

import (
	"context"
	"fmt"

	"desktop-agent/tasks"
)

// checkPython: the function "test" of the expected file, or that of the option
// "test_function_name", is true for the files of the result.
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
	files, err := tasks.AllFiles(result)
	if err != nil {
		return tasks.Score{}, lacking("result: %v", err)
	}
	for _, one := range files {
		f, err := resultFile(one)
		if err != nil {
			return tasks.Score{}, err
		}
		if err := f.check(maxText); err != nil {
			return tasks.Score{}, err
		}
	}
	r, err := j.Python(ctx, PythonTest{Suite: tasks.File{Path: e.path}, Function: function, Files: files})
	if err != nil {
		return tasks.Score{}, fmt.Errorf("test suite: %w", err)
	}
	return yesOr(r.Passed, "the test suite fails: %.500s", r.Output), nil
}
