package screen

import (
	"fmt"
	"image"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"desktop-agent/screen/atspi"
)

// DefaultTextBudget is the budget of [Observation.Text] in tokens.
const DefaultTextBudget = 3000

// bytesPerToken is what a token holds, roughly: models differ, English text
// has a little more, numbers and other scripts a little less.
const bytesPerToken = 4

// Limits of what one line tells, in characters.
const (
	maxTitle      = 120
	maxNodeName   = 100
	maxNodeText   = 200
	maxFocusText  = 1000 // of the node that has the focus
	maxErrorText  = 200
	maxTextIndent = 6
)

// A rank says how soon a line of text is left out when not all fit.
type rank int

const (
	rankAlways rank = iota // window headers, what did not answer
	rankFocus              // what has the focus
	rankFront              // what can be operated in the focused window and in menus that are open
	rankFrontRest
	rankBack // what can be operated in other windows
	rankBackRest
	ranks
)

// A textLine is one line of the text for a model.
type textLine struct {
	text string
	rank rank
}

// Text tells a model in words what is on the screen: the windows, the focused
// one first, and below each the nodes of its accessibility tree, one a line:
//
//	window "Untitled 1 - Mousepad" (Mousepad) focused
//	n4 menu "File" @523,318
//	n16 text = "Dear Ann,\n" [focused, editable] @960,571
//
// The numbers after the @ are the centre of the part that can be seen, in
// pixels of the image that the model is sent. Whatever comes from a program is
// quoted as Go does, so that it cannot pass for a line of ours; "…" after the
// quote says that there is more. Containers without a name are dropped, and so
// are nodes outside the image or below other windows.
//
// The text holds at most budget tokens, at 4 bytes each; 0 means
// [DefaultTextBudget]. What is operated in the focused window is kept longest,
// and a last line tells how many lines were left out.
func (o *Observation) Text(budget int) string {
	if budget <= 0 {
		budget = DefaultTextBudget
	}
	v := o.view()
	var lines []textLine
	for _, group := range v.groups() {
		lines = append(lines, v.header(group))
		lines = v.appendNodes(lines, group)
	}
	if o.Tree.Err != nil {
		lines = append(lines, textLine{text: "no accessibility tree: " + quote(o.Tree.Err.Error(), maxErrorText)})
	}
	if len(o.Tree.Hung) > 0 {
		names := make([]string, len(o.Tree.Hung))
		for i, name := range o.Tree.Hung {
			names[i] = quote(name, maxNodeName)
		}
		lines = append(lines, textLine{text: "not answering, so that nodes are missing: " + strings.Join(names, ", ")})
	}
	return fitLines(lines, budget*bytesPerToken)
}

// fitLines joins the lines that fit into so many bytes, the important ones first.
func fitLines(lines []textLine, size int) string {
	const reserve = len("123456 more lines left out\n") // for the last line
	total := 0
	for _, l := range lines {
		total += len(l.text) + 1
	}
	keep := make([]bool, len(lines))
	left := size
	if total > size {
		left -= reserve
	}
	dropped := 0
	for r := range ranks {
		if dropped > 0 {
			left = 0 // what matters less does not take the place of what matters
		}
		for i, l := range lines {
			if l.rank != r {
				continue
			}
			if keep[i] = len(l.text)+1 <= left; keep[i] {
				left -= len(l.text) + 1
			} else {
				dropped++
			}
		}
	}
	var b strings.Builder
	for i, l := range lines {
		if keep[i] {
			b.WriteString(l.text)
			b.WriteByte('\n')
		}
	}
	if dropped > 0 {
		fmt.Fprintf(&b, "%d more lines left out\n", dropped)
	}
	return b.String()
}

// A group is a window with the nodes that belong to it.
type group struct {
	window int // index of the window, or loose
	root   int // index of the window's node; -1 if it has none
}

// groups lists the windows as a person would look at them: the focused one,
// then those of which the place is not known, then the others from top to bottom.
func (v *view) groups() []group {
	roots := map[int][]int{}
	for i, n := range v.Tree.Nodes {
		if n.Parent < 0 {
			roots[v.window[i]] = append(roots[v.window[i]], i)
		}
	}
	var focused, unknown, others []group
	for _, root := range roots[loose] {
		unknown = append(unknown, group{loose, root})
	}
	for i := len(v.Windows) - 1; i >= 0; i-- {
		list := &others
		if v.Windows[i].Focused {
			list = &focused
		}
		if len(roots[i]) == 0 && (!v.Windows[i].Popup || v.Tree.Err != nil) {
			*list = append(*list, group{i, -1})
		}
		for _, root := range roots[i] {
			*list = append(*list, group{i, root})
		}
	}
	return append(append(focused, unknown...), others...)
}

