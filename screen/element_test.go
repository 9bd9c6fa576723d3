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
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, Change{tt.was, tt.now}.Any()) })
	}
}
