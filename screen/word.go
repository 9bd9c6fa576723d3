package screen

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"desktop-agent/screen/atspi"
)

// Limits of what is told of one element, in characters.
const (
	maxTitle     = 120
	maxName      = 100
	maxHelp      = 80
	maxText      = 200
	maxFocusText = 1000 // of the node that has the focus: the part around the caret
	maxTerminal  = 2000 // of a terminal that has it, as 24 lines of 80 characters have: the end
	maxMessage   = 2000 // of what a dialog says: it is there to be read
	maxErrorText = 200
	maxCaretText = 20 // of what stands before the caret
)

// shortRole is what a reader of the list calls a node: the words of ARIA, by which
// models know controls, where AT-SPI's are longer or tell less.
func shortRole(n atspi.Node) string {
	switch n.Role {
	case "push button":
		return "button"
	case "push button menu":
		return "menu button"
	case "toggle button":
		return "toggle"
	case "check box":
		return "checkbox"
	case "radio button":
		return "radio"
	case "combo box":
		return "combobox"
	case "spin button":
		return "spinbutton"
	case "password text":
		return "password"
	case "menu item", "tearoff menu item", "list item", "tree item":
		return "item"
	case "check menu item":
		return "check item"
	case "radio menu item":
		return "radio item"
	case "page tab":
		return "tab"
	case "page tab list":
		return "tabs"
	case "tool bar":
		return "toolbar"
	case "table cell":
		return "cell"
	case "table column header", "column header":
		return "column"
	case "table row header", "row header":
		return "row"
	case "static":
		return "text"
	case "text":
		if n.Has("editable") || n.Has("focused") {
			return "textbox"
		}
	case "panel", "filler", "grouping", "section", "layered pane", "scroll pane", "viewport", "split pane":
		return "group"
	case "list box":
		return "list"
	case "tree table":
		return "tree"
	case "document web":
		return "page"
	case "document text", "document spreadsheet", "document presentation", "document frame", "document email":
		return "document"
	}
	return n.Role
}

// prose reports whether a node only says something: what a reader may quote, and
// nobody acts on.
func prose(n atspi.Node) bool {
	if n.Has("editable", "focused", "selected") {
		return false
	}
	switch n.Role {
	case "label", "static", "caption", "heading", "paragraph", "status bar", "block quote", "section", "info bar", "tool tip", "notification", "footer", "header":
		return true
	}
	return false
}

// plain reports whether the kind of a node with a name need not be told: what has no
// kind is a button if it has an ID, and else a text.
func plain(n atspi.Node) bool {
	return n.Role == "label" || n.Role == "static" || n.Role == "push button"
}

// shownStates are the states of a node that its role does not tell by itself.
func shownStates(n atspi.Node) []string {
	return slices.DeleteFunc(slices.Clone(n.States), func(s string) bool {
		switch s {
		case "active", "editable", "modal":
			return true
		case "pressed":
			return n.Has("checked")
		case "expanded", "collapsed":
			return n.Role == "menu"
		case "selected": // an open menu is listed as such
			return n.Role == "menu"
		}
		return false
	})
}

// A wording is how one element is told.
type wording struct {
	id, role bool
	name     string // instead of the node's, where it is another
	message  bool   // in a dialog that says something
}

// called is what a node is sure to be called, as far as a wording tells it.
func (w wording) called(n atspi.Node) string {
	switch {
	case w.name != "":
		return w.name
	case n.Name == "" && n.LabelFrom != atspi.LabelBeside:
		return n.Label
	}
	return n.Name
}

// known is what is told of a node in quotes by which a reader knows it in the picture: what
// it is called, what stands beside it, or what it holds; "" if nothing is.
func (w wording) known(n atspi.Node) string {
	name := cmp.Or(w.called(n), n.Label, strings.TrimSpace(n.Text))
	if name == "" {
		return ""
	}
	return quote(name, maxName)
}

// word tells one node, but for its place.
func (w wording) word(n atspi.Node) string {
	var b strings.Builder
	add := func(words ...string) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		for _, word := range words {
			b.WriteString(word)
		}
	}
	if w.id {
		add(n.ID)
	}
	if n.Has("focused") {
		n = inFocus(n)
	}
	said := w.called(n)
	text := n.Text
	if said == "" && prose(n) {
		said, text = strings.TrimSpace(text), ""
	}
	if name, cut := strings.CutSuffix(said, "…"); cut && len(name) > maxText && strings.HasPrefix(strings.TrimSpace(text), name) {
		said, text = strings.TrimSpace(text), "" // a label is called what it says, as far as names go
	}
	cell := isAddress(n)
	if w.role && !cell && !(plain(n) && said != "") || said == "" && n.Label == "" && text == "" {
		add(shortRole(n))
	}
	limit, textLimit := maxName, maxText
	switch {
	case n.Has("focused"):
		textLimit = maxTerminal // see inFocus
	case w.message:
		limit = maxMessage
	case prose(n):
		limit = maxText
	}
	switch {
	case cell:
		add(said)
	case said != "":
		add(quote(said, limit))
	case n.Label != "":
		add("beside ", quote(n.Label, limit))
	}
	if text != "" {
		add("= ", quote(text, textLimit))
	}
	if about := about(n); about != "" {
		add(about)
	}
	if states := append(shownStates(n), caret(n)...); len(states) > 0 {
		add("[", strings.Join(states, ", "), "]")
	}
	return b.String()
}

