package offline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"desktop-agent/actuator"
	"desktop-agent/agent"
	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// A script is a desktop and a model that go through a run of any length: each
// step clicks a button, and the screen shows the next number.
type script struct {
	run.Comparison
	size   image.Point
	nodes  int
	pages  []*image.RGBA // of the screen, one after the other
	sent   [][]byte      // the same, encoded
	steps  int           // after which the run is done
	replyN func(step int) string
	ask    func(context.Context, string) (string, error) // the user
	guard  run.Guard

	mu     sync.Mutex // held while a model answers
	now    int        // the page
	looks  int
	stuck  bool                  // clicks change nothing
	off    bool                  // the second button is disabled
	refuse map[int]error         // of actions, by their number
	real   []*screen.Observation // what is seen instead, one after the other, under the script's own frames
	asked  map[string]int        // calls by purpose
	fails  map[string]error      // calls that fail, by purpose
	out    map[string]string     // replies that are other ones, by purpose
}

func newScript(steps int, size image.Point) *script {
	s := &script{size: size, nodes: 80, steps: steps, asked: map[string]int{}}
	s.pages, s.sent = drawnPages(size)
	return s
}

var drawn sync.Map // func() ([]*image.RGBA, [][]byte) by size

// drawnPages returns pages of a screen, as pixels and encoded. Both are only read: they are
// the same for all scripts of a size.
func drawnPages(size image.Point) (pages []*image.RGBA, sent [][]byte) {
	once, _ := drawn.LoadOrStore(size, sync.OnceValues(func() ([]*image.RGBA, [][]byte) { return drawPages(size) }))
	return once.(func() ([]*image.RGBA, [][]byte))()
}

func drawPages(size image.Point) (pages []*image.RGBA, sent [][]byte) {
	for i := range 4 {
		img := image.NewRGBA(image.Rectangle{Max: size})
		draw.Draw(img, img.Rect, image.NewUniform(color.RGBA{240, 240, uint8(200 + 10*i), 255}), image.Point{}, draw.Src)
		for line := range size.Y / 20 {
			d := font.Drawer{Dst: img, Src: image.Black, Face: basicfont.Face7x13, Dot: fixed.P(20, 18+20*line)}
			d.DrawString(fmt.Sprintf("page %d, line %d: milk, bread and apples, and whatever else a list may hold", i, line))
		}
		var buf bytes.Buffer
		_ = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&buf, img)
		pages, sent = append(pages, img), append(sent, buf.Bytes())
	}
	return pages, sent
}

func (s *script) page() *image.RGBA { return s.pages[s.now%len(s.pages)] }

func (s *script) windows() []screen.Window {
	return []screen.Window{{ID: 1, Title: fmt.Sprintf("Page %d", s.now), Class: "Pages", PID: 7, Focused: true, Box: s.page().Rect}}
}

func (s *script) Observe(ctx context.Context) (*screen.Observation, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	s.looks++
	o := &screen.Observation{FrameID: fmt.Sprintf("f%05d", s.looks), At: time.Now(), Frame: s.page(), Bare: s.page(), Windows: s.windows()}
	o.Image = screen.Image{Data: s.sent[s.now%len(s.pages)], Type: "image/png", Mapping: screen.Mapping{Source: o.Frame.Rect, Size: o.Frame.Rect.Size()}}
	o.Tree.Nodes = append(o.Tree.Nodes, atspi.Node{ID: "n1", App: "pages", PID: 7, Parent: -1, Role: "frame", Name: o.Windows[0].Title, States: []string{"active"}, Box: o.Frame.Rect})
	for i := range s.nodes - 1 {
		at := image.Pt(20+i%8*60, 20+i/8*24)
		o.Tree.Nodes = append(o.Tree.Nodes, atspi.Node{
			ID: fmt.Sprintf("n%d", i+2), App: "pages", PID: 7, Depth: 1, Role: "push button", Name: fmt.Sprintf("Button %d", i),
			Box: image.Rectangle{Min: at, Max: at.Add(image.Pt(50, 20))},
		})
	}
	if s.off {
		o.Tree.Nodes[2].States = []string{"disabled"}
	}
	if len(s.real) > 0 {
		r := s.real[s.now%len(s.real)]
		o.Windows, o.Tree = r.Windows, r.Tree
	}
	return o, nil
}

func (s *script) Capture(ctx context.Context) (run.Capture, error) {
	return run.Capture{Bare: s.page(), Windows: s.windows()}, context.Cause(ctx)
}

