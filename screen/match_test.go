package screen

import (
	"fmt"
	"image"
	"slices"
	"strconv"
	"testing"

	"desktop-agent/screen/atspi"

	"github.com/stretchr/testify/require"
)

// What comes of a tree in the next look, and which of its elements are the same.
func TestMatch(t *testing.T) {
	at := func(y int) image.Rectangle { return image.Rect(0, y, 50, y+10) }
	node := func(parent int, role, name, key string, y int) atspi.Node {
		return atspi.Node{PID: 1, Parent: parent, Role: role, Name: name, Key: key, Box: at(y)}
	}
	for _, tt := range []struct {
		name        string
		before, now []atspi.Node
		want        []int
	}{
		{"a key tells, whatever it is called now",
			[]atspi.Node{node(-1, "frame", "a.txt", "/1", 0), node(0, "push button", "Save", "/2", 10)},
			[]atspi.Node{node(-1, "frame", "*a.txt", "/1", 0), node(0, "push button", "Saved", "/2", 30)},
			[]int{0, 1}},
		{"a key that was given to another kind of object tells nothing",
			[]atspi.Node{node(-1, "frame", "a", "/1", 0), node(0, "push button", "Save", "/2", 10)},
			[]atspi.Node{node(-1, "frame", "a", "/1", 0), node(0, "menu item", "Open", "/2", 10)},
			[]int{0, -1}},
		{"without keys, the first of a name is the first of it",
			[]atspi.Node{node(-1, "frame", "a", "", 0), node(0, "menu", "File", "", 10), node(0, "menu", "File", "", 20)},
			[]atspi.Node{node(-1, "frame", "a", "", 0), node(0, "table", "", "", 5), node(0, "menu", "File", "", 12), node(0, "menu", "File", "", 22)},
			[]int{0, -1, 1, 2}},
		{"rows that scroll are the rows of their name",
			[]atspi.Node{node(-1, "frame", "a", "", 0), node(0, "table cell", "one", "", 10), node(0, "table cell", "two", "", 20)},
			[]atspi.Node{node(-1, "frame", "a", "", 0), node(0, "table cell", "two", "", 10), node(0, "table cell", "three", "", 20)},
			[]int{0, 2, -1}},
		{"a label that says something else is the same label",
			[]atspi.Node{node(-1, "frame", "a", "", 0), node(0, "label", "3 files", "", 10)},
			[]atspi.Node{node(-1, "frame", "a", "", 0), node(0, "label", "4 files", "", 10)},
			[]int{0, 1}},
		{"what is called by what is open in it is known by its place",
			[]atspi.Node{node(-1, "frame", "a", "", 0), node(0, "terminal", "~/a", "", 10), node(0, "document frame", "a.pdf", "", 20), node(0, "document text", "a.odt", "", 30)},
			[]atspi.Node{node(-1, "frame", "b", "", 0), node(0, "terminal", "~/b", "", 10), node(0, "document frame", "b.pdf", "", 20), node(0, "document text", "b.odt", "", 30)},
			[]int{0, 1, 2, 3}},
		{"another web page is another one, and so is what is on it",
			[]atspi.Node{node(-1, "frame", "a", "", 0), node(0, "document web", "a", "/1", 10), node(1, "push button", "Next", "/2", 20)},
			[]atspi.Node{node(-1, "frame", "b", "", 0), node(0, "document web", "b", "/3", 10), node(1, "push button", "Next", "/4", 20)},
			[]int{0, -1, -1}},
		{"another program's window is another window",
			[]atspi.Node{node(-1, "frame", "a", "", 0)},
			[]atspi.Node{{PID: 2, Parent: -1, Role: "frame", Name: "a", Box: at(0)}},
			[]int{-1}},
		{"below a new element all is new",
			[]atspi.Node{node(-1, "frame", "a", "", 0), node(0, "label", "x", "", 10)},
			[]atspi.Node{node(-1, "dialog", "b", "", 50), node(0, "label", "x", "", 60)},
			[]int{-1, -1}},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, Match(tt.before, tt.now)) })
	}
}

