package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

var (
	desk  = image.Pt(320, 240)
	grey  = color.RGBA{230, 230, 230, 255}
	black = color.RGBA{0, 0, 0, 255}
)

// editor is a look at a small editor with a Save button and an unnamed picture
// with a word in it.
func editor(id string, change ...func(*screen.Observation)) *screen.Observation {
	o := observation(id, desk, image.Pt(160, 120), grey)
	write(o.Frame, 210, 120, "Save")
	o.Windows = []screen.Window{{ID: 1, Title: "notes - Editor", Class: "Editor", Box: image.Rect(0, 0, 300, 220), Focused: true}}
	o.Tree.Nodes = []atspi.Node{
		{ID: "n1", Parent: -1, Role: "frame", Name: "notes - Editor", Box: image.Rect(0, 0, 300, 220)},
		{ID: "n2", Parent: 0, Role: "push button", Name: "Save", Box: image.Rect(20, 20, 60, 40)},
		{ID: "n3", Role: "drawing area", Box: image.Rect(200, 100, 260, 140)},
	}
	for _, f := range change {
		f(o)
	}
	return o
}

func write(img draw.Image, x, y int, text string) {
	d := font.Drawer{Dst: img, Src: image.NewUniform(black), Face: basicfont.Face7x13, Dot: fixed.P(x, y)}
	d.DrawString(text)
}

func click(x, y int) actuator.Action {
	return actuator.Click{At: &actuator.Point{X: x, Y: y}, Button: actuator.Left, Count: 1}
}

func observed(step int, o *screen.Observation) run.Event {
	return run.Event{Step: step, Kind: "observed", Data: run.Observed{
		FrameID: o.FrameID, Mapping: o.Image.Mapping, Frame: o.Frame.Rect.Size(), Cursor: o.Cursor,
		Windows: o.Windows, Targets: targets(o),
	}}
}

func targets(o *screen.Observation) (list []atspi.Node) {
	for _, n := range o.Tree.Nodes {
		list = append(list, atspi.Node{ID: n.ID, PID: n.PID, Parent: n.Parent, Role: n.Role, Name: n.Name, Box: n.Box})
	}
	return list
}

func called(step int, role llm.Role, purpose, prompt, answer string) run.Event {
	return run.Event{Step: step, Kind: "model_called", Data: run.ModelCalled{
		Role: role, Purpose: purpose, Messages: []run.Message{{From: llm.User, Text: prompt}},
		Response: &llm.Response{Text: answer, Finish: "stop"},
	}}
}

func proposes(step int, frame string, actions ...actuator.Action) run.Event {
	p := run.Proposed{FrameID: frame}
	for _, a := range actions {
		p.Actions = append(p.Actions, run.Recorded{Action: a})
	}
	return run.Event{Step: step, Kind: "proposed", Data: p}
}

// look records a live observation.
func look(t testing.TB, j *Journal, step int, o *screen.Observation) {
	t.Helper()
	require.NoError(t, j.Frame(t.Context(), o))
	_, err := j.frames.wait() // so that it is always the same line that has its hash
	require.NoError(t, err)
	put(t, j, observed(step, o))
}

// recording writes a run of one step and opens it.
func recording(t testing.TB, actions ...actuator.Action) *Run {
	t.Helper()
	j := newJournal(t)
	put(t, j, started("save"))
	look(t, j, 0, editor("f1"))
	put(t, j,
		called(0, llm.Planner, "plan", "make a plan", "the plan"),
		called(1, llm.Actor, "propose", "what now?", "the action"),
		proposes(1, "f1", actions...),
		run.Event{Step: 1, Kind: "run_ended", Data: run.RunEnded{Outcome: run.OutcomeDone}})
	require.NoError(t, j.Close())
	r, err := Open(j.Dir())
	require.NoError(t, err)
	return r
}

// onDesktop gives the replies of a run to a desktop of which nothing was observed yet.
func onDesktop(t testing.TB, r *Run) (*Recorded, *Journal) {
	t.Helper()
	live := newJournal(t)
	put(t, live, started("save"))
	m, err := NewRecorded(r, live)
	require.NoError(t, err)
	return m, live
}

