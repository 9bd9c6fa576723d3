package screen

import (
	"context"
	"errors"
	"image"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"desktop-agent/screen/atspi"
)

// An OCR reads text from pictures; [desktop-agent/screen/ocr.Reader] is one.
type OCR interface {
	// Lines returns the lines of text in some regions of a picture. Regions and
	// boxes are in the coordinates of the picture. What is not read in time is left
	// out, which [ErrUnread] tells, and is there for the next call once it is read; an
	// error may come with lines.
	Lines(ctx context.Context, picture *image.RGBA, regions []image.Rectangle) ([]OCRLine, error)
}

// ErrUnread reports that the text of a picture was not all read in time.
var ErrUnread = errors.New("the text of the picture is not all read yet")

// An OCRLine is a line of text that was read from a picture.
type OCRLine struct {
	Text       string
	Words      []OCRWord       // from left to right; nil where the reader does not tell them
	Box        image.Rectangle // pixels of the picture
	Confidence float64         // of the reader, from 0 to 1
}

// An OCRWord is a word of an [OCRLine].
type OCRWord struct {
	Text string
	Box  image.Rectangle // pixels of the picture
}

// RoleTextLine is the role of nodes that were read from the picture. AT-SPI has none
// of this name.
const RoleTextLine = "text line"

// Limits of what is read from a picture.
const (
	leastReadWidth  = 200 // pixels of a region that tells no text, and is worth reading
	leastReadHeight = 60
	leastRestWidth  = 40 // of what is seen of a window that tells no text at all
	leastRestHeight = 12
	leastFieldWidth = 60   // of a closed list of choices that does not tell what is chosen
	fieldBorder     = 4    // and what its frame takes of it, and of an open one
	itemGap         = 1    // what parts two things in a row, in heights of the line: a space is .8 at most
	aloneGap        = .75  // the same in a line that stands alone, where it is wide as seen by the letters, too
	aloneSpace      = 1.5  // in widths of a letter: a space is .8, and 1.4 where all letters are as wide
	maxReadLines    = 400  // of one observation
	maxReadText     = 1000 // bytes of one line
)

// Read is [Screen.Snapshot] with what no program tells and can be read in the picture.
func (s *Screen) Read(ctx context.Context) (o *Observation, err error) {
	if o, err = s.told(ctx); err != nil {
		return nil, err
	}
	if o.Bare, err = s.Capture(ctx); err != nil {
		return nil, err
	}
	o.Frame = o.Bare
	s.read(ctx, o)
	s.recognise(o)
	return o, ended(ctx)
}

// read has the text of what tells none read from the picture, and adds it to the tree.
func (s *Screen) read(ctx context.Context, o *Observation) {
	if !o.pictured() {
		return
	}
	start := time.Now()
	v := o.view()
	lines, fields, open, err := s.lines(ctx, v)
	known := lines
	if err != nil {
		known = nil // what is not read yet would be taken for a drawing
	}
	v.addRead(lines, fields, open, v.icons(known))
	o.Unread = err != nil
	o.Timing.OCR = time.Since(start)
	o.Timing.Total += o.Timing.OCR
}

// lines returns what is read of what tells no text, with the nodes of the lists that were
// read, closed (fields) and open. An error says that not all was; it is logged.
func (s *Screen) lines(ctx context.Context, v *view) (lines []OCRLine, fields, open []int, err error) {
	if s.opt.OCR == nil {
		return nil, nil, nil, nil
	}
	var regions []image.Rectangle
	for i := range v.Windows {
		regions = append(regions, v.textless(i)...)
	}
	fields = v.closedLists()
	for _, i := range fields {
		regions = append(regions, v.shownIn(i))
	}
	open = v.openLists()
	for _, i := range open {
		regions = append(regions, v.Tree.Nodes[i].Box.Inset(fieldBorder))
	}
	if len(regions) == 0 {
		return nil, nil, nil, nil
	}
	lines, err = s.opt.OCR.Lines(ctx, v.Bare, regions)
	if err != nil && !errors.Is(err, ErrUnread) {
		s.opt.Log.WarnContext(ctx, "text of the picture", "err", err)
	}
	return v.legible(v.apart(lines)), fields, open, err
}

