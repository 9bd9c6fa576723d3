package worldmodel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

func TestDelta(t *testing.T) {
	before := &screen.Observation{
		Windows: []screen.Window{{Title: "Editor", Focused: true}},
		Tree: screen.Tree{Nodes: []atspi.Node{
			{ID: "n1", Role: "menu", Name: "File"}, {ID: "n2", Role: "text", Text: "old"}, {ID: "n3", Role: "menu", Name: "Edit"},
		}},
	}
	now := &screen.Observation{
		Windows: []screen.Window{{Title: "Editor"}, {Title: "Save\nAs", Focused: true}},
		Tree: screen.Tree{Nodes: []atspi.Node{ // the same nodes under other IDs are no change
			{ID: "n5", Role: "menu", Name: "Edit"}, {ID: "n6", Role: "menu", Name: "File", States: []string{"selected"}}, {ID: "n7", Role: "text", Text: "new"},
		}},
	}
	assert.Equal(t, `- window "Editor" (focused)
- menu "File"
- text "" with "old"
+ window "Editor"
+ window "Save As" (focused)
+ menu "File" (selected)
+ text "" with "new"`, delta(before, now))
	assert.Equal(t, "nothing", delta(now, now))
	assert.Equal(t, "nothing is known of before", delta(nil, now))

	for i := range 40 {
		now.Windows = append(now.Windows, screen.Window{Title: fmt.Sprint(i)})
	}
	lines := strings.Split(delta(before, now), "\n")
	assert.Len(t, lines, 3+maxDelta+1)
	assert.Equal(t, "+ and 14 more", lines[len(lines)-1])
}
