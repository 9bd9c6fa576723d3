package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/engine"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/worldmodel"
)

// TestSequential holds that by default one step is done at a time, in the order of the
// plan, that what a step gave is kept, and that a second execution is an error.
func TestSequential(t *testing.T) {
	w := newWorld(t, map[string]tool{"a": {}, "b": {}, "c": {}}, nil)
	x, err := w.Begin(plan(step("s1", "a"), step("s2", "b"), step("s3", "c", "s1")))
	require.NoError(t, err)
	result, err := x.Execute(t.Context())
	require.NoError(t, err)
	assert.True(t, result.Success)
	assert.Equal(t, "c done", result.Output)
	assert.Equal(t, planner.PlanCompleted, result.State)
	assert.Equal(t, []string{"a {}", "b {}", "c {}"}, w.Tools.Calls())
	assert.Equal(t, 1, w.Tools.most)
	assert.Equal(t, "b done", result.Steps["s2"].Output)
	assert.Equal(t, planner.Pending, result.Initial.Steps[0].Status, "as it was")
	assert.Equal(t, planner.Completed, result.Final.Steps[0].Status)

	_, err = x.Execute(t.Context())
	require.ErrorIs(t, err, engine.ErrPlanAlreadyExecuted)
	again, err := w.Begin(x.Plan())
	require.NoError(t, err)
	_, err = again.Execute(t.Context())
	require.ErrorIs(t, err, engine.ErrPlanAlreadyExecuted, "a finished plan that was stored")
}

// TestNotInitialized holds that what lacks what it needs says so, and what it lacks.
func TestNotInitialized(t *testing.T) {
	_, err := (&engine.Execution{}).Execute(t.Context())
	require.ErrorIs(t, err, engine.ErrPlanNotInitialized)
	_, err = (&engine.Engine{}).Begin(plan(step("s1", "a")))
	require.ErrorIs(t, err, engine.ErrPlanNotInitialized)
	w := newWorld(t, nil, nil)
	_, err = w.Begin(nil)
	require.ErrorIs(t, err, engine.ErrPlanNotInitialized)
	for _, s := range []planner.Step{
		{ID: "s1", Goal: "Find the menu", Executor: planner.GUI}, {ID: "s1", Goal: "Think", Executor: planner.Self}, {ID: "s1", Goal: "Search", Executor: planner.Agent},
	} {
		x, err := w.Begin(plan(s))
		require.NoError(t, err)
		_, err = x.Execute(t.Context())
		require.ErrorIs(t, err, engine.ErrPlanNotInitialized, s.Executor)
		assert.ErrorContains(t, err, "step s1")
	}
}

// wide is a plan of 20 steps in rows of three, each of which needs the one above.
func wide() *planner.Plan {
	p := plan()
	for i := range 20 {
		s := step(fmt.Sprintf("s%d", i+1), "slow")
		if i >= 3 {
			s.Needs = []string{fmt.Sprintf("s%d", i-2)}
		}
		s.Status = planner.Pending
		p.Steps = append(p.Steps, s)
	}
	return p
}

// TestCriticalPath holds, on a virtual clock, that 20 steps in rows of three take no longer
// than their longest chain, seven steps of 100 ms; that at most three run at once; and
// that the other modes take what they must.
func TestCriticalPath(t *testing.T) {
	for _, tt := range []struct {
		mode  string
		most  int
		least time.Duration
	}{
		{engine.Sequential, 1, 2000 * time.Millisecond},
		{engine.Parallel, 3, 700 * time.Millisecond},
		{engine.Adaptive, 3, 700 * time.Millisecond},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, map[string]tool{"slow": takes(100 * time.Millisecond)}, nil, func(s *run.Settings, _ *run.Options) { s.Agent.Execution.Mode = tt.mode })
				p := wide()
				if tt.mode != engine.Sequential {
					longest := slices.Max(p.Layers()) + 1
					require.Equal(t, tt.least, time.Duration(longest)*100*time.Millisecond)
				}
				x, err := w.Begin(p)
				require.NoError(t, err)
				result, err := x.Execute(t.Context())
				require.NoError(t, err)
				require.True(t, result.Success)
				assert.Equal(t, tt.least, result.Elapsed)
				assert.Equal(t, tt.most, w.Tools.most)
				assert.Len(t, w.Tools.Calls(), 20)
			})
		})
	}
}

