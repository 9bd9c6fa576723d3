package screen

import (
	"cmp"
	"slices"
	"strings"

	"desktop-agent/screen/atspi"
)

// A Weight says how much a change is worth telling; less is more.
type Weight int

// The weights of changes.
const (
	OfWindow  Weight = iota // a window or a dialog
	OfMenu                  // a menu that opened or closed, or another window that pops up
	OfText                  // what an element says or holds
	OfElement               // an element that came or went
	OfState                 // whether it is enabled, checked, selected, open; the focus, the caret
)

// A DifferenceKind is what became of an element.
type DifferenceKind string

// The kinds of changes.
const (
	Came   DifferenceKind = "came"
	Went   DifferenceKind = "went"
	Turned DifferenceKind = "turned" // it is another than it was
)

// A Difference is what became of one element between two observations, or of several to
// which the same happened.
type Difference struct {
	Weight   Weight
	Kind     DifferenceKind
	What     string   // which element, in words, such as `entry "Width"`; what a program says in it is quoted
	From, To string   // the text, title or name of one that turned; or its new state in To, such as "no longer checked"
	Text     bool     // From and To are what a program says
	With     []string // what those are called that are in what came or went, or of which there are Count
	Count    int      // of the elements in what came or went, or to which this happened; 0 for one alone
}

// Differences tells what changed between two observations, the weightiest first and else
// in the order of the screen. Elements are compared, not lines: see [Match]. What
// nobody could see on either screen is left out, and so is what only moved or was covered;
// what came with a window, a menu or a container is told with that. What the other screen may
// only lack neither came nor went: see [Observation.Lacks].
func Differences(before, now *Observation) []Difference {
	c := &comparison{was: before.view(), is: now.view(), said: map[[2]string]bool{}, by: map[int][2]string{}}
	pairs := Match(before.Tree.Nodes, now.Tree.Nodes)
	c.before, c.after = make(map[int]int, len(pairs)), make(map[int]int, len(pairs))
	for i, j := range pairs {
		if j >= 0 {
			c.before[i], c.after[j] = j, i
		}
	}
	c.windows()
	c.menus()
	c.elements(c.is, c.was, c.before, Came)
	c.elements(c.was, c.is, c.after, Went)
	c.turned()
	c.focus()
	list := crowds(c.list)
	slices.SortStableFunc(list, func(a, b Difference) int { return cmp.Compare(a.Weight, b.Weight) })
	return list
}

// A comparison is being made of two observations.
type comparison struct {
	was, is       *view
	before, after map[int]int // of nodes that are on both, the index in the other
	list          []Difference
	told          [2]map[int]bool    // windows that came, of is; and that went, of was
	opened        [2]map[int]bool    // the same of processes with a menu that opened or closed
	said          map[[2]string]bool // titles that changed, from and to
	by            map[int][2]string  // texts that changed, by node
}

// Lacks returns why an observation may only lack a node that another one, on, has: its
// program did not answer, or none did, or not all of the picture was read; or it was read in
// place of what its program tells. "" if the node would be there.
func (o *Observation) Lacks(n atspi.Node, on *Observation) (why string) {
	if name, hangs := o.Tree.Hanging(n.PID); hangs {
		return name + " did not answer then"
	}
	if !n.Read {
		if o.Tree.Err != nil {
			return "no program told anything then"
		}
		return ""
	}
	name, hangs := on.Tree.Hanging(n.PID)
	switch {
	case o.Unread:
		return "the picture was not all read then"
	case hangs:
		return "it was read because " + name + " did not answer"
	case on.Tree.Err != nil && o.Tree.Err == nil:
		return "it was read because no program told anything"
	}
	return ""
}

// recut reports whether a node is text that was read on one screen along with what its
// program tells on the other: it is in other lines then, and neither came, went nor turned.
func (c *comparison) recut(n atspi.Node) bool {
	return n.Read && (c.was.Tree.Hangs(n.PID) != c.is.Tree.Hangs(n.PID) || (c.was.Tree.Err == nil) != (c.is.Tree.Err == nil))
}

// windows compares the windows.
func (c *comparison) windows() {
	pairs := matchWindows(c.was.Windows, c.is.Windows)
	c.told = [2]map[int]bool{{}, {}}
	gone := map[int]bool{}
	for j := range c.was.Windows {
		gone[j] = true
	}
	focus := ""
	for i, w := range c.is.Windows {
		j := pairs[i]
		if w.Focused && j >= 0 && !c.was.Windows[j].Focused {
			focus = c.is.windowWords(i)
		}
		if j < 0 {
			c.told[0][i] = true
			continue
		}
		delete(gone, j)
		c.sameWindow(c.was.Windows[j], w)
	}
	for i := range c.is.Windows {
		if c.told[0][i] && !c.is.Windows[i].Popup {
			c.window(c.is, i, Came)
		}
	}
	for j := range c.was.Windows {
		if c.told[1][j] = gone[j]; gone[j] && !c.was.Windows[j].Popup {
			c.window(c.was, j, Went)
		}
	}
	if focus != "" {
		c.add(Difference{Weight: OfWindow, Kind: Turned, What: focus, To: "has the focus now"})
	}
}

