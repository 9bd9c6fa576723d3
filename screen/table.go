package screen

import (
	"fmt"
	"slices"
	"strings"

	"desktop-agent/screen/atspi"
)

// A table is being told: a row of cells a line. A cell without a place lies below
// the one above it, at the height of the first in its row.
type table struct {
	*layout
	columns map[string]int // the place in x of the last row that told all, by column
	width   int            // cells in that row
	empty   stretch
	heads   []stretch // of a sheet: the headers that can be seen, in a row without a gap
	gap     bool      // after the last of these is one that is covered
	rows    []tableRow
	e       *element
}

// A tableRow is what is told of a row: what it is, and its cells.
type tableRow struct {
	before string
	cells  []*element
	same   bool // as the row above: each lies below a cell
}

// A cell is an element in a row of a table.
type cell struct {
	*element
	node atspi.Node
}

// table makes the element of a table; nil if what is in its cells is more than fits a
// line.
func (l *layout) table(i int, in above) *element {
	n := l.Tree.Nodes[i]
	t := &table{layout: l, e: &element{node: i, box: l.area(i), rank: l.rankOf(n, false), count: 1}}
	var cells []cell
	for _, c := range l.kids[i] {
		part, ok := t.cells(c, above{n.Role, n.Name, ""})
		if !ok {
			return nil
		}
		cells = append(cells, part...)
	}
	t.ticked(cells)
	for len(cells) > 0 {
		end := 1
		for end < len(cells) && sameRow(cells[0].box, cells[end].box) {
			end++
		}
		t.row(cells[:end])
		cells = cells[end:]
	}
	t.told()
	t.flush()
	if len(t.e.kids) == 0 && n.Called() == "" {
		return t.e.orNil(n)
	}
	if n.Name == in.name {
		n.Name = ""
	}
	t.e.word = wording{role: true}.word(n)
	return t.e
}

// ticked makes check boxes of the cells that can be ticked: those without a name in a column
// of which one is. GTK tells it of these only, and nothing of where none is.
func (t *table) ticked(cells []cell) {
	nameless := func(c cell) bool {
		return c.word == "" && c.node.Role == "table cell" && c.node.Called() == "" && c.node.Text == ""
	}
	columns := map[[2]int]bool{}
	of := func(c cell) [2]int { return [2]int{c.box.Min.X, c.box.Max.X} }
	for _, c := range cells {
		if nameless(c) && (c.node.Has("checked") || c.node.Has("indeterminate")) {
			columns[of(c)] = true
		}
	}
	for i, c := range cells {
		if nameless(c) && columns[of(c)] {
			cells[i].node.Role = "check box"
		}
	}
}

// orNil is for a table with nothing in it.
func (e *element) orNil(n atspi.Node) *element {
	if n.Beyond == (atspi.Beyond{}) && !n.Has("focused") {
		return nil
	}
	e.word = wording{role: true}.word(n)
	return e
}

// cells returns the cells in a node of a table, and the controls in these. ok is
// false where they hold more than that.
func (t *table) cells(i int, in above) (list []cell, ok bool) {
	n := t.Tree.Nodes[i]
	inner := func(in above) bool {
		for _, c := range t.kids[i] {
			part, ok := t.cells(c, in)
			if !ok {
				return false
			}
			list = append(list, part...)
		}
		return true
	}
	if !t.readable(i) {
		return list, inner(in)
	}
	switch n.Role {
	case "table cell", "table column header", "table row header", "column header", "row header":
		if !inner(above{n.Role, n.Called(), n.Text}) {
			return nil, false
		}
		if n.Called() == "" && n.Text == "" && len(list) > 0 {
			return inherit(list, n), true
		}
		if len(list) == 1 && isOperable(list[0].node) && list[0].node.Called() == n.Called() {
			return list, true
		}
		if n.LabelFrom == atspi.LabelChild {
			n, list = absorb(n, list)
		}
		return append([]cell{t.cell(i, n)}, list...), true
	case "table row":
		return list, inner(in)
	}
	for _, e := range t.layout.elements(i, in) {
		if len(e.kids) > 0 {
			return nil, false
		}
		c := cell{element: e}
		if e.node >= 0 {
			c.node = t.Tree.Nodes[e.node]
		}
		list = append(list, c)
	}
	return list, true
}

// absorb leaves out the cells in one that is called by its text which say that text and
// nothing else; it has their states. It is the larger one, of which the text is a part.
func absorb(outer atspi.Node, list []cell) (atspi.Node, []cell) {
	kept := slices.DeleteFunc(list, func(c cell) bool {
		if c.word != "" || c.node.Role != outer.Role || c.node.Called() != outer.Called() || c.node.Text != "" {
			return false
		}
		for _, s := range c.node.States {
			if !outer.Has(s) {
				outer.States = append(slices.Clone(outer.States), s)
			}
		}
		return true
	})
	return outer, kept
}

// inherit gives the states of a cell to the first that is in it, if none has them.
func inherit(list []cell, outer atspi.Node) []cell {
	for _, s := range []string{"focused", "selected"} {
		if outer.Has(s) && !slices.ContainsFunc(list, func(c cell) bool { return c.node.Has(s) }) {
			list[0].node.States = append(slices.Clone(list[0].node.States), s)
		}
	}
	return list
}

func (t *table) cell(i int, n atspi.Node) cell {
	c := cell{element: &element{node: i, box: t.area(i), rank: t.rankOf(n, isOperable(n)), count: 1}, node: n}
	c.hit, c.at, c.placed = t.pointOf(i)
	return c
}

