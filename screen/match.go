package screen

import (
	"image"
	"slices"
	"strconv"

	"desktop-agent/screen/atspi"
)

// Match tells which nodes of two trees are the same elements: for each node of now
// the index of the one in before, or -1. Elements are the same if the program calls
// them so on the bus ([atspi.Node.Key]); LibreOffice, for one, makes new objects for
// every look, so what is left is matched from the windows down: a child is the one of
// the same parent, role and name, the first with the first; and what only holds a
// text, the one that stood in its place. A field whose label is another one is another
// field, wherever it stands.
func Match(before, now []atspi.Node) []int {
	m := matching{before: before, now: now, was: make([]int, len(now)), taken: make([]bool, len(before))}
	keys := make(map[objectKey]int, len(before))
	for i, n := range before {
		if n.Key != "" {
			keys[objectKey{n.PID, n.Key, n.Role}] = i
		}
	}
	for i, n := range now {
		m.was[i] = -1
		if n.Key == "" {
			continue
		}
		if j, ok := keys[objectKey{n.PID, n.Key, n.Role}]; ok && !m.taken[j] {
			m.pair(i, j)
		}
	}
	// A window whose title changed is found by its place only, and then what is in it
	// by role and name.
	for m.open() && (m.descend(elementOf) || m.descend(contentOf) || m.descend(standInOf) || m.descend(m.onlyOf())) {
	}
	return m.was
}

type objectKey struct {
	pid       int
	key, role string
}

// A matching is being made of two trees.
type matching struct {
	before, now []atspi.Node
	was         []int  // for each node of now, its index in before; -1
	taken       []bool // for each node of before, whether it has been found
}

// open reports whether a node of each tree has no pair yet.
func (m *matching) open() bool { return slices.Contains(m.taken, false) && slices.Contains(m.was, -1) }

func (m *matching) pair(now, before int) { m.was[now], m.taken[before] = before, true }

// descend pairs nodes whose parents are paired and that look the same. Parents come
// before children, so one pass does all that look so. It reports whether there was one.
func (m *matching) descend(look func(parent int, n atspi.Node) (sibling, bool)) (found bool) {
	left := make(map[sibling][]int, len(m.before))
	for j, n := range m.before {
		if !m.taken[j] {
			if s, ok := look(n.Parent, n); ok {
				left[s] = append(left[s], j)
			}
		}
	}
	for i, n := range m.now {
		if m.was[i] >= 0 {
			continue
		}
		parent := -1
		if n.Parent >= 0 {
			if parent = m.was[n.Parent]; parent < 0 {
				continue
			}
		}
		s, ok := look(parent, n)
		if !ok {
			continue
		}
		list := left[s]
		k := slices.IndexFunc(list, func(j int) bool { return !atspi.Field(n.Role) || !n.Relabelled(m.before[j]) })
		switch {
		case k == 0:
			left[s] = list[1:]
		case k > 0:
			left[s] = slices.Concat(list[:k], list[k+1:])
		default:
			continue
		}
		m.pair(i, list[k])
		found = true
	}
	return found
}

// A sibling is what tells a node from others below the same parent.
type sibling struct {
	parent, pid int // the parent's index in before; the process, for windows
	role, name  string
	box         image.Rectangle
}

// elementOf knows a node by its role and name, or text that stands for one; a field that
// has neither name nor label, by its place.
func elementOf(parent int, n atspi.Node) (sibling, bool) {
	if n.Called() == "" && atspi.Field(n.Role) {
		return sibling{parent: parent, pid: n.PID, role: n.Role, box: n.Box}, true
	}
	if isDrawn(n) {
		return sibling{}, false // see contentOf
	}
	name := n.Called()
	if name == "" && (n.Read || prose(n)) {
		name = n.Text
	}
	return sibling{parent: parent, pid: n.PID, role: n.Role, name: name}, true
}

// Twins returns the indexes of the other nodes below the same parent that are of the role of a
// node and called the same: unless a key tells them apart, [Match] does so by their order alone,
// and takes one for another once one goes or comes.
func Twins(nodes []atspi.Node, node int) (list []int) {
	is, ok := elementOf(nodes[node].Parent, nodes[node])
	for i, n := range nodes {
		if s, _ := elementOf(n.Parent, n); ok && i != node && s == is {
			list = append(list, i)
		}
	}
	return list
}

