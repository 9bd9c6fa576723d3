package atspi

import (
	"image"
	"testing"

	"github.com/stretchr/testify/assert"
)

// page is a page with a bar (1, with the link 2), a list (3) of buttons (4 to 6), a label over
// the first of them (7) and a box that floats (8, with the button 9).
func page() []Node {
	node := func(parent, depth int, role string, x0, y0, x1, y1 int) Node {
		return Node{Parent: parent, Depth: depth, Role: role, Box: image.Rect(x0, y0, x1, y1)}
	}
	nodes := []Node{
		node(-1, 0, "document web", 0, 0, 800, 600),
		node(0, 1, "landmark", 0, 0, 800, 60), node(1, 2, "link", 0, 0, 60, 20),
		node(0, 1, "section", 0, 20, 800, 600),
		node(3, 2, "push button", 100, 20, 400, 50), node(3, 2, "push button", 100, 100, 400, 130), node(3, 2, "push button", 100, 200, 400, 230),
		node(3, 2, "label", 0, 0, 500, 300),
		node(0, 1, "section", 300, 90, 700, 300), node(8, 2, "push button", 310, 200, 340, 220),
	}
	for i := range nodes {
		nodes[i].Key = string(rune('a' + i))
	}
	return nodes
}

// TestMeetings holds which parts of a page are asked about: what may cover a control, up to
// where both part, and neither a label nor what only touches.
func TestMeetings(t *testing.T) {
	pairs := func(nodes []Node) (list [][2]int) {
		for _, m := range meetings(nodes) {
			list = append(list, [2]int{m.upper, m.lower})
		}
		return list
	}
	nodes := page()
	assert.Equal(t, [][2]int{{1, 3}, {8, 3}, {3, 8}}, pairs(nodes))
	nodes[4].Box, nodes[1].Box = nodes[4].Box.Add(image.Pt(0, 35)), image.Rect(0, 0, 800, 60) // they share five rows
	assert.NotContains(t, pairs(nodes), [2]int{1, 3})
	nodes[0].Role = "frame"
	assert.Empty(t, pairs(nodes))
}

// TestRaise: what is in a part of a page lies as far up as that, and what is over something
// that was lifted higher still; answers that contradict one another end all the same.
func TestRaise(t *testing.T) {
	layers := func(over, under []meeting) (list []int) {
		nodes := page()
		raise(nodes, over, under)
		for _, n := range nodes {
			list = append(list, n.Layer)
		}
		return list
	}
	bar, box := meeting{upper: 1, lower: 3}, meeting{upper: 8, lower: 3}
	assert.Equal(t, []int{0, 1, 1, 0, 0, 0, 0, 0, 1, 1}, layers([]meeting{bar, box}, nil))
	assert.Equal(t, []int{0, 1, 1, 0, 0, 0, 0, 0, 2, 2}, layers([]meeting{bar, {upper: 8, lower: 1}}, nil))
	assert.Equal(t, []int{0, 1, 1, 0, 0, 0, 0, 0, 2, 2}, layers([]meeting{bar}, []meeting{{upper: 1, lower: 8}}), "it is over the bar")
	assert.Equal(t, make([]int, 10), layers(nil, []meeting{bar}), "the page's own lie where they are")
	assert.NotPanics(t, func() { layers([]meeting{bar, {upper: 3, lower: 1}}, nil) })
}

// TestAnswers: what a browser says before it has looked is asked again, and hides nothing
// when it was said once; what it says afterwards counts.
func TestAnswers(t *testing.T) {
	here, there := meeting{shared: image.Rect(0, 0, 9, 9)}, meeting{shared: image.Rect(9, 0, 18, 9)}
	once := answer{above: true, times: 1, shared: here.shared}
	assert.False(t, once.holds())
	l := &layering{index: map[string]int{"curtain": 0}}
	assert.False(t, l.final(once, here))
	often := answer{above: true, times: 4, shared: here.shared}
	assert.True(t, often.holds())
	assert.True(t, l.final(often, here))
	assert.False(t, l.final(often, there))
	assert.True(t, answer{above: true, sure: true}.holds())
	assert.True(t, l.final(answer{sure: true}, there))
	other := answer{sure: true, times: 1, shared: here.shared, other: "curtain"}
	assert.False(t, other.holds(), "it says nothing of what is below")
	assert.False(t, l.final(other, here))
	other.times = 4
	assert.True(t, l.final(other, here), "it would say the same again")
	assert.False(t, l.final(other, there))
	other.other = "gone"
	assert.False(t, l.final(other, here), "once it is gone it is asked again")
	assert.True(t, answer{}.holds(), "that nothing is covered is what would be taken for so")
}

// BenchmarkMeetings looks for what may overlap in a page of 3,041 nodes, a third of them links
// and a third list items, which nothing covers.
func BenchmarkMeetings(b *testing.B) {
	nodes := []Node{{Parent: -1, Role: "document web", Box: image.Rect(0, 0, 1900, 1000)}}
	for r := range 40 {
		row := len(nodes)
		nodes = append(nodes, Node{Parent: 0, Depth: 1, Role: "section", Box: image.Rect(0, 25*r, 1900, 25*r+25)})
		for c := range 25 {
			item, box := len(nodes), image.Rect(70*c, 25*r, 70*c+65, 25*r+20)
			nodes = append(nodes, Node{Parent: row, Depth: 2, Role: "list item", Box: box},
				Node{Parent: item, Depth: 3, Role: "link", Box: box}, Node{Parent: item + 1, Depth: 4, Role: "static", Box: box})
		}
	}
	for b.Loop() {
		if list := meetings(nodes); len(list) > 0 {
			b.Fatal(list)
		}
	}
}
