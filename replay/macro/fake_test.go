package macro

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/screen"
)

// A fakeDesktop shows a draft; an action may change it.
type fakeDesktop struct {
	run.Comparison
	draft string
	react func(d *fakeDesktop, a actuator.Action) error
	did   []actuator.Action
	looks int
	look  func(d *fakeDesktop) // called before each look
	caret bool                 // a text cursor is shown
	tick  bool                 // the first node is told to be checked, which no pixel shows
}

func (d *fakeDesktop) Observe(ctx context.Context) (*screen.Observation, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if d.looks++; d.look != nil {
		d.look(d)
	}
	o := d.shown()
	o.FrameID = fmt.Sprintf("f%04d", d.looks)
	var out bytes.Buffer
	if err := png.Encode(&out, o.Frame); err != nil {
		return nil, err
	}
	o.Image.Data, o.Image.Type = out.Bytes(), "image/png"
	return o, nil
}

// shown is what the desktop shows, not yet encoded.
func (d *fakeDesktop) shown() *screen.Observation {
	o := draft(d.draft).Observation
	o.Frame = o.Bare
	o.Bare = image.NewRGBA(o.Bare.Rect)
	draw.Draw(o.Bare, o.Bare.Rect, image.Black, image.Point{}, draw.Src)
	for i, r := range d.draft {
		o.Bare.Pix[(4*i)%len(o.Bare.Pix)] ^= byte(r)
	}
	if d.caret {
		draw.Draw(o.Bare, image.Rect(150, 115, 152, 131), image.Black, image.Point{}, draw.Src)
	}
	if d.tick {
		o.Tree.Nodes[1].States = append(o.Tree.Nodes[1].States, "checked")
	}
	copy(o.Frame.Pix, o.Bare.Pix)
	return o
}

func (d *fakeDesktop) Capture(ctx context.Context) (run.Capture, error) {
	if err := context.Cause(ctx); err != nil {
		return run.Capture{}, err
	}
	o := d.shown()
	return run.Capture{Bare: o.Bare, Windows: o.Windows}, nil
}

func (d *fakeDesktop) Do(ctx context.Context, a actuator.Action, _ actuator.Frame) (string, error) {
	if err := context.Cause(ctx); err != nil {
		return "", fmt.Errorf("%w: %w", actuator.ErrRefused, err)
	}
	if actuator.ForAgent(a) {
		return "", fmt.Errorf("%w: %s is for the agent", actuator.ErrRefused, actuator.Name(a))
	}
	if d.react == nil {
		d.did = append(d.did, a)
		return "", nil
	}
	err := d.react(d, a)
	if err == nil {
		d.did = append(d.did, a)
	}
	return "", err
}

// TestFakeIsDesktop holds that the fake is a desktop.
func TestFakeIsDesktop(t *testing.T) {
	d := &fakeDesktop{draft: mainWindow}
	runtest.TestDesktop(t, &runtest.DesktopSubject{
		Desktop: d, Device: d, Change: func(testing.TB) { d.draft = update },
	})
}

// A taken step is what a recorded run did, and what the desktop was then.
type taken struct {
	actions []actuator.Action
	then    string // draft after it; "" for as before
	params  []run.Param
	status  actuator.Status // "" for delivered
}

// recorded makes the macro of a run.
func recorded(t testing.TB, task, first string, steps ...taken) *Macro {
	t.Helper()
	ctx := t.Context()
	j, err := replay.Create(t.TempDir())
	require.NoError(t, err)
	scope := run.NewRecorder(j, nil).Scope(run.Where{Agent: "agent"})
	put := func(data run.EventData) { require.NoError(t, scope.Emit(ctx, data)) }
	d := &fakeDesktop{draft: first}
	see := func() string {
		o, err := d.Observe(ctx)
		require.NoError(t, err)
		require.NoError(t, scope.Observe(ctx, o, "1"))
		return o.FrameID
	}
	put(run.RunStarted{Schema: run.Schema, Task: task, Planning: "off", Guard: "none"})
	frame := see()
	for _, s := range steps {
		scope.Turn()
		p := run.Proposed{FrameID: frame, Thought: "I do it.", Expect: "It is done.", Params: s.params}
		for _, a := range s.actions {
			p.Actions = append(p.Actions, run.Recorded{Action: a})
		}
		put(p)
		if s.status == "" {
			s.status = actuator.Delivered
		}
		for i, a := range s.actions {
			put(run.Acting{Index: i, Action: run.Recorded{Action: a}})
			put(run.Acted{Index: i, Status: s.status})
		}
		if s.then != "" {
			d.draft = s.then
		}
		frame = see()
	}
	put(run.RunEnded{Outcome: run.OutcomeDone})
	require.NoError(t, j.Close())
	stored, err := replay.Open(j.Dir())
	require.NoError(t, err)
	m, err := Load(stored, nil)
	require.NoError(t, err)
	return m
}

func click(x, y int) actuator.Action {
	return actuator.Click{At: &actuator.Point{X: x, Y: y}, Button: actuator.Left, Count: 1}
}

func typed(text string) actuator.Action { return actuator.Type{Text: actuator.Secret(text)} }

// patient are settings by which a player looks for so long.
func patient(limit time.Duration) run.Settings {
	return run.Settings{Macro: run.MacroSettings{Patience: limit}}
}

// play plays a macro on a fake desktop, and reads the run that it wrote.
func play(t *testing.T, p *Player, m *Macro) (Result, []*replay.Step, error) {
	t.Helper()
	j, err := replay.Create(t.TempDir())
	require.NoError(t, err)
	on(p, p.Desktop, j)
	if p.Settings.Macro.Patience == 0 {
		p.Settings.Macro.Patience = 30 * time.Millisecond
	}
	result, played := p.Play(t.Context(), m)
	require.NoError(t, j.Close())
	stored, err := replay.Open(j.Dir())
	require.NoError(t, err)
	return result, stepsOf(t, stored), played
}

// on has a player work on a desktop and write to a journal.
func on(p *Player, d run.Desktop, j run.Journal) *Player {
	p.Desktop, p.Scope = d, run.NewRecorder(j, nil).Scope(run.Where{Agent: "macro"})
	p.Hand = run.NewHand(d.(run.Device), p.Scope, nil)
	return p
}

func stepsOf(t *testing.T, stored *replay.Run) (steps []*replay.Step) {
	for s, err := range stored.Steps() {
		require.NoError(t, err)
		steps = append(steps, s)
	}
	return steps
}

// kinds lists the kinds of the events of a run, steps apart.
func kinds(steps []*replay.Step) (list []string) {
	for _, s := range steps {
		var words []string
		for _, e := range s.Events {
			words = append(words, e.Kind)
		}
		list = append(list, strings.Join(words, " "))
	}
	return list
}
