package screen

import (
	"image"
	"slices"
	"strings"

	"desktop-agent/screen/atspi"
)

// A layout is being made of the nodes of a window: the elements that are told, in
// the order in which one reads them.
type layout struct {
	*view
	kids        [][]int
	root        int
	front       bool // the window has the focus, or nobody knows
	message     bool // it is a dialog that says something
	rightToLeft bool
	labels      map[string]int  // what fields are called by their labels, and how many: these are not told again
	helps       map[string]bool // that have been told: of several buttons, one says what they are for
	menus       []*element      // that are open: they lie above the rest
	dialogs     []*element      // of a page: they are told before the rest of it, the inner ones first
}

// An element is told in the list: a node, or several.
type element struct {
	node   int // -1 for several
	word   string
	alone  string      // instead of word, where the line above is left out; "" for the same
	hit    image.Point // where a click hits it, in device pixels
	at     image.Point // the same in pixels of the image
	placed bool
	id     bool            // it is told with its ID
	name   string          // in quotes, by which a reader knows it; "" if it has none
	untold bool            // its place follows from the element before it, or above: see [untell]
	prose  bool            // it is for reading
	drawn  bool            // it is known by its picture alone, see [RoleIcon]
	box    image.Rectangle // what can be seen of it
	kids   []*element
	rank   rank
	count  int    // of the nodes that it tells
	apart  bool   // it has a line of its own
	gray   string // why nothing can be done with it, where its name is all there is to tell: "disabled"
}

// An above is what the line of a node leaves to its children: what kind it is, and
// what they need not say again.
type above struct{ role, name, text string }

func (v *view) newLayout(g group) *layout {
	l := &layout{
		view: v, root: g.root, front: g.window < 0 || v.Windows[g.window].Focused || v.Windows[g.window].Popup,
		kids: make([][]int, len(v.Tree.Nodes)), labels: map[string]int{}, helps: map[string]bool{}, rightToLeft: v.rightToLeft(g.root),
	}
	root := v.Tree.Nodes[g.root]
	l.message = root.Role == "alert" || root.Role == "dialog" || root.Has("modal")
	l.front = l.front || root.Has("modal")
	for i := g.root + 1; i < len(v.Tree.Nodes) && v.Tree.Nodes[i].Parent >= g.root; i++ {
		n := v.Tree.Nodes[i]
		l.kids[n.Parent] = append(l.kids[n.Parent], i)
		if called := plainLabel(n.Called()); called != "" && field(n) && l.readable(i) {
			l.labels[called]++
		}
	}
	return l
}

// field reports whether a node is a control that a text beside it is the label of: also one
// that is no [atspi.Field], such as a check box, or a button without a name of its own.
func field(n atspi.Node) bool {
	switch n.Role {
	case "push button", "toggle button", "link", "menu", "menu item", "check menu item", "radio menu item", "list item", "tree item", "page tab", "icon":
		return n.Name == "" && (n.LabelFrom == atspi.LabelRelation || n.LabelFrom == atspi.LabelBeside)
	}
	return isOperable(n)
}

// plainLabel is a label without what only sets it off.
func plainLabel(s string) string { return strings.TrimRight(strings.TrimSpace(s), ":： ") }

// lines tells the window.
func (l *layout) lines() []textLine {
	root := l.Tree.Nodes[l.root]
	list := l.below(l.root, above{root.Role, root.Name, ""})
	return l.appendLines(nil, slices.Concat(l.menus, l.dialogs, list), 0)
}

// below returns the elements inside of a node.
func (l *layout) below(i int, in above) (list []*element) {
	order := l.inOrder(i)
	for k := 0; k < len(order); k++ {
		c := order[k]
		if text, next := l.run(order, k); next > k+1 {
			if e := l.joined(order[k:next], text, in); e != nil {
				list = append(list, e)
			}
			k = next - 1
			continue
		}
		if l.opens(c) {
			l.menu(i, order[k:])
			break
		}
		list = append(list, l.elements(c, in)...)
	}
	return list
}

// opens reports whether a node is one of an open menu of its parent.
func (v *view) opens(i int) bool {
	n := &v.Tree.Nodes[i]
	return n.Parent >= 0 && outside(n, &v.Tree.Nodes[n.Parent])
}

