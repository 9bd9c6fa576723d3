//go:build linux

package run_test

import (
	"context"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/internal/x11"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// A room is a private desktop with real windows, and a hand.
type room struct {
	*run.Session
	t   *testing.T
	ctx context.Context
	now *screen.Observation
}

// TestElementOf holds that what an action has of a node's name is bounded.
func TestElementOf(t *testing.T) {
	long := strings.Repeat("ä", 300)
	e := run.ElementOf("n2", atspi.Node{ID: "n1", Role: "push button", Name: long})
	assert.Equal(t, actuator.Element{ID: "n2", Role: "push button", Name: strings.Repeat("ä", 200)}, e)
	assert.Equal(t, "Save", run.ElementOf("", atspi.Node{Role: "push button", Name: "Save"}).Name)
}

func newRoom(t *testing.T) *room {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	s := runtest.Open(t, run.Settings{Display: run.DisplaySettings{
		Private: true, Size: image.Pt(1000, 700), TreeSilence: 20 * time.Second, TreeLimit: time.Minute,
	}}, nil)
	return &room{Session: s, t: t, ctx: ctx}
}

func (r *room) open(program string, args ...string) *sandbox.Process {
	r.t.Helper()
	p, err := r.Private.Open(r.ctx, program, args...)
	require.NoError(r.t, err)
	return p
}

// move puts a window elsewhere.
func (r *room) move(p *sandbox.Process, to image.Point) {
	r.t.Helper()
	r.configure(p, xproto.ConfigWindowX|xproto.ConfigWindowY, uint32(to.X), uint32(to.Y))
}

// fill makes a window as large as the desktop.
func (r *room) fill(p *sandbox.Process) {
	r.t.Helper()
	r.configure(p, xproto.ConfigWindowX|xproto.ConfigWindowY|xproto.ConfigWindowWidth|xproto.ConfigWindowHeight, 0, 0, 1000, 700)
}

// minimise asks the window manager to, see ICCCM 4.1.4.
func (r *room) minimise(p *sandbox.Process) {
	r.t.Helper()
	x, err := x11.Dial(r.Display)
	require.NoError(r.t, err)
	defer x.Close()
	change, err := x.Atom("WM_CHANGE_STATE")
	require.NoError(r.t, err)
	const iconic = 3
	message := xproto.ClientMessageEvent{Format: 32, Window: xproto.Window(p.Window()), Type: change,
		Data: xproto.ClientMessageDataUnionData32New([]uint32{iconic, 0, 0, 0, 0})}
	require.NoError(r.t, xproto.SendEventChecked(x.Conn, false, x.Root,
		xproto.EventMaskSubstructureNotify|xproto.EventMaskSubstructureRedirect, string(message.Bytes())).Check())
}

func (r *room) configure(p *sandbox.Process, what uint16, values ...uint32) {
	r.t.Helper()
	x, err := x11.Dial(r.Display)
	require.NoError(r.t, err)
	defer x.Close()
	xproto.ConfigureWindow(x.Conn, xproto.Window(p.Window()), what, values)
	require.NoError(r.t, x.RoundTrip())
	_, err = r.Screen.Settle(r.ctx)
	require.NoError(r.t, err)
}

// see observes until the nodes that fit are as many as wanted, and returns them.
func (r *room) see(want int, fits func(atspi.Node) bool) (found []atspi.Node) {
	r.t.Helper()
	for {
		var err error
		r.now, err = r.Desktop.Observe(r.ctx)
		require.NoError(r.t, err, "%d nodes fit in\n%s", len(found), text(r.now))
		found = nil
		for _, n := range r.now.Tree.Nodes {
			if fits(n) {
				found = append(found, n)
			}
		}
		if len(found) == want {
			return found
		}
	}
}

func text(o *screen.Observation) string {
	if o == nil {
		return "nothing"
	}
	return o.Text(0)
}

// named fits a node by its role and what it is called.
func named(role, name string) func(atspi.Node) bool {
	return func(n atspi.Node) bool { return n.Role == role && n.Name == name }
}

// chosen is an action as the agent has it: named on what was seen.
func (r *room) chosen(a actuator.Action) actuator.Action {
	r.t.Helper()
	list, err := run.Name([]actuator.Action{a}, r.now)
	require.NoError(r.t, err)
	return list[0]
}

// do locates and performs an action that was chosen.
func (r *room) do(a actuator.Action) (act *run.Act, why string) {
	r.t.Helper()
	a, why, err := r.Desktop.Locate(r.ctx, run.Aim{Action: a, Chosen: r.now})
	require.NoError(r.t, err)
	if why != "" {
		return nil, why
	}
	act, err = r.Hand.Do(r.ctx, run.Intent{Action: a, On: r.now, Source: run.FromModel})
	require.NoError(r.t, err)
	require.NoError(r.t, act.Close(r.ctx, nil))
	return act, ""
}

func clickOn(id string) actuator.Action {
	return actuator.Click{At: &actuator.Point{Element: actuator.Element{ID: actuator.Handle(id)}}, Button: actuator.Left, Count: 1}
}

func setTo(id, text string) actuator.Action {
	return actuator.Set{At: actuator.Point{Element: actuator.Element{ID: actuator.Handle(id)}}, Text: actuator.Secret(text)}
}

// ended waits until a program is over.
func (r *room) ended(p *sandbox.Process) {
	r.t.Helper()
	select {
	case <-p.Done():
	case <-r.ctx.Done():
		r.t.Fatal("the program still runs")
	}
}

// TestHandleOfWindowThatMoved has two dialogs with the same button, which then change
// places: each handle reaches the button that it is of.
func TestHandleOfWindowThatMoved(t *testing.T) {
	r := newRoom(t)
	one := r.open("zenity", "--entry", "--title", "One")
	r.move(one, image.Pt(20, 20))
	two := r.open("zenity", "--entry", "--title", "Two")
	r.move(two, image.Pt(20, 400))
	buttons := r.see(2, named("push button", "Cancel"))
	mine := slices.IndexFunc(buttons, func(n atspi.Node) bool { return n.PID == one.PID() })
	require.GreaterOrEqual(t, mine, 0)
	was := buttons[mine]
	chosen := r.chosen(clickOn(was.ID))
	at := actuator.Points(chosen)[0]
	require.True(t, image.Pt(at.X, at.Y).In(was.Box))
	require.Equal(t, actuator.Element{ID: actuator.Handle(was.ID), Role: "push button", Name: "Cancel"}, at.Element)

	r.move(one, image.Pt(500, 400))
	r.move(two, image.Pt(20, 20))
	act, why := r.do(chosen)
	require.Empty(t, why)
	to := actuator.Points(act.Action)[0]
	assert.Greater(t, to.X, at.X+200, "it is clicked at its new place")
	assert.Contains(t, actuator.Describe(act.Action), `on `+was.ID+` push button "Cancel"`)
	r.ended(one)
	select {
	case <-two.Done():
		t.Error("the other dialog was closed")
	default:
	}

	_, why = r.do(chosen)
	assert.Equal(t, was.ID+` push button "Cancel" is gone: look at the new list`, why)
	events := r.Journal.(*run.Memory).Events()
	acting := events[len(events)-2].Data.(run.Acting)
	assert.Equal(t, act.Action, acting.Action.Action, "the journal has pixels and element")
	assert.Equal(t, image.Pt(to.X, to.Y), acting.Device[0])
}

// TestHandleOfProgramThatHangs holds that an element of a program that does not answer is
// not said to be gone: nobody knows.
func TestHandleOfProgramThatHangs(t *testing.T) {
	box := image.Rect(10, 10, 90, 40)
	chosen := &screen.Observation{Tree: screen.Tree{Nodes: []atspi.Node{
		{ID: "n1", PID: 7, Parent: -1, Role: "frame", Name: "Letter", Box: image.Rect(0, 0, 400, 300)},
		{ID: "n2", PID: 7, Depth: 1, Role: "push button", Name: "Save", Box: box},
	}}}
	named, err := run.Name([]actuator.Action{clickOn("n2")}, chosen)
	require.NoError(t, err)
	for _, tt := range []struct {
		what string
		tree screen.Tree
		want string
	}{
		{"it answers", screen.Tree{}, `n2 push button "Save" is gone: look at the new list`},
		{"it does not", screen.Tree{Hung: []atspi.Program{{Name: "soffice", PID: 7}}}, `n2 push button "Save" may be there or not, as soffice does not answer now: wait, and look again`},
		{"a part is told", screen.Tree{Nodes: chosen.Tree.Nodes[:1], Hung: []atspi.Program{{Name: "soffice", PID: 7}}}, `n2 push button "Save" may be there or not, as soffice does not answer now: wait, and look again`},
		{"another does not", screen.Tree{Hung: []atspi.Program{{Name: "mail", PID: 9}}}, `n2 push button "Save" is gone: look at the new list`},
		{"who does not is not known", screen.Tree{Hung: []atspi.Program{{Name: ":1.7"}}}, `n2 push button "Save" may be there or not, as :1.7 does not answer now: wait, and look again`},
	} {
		_, why := run.Locate(named[0], chosen, &screen.Observation{Tree: tt.tree})
		assert.Equal(t, tt.want, why, tt.what)
	}
}

// TestHandleOfOneOfEqualLines holds that of several lines that were read and say the same none is
// taken for another that has come to its place in the list.
func TestHandleOfOneOfEqualLines(t *testing.T) {
	with := func(lines ...atspi.Node) *screen.Observation {
		window := atspi.Node{ID: "n1", PID: 7, Parent: -1, Role: "frame", Name: "Mail", Box: image.Rect(0, 0, 400, 300)}
		return &screen.Observation{Tree: screen.Tree{Nodes: append([]atspi.Node{window}, lines...)}}
	}
	line := func(id string, y int) atspi.Node {
		return atspi.Node{ID: id, PID: 7, Depth: 1, Role: screen.RoleTextLine, Text: "Delete", Box: image.Rect(10, y, 90, y+20), Read: true}
	}
	for _, tt := range []struct {
		name        string
		chosen, now *screen.Observation
		refused     bool
	}{
		{"both are where they were", with(line("n2", 100), line("n3", 200)), with(line("n2", 100), line("n3", 200)), false},
		{"the first has gone, and the second is taken for it", with(line("n2", 100), line("n3", 200)), with(line("n2", 200)), true},
		{"another has come", with(line("n2", 100)), with(line("n2", 150), line("", 200)), true},
		{"the only one has moved", with(line("n2", 100)), with(line("n2", 150)), false},
	} {
		named, err := run.Name([]actuator.Action{clickOn("n2")}, tt.chosen)
		require.NoError(t, err)
		_, why := run.Locate(named[0], tt.chosen, tt.now)
		assert.Equal(t, tt.refused, strings.Contains(why, "more than once"), "%s: %q", tt.name, why)
	}
}

// TestHandleOfOneOfEqualElements holds that of several elements below one parent that are called
// the same none is taken for another that has come to its place in the list, unless the program
// tells that it is the same object.
func TestHandleOfOneOfEqualElements(t *testing.T) {
	with := func(nodes ...atspi.Node) *screen.Observation {
		box := image.Rect(0, 0, 400, 300)
		return &screen.Observation{Tree: screen.Tree{Nodes: append([]atspi.Node{
			{ID: "n8", PID: 7, Parent: -1, Role: "frame", Name: "Letter", Box: box},
			{ID: "n9", PID: 7, Depth: 1, Role: "panel", Name: "Notes", Box: box},
		}, nodes...)}}
	}
	node := func(id, role, name, text, key string, y int) atspi.Node {
		return atspi.Node{ID: id, PID: 7, Parent: 1, Depth: 2, Role: role, Name: name, Text: text, Key: key, Box: image.Rect(10, y, 90, y+20)}
	}
	button := func(id, key string, y int) atspi.Node { return node(id, "push button", "Delete", "", key, y) }
	line := func(id, text, key string, y int) atspi.Node {
		n := node(id, "paragraph", "", text, key, y)
		n.States = []string{"editable"}
		return n
	}
	elsewhere := button("n3", "2", 200)
	elsewhere.Parent = 0
	for _, tt := range []struct {
		name        string
		chosen, now *screen.Observation
		refused     bool
	}{
		{"both are where they were", with(button("n2", "1", 100), button("n3", "2", 200)), with(button("n2", "3", 100), button("n3", "4", 200)), false},
		{"the first has gone, and the second is taken for it", with(button("n2", "1", 100), button("n3", "2", 200)), with(button("n2", "3", 200)), true},
		{"without keys", with(button("n2", "", 100), button("n3", "", 200)), with(button("n2", "", 200)), true},
		{"another has come", with(button("n2", "1", 100)), with(button("n2", "3", 50), button("n4", "4", 150)), true},
		{"the only one has moved", with(button("n2", "1", 100)), with(button("n2", "3", 150)), false},
		{"it is the same object", with(button("n2", "1", 100), button("n3", "2", 200)), with(button("n2", "1", 150), button("n3", "2", 250)), false},
		{"the other is below another parent", with(button("n2", "1", 100), elsewhere), with(button("n2", "3", 150), elsewhere), false},
		{"paragraphs that say the same", with(line("n2", "Milk", "1", 100), line("n3", "Milk", "2", 200)), with(line("n2", "Milk", "3", 200)), true},
		{"paragraphs that do not", with(line("n2", "Milk", "1", 100), line("n3", "Eggs", "2", 200)), with(line("n2", "Eggs", "3", 200)), true},
		{"they have moved with their window", with(line("n2", "Milk", "1", 100), line("n3", "Eggs", "2", 200)), with(line("n2", "Milk", "3", 120), line("n3", "Eggs", "4", 220)), false},
		{"the only one says something else", with(line("n2", "Milk", "1", 100)), with(line("n2", "Milk and eggs", "3", 120)), false},
	} {
		named, err := run.Name([]actuator.Action{clickOn("n2")}, tt.chosen)
		require.NoError(t, err)
		_, why := run.Locate(named[0], tt.chosen, tt.now)
		assert.Equal(t, tt.refused, strings.Contains(why, "more than once"), "%s: %q", tt.name, why)
	}
}

// TestHandleOfDocumentThatIsRenamed holds that what is called by the title of what is open in
// it keeps its handle when that has another title, and that a button does not.
func TestHandleOfDocumentThatIsRenamed(t *testing.T) {
	for _, role := range []string{
		"frame", "root pane", "document frame", "document web", "document text", "document spreadsheet", "document presentation", "terminal",
		"push button",
	} {
		called := func(name string) *screen.Observation {
			return &screen.Observation{Tree: screen.Tree{Nodes: []atspi.Node{{ID: "n1", PID: 7, Parent: -1, Role: role, Name: name, Box: image.Rect(0, 0, 400, 300)}}}}
		}
		chosen := called("Untitled 1")
		named, err := run.Name([]actuator.Action{clickOn("n1")}, chosen)
		require.NoError(t, err)
		_, why := run.Locate(named[0], chosen, called("sums.ods"))
		if role == "push button" {
			assert.Contains(t, why, "is another thing now")
		} else {
			assert.Empty(t, why, role)
		}
	}
}

// TestHandleScrolledOutOf holds that what is gone from where a part may be out of view is told
// with the hint to scroll.
func TestHandleScrolledOutOf(t *testing.T) {
	for role, scrolled := range map[string]bool{
		"scroll pane": true, "table": true, "menu": true, "document web": true,
		"document text": true, "document spreadsheet": true, "layered pane": true, "panel": false,
	} {
		chosen := &screen.Observation{Tree: screen.Tree{Nodes: []atspi.Node{
			{ID: "n1", PID: 7, Parent: -1, Role: role, Box: image.Rect(0, 0, 400, 300)},
			{ID: "n2", PID: 7, Depth: 1, Role: "paragraph", Name: "Dear Ann", Box: image.Rect(10, 10, 90, 40)},
		}}}
		named, err := run.Name([]actuator.Action{clickOn("n2")}, chosen)
		require.NoError(t, err)
		_, why := run.Locate(named[0], chosen, &screen.Observation{Tree: screen.Tree{Nodes: chosen.Tree.Nodes[:1]}})
		assert.Equal(t, scrolled, strings.Contains(why, "scroll to it"), "%s: %s", role, why)
	}
}

// TestFieldOfAnotherLabel holds that a field is not acted on where the one that was meant
// stood, as what it is for is another thing: neither by a point nor by a handle.
func TestFieldOfAnotherLabel(t *testing.T) {
	r := newRoom(t)
	text := func(n atspi.Node) bool { return n.Role == "text" }
	first := r.open("zenity", "--forms", "--title", "Size", "--text", "Size", "--add-entry", "Width")
	r.move(first, image.Pt(200, 200))
	width := r.see(1, text)[0]
	require.Equal(t, "Width", width.Called())
	at := middle(width.Box)
	chosen := r.now
	second := r.open("zenity", "--forms", "--title", "Size", "--text", "Size", "--add-entry", "Height")
	require.NoError(t, first.Close())
	r.move(second, image.Pt(200, 200))
	height := r.see(1, text)[0]
	require.True(t, at.In(height.Box), "%v in %v", at, height.Box)

	change, err := r.Screen.ChangeAt(r.ctx, chosen, at)
	require.NoError(t, err)
	assert.True(t, change.Any(), "by a point: %+v", change)

	now := *r.now // by a handle, as of a program that does not keep its objects
	now.Tree.Nodes = slices.Clone(now.Tree.Nodes)
	i, ok := now.Element(height.ID)
	require.True(t, ok)
	now.Tree.Nodes[i].ID = width.ID
	named, err := run.Name([]actuator.Action{setTo(width.ID, "7")}, chosen)
	require.NoError(t, err)
	_, why := run.Locate(named[0], chosen, &now)
	assert.Contains(t, why, "is another thing now")
	now.Tree.Nodes[i].Label, now.Tree.Nodes[i].Text = width.Label, "8"
	_, why = run.Locate(named[0], chosen, &now)
	assert.Empty(t, why, "the same field, with something else in it")
}

// TestFieldOfAnotherTab chooses a field of a dialog with tabs, and another tab before it is
// set: no field of that tab is taken for it.
func TestFieldOfAnotherTab(t *testing.T) {
	if _, err := exec.LookPath("soffice"); err != nil {
		t.Skip("soffice is not installed (apt-get install libreoffice-calc libreoffice-gtk3): there is no dialog to change")
	}
	r := newRoom(t)
	r.open("soffice", "--calc", "--norestore", "--nologo", "--nofirststartwizard", "--nolockcheck")
	r.see(1, named("table cell", "B2"))
	r.do(actuator.Press{Keys: []actuator.Key{"ctrl", "1"}, Count: 1})
	tab := r.see(1, named("page tab", "Alignment"))[0]
	fields := r.see(2, func(n atspi.Node) bool { return n.Role == "spin button" })
	var actions []actuator.Action
	for _, n := range append(fields, r.see(1, func(n atspi.Node) bool { return n.Label == "Format Code" })...) {
		actions = append(actions, r.chosen(setTo(n.ID, "3")))
	}
	chosen := r.now
	_, why := r.do(r.chosen(clickOn(tab.ID)))
	require.Empty(t, why)
	r.see(1, func(n atspi.Node) bool { return n.Label == "Degrees:" })
	for _, a := range actions {
		_, why := run.Locate(a, chosen, r.now)
		assert.Contains(t, why, "is gone", "%v", a)
	}
}

func middle(r image.Rectangle) image.Point { return r.Min.Add(r.Max).Div(2) }

// TestHandleThatIsCovered holds that what lies below another window is not clicked.
func TestHandleThatIsCovered(t *testing.T) {
	r := newRoom(t)
	below := r.open("zenity", "--entry", "--title", "Below")
	r.move(below, image.Pt(300, 300))
	button := r.see(1, named("push button", "OK"))[0]
	chosen := r.chosen(clickOn(button.ID))
	above := r.open("zenity", "--text-info", "--title", "Above", "--width", "800", "--height", "600")
	r.move(above, image.Pt(50, 30))
	r.see(2, named("push button", "OK"))
	_, why := r.do(chosen)
	assert.Contains(t, why, button.ID+` push button "OK" is covered by the `)
	assert.Contains(t, why, `"Above": use or close that first`)
	select {
	case <-above.Done():
		t.Error("what lies above was clicked")
	case <-below.Done():
		t.Error("what lies below was clicked")
	default:
	}
}

// TestHandleThatIsDisabled holds that a button is not clicked that does nothing, and
// that the pointer may rest on it.
func TestHandleThatIsDisabled(t *testing.T) {
	r := newRoom(t)
	r.open("sh", "-c", "tail -f /dev/null | zenity --progress --title Work")
	button := r.see(1, func(n atspi.Node) bool { return n.Name == "OK" && n.Has("disabled") })[0]
	_, why := r.do(r.chosen(clickOn(button.ID)))
	assert.Equal(t, button.ID+` push button "OK" is disabled: something else must be done first`, why)
	_, why = r.do(r.chosen(setTo(button.ID, "x")))
	assert.Contains(t, why, "is disabled")
	middle := r.now.Image.Mapping.ToImage(button.Box.Min.Add(button.Box.Max).Div(2))
	pixel := actuator.Click{At: &actuator.Point{X: middle.X, Y: middle.Y}, Button: actuator.Left, Count: 1}
	_, why = r.do(r.chosen(pixel))
	assert.Equal(t, `push button "OK" is disabled: something else must be done first`, why, "a pixel of it")
	_, why = r.do(r.chosen(actuator.ButtonDown{At: pixel.At, Button: actuator.Left}))
	assert.Equal(t, `push button "OK" is disabled: something else must be done first`, why, "a button that goes down there")
	_, why = run.Locate(r.chosen(actuator.ButtonUp{At: pixel.At, Button: actuator.Left}), r.now, r.now)
	assert.Empty(t, why, "a button is let go wherever that is")
	act, why := r.do(r.chosen(actuator.Move{At: actuator.Point{Element: actuator.Element{ID: actuator.Handle(button.ID)}}}))
	assert.Empty(t, why)
	assert.Equal(t, actuator.Delivered, act.Status)
}

// TestClickThatRaisesAWindow clicks on a real window behind another: that it gets the
// focus is no change of the windows that would stop a batch.
func TestClickThatRaisesAWindow(t *testing.T) {
	r := newRoom(t)
	back := r.open("zenity", "--entry", "--title", "Back")
	r.open("zenity", "--info", "--title", "Front", "--text", "x")
	r.see(1, named("dialog", "Front"))
	r.move(back, image.Pt(20, 20))
	entry := r.see(1, func(n atspi.Node) bool { return n.Role == "text" })[0]
	before, err := r.Desktop.Capture(r.ctx)
	require.NoError(t, err)
	at := r.now.Image.Mapping.ToImage(image.Pt(entry.Box.Min.X+5, entry.Box.Min.Y+5))
	click := r.chosen(actuator.Click{At: &actuator.Point{X: at.X, Y: at.Y}, Button: actuator.Left, Count: 1})
	_, why := r.do(click)
	require.Empty(t, why)
	after, err := r.Desktop.Capture(r.ctx)
	require.NoError(t, err)
	require.Equal(t, "another window has the focus", r.Desktop.WindowChange(before, after), "it has")
	assert.Empty(t, r.Desktop.WindowChange(run.Raised(before, after, click, r.now), after))
}

// TestHandleScrolledAway scrolls a list by the handle of one of its rows, which is out
// of view after that.
func TestHandleScrolledAway(t *testing.T) {
	r := newRoom(t)
	rows := []string{"--list", "--title", "Rows", "--height", "300", "--column", "Row"}
	for i := range 60 {
		rows = append(rows, "row "+string(rune('A'+i/10))+string(rune('0'+i%10)))
	}
	r.open("zenity", rows...)
	row := r.see(1, named("table cell", "row A1"))[0]
	at := actuator.Point{Element: actuator.Element{ID: actuator.Handle(row.ID)}}
	act, why := r.do(r.chosen(actuator.Scroll{At: &at, DY: 50}))
	require.Empty(t, why)
	require.Equal(t, actuator.Delivered, act.Status)
	chosen := r.chosen(clickOn(row.ID))
	_, err := r.Screen.Settle(r.ctx)
	require.NoError(t, err)
	_, why = r.do(chosen)
	assert.Contains(t, why, row.ID+" table cell \"row A1\" is ")
	assert.Contains(t, why, "scroll to it")
}

// TestSet has programs set what their elements hold, and refuses what they do not offer.
func TestSet(t *testing.T) {
	r := newRoom(t)
	entry := r.open("zenity", "--entry", "--title", "Name", "--entry-text", "old")
	field := r.see(1, func(n atspi.Node) bool { return n.Role == "text" && n.Text == "old" })[0]
	act, why := r.do(r.chosen(setTo(field.ID, "Äpfel & <Birnen>")))
	require.Empty(t, why)
	require.Equal(t, actuator.Delivered, act.Status, act.Detail)
	got := r.see(1, func(n atspi.Node) bool { return n.ID == field.ID })[0]
	assert.Equal(t, "Äpfel & <Birnen>", got.Text)

	button := r.see(1, named("push button", "OK"))[0]
	act, why = r.do(r.chosen(setTo(button.ID, "hunter2")))
	require.Empty(t, why)
	assert.Equal(t, actuator.Refused, act.Status)
	assert.Contains(t, act.Detail, "it cannot be set: it takes no text: click on it, select what it holds, and type")
	assert.NotContains(t, act.Detail, "hunter2")

	act, why = r.do(actuator.Set{At: actuator.Point{X: (field.Box.Min.X + field.Box.Max.X) / 2, Y: (field.Box.Min.Y + field.Box.Max.Y) / 2}, Text: ""})
	require.Empty(t, why)
	require.Equal(t, actuator.Delivered, act.Status, "by a point, and to nothing: %s", act.Detail)
	assert.Empty(t, r.see(1, func(n atspi.Node) bool { return n.ID == field.ID })[0].Text)
	r.do(r.chosen(clickOn(button.ID)))
	r.ended(entry)
}

func TestSetNumber(t *testing.T) {
	r := newRoom(t)
	r.open("zenity", "--scale", "--title", "Volume", "--value", "30", "--max-value", "80")
	slider := r.see(1, func(n atspi.Node) bool { return n.Role == "slider" })[0]
	act, why := r.do(r.chosen(setTo(slider.ID, "55")))
	require.Empty(t, why)
	require.Equal(t, actuator.Delivered, act.Status, act.Detail)
	assert.Equal(t, "55", r.see(1, func(n atspi.Node) bool { return n.ID == slider.ID })[0].Text)
	for value, says := range map[string]string{"81": "it goes from 0 to 80", "loud": "it takes a number"} {
		act, why = r.do(r.chosen(setTo(slider.ID, value)))
		require.Empty(t, why)
		assert.Equal(t, actuator.Refused, act.Status)
		assert.Contains(t, act.Detail, says)
	}
	assert.Equal(t, "55", r.see(1, func(n atspi.Node) bool { return n.ID == slider.ID })[0].Text)
}

// TestSetPassword holds that a password arrives, and is told to nobody.
func TestSetPassword(t *testing.T) {
	r := newRoom(t)
	r.open("zenity", "--password", "--title", "Secret")
	field := r.see(1, func(n atspi.Node) bool { return n.Role == "password text" })[0]
	act, why := r.do(r.chosen(setTo(field.ID, "hunter2")))
	require.Empty(t, why)
	require.Equal(t, actuator.Delivered, act.Status, act.Detail)
	got := r.see(1, func(n atspi.Node) bool { return n.ID == field.ID })[0]
	assert.Empty(t, got.Text)
	assert.NotContains(t, actuator.Describe(act.Action), "hunter2")
}

func until(sign actuator.Sign, what string, limit time.Duration) actuator.WaitUntil {
	return actuator.WaitUntil{For: sign, What: what, Milliseconds: int(limit.Milliseconds())}
}

// TestWaitUntil waits for what comes and goes while it waits.
func TestWaitUntil(t *testing.T) {
	r := newRoom(t)
	wait := func(a actuator.WaitUntil, meanwhile func()) *run.Act {
		t.Helper()
		done := make(chan *run.Act, 1)
		go func() {
			act, err := r.Hand.Do(r.ctx, run.Intent{Action: a, On: r.now, Source: run.FromModel})
			assert.NoError(t, err)
			done <- act
		}()
		meanwhile()
		return <-done
	}
	var p *sandbox.Process
	act := wait(until(actuator.WindowSign, "late NEWS", 2*time.Minute), func() { p = r.open("zenity", "--info", "--title", "Late news", "--text", "Done: 3 files") })
	require.Equal(t, actuator.Delivered, act.Status, act.Detail)
	assert.Regexp(t, `^held after \d+\.\d s$`, act.Detail)
	assert.Empty(t, act.Output)

	act = wait(until(actuator.TextSign, "3 files", 2*time.Minute), func() {})
	require.Equal(t, actuator.Delivered, act.Status, act.Detail)

	button := r.see(1, named("push button", "OK"))[0]
	gone := until(actuator.ElementSign, button.ID, 2*time.Minute)
	gone.Gone = true
	listed := r.chosen(gone).(actuator.WaitUntil)
	assert.Equal(t, `wait until `+button.ID+` push button "OK" is gone, for 2m0s at most`, actuator.Describe(listed))
	act = wait(listed, func() { require.NoError(t, p.Close()) })
	require.Equal(t, actuator.Delivered, act.Status, act.Detail)

	gone = until(actuator.WindowSign, "Late news", 2*time.Minute)
	gone.Gone = true
	require.Equal(t, actuator.Delivered, wait(gone, func() {}).Status)

	// What is to come has no ID yet.
	yes := r.chosen(until(actuator.ElementSign, `button "Yes"`, 2*time.Minute)).(actuator.WaitUntil)
	act = wait(yes, func() { p = r.open("zenity", "--question", "--title", "Go on", "--text", "Shall it go on?") })
	require.Equal(t, actuator.Delivered, act.Status, act.Detail)
	assert.Len(t, r.see(1, named("push button", "Yes")), 1, "it has come")
	q := r.open("zenity", "--question", "--text", "Really?")
	r.see(2, named("push button", "Yes"))
	require.Equal(t, actuator.Delivered, wait(yes, func() {}).Status, "any will do")
	require.Equal(t, actuator.Delivered, wait(until(actuator.ElementSign, `dialog "Go on"`, 2*time.Minute), func() {}).Status)
	yes.Gone = true
	act = wait(yes, func() {
		require.NoError(t, p.Close())
		require.NoError(t, q.Close())
	})
	require.Equal(t, actuator.Delivered, act.Status, act.Detail)
	assert.Empty(t, r.see(0, named("push button", "Yes")))
}

// TestWaitUntilGoneBelow holds that what another window covers has not gone.
func TestWaitUntilGoneBelow(t *testing.T) {
	r := newRoom(t)
	p := r.open("zenity", "--info", "--title", "Below", "--text", "Done: 4 files")
	r.see(1, named("push button", "OK"))
	text := until(actuator.TextSign, "4 files", time.Second)
	button := until(actuator.ElementSign, `button "OK"`, time.Second)
	window := until(actuator.WindowSign, "Below", time.Second)
	waits := []actuator.WaitUntil{text, button, window}
	check := func(want actuator.Status, limit time.Duration) {
		t.Helper()
		for _, a := range waits {
			a.Gone, a.Milliseconds = true, int(limit.Milliseconds())
			act, err := r.Hand.Do(r.ctx, run.Intent{Action: a, Source: run.FromModel})
			require.NoError(t, err)
			assert.Equal(t, want, act.Status, "%s: %s", a.What, act.Detail)
		}
	}
	r.fill(r.open("mousepad"))
	require.Eventually(t, func() bool {
		o, err := r.Desktop.Observe(r.ctx)
		require.NoError(t, err)
		return len(o.Elements("button", "OK")) == 0
	}, time.Minute, time.Millisecond)
	check(actuator.NoEffect, time.Second)
	require.NoError(t, p.Close())
	check(actuator.Delivered, time.Minute)

	p = r.open("zenity", "--info", "--title", "Below", "--text", "Done: 4 files")
	r.minimise(p)
	require.Eventually(t, func() bool {
		windows, err := r.Screen.Windows(r.ctx)
		require.NoError(t, err)
		return slices.ContainsFunc(windows, func(w screen.Window) bool { return w.Title == "Below" && w.Hidden })
	}, time.Minute, time.Millisecond)
	waits = []actuator.WaitUntil{window}
	check(actuator.NoEffect, time.Second)
	require.NoError(t, p.Close())
	check(actuator.Delivered, time.Minute)
}

// TestFieldHalfCovered holds that a field of which another window covers the right half is listed
// with what is in it, is not gone, and is clicked where it can be seen.
func TestFieldHalfCovered(t *testing.T) {
	r := newRoom(t)
	under := r.open("zenity", "--forms", "--title", "Order", "--add-entry", "Notes", "--add-entry", "Place")
	notes := func(n atspi.Node) bool { return n.Label == "Notes" }
	place := r.see(1, func(n atspi.Node) bool { return n.Label == "Place" })[0]
	_, why := r.do(r.chosen(setTo(r.see(1, notes)[0].ID, "ring twice")))
	require.Empty(t, why)
	_, why = r.do(r.chosen(clickOn(place.ID)))
	require.Empty(t, why)

	over := r.open("zenity", "--info", "--title", "Over it", "--text", "It is on top")
	r.see(2, named("push button", "OK")) // the form has one too
	box := r.see(1, notes)[0].Box
	r.move(over, image.Pt((box.Min.X+box.Max.X)/2, box.Min.Y-60))
	field := r.see(1, notes)[0]
	i := slices.IndexFunc(r.now.Windows, func(w screen.Window) bool { return w.Title == "Over it" })
	require.GreaterOrEqual(t, i, 0)
	top := r.now.Windows[i].Box
	require.True(t, top.Overlaps(field.Box), "%v %v", top, field.Box)
	require.Less(t, field.Box.Min.X+20, top.Min.X, "half of it can be seen")
	assert.Contains(t, text(r.now), `"Notes" = "ring twice"`)
	for _, sign := range []actuator.WaitUntil{until(actuator.TextSign, "ring twice", time.Second), until(actuator.ElementSign, field.ID, time.Second)} {
		sign.Gone = true
		act, why := r.do(r.chosen(sign))
		require.Empty(t, why)
		assert.Equal(t, actuator.NoEffect, act.Status, "%s: %s", sign.What, act.Detail)
	}
	act, why := r.do(r.chosen(clickOn(field.ID)))
	require.Empty(t, why)
	require.Equal(t, actuator.Delivered, act.Status, act.Detail)
	r.see(1, func(n atspi.Node) bool { return notes(n) && n.Has("focused") })
	require.NoError(t, over.Close())
	require.NoError(t, under.Close())
}

// newReadingRoom is a room whose texts are read from the picture where no program tells them,
// as in a terminal without a tree.
func newReadingRoom(t *testing.T) *room {
	t.Helper()
	for _, program := range []string{"xterm", "tesseract"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed: scripts/setup test installs it", program)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return &room{t: t, ctx: ctx, Session: runtest.Open(t, run.Settings{Display: run.DisplaySettings{
		Private: true, Size: image.Pt(1000, 700), OCR: "eng",
	}}, nil)}
}

