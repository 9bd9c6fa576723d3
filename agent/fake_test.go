package agent_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/pyautogui"
	"desktop-agent/agent"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/screen"
	"desktop-agent/worldmodel"
)

// all returns the data of all events of one type.
func all[T run.EventData](j *runtest.Journal) []T { return runtest.All[T](j.Events()) }

// An actorScript answers each question with the next of its replies, and keeps
// the questions.
type actorScript struct {
	mu        sync.Mutex
	replies   []string
	responses []*llm.Response // instead of replies
	asked     []*llm.Request
	before    func(*llm.Request) error
}

func (s *actorScript) Complete(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if s.before != nil {
		if err := s.before(r); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r)
	if n := len(s.asked); n <= len(s.responses) {
		return s.responses[n-1], nil
	}
	if len(s.asked) > len(s.replies) {
		return nil, fmt.Errorf("the script has no reply number %d", len(s.asked))
	}
	return &llm.Response{Text: s.replies[len(s.asked)-1], Finish: "stop"}, nil
}

// code wraps a block of code as the actor writes it.
func code(block string) string { return "Thought: t\nExpect: e\n```python\n" + block + "\n```" }

// text is the whole of a request as one string.
func text(r *llm.Request) (s string) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if t, ok := p.(llm.Text); ok {
				s += string(m.From) + ": " + string(t) + "\n"
			}
		}
	}
	return s
}

// A fakeWorld answers by function; the zero value sees nothing and confirms
// every goal.
type fakeWorld struct {
	assess func(context.Context, worldmodel.AssessRequest) (*worldmodel.Assessment, error)
	goal   func(worldmodel.GoalRequest) (*worldmodel.GoalCheck, error)
	mu     sync.Mutex
	calls  int
}

func (w *fakeWorld) Assess(ctx context.Context, r worldmodel.AssessRequest) (*worldmodel.Assessment, error) {
	w.mu.Lock()
	w.calls++
	w.mu.Unlock()
	if w.assess == nil {
		return &worldmodel.Assessment{AsExpected: worldmodel.Unclear, ProgressStep: 1}, nil
	}
	return w.assess(ctx, r)
}

func (w *fakeWorld) CheckGoal(_ context.Context, r worldmodel.GoalRequest) (*worldmodel.GoalCheck, error) {
	if w.goal == nil {
		return &worldmodel.GoalCheck{Shown: true, Evidence: r.Now.Windows[0].Title}, nil
	}
	return w.goal(r)
}

// A fakePlanner gives plans and counts what it is asked.
type fakePlanner struct {
	plan    *planner.Plan
	err     error
	revised func(*planner.Plan, planner.RevisionRequest) (*planner.Plan, error)
	asked   int
	guided  []planner.RevisionRequest
}

func (p *fakePlanner) Generate(context.Context, string, *screen.Observation) (*planner.Plan, error) {
	p.asked++
	if p.err != nil {
		return nil, p.err
	}
	return p.plan.Clone(), nil
}

func (p *fakePlanner) Revise(_ context.Context, old *planner.Plan, r planner.RevisionRequest) (*planner.Plan, error) {
	p.guided = append(p.guided, r)
	if p.revised == nil {
		return nil, planner.ErrUnchanged
	}
	return p.revised(old, r)
}

// newAgent returns an agent on the desktop with an actor that follows a script.
func newAgent(t *testing.T, d *runtest.Desktop, replies ...string) (*agent.Agent, *actorScript, *runtest.Journal) {
	t.Helper()
	script, journal := &actorScript{replies: replies}, &runtest.Journal{}
	a := &agent.Agent{
		Desktop: d, World: &fakeWorld{}, MaxSteps: 10,
		Actor: &agent.Actor{Model: script, Format: agent.Format{Name: "code", Parser: pyautogui.Parser{}}},
	}
	record(a, journal, nil)
	t.Cleanup(func() { requireNoHoles(t, journal) })
	return a, script, journal
}

// moving returns a desktop on which every action has an effect.
func moving() *runtest.Desktop {
	d := &runtest.Desktop{}
	d.React = func(string, actuator.Action) (string, error) {
		d.Tick++
		return "", nil
	}
	return d
}

// record has the agent write to a journal, and watch told of each event.
func record(a *agent.Agent, j run.Journal, watch func(run.Event)) {
	a.Scope = run.NewRecorder(j, watch).Scope(run.Where{Agent: "agent"})
	a.Hand = run.NewHand(a.Desktop.(run.Device), a.Scope, nil)
}

// requireNoHoles checks that the events are numbered from 1 without a gap.
func requireNoHoles(t *testing.T, m *runtest.Journal) {
	t.Helper()
	for i, e := range m.Events() {
		require.Equal(t, i+1, e.Seq, "event %d is %s", i, e.Kind)
	}
}

// TestActorScriptIsModel holds that the scripted actor is a model.
func TestActorScriptIsModel(t *testing.T) {
	llmtest.TestModel(t, &llmtest.Subject{Calls: 8, New: func(testing.TB) llm.Model {
		return &actorScript{replies: slices.Repeat([]string{code("DONE")}, 8)}
	}})
}
