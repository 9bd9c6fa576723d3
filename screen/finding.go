package screen

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A Finding is a place where a quoted text stands on the screen.
type Finding struct {
	Window int  // index of the window whose title holds it; -1 if a node does
	Node   int  // index of the node whose name or text holds it; -1 if a title does
	Whole  bool // it is all of the title, of the name, or of a line of the text
}

// Findings looks for a quoted text in the titles of the windows and in the names and
// texts of the nodes that can be seen. It is strict: letters and case must be the
// same, words must be whole, and only white space may differ. A quote of less than
// two characters, or without a letter or digit, is found nowhere: it proves nothing.
func (o *Observation) Findings(quote string) (list []Finding) {
	quote = collapse(quote)
	if utf8.RuneCountInString(quote) < 2 || !strings.ContainsFunc(quote, isWord) {
		return nil
	}
	for i, w := range o.Windows {
		if holds(w.Title, quote) {
			list = append(list, Finding{Window: i, Node: -1, Whole: collapse(w.Title) == quote})
		}
	}
	v := o.view()
	for i, n := range o.Tree.Nodes {
		if n.Parent < 0 && v.window[i] >= 0 && o.Windows[v.window[i]].Title == n.Name {
			continue // the window's title once more
		}
		if (holds(n.Name, quote) || holds(n.Text, quote)) && !v.part(i).Empty() && !v.hidden(i) {
			list = append(list, Finding{Window: -1, Node: i, Whole: isWhole(n.Name, quote) || isWhole(n.Text, quote)})
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
		if v.part(i).Empty() || v.hidden(i) {
			continue
		}
		consider(n.Name)
		for line := range strings.SplitSeq(n.Text, "\n") {
			consider(line)
		}
	}
	return collapse(text)
}
