package atspi

import (
	"cmp"
	"image"
	"slices"
	"strings"
	"unicode"
)

// What an object is to another: AtspiRelationType
// (https://docs.gtk.org/atspi2/enum.RelationType.html).
const (
	relationLabelFor   = 1
	relationLabelledBy = 2
	relationFlowsTo    = 10
	relationFlowsFrom  = 11
)

const (
	maxLabels   = 200 // labels of one program that are asked what they are for
	soon        = 8   // nodes after a row or a button among which its label is looked for
	maxBeside   = 60  // runes of a text that stands next to a field and can be its label
	besideLeft  = 250 // pixels from such a text on the left to its field
	besideAbove = 24  // and from one above
	alike       = 8   // pixels by which their left edges may differ, if it is above
	maxNear     = 16  // texts near one field that are looked at: more of them are no labels
)

// A naming is what an object says about itself beside its name.
type naming struct {
	label       string
	from        *object // which the program says is the label, if that is in the tree
	description string
	takenFor    bool // it is the label of something
}

// call asks for what tells the purpose of an object where its name does not. The
// name is known.
func (w *walk) call(o *object) {
	if o.wantsLabel() {
		w.relations(o, func(kind uint32, ref reference) {
			if kind != relationLabelledBy {
				return
			}
			w.property(ref, accessible, "Name", func(v any) {
				name, _ := v.(string)
				o.label = strings.TrimSpace(o.label + " " + cut(strings.TrimSpace(name), maxName))
			})
			if label := w.seen[ref]; label != nil {
				o.from, label.takenFor = label, true
			}
		})
	}
	if o.role.described() {
		w.property(o.ref, accessible, "Description", func(v any) {
			s, _ := v.(string)
			o.description = cut(strings.TrimSpace(s), maxName)
		})
	}
}

// relations asks for an object's relations to other objects of its program.
func (w *walk) relations(o *object, then func(kind uint32, ref reference)) {
	w.ask(o.ref, accessible, "GetRelationSet", func(body []any) {
		list, _ := first[[]any](body)
		for _, v := range list {
			pair, _ := v.([]any)
			if len(pair) != 2 {
				continue
			}
			kind, _ := pair[0].(uint32)
			for _, ref := range references(pair[1:]) {
				if ref.name == w.root.name {
					then(kind, ref)
				}
			}
		}
	})
}

// wantsLabel reports whether an object is of use only to who knows what it is for,
// and its name does not say: a combo box has the name of what is selected, if any.
func (o *object) wantsLabel() bool {
	if o.role == roleComboBox {
		return true
	}
	return o.name == "" && (o.role.field() || o.role.toggles()) && !o.states.has(stateMultiLine)
}

// askLabels asks the labels of a program what they are for, if there are fields
// that did not tell what is their label.
func (w *walk) askLabels() (asked bool) {
	nameless := func(o *object) bool { return o.visible && o.wantsLabel() && o.label == "" }
	if !anyObject(w.windows, func(o *object) bool { return nameless(o) && o.role.field() }) {
		return false
	}
	labels := 0
	anyObject(w.windows, func(o *object) bool {
		if o.visible && o.role == roleLabel && o.name != "" && !o.takenFor && o.ref.name == w.root.name {
			labels++
			w.relations(o, func(kind uint32, ref reference) {
				if of := w.seen[ref]; kind == relationLabelFor && of != nil && nameless(of) {
					of.label, of.from, o.takenFor = o.name, o, true
				}
			})
		}
		return labels >= maxLabels
	})
	return labels > 0
}

// anyObject reports whether one of some objects, or of those below, is as wanted.
func anyObject(objects []*object, wanted func(*object) bool) bool {
	for _, o := range objects {
		if o != nil && (wanted(o) || anyObject(o.children, wanted)) {
			return true
		}
	}
	return false
}

// labelled gives a node the label and the help that the program tells.
func (o *object) labelled(n *Node) {
	if o.label != "" && o.label != n.Name {
		n.Label, n.LabelFrom = o.label, LabelRelation
	}
	switch d := o.description; {
	case d == "" || d == n.Name || d == n.Label || d == strings.TrimSpace(n.Text):
	case n.Called() == "" && !o.role.field():
		n.Label, n.LabelFrom = d, LabelDescription
	default:
		n.Help = d
	}
}

// label gives labels to the nodes of a program that have none yet.
func (a *assembler) label() {
	for i := range a.nodes {
		n := &a.nodes[i]
		if n.Called() == "" && (Operable(n.Role) || a.objects[i].role == roleTableCell) && !a.objects[i].role.field() {
			if text := a.inside(i); text != "" {
				n.Label, n.LabelFrom = text, LabelChild
			}
		}
	}
	a.beside()
	for i := range a.nodes { // the entry in a combo box is for what that is for, and holds its value
		n := &a.nodes[i]
		if n.Parent < 0 || !a.objects[i].role.field() || a.objects[n.Parent].role != roleComboBox {
			continue
		}
		combo := &a.nodes[n.Parent]
		if n.Called() == "" {
			n.Label, n.LabelFrom = combo.Label, combo.LabelFrom
		}
		if combo.Text == "" {
			combo.Text = n.Text
		}
	}
	for i := range a.nodes { // a description is a poor label of a field, but better than none
		if n := &a.nodes[i]; n.Called() == "" && n.Help != "" && Operable(n.Role) {
			n.Label, n.LabelFrom, n.Help = n.Help, LabelDescription, ""
		}
	}
}

