package screen

import (
	"image"
	"strings"
	"unicode"
	"unicode/utf8"

	"desktop-agent/screen/atspi"
)

// A view is an observation together with what lies where.
type view struct {
	*Observation
	window []int // for each node, the index of the window that it is in; or one of those below
	shown  image.Rectangle
	mapped bool
}

// What a node has instead of a window.
const (
	loose   = -1 // it is on the screen, but nothing tells in which window
	nowhere = -2 // its program keeps it ready in a window that is not there
)

func (o *Observation) view() *view {
	v := &view{Observation: o, window: make([]int, len(o.Tree.Nodes))}
	v.mapped, v.shown = o.Image.Mapping.known(), o.Image.Mapping.Source
	taken := map[int]bool{}
	for i, n := range o.Tree.Nodes {
		if n.Parent >= 0 {
			v.window[i] = v.window[n.Parent]
			continue
		}
		v.window[i] = o.windowOf(n, taken)
		taken[v.window[i]] = true
	}
	return v
}

// windowOf returns the index of the window that a node without a parent stands
// for, if there is one. Both the process and the title should be the same. Of one
// of them it is enough (titles change while one looks), and then the place decides;
// the place alone is not.
func (o *Observation) windowOf(root atspi.Node, taken map[int]bool) int {
	best, most := loose, 0
	for i, w := range o.Windows {
		overlap := w.Box.Intersect(root.Box)
		same := w.Title != "" && w.Title == root.Name
		score := 0
		switch {
		case w.PID != 0 && w.PID == root.PID:
			score = 2
			if best == loose {
				best = nowhere // unless one of its windows is the one
			}
		case same:
			score = 1
		default:
			continue
		}
		if same {
			score += 4
		}
		// A menu or a tip of the same process lies on its window, but does not fill it.
		if 4*overlap.Dx()*overlap.Dy() >= 3*w.Box.Dx()*w.Box.Dy() {
			score += 2
		} else if !same {
			continue
		}
		if taken[i] {
			score--
		}
		if score > most {
			best, most = i, score
		}
	}
	return best
}

// place moves the nodes of programs that tell only where things are in their
// window to where that window is. GTK 4 is one: it does not know.
func (t *Tree) place(windows []Window) {
	var shift image.Point
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Parent < 0 {
			shift = offset(*n, windows)
		}
		n.Box = n.Box.Add(shift)
	}
}

// offset returns where the only window is that a node without a parent can
// stand for, if that node claims to be in the corner of the screen.
func offset(root atspi.Node, windows []Window) image.Point {
	if root.Box.Min != (image.Point{}) {
		return image.Point{}
	}
	var found []image.Point
	for _, w := range windows {
		if w.PID == root.PID && w.PID != 0 && w.Box.Size() == root.Box.Size() && !w.Hidden {
			if w.Title == root.Name {
				found = append([]image.Point{w.Box.Min}, found...)
			} else if w.Popup {
				found = append(found, w.Box.Min)
			}
		}
	}
	if len(found) == 0 {
		return image.Point{}
	}
	return found[0]
}

// part returns the part of a node's box that the image shows.
func (v *view) part(i int) image.Rectangle {
	box := v.Tree.Nodes[i].Box
	if v.mapped {
		box = box.Intersect(v.shown)
	}
	return box
}

// centre returns the middle of a node's visible part, in pixels of the image,
// unless it lies outside or below another window.
func (v *view) centre(i int) (at image.Point, ok bool) {
	box := v.part(i)
	if box.Empty() {
		return at, false
	}
	device := box.Min.Add(box.Max).Div(2)
	if v.covered(i, device) {
		return at, false
	}
	if !v.mapped {
		return device, true
	}
	return v.Image.Mapping.ToImage(device), true
}

// covered reports whether a node cannot be seen at a point, as another window
// lies above.
func (v *view) covered(i int, device image.Point) bool {
	return v.below(i, func(above image.Rectangle) bool { return device.In(above) })
}

// hidden reports whether a node is wholly below another window.
func (v *view) hidden(i int) bool {
	return v.below(i, func(above image.Rectangle) bool { return v.part(i).In(above) })
}

// below reports whether the window of a node is not shown, or there is one
// above it with a box that hides the node.
func (v *view) below(i int, hides func(above image.Rectangle) bool) bool {
	window := v.window[i]
	if window == nowhere {
		return true
	}
	if window == loose || v.poppedUp(i) {
		return false
	}
	if v.Windows[window].Hidden {
		return true
	}
	for _, w := range v.Windows[window+1:] {
		if !w.Hidden && hides(w.Box) {
			return true
		}
	}
	return false
}

// poppedUp reports whether a node is in an open menu, which lies above all windows.
func (v *view) poppedUp(i int) bool {
	for n := v.Tree.Nodes[i]; n.Parent >= 0; n = v.Tree.Nodes[n.Parent] {
		parent := v.Tree.Nodes[n.Parent]
		switch parent.Role {
		case "menu", "popup menu", "combo box", "push button menu":
			if !n.Box.Overlaps(parent.Box) {
				return true
			}
		}
	}
	return false
}

// Find looks for a quoted text in the titles of the windows ("window") and in
// the names and texts of the nodes that can be seen ("tree", or "ocr" where only a
// text that was read from the picture has it), and tells where it is. It proves a claim, so it is strict: letters and case must be the same,
// words must be whole, and only white space may differ. A quote of less than
// two characters, or without a letter or digit, proves nothing.
func (o *Observation) Find(quote string) (source string, ok bool) {
	quote = collapse(quote)
	if utf8.RuneCountInString(quote) < 2 || !strings.ContainsFunc(quote, isWord) {
		return "", false
	}
	for _, w := range o.Windows {
		if holds(w.Title, quote) {
			return "window", true
		}
	}
	v := o.view()
	for i, n := range o.Tree.Nodes {
		if (holds(n.Name, quote) || holds(n.Text, quote)) && !v.part(i).Empty() && !v.hidden(i) {
			if !n.Read {
				return "tree", true
			}
			source, ok = "ocr", true
		}
	}
	return source, ok
}

// collapse makes each stretch of white space one space, and leaves out the
// characters that only tell how others are to be drawn.
func collapse(s string) string {
	visible := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(visible), " ")
}

// holds reports whether text holds a quote that begins and ends where words do.
func holds(text, quote string) bool {
	text = collapse(text)
	for from := 0; ; {
		i := strings.Index(text[from:], quote)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(quote)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		first, size := utf8.DecodeRuneInString(quote)
		last, _ := utf8.DecodeLastRuneInString(quote)
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !joined(before, first) && !joined(last, after) {
			return true
		}
		from = start + size
	}
}

// joined reports whether two neighbours belong to one word. Scripts that put
// no space between words tell nothing about that.
func joined(a, b rune) bool { return isWord(a) && isWord(b) && !unspaced(a) && !unspaced(b) }

func isWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
