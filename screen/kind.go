package screen

import (
	"cmp"
	"slices"
	"strings"

	"desktop-agent/screen/atspi"
)

// A kind is the words that people have for a kind of element.
type kind struct {
	core []string // each tells it by itself
	also []string // that stand beside one of core
}

// explains reports whether words are those of a kind, with one at least that tells it.
func (k kind) explains(words []string) bool {
	told := false
	for _, w := range words {
		switch {
		case slices.Contains(k.core, w):
			told = true
		case !slices.Contains(k.also, w) && !slices.Contains(fillers, w):
			return false
		}
	}
	return told
}

// kindWords has the words for elements of some roles: those that tell the kind, and behind
// the bar those that only stand beside one of them.
var kindWords = map[string]string{
	"push button":          "button icon|push tool",
	"push button menu":     "button icon dropdown|push menu drop down",
	"arrow":                "arrow dropdown|button drop down menu list",
	"toggle button":        "button toggle icon switch|tool",
	"check box":            "checkbox box tickbox|check tick option",
	"switch":               "switch toggle|button",
	"radio button":         "radio button option|",
	"combo box":            "combobox dropdown combo box selector list menu field|drop down selection",
	"spin button":          "spinbutton spinner spin box field input|button number",
	"slider":               "slider|bar",
	"entry":                "field textbox box input entry|text edit input line",
	"text":                 "field textbox box input entry area editor text|edit line",
	"password text":        "field password box input entry|text",
	"editbar":              "field box input bar|text edit",
	"terminal":             "terminal|window area",
	"link":                 "link hyperlink|web",
	"menu":                 "menu|bar",
	"menu item":            "item entry option command|menu",
	"check menu item":      "item entry option command|menu check",
	"radio menu item":      "item entry option command|menu radio",
	"list item":            "item entry row option|list line",
	"tree item":            "item entry row node folder|tree list line",
	"icon":                 "icon|file folder desktop",
	"image":                "image picture icon|",
	"page tab":             "tab|page",
	"page tab list":        "tabs|tab bar list page",
	"label":                "label text|line message",
	"static":               "text label|line message",
	"heading":              "heading title|text",
	"paragraph":            "paragraph text|",
	"dialog":               "dialog dialogue window popup|box message pop up",
	"alert":                "dialog alert window popup message|box pop up",
	"file chooser":         "dialog window chooser|file box",
	"frame":                "window frame|main",
	"window":               "window|",
	"table cell":           "cell|table",
	"table column header":  "column header heading|table",
	"column header":        "column header heading|table",
	"table row header":     "row header heading|table",
	"row header":           "row header heading|table",
	"tool bar":             "toolbar bar|tool",
	"menu bar":             "menubar bar|menu",
	"status bar":           "statusbar bar|status",
	"scroll bar":           "scrollbar bar|scroll",
	"progress bar":         "progressbar progress bar|",
	"table":                "table grid|",
	"list":                 "list|box",
	"list box":             "list|box",
	"tree":                 "tree list|",
	"tree table":           "tree table list|",
	"panel":                "panel group area section pane|bar side",
	"drawing area":         "canvas area drawing|",
	"canvas":               "canvas area drawing|",
	"document web":         "page document website webpage|web",
	"document text":        "document text page|area",
	"document spreadsheet": "spreadsheet sheet document|",
	"document frame":       "document page|",
	"calendar":             "calendar|",
	"color chooser":        "chooser|color colour",
	"date editor":          "field editor|date",
	"popup menu":           "menu|popup context pop up",
}

// kinds is kindWords, by role.
var kinds = func() map[string]kind {
	all := map[string]kind{}
	for role, words := range kindWords {
		core, also, _ := strings.Cut(words, "|")
		all[role] = kind{strings.Fields(core), strings.Fields(also)}
	}
	return all
}()

// kindOf is the words for the kind of a node, with those that the list has for it.
func kindOf(n atspi.Node) kind {
	k := kinds[n.Role]
	short := shortRole(n)
	if short == "group" {
		k = kinds["panel"]
	}
	own := kind{core: slices.Clone(k.core), also: append(slices.Clone(k.also), tokens(n.Role)...)}
	if one := tokens(short); len(one) == 1 {
		own.core = append(own.core, one[0])
	}
	if len(k.core) == 0 {
		own.core = append(own.core, tokens(n.Role)...)
	}
	return own
}

// kindWord reports whether a word is one for some kind of element.
func kindWord(w string) bool {
	for _, k := range kinds {
		if slices.Contains(k.core, w) || slices.Contains(k.also, w) {
			return true
		}
	}
	return false
}

// MayBe reports whether a node can be what words mean, for who has found it by other means:
// it is called otherwise if its name has no word in common with them, and of another kind
// if only that can be compared. What tells neither, as what is drawn, can be anything.
func (o *Observation) MayBe(words string, node int) bool {
	n := o.Tree.Nodes[node]
	called := names(n)
	for p := node; p >= 0; p = o.Tree.Nodes[p].Parent {
		if m := o.Tree.Nodes[p]; isOperable(m) { // a click on what is in a button is one on the button
			n, called = m, append(called, names(m)...)
			break
		}
	}
	if !isOperable(n) && !atspi.Clickable(n.Role) && !prose(n) {
		return true
	}
	said := slices.MinFunc(readings(tokens(words)), func(a, b reading) int { return len(a.head) - len(b.head) }).head
	said = slices.DeleteFunc(slices.Clone(said), func(w string) bool { return slices.Contains(fillers, w) })
	k := kindOf(n)
	ofKind := func(w string) bool { return slices.Contains(k.core, w) || slices.Contains(k.also, w) }
	for _, name := range called {
		whole, common := true, false
		for _, w := range name {
			in := slices.Contains(said, w)
			whole, common = whole && in, common || in && !ofKind(w)
		}
		if whole || common {
			return true
		}
	}
	if len(called) > 0 && slices.ContainsFunc(said, func(w string) bool { return !kindWord(w) }) {
		return false
	}
	return !slices.ContainsFunc(said, kindWord) || slices.ContainsFunc(said, ofKind)
}

// Near returns the indexes of the elements that can be seen and whose names are most like
// words, the most like first, and so many at most: those that have a word in common with
// them.
func (o *Observation) Near(words string, most int) []int {
	v := o.view()
	said := tokens(words)
	like := map[int]float64{}
	var list []int
	for i, n := range o.Tree.Nodes {
		if n.ID == "" || n.Parent < 0 || !v.readable(i) {
			continue
		}
		for _, name := range names(n) {
			common := 0
			for _, w := range name {
				if slices.Contains(said, w) && !slices.Contains(fillers, w) {
					common++
				}
			}
			if score := float64(common) / float64(len(name)+len(said)-common); score > like[i] {
				if like[i] == 0 {
					list = append(list, i)
				}
				like[i] = score
			}
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(like[b], like[a]) })
	return list[:min(len(list), most)]
}