// textless returns the parts of a window in which something is drawn that no node
// tells as text: the whole window where none of its nodes tells any, and else its
// pictures and canvases.
func (v *view) textless(window int) []image.Rectangle {
	w := v.Windows[window]
	if w.Hidden {
		return nil
	}
	visible := w.Box.Intersect(v.Bare.Rect)
	if v.mapped {
		visible = visible.Intersect(v.shown)
	}
	told := false
	var areas, texts []image.Rectangle
	for i, n := range v.Tree.Nodes {
		menu := w.Popup && v.popped[i] && n.PID == w.PID // told in the window from which it opens
		if v.window[i] != window && !((menu || v.window[i] == loose) && n.Box.Overlaps(w.Box)) {
			continue
		}
		switch {
		case n.Parent < 0: // its name is the title of the window
		case n.Text != "" || n.Name != "" && !v.drawn(i):
			told = true
			texts = append(texts, n.Box)
		case n.Role == "video", n.Role == "animation": // where others tell text: new at each look
		case v.drawn(i):
			areas = append(areas, n.Box)
		case !v.arranged(i).Empty():
			areas = append(areas, v.arranged(i))
		}
	}
	least := image.Pt(leastReadWidth, leastReadHeight)
	if !told {
		areas, least = []image.Rectangle{w.Box}, image.Pt(leastRestWidth, leastRestHeight)
	}
	// A page or document that tells a text is not read, but for what is drawn in it.
	areas = slices.DeleteFunc(areas, func(area image.Rectangle) bool {
		return told && slices.ContainsFunc(texts, func(r image.Rectangle) bool { return r.Overlaps(area) && !area.In(r) })
	})
	var list []image.Rectangle
	for _, area := range areas {
		if slices.ContainsFunc(areas, func(r image.Rectangle) bool { return r != area && area.In(r) }) {
			continue // it is read with what it lies in
		}
		for _, part := range v.uncovered(window, area.Intersect(visible)) {
			if part.Dx() >= least.X && part.Dy() >= least.Y {
				list = append(list, part)
			}
		}
	}
	return list
}

// closedLists returns the nodes that are lists of choices, closed, of which nobody tells
// what is chosen: LibreOffice has buttons for them that tell nothing at all.
func (v *view) closedLists() (list []int) {
	for i, n := range v.Tree.Nodes {
		w := v.window[i]
		if w < 0 || v.Windows[w].Hidden || !v.leaf(i) || n.Name != "" || n.Text != "" || n.Role != "toggle button" && n.Role != "combo box" {
			continue
		}
		seen := v.shownIn(i)
		if seen.Dx() >= leastFieldWidth && seen.Dy() >= leastRestHeight && !v.Covered(w, seen) && seen.In(v.Bare.Rect) {
			list = append(list, i)
		}
	}
	return list
}

// shownIn returns the part of a closed list in which it shows what is chosen: without its
// frame, and what shows that it opens, which is as wide as high.
func (v *view) shownIn(i int) image.Rectangle {
	box := v.Tree.Nodes[i].Box
	arrow := box.Dy()
	box = box.Inset(fieldBorder)
	if v.rightToLeft(v.root[i]) {
		box.Min.X = min(box.Min.X+arrow, box.Max.X)
	} else {
		box.Max.X = max(box.Max.X-arrow, box.Min.X)
	}
	return box
}

// drawn reports whether what a node shows is a picture to the program: it may have text in
// it that nobody tells.
func (v *view) drawn(i int) bool {
	if v.leaf(i) && !v.arranged(i).Empty() {
		return true
	}
	switch v.Tree.Nodes[i].Role {
	case "image", "canvas", "drawing area", "unknown", "document frame", "document presentation", "document web", "document text",
		"document email", "page", "html container", "video", "animation", "chart", "layered pane", "image map":
		return true
	}
	return false
}

// arranged returns where in a node things are drawn side by side that no node tells: all of
// a panel or calendar without anything in it, such as the files that Thunar shows as icons,
// and below the headers, which are buttons, of a list of GTK 4, of which it tells no more.
func (v *view) arranged(i int) image.Rectangle {
	n := v.Tree.Nodes[i]
	switch n.Role {
	case "panel", "calendar":
		if v.leaf(i) {
			return n.Box
		}
	case "filler":
		if n.Parent < 0 || v.Tree.Nodes[n.Parent].Role != "scroll pane" {
			break
		}
		rest := n.Box
		for j := i + 1; j < len(v.Tree.Nodes) && v.Tree.Nodes[j].Parent >= i; j++ {
			m := v.Tree.Nodes[j]
			if m.Parent == i && m.Role != "push button" || m.Box.Min.Y > n.Box.Min.Y+n.Box.Dy()/2 {
				return image.Rectangle{}
			}
			rest.Min.Y = max(rest.Min.Y, m.Box.Max.Y)
		}
		if rest != n.Box {
			return rest
		}
	}
	return image.Rectangle{}
}

