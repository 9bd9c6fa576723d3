//go:build linux

package trial_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/env/envtest"
	"desktop-agent/tasks/trial"
)

// written returns a suite of one task: to write "done" into a file.
func written(t *testing.T, setup ...tasks.Step) *tasks.Suite {
	t.Helper()
	task := &tasks.Task{
		ID: "write", Domain: "os", Dir: t.TempDir(), Instruction: "Write done into /home/user/out.txt.", Setup: setup,
		Evaluator: tasks.Evaluator{Checks: []tasks.Check{{
			Metric:   "exact_match",
			Result:   &tasks.Getter{Type: "vm_command_line", Params: tasks.Params{"command": "cat /home/user/out.txt", "shell": true}},
			Expected: &tasks.Getter{Type: "rule", Params: tasks.Params{"rules": map[string]any{"expected": "done\n"}}},
		}}},
	}
	return &tasks.Suite{Name: "test", Dir: task.Dir, Tasks: []*tasks.Task{task}}
}

func execute(command string) tasks.Step {
	return tasks.Step{Type: "execute", Params: tasks.Params{"command": command, "shell": true}}
}

// etc is what the computers of all tests see of the machine's /etc.
var etc env.Etc

func TestMain(m *testing.M) {
	code := m.Run()
	if err := etc.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// do does the task "write", on a computer that shares its /etc with those of the others.
func do(t *testing.T, r *trial.Runner, config string) (tasks.Result, string, error) {
	t.Helper()
	envtest.Need(t)
	r.Etc = &etc
	dir := t.TempDir()
	result, err := r.Do(t.Context(), tasks.Trial{Task: "write", Config: config, Repeat: 1}, dir)
	assert.Equal(t, "write", result.Task)
	assert.Equal(t, config, result.Config)
	return result, dir, err
}

// TestAgent has a model do the task by the keyboard of a terminal, and one that
// only says that it is done.
func TestAgent(t *testing.T) {
	suite := written(t, tasks.Step{Type: "launch", Params: tasks.Params{"command": []any{"xterm"}}})
	const key = "sk-key-of-an-endpoint"
	world := llmtest.Func(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
		reply := llmtest.Text(`{"shown":true,"evidence":"xterm","missing":""}`)
		if req.Purpose == "assess" {
			reply = llmtest.Text(`{"changed":"text","as_expected":"yes","progress_step":0,"evidence":"","guidance":null,"stop":false}`)
		}
		return reply(ctx, req)
	})
	config := func(replies ...llmtest.Func) trial.Act {
		return trial.Agent(trial.Config{
			Client: func() *llm.Client {
				return &llm.Client{Model: &llmtest.Script{T: t, Replies: map[llm.Role][]llmtest.Func{
					llm.Actor: replies, llm.WorldModel: {world, world, world},
				}}, Default: llm.Settings{Model: "m"}}
			},
			Settings: run.Settings{
				Display: run.DisplaySettings{Private: true, MaxImage: 800},
				Agent:   run.AgentSettings{Planning: "off", Format: "code", MaxSteps: 4},
			},
			Secrets: []run.Secret{{Name: "api-key", Value: key}},
		})
	}
	typed := "Thought: I write it with " + key + ".\nExpect: It is written.\n```python\npyautogui.click(165, 110)\npyautogui.write('echo done > out.txt\\n')\n```"
	r := &trial.Runner{Suite: suite, Actors: map[string]trial.Act{
		"does":   config(llmtest.Text(typed), llmtest.Text("DONE: written")),
		"claims": config(llmtest.Text("DONE: written with " + key)),
	}}
	for name, want := range map[string]float64{"does": 1, "claims": 0} {
		t.Run(name, func(t *testing.T) {
			result, dir, err := do(t, r, name)
			require.NoError(t, err)
			assert.Equal(t, tasks.Scored, result.Status, result.Why)
			assert.InDelta(t, want, result.Score, 0, result.Why)
			assert.Equal(t, want == 1, result.Passed())
			assert.Positive(t, result.Millis.Setup)
			assert.Positive(t, result.Calls)
			run, err := replay.Open(dir)
			require.NoError(t, err)
			v, err := run.Verify(t.Context())
			require.NoError(t, err)
			assert.Empty(t, v.Problems)
			assert.Equal(t, image.Pt(1920, 1080), run.Info.Asked.Settings.Display.Size)
			for step, err := range run.Steps() {
				require.NoError(t, err)
				assert.Equal(t, image.Pt(800, 450), step.After.Mapping.Size, "the picture is as large as the settings say")
				break
			}
			assert.FileExists(t, filepath.Join(dir, "report.html"))
			// The key that the model's reply has is in nothing that is kept of the trial.
			require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() {
					return err
				}
				data, err := os.ReadFile(path)
				assert.NotContains(t, string(data), key, path)
				return err
			}))
			assert.NotContains(t, result.Answer, key)
		})
	}
}