// TestAdaptive holds that the adaptive mode does one step at a time until two are ready
// that are not in each other's way, and what is marked as parallel is all that runs so.
func TestAdaptive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]tool{"slow": takes(time.Second)}, nil, func(s *run.Settings, _ *run.Options) { s.Agent.Execution.Mode = engine.Adaptive })
		marked := func(s planner.Step) planner.Step { s.Parallel = true; return s }
		x, err := w.Begin(plan(step("s1", "slow"), marked(step("s2", "slow", "s1")), marked(step("s3", "slow", "s1")), step("s4", "slow", "s1")))
		require.NoError(t, err)
		result, err := x.Execute(t.Context())
		require.NoError(t, err)
		require.True(t, result.Success)
		assert.Equal(t, 3*time.Second, result.Elapsed, "s1; s2 beside s3; s4 alone")
		assert.Equal(t, 2, w.Tools.most)
	})
}

// TestRetry holds that a step that failed is tried once more by default, then its
// fallback, and that what can be the reason of another try is told.
func TestRetry(t *testing.T) {
	w := newWorld(t, map[string]tool{"shaky": fails(1), "broken": fails(99), "spare": {}}, nil)
	broken := step("s2", "broken")
	broken.Fallback = "spare"
	x, err := w.Begin(plan(step("s1", "shaky"), broken))
	require.NoError(t, err)
	result, err := x.Execute(t.Context())
	require.NoError(t, err)
	require.True(t, result.Success)
	assert.Equal(t, []string{"shaky {}", "shaky {}", "broken {}", "broken {}", "spare {}"}, w.Tools.Calls())
	assert.Equal(t, 2, result.Final.Steps[0].Attempts)
	assert.Equal(t, "works again", result.Steps["s1"].Output)
	started := runtest.All[run.StepStarted](w.Journal.Events())
	require.Len(t, started, 5)
	assert.Equal(t, "spare", started[4].Fallback)
	assert.Equal(t, 3, started[4].Attempt)
	ended := runtest.All[run.StepEnded](w.Journal.Events())
	require.Len(t, ended, 2)
	assert.Equal(t, planner.Completed, ended[1].Status)
}

// TestNeverTwice holds that what was attempted and cannot be taken back is done once,
// whatever the retries and the fallback say, and also when a revision writes it anew,
// unless the user says yes.
func TestNeverTwice(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer string // of the user; "" if nobody is there
		calls  int
		said   string // in the answer of the run
	}{
		{"nobody is there", "", 1, "attempted before"}, {"no", "no, never", 1, "the user says no"}, {"yes", "yes", 2, ""}, {"yes, in short", "Y", 2, ""},
		{"a yes with a condition", "yes, but look first", 1, "the user does not say yes, but “yes, but look first”"},
		{"it is done", "Done.", 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			send := fails(1)
			send.effect = worldmodel.EffectSend
			w := newWorld(t, map[string]tool{"send": send, "spare": {}}, nil)
			w.Plans.revise = func(p *planner.Plan, r planner.RevisionRequest) (*planner.Plan, error) {
				if len(p.Revisions) > 0 {
					return nil, planner.ErrRevisionsUsed
				}
				p.Steps[0].Status, p.Steps[0].ID = planner.Pending, "s9" // the same call under another name
				return revisedBy(p, r, planner.Change{Type: "added", New: &p.Steps[0]}), nil
			}
			var questions []string
			if tt.answer != "" {
				w.Ask = func(_ context.Context, q string) (string, error) {
					questions = append(questions, q)
					return tt.answer, nil
				}
			}
			s := step("s1", "send")
			s.Fallback = "spare"
			x, err := w.Begin(plan(s))
			require.NoError(t, err)
			result, err := x.Execute(t.Context())
			require.NoError(t, err)
			assert.Len(t, w.Tools.Calls(), tt.calls, "%v", w.Tools.Calls())
			assert.Equal(t, tt.said == "", result.Success)
			assert.Contains(t, result.Answer, tt.said)
			require.NotEmpty(t, w.Plans.revised)
			assert.Contains(t, w.Plans.revised[0].Guidance, "cannot be taken back")
			if tt.answer != "" {
				require.Len(t, questions, 1)
				assert.Contains(t, questions[0], "send")
				assert.Equal(t, []run.Answered{{Question: questions[0], Answer: tt.answer}}, runtest.All[run.Answered](w.Journal.Events()))
			}
			ended := runtest.All[run.StepEnded](w.Journal.Events())
			assert.True(t, ended[0].Final)
			assert.Equal(t, worldmodel.EffectSend, ended[0].Effect)
		})
	}
}

