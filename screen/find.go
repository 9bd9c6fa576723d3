package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Find looks for a quoted text in the titles of the windows ("window") and in
// the names and texts of the nodes that can be seen ("tree"), whole texts, and tells where
// it is. It proves a claim, so it is strict: letters and case must be the same,
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
		if (holds(n.Name, quote) || holds(n.Text, quote)) && v.readable(i) {
			return "tree", true
		}
		if text, ok := v.paragraph(i); ok && holds(text, quote) {
			return "tree", true
		}
	}
	return "", false
}

// paragraph returns the text that a node makes with those after it, where the list
// tells them as one; ok is false for a node that does not begin such a text.
func (v *view) paragraph(i int) (text string, ok bool) {
	nodes := v.Tree.Nodes
	if nodes[i].Role != "static" || i > 0 && nodes[i-1].Role == "static" && nodes[i-1].Parent == nodes[i].Parent {
		return "", false
	}
	list := []int{i}
	for j := i + 1; j < len(nodes) && nodes[j].Role == "static" && nodes[j].Parent == nodes[i].Parent; j++ {
		list = append(list, j)
	}
	text, end := v.run(list, 0)
	return text, end > 1
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