func (c *comparison) sameWindow(was, is Window) {
	what := "window " + quote(was.Title, maxTitle)
	if was.Title != is.Title {
		c.said[[2]string{was.Title, is.Title}] = true
		c.add(Difference{Weight: OfWindow, Kind: Turned, What: "the title of a window", From: was.Title, To: is.Title, Text: true})
	}
	switch {
	case was.Popup:
	case was.Hidden != is.Hidden && is.Hidden:
		c.add(Difference{Weight: OfWindow, Kind: Turned, What: what, To: "minimised"})
	case was.Hidden != is.Hidden:
		c.add(Difference{Weight: OfWindow, Kind: Turned, What: what, To: "no longer minimised"})
	case was.Box.Size() != is.Box.Size():
		c.add(Difference{Weight: OfWindow, Kind: Turned, What: what, To: "of another size"})
	case was.Box != is.Box:
		c.add(Difference{Weight: OfWindow, Kind: Turned, What: what, To: "moved"})
	}
}

// window tells a window that came or went, with what is in it.
func (c *comparison) window(v *view, i int, kind DifferenceKind) {
	ch := Difference{Weight: OfWindow, Kind: kind, What: v.windowWords(i)}
	if kind == Came && v.Windows[i].Focused {
		ch.What += ", with the focus"
	}
	for root, n := range v.Tree.Nodes {
		if n.Parent < 0 && v.window[root] == i {
			ch.With, ch.Count = v.tellInside(root)
		}
	}
	c.add(ch)
}

// windowWords says which window it is.
func (v *view) windowWords(i int) string {
	for root, n := range v.Tree.Nodes {
		if n.Parent < 0 && v.window[root] == i {
			return strings.TrimSuffix(v.header(group{window: i, root: root}), " focused")
		}
	}
	return strings.TrimSuffix(v.header(group{window: i, root: -1}), " focused")
}

// matchWindows returns for each window of now its index in before, or -1: by ID, else
// by title, else the one that its program had.
func matchWindows(before, now []Window) []int {
	pairs, taken := make([]int, len(now)), map[int]bool{}
	for i := range pairs {
		pairs[i] = -1
	}
	for _, same := range []func(a, b Window) bool{
		func(a, b Window) bool { return a.ID == b.ID && a.ID != 0 },
		func(a, b Window) bool { return (a.ID == 0 || b.ID == 0) && a.Title == b.Title && a.Class == b.Class },
		func(a, b Window) bool {
			return (a.ID == 0 || b.ID == 0) && a.PID == b.PID && a.Class == b.Class && a.Popup == b.Popup && a.Box == b.Box
		},
	} {
		for i, w := range now {
			for j, u := range before {
				if pairs[i] < 0 && !taken[j] && same(u, w) {
					pairs[i], taken[j] = j, true
				}
			}
		}
	}
	return pairs
}

// menus compares the open menus, and the other windows that pop up.
func (c *comparison) menus() {
	c.opened = [2]map[int]bool{{}, {}}
	for side, of := range []struct {
		v, other *view
		match    map[int]int
		kind     DifferenceKind
	}{{c.is, c.was, c.before, Came}, {c.was, c.is, c.after, Went}} {
		for p := range of.v.Tree.Nodes {
			items := of.v.openItems(p)
			if len(items) == 0 || of.other.Lacks(of.v.Tree.Nodes[p], of.v.Observation) != "" {
				continue
			}
			if j, ok := of.match[p]; ok && len(of.other.openItems(j)) > 0 {
				continue
			}
			names, count := of.v.names(items)
			if count == 0 {
				continue
			}
			c.opened[side][of.v.Tree.Nodes[p].PID] = true
			c.add(Difference{Weight: OfMenu, Kind: of.kind, What: "open " + strings.TrimSuffix(elementWords(of.v.menuOf(p)), "box"), With: names, Count: count})
		}
		for i, w := range of.v.Windows {
			if !c.told[side][i] || !w.Popup || w.Hidden || c.opened[side][w.PID] {
				continue
			}
			ch := Difference{Weight: OfMenu, Kind: of.kind, What: of.v.windowWords(i)}
			for root, n := range of.v.Tree.Nodes {
				if n.Parent < 0 && of.v.window[root] == i {
					ch.With, ch.Count = of.v.tellInside(root)
				}
			}
			if w.Title != "" || ch.Count > 0 || w.PID == 0 || !w.Passive() {
				c.add(ch)
			}
		}
	}
}

