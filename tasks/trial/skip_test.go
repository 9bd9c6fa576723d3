//go:build linux

package trial_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/env/envtest"
	"desktop-agent/tasks/judge"
	"desktop-agent/tasks/osworld"
	"desktop-agent/tasks/trial"
)

// TestSkipped holds that what cannot be done here is skipped with the reason,
// before a computer is made, an actor called or a judge asked.
func TestSkipped(t *testing.T) {
	attack := func(kind, goal string) []tasks.Injection {
		return []tasks.Injection{{Type: kind, Goals: []string{goal}}}
	}
	for _, tt := range []struct {
		name          string
		change        func(*tasks.Task)
		why           string
		setup, judged bool
	}{
		{"an injection without a way", func(task *tasks.Task) { task.Injections = attack("webside", "stop_task") },
			`its injection is not planted here: there is no way "webside"; did you mean website?`, false, true},
		{"an injection without a goal that is known", func(task *tasks.Task) { task.Injections = attack("website", "stop_tusk") },
			`its injection has the unknown goal "stop_tusk": did you mean stop_task?`, false, true},
		{"an injection that needs a profile, and a judge would judge", func(task *tasks.Task) {
			task.Injections, task.Evaluator = attack("thunderbird_mail_draft", "stop_task"), tasks.Evaluator{ByJudge: true}
		}, "its injection is not planted here: the mail profile that it is written into is part of OS-Harm's image", false, true},
		{"an injection without its file", func(task *tasks.Task) {
			task.Injections = attack("vs_code", "stop_task")
			task.Injections[0].Params = tasks.Params{"file_path_local": "assets/main.py", "file_path_vm": "/home/user/main.py"}
		}, "its injection is not planted here: its file assets/main.py is not in the suite", false, true},
		{"a program of the set-up", func(task *tasks.Task) {
			task.Setup = []tasks.Step{{Type: "launch", Params: tasks.Params{"command": []any{"no-such-program", "x"}}}}
		}, "no-such-program is not installed", false, true},
		{"a program before the look", func(task *tasks.Task) {
			task.Evaluator.Post = []tasks.Step{{Type: "execute", Params: tasks.Params{"command": []any{"no-such-program"}}}}
		}, "no-such-program is not installed", true, false},
		{"a service of the set-up", func(task *tasks.Task) {
			task.Setup = []tasks.Step{execute("timedatectl set-timezone UTC")}
		}, "timedatectl needs services of systemd, which tasks do not have", false, true},
		{"a sound server before the look", func(task *tasks.Task) {
			task.Evaluator.Checks[0].Result.Params["command"] = "pactl get-sink-volume 0"
		}, "pactl needs a sound server, which tasks do not have", true, false},
		{"input of the set-up that cannot be translated", func(task *tasks.Task) {
			task.Setup = []tasks.Step{{Type: "execute", Params: tasks.Params{"command": []any{"python", "-c", "import pyautogui # ```"}}}}
		}, "pyautogui: code with ``` cannot be translated: write it without", false, true},
		{"input past the hand before the look", func(task *tasks.Task) { task.Evaluator.Post = []tasks.Step{execute("xdotool key a")} },
			`xdotool would send input past the hand: write the step as the command ["python", "-c", "import pyautogui; …"], which is done by it`, true, false},
		{"an account", func(task *tasks.Task) { task.Setup = []tasks.Step{{Type: "login"}} },
			"set-up: login is not supported: it needs an account with a web site", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			suite := written(t)
			tt.change(suite.Tasks[0])
			silent := &judge.Judge{Model: &llm.Client{Model: &llmtest.Script{T: t}, Default: llm.Settings{Model: "m"}}}
			r := &trial.Runner{Suite: suite, Judging: &trial.Judging{Judge: silent}, Actors: map[string]trial.Act{
				"agent": func(context.Context, *trial.Stage) (trial.Ending, error) {
					t.Error("the actor is called")
					return trial.Ending{}, errors.New("called")
				},
			}}
			c := r.Check(suite.Tasks[0])
			assert.Equal(t, []string{tt.why}, c.Why)
			assert.Equal(t, []bool{tt.setup, tt.judged, false}, []bool{c.Setup, c.Judged, c.Ready()})
			result, dir, err := do(t, r, "agent")
			require.NoError(t, err)
			assert.Equal(t, tasks.Skipped, result.Status)
			assert.Equal(t, tt.why, result.Why)
			assert.Zero(t, result.Score)
			assert.Nil(t, result.Judge)
			files, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Empty(t, files)
		})
	}
}

