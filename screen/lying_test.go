package screen

import (
	"fmt"
	"image"
	"math"
	"strings"
	"testing"
	"time"

	"desktop-agent/screen/atspi"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lies is a window of thousands of elements that are called the same, with others that no
// program has: beyond every edge, without a size, as large as numbers go, of 1 MB.
func lies(count int) *Observation {
	o := &Observation{
		Image:   Image{Mapping: Mapping{Source: image.Rect(0, 0, 7680, 4320), Size: image.Pt(1456, 819)}},
		Windows: []Window{{Title: "Lies", Class: "liar", PID: 7, Box: image.Rect(0, 0, 7680, 4320), Focused: true}},
	}
	add := func(role, name string, box image.Rectangle) {
		n := atspi.Node{ID: fmt.Sprintf("n%d", len(o.Tree.Nodes)+1), PID: 7, Parent: min(0, len(o.Tree.Nodes)-1), Depth: min(1, len(o.Tree.Nodes)), Role: role, Name: name, Box: box}
		o.Tree.Nodes = append(o.Tree.Nodes, n)
	}
	add("frame", "Lies", image.Rect(0, 0, 7680, 4320))
	add("push button", "Outside", image.Rect(7700, 10, 7800, 40))
	add("push button", "Before", image.Rect(-500, -500, -400, -480))
	add("push button", "Nothing", image.Rectangle{})
	add("push button", "Inverted", image.Rectangle{Min: image.Pt(500, 500), Max: image.Pt(100, 100)})
	add("label", "Endless", image.Rect(math.MinInt32, math.MinInt32, math.MaxInt32, math.MaxInt32))
	add("entry", strings.Repeat("m", 1<<20), image.Rect(10, 10, 200, 40))
	for i := range count {
		add("push button", "The same", image.Rect(100+i%60*100, 100+i/60*30, 190+i%60*100, 125+i/60*30))
	}
	return o
}

// What a tree tells is told within the budget and in time, however little sense it makes.
func TestTreesThatLie(t *testing.T) {
	const count = 5000
	before, now := lies(count), lies(count)
	for i := range now.Tree.Nodes { // all have moved by one place, as far as names tell
		if i > 6 && i+1 < len(now.Tree.Nodes) {
			now.Tree.Nodes[i].Box = before.Tree.Nodes[i+1].Box
		}
	}
	now.Tree.Nodes[len(now.Tree.Nodes)-1].Name = "Another"
	start := time.Now()
	text := now.Text(0)
	assert.LessOrEqual(t, len(text), DefaultTextBudget*bytesPerToken)
	assert.Regexp(t, `\n\d+ more elements left out\n$`, text)
	for _, name := range []string{"Outside", "Before", "Nothing", "Inverted"} {
		assert.NotContains(t, text, name)
	}
	whole := now.Text(1 << 20)
	assert.Equal(t, count-1, strings.Count(whole, `"The same"`), "equal names are no reason to drop any")
	assert.Contains(t, whole, `entry "`+strings.Repeat("m", maxName)+`"… @`)
	list := Differences(before, now)
	require.NotEmpty(t, list)
	assert.Less(t, len(list), 10, "that elements moved is no change")
	assert.LessOrEqual(t, len(DescribeChanges(before, now)), maxChanges)
	assert.Len(t, Match(before.Tree.Nodes, now.Tree.Nodes), len(now.Tree.Nodes))
	for i := range 7 {
		device, _, ok := now.PointOf(i)
		assert.False(t, ok && !device.In(now.Windows[0].Box), "%v is clicked at %v", now.Tree.Nodes[i], device)
	}
	assert.Less(t, time.Since(start), time.Minute) // a second on a machine that does nothing else
}