// A field is the one with its label: another field is not that, whatever it holds and
// wherever it stands.
func TestMatchFields(t *testing.T) {
	window := atspi.Node{PID: 1, Parent: -1, Role: "frame", Name: "a"}
	field := func(role, name, label, text string, y int) atspi.Node {
		return atspi.Node{PID: 1, Role: role, Name: name, Label: label, Text: text, Box: image.Rect(0, y, 50, y+10)}
	}
	for _, tt := range []struct {
		name        string
		before, now []atspi.Node
		want        []int
	}{
		{"one of another label stands where it stood",
			[]atspi.Node{field("text", "", "Width", "7", 10)},
			[]atspi.Node{field("text", "", "Height", "7", 10)},
			[]int{-1}},
		{"the choices of another label stand where they stood, and show the same",
			[]atspi.Node{field("combo box", "Norway", "From", "Norway", 10)},
			[]atspi.Node{field("combo box", "Norway", "To", "Norway", 10)},
			[]int{-1}},
		{"it went, and another is there",
			[]atspi.Node{field("text", "", "Width", "7", 10), field("text", "", "Height", "8", 30)},
			[]atspi.Node{field("text", "", "Height", "7", 10)},
			[]int{2}},
		{"it holds something else, and moved",
			[]atspi.Node{field("combo box", "Norway", "From", "Norway", 10), field("combo box", "Norway", "To", "Norway", 30)},
			[]atspi.Node{field("combo box", "Sweden", "To", "Sweden", 10), field("combo box", "Norway", "From", "Norway", 40)},
			[]int{2, 1}},
		{"nobody knows what they are for",
			[]atspi.Node{field("text", "", "", "7", 10), field("text", "", "", "8", 30)},
			[]atspi.Node{field("text", "", "", "9", 30), field("text", "", "", "7", 50)},
			[]int{2, -1}},
		{"its label is not known any more",
			[]atspi.Node{field("text", "", "Width", "7", 10)},
			[]atspi.Node{field("text", "", "", "7", 10)},
			[]int{1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Match(append([]atspi.Node{window}, tt.before...), append([]atspi.Node{window}, tt.now...))
			require.Equal(t, tt.want, got[1:])
		})
	}
}

// Those that are called the same below one parent are twins; fields of which nobody knows what
// they are for are told apart by their places.
func TestTwins(t *testing.T) {
	nodes := []atspi.Node{
		{PID: 1, Parent: -1, Role: "frame", Name: "a"},
		{PID: 1, Role: "panel"},
		{PID: 1, Role: "push button", Name: "Delete"},
		{PID: 1, Role: "push button", Name: "Delete"},
		{PID: 1, Role: "menu item", Name: "Delete"},
		{PID: 1, Parent: 1, Role: "push button", Name: "Delete"},
		{PID: 1, Role: "text", Text: "7", Box: image.Rect(0, 10, 50, 20)},
		{PID: 1, Role: "text", Text: "7", Box: image.Rect(0, 30, 50, 40)},
	}
	want := [][]int{2: {3}, 3: {2}, 7: nil}
	for i := range nodes {
		require.Equal(t, want[i], Twins(nodes, i), "%d", i)
	}
}

// An element has the same ID as long as it lives, and no other gets that ID.
func TestElementsKeepTheirNames(t *testing.T) {
	var names namer
	ids := func(called ...string) (list []string) {
		nodes := []atspi.Node{{PID: 1, Parent: -1, Role: "frame", Name: "a"}}
		for _, name := range called {
			nodes = append(nodes, atspi.Node{PID: 1, Role: "menu item", Name: name})
		}
		names.name(nodes, new(Observation).untold)
		for _, n := range nodes[1:] {
			list = append(list, n.ID)
		}
		return list
	}
	require.Equal(t, []string{"n1", "n2"}, ids("Open", "Save"), "the window, which nobody acts on, comes last")
	require.Equal(t, []string{"n4", "n2"}, ids("New", "Save"))
	require.Equal(t, []string{"n2", "n5"}, ids("Save", "Open"), "what went and came again is another one")
}

