package screen

import (
	"cmp"
	"image"
	"math"
	"slices"
	"strings"
	"unicode"

	"desktop-agent/screen/atspi"
)

// openLists returns the nodes that are open lists of which the program tells the entries
// and not where they are, as they may be scrolled: a browser's.
func (v *view) openLists() (list []int) {
	for i, n := range v.Tree.Nodes {
		if n.Role != "menu" || !v.popped[i] || !v.leaf(i) || !strings.Contains(n.Text, "\n") {
			continue
		}
		if w := v.topmost(middle(n.Box)); w >= 0 && v.Windows[w].Popup && n.Box.In(v.Bare.Rect) {
			list = append(list, i)
		}
	}
	return list
}

// leastInView is how many entries of a list must be recognized for the others to be known
// to be above and below them.
const leastInView = 2

// inView finds the entries of an open list in the lines that were read in it, from top to
// bottom. An entry's row is as high as any other, so a line says which entry it is by its
// text and by how many rows it is from the others; where that disagrees for more than half
// of the lines, none is taken. The box of an entry is its row, as wide as the list.
func inView(list image.Rectangle, names []string, lines []OCRLine) (rows []OCRLine, beyond atspi.Beyond) {
	lines = slices.SortedFunc(slices.Values(lines), func(a, b OCRLine) int { return cmp.Compare(middle(a.Box).Y, middle(b.Box).Y) })
	height := pitch(lines)
	if height == 0 {
		return nil, beyond
	}
	row := func(l OCRLine) int {
		return int(math.Round(float64(middle(l.Box).Y-middle(lines[0].Box).Y) / float64(height)))
	}
	votes := map[int]int{} // for the entry in the first row
	for _, l := range lines {
		for k, name := range names {
			if looksLike(l.Text, name) {
				votes[k-row(l)]++
			}
		}
	}
	first, most := 0, 0
	for k, n := range votes {
		if n > most || n == most && k < first {
			first, most = k, n
		}
	}
	if most < leastInView || 2*most <= len(lines) {
		return nil, beyond
	}
	top, bottom := len(names), -1
	for _, l := range lines {
		k := first + row(l)
		if k < 0 || k >= len(names) || !looksLike(l.Text, names[k]) {
			continue
		}
		y := middle(l.Box).Y - height/2
		l.Text, l.Words = names[k], nil
		l.Box = image.Rect(list.Min.X, y, list.Max.X, y+height).Intersect(list)
		rows, top, bottom = append(rows, l), min(top, k), max(bottom, k)
	}
	beyond = atspi.Beyond{Above: top, Below: len(names) - 1 - bottom}
	if strings.HasSuffix(names[len(names)-1], "…") { // what is told of the list was cut
		beyond.Below = atspi.Some
	}
	return rows, beyond
}

// pitch returns how far lines that are sorted are from each other, most of them; 0 if there
// are not two. Of as many that are farther, as one between them was not read, the nearer tell.
func pitch(lines []OCRLine) int {
	var gaps []int
	for i := range lines[min(1, len(lines)):] {
		gaps = append(gaps, middle(lines[i+1].Box).Y-middle(lines[i].Box).Y)
	}
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	return gaps[(len(gaps)-1)/2]
}

// looksLike reports whether a line that was read may be a name: letters and digits that
// look alike are taken for each other, and signs between them do not count; neither do those
// around it, which may be the frame of the list, and a last word that may be its scroll bar.
func looksLike(read, name string) bool {
	want := likeness(name)
	words := strings.Fields(strings.TrimFunc(read, func(r rune) bool { return !isWord(r) }))
	if want == "" || len(words) == 0 {
		return false
	}
	return likeness(strings.Join(words, "")) == want || likeness(strings.Join(words[:len(words)-1], "")) == want
}

// likeness is what of a text tells it from others that are read.
func likeness(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case 'I', 'l', '1', '|', 'i':
			return 'l'
		case 'O', '0', 'Q':
			return 'o'
		}
		if !isWord(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}
