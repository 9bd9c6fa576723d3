package desktop_test

import (
	"context"
	"fmt"
	"image"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/actuator/pyautogui"
	"desktop-agent/guard"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/run"
	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/osworld"
	"desktop-agent/tasks/osworld/evaluate"
	"desktop-agent/tasks/osworld/setup"
	"desktop-agent/tasks/trial"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asked are the tasks whose words ask for an effect that cannot be taken back, and which.
var asked = map[string][]string{"book-course": {"send", "modify_external"}}

// A sane model judges a task by its words and foresees what is so: that what a solution
// does is asked for, and, where the words do not ask for what is final, can be undone.
type sane struct {
	task *tasks.Task
	mu   sync.Mutex
	n    int // foresights
}

// Complete is of [llm.Model].
func (s *sane) Complete(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	final := asked[s.task.ID]
	switch r.Purpose {
	case run.PurposeJudge:
		return llmtest.JSON(map[string]any{"reason": "by its words", "irreversible": len(final) > 0, "blocked_effects": append([]string{}, final...), "blocked_tools": []string{}})(ctx, r)
	case run.PurposeForesee:
		s.mu.Lock()
		s.n++
		s.mu.Unlock()
		none := map[string]any{"severity": "none", "probability": 0, "reason": ""}
		return llmtest.JSON(map[string]any{"expected": "It is done.", "effect": "edit", "reversible": len(final) == 0, "undo": nil, "short_term": none, "long_term": none,
			"violated_policy_ids": []string{}, "asked_for_by_task": true, "task_words": strings.Join(strings.Fields(s.task.Instruction)[:3], " "), "lifts": nil, "better": nil})(ctx, r)
	}
	return nil, fmt.Errorf("nobody plays %q", r.Purpose)
}

// A tally counts what the guard ruled, by effect.
type tally struct {
	actions, calls int
	asked          map[string]int
	refused        []string
	busy           []string // what the device would not do, as a program did not answer
	waits          []string // how each wait for the screen ended, where the focus was, before what
}

// code returns the code of a step that uses mouse and keyboard.
func code(step tasks.Step) (string, bool) {
	c, err := env.ReadCommand(step.Params)
	if err != nil || step.Type != "execute" || len(c.Args) != 3 || c.Args[0] != "python" || !strings.Contains(c.Args[2], "pyautogui") {
		return "", false
	}
	return c.Args[2], true
}

// guarded does the solution of a task by the hand of a session like an agent's, whose
// guard is asked about every action: each piece of code is a batch, chosen on what is on
// the screen then.
func guarded(home string, count *tally) trial.Act {
	return func(ctx context.Context, s *trial.Stage) (ending trial.Ending, err error) {
		script, err := trial.ReadScript(s.Task)
		if err != nil {
			return ending, err
		}
		settings, journal, model := run.Defaults(), &run.Memory{}, &sane{task: s.Task}
		settings.Display.OCR = ""
		settings.Display.Ceiling = time.Minute // a script does not see that a frame was not finished
		session, err := run.Open(ctx, settings, &run.Options{
			Client: &llm.Client{Model: model, Default: llm.Settings{Model: "sane"}}, Computer: &run.Computer{Display: s.Env.Display(), Bus: s.Env.BusAddress()},
			GuardFor: (&guard.Options{Home: home, Unattended: true}).Guard,
			Journal:  func() (run.Journal, error) { return journal, nil },
		})
		if err != nil {
			return ending, err
		}
		defer session.Close()
		session.Hand.Begin(ctx, s.Task.Instruction)
		s.Seen()
		for _, step := range script.Solution {
			source, ok := code(step)
			if !ok {
				o := &setup.Options{TaskID: s.Task.ID, Dir: s.Task.Dir, Saved: s.Dir, Offline: true, Strict: true}
				if err := setup.Do(ctx, s.Env, []tasks.Step{step}, o); err != nil {
					return ending, err
				}
				continue
			}
			if err := batch(ctx, session, source, count); err != nil {
				return ending, err
			}
		}
		count.calls += model.n
		ending = trial.Ending{Outcome: "done", Answer: evaluate.Done}
		if script.Answer == evaluate.Infeasible {
			ending.Outcome, ending.Answer = "infeasible", evaluate.Infeasible
		}
		return ending, nil
	}
}

// batch does one piece of code.
func batch(ctx context.Context, s *run.Session, source string, count *tally) error {
	on, err := s.Desktop.Observe(ctx)
	if err != nil {
		return err
	}
	p, err := pyautogui.Parser{}.Parse(actuator.Reply{Text: "```python\n" + source + "\n```"}, on.Image.Mapping.Source)
	if err != nil {
		return err
	}
	for i, a := range p.Actions { // written for the screen's own pixels
		p.Actions[i] = actuator.Moved(a, func(at actuator.Point) actuator.Point {
			to := on.Image.Mapping.ToImage(image.Pt(at.X, at.Y))
			at.X, at.Y = to.X, to.Y
			return at
		})
	}
	s.Scope.Turn()
	for i, a := range p.Actions {
		if i > 0 { // what was done before may have opened something that this one is for
			if on, err = s.Desktop.Observe(ctx); err != nil {
				return err
			}
		}
		do := func() (*run.Act, error) {
			act, err := s.Hand.Do(ctx, run.Intent{Action: a, On: on, Index: i, Done: p.Actions[:i], Source: run.FromModel})
			if err == nil {
				err = act.Close(ctx, nil)
			}
			return act, err
		}
		focus := "nothing"
		for _, n := range on.Tree.Nodes {
			if n.Has("focused") {
				focus = fmt.Sprintf("%v = %.80q", n, n.Text)
			}
		}
		count.waits = append(count.waits, fmt.Sprintf("%v, the focus in %s, then %s", on.Settled, focus, actuator.DescribeFull(a)))
		act, err := do()
		if err == nil && act.Status == actuator.Refused && act.Ruling.Allowed { // by the device, whose program is busy: as an agent does
			if on, err = s.Desktop.Observe(ctx); err == nil {
				act, err = do()
			}
		}
		if err != nil {
			return err
		}
		count.actions++
		if act.Ruling.Foresight != nil {
			count.asked[string(act.Ruling.Effect)]++
		}
		if act.Status == actuator.Refused && act.Ruling.Allowed {
			count.busy = append(count.busy, act.Detail)
		}
		if act.Status == actuator.Refused && !act.Ruling.Allowed {
			count.refused = append(count.refused, fmt.Sprintf("%s on %s: %s", actuator.DescribeFull(a), act.Ruling.Target, act.Detail))
		}
	}
	return nil
}

// TestNoFalseBlocks does solutions with the guard at its default settings, on a
// desktop that is the task's own: nothing of them is refused, and the task is done. With
// OWN=1 the home is taken for the user's. The figures are those of docs/safety.md.
func TestNoFalseBlocks(t *testing.T) {
	ids := few
	switch chosen := os.Getenv("SUITE"); {
	case testing.Short():
		t.Skip("takes a minute")
	case chosen == "all":
		ids = nil
	case chosen != "":
		ids = strings.Split(chosen, ",")
	}
	home := env.Home
	if os.Getenv("OWN") != "" {
		home = ""
	}
	suite, err := osworld.Load(".")
	require.NoError(t, err)
	etc := &env.Etc{}
	t.Cleanup(func() { assert.NoError(t, etc.Close()) })
	all := &tally{asked: map[string]int{}}
	done := 0
	for _, task := range suite.Tasks {
		if ids != nil && !slices.Contains(ids, task.ID) {
			continue
		}
		t.Run(task.ID, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			defer cancel()
			count := &tally{asked: map[string]int{}}
			r := &trial.Runner{Suite: suite, Offline: true, Etc: etc, Actors: map[string]trial.Act{"guarded": guarded(home, count)}}
			result, err := r.Do(ctx, tasks.Trial{Task: task.ID, Config: "guarded", Repeat: 1}, t.TempDir())
			require.NoError(t, err, result.Stage)
			if result.Status == tasks.Skipped {
				t.Skip(result.Why)
			}
			t.Logf("score %v %s; %d actions, %d calls, asked about %v", result.Score, result.Why, count.actions, count.calls, count.asked)
			assert.Empty(t, count.refused, "false blocks")
			assert.Empty(t, count.busy, "not done by the device")
			assert.InDelta(t, 1, result.Score, 0, "%s\n%s", result.Why, strings.Join(count.waits, "\n"))
			done++
			all.actions, all.calls = all.actions+count.actions, all.calls+count.calls
			for e, n := range count.asked {
				all.asked[e] += n
			}
		})
	}
	t.Logf("%d solutions, %d actions, %d calls: asked about %v", done, all.actions, all.calls, slices.Sorted(maps.Keys(all.asked)))
	for e, n := range all.asked {
		t.Logf("  %q: %d", e, n)
	}
}