// inFocus returns a node that has the focus with the part of its text that is told: what comes
// before the caret and some of what follows it or, where nobody knows where that is, the
// beginning, of a terminal the end. It is as if the program told no more.
func inFocus(n atspi.Node) atspi.Node {
	const follows = 4 // a quarter of the part
	text, limit := []rune(n.Text), maxFocusText
	at := 0
	if n.Role == "terminal" {
		limit, at = maxTerminal, len(text)
	}
	if n.Caret > 0 {
		at = min(n.Caret-1, len(text))
	}
	if len(text) <= limit {
		return n
	}
	from := min(max(0, at+limit/follows-limit), len(text)-limit)
	if from > 0 { // it begins with a line, where one begins soon
		if end := slices.Index(text[from-1:min(at, from+limit/follows)], '\n'); end >= 0 {
			from += end
		}
	}
	to := min(from+limit, len(text))
	if n.Length == 0 {
		n.Length = n.Start + len(text)
	}
	if n.Line == 0 && n.Start == 0 {
		n.Line = 1
	}
	if n.Line > 0 {
		n.Line += strings.Count(string(text[:from]), "\n")
	}
	n.Text, n.Start = string(text[from:to]), n.Start+from
	if n.Caret = max(0, n.Caret-from); n.Caret > to-from+1 {
		n.Caret = 0
	}
	return n
}

// about tells what there is to know of a node's text beside the text.
func about(n atspi.Node) string {
	var list []string
	if n.Read && !isDrawn(n) { // that such a one has no name says so
		list = append(list, "read from the picture")
	}
	if n.Formula != "" {
		list = append(list, "formula "+quote(n.Formula, maxText))
	}
	if n.Line > 1 {
		list = append(list, fmt.Sprintf("from line %d", n.Line))
	}
	if n.Start > 0 {
		list = append(list, characters(n.Start)+" before")
	}
	if after := n.Length - n.Start - utf8.RuneCountInString(n.Text); n.Length > 0 && after > 0 {
		list = append(list, characters(after)+" after")
	}
	if beyond := beyond(n.Beyond); beyond != "" {
		list = append(list, beyond)
	}
	if n.Help != "" && !strings.Contains(strings.ToLower(n.Called()), strings.ToLower(n.Help)) {
		list = append(list, "help "+quote(n.Help, maxHelp))
	}
	if len(list) == 0 {
		return ""
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// beyond tells how many children are out of view.
func beyond(b atspi.Beyond) string {
	var list []string
	for _, side := range []struct {
		count int
		where string
	}{{b.Above, "above"}, {b.Below, "below"}, {b.Left, "to the left"}, {b.Right, "to the right"}} {
		switch {
		case side.count == atspi.Some:
			list = append(list, "more "+side.where)
		case side.count <= 0:
		case len(list) == 0:
			list = append(list, fmt.Sprintf("%d more %s", side.count, side.where))
		default:
			list = append(list, fmt.Sprintf("%d %s", side.count, side.where))
		}
	}
	return strings.Join(list, ", ")
}

// caret tells where the caret is among the states of a node: models count
// characters badly, so by what stands before it.
func caret(n atspi.Node) []string {
	text := []rune(n.Text)
	before := n.Caret - 1
	switch {
	case n.Caret <= 0 || before > len(text) || len(text) == 0 || !n.Has("focused") || n.Role == "table cell" && !n.Has("editable"):
		return nil // or it goes without saying
	case before == len(text):
		return []string{"caret at the end"}
	case before == 0:
		return []string{"caret at the start"}
	}
	from := max(0, before-maxCaretText)
	return []string{fmt.Sprintf("caret at %d, after %s", before, strconv.Quote(string(text[from:before])))}
}

// quote quotes a text of a program, cut to so many characters. Nothing in it
// can end the quotes or begin a line. Spaces that only forbid a line break are
// plain ones, and marks that only tell which way a time is written are left out.
func quote(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		switch r {
		case '\u00a0', '\u202f':
			return ' '
		case '\u200e', '\u200f':
			return -1
		}
		return r
	}, s)
	if utf8.RuneCountInString(s) <= limit {
		return strconv.Quote(s)
	}
	return strconv.Quote(string([]rune(s)[:limit])) + "…"
}

// address is the name of a cell of a spreadsheet.
var address = regexp.MustCompile(`^([A-Z]{1,3})[1-9][0-9]{0,6}$`)

func isAddress(n atspi.Node) bool { return n.Role == "table cell" && address.MatchString(n.Name) }

// isEmptyCell reports whether a node is a cell of a spreadsheet with nothing in it.
func isEmptyCell(n atspi.Node) bool {
	return n.Text == "" && n.Formula == "" && !n.Has("focused", "selected") && isAddress(n)
}

// isSheetHeader reports whether a node is a header of a spreadsheet, of which the program tells
// nothing: it follows from where the cells are.
func isSheetHeader(n atspi.Node) bool {
	switch n.Role {
	case columnHeader:
		return n.Key == "" && columnLetters.MatchString(n.Name)
	case rowHeader:
		return n.Key == "" && rowNumber.MatchString(n.Name)
	}
	return false
}

// The roles of headers of tables.
const (
	columnHeader = "table column header"
	rowHeader    = "table row header"
)

var (
	columnLetters = regexp.MustCompile(`^[A-Z]{1,3}$`)
	rowNumber     = regexp.MustCompile(`^[1-9][0-9]{0,6}$`)
)

// isOperable reports whether a node is a control, or something else that can be
// typed into but a whole document.
func isOperable(n atspi.Node) bool {
	return atspi.Operable(n.Role) || n.Has("editable") && !strings.HasPrefix(n.Role, "document") && n.Role != "table"
}

func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return strconv.Itoa(n) + " characters"
}