// TestFailure holds what becomes of a plan when steps fail. Without going on, the first
// failure revises, and aborts where that changes nothing; with it, failures are borne until
// three tenths of the steps that were tried have failed, 0.29 being less. What needs a
// failed step is skipped, and what was done stays.
func TestFailure(t *testing.T) {
	steps := func(ok, bad int) *planner.Plan { // the bad ones last
		p := plan()
		for i := range ok + bad {
			name := "good"
			if i >= ok {
				name = "bad"
			}
			s := step(fmt.Sprintf("s%d", i+1), name)
			s.Status = planner.Pending
			p.Steps = append(p.Steps, s)
		}
		return p
	}
	for _, tt := range []struct {
		name    string
		goOn    bool
		ok, bad int
		revised int
		state   planner.PlanState
	}{
		{"off: the first failure", false, 9, 2, 1, planner.PlanFailed},
		{"on: 2 of 7 is 0.29", true, 5, 2, 0, planner.PlanCompleted},
		{"on: 3 of 10 is 0.30, which is more than may", true, 7, 3, 2, planner.PlanFailed}, // after the step, and at the end
		{"off: 2 of 7", false, 5, 2, 1, planner.PlanFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]tool{"good": {}, "bad": fails(99), "after": {}}, nil, func(s *run.Settings, _ *run.Options) {
				s.Agent.Execution.ContinueOnFailure, s.Agent.Execution.Retries = tt.goOn, 0
			})
			p := steps(tt.ok, tt.bad)
			last := step("s99", "after", p.Steps[len(p.Steps)-1].ID)
			last.Status = planner.Pending
			p.Steps = append(p.Steps, last)
			x, err := w.Begin(p)
			require.NoError(t, err)
			result, err := x.Execute(t.Context())
			require.NoError(t, err)
			assert.Len(t, w.Plans.revised, tt.revised)
			assert.Equal(t, tt.state, result.State, "%s", result.Answer)
			assert.Len(t, result.Steps, tt.ok+map[bool]int{true: tt.bad, false: 1}[tt.goOn], "what was done stays, and what tools say of failures")
			assert.NotEqual(t, planner.Completed, result.Final.Step("s99").Status)
			if tt.goOn {
				assert.Equal(t, planner.Skipped, result.Final.Step("s99").Status)
				assert.Contains(t, result.Final.Step("s99").Error, "failed")
			} else {
				assert.Contains(t, result.Final.Reason, "aborted: step")
				assert.Equal(t, planner.StepFailure, w.Plans.revised[0].Trigger)
				assert.NotContains(t, w.Plans.revised[0].Guidance, "out of order", "what a tool says instructs nobody")
			}
		})
	}
}

// TestTimeout holds that a step ends after its time, which does not run while a person
// is asked, and that the fallback has a time of its own.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asks := tool{do: func(ctx context.Context, _ string) (string, error) {
			done := run.Asking(ctx)
			time.Sleep(time.Hour)
			done()
			return "answered", ctx.Err()
		}}
		w := newWorld(t, map[string]tool{"never": takes(24 * time.Hour), "ask": asks}, nil, func(s *run.Settings, _ *run.Options) { s.Agent.Execution.Retries = 0 })
		x, err := w.Begin(plan(step("s1", "ask"), step("s2", "never")))
		require.NoError(t, err)
		result, err := x.Execute(t.Context())
		require.NoError(t, err)
		assert.False(t, result.Success)
		assert.Equal(t, "answered", result.Steps["s1"].Output)
		assert.Contains(t, result.Final.Step("s2").Error, "took longer than it may (1m0s)")
		assert.Equal(t, time.Hour+time.Minute, result.Elapsed)
	})
}

