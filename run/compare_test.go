package run_test

import (
	"image"
	"image/color"
	"image/draw"
	"testing"

	"github.com/stretchr/testify/assert"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// TestRaised holds that a click that gives the focus to the window that it hits is no
// change of the windows, and that any other change of the focus is one.
func TestRaised(t *testing.T) {
	back := screen.Window{ID: 1, Title: "Files", Box: image.Rect(0, 0, 100, 100)}
	front := screen.Window{ID: 2, Title: "Editor", Box: image.Rect(50, 0, 200, 100)}
	with := func(focused uint32, list ...screen.Window) (c run.Capture) {
		for _, w := range list {
			w.Focused = w.ID == focused
			c.Windows = append(c.Windows, w)
		}
		return c
	}
	on := &screen.Observation{Image: screen.Image{Mapping: screen.Mapping{Source: image.Rect(0, 0, 200, 100), Size: image.Pt(200, 100)}}}
	click := func(x int) actuator.Action {
		return actuator.Click{At: &actuator.Point{X: x, Y: 50}, Button: actuator.Left, Count: 1}
	}
	const taken = "another window has the focus"
	for name, tt := range map[string]struct {
		action        actuator.Action
		before, after run.Capture
		want          string
	}{
		"the window that is clicked comes to the front": {click(10), with(2, back, front), with(1, front, back), ""},
		"the window that covers it has it already":      {click(60), with(2, back, front), with(2, back, front), ""},
		"a click that gives no focus":                   {click(10), with(2, back, front), with(2, back, front), ""},
		"another one than the one that is clicked":      {click(60), with(2, back, front), with(1, front, back), taken},
		"a key":               {actuator.Press{Keys: []actuator.Key{"tab"}, Count: 1}, with(2, back, front), with(1, front, back), taken},
		"a window that opens": {click(10), with(1, back), with(2, back, front), "a window opened"},
	} {
		t.Run(name, func(t *testing.T) {
			var c run.Comparison
			assert.Equal(t, tt.want, c.WindowChange(run.Raised(tt.before, tt.after, tt.action, on), tt.after))
		})
	}
}

// TestWhatABatchHasFilledIsNoSurprise holds that the look of an element at which the
// batch aimed before may have changed, and that of any other may not.
func TestWhatABatchHasFilledIsNoSurprise(t *testing.T) {
	picture := func(c color.Color) *image.RGBA {
		m := image.NewRGBA(image.Rect(0, 0, 200, 100))
		draw.Draw(m, m.Rect, image.NewUniform(c), image.Point{}, draw.Src)
		return m
	}
	chosen := &screen.Observation{FrameID: "f1", Bare: picture(color.White),
		Image: screen.Image{Mapping: screen.Mapping{Source: image.Rect(0, 0, 200, 100), Size: image.Pt(200, 100)}}}
	click := func(x int, role, name string) actuator.Action {
		return actuator.Click{At: &actuator.Point{X: x, Y: 50, Element: actuator.Element{Role: role, Name: name}}, Button: actuator.Left, Count: 1}
	}
	for name, tt := range map[string]struct {
		before, next actuator.Action
		surprise     bool
	}{
		"the same field, elsewhere in it": {click(10, "text", "Name"), click(40, "text", "Name"), false},
		"another field":                   {click(10, "text", "Name"), click(140, "text", "Street"), true},
		"the same page":                   {click(10, "panel", "Page"), click(140, "panel", "Page"), true},
		"nothing that has a name":         {click(10, "", ""), click(40, "", ""), true},
	} {
		t.Run(name, func(t *testing.T) {
			var c run.Comparison
			aim := run.Aim{Action: tt.next, Done: []actuator.Action{tt.before}, Chosen: chosen, Now: run.Capture{Bare: picture(color.Black)}}
			assert.Equal(t, tt.surprise, c.Surprise(t.Context(), aim) != "")
		})
	}
}

// TestNothingChanged holds that an action has no effect only where the screen came to rest,
// and everybody answered: what it does may be still to come.
func TestNothingChanged(t *testing.T) {
	click := actuator.Click{Button: actuator.Left, Count: 1}
	picture := image.NewRGBA(image.Rect(0, 0, 100, 100))
	for _, tt := range []struct {
		settled screen.Settled
		still   bool
	}{
		{screen.Settled{}, true},
		{screen.Settled{Reason: screen.SettledQuiet, Busy: []string{"drawing"}}, true},
		{screen.Settled{Reason: screen.SettledOff}, true},
		{screen.Settled{Reason: screen.SettledCeiling}, false},
		{screen.Settled{Reason: screen.SettledQuiet, Busy: []string{"no answer"}}, false},
	} {
		before, now := &screen.Observation{Bare: picture}, &screen.Observation{Bare: picture, Settled: tt.settled}
		assert.Equal(t, tt.still, run.NothingChanged(click, 0, picture, before, now), "%+v", tt.settled)
		assert.Equal(t, tt.still, run.Capture{Bare: picture}.Unchanged(click, run.Capture{Bare: picture, Settled: tt.settled}), "%+v", tt.settled)
	}
	other := image.NewRGBA(picture.Rect)
	draw.Draw(other, other.Rect, image.White, image.Point{}, draw.Src)
	assert.False(t, run.Capture{Bare: picture}.Unchanged(click, run.Capture{Bare: other}))

	caret := image.NewRGBA(picture.Rect)
	draw.Draw(caret, image.Rect(40, 10, 42, 26), image.White, image.Point{}, draw.Src)
	left := actuator.Press{Keys: []actuator.Key{"left"}, Count: 1}
	for _, tt := range []struct {
		action actuator.Action
		after  *image.RGBA
		still  bool
	}{
		{click, caret, true}, // it blinks
		{left, caret, false}, // or has moved
		{left, picture, true},
	} {
		assert.Equal(t, tt.still, run.Capture{Bare: picture}.Unchanged(tt.action, run.Capture{Bare: tt.after}), "%T", tt.action)
		assert.Equal(t, tt.still, run.NothingChanged(tt.action, 1, picture, nil, &screen.Observation{Bare: tt.after}), "%T", tt.action)
	}

	box := image.Rect(0, 0, 100, 100)
	told := func(at int, states ...string) screen.Tree {
		return screen.Tree{Nodes: []atspi.Node{
			{ID: "n1", PID: 7, Parent: -1, Role: "frame", Name: "Letter", Box: box},
			{ID: "n2", PID: 7, Depth: 1, Role: "text", Text: "Dear Ann", States: states, Caret: at, Box: box},
		}}
	}
	for _, tt := range []struct {
		name        string
		action      actuator.Action
		chosen, now screen.Tree
		pid         int // of the window that has the focus
		after       *image.RGBA
		still       bool
	}{
		{"the tree knows that it blinks", left, told(3, "focused"), told(3, "focused"), 7, caret, true},
		{"the tree knows that it has moved", left, told(3, "focused"), told(2, "focused"), 7, caret, false},
		{"it has moved, and was not seen", left, told(3, "focused"), told(2, "focused"), 7, picture, false},
		{"no tree", left, screen.Tree{}, screen.Tree{}, 7, caret, false},
		{"no tree, and nothing moves", left, screen.Tree{}, screen.Tree{}, 7, picture, true},
		{"no tree, and a click, which moves none", click, screen.Tree{}, screen.Tree{}, 7, caret, true},
		{"the caret is not told", left, told(0, "focused"), told(0, "focused"), 7, caret, false},
		{"it was not told before", left, told(0, "focused"), told(3, "focused"), 7, caret, false},
		{"it is not told after", left, told(3, "focused"), told(0, "focused"), 7, caret, false},
		{"it is told where keys do not go", left, told(3), told(3), 7, caret, false},
		{"a window without a tree has the focus", left, told(3, "focused"), told(3, "focused"), 9, caret, false},
	} {
		look := func(m *image.RGBA, tree screen.Tree) *screen.Observation {
			return &screen.Observation{Bare: m, Tree: tree, Windows: []screen.Window{
				{ID: 1, Title: "Letter", PID: 7, Box: box, Focused: tt.pid == 7},
				{ID: 2, Title: "Terminal", PID: 9, Box: box, Focused: tt.pid == 9},
			}}
		}
		assert.Equal(t, tt.still, run.NothingChanged(tt.action, 0, picture, look(picture, tt.chosen), look(tt.after, tt.now)), tt.name)
	}
}