// contentOf knows a node by its place: for roles whose name is what they show, not
// what they are called. A web page of another title is known by its object alone: where
// one went, there is another page, and other things on it.
func contentOf(parent int, n atspi.Node) (sibling, bool) {
	shows := n.Role == RoleTextLine || isDrawn(n) || atspi.ShowsContent(n.Role) || atspi.Titled(n.Role) && n.Role != "document web"
	return sibling{parent: parent, pid: n.PID, role: n.Role, box: n.Box}, shows
}

// standInOf knows a node that shows content by its role alone: texts grow, and move. A
// field is known by its label, and not without one: where one went, another is no
// stand-in.
func standInOf(parent int, n atspi.Node) (sibling, bool) {
	if atspi.Field(n.Role) {
		name := n.Lasting()
		return sibling{parent: parent, pid: n.PID, role: n.Role, name: name}, name != ""
	}
	return sibling{parent: parent, pid: n.PID, role: n.Role}, n.Role == RoleTextLine || atspi.ShowsContent(n.Role)
}

// onlyOf knows a field of which nobody tells what it is for by its role, where it was, and is,
// the only one of its role below its parent: what it shows may have made it wider.
func (m *matching) onlyOf() func(parent int, n atspi.Node) (sibling, bool) {
	of := func(parent int, n atspi.Node) sibling { return sibling{parent: parent, pid: n.PID, role: n.Role} }
	before, now := map[sibling]int{}, map[sibling]int{}
	for _, n := range m.before {
		before[of(n.Parent, n)]++
	}
	for _, n := range m.now {
		if n.Parent >= 0 && m.was[n.Parent] >= 0 {
			now[of(m.was[n.Parent], n)]++
		}
	}
	return func(parent int, n atspi.Node) (sibling, bool) {
		s := of(parent, n)
		return s, atspi.Field(n.Role) && n.Lasting() == "" && before[s] == 1 && now[s] == 1
	}
}

// A namer gives elements the same ID in all observations of a screen.
type namer struct {
	nodes []atspi.Node // of the last observation, and those of earlier ones that may be there still
	count int          // IDs given
}

// name names the nodes of the next observation: first those that are told with their IDs,
// which are short then. Of a sheet the most are empty cells and headers. untold reports of a
// node of before that is not found whether it may be there all the same: it keeps its ID.
func (m *namer) name(nodes []atspi.Node, untold func(atspi.Node) bool) {
	was := Match(m.nodes, nodes)
	for _, told := range []bool{true, false} {
		for i := range nodes {
			switch n := &nodes[i]; {
			case was[i] >= 0:
				n.ID = m.nodes[was[i]].ID
			case isDrawn(*n): // the list has none of it, and nothing to find it by
			case told == (atspi.Clickable(n.Role) && !isEmptyCell(*n) && !isSheetHeader(*n)):
				m.count++
				n.ID = "n" + strconv.Itoa(m.count)
			}
		}
	}
	m.nodes = m.keep(nodes, was, untold)
}

// maxUntold is how many nodes are known that were not told for one observation or more: a
// program that tells a part, and another one each time, would have more with each.
const maxUntold = 20_000

// keep returns nodes with those of before that may be there still, the newest up to [maxUntold]:
// was has for each node its index in those.
func (m *namer) keep(nodes []atspi.Node, was []int, untold func(atspi.Node) bool) []atspi.Node {
	kept := slices.Clone(nodes)     // what secrets are taken out of later is matched as it is
	at := make([]int, len(m.nodes)) // where a node of before is in kept; -1: it has gone
	for j := range at {
		at[j] = -1
	}
	for i, j := range was {
		if j >= 0 {
			at[j] = i
		}
	}
	for j, n := range m.nodes {
		if len(kept) == len(nodes)+maxUntold {
			break
		}
		if at[j] >= 0 || n.Parent >= 0 && at[n.Parent] < 0 || !untold(n) {
			continue
		}
		if n.Parent >= 0 {
			n.Parent = at[n.Parent]
		}
		at[j] = len(kept)
		kept = append(kept, n)
	}
	return kept
}

// recognise names the nodes that are known from observations, and no others. It is none.
func (m *namer) recognise(nodes []atspi.Node) {
	for i, j := range Match(m.nodes, nodes) {
		nodes[i].ID = ""
		if j >= 0 {
			nodes[i].ID = m.nodes[j].ID
		}
	}
}

// Element returns the index of the node with an ID in the tree.
func (o *Observation) Element(id string) (i int, ok bool) {
	i = slices.IndexFunc(o.Tree.Nodes, func(n atspi.Node) bool { return id != "" && n.ID == id })
	return i, i >= 0
}