// TestAbortKeeps holds that steps which still run when the plan ends are ended, can be gone
// on with, and that what others gave stays.
func TestAbortKeeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]tool{"quick": {}, "never": takes(24 * time.Hour)}, nil, func(s *run.Settings, _ *run.Options) { s.Agent.Execution.Mode = engine.Parallel })
		x, err := w.Begin(plan(step("s1", "quick"), step("s2", "never"), step("s3", "quick", "s2")))
		require.NoError(t, err)
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { stop(errors.New("the user pressed the stop keys")) })
		result, err := x.Execute(ctx)
		require.NoError(t, err)
		assert.Equal(t, run.OutcomeStopped, result.Outcome)
		assert.Equal(t, map[string]planner.Status{"s1": planner.Completed, "s2": planner.Pending, "s3": planner.Blocked}, statuses(result.Final))
		assert.Equal(t, planner.PlanRunning, result.State, "it can be gone on with")
		again, err := w.Begin(result.Final)
		require.NoError(t, err)
		w.Tools.tools["never"] = tool{}
		result, err = again.Execute(t.Context())
		require.NoError(t, err)
		assert.True(t, result.Success)
		assert.Equal(t, 2, count(w.Tools.Calls(), "quick {}"), "s1 is not done again")
	})
}

func count(list []string, s string) (n int) {
	for _, one := range list {
		if one == s {
			n++
		}
	}
	return n
}

// TestExit holds that a tool can end the plan as one that has reached its goal: what is
// open is skipped.
func TestExit(t *testing.T) {
	leave := tool{do: func(context.Context, string) (string, error) { return "all is well", engine.ErrExitConversation }}
	w := newWorld(t, map[string]tool{"leave": leave, "more": {}}, nil)
	x, err := w.Begin(plan(step("s1", "leave"), step("s2", "more", "s1")))
	require.NoError(t, err)
	result, err := x.Execute(t.Context())
	require.NoError(t, err)
	assert.True(t, result.Success)
	assert.Equal(t, "all is well", result.Output)
	assert.Equal(t, planner.Skipped, result.Final.Step("s2").Status)
	assert.Equal(t, []string{"leave {}"}, w.Tools.Calls())
}

// TestReaders holds, under the race detector, that the plan can be read and its change
// asked for while steps run side by side.
func TestReaders(t *testing.T) {
	w := newWorld(t, map[string]tool{"slow": takes(time.Millisecond)}, nil, func(s *run.Settings, _ *run.Options) {
		s.Agent.Execution.Mode, s.Agent.Execution.MaxParallel = engine.Parallel, 5
	})
	var events atomic.Int32
	w.Hooks.Event = func(context.Context, run.EventData) error { events.Add(1); return nil }
	x, err := w.Begin(wide())
	require.NoError(t, err)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				s := x.State()
				for _, id := range s.Current {
					if s.Statuses[id] != planner.Running {
						t.Error("a copy that does not hold together")
					}
				}
				_ = x.Revise(t.Context(), "the reader "+strconv.Itoa(len(s.Current)))
				time.Sleep(time.Millisecond)
			}
		})
	}
	result, err := x.Execute(t.Context())
	close(stop)
	readers.Wait()
	require.NoError(t, err)
	assert.True(t, result.Success)
	assert.EqualValues(t, 20+20+1, events.Load(), "20 begin, 20 end, and the plan at the end")
}

// BenchmarkEngine measures what the engine adds to a step that takes no time, with the
// journal in memory and without a model.
func BenchmarkEngine(b *testing.B) {
	for b.Loop() {
		w := newWorld(b, map[string]tool{"slow": {}}, nil)
		x, err := w.Begin(wide())
		require.NoError(b, err)
		_, err = x.Execute(b.Context())
		require.NoError(b, err)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(20*b.N), "µs/step")
}

// BenchmarkWide measures 20 steps of 100 ms in rows of three, whose longest chain takes
// 700 ms.
func BenchmarkWide(b *testing.B) {
	for b.Loop() {
		w := newWorld(b, map[string]tool{"slow": takes(100 * time.Millisecond)}, nil, func(s *run.Settings, _ *run.Options) { s.Agent.Execution.Mode = engine.Parallel })
		x, err := w.Begin(wide())
		require.NoError(b, err)
		_, err = x.Execute(b.Context())
		require.NoError(b, err)
	}
}
