package screen

import (
	"fmt"
	"image"
	"slices"
	"strings"
	"sync"
)

// DefaultTextBudget is the budget of [Observation.Text] in tokens.
const DefaultTextBudget = 3000

// bytesPerToken is what a token holds, roughly: models differ, English text
// has a little more, numbers and other scripts a little less.
const bytesPerToken = 4

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
	text  string
	alone string // instead, where the line above is left out; "" for the same
	rank  rank
	count int // of the elements that it tells
}

// Text tells a model in words what is on the screen: the windows, and below each
// the nodes of its accessibility tree as one reads a screen, a row of them a line:
//
//	window "Untitled 1 - Mousepad" ("Mousepad") focused
//	menus: n4 "File" @523,318; n5 "Edit"
//	n16 textbox = "Dear Ann,\n" [focused, caret at the end] @960,571
//
// The numbers after the @ are where a click hits the node ([Observation.PointOf]), in
// pixels of the image that the model is sent. Whatever can be acted on has its ID in
// front, by which it is aimed at, and a place only where that does not follow, about, from
// what is before it: of a row the first has one, and the next lie to the right of it; of a
// column the uppermost, and the next lie below. A line that begins with a semicolon goes on
// with the row of the line above. Words for what stands around have no ID. Whatever comes
// from a program is quoted as Go does, so that it cannot pass for a line of ours; "…" after
// the quote says that there is more. Containers without a name are dropped, and so are nodes
// outside the image or below other windows.
//
// First comes the dialog that must be answered, else the window with the focus,
// with its open menus on top; a window that waits for a dialog is one line.
//
// The text holds at most budget tokens, at 4 bytes each; 0 means
// [DefaultTextBudget]. What is operated in the focused window is kept longest,
// and a last line tells how many elements were left out.
func (o *Observation) Text(budget int) string {
	return o.textOnce(textKey{budget: budget})
}

// Final says that what an observation tells does not change any more: its windows, its tree and
// its mapping. From now on each text of it is made once, however many ask, at the same time too.
// It returns the observation.
func (o *Observation) Final() *Observation {
	o.texts = &texts{of: o, made: map[textKey]string{}}
	return o
}

// texts are those that were made of an observation.
type texts struct {
	of *Observation // a copy, which may be changed, is none of it

	mu   sync.Mutex
	made map[textKey]string
}

// A textKey says which text is asked for: of [Observation.Text] or, for points, of
// [Observation.TextOn].
type textKey struct {
	budget int
	points bool
	grid   int
}

// textOnce makes a text of an observation, unless it has been made.
func (o *Observation) textOnce(key textKey) string {
	if o.texts == nil || o.texts.of != o {
		return o.text(key)
	}
	o.texts.mu.Lock()
	defer o.texts.mu.Unlock()
	s, ok := o.texts.made[key]
	if !ok {
		s = o.text(key)
		o.texts.made[key] = s
	}
	return s
}

func (o *Observation) text(key textKey) string {
	on := *o
	if key.grid > 0 && o.Image.Mapping.known() {
		on.Image.Mapping.Size = image.Pt(key.grid, key.grid)
	}
	v := on.view()
	v.every = key.points
	return v.text(key.budget)
}

// text tells the view in a text of at most budget tokens.
func (v *view) text(budget int) string {
	if budget <= 0 {
		budget = DefaultTextBudget
	}
	var lines []textLine
	for _, group := range v.groups() {
		lines = v.appendGroup(lines, group)
	}
	if v.Tree.Err != nil {
		lines = append(lines, textLine{text: "no accessibility tree: " + quote(v.Tree.Err.Error(), maxErrorText)})
	}
	if len(v.Tree.Hung) > 0 {
		names := make([]string, len(v.Tree.Hung))
		for i, program := range v.Tree.Hung {
			names[i] = quote(program.Name, maxName)
		}
		lines = append(lines, textLine{text: "not answering, so that nodes are missing: " + strings.Join(names, ", ")})
	}
	if v.Unread {
		lines = append(lines, textLine{text: "some text of the picture is not read, or not yet, so that it is missing here"})
	}
	return fitLines(lines, budget*bytesPerToken)
}

// TextOn is [Observation.Text] for models that aim by points, as those do whose computer tool
// knows no IDs: no place is left out but those of cells that follow exactly from others. They
// are on a grid of so many points each way over the image; 0 for pixels.
func (o *Observation) TextOn(grid, budget int) string {
	return o.textOnce(textKey{budget, true, grid})
}

// fitLines joins the lines that fit into so many bytes, the important ones first.
func fitLines(lines []textLine, size int) string {
	const reserve = len("123456 more elements left out\n") // for the last line
	total := 0
	for _, l := range lines {
		total += len(l.text) + 1
	}
	longest := func(l textLine) int { return max(len(l.text), len(l.alone)) + 1 }
	if total <= size {
		longest = func(l textLine) int { return len(l.text) + 1 }
	}
	keep := make([]bool, len(lines))
	left := size
	if total > size {
		left -= reserve
	}
	dropped, elements := 0, 0
	for r := range ranks {
		if dropped > 0 {
			left = 0 // what matters less does not take the place of what matters
		}
		for i, l := range lines {
			if l.rank != r {
				continue
			}
			if keep[i] = longest(l) <= left; keep[i] {
				left -= longest(l)
			} else {
				dropped++
				elements += l.count
			}
		}
	}
	var b strings.Builder
	for i, l := range lines {
		if !keep[i] {
			continue
		}
		if i > 0 && !keep[i-1] && l.alone != "" {
			b.WriteString(l.alone)
		} else {
			b.WriteString(l.text)
		}
		b.WriteByte('\n')
	}
	if dropped > 0 {
		fmt.Fprintf(&b, "%d more elements left out\n", elements)
	}
	return b.String()
}