// menu makes the open menu of a node.
func (l *layout) menu(i int, items []int) {
	n := l.Tree.Nodes[i]
	at := len(l.menus)
	e := &element{node: -1, word: "open " + strings.TrimSuffix(shortRole(n), "box"), rank: rankFront, apart: true}
	if p := n.Parent; n.Called() == "" && p >= 0 && popsUp(l.Tree.Nodes[p].Role) {
		n.Name = l.Tree.Nodes[p].Called()
	}
	if n.Called() != "" {
		e.word += " " + quote(n.Called(), maxName)
	}
	for _, c := range items {
		e.kids = append(e.kids, l.elements(c, above{"menu", n.Called(), ""})...)
	}
	if len(e.kids) > 0 {
		l.menus = slices.Insert(l.menus, at, e) // before those that open from it
	}
}

// run returns the text that a run of children makes, from one on, and where it ends:
// pages tell a paragraph in pieces, wherever the letters look otherwise.
func (v *view) run(list []int, from int) (text string, end int) {
	for end = from; end < len(list); end++ {
		n := v.Tree.Nodes[list[end]]
		if n.Role != "static" || !v.leaf(list[end]) || !v.readable(list[end]) {
			break
		}
		if n.Name != "" {
			text += n.Name
		} else {
			text += n.Text
		}
	}
	return text, end
}

// joined makes one element of a run of texts; nil if it has been told.
func (l *layout) joined(nodes []int, text string, in above) *element {
	if text = strings.TrimSpace(text); text == "" || text == in.name || text == in.text {
		return nil
	}
	n := l.Tree.Nodes[nodes[0]]
	n.Name, n.Text = text, ""
	e := &element{node: -1, box: l.area(nodes[0]), rank: l.rankOf(n, false), count: len(nodes), prose: true}
	e.hit, e.at, e.placed = l.pointOf(nodes[0])
	for _, i := range nodes[1:] {
		e.box = e.box.Union(l.area(i))
	}
	w := wording{role: true, message: l.message || l.inDialog(nodes[0])}
	e.word, e.name = w.word(n), w.known(n)
	return e
}

// elements returns the element of a node, or those inside of it if it tells nothing
// by itself. A dialog of a page is kept for the front.
func (l *layout) elements(i int, in above) []*element {
	if n := l.Tree.Nodes[i]; n.Role == "dialog" && pageDialog(n) && l.readable(i) {
		was := l.message
		l.message = true
		list := l.parts(i, above{})
		l.message = was
		l.dialogs = append(l.dialogs, list...)
		return nil
	}
	return l.parts(i, in)
}

// parts is elements for any node.
func (l *layout) parts(i int, in above) []*element {
	n := l.Tree.Nodes[i]
	if !l.readable(i) {
		return l.below(i, in)
	}
	if n.Role == "table" || n.Role == "tree table" {
		if e := l.table(i, in); e != nil {
			return []*element{e}
		}
	}
	if n.Role == "document web" && n.Text == "" && !l.tells(i) && !l.operates(i) { // else it looks as if it were empty
		word := wording{role: true}.word(n) + ", the program tells no text of it"
		return []*element{{node: i, word: word, box: l.area(i), rank: l.rankOf(n, true), count: 1, prose: true, apart: true}}
	}
	operable := isOperable(n)
	if n.Role == "menu bar" {
		if kids := l.below(i, above{role: n.Role}); len(kids) > 0 {
			return []*element{{node: i, word: "menus", box: l.area(i), kids: kids, rank: kids[0].rank}}
		}
	}
	name := n.Name
	if n.Role == "scroll bar" {
		n.Name, name = "", "" // it says that it is one
	}
	if operable && n.Called() == "" {
		name = l.label(i)
	}
	own := name
	if own == "" && prose(n) {
		own = strings.TrimSpace(n.Text)
	}
	if l.claimed(n, own) {
		return l.below(i, above{n.Role, own, own})
	}
	if !operable && !l.telling(n, own, in) || n.Role == "menu" && own == "" && n.Text == "" && len(l.kids[i]) > 0 {
		return l.dissolved(i, in)
	}
	if text := l.readIn(i); operable && text != "" {
		n.Text, n.Read = text, true
	}
	kept := above{n.Role, own, strings.TrimSpace(n.Text)}
	if own == "" {
		kept.name = n.Label
	}
	var kids []*element
	before := len(l.dialogs)
	if !n.Read {
		kids = l.below(i, kept)
	}
	if len(kids) == 0 && decoration(n) {
		return nil
	}
	if !operable && len(kids) > 0 {
		if merged := l.container(n, kids); merged != nil {
			return merged
		}
	}
	e := &element{node: i, box: l.area(i), kids: kids, rank: l.rankOf(n, operable), count: 1, prose: prose(n)}
	if !operable && (len(kids) > 0 || len(l.dialogs) > before) && !atspi.Clickable(n.Role) { // it stands for what is inside
		if strings.HasPrefix(n.Role, "document") && n.Role != "document web" {
			n.Name, name = "", "" // it is that of the window
		}
		e.word = wording{role: !generic(n.Role) || n.Called() == "", name: name}.word(n)
		return []*element{e}
	}
	e.drawn = isDrawn(n)
	switch {
	case n.Read && in.role == "menu": // its list says that its entries were read
		n.Name, n.Text, n.Read, name = n.Text, "", false, n.Text
	case n.Role == "menu" && n.Text != "" && len(l.kids[i]) > 0:
		n.Read = l.Tree.Nodes[l.kids[i][0]].Read
	}
	l.tell(e, n, wording{id: !e.prose, role: !usual(in.role, n.Role), message: l.message || l.inDialog(i), name: name})
	if n.Role == "combo box" || l.hasArrow(i) { // with what can be typed into, or clicked, beside it
		e.kids = nil
		return append([]*element{e}, kids...)
	}
	return []*element{e}
}

