package screen

import (
	"image"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"desktop-agent/screen/atspi"
)

// at makes a node of a size.
func at(parent int, role, name string, x, y, w, h int, states ...string) atspi.Node {
	return atspi.Node{Parent: parent, Role: role, Name: name, Box: image.Rect(x, y, x+w, y+h), States: states}
}

func TestTextReadsAsAPersonDoes(t *testing.T) {
	label := func(n atspi.Node, label string, from atspi.LabelSource) atspi.Node {
		n.Label, n.LabelFrom = label, from
		return n
	}
	help := func(n atspi.Node, text string) atspi.Node {
		n.Help = text
		return n
	}
	for _, tt := range []struct {
		name  string
		nodes []atspi.Node
		want  string
	}{
		{"rows from top to bottom, whatever the order of the program", []atspi.Node{
			at(0, "push button", "OK", 300, 250, 60, 20), at(0, "push button", "Cancel", 200, 250, 60, 20),
			at(0, "entry", "Name", 100, 20, 100, 20), at(0, "label", "Who?", 10, 20, 60, 20),
		}, `
"Who?"; n4 entry "Name" @150,30
n3 "Cancel" @230,260; n2 "OK"`},
		{"columns are not mixed", []atspi.Node{
			at(0, "filler", "", 200, 0, 200, 300), at(1, "check box", "Right 1", 200, 10, 100, 20), at(1, "check box", "Right 2", 200, 40, 100, 20),
			at(0, "filler", "", 0, 0, 190, 300), at(4, "check box", "Left 1", 0, 10, 100, 20), at(4, "check box", "Left 2", 0, 40, 100, 20),
		}, `
n6 checkbox "Left 1" @50,20
n7 checkbox "Left 2"
n3 checkbox "Right 1" @250,20
n4 checkbox "Right 2"`},
		{"from right to left", []atspi.Node{
			at(0, "push button", "ביטול", 10, 10, 60, 20), at(0, "push button", "אישור", 100, 10, 60, 20),
		}, `
n3 "אישור" @130,20; n2 "ביטול" @40`},
		{"from right to left as the menus stand, whatever files are called", []atspi.Node{
			at(0, "menu bar", "", 0, 0, 300, 20), at(1, "menu", "ملف", 240, 0, 60, 20), at(1, "menu", "تحرير", 170, 0, 60, 20),
			at(0, "push button", "a.txt", 10, 50, 60, 20), at(0, "push button", "b.txt", 100, 50, 60, 20), at(0, "push button", "c.txt", 190, 50, 60, 20),
		}, `
menus: n3 "ملف" @270,10; n4 "تحرير" @200
n7 "c.txt" @220,60; n6 "b.txt" @130; n5 "a.txt" @40`},
		{"from right to left as the labels of fields stand", []atspi.Node{
			at(0, "label", "Name", 240, 10, 50, 20), label(at(0, "entry", "", 150, 10, 80, 20), "Name", atspi.LabelRelation),
			at(0, "push button", "OK", 10, 250, 60, 20), at(0, "push button", "Cancel", 100, 250, 60, 20),
		}, `
n3 entry "Name" @190,20
n5 "Cancel" @130,260; n4 "OK" @40`},
		{"a label is told with its field, and not twice", []atspi.Node{
			at(0, "label", "Rows:", 10, 10, 50, 20), label(at(0, "spin button", "", 70, 10, 50, 20), "Rows:", atspi.LabelRelation),
			at(0, "label", "Width", 10, 40, 50, 20), label(at(0, "entry", "", 70, 40, 50, 20), "Width", atspi.LabelBeside),
			label(at(0, "push button", "", 200, 40, 20, 20), "Close the panel", atspi.LabelDescription),
		}, `
n3 spinbutton "Rows:" @95,20
n5 entry beside "Width" @95,50; n6 "Close the panel"`},
		{"help is told once, and where it says more than the name", []atspi.Node{
			help(at(0, "push button", "New Tab", 10, 10, 50, 20), "New tab"), help(at(0, "push button", "Reload", 70, 10, 50, 20), "Reload this page"),
			help(at(0, "push button", "Up", 130, 10, 50, 20), "A step in size"), help(at(0, "push button", "Down", 190, 10, 50, 20), "A step in size"),
		}, `
n2 "New Tab" @35,20; n3 "Reload" (help "Reload this page"); n4 "Up" (help "A step in size"); n5 "Down"`},
		{"a group is called by its name, and a paragraph of a document by its text", []atspi.Node{
			at(0, "panel", "Delivery", 0, 0, 300, 60), at(1, "radio button", "By post", 10, 10, 90, 20), at(1, "radio button", "Fetch", 10, 30, 90, 20),
			at(0, "panel", "Colour", 0, 60, 300, 30), at(0, "document text", "a.odt", 0, 100, 300, 90),
			{Parent: 5, Role: "paragraph", Text: "Dear Ann", States: []string{"editable"}, Box: image.Rect(0, 100, 300, 120)},
			{Parent: 5, Role: "paragraph", Text: "Yours", States: []string{"editable"}, Box: image.Rect(0, 130, 300, 150)},
		}, `
"Delivery":
 n3 radio "By post" @55,20
 n4 radio "Fetch"
n5 group "Colour" @150,75
document:
 n7 = "Dear Ann" @150,110
 n8 = "Yours"`},
		{"a caret goes without saying where nothing stands, and in a cell", []atspi.Node{
			{Parent: 0, Role: "entry", Name: "Search", States: []string{"editable", "focused"}, Caret: 1, Box: image.Rect(0, 0, 100, 20)},
			{Parent: 0, Role: "entry", Name: "Name", Text: "Ann", States: []string{"editable", "focused"}, Caret: 4, Box: image.Rect(0, 30, 100, 50)},
			{Parent: 0, Role: "table cell", Text: "Legal", States: []string{"focused"}, Caret: 6, Box: image.Rect(0, 60, 100, 80)},
		}, `
n2 entry "Search" [focused] @50,10
n3 entry "Name" = "Ann" [focused, caret at the end]
n4 cell = "Legal" [focused]`},
		{"what an item of a menu is called is no label", []atspi.Node{
			at(0, "menu", "Footer", 10, 10, 50, 20), at(1, "check menu item", "Default Page Style", 70, 10, 90, 20),
			at(0, "label", "Default Page Style", 10, 250, 90, 20),
		}, `
open menu "Footer":
 n3 check item "Default Page Style" @115,20
n2 menu "Footer" @35,20
"Default Page Style" @55,260`},
		{"a submenu that lies on the edge of its item is one list", []atspi.Node{
			at(0, "menu", "Sort", 10, 10, 100, 20), at(1, "menu item", "By name", 105, 8, 90, 20), at(1, "menu item", "By size", 105, 28, 90, 20),
			at(1, "menu item", "By date", 105, 48, 90, 20),
		}, `
open menu "Sort":
 n3 "By name" @150,18
 n4 "By size"
 n5 "By date"
n2 menu "Sort" @60,20`},
		{"a list that dropped down onto the edge of its combo box is open", []atspi.Node{
			at(0, "combo box", "From", 10, 10, 100, 21, "expanded"), at(1, "menu", "", 11, 30, 100, 50),
			at(2, "menu item", "Basel", 12, 31, 90, 20), at(2, "menu item", "Bern", 12, 51, 90, 20),
		}, `
open combo "From":
 n4 "Basel" @57,41
 n5 "Bern"
n2 combobox "From" [expanded] @60,20`},
		{"a page that tells nothing says so", []atspi.Node{
			at(0, "entry", "Address", 0, 0, 300, 20), at(0, "document web", "Settings", 0, 30, 300, 200), at(2, "section", "", 0, 30, 300, 200),
		}, `
n2 entry "Address" @150,10
page "Settings", the program tells no text of it`},
		{"a name, and the same text within it", []atspi.Node{
			at(0, "list", "", 0, 0, 200, 100), at(1, "list item", "RX 101", 0, 0, 200, 20), at(2, "static", "RX 101", 0, 0, 60, 20),
			at(1, "list item", "", 0, 20, 200, 20), at(4, "label", "RX 102", 0, 20, 60, 20),
		}, `
n3 item "RX 101" @100,10
n5 item "RX 102"`},
		{"pieces of a paragraph are one text", []atspi.Node{
			at(0, "document web", "Page", 0, 0, 400, 300), at(1, "paragraph", "", 0, 0, 400, 20),
			at(2, "static", "Hello ", 0, 0, 40, 20), at(2, "static", "bold", 40, 0, 40, 20), at(2, "static", " world", 80, 0, 40, 20),
			at(2, "link", "more", 130, 0, 40, 20),
		}, `
page "Page": "Hello bold world"; n7 link "more" @150,10`},
		{"a table: a row a line, places where they do not follow", []atspi.Node{
			at(0, "table", "Files", 0, 0, 400, 100),
			at(1, "table column header", "Name", 0, 0, 200, 20), at(1, "table column header", "Size", 200, 0, 200, 20),
			at(1, "table cell", "a.txt", 0, 20, 200, 20), at(1, "table cell", "1 kB", 200, 20, 200, 20),
			at(1, "table cell", "b.txt", 0, 40, 200, 20, "selected"), at(1, "table cell", "2 kB", 200, 40, 200, 20, "selected"),
			at(1, "table cell", "c.txt", 0, 60, 200, 20), at(1, "table cell", "", 200, 60, 200, 20),
		}, `
table "Files":
 n3 column "Name" @100,10; n4 column "Size"
 n5 "a.txt"; n6 "1 kB"
 selected row: n7 "b.txt"; n8 "2 kB"
 n9 "c.txt" @100,70`},
		{"a row that is called by its text is told once, and a text that says more beside it", []atspi.Node{
			at(0, "table", "", 0, 0, 400, 100),
			byText(at(1, "table cell", "", 0, 20, 300, 20), "a.txt"), at(2, "table cell", "", 0, 20, 20, 20), at(2, "table cell", "a.txt", 20, 20, 280, 20, "selected"),
			at(1, "table cell", "1 kB", 300, 20, 100, 20),
			byText(at(1, "table cell", "", 0, 40, 300, 20), "b.txt"), at(6, "table cell", "b.txt", 0, 40, 100, 20), at(6, "table cell", "a note", 100, 40, 200, 20),
		}, `
table:
 n3 "a.txt" [selected] @150,30; n6 "1 kB"
 n7 "b.txt" @150,50; n9 "a note"`},
		{"a column of check boxes, of which one is ticked, and one of pictures", []atspi.Node{
			at(0, "table", "", 0, 0, 400, 100), at(1, "table column header", "Cool", 0, 0, 40, 20), at(1, "table column header", "Name", 80, 0, 300, 20),
			at(1, "table cell", "", 0, 20, 40, 20, "checked"), at(1, "table cell", "", 40, 20, 40, 20), at(1, "table cell", "Andrea", 80, 20, 300, 20),
			at(1, "table cell", "", 0, 40, 40, 20), at(1, "table cell", "", 40, 40, 40, 20), at(1, "table cell", "Otto", 80, 40, 300, 20),
		}, `
table:
 n3 column "Cool" @20,10; n4 column "Name"
 n5 checkbox [checked] @20,30; n7 "Andrea"
 n8 checkbox @20,50; n10 "Otto"`},
		{"what is disabled is a name", []atspi.Node{
			at(0, "tool bar", "Standard", 0, 0, 400, 20), at(1, "push button", "Cut", 0, 0, 20, 20, "disabled"), at(1, "push button", "Copy", 20, 0, 20, 20, "disabled"),
			at(1, "toggle button", "Bold", 40, 0, 20, 20, "checked"), at(1, "push button", "Undo", 60, 0, 20, 20, "disabled"),
		}, `
toolbar "Standard": disabled: "Cut", "Copy"; n5 "Bold" [checked] @50,10; "Undo" [disabled]`},
		{"containers without a name, and pictures, tell nothing", []atspi.Node{
			at(0, "filler", "", 0, 0, 400, 300), at(1, "panel", "", 0, 0, 400, 300), at(2, "icon", "", 0, 0, 20, 20),
			at(2, "tool bar", "Gallery", 0, 40, 20, 20), at(4, "toggle button", "", 0, 40, 20, 20),
		}, `
n6 toggle "Gallery" @10,50`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, "window \"Form\" focused"+tt.want+"\n", form(tt.nodes).Text(0))
		})
	}
}