// A group is a window with the nodes that belong to it.
type group struct {
	window  int  // index of the window, or loose
	root    int  // index of the window's node; -1 if it has none
	blocked bool // a dialog of its program must be answered first
}

// groups lists the windows as a person would look at them: the menus of the focused
// one, then this one or the dialog that it waits for, then those of which the place is not known, then the
// others from top to bottom.
func (v *view) groups() []group {
	roots := map[int][]int{}
	// For each process, the topmost window that blocks the others. An open list of choices
	// calls itself modal too, and blocks nothing: a click beside it closes it.
	modal := map[int]int{}
	for i, n := range v.Tree.Nodes {
		if n.Parent >= 0 {
			continue
		}
		w := v.window[i]
		roots[w] = append(roots[w], i)
		if top, known := modal[n.PID]; w >= 0 && n.Has("modal") && !v.Windows[w].Hidden && !v.Windows[w].Popup && (!known || w > top) {
			modal[n.PID] = w
		}
	}
	blocker := func(w int) int {
		if top, known := modal[v.Windows[w].PID]; known && v.Windows[w].PID != 0 && top > w {
			return top
		}
		return w
	}
	front := -1
	for i, w := range v.Windows {
		if w.Focused {
			front = blocker(i)
		}
	}
	var popups, first, unknown, others []group
	for _, root := range roots[loose] {
		unknown = append(unknown, group{loose, root, false})
	}
	for i := len(v.Windows) - 1; i >= 0; i-- {
		list := &others
		switch w := v.Windows[i]; {
		case i == front:
			list = &first
		case w.Popup && !w.Passive() && front >= 0 && w.PID == v.Windows[front].PID:
			list = &popups // a menu that it has opened
		}
		blocked := blocker(i) != i && !v.Windows[i].Popup
		if len(roots[i]) == 0 && (!v.Windows[i].Popup || v.Tree.Err != nil) {
			*list = append(*list, group{i, -1, blocked})
		}
		for _, root := range roots[i] {
			*list = append(*list, group{i, root, blocked})
		}
	}
	return slices.Concat(popups, first, unknown, others)
}

// appendGroup appends the lines of a window.
func (v *view) appendGroup(lines []textLine, g group) []textLine {
	var nodes []textLine
	count := 0
	if g.root >= 0 {
		l := v.newLayout(g)
		nodes = l.lines()
		for _, line := range nodes {
			count += line.count
		}
	}
	header := v.header(g)
	switch {
	case g.window >= 0 && v.Windows[g.window].Hidden:
		header += ", minimised"
	case g.blocked && count > 0:
		return append(lines, textLine{text: fmt.Sprintf("%s, blocked by the dialog: %d elements", header, count)})
	case len(nodes) == 0 && g.root >= 0 && v.tells(g.root):
		header += ", covered"
	case len(nodes) == 0 && g.window >= 0 && v.Windows[g.window].Popup && v.Windows[g.window].Title == "":
		return lines // what is in it is told as an open menu, or is nothing
	case v.Tree.Err == nil && len(nodes) == 0, g.root >= 0 && v.Tree.Nodes[g.root].Read:
		header += ", the program tells no text"
	case g.root >= 0 && v.odd[g.root]:
		header += ", the program does not tell where things are"
	}
	return append(append(lines, textLine{text: header}), nodes...)
}

// tells reports whether a program tells a text in a window, seen or not.
func (v *view) tells(root int) bool {
	for i := root + 1; i < len(v.Tree.Nodes) && v.Tree.Nodes[i].Parent >= root; i++ {
		if n := v.Tree.Nodes[i]; n.Called() != "" || n.Text != "" {
			return true
		}
	}
	return false
}

// operates reports whether there is a control in a node.
func (v *view) operates(root int) bool {
	for i := root + 1; i < len(v.Tree.Nodes) && v.Tree.Nodes[i].Parent >= root; i++ {
		if isOperable(v.Tree.Nodes[i]) {
			return true
		}
	}
	return false
}

// header is the line above the nodes of a window, without what follows a comma.
func (v *view) header(g group) string {
	if g.window < 0 {
		root := v.Tree.Nodes[g.root]
		return fmt.Sprintf("%s %s (%s)", shortRole(root), quote(root.Name, maxTitle), quote(root.App, maxName))
	}
	w := v.Windows[g.window]
	kind := "window"
	switch {
	case w.Popup:
		kind = "popup"
	case g.root >= 0 && v.Tree.Nodes[g.root].Has("modal"):
		kind = "modal dialog"
	}
	text := kind + " " + quote(w.Title, maxTitle)
	if !strings.Contains(strings.ToLower(w.Title), strings.ReplaceAll(strings.ToLower(w.Class), "-", " ")) {
		text += " (" + quote(w.Class, maxName) + ")"
	}
	if w.Focused {
		text += " focused"
	}
	return text
}
