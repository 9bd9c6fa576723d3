package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/engine"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/worldmodel"
)

var errKilled = errors.New("killed")

// An outbox counts what was sent, over all programs that work on a run.
type outbox struct {
	mu      sync.Mutex
	sent    map[string]int
	journal *runtest.Journal // of the program that works now
	left    int              // events until that is killed; below 0 it never is
	late    bool             // a program that is killed amid a call has had its effect
}

// newOutbox returns an outbox of a program that is killed after so many events.
func newOutbox(left int) *outbox {
	o := &outbox{sent: map[string]int{}}
	o.begin(left)
	return o
}

// begin begins another program, with a journal of its own.
func (o *outbox) begin(left int) {
	o.left = left
	o.journal = &runtest.Journal{Refuse: func(run.Event) error {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.left == 0 {
			return errKilled
		}
		o.left--
		return nil
	}}
}

func (o *outbox) post(_ context.Context, arguments string) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.left == 0 && !o.late {
		return "", errKilled
	}
	o.sent[arguments]++
	return "posted", nil
}

// letters is a plan with all kinds of steps that need no screen: one fails and is written
// anew, one is an agent's that posts, one has a plan of its own.
func letters() *planner.Plan {
	post := step("s2", "post", "s1")
	post.Parameters, post.Goal = `{"to":"Ann"}`, "Post to Ann"
	writer := agentStep("s3", engine.ProfileTools)
	writer.Needs, writer.Goal = []string{"s1"}, "Post to Bea"
	inner := agentStep("s4", engine.ProfileTools)
	inner.Needs = []string{"s2", "s3"}
	last := step("s2", "post", "s1")
	last.Parameters, last.Goal = `{"to":"Cem"}`, "Post to Cem"
	inner.Sub = plan(step("s1", "look"), last)
	inner.Sub.Task = "Post to Cem"
	bad := step("s5", "bad", "s4")
	return plan(step("s1", "look"), post, writer, inner, bad,
		planner.Step{ID: "s6", Goal: "Sum up", Executor: planner.Self, Needs: []string{"s5"}})
}

// program is a program that works on letters, as long as its journal lives.
func program(t *testing.T, box *outbox, mode string, ask func(context.Context, string) (string, error)) *world {
	w := newWorld(t, map[string]tool{"look": {}, "bad": {do: func(context.Context, string) (string, error) { return run.ToolFailed + "out of order", nil }},
		"post": {effect: worldmodel.EffectSend, do: box.post},
	}, map[string]func(*llm.Request) string{
		"tools": func(r *llm.Request) string {
			if strings.Contains(words(r), "posted") {
				return "posted to Bea"
			}
			return `CALL post {"to":"Bea"}`
		},
		"self": always(`{"output": "all have mail", "reached": true, "missing": null}`), "reflect": goesOn, "conclude": met("three letters"),
	}, func(s *run.Settings, o *run.Options) {
		s.Agent.Execution.Mode, s.Tools = mode, o.Tools.Offer()
		o.Journal = func() (run.Journal, error) { return box.journal, nil }
	})
	w.Plans.plans = []*planner.Plan{letters()}
	w.Plans.revise = func(p *planner.Plan, r planner.RevisionRequest) (*planner.Plan, error) {
		if r.StepID != "s5" { // of a step that the user did not let be done
			return nil, planner.ErrUnchanged
		}
		s := p.Step("s5")
		old := *s
		s.Action, s.Status, s.Error = "look", planner.Pending, ""
		return revisedBy(p, r, planner.Change{Type: "updated", Old: &old, New: s}), nil
	}
	w.Ask = ask
	return w
}

// begunBy folds what a program has written.
func begunBy(events []run.Event) *run.Begun {
	var b run.Begun
	for _, e := range events {
		b.Add(e)
	}
	b.Interrupt()
	return &b
}

// resume goes on with a run in a new program.
func resume(t *testing.T, box *outbox, mode string, dies int, ask func(context.Context, string) (string, error)) (*world, engine.Result, error) {
	before := box.journal.Events()
	box.begin(dies)
	for _, e := range before {
		require.NoError(t, box.journal.Memory.Event(t.Context(), e))
	}
	w := program(t, box, mode, ask)
	b := begunBy(before)
	so := run.Sofar{Turns: 0, Resumed: run.Resumed{From: len(before), Desktop: run.SameDesktop, Doubt: b.Doubts(), Back: b.PutBack(run.SameDesktop)}}
	for _, e := range before {
		so.Turns = max(so.Turns, e.Step)
	}
	if err := w.Session.Continue(t.Context(), so); err != nil {
		return w, engine.Result{}, err
	}
	result, err := w.Resume(t.Context(), b)
	return w, result, err
}