// hasArrow reports whether a node is a button that has an arrow to click besides.
func (l *layout) hasArrow(i int) bool {
	return len(l.kids[i]) > 0 && l.Tree.Nodes[l.kids[i][0]].Role == atspi.RoleArrow
}

// readIn returns the line that was read from the picture of a node. Several are told one
// by one, as whoever masks them knows them.
func (l *layout) readIn(i int) string {
	if kids := l.kids[i]; len(kids) == 1 && l.Tree.Nodes[kids[0]].Read {
		return l.Tree.Nodes[kids[0]].Text
	}
	return ""
}

// dissolved returns what is in a node that tells nothing by itself: with its kind
// above, if that is shorter than the kind of each.
func (l *layout) dissolved(i int, in above) []*element {
	const many = 3
	role := l.Tree.Nodes[i].Role
	switch role {
	case "tool bar", "list", "list box", "tree", "page tab list", "menu", "popup menu":
		if len(l.kids[i]) < many {
			break
		}
		if kids := l.below(i, above{role, in.name, in.text}); len(kids) > 0 {
			word := shortRole(l.Tree.Nodes[i])
			if beyond := beyond(l.Tree.Nodes[i].Beyond); beyond != "" {
				word += " (" + beyond + ")"
			}
			return []*element{{node: i, word: word, box: l.area(i), kids: kids, rank: kids[0].rank}}
		}
		return nil
	}
	return l.below(i, in)
}

// claimed reports whether a text is the label of a field, which tells it. Each field
// has one.
func (l *layout) claimed(n atspi.Node, own string) bool {
	called := plainLabel(own)
	if n.Role != "label" && n.Role != "static" || !prose(n) || l.labels[called] == 0 {
		return false
	}
	l.labels[called]--
	return true
}

// telling reports whether a node that is no control says something that was not
// said above it.
func (l *layout) telling(n atspi.Node, own string, in above) bool {
	if n.Beyond != (atspi.Beyond{}) || n.Has("focused", "selected") {
		return true
	}
	said := own == "" || own == in.name || own == in.text
	return !said || n.Text != "" && !prose(n) || n.Label != "" && n.Label != in.name
}

// decoration reports whether a node is a picture that tells nothing.
func decoration(n atspi.Node) bool {
	switch n.Role {
	case "separator":
		return true
	case "icon", "image", "animation", "ruler", "menu":
		return !isDrawn(n) && n.Called() == "" && n.Text == "" && !n.Has("focused", "selected", "checked")
	}
	return false
}

