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

// A Node is one accessible object that can be seen on the screen.
type Node struct {
	ID     string // names the node within one observation, such as "n12"
	App    string
	PID    int
	Parent int // index of the parent in the list of nodes; -1 for a window
	Depth  int
	Role   string // AT-SPI role name, such as "push button"
	Name   string
	Text   string          // the text or value that it holds; never that of a password
	States []string        // the AT-SPI states worth telling, such as "focused" or "checked"
	Box    image.Rectangle // device pixels of the desktop
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

// Has reports whether the node has one of some states.
func (n Node) Has(states ...string) bool {
	return slices.ContainsFunc(n.States, func(s string) bool { return slices.Contains(states, s) })
}