func request(role llm.Role, purpose, prompt, frame string) *llm.Request {
	m := llm.UserText(prompt)
	if frame != "" {
		m.Parts = append(m.Parts, llm.Image{FrameID: frame})
	}
	return &llm.Request{Role: role, Purpose: purpose, Messages: []llm.Message{m}}
}

func TestRecordedAnswers(t *testing.T) {
	m, live := onDesktop(t, recording(t, click(20, 15)))
	_, err := m.Complete(t.Context(), request(llm.Planner, "plan", "make a plan", ""))
	require.ErrorContains(t, err, "nothing was observed")

	look(t, live, 0, editor("live7"))
	got, err := m.Complete(t.Context(), request(llm.Planner, "plan", "make another plan", ""))
	require.NoError(t, err)
	assert.Equal(t, "the plan", got.Text)
	_, err = m.Complete(t.Context(), request(llm.Actor, "propose", "what now?", "f1"))
	require.ErrorContains(t, err, "does not show live7, the newest frame")
	got, err = m.Complete(t.Context(), request(llm.Actor, "propose", "what now?", "live7"))
	require.NoError(t, err)
	assert.Equal(t, &llm.Response{Text: "the action", Finish: "stop"}, got)
	assert.Equal(t, Count{Answered: 2, PromptsOther: 1}, m.Count())
}

// A recorded reply is about the elements that it was about, whatever their handles are on the
// live screen: there the handle of Save is another one's, a button that deletes.
func TestRecordedHandles(t *testing.T) {
	save := actuator.Click{At: &actuator.Point{X: 20, Y: 15, Element: actuator.Element{ID: "n2", Role: "push button", Name: "Save"}}, Button: actuator.Left, Count: 1}
	shifted := func(o *screen.Observation) {
		for i := range o.Tree.Nodes {
			o.Tree.Nodes[i].ID = fmt.Sprintf("n%d", 5+i)
		}
		other := o.Tree.Nodes[1]
		other.ID, other.Name, other.Box = "n2", "Delete", image.Rect(100, 20, 140, 40)
		o.Tree.Nodes = append(o.Tree.Nodes, other)
	}
	gone := func(o *screen.Observation) { o.Tree.Nodes = o.Tree.Nodes[:1] }
	reply := &llm.Response{
		Text:  "I click \"n2\", not 'n22' or n2.\nagent.click('n2')\n",
		Calls: []llm.ToolCall{{Name: "click", Arguments: `{"element":"n2","other":"n3"}`}},
	}
	for _, tt := range []struct {
		name    string
		live    func(*screen.Observation)
		actions []actuator.Action
		want    *llm.Response
		err     string
	}{
		{"the same", func(*screen.Observation) {}, []actuator.Action{save}, reply, ""},
		{"others", shifted, []actuator.Action{save}, &llm.Response{
			Text:  "I click \"n6\", not 'n22' or n2.\nagent.click('n6')\n",
			Calls: []llm.ToolCall{{Name: "click", Arguments: `{"element":"n6","other":"n3"}`}},
		}, ""},
		{"in pixels", shifted, []actuator.Action{click(20, 15)}, reply, ""},
		{"the handle is typed, too", shifted, []actuator.Action{save, actuator.Type{Text: "n2"}}, nil, "the reply types the same"},
		{"no element", gone, []actuator.Action{save}, nil, "does not match the recording"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := newJournal(t)
			put(t, j, started("save"))
			look(t, j, 0, editor("f1"))
			answered := called(1, llm.Actor, "propose", "what now?", "")
			answered.Data = run.ModelCalled{Role: llm.Actor, Purpose: "propose", Messages: []run.Message{{From: llm.User}}, Response: reply}
			put(t, j, answered, proposes(1, "f1", tt.actions...))
			require.NoError(t, j.Close())
			r, err := Open(j.Dir())
			require.NoError(t, err)
			m, live := onDesktop(t, r)
			look(t, live, 0, editor("L1", tt.live))
			got, err := m.Complete(t.Context(), request(llm.Actor, "propose", "what now?", "L1"))
			if tt.err != "" {
				var mismatch *MismatchError
				require.ErrorAs(t, err, &mismatch)
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, []any{tt.want.Text, tt.want.Calls}, []any{got.Text, got.Calls})
		})
	}
}

