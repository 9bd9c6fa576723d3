package agent_test

import (
	"context"
	"fmt"
	"image"
	"slices"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/eventwin"
	"desktop-agent/agent"
	"desktop-agent/internal/x11"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/screen"
)

// mark is where the window without a tree has a red square, in its pixels.
var mark = image.Rect(150, 60, 190, 100)

// move has windows stand beside each other.
func move(t *testing.T, display string, o *screen.Observation) {
	t.Helper()
	conn, err := x11.Dial(display)
	require.NoError(t, err)
	defer conn.Close()
	for _, w := range o.Windows {
		x := map[string]uint32{"Left": 20, "Right": 420}[w.Title]
		if x > 0 {
			require.NoError(t, xproto.ConfigureWindowChecked(conn.Conn, xproto.Window(w.ID), xproto.ConfigWindowX|xproto.ConfigWindowY, []uint32{x, 320}).Check())
		}
	}
}

// paint puts the red square into a window: a program draws it, and tells nobody of it.
func paint(t *testing.T, display string, window uint32) {
	t.Helper()
	conn, err := x11.Dial(display)
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	id, err := xproto.NewWindowId(conn.Conn)
	require.NoError(t, err)
	require.NoError(t, xproto.CreateWindowChecked(conn.Conn, 0, id, xproto.Window(window), int16(mark.Min.X), int16(mark.Min.Y),
		uint16(mark.Dx()), uint16(mark.Dy()), 0, xproto.WindowClassInputOutput, 0, xproto.CwBackPixel, []uint32{0x00ff0000}).Check())
	require.NoError(t, xproto.MapWindowChecked(conn.Conn, id).Check())
}