// header is the line above the nodes of a window.
func (v *view) header(g group) textLine {
	var l textLine
	if g.window < 0 {
		root := v.Tree.Nodes[g.root]
		l.text = fmt.Sprintf("%s %s (%s)", root.Role, quote(root.Name, maxTitle), quote(root.App, maxNodeName))
		return l
	}
	w := v.Windows[g.window]
	kind := "window"
	if w.Popup {
		kind = "popup"
	}
	l.text = fmt.Sprintf("%s %s (%s)", kind, quote(w.Title, maxTitle), quote(w.Class, maxNodeName))
	if w.Focused {
		l.text += " focused"
	}
	switch {
	case w.Hidden:
		l.text += ", minimised"
	case v.Tree.Err == nil && g.root < 0:
		l.text += ", no nodes"
	}
	return l
}

// appendNodes appends the lines of a window's nodes.
func (v *view) appendNodes(lines []textLine, g group) []textLine {
	if g.root < 0 {
		return lines
	}
	front := g.window < 0 || v.Windows[g.window].Focused
	// What the line of a node leaves to its children: how far they are
	// indented, and what they need not say again.
	type above struct {
		indent     int
		name, text string
	}
	kept := map[int]above{g.root: {0, v.Tree.Nodes[g.root].Name, ""}}
	var empty emptyCells
	for i := g.root + 1; i < len(v.Tree.Nodes) && v.Tree.Nodes[i].Parent >= g.root; i++ {
		n := v.Tree.Nodes[i]
		parent := kept[n.Parent]
		kept[i] = parent
		_, at, seen := v.pointOf(i)
		if !seen {
			continue
		}
		if n.Parent != empty.table {
			lines = empty.flush(lines)
		}
		if isEmptyCell(n) {
			empty.add(n, at, parent.indent)
			continue
		}
		operable := isOperable(n)
		if operable && n.Name == "" {
			n.Name = v.label(i)
		}
		said := n.Name == "" || n.Name == parent.name || n.Name == parent.text
		if !operable && said && n.Text == "" && !n.Has("focused", "selected") {
			continue
		}
		lines = append(lines, textLine{
			text: strings.Repeat(" ", min(parent.indent, maxTextIndent)) + nodeLine(n, at),
			rank: rankOf(n, front, operable),
		})
		kept[i] = above{parent.indent + 1, n.Name, strings.TrimSpace(n.Text)}
	}
	return empty.flush(lines)
}

// rankOf says how soon the line of a node is left out.
func rankOf(n atspi.Node, front, operable bool) rank {
	switch {
	case n.Has("focused"):
		return rankFocus
	case front && (operable || n.Role == "table cell"): // cells are what a spreadsheet is about
		return rankFront
	case front:
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

// nodeLine tells one node.
func nodeLine(n atspi.Node, at image.Point) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", n.ID, n.Role)
	if n.Name != "" {
		b.WriteString(" " + quote(n.Name, maxNodeName))
	}
	if n.Text != "" {
		limit := maxNodeText
		if n.Has("focused") {
			limit = maxFocusText
		}
		b.WriteString(" = " + quote(n.Text, limit))
	}
	if len(n.States) > 0 {
		b.WriteString(" [" + strings.Join(n.States, ", ") + "]")
	}
	fmt.Fprintf(&b, " @%d,%d", at.X, at.Y)
	return b.String()
}

// quote quotes a text of a program, cut to so many characters. Nothing in it
// can end the quotes or begin a line.
func quote(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return strconv.Quote(s)
	}
	return strconv.Quote(string([]rune(s)[:limit])) + "…"
}

// address is the name of a cell of a spreadsheet.
var address = regexp.MustCompile(`^[A-Z]{1,3}[1-9][0-9]{0,6}$`)

// isEmptyCell reports whether a node is a cell of a spreadsheet with nothing in it.
func isEmptyCell(n atspi.Node) bool {
	return n.Role == "table cell" && n.Text == "" && !n.Has("focused", "selected") && address.MatchString(n.Name)
}

// emptyCells are the empty cells of one table: there are many, so one line
// tells of all. Between the first and the last, places can be reckoned.
type emptyCells struct {
	table, count, indent int
	first, last          atspi.Node
	firstAt, lastAt      image.Point
}

func (e *emptyCells) add(n atspi.Node, at image.Point, indent int) {
	if e.count == 0 {
		*e = emptyCells{table: n.Parent, indent: indent, first: n, firstAt: at}
	}
	e.count++
	e.last, e.lastAt = n, at
}

func (e *emptyCells) flush(lines []textLine) []textLine {
	if e.count > 0 {
		lines = append(lines, textLine{rank: rankFrontRest, text: fmt.Sprintf("%s%d empty cells, from %s %s @%d,%d to %s %s @%d,%d",
			strings.Repeat(" ", min(e.indent, maxTextIndent)), e.count,
			e.first.ID, e.first.Name, e.firstAt.X, e.firstAt.Y, e.last.ID, e.last.Name, e.lastAt.X, e.lastAt.Y)})
	}
	*e = emptyCells{table: -1}
	return lines
}

// isOperable reports whether a node is a control, or something else that can be
// typed into but a whole document.
func isOperable(n atspi.Node) bool {
	return atspi.Operable(n.Role) || n.Has("editable") && !strings.HasPrefix(n.Role, "document") && n.Role != "table"
}