// menuOf is the node that an open menu is called by: its own or, for the list of a
// combo box, that.
func (v *view) menuOf(p int) atspi.Node {
	n := v.Tree.Nodes[p]
	if up := n.Parent; n.Called() == "" && up >= 0 && popsUp(v.Tree.Nodes[up].Role) {
		n = v.Tree.Nodes[up]
	}
	n.Text, n.States = "", nil
	return n
}

// openItems returns the children of a node that are an open menu.
func (v *view) openItems(p int) (items []int) {
	if !popsUp(v.Tree.Nodes[p].Role) {
		return nil
	}
	for j := p + 1; j < len(v.Tree.Nodes) && v.Tree.Nodes[j].Depth > v.Tree.Nodes[p].Depth; j++ {
		if v.Tree.Nodes[j].Parent == p && v.opens(j) {
			items = append(items, j)
		}
	}
	return items
}

// tellInside returns what is told of the nodes below one, and how many they are.
func (v *view) tellInside(i int) (names []string, count int) {
	var list []int
	for j := i + 1; j < len(v.Tree.Nodes) && v.Tree.Nodes[j].Depth > v.Tree.Nodes[i].Depth; j++ {
		list = append(list, j)
	}
	return v.names(list)
}

// names returns what nodes are called, and how many tell something.
func (v *view) names(list []int) (names []string, count int) {
	last := ""
	for _, i := range list {
		n := v.Tree.Nodes[i]
		if !v.worth(i) {
			continue
		}
		called := nameOf(n)
		if called == last { // the label of a row, and its text
			continue
		}
		if count++; called != "" {
			names, last = append(names, called), called
		}
	}
	return names, count
}

// nameOf is the name or text that a node is known by, quoted; "" if it has none.
func nameOf(n atspi.Node) string {
	switch called := n.Called(); {
	case isAddress(n) && n.Text != "":
		return n.Name + " " + quote(n.Text, maxName)
	case isAddress(n):
		return n.Name
	case called != "":
		return quote(called, maxName)
	case n.Text != "":
		return quote(strings.TrimSpace(n.Text), maxName)
	}
	return ""
}

// worth reports whether it is worth telling that a node came or went: it could be seen,
// and says something or is a control; of a button with an arrow the button is told.
func (v *view) worth(i int) bool {
	n := v.Tree.Nodes[i]
	if n.Parent < 0 || nameOf(n) == "" && !isOperable(n) || isEmptyCell(n) || isSheetHeader(n) || n.Role == "scroll bar" || n.Role == atspi.RoleArrow || isDrawn(n) || decoration(n) || !v.readable(i) {
		return false
	}
	if parent := v.Tree.Nodes[n.Parent]; !isOperable(n) && n.Text == "" && n.Called() != "" && n.Called() == parent.Called() {
		return false
	}
	return isOperable(n) || !generic(n.Role) && nameOf(n) != ""
}

// elements tells what is on one of the screens only, but for what is in windows and
// menus that are.
func (c *comparison) elements(v, other *view, match map[int]int, kind DifferenceKind) {
	side := 0
	if kind == Went {
		side = 1
	}
	covered := make([]bool, len(v.Tree.Nodes)) // told with what it is in
	for i, n := range v.Tree.Nodes {
		if n.Parent >= 0 && covered[n.Parent] {
			covered[i] = true
			continue
		}
		if _, same := match[i]; same || other.Lacks(n, v.Observation) != "" || c.recut(n) {
			continue
		}
		w := v.window[i]
		if w >= 0 && (c.told[side][w] || v.Windows[w].Popup && c.opened[side][n.PID]) || w == nowhere || v.opens(i) || v.popped[i] {
			covered[i] = true
			continue
		}
		names, count := v.tellInside(i)
		weight, whole := OfElement, n.Called() != "" && count > 1
		if pageDialog(n) {
			weight, whole = OfWindow, count > 0
		}
		switch {
		case v.worth(i) && count <= 1:
			c.add(Difference{Weight: weight, Kind: kind, What: elementWords(n)})
			covered[i] = true
		case whole && v.readable(i):
			c.add(Difference{Weight: weight, Kind: kind, What: elementWords(n), With: names, Count: count})
			covered[i] = true
		}
	}
}