// TestHandleOfReadText holds that a line that was read from the picture is clicked by its
// handle where it is now, and is not once another text stands there; and that a wait for it
// by its handle is over when it has gone, and not before.
func TestHandleOfReadText(t *testing.T) {
	r := newReadingRoom(t)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	// A terminal that writes to a file where it is clicked (xterm, mode 1000).
	p := r.open("xterm", "-fa", "Monospace", "-fs", "14", "-e", "sh", "-c",
		`printf '\033[?1000h'; stty raw -echo; printf 'First line\r\n\r\nSecond line\r\n'; dd bs=1 count=6 of=`+file("click")+` 2>/dev/null; `+
			`while [ ! -e `+file("go")+` ]; do sleep 0.1; done; printf '\033[2J\033[HFirst line\r\n\r\nAnother line\r\n'; sleep 1000`)
	line := func(words string) func(atspi.Node) bool {
		return func(n atspi.Node) bool { return n.Role == screen.RoleTextLine && n.Text == words }
	}
	was := r.see(1, line("Second line"))[0]
	require.NotEmpty(t, was.ID)
	require.Contains(t, text(r.now), was.ID+` text line = "Second line"`)
	chosen := r.chosen(clickOn(was.ID))
	require.Equal(t, "Second line", actuator.Points(chosen)[0].Element.Name)
	there := until(actuator.ElementSign, was.ID, time.Second)
	there.Gone = true
	wait := r.chosen(there).(actuator.WaitUntil)

	by := image.Pt(150, 90)
	r.move(p, by)
	act, why := r.do(chosen)
	require.Empty(t, why)
	assert.Equal(t, actuator.Delivered, act.Status, act.Detail)
	require.Eventually(t, func() bool {
		data, err := os.ReadFile(file("click"))
		return err == nil && len(data) == 6
	}, time.Minute, 10*time.Millisecond)
	data, err := os.ReadFile(file("click"))
	require.NoError(t, err)
	assert.Equal(t, "\x1b[M "+string(data[4])+string(rune(32+3)), string(data), "the third row was clicked")

	act, why = r.do(wait)
	require.Empty(t, why)
	assert.Equal(t, actuator.NoEffect, act.Status, "it is there still: %s", act.Detail)
	act, why = r.do(r.chosen(setTo(was.ID, "x")))
	require.Empty(t, why)
	assert.Equal(t, actuator.Refused, act.Status)
	assert.Contains(t, act.Detail, "no program tells of it")

	require.NoError(t, os.WriteFile(file("go"), nil, 0o600))
	wait.Milliseconds = 120_000
	act, why = r.do(wait)
	require.Empty(t, why)
	assert.Equal(t, actuator.Delivered, act.Status, act.Detail)
	_, why = r.do(chosen)
	assert.Equal(t, was.ID+` text line "Second line" is another thing now, `+was.ID+` text line "Another line": look at the new list`, why)
	// Without a tree either: a terminal has none, and what is not read has gone.
	gone := &screen.Observation{Tree: screen.Tree{Err: screen.ErrClosed}, Image: r.now.Image}
	before := &screen.Observation{Tree: screen.Tree{Err: screen.ErrClosed}, Image: r.now.Image}
	before.Tree.Nodes = []atspi.Node{{ID: was.ID, Role: was.Role, Text: was.Text, Box: was.Box, Parent: -1, Read: true}}
	_, why = run.Locate(chosen, before, gone)
	assert.Equal(t, was.ID+` text line "Second line" is gone: look at the new list`, why)
	before.Tree.Err = nil // it may stand in a program that tells nothing now
	_, why = run.Locate(chosen, before, gone)
	assert.Contains(t, why, "cannot be read now")
}

