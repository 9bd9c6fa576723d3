package screen

import (
	"testing"

	"desktop-agent/screen/atspi"

	"github.com/stretchr/testify/assert"
)

// What an element shows may change under a click; what it is called, or what kind it is,
// may not.
func TestChange(t *testing.T) {
	button := atspi.Node{Role: "push button", Name: "Layout"}
	label := atspi.Node{Role: "label", Name: "3 files"}
	for _, tt := range []struct {
		name     string
		was, now *atspi.Node
		want     bool
	}{
		{"nothing was known", nil, &button, false},
		{"nothing lies there", &button, nil, true},
		{"the same", &button, &atspi.Node{Role: "push button", Name: "Layout", States: []string{"focused"}}, false},
		{"another name", &button, &atspi.Node{Role: "push button", Name: "Columns"}, true},
		{"another kind", &button, &atspi.Node{Role: "menu item", Name: "Layout"}, true},
		{"called by its label", &atspi.Node{Role: "entry", Label: "Name"}, &atspi.Node{Role: "entry", Label: "Name", Text: "x"}, false},
		{"a label that says something else", &label, &atspi.Node{Role: "label", Name: "4 files"}, false},
		{"a field that holds something else", &atspi.Node{Role: "text", Label: "Width", Text: "7"}, &atspi.Node{Role: "text", Label: "Width", Text: "8"}, false},
		{"another field", &atspi.Node{Role: "text", Label: "Width"}, &atspi.Node{Role: "text", Label: "Height"}, true},
		{"another field, of another name", &atspi.Node{Role: "text", Name: "Width"}, &atspi.Node{Role: "text", Label: "Height"}, true},
		{"a field of which nobody knows what it is for", &atspi.Node{Role: "text"}, &atspi.Node{Role: "text", Label: "Height"}, false},
		{"another choice", &atspi.Node{Role: "combo box", Name: "Norway", Text: "Norway", Label: "From"},
			&atspi.Node{Role: "combo box", Name: "Sweden", Text: "Sweden", Label: "From"}, false},
		{"another choice, without a label", &atspi.Node{Role: "combo box", Name: "Norway", Text: "Norway"},
			&atspi.Node{Role: "combo box", Name: "Sweden", Text: "Sweden"}, false},
		{"other choices", &atspi.Node{Role: "combo box", Name: "Norway", Text: "Norway", Label: "From"},
			&atspi.Node{Role: "combo box", Name: "Norway", Text: "Norway", Label: "To"}, true},
		{"another choice, by GTK's own word for it", &atspi.Node{Role: "combo box", Name: "none", Text: "None"},
			&atspi.Node{Role: "combo box", Name: "kate", Text: "Kate"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, Change{tt.was, tt.now}.Any()) })
	}
}
