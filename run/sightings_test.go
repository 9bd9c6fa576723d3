package run

import (
	"image"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"desktop-agent/actuator"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// TestGoneBesideWhoDoesNotAnswer holds that what was seen in a program has gone once that
// does not tell it, whoever else does not answer; what was never seen may be in any.
func TestGoneBesideWhoDoesNotAnswer(t *testing.T) {
	box := image.Rect(0, 0, 200, 100)
	look := func(tree screen.Tree) *screen.Observation {
		return &screen.Observation{Windows: []screen.Window{{Title: "Letter", PID: 7, Box: box}}, Tree: tree}
	}
	all := screen.Tree{Nodes: []atspi.Node{
		{ID: "n1", PID: 7, Parent: -1, Role: "frame", Name: "Letter", Box: box},
		{ID: "n2", PID: 7, Depth: 1, Role: "push button", Name: "Save", Box: image.Rect(10, 10, 60, 30)},
	}}
	hung := func(pid int) screen.Tree {
		return screen.Tree{Nodes: all.Nodes[:1], Hung: []atspi.Program{{Name: "panel", PID: pid}}}
	}
	for _, a := range []actuator.WaitUntil{
		{For: actuator.ElementSign, What: "n2", Element: actuator.Element{ID: "n2", Role: "push button", Name: "Save"}, Gone: true},
		{For: actuator.ElementSign, What: `button "Save"`, Gone: true},
		{For: actuator.ElementSign, What: "n9", Element: actuator.Element{Role: "push button", Name: "Save"}, Gone: true},
		{For: actuator.TextSign, What: "Save", Gone: true},
	} {
		for _, tt := range []struct {
			name  string
			first screen.Tree
			now   screen.Tree
			over  bool
		}{
			{"it is there", all, all, false},
			{"it answers", all, screen.Tree{Nodes: all.Nodes[:1]}, true},
			{"it does not", all, hung(7), false},
			{"another does not", all, hung(9), true},
			{"who does not is not known", all, hung(0), false},
			{"it was never seen", hung(9), hung(9), false},
			{"no tree", all, screen.Tree{Err: screen.ErrNoTree}, false},
		} {
			var seen sightings
			seen.over(look(tt.first), a)
			assert.Equal(t, tt.over, seen.over(look(tt.now), a), "%s: %s", a.What, tt.name)
		}
		a.Gone = false
		var seen sightings
		assert.True(t, seen.over(look(all), a), a.What)
		assert.False(t, seen.over(look(hung(9)), a), a.What)
	}
}

// TestWaitForWindow holds that an element which is named as the header of a window in the list,
// or by AT-SPI's word, comes with a window that has the words in its title.
func TestWaitForWindow(t *testing.T) {
	o := &screen.Observation{Windows: []screen.Window{{Title: "Letter - Editor", PID: 7, Box: image.Rect(0, 0, 200, 100)}}}
	for what, want := range map[string]bool{
		`window "Letter - Editor"`: true, `window "letter"`: true, `frame "Letter"`: true, `popup "Letter"`: true,
		`modal dialog "Letter"`: true, `Dialog "Letter"`: true, `message dialog "Letter"`: true,
		`window "Mail"`: false, `button "Letter"`: false, `internal frame "Letter"`: false, `"Letter"`: false,
	} {
		assert.Equal(t, want, new(sightings).over(o, actuator.WaitUntil{For: actuator.ElementSign, What: what}), what)
	}
}

// TestGoneBelowAnotherWindow holds that what a window covers, or what is on one that is
// minimised, has not gone: what is told is told still, and what was read is looked for where
// it stood in its window.
func TestGoneBelowAnotherWindow(t *testing.T) {
	box := image.Rect(100, 100, 300, 200)
	look := func(read bool, change func(*screen.Observation)) *screen.Observation {
		o := &screen.Observation{
			Windows: []screen.Window{{ID: 1, Title: "Letter", PID: 7, Box: box}},
			Tree: screen.Tree{Nodes: []atspi.Node{
				{ID: "n1", PID: 7, Parent: -1, Role: "frame", Name: "Letter", Box: box},
				{ID: "n2", PID: 7, Depth: 1, Role: "push button", Name: "Save", Box: image.Rect(110, 110, 160, 130), Read: read},
			}},
		}
		change(o)
		return o
	}
	over := func(o *screen.Observation, at image.Rectangle) {
		o.Windows = append(o.Windows, screen.Window{ID: 2, Title: "Over it", PID: 9, Box: at})
	}
	gone := func(o *screen.Observation) { o.Tree.Nodes = o.Tree.Nodes[:1] }
	element := actuator.WaitUntil{For: actuator.ElementSign, What: `button "Save"`, Gone: true}
	text := actuator.WaitUntil{For: actuator.TextSign, What: "Save", Gone: true}
	for _, tt := range []struct {
		name string
		a    actuator.WaitUntil
		read bool
		now  func(*screen.Observation)
		over bool
	}{
		{"element, covered", element, false, func(o *screen.Observation) { over(o, box) }, false},
		{"element, minimised", element, false, func(o *screen.Observation) { o.Windows[0].Hidden = true }, false},
		{"element, minimised, and not told", element, false, func(o *screen.Observation) { o.Windows[0].Hidden = true; gone(o) }, false},
		{"element, gone, another of that name is covered", element, false, func(o *screen.Observation) {
			gone(o)
			o.Windows = slices.Insert(o.Windows, 0, screen.Window{ID: 3, Title: "Copy", PID: 8, Box: box})
			o.Tree.Nodes = append(o.Tree.Nodes, atspi.Node{PID: 8, Parent: -1, Role: "frame", Name: "Copy", Box: box},
				atspi.Node{ID: "n4", PID: 8, Parent: 1, Depth: 1, Role: "push button", Name: "Save", Box: image.Rect(110, 110, 160, 130)})
		}, true},
		{"element, gone below a window", element, false, func(o *screen.Observation) { over(o, box); gone(o) }, true},
		{"text, covered", text, false, func(o *screen.Observation) { over(o, box) }, false},
		{"text, gone below a window", text, false, func(o *screen.Observation) { over(o, box); gone(o) }, true},
		{"read, covered", text, true, func(o *screen.Observation) { over(o, image.Rect(150, 100, 400, 200)); gone(o) }, false},
		{"read, minimised", text, true, func(o *screen.Observation) { o.Windows[0].Hidden = true; gone(o) }, false},
		{"read, covered where the window went", text, true, func(o *screen.Observation) {
			o.Windows[0].Box = box.Add(image.Pt(300, 0))
			over(o, image.Rect(400, 100, 470, 140))
			gone(o)
		}, false},
		{"read, gone beside what is covered", text, true, func(o *screen.Observation) { over(o, image.Rect(200, 150, 300, 200)); gone(o) }, true},
		{"read, the window closed", text, true, func(o *screen.Observation) { o.Windows, o.Tree.Nodes = nil, nil; over(o, box) }, true},
	} {
		var seen sightings
		assert.False(t, seen.over(look(tt.read, func(*screen.Observation) {}), tt.a), "it is there: %s", tt.name)
		assert.Equal(t, tt.over, seen.over(look(tt.read, tt.now), tt.a), tt.name)
	}

	// What was read stays in mind while the words are found elsewhere.
	var seen sightings
	assert.False(t, seen.over(look(true, func(*screen.Observation) {}), text))
	assert.False(t, seen.over(look(true, func(o *screen.Observation) { over(o, box); gone(o); o.Windows[1].Title = "Save it" }), text))
	assert.False(t, seen.over(look(true, func(o *screen.Observation) { over(o, box); gone(o) }), text), "the title has changed")
	assert.True(t, seen.over(look(true, gone), text))

	// What nobody has seen while waiting may be what is covered.
	var unseen sightings
	assert.False(t, unseen.over(look(false, func(o *screen.Observation) { over(o, box) }), element))
}

// TestGoneBesideWhatIsNotRead holds that a text which a program told has gone once none tells it,
// although the picture is not all read, as beside a terminal that is never still; and that one
// which was read, or never seen, may be in what is not read.
func TestGoneBesideWhatIsNotRead(t *testing.T) {
	box := image.Rect(0, 0, 200, 100)
	frame := atspi.Node{ID: "n1", PID: 7, Parent: -1, Role: "frame", Name: "Letter", Box: box}
	label := atspi.Node{ID: "n2", PID: 7, Depth: 1, Role: "label", Name: "Saving", Box: image.Rect(10, 10, 60, 30)}
	line := atspi.Node{ID: "n3", PID: 7, Depth: 1, Role: screen.RoleTextLine, Text: "Saving", Box: image.Rect(10, 50, 60, 70), Read: true}
	look := func(unread bool, nodes ...atspi.Node) *screen.Observation {
		return &screen.Observation{
			Windows: []screen.Window{{ID: 1, Title: "Letter", PID: 7, Box: box}},
			Tree:    screen.Tree{Nodes: append([]atspi.Node{frame}, nodes...)}, Unread: unread,
		}
	}
	titled := look(true)
	titled.Windows[0].Title = "Saving the letter"
	text := actuator.WaitUntil{For: actuator.TextSign, What: "Saving", Gone: true}
	for _, tt := range []struct {
		name  string
		looks []*screen.Observation
		over  bool
	}{
		{"told", []*screen.Observation{look(true, label), look(true)}, true},
		{"told in a title", []*screen.Observation{titled, look(true)}, true},
		{"told, and still there", []*screen.Observation{look(true, label), look(true, label)}, false},
		{"read", []*screen.Observation{look(false, line), look(true)}, false},
		{"read, and then all is", []*screen.Observation{look(false, line), look(true), look(false)}, true},
		{"told and read", []*screen.Observation{look(false, label, line), look(true)}, false},
		{"read, and told later", []*screen.Observation{look(false, line), look(true, label), look(true)}, false},
		{"never seen", []*screen.Observation{look(true), look(true)}, false},
	} {
		var seen sightings
		for i, o := range tt.looks {
			assert.Equal(t, tt.over && i == len(tt.looks)-1, seen.over(o, text), "%s: look %d", tt.name, i)
		}
	}
}
