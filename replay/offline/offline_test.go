package offline_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/replay/offline"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const demo = "../../cmd/desktop-agent/demo/run"

// again replays a run.
func again(t testing.TB, stored *replay.Run, o *offline.Options, change ...func(*run.Settings)) *offline.Result {
	t.Helper()
	r, err := offline.New(stored, o)
	require.NoError(t, err)
	for _, f := range change {
		f(&r.Settings)
	}
	result, err := r.Run(t.Context())
	require.NoError(t, err)
	return result
}

// same asserts that a replay went the recorded way, down to the prompts.
func same(t *testing.T, result *offline.Result) {
	t.Helper()
	assert.True(t, result.Same(), pretty(result.Differences))
	assert.Zero(t, result.Changed, pretty(result.Prompts))
}

func open(t testing.TB, dir string) *replay.Run {
	t.Helper()
	stored, err := replay.Open(dir)
	require.NoError(t, err)
	return stored
}

func TestTheDemo(t *testing.T) {
	for _, pixels := range []bool{false, true} {
		t.Run(fmt.Sprintf("pixels %v", pixels), func(t *testing.T) {
			result := again(t, open(t, demo), &offline.Options{Pixels: pixels})
			same(t, result)
			assert.Equal(t, run.OutcomeDone, result.Outcome)
			assert.Equal(t, 12, result.Steps)
			assert.Equal(t, 26, result.Asked)
		})
	}
}

// TestWhatRunsDo records runs with everything that a loop can meet, and does
// them again.
func TestWhatRunsDo(t *testing.T) {
	small := image.Pt(800, 600)
	code := func(lines string) func(int) string {
		return func(n int) string {
			if n != 1 {
				return ""
			}
			return "Thought: t.\nExpect: e.\n```python\n" + lines + "\n```"
		}
	}
	for name, tt := range map[string]struct {
		script   func(*script)
		settings func(*run.Settings)
	}{
		"plain": {},
		"a batch": {script: func(s *script) {
			s.replyN = code("pyautogui.click(30, 30)\npyautogui.write('milk')\npyautogui.press('enter')")
		}},
		"nothing changes":    {script: func(s *script) { s.stuck = true }},
		"refused":            {script: func(s *script) { s.refuse = map[int]error{2: fmt.Errorf("no: %w", actuator.ErrRefused)} }},
		"unknown":            {script: func(s *script) { s.refuse = map[int]error{2: errors.New("the display is slow")} }},
		"no action":          {script: func(s *script) { s.replyN = code("import os") }},
		"zoom":               {script: func(s *script) { s.replyN = code("agent.zoom(10, 10, 100, 80)") }},
		"a disabled element": {script: func(s *script) { s.off, s.replyN = true, code("pyautogui.press('a')\nagent.click('n3')") }},
		"a disabled place":   {script: func(s *script) { s.off, s.replyN = true, code("pyautogui.click(90, 30)") }},
		"held to the end":    {script: func(s *script) { s.replyN = code("pyautogui.keyDown('ctrl')\npyautogui.mouseDown(30, 30)") }},
		"held at a stop": {script: func(s *script) {
			s.off, s.replyN = true, code("pyautogui.keyDown('ctrl')\nagent.click('n3')\npyautogui.press('a')")
		}},
		"what need not show": {script: func(s *script) { s.stuck, s.replyN = true, code("pyautogui.hotkey('ctrl', 'c')\npyautogui.press('a')") }},
		"two blocks":         {script: func(s *script) { s.replyN = code("pyautogui.press('a')\n```\n```python\npyautogui.press('b')") }},
		"copy":               {script: func(s *script) { s.replyN = code("agent.copy()") }},
		"nobody to ask":      {script: func(s *script) { s.replyN = code("agent.ask('which?')") }},
		"an answer": {script: func(s *script) {
			s.replyN, s.ask = code("agent.ask('which?')"), func(context.Context, string) (string, error) { return "the red one", nil }
		}},
		"infeasible": {script: func(s *script) { s.replyN = code("FAIL: there is no such page") }},
		"not confirmed": {script: func(s *script) {
			s.out = map[string]string{"goal": `{"shown":false,"evidence":"","missing":"the page"}`}
		}},
		"no plan":      {script: func(s *script) { s.fails = map[string]error{"generate": errors.New("503")} }},
		"planning off": {settings: func(s *run.Settings) { s.Agent.Planning = "off" }},
		"a demonstration": {settings: func(s *run.Settings) {
			s.Like = &run.Demonstration{Task: "once", Steps: []string{"click it"}}
		}},
		"out of steps":     {settings: func(s *run.Settings) { s.Agent.MaxSteps = 3 }},
		"a guard refuses":  {script: func(s *script) { s.guard = refusing(90) }},
		"a guard foresees": {script: func(s *script) { s.guard = &foreseeing{refusing: 90} }},
		"a person chooses another action": {script: func(s *script) {
			s.guard = choosing{actuator.Press{Keys: []actuator.Key{"esc"}, Count: 1}}
			s.replyN = code("pyautogui.click(90, 30)\npyautogui.press('a')")
		}},
		"a person chooses the same": {script: func(s *script) {
			s.guard = choosing{actuator.Click{At: &actuator.Point{X: 90, Y: 30}, Button: actuator.Left, Count: 1}}
			s.replyN = code("pyautogui.click(90, 30)\npyautogui.press('a')")
		}},
		"the endpoint fails": {script: func(s *script) { s.fails = map[string]error{"propose": errors.New("503")} }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(4, small)
			if tt.script != nil {
				tt.script(s)
			}
			change := tt.settings
			if change == nil {
				change = func(*run.Settings) {}
			}
			stored := record(t, s, true, change)
			require.NotNil(t, stored.Info.Ended)
			for _, pixels := range []bool{false, true} {
				result := again(t, stored, &offline.Options{Pixels: pixels})
				same(t, result)
				assert.Equal(t, stored.Info.Ended.Outcome, result.Outcome)
				assert.Equal(t, stored.Info.Ended.Calls, result.Asked+callsOfGuard(t, stored), "the guard's models are not asked again")
			}
		})
	}
}