func (s *script) Do(ctx context.Context, a actuator.Action, _ actuator.Frame) (string, error) {
	if err := context.Cause(ctx); err != nil {
		return "", fmt.Errorf("%w: %w", actuator.ErrRefused, err)
	}
	if actuator.ForAgent(a) {
		return "", fmt.Errorf("%w: %s is for the agent", actuator.ErrRefused, actuator.Name(a))
	}
	if err := s.refuse[s.now]; err != nil {
		return "", err
	}
	if !s.stuck {
		s.now++
	}
	if _, ok := a.(actuator.Copy); ok {
		return "copied", nil
	}
	return "", nil
}

func (s *script) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.asked[req.Purpose]
	s.asked[req.Purpose]++
	if err := s.fails[req.Purpose]; err != nil {
		return nil, err
	}
	text, ok := s.out[req.Purpose]
	switch {
	case ok:
	case req.Role == llm.Actor:
		text = s.act(n)
	default:
		if req.Schema == nil { // the guard
			text = "it sends a mail"
			break
		}
		text = fill(req.Schema, s.now)
	}
	return &llm.Response{Text: text, Model: "script", Finish: "stop", Usage: llm.Usage{Input: 1000, Output: 50}}, nil
}

// act is the reply of the actor to its nth question.
func (s *script) act(n int) string {
	if s.replyN != nil {
		if text := s.replyN(n); text != "" {
			return text
		}
	}
	if n >= s.steps {
		return "Thought: all seen.\nExpect: nothing.\n```python\nDONE: all seen\n```"
	}
	return fmt.Sprintf("Thought: page %d is next.\nExpect: the title says so.\n```python\npyautogui.click(%d, %d)\n```", n+1, 30+n%8*60, 30)
}

// fill makes an answer of a schema: nothing is said, and the goal is shown.
func fill(schema *llm.Schema, page int) string {
	switch schema.Name {
	case "GoalCheck":
		return fmt.Sprintf(`{"shown":true,"evidence":"Page %d","missing":""}`, page)
	case "Assessment":
		return `{"changed":"the page","as_expected":"yes","progress_step":1,"evidence":"","guidance":null,"stop":false}`
	case "Plan", "draft":
		return `{"steps":[{"goal":"Find the last page","done_when":"the title says Page 999999"},{"goal":"Locate its number","done_when":"the number is shown"}]}`
	case "verdict":
		return `{"is_consistent":true,"needs_new_plan":false,"optimization_guidance":null}`
	}
	return `{"guidance":null}`
}

// A thin journal leaves out the frames, which a long run need not have.
type thin struct{ *replay.Journal }

func (thin) Frame(context.Context, *screen.Observation) error { return nil }

// record performs a script, and opens the run that was written.
func record(t testing.TB, s *script, frames bool, change ...func(*run.Settings)) *replay.Run {
	t.Helper()
	return recordBy(t, s, s, frames, change...)
}

// recordBy is record with another model.
func recordBy(t testing.TB, s *script, model llm.Model, frames bool, change ...func(*run.Settings)) *replay.Run {
	t.Helper()
	j, err := replay.Create(t.TempDir())
	require.NoError(t, err)
	settings := run.Settings{Agent: run.AgentSettings{Planning: "suggestive", Format: "code", MaxSteps: s.steps + 10, ReviewEvery: 10}}
	settings.Models.Roles = map[llm.Role]llm.Settings{}
	for _, role := range []llm.Role{llm.Planner, llm.Actor, llm.WorldModel, llm.Monitor} {
		settings.Models.Roles[role] = llm.Settings{Model: "script"}
	}
	for _, f := range change {
		f(&settings)
	}
	client := &llm.Client{Model: model, Roles: settings.Models.Roles, Retry: llm.Retry{Attempts: 1}}
	if g, ok := s.guard.(*foreseeing); ok {
		g.model = client
	}
	session, err := run.Open(t.Context(), settings, &run.Options{
		Client:  client,
		Desktop: s, Device: s, Guard: s.guard,
		Journal: func() (run.Journal, error) {
			if frames {
				return j, nil
			}
			return thin{j}, nil
		},
	})
	require.NoError(t, err)
	a, err := agent.New(session)
	require.NoError(t, err)
	a.Ask = s.ask
	_, err = a.Run(t.Context(), "Go through the pages")
	_ = err // a run that ends with an error is recorded too
	require.NoError(t, session.Close())
	stored, err := replay.Open(j.Dir())
	require.NoError(t, err)
	return stored
}

func pretty(v any) string {
	data, _ := json.MarshalIndent(v, "", " ")
	return string(data)
}