func TestRecordedKnowsItsPlace(t *testing.T) {
	j := newJournal(t)
	put(t, j, started("save"))
	for step := range 4 {
		id := string(rune('a' + step))
		look(t, j, step, editor(id))
		if step > 0 {
			put(t, j, called(step+1, llm.WorldModel, "assess", "", "assess "+id))
		}
		put(t, j, called(step+1, llm.Actor, "propose", "", "propose "+id), proposes(step+1, id, click(20, 15)))
		if step == 1 { // proposed again
			put(t, j, called(step+1, llm.Actor, "propose", "", "again "+id), proposes(step+1, id, click(20, 15)))
		}
	}
	failed := called(4, llm.Monitor, "review", "", "")
	failed.Data = run.ModelCalled{
		Role: llm.Monitor, Purpose: "review", Messages: []run.Message{{From: llm.User}}, Error: "endpoint: 503",
	}
	put(t, j, failed)
	r, err := Open(j.Dir())
	require.NoError(t, err)

	m, live := onDesktop(t, r)
	ask := func(role llm.Role, purpose, frame string) string {
		got, err := m.Complete(t.Context(), request(role, purpose, "", frame))
		if err != nil {
			return err.Error()
		}
		return got.Text
	}
	look(t, live, 0, editor("L0"))
	assert.Contains(t, ask(llm.WorldModel, "assess", ""), "the worldmodel was asked to assess 0 times, now once more", "not recorded at the start")
	assert.Equal(t, "propose a", ask(llm.Actor, "propose", "L0"))
	assert.Contains(t, ask(llm.Actor, "propose", "L0"), "the recording does not cover this run: after the screen of step 0 the actor was asked to propose 1 times")

	look(t, live, 1, editor("L1"))
	assert.Equal(t, "propose b", ask(llm.Actor, "propose", "L1"), "before the assessment this time: they run at the same time")
	assert.Equal(t, "again b", ask(llm.Actor, "propose", "L1"))
	assert.Equal(t, "assess b", ask(llm.WorldModel, "assess", "L1"))

	look(t, live, 2, editor("L2")) // no assessment here
	assert.Equal(t, "propose c", ask(llm.Actor, "propose", "L2"))
	look(t, live, 3, editor("L3"))
	assert.Equal(t, "assess d", ask(llm.WorldModel, "assess", "L3"), "that of step 2 is not given for step 3")
	assert.Contains(t, ask(llm.Monitor, "review", ""), "endpoint: 503")
	assert.Equal(t, Count{Answered: 7, Unused: 2}, m.Count(), "the assessment of step 2 and the proposal of step 3")
}