func TestTextTellsMoreOfANode(t *testing.T) {
	for _, tt := range []struct {
		node atspi.Node
		want string
	}{
		{atspi.Node{Role: "table", Name: "Mail", Beyond: atspi.Beyond{Above: 9, Below: 21}}, `table "Mail" (9 more above, 21 below)`},
		{atspi.Node{Role: "list", Beyond: atspi.Beyond{Right: 3}}, `n2 list (3 more to the right) @100,50`},
		{atspi.Node{Role: "text", Text: "Dear Ann", States: []string{"focused", "editable"}, Caret: 9}, `n2 textbox = "Dear Ann" [focused, caret at the end] @100,50`},
		{atspi.Node{Role: "text", Text: "Dear Ann", States: []string{"focused", "editable"}, Caret: 1}, `n2 textbox = "Dear Ann" [focused, caret at the start] @100,50`},
		{atspi.Node{Role: "text", Text: "Dear Ann", States: []string{"focused", "editable"}, Caret: 6}, `n2 textbox = "Dear Ann" [focused, caret at 5, after "Dear "] @100,50`},
		{atspi.Node{Role: "text", Text: "Dear Ann", States: []string{"editable"}, Caret: 6}, `n2 textbox = "Dear Ann" @100,50`},
		{atspi.Node{Role: "text", Text: "Dear Ann", States: []string{"editable"}, Line: 120, Start: 3000, Length: 9000}, `n2 textbox = "Dear Ann" (from line 120, 3000 characters before, 5992 characters after) @100,50`},
		{atspi.Node{Role: "table cell", Name: "B6", Text: "12", Formula: "=SUM(B1:B5)"}, `n2 B6 = "12" (formula "=SUM(B1:B5)") @100,50`},
		{atspi.Node{Role: "push button", Name: "Go", Help: "Starts the search"}, `n2 "Go" (help "Starts the search") @100,50`},
		{atspi.Node{Role: "terminal", Text: "$ ls", Read: true}, `n2 terminal = "$ ls" (read from the picture) @100,50`},
		{atspi.Node{Role: "label", Name: "15\u200e:39 \u00a0"}, `"15:39  " @100,50`},
	} {
		tt.node.Box = image.Rect(0, 0, 200, 100)
		assert.Equal(t, "window \"Form\" focused\n"+tt.want+"\n", form([]atspi.Node{tt.node}).Text(0))
	}
}