// TestWaitUntilReadText waits for a text that no program tells: it comes and goes in a
// terminal that has no tree, and is read from the picture.
func TestWaitUntilReadText(t *testing.T) {
	r := newReadingRoom(t)
	done := filepath.Join(t.TempDir(), "done")
	r.open("xterm", "-fa", "Monospace", "-fs", "14", "-e", "sh", "-c",
		"echo The build has begun; sleep 2; echo All tests passed; while [ ! -e "+done+" ]; do sleep 0.1; done; clear; sleep 1000")
	waitFor := func(sign actuator.Sign, what string, gone bool, limit time.Duration) *run.Act {
		t.Helper()
		a := until(sign, what, limit)
		a.Gone = gone
		act, err := r.Hand.Do(r.ctx, run.Intent{Action: a, Source: run.FromModel})
		require.NoError(t, err)
		return act
	}
	wait := func(gone bool, limit time.Duration) *run.Act {
		return waitFor(actuator.TextSign, "All tests passed", gone, limit)
	}
	line := func(gone bool, limit time.Duration) *run.Act { // as the list has it, without its ID
		return waitFor(actuator.ElementSign, `text line "All tests passed"`, gone, limit)
	}
	act := wait(false, 2*time.Minute)
	require.Equal(t, actuator.Delivered, act.Status, act.Detail)
	act = line(false, 2*time.Minute)
	require.Equal(t, actuator.Delivered, act.Status, act.Detail)
	assert.Equal(t, actuator.NoEffect, wait(true, time.Second).Status, "it is there still")
	assert.Equal(t, actuator.NoEffect, line(true, time.Second).Status, "it is there still")
	assert.Equal(t, actuator.NoEffect, waitFor(actuator.ElementSign, `text line "All tests"`, false, time.Second).Status, "a line is its whole text")
	require.NoError(t, os.WriteFile(done, nil, 0o600))
	for _, gone := range []func(bool, time.Duration) *run.Act{line, wait} {
		act = gone(true, 2*time.Minute)
		require.Equal(t, actuator.Delivered, act.Status, act.Detail)
	}
}