// apart parts the lines that were read where things stand side by side: each name of a
// row of icons, each day of a week, each menu of a bar is a line of its own. Where that is
// so, nodes tell; of a window without any, lines that stand alone are no running text.
func (v *view) apart(lines []OCRLine) (list []OCRLine) {
	areas := map[int]image.Rectangle{} // by node
	for i := range v.Tree.Nodes {
		if area := v.arranged(i); !area.Empty() {
			areas[i] = area
		}
	}
	for k, l := range lines {
		at := middle(l.Box)
		window := v.topmost(at)
		arranged := false
		for i, area := range areas {
			arranged = arranged || v.window[i] == window && at.In(area)
		}
		switch {
		case arranged:
			list = append(list, l.parts(itemGap*l.height())...)
		case window >= 0 && v.silent(window) && alone(lines, k):
			list = append(list, l.parts(max(aloneGap*l.height(), aloneSpace*l.letter()))...)
		default:
			list = append(list, l)
		}
	}
	return list
}

// silent reports whether no node tells what is in a window.
func (v *view) silent(window int) bool {
	for root, n := range v.Tree.Nodes {
		if n.Parent < 0 && v.window[root] == window && v.tells(root) {
			return false
		}
	}
	return true
}

// alone reports whether no other line is as near to one, above or below, as lines of one
// text are: three quarters of the height of their letters at most.
func alone(lines []OCRLine, k int) bool {
	l := lines[k].Box
	near := image.Rect(l.Min.X, l.Min.Y-l.Dy()*3/4, l.Max.X, l.Max.Y+l.Dy()*3/4)
	for i, o := range lines {
		if i != k && o.Box.Overlaps(near) {
			return false
		}
	}
	return true
}

// height is that of the line, in pixels.
func (l OCRLine) height() float64 { return float64(l.Box.Dy()) }

// letter is how wide a letter of the line is on an average, in pixels.
func (l OCRLine) letter() float64 {
	width, letters := 0, 0
	for _, w := range l.Words {
		width, letters = width+w.Box.Dx(), letters+utf8.RuneCountInString(w.Text)
	}
	return float64(width) / float64(max(1, letters))
}

// parts returns a line cut where its words are farther from each other than so many pixels.
func (l OCRLine) parts(gap float64) (list []OCRLine) {
	for i, w := range l.Words {
		if last := len(list) - 1; i > 0 && float64(w.Box.Min.X-l.Words[i-1].Box.Max.X) <= gap {
			list[last].Text += " " + w.Text
			list[last].Words = l.Words[i-len(list[last].Words) : i+1]
			list[last].Box = list[last].Box.Union(w.Box)
			continue
		}
		list = append(list, OCRLine{Text: w.Text, Words: l.Words[i : i+1], Box: w.Box, Confidence: l.Confidence})
	}
	if len(list) <= 1 {
		return []OCRLine{l}
	}
	return list
}

// topmost returns the uppermost window at a point of the screen; -1 for none.
func (v *view) topmost(p image.Point) int {
	for i, w := range slices.Backward(v.Windows) {
		if !w.Hidden && p.In(w.Box) {
			return i
		}
	}
	return -1
}

// uncovered returns the parts of an area of a window that lie below no other.
func (o *Observation) uncovered(window int, area image.Rectangle) []image.Rectangle {
	parts := []image.Rectangle{area}
	for _, w := range o.Windows[window+1:] {
		if w.Hidden {
			continue
		}
		var left []image.Rectangle
		for _, p := range parts {
			left = append(left, without(p, w.Box)...)
		}
		parts = left
	}
	return parts
}

// without returns what is left of a rectangle, above, below and beside another.
func without(r, cover image.Rectangle) (parts []image.Rectangle) {
	c := cover.Intersect(r)
	if c.Empty() {
		return []image.Rectangle{r}
	}
	for _, p := range []image.Rectangle{
		image.Rect(r.Min.X, r.Min.Y, r.Max.X, c.Min.Y), image.Rect(r.Min.X, c.Min.Y, c.Min.X, c.Max.Y),
		image.Rect(c.Max.X, c.Min.Y, r.Max.X, c.Max.Y), image.Rect(r.Min.X, c.Max.Y, r.Max.X, r.Max.Y),
	} {
		if !p.Empty() {
			parts = append(parts, p)
		}
	}
	return parts
}