// container returns the elements that stand for a container and what is in it, where
// they need no line for it; nil if they do.
func (l *layout) container(n atspi.Node, kids []*element) []*element {
	if n.Beyond != (atspi.Beyond{}) {
		return nil
	}
	name := n.Called()
	focus := func(e *element) bool { return e.rank == rankFocus }
	if name == "" && n.Text == "" { // it is kept for its states, which those inside have too
		if slices.ContainsFunc(kids, focus) || !n.Has("focused", "selected") || n.Has("focused") && l.focusInside(kids) {
			return kids
		}
		return nil
	}
	if len(kids) != 1 || n.Has("focused", "selected") {
		return nil
	}
	kid := kids[0]
	if kid.node < 0 {
		return nil
	}
	inner := l.Tree.Nodes[kid.node]
	switch {
	case len(kid.kids) > 0 && generic(n.Role) && !isOperable(inner):
		return kids
	case isOperable(inner) && inner.Called() == name:
		return kids
	case isOperable(inner) && inner.Called() == "" && len(kid.kids) == 0 && l.label(kid.node) == "":
		inner.Label = name
		l.tell(kid, inner, wording{id: true, role: true})
		return kids
	}
	return nil
}

func (l *layout) focusInside(kids []*element) bool {
	return slices.ContainsFunc(kids, func(e *element) bool { return e.rank == rankFocus || l.focusInside(e.kids) })
}

// generic reports whether the role only groups what is inside.
func generic(role string) bool {
	switch role {
	case "panel", "filler", "grouping", "section", "scroll pane", "viewport", "split pane", "layered pane", "root pane":
		return true
	}
	return false
}

// usual reports whether children of a role are so often of the other that the role
// need not be told.
func usual(parent, child string) bool {
	switch parent {
	case "tool bar":
		return child == "push button" || child == "toggle button" // that it is on is told
	case "menu bar":
		return child == "menu"
	case "menu", "popup menu":
		return child == "menu item" || child == RoleTextLine // of an open list
	case "list", "list box":
		return child == "list item"
	case "tree":
		return child == "tree item"
	case "page tab list":
		return child == "page tab"
	case "table", "tree table":
		return child == "table cell"
	}
	return strings.HasPrefix(parent, "document") && child == "paragraph"
}

// tell words the element of a node. Of what cannot be acted on now the name is told,
// if it has no more.
func (l *layout) tell(e *element, n atspi.Node, w wording) {
	if !n.Has("disabled") {
		e.hit, e.at, e.placed = l.pointOf(e.node)
	}
	why := ""
	switch {
	case n.Has("disabled"):
		why = "disabled"
	case !e.placed && !e.prose && !l.odd[l.view.root[e.node]]:
		why = "out of reach"
		n.States = append(slices.Clone(n.States), why)
	}
	bare := n
	bare.States = slices.DeleteFunc(slices.Clone(n.States), func(s string) bool { return s == why })
	if why != "" && n.Text == "" && len(shownStates(bare)) == 0 && (n.Called() != "" || w.name != "") {
		e.gray, n, w.id = why, bare, false
	}
	if n.Help != "" && l.helps[n.Help] {
		n.Help = ""
	}
	l.helps[n.Help] = true
	e.word, e.id, e.name = w.word(n), w.id, w.known(n)
}

// inDialog reports whether a node is in a dialog that a page shows in its own window.
func (v *view) inDialog(i int) bool {
	return slices.ContainsFunc(v.boxes, func(d int) bool { return pageDialog(v.Tree.Nodes[d]) && atspi.Within(v.Tree.Nodes, i, d) })
}

// rankOf says how soon a node is left out.
func (l *layout) rankOf(n atspi.Node, operable bool) rank {
	switch {
	case n.Has("focused"):
		return rankFocus
	case l.front && (operable || n.Role == "table cell" || l.message): // cells are what a spreadsheet is about
		return rankFront
	case l.front:
		return rankFrontRest
	case operable:
		return rankBack
	}
	return rankBackRest
}

// label returns the name of the first node with a name in a node, if it comes
// soon: rows of a list often have none, but a label.
func (v *view) label(i int) string {
	const soon = 8
	for j := i + 1; j < min(i+soon, len(v.Tree.Nodes)) && v.Tree.Nodes[j].Depth > v.Tree.Nodes[i].Depth; j++ {
		if n := v.Tree.Nodes[j]; n.Name != "" && !isOperable(n) {
			return n.Name
		}
	}
	return ""
}