// A dialog that must be answered comes first, with all that it says; what waits for it is
// one line. The same without "modal" is a window as any.
func TestTextOfADialog(t *testing.T) {
	long := strings.Repeat("All of it will be lost. ", 20)
	o := form([]atspi.Node{at(0, "push button", "Send", 10, 10, 60, 20), at(0, "entry", "To", 100, 10, 60, 20)})
	o.Windows = append(o.Windows, Window{Title: "Discard?", Class: "Form", PID: 7, Type: "dialog", Box: image.Rect(80, 100, 300, 200)})
	o.Tree.Nodes = append(o.Tree.Nodes,
		atspi.Node{ID: "n8", PID: 7, Parent: -1, Role: "alert", Name: "Discard?", States: []string{"modal"}, Box: image.Rect(80, 100, 300, 200)},
		atspi.Node{ID: "n9", PID: 7, Parent: 3, Depth: 1, Role: "label", Name: long, Box: image.Rect(80, 100, 300, 160)})
	assert.Equal(t, "modal dialog \"Discard?\" (\"Form\")\n"+`"`+long+"\" @190,130\n"+
		"window \"Form\" focused, blocked by the dialog: 2 elements\n", o.Text(0))
	o.Tree.Nodes[3].States = nil
	assert.Equal(t, "window \"Form\" focused\nn2 \"Send\" @40,20; n3 entry \"To\"\nwindow \"Discard?\" (\"Form\")\n"+`"`+long+"\" @190,130\n", o.Text(0))
}

