package screen

import (
	"slices"
	"strings"

	"desktop-agent/screen/atspi"
)

// SameText reports whether two texts say the same: only white space may differ.
func SameText(a, b string) bool { return collapse(a) == collapse(b) }

// HoldsText reports whether a text has words: letters and case must be the same, words
// must be whole, and only white space may differ.
func HoldsText(text, words string) bool {
	words = collapse(words)
	return words != "" && holds(text, words)
}

// Elements returns the indexes of the elements of a role and name that can be seen. A
// role is the list's or AT-SPI's word for it, "" for any; a name is what the element is
// called or what it is for, whole, "" for any. What was read from the picture is none.
func (o *Observation) Elements(role, name string) []int {
	return o.elements(role, name, o.view().readable)
}

// Lines returns the indexes of the lines that were read from the picture and say a text, whole;
// "" for any.
func (o *Observation) Lines(text string) (list []int) {
	for i, n := range o.Tree.Nodes {
		if n.Read && n.Role == RoleTextLine && (text == "" || SameText(n.Text, text)) {
			list = append(list, i)
		}
	}
	return list
}

// AllElements is Elements also of what windows cover, and of windows that are minimised:
// that is not seen, but has not gone.
func (o *Observation) AllElements(role, name string) []int {
	return o.elements(role, name, o.view().there)
}

func (o *Observation) elements(role, name string, wanted func(int) bool) (list []int) {
	role, name = strings.ToLower(collapse(role)), collapse(name)
	for i, n := range o.Tree.Nodes {
		if n.Read || role != "" && !hasRole(n, role) || name != "" && !calledSo(n, name) || !wanted(i) {
			continue
		}
		list = append(list, i)
	}
	return list
}

// hasRole reports whether a node is of a role, by either word for it, or by one that is
// often used for it.
func hasRole(n atspi.Node, role string) bool {
	short := shortRole(n)
	switch role {
	case n.Role, short:
		return true
	case "text", "label":
		return prose(n)
	case "textbox", "entry", "text field", "field":
		return short == "textbox" || n.Role == "entry"
	}
	return false
}

// NamesWindow reports whether a role is what models call a window: by a word of the list or
// of AT-SPI, or by one that ends like them, such as "message dialog".
func NamesWindow(role string) bool {
	switch role = strings.ToLower(collapse(role)); role {
	case "frame", "popup":
		return true
	}
	return strings.HasSuffix(role, "window") || strings.HasSuffix(role, "dialog")
}

func calledSo(n atspi.Node, name string) bool {
	return collapse(n.Called()) == name || n.Name == "" && prose(n) && collapse(n.Text) == name
}

// IsField reports whether a node is a field of one line that one types into, and no
// document or cell.
func (o *Observation) IsField(i int) bool {
	n := o.Tree.Nodes[i]
	return n.Has("editable") && (n.Role == "entry" || n.Role == "password text" ||
		n.Role == "text" && !strings.Contains(n.Text, "\n") && !n.Has("multi-line"))
}

// IsControl reports whether a node can be operated ([atspi.Operable]), and is no field
// ([atspi.Field]), whose text may be all that there is to work on.
func (o *Observation) IsControl(i int) bool {
	role := o.Tree.Nodes[i].Role
	return atspi.Operable(role) && !atspi.Field(role)
}

// WholeWithout reports whether what held an element of another observation is still
// there and shows all that it has, so that an element that is not found has gone from
// it: the window is there under the same title and can be seen, and nothing is scrolled
// out of what held it.
func (o *Observation) WholeWithout(was *Observation, i int) bool {
	w, parent := was.view().window[i], was.Tree.Nodes[i].Parent
	if w < 0 || parent < 0 {
		return false
	}
	there := slices.ContainsFunc(o.Windows, func(u Window) bool {
		return !u.Hidden && u.Title == was.Windows[w].Title && u.PID == was.Windows[w].PID
	})
	holder := slices.Index(Match(was.Tree.Nodes, o.Tree.Nodes), parent)
	return there && holder >= 0 && o.view().showsAll(holder)
}

// showsAll reports whether a node can be seen, and neither it nor what it is in has
// children that are scrolled out of view.
func (v *view) showsAll(i int) bool {
	if !v.readable(i) {
		return false
	}
	for ; i >= 0; i = v.Tree.Nodes[i].Parent {
		if v.Tree.Nodes[i].Beyond != (atspi.Beyond{}) {
			return false
		}
	}
	return true
}
