package screen

import (
	"fmt"
	"image"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/screen/atspi"
)

// withArrow is a window with a tool bar, in which a button has an arrow or is disabled.
func withArrow(enabled bool) *Observation {
	nodes := []atspi.Node{
		{ID: "n1", PID: 7, Parent: -1, Role: "frame", Name: "letter", Box: image.Rect(0, 0, 800, 600), Key: "a"},
		{ID: "n2", PID: 7, Parent: 0, Role: "tool bar", Name: "Standard", Box: image.Rect(0, 0, 800, 30), Key: "b"},
		{ID: "n3", PID: 7, Parent: 1, Role: "push button", Name: "Bold", Box: image.Rect(0, 0, 33, 30), Key: "c"},
		{ID: "n4", PID: 7, Parent: 1, Role: "push button", Name: "Table", Box: image.Rect(33, 0, 77, 30), Key: "d"},
		{ID: "n6", PID: 7, Parent: 1, Role: "push button", Name: "Image", Box: image.Rect(77, 0, 110, 30), Key: "f"},
	}
	if enabled {
		arrow := atspi.Node{ID: "n5", PID: 7, Parent: 3, Role: atspi.RoleArrow, Box: image.Rect(66, 0, 77, 30), Key: "d arrow"}
		nodes = append(nodes[:4:4], arrow, nodes[4])
	} else {
		nodes[3].States = []string{"disabled"}
	}
	return &Observation{Windows: []Window{{Title: "letter", PID: 7, Box: image.Rect(0, 0, 800, 600), Focused: true}}, Tree: Tree{Nodes: nodes}}
}

// The arrow of a button is listed behind it with its place, what is there is said to be the
// arrow, and words mean it only where they say so; what changes is told of the button.
func TestArrow(t *testing.T) {
	o := withArrow(true)
	assert.Contains(t, o.Text(0), `n3 "Bold" @16,15; n4 "Table"; n5 arrow @71; n6 "Image"`)
	i, ok := o.Element("n5")
	require.True(t, ok)
	at, _, ok := o.PointOf(i)
	require.True(t, ok)
	assert.Equal(t, image.Pt(71, 15), at)
	assert.Equal(t, `arrow of push button "Table"`, o.Describe(o.PlaceAtDevice(at), strconv.Quote))
	button, _ := o.Element("n4")
	assert.Equal(t, []int{button, button, 0, -1}, []int{o.ButtonOf(i), o.ButtonOf(button), o.ButtonOf(0), o.ButtonOf(-1)})
	at, _, _ = o.PointOf(button)
	assert.Equal(t, `push button "Table"`, o.Describe(o.PlaceAtDevice(at), strconv.Quote))
	for words, want := range map[string]string{
		"Table": "n4", "the Table button": "n4", "the Table arrow": "n5", "the arrow of the Table button": "n5",
		"the Table dropdown": "n5", "the Image arrow": "", "the arrow": "n5", "the dropdown arrow for Table": "n5",
	} {
		list, _ := o.Meant(words)
		assert.Equal(t, want, ids(o, list), words)
	}
	assert.Equal(t, `~ button "Table": enabled`, DescribeChanges(withArrow(false), o))
	assert.Equal(t, `~ button "Table": disabled`, DescribeChanges(o, withArrow(false)))
	all := Differences(&Observation{Windows: o.Windows, Tree: Tree{Nodes: o.Tree.Nodes[:1]}}, o)
	assert.NotContains(t, fmt.Sprint(all), "arrow")
}
