package evaluate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/env/envtest"
	"desktop-agent/tasks/osworld/evaluate"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shell is a step that runs a script.
func shell(script string) tasks.Step {
	return tasks.Step{Type: "execute", Params: tasks.Params{"command": script, "shell": true}}
}

// look judges a file of a task's computer after some steps: it must be "one".
func look(t *testing.T, e *env.Env, path string, steps ...tasks.Step) tasks.Score {
	t.Helper()
	suite := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(suite, "gold.txt"), []byte("one\n"), 0o644))
	task := &tasks.Task{ID: "t", Dir: suite, Evaluator: tasks.Evaluator{Post: steps, Checks: []tasks.Check{{
		Metric:   "compare_text_file",
		Result:   &tasks.Getter{Type: "vm_file", Params: tasks.Params{"path": path, "dest": "x.txt"}},
		Expected: &tasks.Getter{Type: "cloud_file", Params: tasks.Params{"path": "file://gold.txt", "dest": "x.txt"}},
	}}}}
	score, err := evaluate.Task(t.Context(), e, task, evaluate.Done, &evaluate.Options{Folder: t.TempDir(), Offline: true})
	require.NoError(t, err)
	return score
}

// What stands where a result should be is the agent's: whatever it is, it is judged, and
// never an error. A program that holds a file does not keep it from being looked at.
func TestResultFiles(t *testing.T) {
	e := envtest.Start(t, nil)
	for _, tt := range []struct {
		name, script string
		want         float64
	}{
		{"file", "echo one >x.txt", 1},
		{"none", "true", 0},
		{"folder", "mkdir x.txt; echo one >x.txt/x.txt", 0},
		{"link to a file of the task", "echo one >real; ln -s real x.txt", 1},
		{"link to another's", "ln -s /etc/passwd x.txt", 0},
		{"link to nothing", "ln -s none x.txt", 0},
		{"link to itself", "ln -s x.txt x.txt", 0},
		{"pipe", "mkfifo x.txt", 0},
		{"empty", ": >x.txt", 0},
		{"1 GB", "truncate -s 1G x.txt", 0},
		{"more than is read", "truncate -s 3G x.txt", 0},
		{"unreadable", "echo one >x.txt; chmod 000 x.txt", 0},
		{"locked by a program", "echo one >x.txt; (flock 9; sleep 1000) 9<x.txt >/dev/null 2>&1 &", 1},
		{"written by a program, and open", "(echo one; exec sleep 1000) >x.txt 2>/dev/null & while [ ! -s x.txt ]; do sleep 0.01; done", 1},
		{"locked by LibreOffice", "echo one >x.txt; echo ,user,host >.~lock.x.txt#", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			score := look(t, e, "/home/user/x.txt", shell("rm -rf x.txt real; "+tt.script))
			if tt.name == "unreadable" && score.Value == 1 {
				t.Skip("the looker is root, who reads all")
			}
			assert.InDelta(t, tt.want, score.Value, 0, score.Why)
			assert.Equal(t, score.Value < 1, score.Why != "", score.Why)
		})
	}
}

// A program that asks whether to save when it is closed or ended keeps nobody waiting:
// what it has not saved is not there.
func TestAsksToSave(t *testing.T) {
	step := func(kind string, p tasks.Params) tasks.Step { return tasks.Step{Type: kind, Params: p} }
	for name, end := range map[string]tasks.Step{
		"closed": step("close_window", tasks.Params{"window_name": "x.txt"}),
		"ended":  step("launch", tasks.Params{"command": []any{"pkill", "mousepad"}}),
		"killed": shell("pkill -9 mousepad; true"),
	} {
		t.Run(name, func(t *testing.T) {
			e := envtest.Start(t, nil)
			if !e.Has("mousepad") {
				t.Skip("needs mousepad, which is not installed")
			}
			score := look(t, e, "/home/user/x.txt", shell("echo two >x.txt"), step("launch", tasks.Params{"command": []any{"mousepad", "/home/user/x.txt"}}),
				step("execute", tasks.Params{"command": []any{"python3", "-c", "import pyautogui; pyautogui.hotkey('ctrl', 'a'); pyautogui.write('one')"}}), end)
			assert.Zero(t, score.Value)
			assert.Contains(t, score.Why, "two", "the file as it was")
			windows, err := e.Windows(t.Context())
			require.NoError(t, err)
			assert.Equal(t, name == "closed", len(windows) > 1, "it still asks: %v", windows)
			if name == "closed" {
				assert.Contains(t, e.Notes(), `the program shows "Save Changes" first`)
			}
		})
	}
}

// What a program does of what it was told last is done before it is scored: it saves a while
// after a key. One that never comes to rest is scored as it is, and the result says so.
func TestRest(t *testing.T) {
	const noted = "it was scored while the screen was not at rest"
	for name, tt := range map[string]struct {
		script  string
		notes   bool
		atLeast time.Duration
	}{
		// Longer than is waited for after a key.
		"saves late":    {`read x; timeout 6 sh -c 'while :; do :; done'; echo one >x.txt; exec sleep 1000`, false, 0},
		"never at rest": {`read x; echo one >x.txt; while :; do date; done`, true, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			e := envtest.Start(t, nil)
			if !e.Has("xterm") {
				t.Skip("needs xterm, which is not installed")
			}
			require.NoError(t, e.Start(t.Context(), env.Command{Args: []string{"xterm", "-e", "sh", "-c", tt.script}}))
			_, err := e.WaitWindow(t.Context(), nil)
			require.NoError(t, err)
			require.NoError(t, e.Quiet(t.Context()))
			require.NoError(t, e.Perform(t.Context(), "import pyautogui; pyautogui.press('enter')"))
			begun := time.Now()
			score := look(t, e, "/home/user/x.txt")
			assert.InDelta(t, 1, score.Value, 0, score.Why)
			assert.Equal(t, tt.notes, strings.Contains(e.Notes(), noted), e.Notes())
			assert.GreaterOrEqual(t, time.Since(begun), tt.atLeast)
		})
	}
}