// What was judged is its owner's alone, whatever the mask of new files is.
func TestJudgedIsPrivate(t *testing.T) {
	envtest.Need(t)
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	suite := written(t, execute("echo done > out.txt"), tasks.Step{Type: "execute", Params: tasks.Params{"command": "echo said", "shell": true, "stdout": "said.txt"}})
	task := suite.Tasks[0]
	require.NoError(t, os.WriteFile(filepath.Join(task.Dir, "wanted.txt"), []byte("done\n"), 0o600))
	wanted := &tasks.Getter{Type: "cloud_file", Params: tasks.Params{"path": "wanted.txt", "dest": "wanted.txt"}}
	task.Evaluator.Checks = []tasks.Check{{Metric: "compare_text_file", Result: wanted, Expected: wanted},
		{Metric: "compare_text_file", Result: &tasks.Getter{Type: "vm_file", Params: tasks.Params{"path": "/home/user/out.txt", "dest": "out.txt"}}, Expected: wanted}}
	idle := func(context.Context, *trial.Stage) (trial.Ending, error) { return trial.Ending{}, nil }
	result, dir, err := do(t, &trial.Runner{Suite: suite, Actors: map[string]trial.Act{"idle": idle}}, "idle")
	require.NoError(t, err)
	assert.True(t, result.Passed(), result.Why)
	kept := map[string]bool{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := entry.Info()
		require.NoError(t, err)
		if path != dir { // it is the test's
			assert.Zero(t, info.Mode().Perm()&0o077, "%s: %v", path, info.Mode())
		}
		kept[filepath.Base(path)] = true
		return nil
	}))
	for _, name := range []string{"judged", "saved", "said.txt", "wanted.txt", "out.txt"} {
		assert.Contains(t, kept, name)
	}
}

// The journal of what a task's author does tells whether set-up and evaluation broke; how the agent
// ended is not in it.
func TestAuthorsJournal(t *testing.T) {
	press := tasks.Step{Type: "execute", Params: tasks.Params{"command": []any{"python", "-c", "import pyautogui; pyautogui.press('esc')"}}}
	for _, tt := range []struct {
		name  string
		fails tasks.Step // of the set-up
		agent error
		want  run.Outcome
		says  string // the part of the error
	}{
		{"done", execute("true"), nil, run.OutcomeDone, ""},
		{"set-up breaks", execute("echo none there >&2; exit 3"), nil, run.OutcomeFailed, "exit status 3"},
		{"the agent breaks", execute("true"), os.ErrDeadlineExceeded, run.OutcomeDone, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			act := func(context.Context, *trial.Stage) (trial.Ending, error) { return trial.Ending{}, tt.agent }
			_, dir, err := do(t, &trial.Runner{Suite: written(t, press, tt.fails), Actors: map[string]trial.Act{"idle": act}}, "idle")
			assert.Equal(t, tt.agent == nil && tt.says == "", err == nil, "%v", err)
			runs, err := filepath.Glob(filepath.Join(dir, "author", "*"))
			require.NoError(t, err)
			require.Len(t, runs, 1)
			author, err := replay.Open(runs[0])
			require.NoError(t, err)
			var last run.Event
			for last, err = range author.Events() {
				require.NoError(t, err)
			}
			ended, ok := last.Data.(run.RunEnded)
			require.True(t, ok, "%+v", last)
			assert.Equal(t, tt.want, ended.Outcome)
			assert.Contains(t, ended.Error, tt.says)
		})
	}
}