// inside returns the name of the first node with a name in a node, if it comes
// soon: rows of a list often have none, but a label.
func (a *assembler) inside(i int) string {
	for j := i + 1; j < min(i+soon, len(a.nodes)) && a.nodes[j].Depth > a.nodes[i].Depth; j++ {
		n := a.nodes[j]
		words := strings.ContainsFunc(n.Name, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
		if words && !Operable(n.Role) && a.objects[j].role != roleImage { // not the bullet of a list
			return n.Name
		}
	}
	return ""
}

// beside gives fields that no relation names the text that stands before them, on their
// left or in what is laid out from right to left on their right, or above them. A text is
// the label of one field.
func (a *assembler) beside() {
	a.mirror()
	type pair struct{ field, label, distance int }
	var pairs []pair
	for i := range a.nodes {
		if !a.unlabelled(i) {
			continue
		}
		near := 0
		for j := range a.nodes {
			if !a.near(i, j) || !a.canLabel(j) || a.root(i) != a.root(j) {
				continue
			}
			if near++; near <= maxNear {
				if d, ok := a.distance(i, j); ok {
					pairs = append(pairs, pair{i, j, d})
				}
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.distance, b.distance) })
	taken := map[int]bool{}
	for _, p := range pairs {
		if n := &a.nodes[p.field]; n.Label == "" && !taken[p.label] {
			n.Label, n.LabelFrom, taken[p.label] = a.nodes[p.label].Name, LabelBeside, true
		}
	}
}

// unlabelled reports whether a node is a field of which nothing says what it is for.
func (a *assembler) unlabelled(i int) bool {
	n, o := a.nodes[i], a.objects[i]
	inCombo := n.Parent >= 0 && a.objects[n.Parent].role == roleComboBox
	// LibreOffice has toggle buttons for combo boxes, which tell nothing at all.
	field := o.role.field() || o.role == roleToggleButton
	return field && o.wantsLabel() && n.Label == "" && !inCombo &&
		(n.Name == "" || n.Name == n.Text) // the name of a combo box may be what is selected in it
}

// canLabel reports whether a node may be the label of something next to it.
func (a *assembler) canLabel(i int) bool {
	n, o := a.nodes[i], a.objects[i]
	return (o.role == roleLabel || o.role == roleStatic) && n.Name != "" && !o.takenFor && len(n.Name) <= 4*maxBeside &&
		(n.Parent < 0 || !Clickable(a.nodes[n.Parent].Role))
}

// root returns the index of the window that a node is in.
func (a *assembler) root(i int) int {
	for a.nodes[i].Parent >= 0 {
		i = a.nodes[i].Parent
	}
	return i
}

// mirror notes the boxes of the nodes as they would be were all windows laid out from
// left to right.
func (a *assembler) mirror() {
	a.boxes = make([]image.Rectangle, len(a.nodes))
	for first := 0; first < len(a.nodes); {
		end := first + 1
		for end < len(a.nodes) && a.nodes[end].Parent >= 0 {
			end++
		}
		mirrored := RightToLeft(a.nodes[first:end])
		for i := first; i < end; i++ {
			a.boxes[i] = a.nodes[i].Box
			if mirrored {
				a.boxes[i].Min.X, a.boxes[i].Max.X = -a.nodes[i].Box.Max.X, -a.nodes[i].Box.Min.X
			}
		}
		first = end
	}
}

// near reports whether a node lies where the label of a field may.
func (a *assembler) near(field, label int) bool {
	f := a.boxes[field]
	return a.boxes[label].Overlaps(image.Rect(f.Min.X-besideLeft-1, f.Min.Y-besideAbove-1, f.Min.X+alike+1, f.Max.Y+1))
}

// distance returns how far a text is from the field that it may be the label of: it
// is in the same row on the left, with no control between them, or right above, once the
// window is laid out from left to right.
func (a *assembler) distance(field, label int) (pixels int, ok bool) {
	f, l := a.boxes[field], a.boxes[label]
	middle := (l.Min.Y + l.Max.Y) / 2
	if gap := f.Min.X - l.Max.X; middle >= f.Min.Y && middle < f.Max.Y && gap > -alike && gap <= besideLeft {
		between := image.Rect(l.Max.X, l.Min.Y, f.Min.X, l.Max.Y)
		for i, n := range a.nodes {
			if i != field && (Operable(n.Role) || a.canLabel(i) && i != label) && a.boxes[i].Overlaps(between) && !f.In(a.boxes[i]) {
				return 0, false
			}
		}
		return max(gap, 0), true
	}
	left := l.Min.X - f.Min.X
	if gap := f.Min.Y - l.Max.Y; gap > -alike && gap <= besideAbove && left > -alike && left <= alike {
		return besideLeft + gap, true // what stands on the left comes first
	}
	return 0, false
}