func TestRecordedRefusesAnotherScreen(t *testing.T) {
	busy := func(o *screen.Observation, pid, hung int) {
		o.Windows[0].PID, o.Tree.Hung = pid, []atspi.Program{{Name: "Editor", PID: hung}}
		for i := range o.Tree.Nodes {
			o.Tree.Nodes[i].PID = pid
		}
	}
	save, picture := click(20, 15), click(110, 58) // of the image, half as large as the screen
	for _, tt := range []struct {
		name    string
		action  actuator.Action
		live    func(*screen.Observation)
		wantErr string // "" where the screens match
	}{
		{"the same", save, func(*screen.Observation) {}, ""},
		{"other pixels at a named node", save, func(o *screen.Observation) { write(o.Frame, 40, 30, "XXXX") }, ""},
		{"another name", save, func(o *screen.Observation) { o.Tree.Nodes[1].Name = "Open" },
			`at step 1 (click left at (20, 15)): expected push button "Save" at (20, 15), found push button "Open" there on frame live`},
		{"another role", save, func(o *screen.Observation) { o.Tree.Nodes[1].Role = "label" },
			`expected push button "Save" at (20, 15), found label "Save"`},
		{"elsewhere", save, func(o *screen.Observation) { o.Tree.Nodes[1].Box = image.Rect(100, 20, 140, 40) },
			`found frame "notes - Editor" there (push button "Save" is at (60, 15) now)`},
		{"no tree", save, func(o *screen.Observation) { o.Tree.Nodes = nil }, `expected push button "Save" at (20, 15), found nothing there`},
		{"a busy program that does not tell it", save, func(o *screen.Observation) { o.Tree.Nodes, o.Tree.Hung = nil, []atspi.Program{{Name: "Editor"}} }, ""},
		{"which is this one", save, func(o *screen.Observation) { busy(o, 7, 7); o.Tree.Nodes = nil }, ""},
		{"which is this one, and tells a part", save, func(o *screen.Observation) { busy(o, 7, 7); o.Tree.Nodes = o.Tree.Nodes[:1] }, ""},
		{"a busy program beside one that has it no more", save, func(o *screen.Observation) { busy(o, 7, 9); o.Tree.Nodes = nil },
			`expected push button "Save" at (20, 15), found nothing there`},
		{"a busy program beside one that has a part of it", save, func(o *screen.Observation) { busy(o, 7, 9); o.Tree.Nodes = o.Tree.Nodes[:1] },
			`expected push button "Save" at (20, 15), found frame "notes - Editor" there`},
		{"and another picture", save, func(o *screen.Observation) {
			o.Tree.Nodes, o.Tree.Hung = o.Tree.Nodes[:1], []atspi.Program{{Name: "Editor"}}
			draw.Draw(o.Frame, image.Rect(20, 20, 60, 40), image.NewUniform(black), image.Point{}, draw.Src)
		}, `expected the recorded picture at (20, 15), found another one (`},
		{"a busy program that tells another", save, func(o *screen.Observation) {
			o.Tree.Nodes[1].Name, o.Tree.Hung = "Open", []atspi.Program{{Name: "Editor"}}
		},
			`expected push button "Save" at (20, 15), found push button "Open" there`},
		{"another button in a dialog above", save, func(o *screen.Observation) {
			// What lies below is the same, and even smaller.
			o.Windows = append(o.Windows, screen.Window{ID: 2, Title: "notes - Editor", Class: "Editor", Box: image.Rect(10, 10, 200, 200)})
			o.Tree.Nodes = append(o.Tree.Nodes,
				atspi.Node{ID: "n4", Parent: -1, Role: "dialog", Name: "notes - Editor", Box: image.Rect(10, 10, 200, 200)},
				atspi.Node{ID: "n5", Parent: 3, Role: "push button", Name: "Delete all", Box: image.Rect(15, 15, 120, 60)})
		}, `expected push button "Save" at (20, 15), found push button "Delete all" there`},
		{"a minimised window does not cover", save, func(o *screen.Observation) {
			o.Windows = append(o.Windows, screen.Window{Title: "Hello", Class: "Note", Box: image.Rect(30, 20, 90, 90), Hidden: true})
		}, ""},
		{"a tooltip over it", save, func(o *screen.Observation) {
			o.Windows = append(o.Windows, screen.Window{Title: "Saves", Class: "Editor", Type: "tooltip", Popup: true, Box: image.Rect(30, 20, 90, 90)})
		}, ""},
		{"covered by another window", save, func(o *screen.Observation) {
			o.Windows = append(o.Windows, screen.Window{Title: "Hello", Class: "Note", Box: image.Rect(30, 20, 90, 90)})
		}, `expected window "notes - Editor" (Editor) at (20, 15), found window "Hello" (Note) at (20, 15)`},
		{"another title", save, func(o *screen.Observation) { o.Windows[0].Title = "*notes - Editor" },
			`expected the focus in window "notes - Editor" (Editor), found the focus in window "*notes - Editor" (Editor)`},
		{"another class", save, func(o *screen.Observation) { o.Windows[0].Class = "Other" }, `(Other)`},
		{"the focus elsewhere", actuator.Type{Text: "hidden"}, func(o *screen.Observation) { o.Windows[0].Focused = false },
			`(type 6 characters): expected the focus in window "notes - Editor" (Editor), found the focus in no window`},
		{"typing needs the focus alone", actuator.Type{Text: "hidden"}, func(o *screen.Observation) { o.Tree.Nodes = nil }, ""},
		{"another size of the image", save, func(o *screen.Observation) { o.Image.Mapping.Size = image.Pt(320, 240) },
			"sent as 160×120, found a screen of 320×240 with (0,0)-(320,240) sent as 320×240"},
		{"the same picture", picture, func(*screen.Observation) {}, ""},
		{"a caret in the picture", picture, func(o *screen.Observation) { caretAt(o, 212, 108) }, ""},
		{"a shade in the picture", picture, func(o *screen.Observation) { shade(o.Frame) }, ""},
		{"the pointer over the picture", picture, func(o *screen.Observation) {
			o.Bare = &image.RGBA{Pix: bytes.Clone(o.Frame.Pix), Stride: o.Frame.Stride, Rect: o.Frame.Rect}
			draw.Draw(o.Frame, image.Rect(212, 108, 224, 126), image.NewUniform(black), image.Point{}, draw.Src)
		}, ""},
		{"another word in the picture", picture, func(o *screen.Observation) {
			draw.Draw(o.Frame, o.Tree.Nodes[2].Box, image.NewUniform(grey), image.Point{}, draw.Src)
			write(o.Frame, 210, 120, "Open")
		}, `expected the recorded picture at (110, 58), found another one (`},
		{"nothing to do with the screen", actuator.Done{Answer: "x"}, func(o *screen.Observation) { o.Windows, o.Tree.Nodes = nil, nil }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, live := onDesktop(t, recording(t, tt.action))
			look(t, live, 0, editor("live", tt.live))
			_, err := m.Complete(t.Context(), request(llm.Actor, "propose", "what now?", "live"))
			if tt.wantErr == "" {
				require.NoError(t, err)
				return
			}
			var mismatch *MismatchError
			require.ErrorAs(t, err, &mismatch)
			assert.Equal(t, 1, mismatch.Step)
			assert.ErrorContains(t, err, tt.wantErr)
			assert.ErrorContains(t, err, "the live screen does not match the recording")
			assert.NotContains(t, err.Error(), "hidden")
		})
	}
}