// TestResumeAtEveryMoment ends a program after each event of a run in turn, before and
// after what it did then, and goes on with it in another: with a person who looks what was
// sent and says so it comes to the right end with everything sent once; with nobody, nothing is
// sent twice. The program that goes on is ended at another moment, too.
func TestResumeAtEveryMoment(t *testing.T) {
	for _, mode := range []string{engine.Sequential, engine.Parallel} {
		whole := newOutbox(-1)
		w := program(t, whole, mode, nil)
		result, err := w.Run(t.Context(), "Post three letters")
		require.NoError(t, err)
		require.True(t, result.Success, result.Answer)
		events := len(whole.journal.Events())
		require.Len(t, whole.sent, 3)
		asked, resumed := 0, 0
		for kill := 1; kill < events; kill++ {
			for i, variant := range []string{"before", "after", "nobody", "twice"} {
				name := fmt.Sprint(mode, " ", kill, " ", variant)
				box := newOutbox(kill)
				box.late = i%2 == 1
				looks := func(_ context.Context, question string) (string, error) {
					box.mu.Lock()
					defer box.mu.Unlock()
					asked++
					for to := range box.sent {
						if strings.Contains(question, "“Post to "+to[7:10]) {
							return "done", nil
						}
					}
					return "yes", nil
				}
				w := program(t, box, mode, looks)
				_, err := w.Run(t.Context(), "Post three letters")
				require.ErrorIs(t, err, run.ErrJournal, name)
				switch variant {
				case "nobody":
					_, result, err = resume(t, box, mode, -1, nil)
				case "twice":
					_, result, err = resume(t, box, mode, 3+kill%5, looks)
					if err != nil {
						require.ErrorIs(t, err, run.ErrJournal, name)
						resumed++
						_, result, err = resume(t, box, mode, -1, looks)
					}
				default:
					_, result, err = resume(t, box, mode, -1, looks)
				}
				resumed++
				require.NoError(t, err, name)
				for to, n := range box.sent {
					require.Equal(t, 1, n, "%s: sent to %s", name, to)
				}
				last := box.journal.Events()
				require.Len(t, runtest.All[run.RunEnded](last), 1, name)
				if variant == "nobody" {
					continue
				}
				require.True(t, result.Success, "%s: %s", name, result.Answer)
				require.Len(t, box.sent, 3, name)
				assert.Equal(t, 1, len(result.Final.Revisions), name)
				for i, e := range last {
					require.Equal(t, i+1, e.Seq, name)
				}
			}
		}
		t.Logf("%s: %d events, %d times gone on with, %d questions", mode, events, resumed, asked)
	}
}

// TestResumeApproval ends a program around the answer to the question whether its plan may be
// executed: nobody is asked twice, and nothing is executed that nobody approved. What an
// approval changed in the plan counts once it is written.
func TestResumeApproval(t *testing.T) {
	asks := 0
	approve := func(_ context.Context, p *planner.Plan) (planner.Decision, error) {
		asks++
		p.Steps[0].Goal = "Have it looked at"
		return planner.Decision{Plan: p}, nil
	}
	begin := func(left int) *outbox {
		box := newOutbox(left)
		w := program(t, box, engine.Sequential, nil)
		w.Hooks.Approve = approve
		_, err := w.Run(t.Context(), "Post three letters")
		if left >= 0 {
			require.ErrorIs(t, err, run.ErrJournal)
		}
		return box
	}
	whole := begin(-1).journal.Events()
	answered := slices.IndexFunc(whole, func(e run.Event) bool { _, ok := e.Data.(run.PlanApproved); return ok }) + 1
	require.Equal(t, run.Kind(run.Planned{}), whole[answered].Kind, "the edited plan follows")
	for left := 2; left < answered+3; left++ {
		asks = 0
		box := begin(left)
		require.LessOrEqual(t, asks, 1)
		b := begunBy(box.journal.Events())
		assert.Equal(t, left > answered, b.Approved, "after %d events", left)
		asks = 0
		before := box.journal.Events()
		box.begin(-1)
		for _, e := range before {
			require.NoError(t, box.journal.Memory.Event(t.Context(), e))
		}
		w := program(t, box, engine.Sequential, nil)
		w.Hooks.Approve = approve
		require.NoError(t, w.Session.Continue(t.Context(), run.Sofar{Turns: before[len(before)-1].Step, Resumed: run.Resumed{From: len(before), Back: b.PutBack(run.SameDesktop)}}))
		result, err := w.Resume(t.Context(), b)
		require.NoError(t, err)
		require.True(t, result.Success, result.Answer)
		assert.Equal(t, left <= answered, asks == 1, "after %d events it is asked %d times", left, asks)
		assert.Equal(t, "Have it looked at", result.Final.Steps[0].Goal)
	}

	rejected := begunBy(append(slices.Clone(whole[:answered-1]), run.Event{Agent: whole[0].Agent, Data: run.PlanApproved{Reason: "too long"}}))
	w := program(t, newOutbox(-1), engine.Sequential, nil)
	result, err := w.Resume(t.Context(), rejected)
	require.NoError(t, err)
	assert.Equal(t, run.OutcomeBlocked, result.Outcome)
	assert.Contains(t, result.Answer, "the plan was rejected: too long")
	assert.Empty(t, w.Tools.Calls())
}

// TestResumeRefuses holds the two named errors: a run that has come to its end, and one whose
// plan is not in its journal.
func TestResumeRefuses(t *testing.T) {
	box := newOutbox(-1)
	w := program(t, box, engine.Sequential, nil)
	_, err := w.RunPlan(t.Context(), letters())
	require.NoError(t, err)
	events := box.journal.Events()
	_, err = w.Resume(t.Context(), begunBy(events))
	require.ErrorIs(t, err, engine.ErrPlanAlreadyExecuted)
	_, err = w.Resume(t.Context(), begunBy(events[:1]))
	require.ErrorIs(t, err, engine.ErrPlanNotInitialized)
	_, err = w.Resume(t.Context(), nil)
	require.ErrorIs(t, err, engine.ErrPlanNotInitialized)
	require.Len(t, box.journal.Events(), len(events), "nothing is written")
}