// What a dialog of a page says is told whole, too, in one text or in pieces; of the page below it
// the beginning.
func TestTextOfADialogOfAPage(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("All of it will be lost. ", 20))
	cut := `"` + long[:maxText] + `"…`
	page := func(role string) string {
		text := at(2, "static", "", 20, 20, 100, 40)
		text.Depth, text.Name = 3, long
		part, rest := text, text
		part.Box, part.Name = part.Box.Add(image.Pt(0, 60)), long[:100]
		rest.Box, rest.Name = part.Box.Add(image.Pt(0, 60)), long[100:]
		field := at(2, "push button", "Go", 20, 70, 20, 10)
		field.Depth = 3
		box := at(1, role, "", 10, 10, 150, 200)
		box.Depth = 2
		return form([]atspi.Node{at(0, "document web", "Shop", 0, 0, 200, 220), box, text, field, part, rest}).Text(0)
	}
	assert.Equal(t, 2, strings.Count(page("dialog"), long))
	assert.Equal(t, 2, strings.Count(page("alert"), long))
	assert.Equal(t, 2, strings.Count(page("panel"), cut))
}

// A list of choices that is open says of itself that it is modal: what it belongs to is
// there all the same, and told.
func TestTextOfAnOpenList(t *testing.T) {
	o := form([]atspi.Node{at(0, "push button", "Send", 10, 10, 60, 20)})
	o.Windows = append(o.Windows, Window{Class: "Form", PID: 7, Popup: true, Box: image.Rect(100, 40, 200, 100)})
	o.Tree.Nodes = append(o.Tree.Nodes,
		atspi.Node{ID: "n8", PID: 7, Parent: -1, Role: "window", States: []string{"modal"}, Box: image.Rect(100, 40, 200, 100)},
		atspi.Node{ID: "n9", PID: 7, Parent: 2, Depth: 1, Role: "list item", Name: "Lyon", Box: image.Rect(100, 40, 200, 60)})
	text := o.Text(0)
	assert.NotContains(t, text, "blocked")
	assert.Contains(t, text, `"Send"`)
	assert.Contains(t, text, `"Lyon"`)
}

