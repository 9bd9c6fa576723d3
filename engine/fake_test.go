package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"desktop-agent/engine"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/worldmodel"
)

// A box has tools that tests make up.
type box struct {
	mu    sync.Mutex
	tools map[string]tool
	calls []string // "name arguments", in the order of their beginnings
	now   int
	most  int // calls at the same time
}

type tool struct {
	effect worldmodel.Effect // EffectNone if ""
	schema string            // of an object with anything if ""
	do     func(ctx context.Context, arguments string) (string, error)
}

func (b *box) Offer() (list []run.Tool) {
	for name, t := range b.tools {
		effect, schema := t.effect, t.schema
		if effect == "" {
			effect = worldmodel.EffectNone
		}
		if schema == "" {
			schema = `{"type":"object"}`
		}
		list = append(list, run.Tool{Tool: llm.Tool{Name: name, Description: "Does " + name + ".", Parameters: []byte(schema)}, Effect: effect})
	}
	slices.SortFunc(list, func(a, b run.Tool) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func (b *box) Do(ctx context.Context, name string, arguments []byte) (string, error) {
	b.mu.Lock()
	b.calls = append(b.calls, name+" "+string(arguments))
	b.now++
	b.most = max(b.most, b.now)
	t, ok := b.tools[name]
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.now--
	}()
	if !ok || t.do == nil {
		return name + " done", nil
	}
	return t.do(ctx, string(arguments))
}

func (b *box) Calls() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.calls)
}

// takes is a tool that takes so long.
func takes(d time.Duration) tool {
	return tool{do: func(ctx context.Context, _ string) (string, error) {
		select {
		case <-time.After(d):
			return "done", nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}}
}

// fails is a tool that says so, as often as it is told to.
func fails(times int) tool {
	n := 0
	return tool{do: func(context.Context, string) (string, error) {
		if n++; n <= times {
			return run.ToolFailed + "out of order", nil
		}
		return "works again", nil
	}}
}

// A mind is a model that answers by the purpose of a question.
type mind struct {
	mu    sync.Mutex
	asked []*llm.Request
	reply map[string]func(*llm.Request) string
	whole map[string]func(*llm.Request) llm.Response // instead, where more than a text is of interest
}

func (m *mind) Complete(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.asked = append(m.asked, r)
	id := fmt.Sprint(len(m.asked))
	reply, whole := m.reply[r.Purpose], m.whole[r.Purpose]
	m.mu.Unlock()
	if whole != nil {
		resp := whole(r)
		return &resp, nil
	}
	if reply == nil {
		return nil, &llm.Error{Kind: llm.ErrUnavailable, Detail: "the test has no answer to " + r.Purpose}
	}
	text := reply(r)
	usage := llm.Usage{Input: 20, Output: 2}
	resp := &llm.Response{Text: text, Finish: "stop", Usage: usage}
	if name, arguments, ok := strings.Cut(strings.TrimPrefix(text, "CALL "), " "); ok && strings.HasPrefix(text, "CALL ") {
		resp = &llm.Response{Calls: []llm.ToolCall{{ID: id, Name: name, Arguments: arguments}}, Finish: "tool_calls", Usage: usage}
	}
	resp.Usage = llm.Usage{Input: 10, Output: 1}
	return resp, nil
}

// of returns the questions of a purpose.
func (m *mind) of(purpose string) (list []*llm.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.asked {
		if r.Purpose == purpose {
			list = append(list, r)
		}
	}
	return list
}

// always answers the same.
func always(text string) func(*llm.Request) string { return func(*llm.Request) string { return text } }

// met is the end of a plan that has reached its goal.
func met(answer string) func(*llm.Request) string {
	return always(`{"met": true, "missing": null, "answer": ` + quoted(answer) + `}`)
}

func quoted(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// goesOn is a reflection that changes nothing.
var goesOn = always(`{"verdict": "continue", "reason": "it fits", "guidance": null, "answer": null}`)

// words is the text of a request.
func words(r *llm.Request) (s string) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if t, ok := p.(llm.Text); ok {
				s += string(m.From) + ": " + string(t) + "\n"
			}
		}
	}
	return s
}