// TestDetectorsOfTheRun holds that a replay judges by the thresholds with which the run was
// recorded: where the first event does not tell them, it does not end where the run did.
func TestDetectorsOfTheRun(t *testing.T) {
	s := newScript(12, image.Pt(400, 300))
	s.stuck = true
	s.replyN = func(int) string { return "Thought: t.\nExpect: e.\n```python\npyautogui.click(30, 30)\n```" }
	stored := record(t, s, true, func(s *run.Settings) { s.Agent.Detectors.Stuck = 2 })
	require.Equal(t, run.OutcomeStuck, stored.Info.Ended.Outcome)
	require.Equal(t, 2, s.asked["propose"], "two turns that led nowhere are enough")
	result := again(t, stored, nil)
	same(t, result)
	assert.Equal(t, run.OutcomeStuck, result.Outcome)
	assert.Equal(t, stored.Info.Ended.Steps, result.Steps)

	untold := open(t, stored.Dir)
	untold.Info.Asked.Settings.Agent.Detectors.Stuck = 0 // what the first event told, as it is kept in run.json
	result = again(t, untold, nil)
	assert.False(t, result.Same())
	assert.NotEqual(t, run.OutcomeStuck, result.Outcome)
}

// TestOtherWays changes the agent, the recording or the pixels, and wants to be
// told of it.
func TestOtherWays(t *testing.T) {
	stored := record(t, newScript(4, image.Pt(800, 600)), true)
	t.Run("other settings", func(t *testing.T) {
		result := again(t, stored, nil, func(s *run.Settings) { s.Agent.MaxSteps = 2 })
		assert.False(t, result.Same())
		assert.Equal(t, run.OutcomeOutOfSteps, result.Outcome)
		last := result.Differences[len(result.Differences)-1]
		assert.Contains(t, last.Want, "more steps")
		assert.Positive(t, result.Unused)
	})
	t.Run("no plan", func(t *testing.T) {
		result := again(t, stored, nil, func(s *run.Settings) { s.Agent.Planning = "off" })
		assert.False(t, result.Same())
		assert.Equal(t, "planned", result.Differences[0].Kind)
		assert.Positive(t, result.Changed, "the actor reads no plan")
		assert.Contains(t, result.Prompts[0].Diff, "\n-**SUGGESTED PLAN:**")
	})
	t.Run("another format", func(t *testing.T) {
		result := again(t, stored, nil, func(s *run.Settings) { s.Agent.Format = "tools" })
		assert.False(t, result.Same())
		assert.Equal(t, "proposed", result.Differences[0].Kind)
	})
	t.Run("another reply", func(t *testing.T) {
		other := rewritten(t, stored, "pyautogui.click(90, 30)", "pyautogui.click(91, 30)")
		result := again(t, other, nil)
		assert.ErrorContains(t, result.Err, "another way")
		require.NotEmpty(t, result.Differences)
		assert.Equal(t, 2, result.Differences[0].Step)
		assert.Contains(t, result.Differences[0].Got, `"x":91`)
	})
	t.Run("another reply, where a person chose another action", func(t *testing.T) {
		s := newScript(4, image.Pt(800, 600))
		s.guard = choosing{actuator.Press{Keys: []actuator.Key{"esc"}, Count: 1}}
		s.replyN = func(n int) string {
			return map[int]string{1: "Thought: t.\nExpect: e.\n```python\npyautogui.click(90, 30)\n```"}[n]
		}
		result := again(t, rewritten(t, record(t, s, true), "pyautogui.click(90, 30)", "pyautogui.click(91, 30)"), nil)
		assert.ErrorContains(t, result.Err, "another way")
		require.NotEmpty(t, result.Differences)
		assert.Contains(t, result.Differences[0].Got, `"x":91`)
	})
	t.Run("another prompt", func(t *testing.T) {
		other := rewritten(t, stored, "Screenshot f00002", "Picture f00002")
		result := again(t, other, nil)
		assert.True(t, result.Same(), pretty(result.Differences))
		assert.Positive(t, result.Changed)
		assert.Contains(t, result.Prompts[0].Diff, "-Picture f00002")
		assert.Contains(t, result.Prompts[0].Diff, "+Screenshot f00002")
	})
	t.Run("another picture", func(t *testing.T) {
		dir := copied(t, stored)
		data, err := os.ReadFile(filepath.Join(dir, "frames", "f00002.png"))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "frames", "f00003.png"), data, 0o600))
		same(t, again(t, open(t, dir), nil))
		result := again(t, open(t, dir), &offline.Options{Pixels: true})
		assert.False(t, result.Same())
		assert.Contains(t, pretty(result.Differences), "the pixels of screen")
	})
	t.Run("no picture", func(t *testing.T) {
		dir := copied(t, stored)
		require.NoError(t, os.Remove(filepath.Join(dir, "frames", "f00003.png")))
		same(t, again(t, open(t, dir), nil))
		r, err := offline.New(open(t, dir), &offline.Options{Pixels: true})
		require.NoError(t, err)
		result, err := r.Run(t.Context())
		require.NoError(t, err)
		assert.ErrorIs(t, result.Err, os.ErrNotExist)
	})
}