// row tells one row.
func (t *table) row(cells []cell) {
	if isSheetHeader(cells[0].node) {
		t.headers(cells)
		return
	}
	named := func(c cell) bool { return c.word != "" || c.node.Called() != "" || c.node.Text != "" }
	selected := !isAddress(cells[0].node) && len(cells) > 1
	var states []string
	for _, c := range cells {
		if c.word == "" && (named(c) || c.node.Has("selected")) && !c.node.Has("selected") {
			selected = false
		}
	}
	if selected = selected && slices.ContainsFunc(cells, func(c cell) bool { return c.node.Has("selected") }); selected {
		states = append(states, "selected")
	}
	if slices.ContainsFunc(cells, named) && len(cells) > 1 { // what has no name is the rest of a row
		focused := func(c cell) bool { return c.node.Has("focused") }
		if slices.ContainsFunc(cells, focused) && !slices.ContainsFunc(cells, func(c cell) bool { return named(c) && focused(c) }) {
			states = append(states, "focused")
		}
		cells = slices.DeleteFunc(cells, func(c cell) bool { return !named(c) && c.node.Role != "check box" })
	}
	var row []*element
	bare := t.reckoned(cells)
	for k, c := range cells {
		if c.word == "" {
			if isEmptyCell(c.node) {
				if c.placed {
					t.empty.add(c)
				}
				continue
			}
			w := wording{id: true, role: strings.Contains(c.node.Role, "header") || c.node.Role == "check box"}
			if selected {
				c.node.States = slices.DeleteFunc(slices.Clone(c.node.States), func(s string) bool { return s == "selected" })
			}
			t.tell(c.element, c.node, w)
			c.placed = c.placed && !(bare && k > 0)
		}
		row = append(row, c.element)
	}
	if len(row) == 0 {
		return
	}
	before := ""
	if len(states) > 0 {
		before = strings.Join(states, " ") + " row: "
	}
	t.rows = append(t.rows, tableRow{before, row, bare})
}

// told makes the lines of the rows.
func (t *table) told() {
	if !t.every {
		t.untellRows()
	}
	for _, r := range t.rows {
		line := partOfRow(r.before, r.cells, 0)
		t.e.kids = append(t.e.kids, &element{node: -1, word: line.text, alone: line.alone, rank: line.rank, count: line.count, apart: true})
	}
}

// untellRows marks the cells of a list that have their places from those beside and above
// them, as elsewhere; in rows that are the same in this the first cells are a column too. By
// the places in a sheet one reckons where its empty cells are, so they stay.
func (t *table) untellRows() {
	var column []*element
	for k, r := range t.rows {
		first := r.cells[0]
		if first.node >= 0 && isAddress(t.Tree.Nodes[first.node]) {
			return
		}
		untellRow(r.cells)
		same := k > 0 && (r.same || len(r.cells) == 1 && len(t.rows[k-1].cells) == 1)
		if !same || !stacked(column[len(column)-1], first) {
			untellColumn(column)
			column = nil
		}
		column = append(column, first)
	}
	untellColumn(column)
}

// reckoned reports whether the places of all cells but the first follow from the
// rows above, and keeps those of this row if not.
func (t *table) reckoned(cells []cell) bool {
	same := len(cells) > 1
	key := func(k int, c cell) string {
		if m := address.FindStringSubmatch(c.node.Name); m != nil && isAddress(c.node) {
			return m[1]
		}
		return fmt.Sprint(k)
	}
	for k, c := range cells {
		if isEmptyCell(c.node) && c.word == "" {
			continue
		}
		x, known := t.columns[key(k, c)]
		if !c.placed || c.word != "" || !known || x != c.at.X || c.at.Y != cells[0].at.Y || !isAddress(c.node) && t.width != len(cells) {
			same = false
		}
	}
	if same {
		return true
	}
	if t.columns == nil || !isAddress(cells[0].node) {
		t.columns = map[string]int{}
	}
	t.width = len(cells)
	for k, c := range cells {
		if c.placed && (!isEmptyCell(c.node) || c.word != "") {
			t.columns[key(k, c)] = c.at.X
		}
	}
	return false
}

// headers notes headers of a sheet.
func (t *table) headers(cells []cell) {
	for _, c := range cells {
		if t.gap = t.gap || !c.placed; !c.placed {
			continue
		}
		if n := len(t.heads); n == 0 || t.gap || t.heads[n-1].last.node.Role != c.node.Role {
			t.heads, t.gap = append(t.heads, stretch{}), false
		}
		t.heads[len(t.heads)-1].add(c)
	}
}

// A stretch is cells of one table of which one line tells all, as there are many: between
// the first and the last, places can be reckoned.
type stretch struct {
	count       int
	first, last cell
}

func (s *stretch) add(c cell) {
	if s.count == 0 {
		s.first = c
	}
	s.count++
	s.last = c
}

// flush tells the stretches.
func (t *table) flush() {
	rank := rankBackRest
	if t.front {
		rank = rankFrontRest
	}
	for _, s := range append(t.heads, t.empty) {
		if s.count > 0 {
			t.e.kids = append(t.e.kids, &element{node: -1, rank: rank, count: s.count, apart: true, word: s.words()})
		}
	}
}

// words tells the cells of a stretch.
func (s *stretch) words() string {
	kind := "empty cell"
	switch s.first.node.Role {
	case columnHeader:
		kind = "column header"
	case rowHeader:
		kind = "row header"
	}
	if s.count == 1 {
		return fmt.Sprintf("1 %s, %s %s @%d,%d", kind, s.first.node.ID, s.first.node.Name, s.first.at.X, s.first.at.Y)
	}
	return fmt.Sprintf("%d %ss, from %s %s @%d,%d to %s %s @%d,%d", s.count, kind,
		s.first.node.ID, s.first.node.Name, s.first.at.X, s.first.at.Y, s.last.node.ID, s.last.node.Name, s.last.at.X, s.last.at.Y)
}