// TestWaitUntilNever holds that what does not come is told, and ends nothing; and that
// a wait ends with its context.
func TestWaitUntilNever(t *testing.T) {
	r := newRoom(t)
	act, err := r.Hand.Do(r.ctx, run.Intent{Action: until(actuator.TextSign, "no such text", 400*time.Millisecond), Source: run.FromModel})
	require.NoError(t, err)
	assert.Equal(t, actuator.NoEffect, act.Status)
	assert.Equal(t, "it did not come within 400ms", act.Detail)
	act, err = r.Hand.Do(r.ctx, run.Intent{Action: until(actuator.ElementSign, `button "Save"`, 400*time.Millisecond), Source: run.FromModel})
	require.NoError(t, err)
	assert.Equal(t, actuator.NoEffect, act.Status)
	assert.Equal(t, "it did not come within 400ms", act.Detail)

	ctx, cancel := context.WithCancel(r.ctx)
	before := len(r.Journal.(*run.Memory).Events())
	go func() {
		for len(r.Journal.(*run.Memory).Events()) == before { // until it has begun
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	_, err = r.Hand.Do(ctx, run.Intent{Action: until(actuator.WindowSign, "no such window", 2*time.Minute), Source: run.FromModel})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, r.ctx.Err(), "it did not wait to its end")
}

// TestUnlisted holds that a handle which the model cannot have read is a reply to be
// written again.
func TestUnlisted(t *testing.T) {
	o, err := (&runtest.Desktop{}).Observe(t.Context())
	require.NoError(t, err)
	for _, a := range []actuator.Action{clickOn("n99"), setTo("n99", "x"), until(actuator.ElementSign, "n99", time.Second)} {
		_, err := run.Name([]actuator.Action{a}, o)
		var bad *actuator.ParseError
		require.ErrorAs(t, err, &bad)
		assert.Contains(t, bad.Message, "there is no n99 in the list of the newest screenshot")
	}
	named, err := run.Name([]actuator.Action{clickOn("n2"), actuator.Move{At: actuator.Point{X: 11, Y: 12}}, actuator.Move{At: actuator.Point{X: 199, Y: 119}}}, o)
	require.NoError(t, err)
	assert.Equal(t, `click left at (55, 17) on n2 label "Reload"`, actuator.Describe(named[0]))
	assert.Equal(t, `move the pointer to (11, 12) on label "Reload"`, actuator.Describe(named[1]))
	assert.Equal(t, "move the pointer to (199, 119)", actuator.Describe(named[2]))
}

// TestProgramThatAlwaysWorks holds that a program which works without cause is known for it
// by what it does until the hand acts, and is then not waited for up to the ceiling.
func TestProgramThatAlwaysWorks(t *testing.T) {
	s := runtest.Open(t, run.Settings{Display: run.DisplaySettings{
		Private: true, Size: image.Pt(800, 600), Ceiling: time.Second, Open: `sh -c "while :; do :; done & exec mousepad"`,
	}}, nil)
	why := screen.SettledCeiling
	for range 10 { // more than three only where it is kept from working
		time.Sleep(700 * time.Millisecond) // as a model thinks
		require.NoError(t, s.Hand.Perform(t.Context(), run.Intent{Action: actuator.Press{Keys: []actuator.Key{"shift"}, Count: 1}, Source: run.FromModel}))
		c, err := s.Desktop.Capture(t.Context())
		require.NoError(t, err)
		if why = c.Settled.Reason; why == screen.SettledQuiet {
			break
		}
	}
	assert.Equal(t, screen.SettledQuiet, why)
}

// TestCaptureAtCeiling holds that a picture between two actions says how the wait before
// it ended.
func TestCaptureAtCeiling(t *testing.T) {
	for ceiling, want := range map[time.Duration]screen.SettleReason{time.Millisecond: screen.SettledCeiling, time.Minute: screen.SettledQuiet} {
		s := runtest.Open(t, run.Settings{Display: run.DisplaySettings{Private: true, Size: image.Pt(400, 300), Ceiling: ceiling}}, nil)
		require.NoError(t, s.Hand.Perform(t.Context(), run.Intent{Action: actuator.Press{Keys: []actuator.Key{"shift"}, Count: 1}, Source: run.FromModel}))
		c, err := s.Desktop.Capture(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, c.Settled.Reason)
	}
}
