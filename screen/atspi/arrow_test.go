package atspi

import (
	"image"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Of LibreOffice's tool bars the arrow of a button is known by the button's width, if
// nothing else can be the reason of it.
func TestArrow(t *testing.T) {
	bar := func(holder role, widths ...int) []Node {
		var buttons []*object
		x := 500
		for i, width := range widths {
			b := shown(rolePushButton, string(rune('A'+i)), image.Rect(x, 20, x+width, 55))
			if width < 0 {
				b = shown(rolePushButton, string(rune('A'+i)), image.Rect(x+width, 20, x, 55))
			}
			buttons = append(buttons, b)
			x += width
		}
		buttons = append(buttons, shown(rolePanel, "combo", image.Rect(900, 20, 1000, 55)))
		box := image.Rect(0, 0, 1000, 700)
		a := assembler{windows: []*object{shown(rolePanel, "window", box, shown(holder, "root", box,
			shown(roleToolBar, "Standard", image.Rect(0, 18, 1000, 57), buttons...)))}}
		a.assemble()
		return a.nodes
	}
	arrows := func(nodes []Node) string {
		var of []string
		for _, n := range nodes {
			if n.Role == RoleArrow {
				b := nodes[n.Parent]
				assert.Equal(t, b.Key+arrowPart, n.Key)
				assert.Equal(t, image.Pt(b.Box.Max.X, b.Box.Max.Y), n.Box.Max)
				assert.Equal(t, b.Box.Min.Y, n.Box.Min.Y)
				assert.Empty(t, n.Called())
				of = append(of, b.Name)
			}
		}
		return strings.Join(of, " ")
	}
	for _, tt := range []struct {
		what   string
		holder role
		widths []int
		want   string
	}{
		{"pictures, two with an arrow", roleRootPane, []int{33, 44, 33, 44}, "B D"},
		{"an interface of twice the size", roleRootPane, []int{66, 88, 66}, "B"},
		{"no arrow", roleRootPane, []int{33, 33}, ""},
		{"arrows alone", roleRootPane, []int{44, 44}, ""},
		{"a button with words", roleRootPane, []int{33, 44, 90}, ""},
		{"wider by something else", roleRootPane, []int{33, 43}, ""},
		{"as wide again as the picture", roleRootPane, []int{11, 22}, ""},
		{"another toolkit", rolePanel, []int{33, 44}, ""},
		{"from right to left", roleRootPane, []int{-33, -44, -33}, ""},
	} {
		assert.Equal(t, tt.want, arrows(bar(tt.holder, tt.widths...)), tt.what)
	}
	nodes := bar(roleRootPane, 33, 44)
	require.Equal(t, image.Rect(566, 20, 577, 55), nodes[len(nodes)-2].Box)
}

// A button that is disabled has no arrow, and what a button is its arrow is not told to be.
func TestArrowStates(t *testing.T) {
	box := image.Rect(0, 0, 1000, 700)
	plain, split := shown(rolePushButton, "Cut", image.Rect(0, 0, 33, 35)), shown(rolePushButton, "Paste", image.Rect(33, 0, 77, 35))
	read := func() []Node {
		a := assembler{windows: []*object{shown(rolePanel, "window", box, shown(roleRootPane, "root", box,
			shown(roleToolBar, "Standard", image.Rect(0, 0, 1000, 35), plain, split)))}}
		a.assemble()
		return a.nodes
	}
	split.states |= 1 << stateFocused
	nodes := read()
	require.Len(t, nodes, 6)
	assert.Equal(t, []string{"focused"}, nodes[4].States)
	assert.Empty(t, nodes[5].States)
	split.states = 1<<stateShowing | 1<<stateVisible
	assert.Len(t, read(), 5)
	var off stateSet
	assert.Equal(t, []string{"disabled"}, off.told(roleArrow), "asked for right before a click")
}