// A fakePlanner makes plans that the test has, and revises by function.
type fakePlanner struct {
	mu      sync.Mutex
	plans   []*planner.Plan
	asked   []planner.Request
	revise  func(*planner.Plan, planner.RevisionRequest) (*planner.Plan, error)
	revised []planner.RevisionRequest
}

func (p *fakePlanner) Deliberate(_ context.Context, r planner.Request) (*planner.Plan, *planner.Record, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r)
	if len(p.plans) == 0 {
		return nil, &planner.Record{Result: planner.MadeDirect}, nil
	}
	next := p.plans[0]
	p.plans = p.plans[1:]
	return next, nil, nil
}

func (p *fakePlanner) Revise(_ context.Context, old *planner.Plan, r planner.RevisionRequest) (*planner.Plan, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.revised = append(p.revised, r)
	if p.revise == nil {
		return nil, planner.ErrUnchanged
	}
	return p.revise(old.Clone(), r)
}

// revisedBy notes a revision in a plan.
func revisedBy(p *planner.Plan, r planner.RevisionRequest, c ...planner.Change) *planner.Plan {
	p.Revisions = append(p.Revisions, planner.Revision{Number: len(p.Revisions) + 1, Source: r.Source, Trigger: r.Trigger, Strategy: planner.ReplanRemaining, Guidance: r.Guidance, Changes: c})
	return p
}

// A world is an engine with all that a test looks at.
type world struct {
	*engine.Engine
	Tools   *box
	Model   *mind
	Plans   *fakePlanner
	Journal *run.Memory
}

// settings of a run whose plan is executed.
func settings() run.Settings {
	s := run.Settings{Agent: run.Defaults().Agent}
	s.Agent.Planning, s.Agent.Format = engine.Deliberate, "code"
	s.Agent.Guard = "off"
	return s
}

// newWorld opens a session without a desktop, with tools, and with a model if it has
// something to say.
func newWorld(t testing.TB, tools map[string]tool, replies map[string]func(*llm.Request) string, change ...func(*run.Settings, *run.Options)) *world {
	t.Helper()
	w := &world{Tools: &box{tools: tools}, Model: &mind{reply: replies}, Plans: &fakePlanner{}, Journal: &run.Memory{}}
	set, o := settings(), &run.Options{NoDesktop: true, Tools: w.Tools, Journal: func() (run.Journal, error) { return w.Journal, nil }}
	if replies != nil {
		o.Client = &llm.Client{Model: w.Model, Default: llm.Settings{Model: "test"}}
	}
	for _, f := range change {
		f(&set, o)
	}
	s := runtest.Open(t, set, o)
	var err error
	w.Engine, err = engine.New(s)
	require.NoError(t, err)
	w.Engine.Planner, w.Engine.Validate = w.Plans, nil
	return w
}

// plan is one of steps that call the tool of their name.
func plan(steps ...planner.Step) *planner.Plan {
	p := &planner.Plan{Version: planner.Version, Mode: planner.Deliberate, Task: "Do what the test wants", Steps: steps}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Status == "" {
			s.Status = planner.Pending
		}
	}
	return p
}

// step is one that calls a tool.
func step(id, tool string, needs ...string) planner.Step {
	return planner.Step{ID: id, Goal: "Have " + tool + " done", Executor: planner.Tool, Action: tool, Parameters: "{}", Needs: needs}
}

// statuses are those of a plan, by the IDs.
func statuses(p *planner.Plan) map[string]planner.Status {
	list := map[string]planner.Status{}
	for _, s := range p.Steps {
		list[s.ID] = s.Status
	}
	return list
}
