package agent

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"desktop-agent/actuator"
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
