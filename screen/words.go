package screen

import (
	"slices"
	"strings"
	"unicode"

	"desktop-agent/screen/atspi"
)

// Meant returns the indexes of the elements that words such as "the Save button of the
// dialog" can mean: whose name and kind, and the names and kinds of what they are in,
// explain each word. More than one are equally good: the words do not tell them apart. If
// words say more than a tree does ("the blue one on the left") they mean no element here.
//
// A name counts whole, in any case of letters; of words that tell a kind alone, such as "the
// text field", each element of the kind can be meant. What can be acted on is meant rather
// than a text that says the same, and what can be seen rather than what is covered: hidden
// tells that none of them can be seen.
func (o *Observation) Meant(words string) (list []int, hidden bool) {
	v := o.view()
	said := readings(tokens(words))
	best := 0
	for i, n := range o.Tree.Nodes {
		if n.ID == "" || v.window[i] == nowhere || shortRole(n) == "group" && n.Called() == "" {
			continue
		}
		rank := v.meant(said, i)
		if rank == 0 {
			continue
		}
		if v.readable(i) {
			rank += seen
		}
		switch {
		case rank > best:
			list, best = []int{i}, rank
		case rank == best:
			list = append(list, i)
		}
	}
	return v.outer(list), best < seen
}

// The ranks of what words can mean. What has a higher one is meant, and nothing else.
const (
	ofKind   = 1      // they tell its kind, and where it is
	ofName   = 1 << 1 // they tell its name
	operable = 1 << 2 // it can be acted on
	seen     = 1 << 3
)

// meant returns how well words mean a node; 0 if they do not.
func (v *view) meant(said []reading, i int) (rank int) {
	n := v.Tree.Nodes[i]
	for _, r := range said {
		called := names(n)
		if n.Role == atspi.RoleArrow {
			if called = names(v.Tree.Nodes[n.Parent]); explains(r.head, called, kind{}) > 0 {
				continue // the name alone means the button
			}
		}
		how := explains(r.head, called, kindOf(n))
		if how == 0 || !v.holdIt(r.places, i) {
			continue
		}
		rank = max(rank, how)
	}
	if rank > 0 && atspi.Clickable(n.Role) {
		rank += operable
	}
	return rank
}

// outer leaves of nodes of which one is in the other the one that does something, or else
// the inner one.
func (v *view) outer(list []int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(i int) bool {
		return slices.ContainsFunc(list, func(j int) bool {
			if i == j {
				return false
			}
			a, b := isOperable(v.Tree.Nodes[i]), isOperable(v.Tree.Nodes[j])
			return atspi.Within(v.Tree.Nodes, i, j) && b && !a || atspi.Within(v.Tree.Nodes, j, i) && (b || !a)
		})
	})
}

// holdIt reports whether each place is one that a node is in: something around it, or its
// window.
func (v *view) holdIt(places [][]string, i int) bool {
	return !slices.ContainsFunc(places, func(place []string) bool {
		for p := v.Tree.Nodes[i].Parent; p >= 0; p = v.Tree.Nodes[p].Parent {
			n := v.Tree.Nodes[p]
			if explains(place, append(names(n), tokens(n.App)), kindOf(n)) > 0 {
				return false
			}
		}
		w := v.window[i]
		if w < 0 {
			return true
		}
		window := v.Windows[w]
		is := kind{core: []string{"window"}}
		if window.Type == "dialog" {
			is = kinds["dialog"]
		}
		return explains(place, append(partsOf(tokens(window.Title)), tokens(window.Class)), is) == 0
	})
}

// partsOf returns the runs of words that a title has: a program puts its own name behind
// that of a document, or before it.
func partsOf(title []string) (list [][]string) {
	for from := range title {
		for to := from + 1; to <= len(title); to++ {
			list = append(list, title[from:to])
		}
	}
	return list
}

// A reading is one way to take words apart: what is meant, and places that it is in.
type reading struct {
	head   []string
	places [][]string
}

// prepositions begin the name of a place.
var prepositions = []string{"of", "in", "on", "inside", "within", "from", "at", "under"}

// maxReadings bounds the ways to take words apart: each preposition may be a part of a name.
const maxReadings = 64

// readings returns the ways to take words apart, at least one.
func readings(words []string) []reading {
	list := split(words)
	if k := slices.Index(words, possessive); k > 0 && k+1 < len(words) { // "the dialog's Save button"
		for _, r := range split(words[k+1:]) {
			list = append(list, reading{r.head, append(r.places, words[:k])})
		}
	}
	return list
}

// split returns the ways to take words apart at prepositions.
func split(words []string) []reading {
	list := []reading{{head: words}}
	for k, w := range words {
		if k == 0 || k+1 == len(words) || !slices.Contains(prepositions, w) || len(list) > maxReadings {
			continue
		}
		for _, r := range split(words[k+1:]) {
			list = append(list, reading{words[:k], append([][]string{r.head}, r.places...)})
		}
	}
	return list
}

// fillers are words that tell of no element which it is.
var fillers = []string{"the", "a", "an", "this", "that", "with", "for", "labeled", "labelled", "called", "named", "marked", "saying", "titled", "element", "control", "widget"}

// explains reports whether words are the name and kind of something, and nothing else.
func explains(words []string, names [][]string, k kind) (rank int) {
	if k.explains(words) {
		rank = ofKind
	}
	for _, name := range names {
		for at := range words {
			end := at + len(name)
			if len(name) == 0 || end > len(words) || !slices.Equal(words[at:end], name) {
				continue
			}
			rest := append(slices.Clone(words[:at]), words[end:]...)
			if !slices.ContainsFunc(rest, func(w string) bool { return !slices.Contains(fillers, w) }) || k.explains(rest) {
				return ofName
			}
		}
	}
	return rank
}

// names are what a node may be called: its name, or what it is for, also without a
// shortcut in brackets behind it.
func names(n atspi.Node) (list [][]string) {
	called := []string{n.Name, n.Label}
	if n.Name == "" && (prose(n) || n.Read) {
		called = append(called, n.Text)
	}
	for _, name := range called {
		short, _, _ := strings.Cut(name, "\t")
		if before, _, ok := strings.Cut(short, " ("); ok && strings.HasSuffix(short, ")") {
			short = before
		}
		list = append(list, tokens(name))
		if short != name {
			list = append(list, tokens(short))
		}
	}
	return slices.DeleteFunc(list, func(name []string) bool { return len(name) == 0 })
}

// possessive is the token of a possessive s.
const possessive = "'s"

// tokens are the words of a text in lower case, and signs that are names by themselves, as
// on the keys of a calculator; without what only separates or ends them.
func tokens(text string) (list []string) {
	var word []rune
	end := func() {
		s := strings.Trim(string(word), "'")
		if before, ok := strings.CutSuffix(s, possessive); ok {
			list, s = append(list, before), possessive
		}
		if s != "" {
			list = append(list, s)
		}
		word = word[:0]
	}
	for _, r := range strings.ReplaceAll(strings.ToLower(collapse(text)), "’", "'") {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '\'':
			word = append(word, r)
		case unicode.IsSymbol(r), strings.ContainsRune("#%&*/@\\", r):
			end()
			list = append(list, string(r))
		default:
			end()
		}
	}
	end()
	return list
}
