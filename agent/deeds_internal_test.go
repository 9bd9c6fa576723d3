package agent

import (
	"image"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// TestKeysOnAControlAreNoEdit holds with which roles in focus what is typed edits a document.
func TestKeysOnAControlAreNoEdit(t *testing.T) {
	for kind, roles := range map[deedKind][]string{
		noDeed: {
			"push button", "push button menu", "arrow", "link", "icon", "menu", "menu item", "tearoff menu item",
			"check box", "check menu item", "radio button", "radio menu item", "switch", "toggle button",
			"list item", "tree item", "page tab", "color chooser", "terminal",
			"list", "tree", "tree table", "layered pane", "combo box",
		},
		edit: {
			"text", "editbar", "autocomplete", "spin button", "slider", "dial", "calendar", "date editor",
			"document text", "document web", "document spreadsheet", "paragraph", "heading", "label", "table", "table cell", "drawing area",
			"frame", "dialog", "panel", "tool bar", "menu bar", "list box", "canvas",
		},
	} {
		if kind == noDeed { // fields of one line, which are no document
			for _, role := range []string{"entry", "password text", "text"} {
				o := &screen.Observation{Tree: screen.Tree{Nodes: []atspi.Node{{ID: "n1", Parent: -1, Role: role, States: []string{"focused", "editable"}}}}}
				assert.Equal(t, noDeed, deedOf(actuator.Type{Text: "x"}, nil, o), role)
			}
		}
		for _, role := range roles {
			assert.True(t, atspi.IsRole(role), role)
			o := &screen.Observation{Tree: screen.Tree{Nodes: []atspi.Node{{ID: "n1", Parent: -1, Role: role, States: []string{"focused"}}}}}
			assert.Equal(t, kind, deedOf(actuator.Type{Text: "x"}, nil, o), role)
		}
	}
}

// TestClicksAreDeeds holds what is a deed by what is clicked: also by a button that goes down and
// up on it, and where the pointer is.
func TestClicksAreDeeds(t *testing.T) {
	o := &screen.Observation{
		Image: screen.Image{Mapping: screen.Mapping{Source: image.Rect(0, 0, 400, 300), Size: image.Pt(400, 300)}}, Cursor: image.Pt(5, 5),
		Windows: []screen.Window{{ID: 1, PID: 7, Box: image.Rect(0, 0, 400, 300), Focused: true}},
		Tree: screen.Tree{Nodes: []atspi.Node{
			{ID: "n1", PID: 7, Parent: -1, Role: "frame", Box: image.Rect(0, 0, 400, 300)},
			{ID: "n2", PID: 7, Depth: 1, Role: "push button", Name: "Save", Box: image.Rect(0, 0, 90, 30)},
			{ID: "n3", PID: 7, Depth: 1, Role: "push button", Name: "Send", Box: image.Rect(0, 40, 90, 70)},
			{ID: "n4", PID: 7, Depth: 1, Role: "entry", Name: "To", States: []string{"editable"}, Box: image.Rect(0, 80, 90, 110)},
			{ID: "n5", PID: 7, Depth: 1, Role: "text", Name: "Letter", States: []string{"focused", "multi-line"}, Box: image.Rect(0, 120, 400, 300)},
		}},
	}
	at := func(y int) *actuator.Point { return &actuator.Point{X: 5, Y: y} }
	down := func(p *actuator.Point) actuator.Action { return actuator.ButtonDown{At: p, Button: actuator.Left} }
	up := func(p *actuator.Point) actuator.Action { return actuator.ButtonUp{At: p, Button: actuator.Left} }
	click := func(p *actuator.Point) actuator.Action { return actuator.Click{At: p, Button: actuator.Left, Count: 1} }
	to := &actuator.Point{Element: actuator.Element{ID: "n4"}}
	for _, tt := range []struct {
		name  string
		batch []actuator.Action
		want  deedKind // of the last
	}{
		{"a click", []actuator.Action{click(at(5))}, save},
		{"a button down", []actuator.Action{down(at(5))}, noDeed},
		{"a button down and up", []actuator.Action{down(at(5)), up(at(5))}, save},
		{"down and up to send", []actuator.Action{down(at(45)), up(at(45))}, send},
		{"down and up where it is", []actuator.Action{down(at(45)), up(nil)}, send},
		{"down in the turn before", []actuator.Action{up(at(45))}, send},
		{"elsewhere on the same button", []actuator.Action{down(at(45)), up(at(50))}, send},
		{"from one button to another", []actuator.Action{down(at(5)), up(at(45))}, noDeed},
		{"where the pointer is", []actuator.Action{down(nil), up(nil)}, save},
		{"where the pointer went", []actuator.Action{actuator.Move{At: *at(45)}, click(nil)}, send},
		{"typed into the document", []actuator.Action{actuator.Type{Text: "x"}}, edit},
		{"typed into a field that was pressed", []actuator.Action{down(to), up(to), actuator.Type{Text: "x"}}, noDeed},
	} {
		batch, err := run.Name(tt.batch, o)
		require.NoError(t, err, tt.name)
		last := len(batch) - 1
		assert.Equal(t, tt.want, deedOf(batch[last], batch[:last], o), tt.name)
	}
}

// TestChordsAreDeeds holds what shortcuts do to a document, whichever side's keys they are
// pressed with, and if some are held by actions before: as the guard takes them.
func TestChordsAreDeeds(t *testing.T) {
	o := &screen.Observation{Tree: screen.Tree{Nodes: []atspi.Node{{ID: "n1", Parent: -1, Role: "text", States: []string{"focused"}}}}}
	press := func(keys ...actuator.Key) actuator.Press { return actuator.Press{Keys: keys, Count: 1} }
	ctrl := []actuator.Action{actuator.KeyDown{Key: "ctrl"}}
	for _, tt := range []struct {
		done []actuator.Action
		a    actuator.Action
		want deedKind
	}{
		{nil, press("ctrl", "s"), save},
		{nil, press("ctrlleft", "s"), save},
		{ctrl, press("s"), save},
		{ctrl, actuator.KeyDown{Key: "s"}, save},
		{append(ctrl, actuator.KeyDown{Key: "s"}), actuator.KeyUp{Key: "s"}, noDeed},
		{append(ctrl, actuator.KeyUp{Key: "ctrl"}), press("s"), noDeed},
		{nil, press("ctrl", "alt", "s"), noDeed},
		{nil, press("ctrl", "shift", "s"), noDeed}, // a dialog follows
		{nil, press("ctrl", "v"), edit},
		{nil, press("shift", "insert"), edit},
		{nil, press("ctrl", "shiftright", "v"), edit},
		{nil, press("ctrlright", "x"), edit},
		{nil, press("ctrl", "shift", "z"), edit},
		{ctrl, press("backspace"), edit},
		{nil, press("ctrl", "c"), noDeed},
	} {
		assert.Equal(t, tt.want, deedOf(tt.a, tt.done, o), "%v after %v", tt.a, tt.done)
	}
}