// turned compares the nodes that are on both.
func (c *comparison) turned() {
	for i, n := range c.is.Tree.Nodes {
		j, ok := c.before[i]
		if !ok || c.recut(n) || !c.is.readable(i) && !c.was.readable(j) {
			continue
		}
		m := c.was.Tree.Nodes[j]
		known := m
		if known.Called() == "" {
			known.Name = n.Called()
		}
		if m.Called() != n.Called() && n.Parent >= 0 {
			bare := atspi.Node{Role: n.Role, States: n.States}
			c.text(i, elementWords(bare), m.Called(), n.Called())
			known = bare
		}
		known.Text, known.States = "", n.States
		if m.Text != n.Text {
			c.text(i, elementWords(known), m.Text, n.Text)
		} else if m.Caret != n.Caret && m.Caret > 0 && n.Caret > 0 {
			for _, where := range caret(focused(n)) {
				c.add(Difference{Weight: OfState, Kind: Turned, What: elementWords(known), To: where})
			}
		}
		if !slices.Equal(m.States, n.States) && !c.echoes(i, j) {
			c.states(elementWords(known)+c.ofRow(i), m, n)
		}
	}
}

// ofRow tells of a cell without a name, such as the box of a row that is ticked, in which
// row it is: what the first of those beside it with a name is called.
func (c *comparison) ofRow(i int) string {
	nodes := c.is.Tree.Nodes
	n := nodes[i]
	if n.Role != "table cell" || nameOf(n) != "" {
		return ""
	}
	for j := n.Parent + 1; n.Parent >= 0 && j < len(nodes) && nodes[j].Parent >= n.Parent; j++ {
		if m := nodes[j]; m.Parent == n.Parent && m.Called() != "" && sameRow(m.Box, n.Box) {
			return " of row " + quote(m.Called(), maxName)
		}
	}
	return ""
}

// echoes reports whether what a node is called, and its states on both screens, are those
// of the node that it is in: a row and its text turn together.
func (c *comparison) echoes(i, j int) bool {
	n, m := c.is.Tree.Nodes[i], c.was.Tree.Nodes[j]
	if n.Parent < 0 || m.Parent < 0 || n.Called() == "" {
		return false
	}
	up, was := c.is.Tree.Nodes[n.Parent], c.was.Tree.Nodes[m.Parent]
	return n.Called() == up.Called() && slices.Equal(n.States, up.States) && slices.Equal(m.States, was.States)
}

func focused(n atspi.Node) atspi.Node {
	n.States = []string{"focused"}
	return n
}

// text tells a text that changed, but where the window or what the node is in has
// changed in the same way.
func (c *comparison) text(i int, what, from, to string) {
	key := [2]string{strings.TrimSpace(from), strings.TrimSpace(to)}
	if key[0] == key[1] || c.said[key] {
		return
	}
	for p := c.is.Tree.Nodes[i].Parent; p >= 0; p = c.is.Tree.Nodes[p].Parent {
		if c.by[p] == key {
			return
		}
	}
	c.by[i] = key
	c.add(Difference{Weight: OfText, Kind: Turned, What: what, From: from, To: to, Text: true})
}

// states tells the states that a node gained or lost.
func (c *comparison) states(what string, was, is atspi.Node) {
	for _, s := range []string{"disabled", "checked", "indeterminate", "pressed", "selected", "expanded", "invalid", "read-only", "busy"} {
		if was.Has(s) == is.Has(s) || s == "pressed" && was.Has("checked") != is.Has("checked") || s == "selected" && (is.Role == "menu" || nameOf(is) == "") {
			continue
		}
		to := s
		switch {
		case s == "disabled" && was.Has(s):
			to = "enabled"
		case was.Has(s):
			to = "no longer " + s
		}
		c.add(Difference{Weight: OfState, Kind: Turned, What: what, To: to, With: listOf(nameOf(is))})
	}
}

func listOf(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

// focus tells where the focus went, within windows.
func (c *comparison) focus() {
	had, has := c.was.focusedNode(), c.is.focusedNode()
	if has < 0 || c.is.Tree.Nodes[has].Parent < 0 {
		return
	}
	if j, same := c.before[has]; same && had == j {
		return
	}
	n := c.is.Tree.Nodes[has]
	n.Text = ""
	c.add(Difference{Weight: OfState, Kind: Turned, What: elementWords(n), To: "has the focus now"})
}

func (c *comparison) add(ch Difference) { c.list = append(c.list, ch) }

// elementWords says which element it is: its kind and what it is called or, of one
// without a name, what it says.
func elementWords(n atspi.Node) string {
	kind := shortRole(n)
	if isAddress(n) {
		kind = "cell"
	}
	if called := nameOf(n); called != "" {
		return kind + " " + called
	}
	return kind
}