func caretAt(o *screen.Observation, x, y int) {
	draw.Draw(o.Frame, image.Rect(x, y, x+2, y+16), image.NewUniform(black), image.Point{}, draw.Src)
}

// shade makes a picture a little darker, as another version of a theme would.
func shade(img *image.RGBA) {
	for i := range img.Pix {
		if i%4 != 3 {
			img.Pix[i] -= min(img.Pix[i], 20)
		}
	}
}

func TestRecordedChecksEachPoint(t *testing.T) {
	drag := actuator.Drag{Path: []actuator.Point{{X: 20, Y: 15}, {X: 110, Y: 58}}, Button: actuator.Left}
	m, live := onDesktop(t, recording(t, actuator.Press{Keys: []actuator.Key{"esc"}, Count: 1}, drag))
	look(t, live, 0, editor("live", func(o *screen.Observation) { o.Tree.Nodes[2].Role = "slider" }))
	_, err := m.Complete(t.Context(), request(llm.Actor, "propose", "", "live"))
	assert.ErrorContains(t, err, `expected drawing area at (110, 58), found slider there`)
}

func TestNewRecordedRefuses(t *testing.T) {
	for _, tt := range []struct {
		name    string
		events  []run.Event
		wantErr string
	}{
		{"no calls", nil, "no model was called in it"},
		{"a proposal of nobody", []run.Event{proposes(1, "f1", click(1, 1))}, "is not the newest that was observed"},
		{"a damaged tree", []run.Event{{Kind: "observed", Data: run.Observed{FrameID: "f1", Targets: []atspi.Node{{Parent: 7}}}}}, "node 0 cannot have node 7 as its parent"},
		{"a frame that was not seen", []run.Event{called(1, llm.Actor, "propose", "", ""), proposes(1, "f9", click(1, 1))}, `frame "f9", which is not the newest`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := newJournal(t)
			put(t, j, started("x"))
			put(t, j, tt.events...)
			r, err := Open(j.Dir())
			require.NoError(t, err)
			_, err = NewRecorded(r, j)
			assert.ErrorContains(t, err, tt.wantErr)
		})
	}
}

func TestRecordedStops(t *testing.T) {
	live := newJournal(t)
	m, err := NewRecorded(recording(t, click(20, 15)), live)
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	_, err = m.Complete(ctx, request(llm.Planner, "plan", "", ""))
	assert.ErrorIs(t, err, why)
}