// TestWordsOnARealDesktop has an actor name things in words on a screen with two dialogs,
// whose programs tell of their buttons, and a drawing, which nobody tells of. The tree is
// asked first and no model then; what it does not have, the model finds on the picture in the
// size that it wants; what is ambiguous, outside or something else is not acted on.
func TestWordsOnARealDesktop(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	type turn struct {
		does   string
		ground []string // what the model that finds things answers; "red" for the middle of what is red
		told   []string // what the actor reads in the next turn
		did    string   // the end of the words for what was done; "" if nothing was
	}
	turns := []turn{
		{`agent.click("the red square")`, []string{"red"}, []string{"click left at ("}, ""},
		{`agent.doubleClick("the red square")`, []string{"(5000,20)", "red"}, []string{"double-click left at ("}, ""},
		{`agent.drag("the red square", "the Cancel button of the Left dialog")`, []string{"red"}, []string{"drag left from ("}, `push button "Cancel"`},
		{`agent.click("the Cancel button")`, nil, []string{`"the Cancel button" can mean 2 elements`, `push button "Cancel" in window "Left"`, `push button "Cancel" in window "Right"`}, ""},
		{`agent.click("the blue Proceed button")`, []string{"cancel", "cancel"}, []string{"no element of the list is \"the blue Proceed button\"", "did not find it: at (", `push button "Cancel", which is called otherwise`}, ""},
		{`agent.click("the green square")`, []string{"nowhere", "[]"}, []string{"did not find it: the answer names no point"}, ""},
		{`agent.click("the Cancel button of the Left dialog")`, nil, nil, `push button "Cancel"`},
	}
	var cancelAt image.Point // in device pixels
	n, asked := 0, 0
	var reasons []string
	var sizes []image.Point
	client := &llm.Client{Default: llm.Settings{Model: "script"}, Roles: map[llm.Role]llm.Settings{llm.Grounder: {Model: "gta1-7b"}}, Retry: llm.Retry{Attempts: 1}}
	client.Model = llmtest.Answer(func(r *llm.Request) (string, error) {
		if r.Role == llm.Grounder {
			answer := turns[n-1].ground[asked]
			asked++
			at, size, err := reddish(r)
			sizes = append(sizes, size)
			if len(r.Messages) > 2 {
				reasons = append(reasons, text(&llm.Request{Messages: r.Messages[len(r.Messages)-1:]}))
			}
			switch answer {
			case "red":
				answer = fmt.Sprintf("(%d,%d)", at.X, at.Y)
			case "cancel":
				answer = fmt.Sprintf("(%d,%d)", cancelAt.X*size.X/800, cancelAt.Y*size.Y/600)
			}
			assert.Equal(t, "gta1-7b", r.Model)
			assert.Equal(t, "ground", r.Purpose)
			return answer, err
		}
		if n > 0 {
			now := text(&llm.Request{Messages: r.Messages[len(r.Messages)-2:]})
			for _, want := range turns[n-1].told {
				assert.Contains(t, now, want, "after %s", turns[n-1].does)
			}
			assert.Len(t, turns[n-1].ground, asked, "asked after %s", turns[n-1].does)
		}
		if n == len(turns) {
			return code("DONE"), nil
		}
		n, asked = n+1, 0
		return code(turns[n-1].does), nil
	})
	settings := run.Defaults()
	settings.Display.Private, settings.Display.Size, settings.Agent.Planning, settings.Agent.Guard = true, image.Pt(800, 600), "off", "off"
	settings.Display.TreeSilence, settings.Display.TreeLimit, settings.Display.OCR = 20*time.Second, time.Minute, ""
	settings.Models.Grounder, settings.Models.Roles = "gta1", client.Roles
	journal := &runtest.Journal{}
	s := runtest.Open(t, settings, &run.Options{Client: client, Journal: func() (run.Journal, error) { return journal, nil }})
	for _, title := range []string{"Left", "Right"} {
		_, err := s.Private.Open(ctx, "sh", "-c", "tail -f /dev/null | zenity --progress --title "+title)
		require.NoError(t, err)
	}
	move(t, s.Display, look(ctx, t, s, "Left", "Right"))
	canvas, err := eventwin.Open(ctx, s.Display, image.Rect(0, 0, 300, 160))
	require.NoError(t, err)
	defer canvas.Close()
	now := look(ctx, t, s, "Left", "Right", eventwin.Title)
	for i, w := range now.Windows {
		switch w.Title {
		case eventwin.Title:
			paint(t, s.Display, w.ID)
		case "Left":
			for k, node := range now.Tree.Nodes {
				if at, _, ok := now.PointOf(k); ok && node.Name == "Cancel" && now.NodeWindows()[k] == i {
					cancelAt = at
				}
			}
		}
	}
	require.NotZero(t, cancelAt, "the dialog shows its button:\n%s\n%v", now.Text(0), now.Windows)
	a, err := agent.New(s)
	require.NoError(t, err)
	a.World, a.Monitor, a.MaxBadReplies = &fakeWorld{}, nil, 9
	result, err := a.Run(ctx, "Do as is said")
	require.NoError(t, err)
	assert.Equal(t, run.OutcomeDone, result.Outcome, result.Answer)
	assert.Equal(t, len(turns), n)

	inside := mark.Add(canvas.Box().Min)
	acted := all[run.Acting](journal)
	require.Len(t, acted, 4)
	for i, act := range acted[:3] {
		assert.True(t, act.Device[0].In(inside), "%d: %v is not in %v", i, act.Device[0], inside)
	}
	events, err := canvas.WaitFor(ctx, func(list []eventwin.Event) bool { return presses(list, mark) >= 4 })
	require.NoError(t, err)
	assert.Equal(t, 4, presses(events, mark), "a click, a double click and the begin of a drag arrived on the square")
	for _, act := range acted[2:] {
		last := actuator.Points(act.Action.Action)
		assert.Equal(t, "Cancel", last[len(last)-1].Element.Name)
		assert.NotEmpty(t, last[len(last)-1].Element.ID, "the tree has found it, so it is found again right before")
	}
	assert.NotContains(t, titles(look(ctx, t, s, "Right")), "Left", "the button was pressed")

	for _, size := range sizes {
		assert.Equal(t, image.Pt(784, 588), size, "multiples of 28, as the family wants them")
	}
	require.Len(t, reasons, 3)
	assert.Contains(t, reasons[0], "outside of the screenshot")
	assert.Contains(t, reasons[1], "which is called otherwise")
	assert.Contains(t, reasons[1], "<untrusted")
	told := all[run.Grounded](journal)
	var by []string
	for _, g := range told {
		by = append(by, fmt.Sprintf("%s %s %d", g.By, g.Model, g.Asked))
		if g.By == "model" {
			assert.True(t, g.At.In(inside), "%v", g)
		}
		assert.Equal(t, g.By == "", g.Error != "", "%v", g)
	}
	assert.Equal(t, []string{"model gta1-7b 1", "model gta1-7b 2", "tree  0", "model gta1-7b 1", "  0", " gta1-7b 2", " gta1-7b 2", "tree  0"}, by)
	calls := 0
	for _, c := range all[run.ModelCalled](journal) {
		if c.Role == llm.Grounder {
			calls++
		}
	}
	assert.Equal(t, 8, calls, "each is in the journal, for a replay to answer")
}

// look observes until windows of some titles are there, with what their programs tell.
func look(ctx context.Context, t *testing.T, s *run.Session, want ...string) *screen.Observation {
	t.Helper()
	for {
		o, err := s.Desktop.Observe(ctx)
		require.NoError(t, err)
		there := titles(o)
		if !slices.ContainsFunc(want, func(title string) bool { return !slices.Contains(there, title) }) && len(o.Tree.Nodes) >= 6*(len(want)-1) {
			return o
		}
	}
}

func titles(o *screen.Observation) (list []string) {
	for _, w := range o.Windows {
		list = append(list, w.Title)
	}
	return list
}

// presses counts the presses of the left button in a part of a window.
func presses(list []eventwin.Event, in image.Rectangle) (n int) {
	for _, e := range list {
		if e.Kind == eventwin.ButtonPress && e.Button == 1 && e.In.In(in) {
			n++
		}
	}
	return n
}
