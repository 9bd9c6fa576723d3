package screen

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Finding is a place where a quoted text stands on the screen.
type Finding struct {
	Place      // the window whose title holds it, or the node whose name or text does; the other is -1
	Whole bool // it is all of the title, of the name, or of a line of the text
}

// Find tells where a quoted text stands: in the title of a window ("window"), in the
// name or text of a node that can be seen ("tree"), or only in what was read from the
// picture ("ocr"); see [Observation.Findings].
func (o *Observation) Find(quote string) (source string, ok bool) {
	for _, f := range o.Findings(quote) {
		switch {
		case f.Window >= 0:
			return "window", true
		case !o.Tree.Nodes[f.Node].Read:
			return "tree", true
		}
		source, ok = "ocr", true
	}
	return source, ok
}

// Findings looks for a quoted text in the titles of the windows, and then in the
// names and texts of the nodes that can be seen, whole texts. It is strict: letters
// and case must be the same, words must be whole, and only white space may differ. A
// quote of less than two characters, or without a letter or digit, is found nowhere:
// it proves nothing.
func (o *Observation) Findings(quote string) []Finding {
	return o.findings(quote, o.view().readable)
}

// AllFindings is Findings also in what windows cover, and in windows that are minimised:
// that is not seen, but has not gone.
func (o *Observation) AllFindings(quote string) []Finding {
	return o.findings(quote, o.view().there)
}

func (o *Observation) findings(quote string, wanted func(int) bool) (list []Finding) {
	quote = collapse(quote)
	if utf8.RuneCountInString(quote) < 2 || !strings.ContainsFunc(quote, isWord) {
		return nil
	}
	for i, w := range o.Windows {
		if holds(w.Title, quote) {
			list = append(list, Finding{Place{Window: i, Node: -1}, collapse(w.Title) == quote})
		}
	}
	v := o.view()
	for i, n := range o.Tree.Nodes {
		if n.Parent < 0 && v.window[i] >= 0 && o.Windows[v.window[i]].Title == n.Name {
			continue // the window's title once more
		}
		told := []string{n.Name, n.Text}
		if text, ok := v.paragraph(i); ok {
			told = append(told, text)
		}
		in := func(match func(text, quote string) bool) bool {
			return slices.ContainsFunc(told, func(text string) bool { return match(text, quote) })
		}
		if in(holds) && wanted(i) {
			list = append(list, Finding{Place{Window: -1, Node: i}, in(isWhole)})
		}
	}
	return list
}

// isWhole reports whether a quote is a text, or a line of it.
func isWhole(text, quote string) bool {
	return collapse(text) == quote ||
		slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool { return collapse(line) == quote })
}

// Nearest returns the text on the screen that is most like a quote that is not
// there: the title, name or line that shares the most words with it; "" if none
// shares any.
func (o *Observation) Nearest(quote string) (text string) {
	wanted := strings.FieldsFunc(strings.ToLower(quote), func(r rune) bool { return !isWord(r) })
	best := 0.0
	consider := func(candidate string) {
		words := strings.FieldsFunc(strings.ToLower(candidate), func(r rune) bool { return !isWord(r) })
		shared := 0
		for _, w := range words {
			if slices.Contains(wanted, w) {
				shared++
			}
		}
		// The share of what both have in what either has (Jaccard), with repeats.
		if score := float64(shared) / float64(max(1, len(words)+len(wanted)-shared)); score > best {
			best, text = score, candidate
		}
	}
	for _, w := range o.Windows {
		consider(w.Title)
	}
	v := o.view()
	for i, n := range o.Tree.Nodes {
		if !v.readable(i) {
			continue
		}
		consider(n.Name)
		for line := range strings.SplitSeq(n.Text, "\n") {
			consider(line)
		}
	}
	return collapse(text)
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
	_, size := utf8.DecodeRuneInString(quote)
	for from := 0; ; {
		i := strings.Index(text[from:], quote)
		if i < 0 {
			return false
		}
		if WordsAt(text, quote, from+i) {
			return true
		}
		from += i + size
	}
}

// WordsAt reports whether a text has words at an offset, letter by letter, which are not a
// part of longer ones.
func WordsAt(text, words string, at int) bool {
	if words == "" || !strings.HasPrefix(text[at:], words) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	first, _ := utf8.DecodeRuneInString(words)
	last, _ := utf8.DecodeLastRuneInString(words)
	after, _ := utf8.DecodeRuneInString(text[at+len(words):])
	return !SameWord(before, first) && !SameWord(last, after)
}

// SameWord reports whether two neighbours belong to one word. Scripts that put
// no space between words tell nothing about that.
func SameWord(a, b rune) bool { return isWord(a) && isWord(b) && !unspaced(a) && !unspaced(b) }

func isWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
