// Package atspi reads the accessibility trees of running programs over D-Bus
// (AT-SPI 2, https://gitlab.gnome.org/GNOME/at-spi2-core).
//
//	reader, err := atspi.Open(ctx, nil)
//	if err != nil {
//		return err // there is no accessibility bus
//	}
//	defer reader.Close()
//	nodes, hung, err := reader.Read(ctx)
//
// Only what can be seen is read, so that an editor takes some milliseconds and
// a spreadsheet with 16 billion cells some hundred. Programs are read side by
// side; one that hangs is named and costs the time that it may be silent, once.
// The text of password fields is never asked for.
//
// What programs tell is not always where things are: this package puts right
// what LibreOffice tells, and package screen what GTK 4 does.
package atspi

import (
	"image"
	"slices"
	"strconv"
)

// A Node is one accessible object that can be seen on the screen, or the arrow of a button
// ([RoleArrow]), of which programs tell the whole alone.
type Node struct {
	ID     string // names the element, such as "n12": see [Node.Key] and package screen
	App    string
	PID    int
	Parent int // index of the parent in the list of nodes; -1 for a window
	Depth  int
	Role   string          // AT-SPI role name, such as "push button"
	Name   string          // what the program calls it
	Text   string          // the text or value that it holds; never that of a password
	States []string        // the AT-SPI states worth telling, such as "focused" or "checked"
	Box    image.Rectangle // device pixels of the desktop: the part that its ancestors let through

	Key       string // the object's name on the bus, and which part of it if it is one: the same as long as the object lives; "" if not known
	Label     string // what it is for, where Name does not tell: see LabelFrom
	LabelFrom LabelSource
	Help      string // the description or tooltip, where it says more than Name and Label
	Caret     int    // where the caret is: before this character of Text, from 1; 0: not known, or not in Text
	Start     int    // how many characters of the object come before Text
	Length    int    // how many characters the object has in all, where Text is but a part of them; else 0
	Line      int    // in which line of the object Text begins, from 1; 0: not known
	Formula   string // what a cell computes, where Text is what came of it
	Beyond    Beyond // children that are scrolled out of view
	Layer     int    // how far up it lies in its page: over what is in a lower layer; 0: the page's own, or not known
	Settable  bool   // the program sets its text or value when asked to, without the keyboard
	Read      bool   // Text was read from the picture: no program tells it
}

// A LabelSource is where a label is from.
type LabelSource string

// The sources of labels, from the surest to the least sure.
const (
	LabelRelation    LabelSource = "relation"    // the program says which label is for it
	LabelDescription LabelSource = "description" // its description or tooltip stands for a name
	LabelChild       LabelSource = "child"       // what it contains
	LabelBeside      LabelSource = "beside"      // the text that stands next to it: a guess
)

// Beyond counts the children of an object that are out of its view, each way.
// A count that the program does not tell is 0, or [Some] where there are some.
type Beyond struct{ Above, Below, Left, Right int }

// Some is a count of children that are there, and which nobody counts.
const Some = -1

// Called returns what the node is called: its name, or else its label.
func (n Node) Called() string {
	if n.Name != "" {
		return n.Name
	}
	return n.Label
}

// Lasting returns what the node is called whatever it shows; "" if nothing tells. Of what
// shows content only fields have such a name: what they are for.
func (n Node) Lasting() string {
	switch {
	case n.Role == roleComboBox.String():
		return n.Label // the name may be what is selected, or, of GTK, another word for that
	case !ShowsContent(n.Role) || Operable(n.Role):
		return n.Called()
	}
	return ""
}

// Relabelled reports whether the node is none that was there before, of the same role, as
// both have a lasting name and it is not the same.
func (n Node) Relabelled(was Node) bool {
	name, before := n.Lasting(), was.Lasting()
	return name != "" && before != "" && name != before
}

// String is Describe in the quotes of Go.
func (n Node) String() string { return n.Describe(strconv.Quote) }

// Describe says in words what the node is: its role, and its name in quotes if it
// has one.
func (n Node) Describe(quote func(string) string) string {
	if n.Name == "" {
		return n.Role
	}
	return n.Role + " " + quote(n.Name)
}

// Within reports whether a node of a list is another one of it, or lies inside of it.
func Within(nodes []Node, node, outer int) bool {
	for node >= 0 && node != outer {
		node = nodes[node].Parent
	}
	return node >= 0
}

// Has reports whether the node has one of some states.
func (n Node) Has(states ...string) bool {
	return slices.ContainsFunc(n.States, func(s string) bool { return slices.Contains(states, s) })
}