// Half of a field is enough to be told, to be clicked, and to be quoted.
func TestTextOfHalfAField(t *testing.T) {
	field := at(0, "entry", "Notes", 100, 100, 100, 20)
	field.Text = "call Bob"
	o := form([]atspi.Node{field}, Window{Title: "Over", PID: 9, Box: image.Rect(0, 0, 160, 300)})
	assert.Contains(t, o.Text(0), `n2 entry "Notes" = "call Bob" @180,110`)
	_, ok := o.Find("call Bob")
	assert.True(t, ok)
	o.Windows[1].Box.Max.X = 250
	assert.Contains(t, o.Text(0), "window \"Form\" focused, covered\nwindow \"Over\", the program tells no text\n")
	_, ok = o.Find("call Bob")
	assert.False(t, ok)
}

// A strip of two letters is not enough to be read. Of a word that is no wider, and of a
// field, whose edge says that it is there, it is.
func TestTextOfAStrip(t *testing.T) {
	line := at(0, "paragraph", "", 100, 100, 200, 16)
	line.Text, line.States = "line number 62", []string{"editable"}
	short := at(0, "paragraph", "", 100, 120, 20, 16)
	short.Text = "no"
	field := at(0, "entry", "Notes", 100, 140, 200, 20)
	over := Window{Title: "Over", PID: 9, Box: image.Rect(120, 90, 400, 180)}
	o := form([]atspi.Node{line, short, field}, over)
	assert.NotContains(t, o.Text(0), "line number 62")
	assert.Contains(t, o.Text(0), `"no"`)
	assert.Contains(t, o.Text(0), `"Notes"`)
	o.Windows[1].Box.Min.X = 100 + minWord
	assert.Contains(t, o.Text(0), "line number 62")
}

// What the list tells as one text can be quoted as one.
func TestFindInAParagraph(t *testing.T) {
	o := form([]atspi.Node{at(0, "static", "Total: ", 0, 0, 40, 20), at(0, "static", "42 EUR", 40, 0, 40, 20), at(0, "label", "net", 90, 0, 40, 20)})
	for quote, want := range map[string]bool{"Total: 42 EUR": true, "42 EUR": true, "42 EUR net": false} {
		_, ok := o.Find(quote)
		assert.Equal(t, want, ok, quote)
	}
}