// addRead adds to the tree what was found in the picture: lines, each below the list that it is
// in, closed (a field) or open, or else the node of the topmost window that it is in, where a
// window without one gets it; and drawings, each below its node, or between the lines that are in it.
func (v *view) addRead(lines []OCRLine, fields, lists []int, icons map[int][]image.Rectangle) {
	byNode, byWindow := map[int][]atspi.Node{}, map[int][]atspi.Node{}
	for _, i := range lists {
		n := &v.Tree.Nodes[i]
		in := func(l OCRLine) bool { return middle(l.Box).In(n.Box) }
		var inside []OCRLine
		for _, l := range lines {
			if in(l) {
				inside = append(inside, l)
			}
		}
		lines = slices.DeleteFunc(slices.Clone(lines), in)
		inside, n.Beyond = inView(n.Box, strings.Split(n.Text, "\n"), inside)
		for _, l := range inside {
			byNode[i] = append(byNode[i], l.node())
		}
	}
	shown := make([]image.Rectangle, len(fields))
	for k, i := range fields {
		shown[k] = v.shownIn(i)
	}
	for _, l := range lines[:min(len(lines), maxReadLines)] {
		at := middle(l.Box)
		if k := slices.IndexFunc(shown, at.In); k >= 0 {
			byNode[fields[k]] = append(byNode[fields[k]], l.node())
			continue
		}
		if i := v.topmost(at); i >= 0 {
			byWindow[i] = append(byWindow[i], l.node())
		}
	}
	for i, boxes := range icons {
		for _, b := range boxes {
			if n := iconNode(b); v.Tree.Nodes[i].Role == "calendar" {
				byWindow[v.window[i]] = between(byWindow[v.window[i]], n)
			} else {
				byNode[i] = append(byNode[i], n)
			}
		}
	}
	if len(byNode)+len(byWindow) == 0 {
		return
	}
	var nodes []atspi.Node
	moved := make([]int, len(v.Tree.Nodes)) // where nodes are in the new list
	open := func(next int) bool { return next < len(v.Tree.Nodes) && v.Tree.Nodes[next].Parent >= 0 }
	for i, n := range v.Tree.Nodes {
		moved[i] = len(nodes)
		root := moved[i]
		if n.Parent >= 0 {
			n.Parent = moved[n.Parent]
		}
		nodes = appendBelow(append(nodes, n), root, byNode[i])
		if open(i + 1) {
			continue
		}
		for nodes[root].Parent >= 0 {
			root = nodes[root].Parent
		}
		nodes = appendBelow(nodes, root, byWindow[v.window[i]])
		delete(byWindow, v.window[i])
	}
	for i, w := range v.Windows {
		if found := byWindow[i]; len(found) > 0 {
			nodes = append(nodes, atspi.Node{App: w.Class, PID: w.PID, Parent: -1, Role: "window", Name: w.Title, Box: w.Box, Read: true})
			nodes = appendBelow(nodes, len(nodes)-1, found)
		}
	}
	v.Tree.Nodes = nodes
}

// between puts a node between those of its row, which are from left to right.
func between(row []atspi.Node, n atspi.Node) []atspi.Node {
	at := middle(n.Box).Y
	k := slices.IndexFunc(row, func(m atspi.Node) bool {
		return at >= m.Box.Min.Y && at < m.Box.Max.Y && m.Box.Min.X > n.Box.Min.X || m.Box.Min.Y > at
	})
	if k < 0 {
		k = len(row)
	}
	return slices.Insert(row, k, n)
}

// node is the node of a line.
func (l OCRLine) node() atspi.Node {
	return atspi.Node{Role: RoleTextLine, Text: l.Text[:min(len(l.Text), maxReadText)], Box: l.Box, Read: true}
}

// appendBelow appends what was found in the picture below a node.
func appendBelow(nodes []atspi.Node, parent int, found []atspi.Node) []atspi.Node {
	for _, n := range found {
		n.App, n.PID, n.Parent, n.Depth = nodes[parent].App, nodes[parent].PID, parent, nodes[parent].Depth+1
		nodes = append(nodes, n)
	}
	return nodes
}

// Told returns the observation without what was read from the picture: what the
// programs tell themselves.
func (o *Observation) Told() *Observation {
	if !slices.ContainsFunc(o.Tree.Nodes, func(n atspi.Node) bool { return n.Read }) {
		return o
	}
	told := *o
	told.Tree.Nodes = nil
	moved := make([]int, len(o.Tree.Nodes))
	for i, n := range o.Tree.Nodes {
		if n.Read {
			continue // nothing that is told lies below it
		}
		if moved[i] = len(told.Tree.Nodes); n.Parent >= 0 {
			n.Parent = moved[n.Parent]
		}
		told.Tree.Nodes = append(told.Tree.Nodes, n)
	}
	return &told
}