// TestCutOff replays what a run that was killed leaves, at every event.
func TestCutOff(t *testing.T) {
	stored := record(t, newScript(3, image.Pt(400, 300)), true)
	data, err := os.ReadFile(filepath.Join(stored.Dir, "events.jsonl"))
	require.NoError(t, err)
	lines := strings.SplitAfter(string(data), "\n")
	for n := 2; n < len(lines); n++ {
		dir := copied(t, stored)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "events.jsonl"), []byte(strings.Join(lines[:n], "")), 0o600))
		info, err := os.ReadFile(filepath.Join(dir, "run.json"))
		require.NoError(t, err)
		killed := strings.Replace(string(info), `"state": "ended"`, `"state": "running"`, 1)
		require.NotEqual(t, string(info), killed)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), []byte(killed), 0o600))
		result := again(t, open(t, dir), nil)
		if result.Different > 0 || result.Err != nil && !result.Over {
			t.Errorf("after %d events: %v, %s", n, result.Err, pretty(result.Differences))
		}
	}
}

func TestRefused(t *testing.T) {
	j, err := replay.Create(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, j.Close())
	_, err = offline.New(open(t, j.Dir()), nil)
	assert.ErrorContains(t, err, "does not tell what was asked")

	j, err = replay.Create(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, j.Append(t.Context(), 0, run.RunStarted{Schema: run.Schema, Task: "x", Models: map[string]string{"actor": "person"}}))
	require.NoError(t, j.Close())
	_, err = offline.New(open(t, j.Dir()), nil)
	assert.ErrorContains(t, err, "its actions can be replayed as a macro")
}

func TestCancelled(t *testing.T) {
	stored := record(t, newScript(20, image.Pt(400, 300)), true)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	r, err := offline.New(stored, &offline.Options{Pixels: true, Watch: func(e run.Event) {
		if e.Step == 3 {
			cancel(stop)
		}
	}})
	require.NoError(t, err)
	_, err = r.Run(ctx)
	assert.ErrorIs(t, err, stop)
}

// rewritten returns a copy of a run with another text in its events.
func rewritten(t *testing.T, stored *replay.Run, old, text string) *replay.Run {
	t.Helper()
	dir := copied(t, stored)
	path := filepath.Join(dir, "events.jsonl")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(data), old)
	require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(data), old, text)), 0o600))
	return open(t, dir)
}

func copied(t *testing.T, stored *replay.Run) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.CopyFS(dir, os.DirFS(stored.Dir)))
	return dir
}

