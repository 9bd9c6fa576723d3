package agent_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/pyautogui"
	"desktop-agent/agent"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
	"desktop-agent/worldmodel"
)

// A view is one state of the fake desktop.
type view struct {
	title string   // of the one window
	texts []string // names of the nodes, one below the other
}

// A fakeDesktop shows one of its views; an action moves it to the next that
// react names.
type fakeDesktop struct {
	run.Comparison
	views map[string]view
	at    string
	react func(at string, a actuator.Action) (next string, err error)

	mu     sync.Mutex
	did    []actuator.Action
	looks  int
	resize image.Point // if set, the size of the screen from now on
	window uint32      // if set, the window that has the focus from now on
	tick   int         // what moves all the time
}

func (d *fakeDesktop) picture() *image.RGBA {
	size := image.Pt(200, 120)
	if d.resize != (image.Point{}) {
		size = d.resize
	}
	img := image.NewRGBA(image.Rectangle{Max: size})
	shade := color.RGBA{B: uint8(d.tick), A: 255}
	for _, r := range d.at {
		shade.R += uint8(r) * 7
		shade.G += uint8(r) * 31
	}
	draw.Draw(img, img.Rect, image.NewUniform(shade), image.Point{}, draw.Src)
	return img
}

func (d *fakeDesktop) windows() []screen.Window {
	id := max(1, d.window)
	return []screen.Window{{ID: id, Title: d.views[d.at].title, Class: "Fake", PID: 7, Focused: true, Box: image.Rect(0, 0, 200, 120)}}
}

func (d *fakeDesktop) Observe(context.Context) (*screen.Observation, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.looks++
	frame := d.picture()
	o := &screen.Observation{
		FrameID: fmt.Sprintf("f%04d", d.looks), Frame: frame, Bare: frame, Windows: d.windows(),
		Image: screen.Image{Data: []byte("png"), Type: "image/png", Mapping: screen.Mapping{Source: frame.Rect, Size: frame.Rect.Size()}},
	}
	if len(d.views[d.at].texts) > 0 {
		w := o.Windows[0]
		o.Tree.Nodes = append(o.Tree.Nodes, atspi.Node{ID: "n1", App: "fake", PID: w.PID, Parent: -1, Role: "frame", Name: w.Title, States: []string{"active"}, Box: w.Box})
	}
	for i, text := range d.views[d.at].texts {
		o.Tree.Nodes = append(o.Tree.Nodes, atspi.Node{
			ID: fmt.Sprintf("n%d", i+2), App: "fake", PID: 7, Depth: 1, Role: "label", Name: text, Box: image.Rect(10, 10+20*i, 100, 25+20*i),
		})
	}
	return o, nil
}

func (d *fakeDesktop) Capture(context.Context) (run.Capture, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return run.Capture{Bare: d.picture(), Windows: d.windows()}, nil
}

func (d *fakeDesktop) Do(_ context.Context, a actuator.Action, _ actuator.Frame) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.did = append(d.did, a)
	if d.react == nil {
		return "", nil
	}
	next, err := d.react(d.at, a)
	if next != "" {
		d.at = next
	}
	return "", err
}

// A memory is a journal in memory.
type memory struct {
	mu     sync.Mutex
	events []run.Event
	frames []string
	full   func(run.Event) error // refuses an event, as a full disk does
}

func (m *memory) Frame(_ context.Context, o *screen.Observation) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.frames = append(m.frames, o.FrameID)
	return nil
}

func (m *memory) Event(_ context.Context, e run.Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full != nil {
		if err := m.full(e); err != nil {
			return err
		}
	}
	m.events = append(m.events, e)
	return nil
}

// all returns the data of all events of one type.
func all[T run.EventData](m *memory) (list []T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.events {
		if d, ok := e.Data.(T); ok {
			list = append(list, d)
		}
	}
	return list
}

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
func newAgent(t *testing.T, d *fakeDesktop, replies ...string) (*agent.Agent, *actorScript, *memory) {
	t.Helper()
	script, journal := &actorScript{replies: replies}, &memory{}
	if d.views == nil {
		d.views = map[string]view{"a": {title: "Fake window", texts: []string{"Reload"}}}
	}
	if d.at == "" {
		d.at = "a"
	}
	a := &agent.Agent{
		Desktop: d, World: &fakeWorld{}, MaxSteps: 10,
		Actor: &agent.Actor{Model: script, Format: agent.Format{Name: "code", Parser: pyautogui.Parser{}}},
	}
	record(a, journal, nil)
	t.Cleanup(func() { requireNoHoles(t, journal) })
	return a, script, journal
}

// record has the agent write to a journal, and watch told of each event.
func record(a *agent.Agent, j run.Journal, watch func(run.Event)) {
	a.Scope = run.NewRecorder(j, watch).Scope(run.Where{Agent: "agent"})
	a.Hand = run.NewHand(a.Desktop.(run.Device), a.Scope)
}

// requireNoHoles checks that the events are numbered from 1 without a gap.
func requireNoHoles(t *testing.T, m *memory) {
	t.Helper()
	for i, e := range m.events {
		require.Equal(t, i+1, e.Seq, "event %d is %s", i, e.Kind)
	}
}