// What is not told for a while, as its program does not answer, has the same ID after that; what
// an answer does not tell has gone.
func TestElementsKeepTheirNamesOverSilence(t *testing.T) {
	window := atspi.Node{PID: 1, Parent: -1, Role: "frame", Name: "a"}
	other := atspi.Node{PID: 2, Parent: -1, Role: "frame", Name: "b"}
	item := func(name string) atspi.Node { return atspi.Node{PID: 1, Parent: 1, Role: "menu item", Name: name} }
	line := atspi.Node{PID: 2, Role: RoleTextLine, Text: "42 %", Read: true}
	whole := []atspi.Node{other, window, item("Open"), item("Save"), line}
	silent := []atspi.Program{{Name: "one", PID: 1}}
	for _, tt := range []struct {
		name    string
		between []Observation
		want    []bool // whether Open, Save and the line have the IDs that they had
	}{
		{"it tells nothing", []Observation{{Tree: Tree{Nodes: []atspi.Node{other, line}, Hung: silent}}}, []bool{true, true, true}},
		{"and nothing again", []Observation{{Tree: Tree{Nodes: []atspi.Node{other, line}, Hung: silent}}, {Tree: Tree{Nodes: []atspi.Node{other, line}, Hung: silent}}}, []bool{true, true, true}},
		{"it tells a part", []Observation{{Tree: Tree{Nodes: []atspi.Node{other, window, item("Save"), line}, Hung: silent}}}, []bool{true, true, true}},
		{"it answers before it tells them again", []Observation{
			{Tree: Tree{Nodes: []atspi.Node{other, line}, Hung: silent}}, {Tree: Tree{Nodes: []atspi.Node{other, window, item("Save"), line}}},
		}, []bool{false, true, true}},
		{"another does not answer", []Observation{{Tree: Tree{Nodes: []atspi.Node{other, line}, Hung: []atspi.Program{{Name: "three", PID: 3}}}}}, []bool{false, false, true}},
		{"no tree", []Observation{{Tree: Tree{Err: ErrClosed}}}, []bool{true, true, false}},
		{"the picture is not read in time", []Observation{{Tree: Tree{Nodes: whole[:4]}, Unread: true}}, []bool{true, true, true}},
		{"the picture shows it no more", []Observation{{Tree: Tree{Nodes: whole[:4]}}}, []bool{true, true, false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var names namer
			look := func(o Observation) (ids []string) {
				o.Tree.Nodes = slices.Clone(o.Tree.Nodes)
				names.name(o.Tree.Nodes, o.untold)
				for _, n := range o.Tree.Nodes {
					ids = append(ids, n.ID)
				}
				return ids
			}
			before := look(Observation{Tree: Tree{Nodes: whole}})
			for _, o := range tt.between {
				look(o)
			}
			after := look(Observation{Tree: Tree{Nodes: whole}})
			for k, i := range []int{2, 3, 4} {
				require.Equal(t, tt.want[k], before[i] == after[i], "%s%s", whole[i].Name, whole[i].Text)
			}
			slices.Sort(after)
			require.Len(t, slices.Compact(after), len(whole), "each has its own")
		})
	}
}

// TestElementsKeepTheirNamesThatAreHidden holds that what is taken out of an observation later is
// found again as it is told.
func TestElementsKeepTheirNamesThatAreHidden(t *testing.T) {
	var names namer
	untold := func(atspi.Node) bool { return false }
	nodes := func() []atspi.Node {
		return []atspi.Node{{PID: 1, Parent: -1, Role: "frame", Name: "a"}, {PID: 1, Role: "push button", Name: "Use 1234"}}
	}
	first, next := nodes(), nodes()
	names.name(first, untold)
	first[1].Name = "Use {{secret:account}}"
	names.name(next, untold)
	require.Equal(t, first[1].ID, next[1].ID)
}

// TestUntoldAreBounded holds that a program which tells a part alone, and other things each time,
// does not make more and more known of it.
func TestUntoldAreBounded(t *testing.T) {
	var names namer
	o := Observation{Tree: Tree{Hung: []atspi.Program{{Name: "one", PID: 1}}}}
	for i := range 7 {
		o.Tree.Nodes = []atspi.Node{{PID: 1, Parent: -1, Role: "frame", Name: "a"}}
		for k := range 4_000 {
			o.Tree.Nodes = append(o.Tree.Nodes, atspi.Node{PID: 1, Role: "menu item", Name: fmt.Sprint(i, " ", k)})
		}
		names.name(o.Tree.Nodes, o.untold)
	}
	require.Equal(t, len(o.Tree.Nodes)+maxUntold, len(names.nodes))
	last := o.Tree.Nodes[150].ID
	again := slices.Clone(o.Tree.Nodes)
	names.name(o.Tree.Nodes[:1], o.untold)
	names.name(again, o.untold)
	require.Equal(t, last, again[150].ID, "the newest are known")
}

// Of a sheet, the empty cells and the headers are told by the first and last of them alone:
// they leave the short IDs to what is told.
func TestEmptyCellsAreNamedLast(t *testing.T) {
	var names namer
	nodes := []atspi.Node{{PID: 1, Parent: -1, Role: "frame", Name: "a"}, {PID: 1, Role: "table", Name: "Sheet"},
		{PID: 1, Parent: 1, Role: columnHeader, Name: "B"}}
	for i := range 900 {
		nodes = append(nodes, atspi.Node{PID: 1, Parent: 1, Role: "table cell", Name: "B" + strconv.Itoa(i+1)})
	}
	nodes[500].Text = "Rent"
	nodes = append(nodes, atspi.Node{PID: 1, Role: "push button", Name: "Save"})
	names.name(nodes, new(Observation).untold)
	require.Equal(t, "n1", nodes[500].ID)
	require.Equal(t, "n2", nodes[len(nodes)-1].ID)
	seen := map[string]bool{}
	for _, n := range nodes {
		require.False(t, seen[n.ID] || n.ID == "", n.ID)
		seen[n.ID] = true
	}
}