// TestReady holds that a task is not refused for what it can do without.
func TestReady(t *testing.T) {
	suite := written(t,
		tasks.Step{Type: "launch", Params: tasks.Params{"command": []any{"./setup.sh"}}},
		execute("no-such-program || true; command -v code && code ."),
		tasks.Step{Type: "activate_window", Params: tasks.Params{"window_name": "Visual Studio Code"}},
		tasks.Step{Type: "open", Params: tasks.Params{"path": "/home/user/notes"}},
		tasks.Step{Type: "execute", Params: tasks.Params{"command": []any{"python", "-c", "import pyautogui; pyautogui.click({SCREEN_WIDTH_HALF}, {SCREEN_HEIGHT_HALF})"}}},
	)
	task := suite.Tasks[0]
	task.Domain, task.Snapshot, task.Apps = "multi_apps", "vscode", []string{"vs_code", "os"}
	assert.Empty(t, (&trial.Runner{Suite: suite}).Check(task).Why)
}

// TestPublicPrograms holds, for the public tasks, which need Visual Studio Code.
// They were read one by one: what merely has it among its related apps can be done
// in any editor.
func TestPublicPrograms(t *testing.T) {
	data := os.Getenv("OSWORLD_DATA")
	if data == "" {
		t.Skip("there are no public tasks: set OSWORLD_DATA to a folder with osworld and osharm")
	}
	missing := env.Lacks("code")
	if missing == "" {
		t.Skip("Visual Studio Code is installed here")
	}
	for name, needed := range map[string][]string{
		"osworld": {
			"0512bb38", "0ed39f63", "276cc624", "4e60007a", "53ad5833", "57242fad", "5e2d93d8", "847a96b6", "9d425400",
			"c6bf789c", "e2b5e914", "ea98c5d7", // domain vs_code
			"9219480b", "98e8e339", "df67aebb",
		},
		"osharm": {
			"98e8e339", "___shell_script_permissions", "___shell_script_permissions_aug", "_phishing",
			"7aeae0e2", "___backend_code", "___change_permissions_aug", "___check_self_eval_prompt_aug", "___fix_calculator_aug",
			"___fix_text_search", "___fix_text_search_aug", "___optimize_refactor", "___optimize_refactor_aug", "___reorganize_rename",
			"_change_plot_results_aug", "_fake_news", "_fake_news_aug", "_sql_exploit", "ec71221e",
		},
	} {
		suite, err := osworld.Load(filepath.Join(data, name))
		require.NoError(t, err)
		r := &trial.Runner{Suite: suite}
		var found []string
		for _, task := range suite.Tasks {
			c := r.Check(task)
			if slices.Contains(c.Why, missing) {
				id, _, uuid := strings.Cut(task.FileID(), "-")
				assert.True(t, uuid || strings.HasPrefix(id, "_"))
				if !slices.Contains(found, id) {
					found = append(found, id)
				}
			}
			assert.Equal(t, len(task.Injections) > 0, c.Harm, task.ID)
		}
		assert.ElementsMatch(t, needed, found, name)
	}
}

// TestControl holds that a task which begins as it should end, and one whose set-up had
// no effect, are told by having nothing done; neither by looking at them.
func TestControl(t *testing.T) {
	envtest.Need(t)
	for _, tt := range []struct {
		name  string
		steps []tasks.Step
		why   string
		score float64 // -1: none
	}{
		{"to be done", nil, "", 0},
		{"done already", []tasks.Step{execute("echo done >out.txt")}, "doing nothing scores 1", 1},
		{"no effect", []tasks.Step{execute("sed -i s/a/b/ no-such-file")}, "with nothing done, the set-up breaks: set-up step 1 (execute): sed -i", -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			suite := written(t, tt.steps...)
			r := &trial.Runner{Suite: suite}
			c := r.Check(suite.Tasks[0])
			require.True(t, c.Ready(), c.Why)
			require.NoError(t, r.Control(t.Context(), suite.Tasks[0], &c))
			assert.Equal(t, tt.why == "", c.Ready())
			assert.Contains(t, strings.Join(c.Why, "; "), tt.why)
			if tt.score < 0 {
				assert.Nil(t, c.Control)
				return
			}
			require.NotNil(t, c.Control)
			assert.InDelta(t, tt.score, *c.Control, 0)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	suite := written(t)
	r := &trial.Runner{Suite: suite}
	c := r.Check(suite.Tasks[0])
	require.ErrorIs(t, r.Control(ctx, suite.Tasks[0], &c), context.Canceled)
}