func TestOnlyWhatDiffers(t *testing.T) {
	stored := record(t, newScript(4, image.Pt(400, 300)), true)
	result := again(t, rewritten(t, stored, `"thought":"page 2 is next."`, `"thought":"page 3 is next."`), nil)
	require.Equal(t, 1, result.Different)
	assert.Equal(t, offline.Difference{Step: 2, Kind: "proposed", Want: `{"thought":"page 3 is next."}`, Got: `{"thought":"page 2 is next."}`},
		result.Differences[0])
}

// A reply that zooms where the recorded one did not needs pixels that are not in
// memory: the run goes another way, and says so.
func TestZoomUnrecorded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.CopyFS(dir, os.DirFS(demo)))
	name := filepath.Join(dir, "events.jsonl")
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	changed := strings.Replace(string(data), "pyautogui.click(640, 511)", "agent.zoom(100, 100, 200, 100)", 1)
	require.NotEqual(t, string(data), changed)
	require.NoError(t, os.WriteFile(name, []byte(changed), 0o600))
	stored, err := replay.Open(dir)
	require.NoError(t, err)
	result := again(t, stored, nil)
	assert.False(t, result.Same())
}

// A journal from which the end was taken is not the same as a run that was
// ended from outside.
func TestEndMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.CopyFS(dir, os.DirFS(demo)))
	name := filepath.Join(dir, "events.jsonl")
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(data), "\n")
	for _, keep := range []int{0, 27} {
		require.NoError(t, os.WriteFile(name, []byte(strings.Join(lines[:keep], "")), 0o600))
		stored, err := replay.Open(dir)
		require.NoError(t, err)
		r, err := offline.New(stored, nil)
		require.NoError(t, err)
		_, err = r.Run(t.Context())
		require.ErrorContains(t, err, fmt.Sprintf("it ends after event %d of", keep))
	}
}

// A replay that is prepared and never run holds nothing.
func TestNewHoldsNothing(t *testing.T) {
	stored := record(t, newScript(2, image.Pt(800, 600)), false)
	_, err := offline.New(stored, nil)
	require.NoError(t, err)
	stored.Info.Asked.Parser = "none of these"
	_, err = offline.New(stored, nil)
	require.Error(t, err)
	goleak.VerifyNone(t, goleak.IgnoreCurrent())
}

// callsOfGuard is how often a run asked models for its guard.
func callsOfGuard(t *testing.T, stored *replay.Run) (n int) {
	for e, err := range stored.Events() {
		require.NoError(t, err)
		if call, ok := e.Data.(run.ModelCalled); ok && run.GuardPurpose(call.Purpose) {
			n++
		}
	}
	return n
}

// A foreseeing guard asks models: about the task, and about each action. What it asked
// and ruled is in the journal; a replay asks nobody, and tells the same.
type foreseeing struct {
	refusing
	model llm.Model
	task  string
}

func (f *foreseeing) ask(ctx context.Context, purpose string) string {
	reply, err := f.model.Complete(ctx, &llm.Request{Role: llm.WorldModel, Purpose: purpose, Messages: []llm.Message{llm.UserText(f.task)}})
	if err != nil {
		return err.Error()
	}
	return reply.Text
}

func (f *foreseeing) Start(_ context.Context, task string) { f.task = task }

func (f *foreseeing) Judged(ctx context.Context) *run.TaskJudged {
	return &run.TaskJudged{Irreversible: true, Reason: f.ask(ctx, run.PurposeJudge)}
}

func (f *foreseeing) Allow(ctx context.Context, in run.Intent) (run.Guarded, error) {
	_, err := f.refusing.Allow(ctx, in)
	return run.Guarded{By: "foresight", Effect: worldmodel.EffectSend, Reason: f.ask(ctx, run.PurposeForesee),
		Foresight: &worldmodel.Foresight{Expected: "a mail is sent", Violated: []string{"messages"}}}, err
}

// A choosing guard has a person choose another action in place of a click at column 90 of the
// image.
type choosing struct{ actuator.Action }

func (choosing) Name() string { return "asking" }

func (c choosing) Allow(_ context.Context, in run.Intent) (run.Guarded, error) {
	if at, ok := in.Action.(actuator.Click); ok && at.At.X == 90 {
		return run.Guarded{By: "approval", Reason: run.ChoseAnother}, &run.Instead{Action: c.Action}
	}
	return run.Guarded{By: "table", Reason: "harmless"}, nil
}

// A refusing guard allows no click at this column of the image.
type refusing int

func (r refusing) Name() string { return "strict" }

func (r refusing) Allow(_ context.Context, in run.Intent) (run.Guarded, error) {
	if c, ok := in.Action.(actuator.Click); ok && c.At.X == int(r) {
		return run.Guarded{}, errors.New("that button sends a mail")
	}
	return run.Guarded{}, nil
}