// A user who stops the set-up has not made it fail.
func TestAuthorsJournalOfAStop(t *testing.T) {
	envtest.Need(t)
	stopped := errors.New("interrupted")
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	press := tasks.Step{Type: "execute", Params: tasks.Params{"command": []any{"python", "-c", "import pyautogui; pyautogui.press('esc')"}}}
	dir := t.TempDir()
	wait := tasks.Step{Type: "execute", Params: tasks.Params{"command": []any{"python", "-c", "import pyautogui, time; time.sleep(50)"}}}
	journal := func() (events []run.Event) {
		runs, _ := filepath.Glob(filepath.Join(dir, "author", "*"))
		for _, path := range runs {
			author, err := replay.Open(path)
			if err != nil {
				return nil // it is being made
			}
			for e, err := range author.Events() {
				if err != nil {
					return events
				}
				events = append(events, e)
			}
		}
		return events
	}
	go func() {
		for ctx.Err() == nil { // until it waits
			for _, e := range journal() {
				if a, ok := e.Data.(run.Acting); ok && actuator.Name(a.Action.Action) == "wait" {
					stop(stopped)
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	result, err := (&trial.Runner{Suite: written(t, press, wait), Actors: map[string]trial.Act{"idle": func(context.Context, *trial.Stage) (trial.Ending, error) { return trial.Ending{}, nil }}}).Do(ctx, tasks.Trial{Task: "write", Config: "idle", Repeat: 1}, dir)
	require.ErrorIs(t, err, stopped, "%+v", result)
	list := journal()
	require.NotEmpty(t, list)
	ended, ok := list[len(list)-1].Data.(run.RunEnded)
	require.True(t, ok, "%+v", list[len(list)-1])
	assert.Equal(t, run.OutcomeStopped, ended.Outcome)
	assert.Contains(t, ended.Answer, "interrupted")
	assert.Empty(t, ended.Error)
}

// Programs that the agent has take more than a task may have are its failure; those of
// the set-up break the trial.
func TestLimitIsTheAgents(t *testing.T) {
	const fork = "for i in $(seq 300); do sleep 3681 & done; wait"
	act := func(ctx context.Context, s *trial.Stage) (trial.Ending, error) {
		if err := s.Env.Start(ctx, env.Command{Args: []string{fork}, Shell: true}); err != nil {
			return trial.Ending{}, err
		}
		<-ctx.Done()
		return trial.Ending{Steps: 3}, context.Cause(ctx)
	}
	r := &trial.Runner{Suite: written(t), Limits: env.Limits{Processes: 200}, Actors: map[string]trial.Act{"greedy": act}}
	result, _, err := do(t, r, "greedy")
	require.NoError(t, err)
	assert.Equal(t, tasks.Scored, result.Status)
	assert.Zero(t, result.Score)
	assert.Equal(t, 3, result.Steps)
	assert.Equal(t, "the task's programs went to their limit of 200 processes and threads, and were ended", result.Why)
	assert.Empty(t, result.Stage)

	// So is a desktop that dies of it.
	dies := func(ctx context.Context, s *trial.Stage) (trial.Ending, error) {
		const script = "perl -e 'my $x = \"x\" x 600000000; sleep 5'; pkill -9 dbus-daemon"
		_, err := s.Env.Run(ctx, env.Command{Args: []string{script}, Shell: true})
		<-ctx.Done()
		return trial.Ending{Steps: 1}, errors.Join(err, context.Cause(ctx))
	}
	small := &trial.Runner{Suite: r.Suite, Limits: env.Limits{Memory: 300 << 20}, Actors: map[string]trial.Act{"dies": dies}}
	result, _, err = do(t, small, "dies")
	require.NoError(t, err)
	assert.Equal(t, tasks.Scored, result.Status)
	assert.Zero(t, result.Score)
	assert.Equal(t, "the task's programs went to their limit of 300 MiB of memory, and were ended", result.Why)

	r.Suite = written(t, execute(fork))
	result, _, err = do(t, r, "greedy")
	require.ErrorContains(t, err, "limit of 200 processes and threads")
	assert.Equal(t, trial.StageSetup, result.Stage)
	assert.NotEqual(t, tasks.Scored, result.Status)
}

// TestBreaks holds that what breaks is no score, and says where.
func TestBreaks(t *testing.T) {
	idle := func(context.Context, *trial.Stage) (trial.Ending, error) { return trial.Ending{}, nil }
	t.Run("set-up", func(t *testing.T) {
		suite := written(t, tasks.Step{Type: "upload_file", Params: tasks.Params{"files": []any{map[string]any{"local_path": "none.txt", "path": "/home/user/x"}}}})
		result, _, err := do(t, &trial.Runner{Suite: suite, Actors: map[string]trial.Act{"idle": idle}}, "idle")
		require.NoError(t, err)
		assert.Equal(t, tasks.Skipped, result.Status)
		assert.Contains(t, result.Why, "none.txt is not there")
	})
	t.Run("a step without effect", func(t *testing.T) {
		// What is to be switched off is off where nothing is: idling would score 1.
		suite := written(t, execute("sed -i s/off/on/ .config/none/Preferences && rm out.txt"))
		suite.Tasks[0].Evaluator.Checks[0].Expected.Params["rules"] = map[string]any{"expected": ""}
		result, _, err := do(t, &trial.Runner{Suite: suite, Actors: map[string]trial.Act{"idle": idle}}, "idle")
		require.ErrorContains(t, err, "can't read .config/none/Preferences")
		assert.Equal(t, trial.StageSetup, result.Stage)
		assert.Zero(t, result.Score)
		result, _, err = do(t, &trial.Runner{Suite: suite, Compat: true, Actors: map[string]trial.Act{"idle": idle}}, "idle")
		require.NoError(t, err)
		assert.EqualValues(t, 1, result.Score, "as in OSWorld")
	})
	t.Run("the live web", func(t *testing.T) {
		suite := written(t, tasks.Step{Type: "chrome_open_tabs", Params: tasks.Params{"urls_to_open": []any{"https://example.org"}}})
		result, _, err := do(t, &trial.Runner{Suite: suite, Actors: map[string]trial.Act{"idle": idle}}, "idle")
		require.NoError(t, err)
		assert.Equal(t, tasks.Skipped, result.Status)
	})
	t.Run("the actor", func(t *testing.T) {
		act := func(context.Context, *trial.Stage) (trial.Ending, error) {
			return trial.Ending{Steps: 2}, os.ErrDeadlineExceeded
		}
		result, _, err := do(t, &trial.Runner{Suite: written(t), Actors: map[string]trial.Act{"breaks": act}}, "breaks")
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.Equal(t, trial.StageRun, result.Stage)
		assert.Equal(t, 2, result.Steps)
	})
	t.Run("the judgement", func(t *testing.T) {
		suite := written(t, execute("echo done > out.txt"))
		suite.Tasks[0].Evaluator.Checks[0].Metric = "nobody_knows"
		result, _, err := do(t, &trial.Runner{Suite: suite, Actors: map[string]trial.Act{"idle": idle}}, "idle")
		require.Error(t, err)
		assert.Equal(t, trial.StageEvaluate, result.Stage)
	})
	t.Run("no such task", func(t *testing.T) {
		_, err := (&trial.Runner{Suite: written(t), Actors: map[string]trial.Act{"idle": idle}}).Do(t.Context(), tasks.Trial{Task: "x", Config: "idle"}, t.TempDir())
		require.ErrorContains(t, err, `there is no task "x"`)
		_, _, err = do(t, &trial.Runner{Suite: written(t)}, "none")
		require.ErrorContains(t, err, `there is no configuration "none"`)
	})
	t.Run("no script", func(t *testing.T) {
		_, _, err := do(t, &trial.Runner{Suite: written(t), Actors: map[string]trial.Act{"solution": trial.Scripted(trial.Solution)}}, "solution")
		require.ErrorContains(t, err, "has no script: write solutions/write.json")
	})
}
