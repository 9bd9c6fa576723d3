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
