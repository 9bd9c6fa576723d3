package screen

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/screen/atspi"
)

// TestTextLeavesPlacesOut holds where a place follows from those that are told, and where it
// would not, or not clearly.
func TestTextLeavesPlacesOut(t *testing.T) {
	button := func(name string, x, y int, states ...string) atspi.Node {
		return at(0, "push button", name, x, y, 60, 20, states...)
	}
	for _, tt := range []struct {
		name  string
		nodes []atspi.Node
		want  string
	}{
		{"a row: the first is told", []atspi.Node{button("A", 10, 10), button("B", 80, 10), button("C", 150, 12)}, `
n2 "A" @40,20; n3 "B"; n4 "C"`},
		{"what is disabled is no first", []atspi.Node{button("A", 10, 10, "disabled"), button("B", 80, 10), button("C", 150, 10)}, `
"A" [disabled]; n3 "B" @110,20; n4 "C"`},
		{"nobody finds what has no name", []atspi.Node{button("A", 10, 10), button("", 80, 10), button("C", 150, 10)}, `
n2 "A" @40,20; n3 button @110; n4 "C"`},
		{"of equal names one at most goes without", []atspi.Node{button("Menu", 10, 10), button("Bold", 80, 10), button("Menu", 150, 10), button("Menu", 220, 10)}, `
n2 "Menu" @40,20; n3 "Bold"; n4 "Menu"; n5 "Menu" @250`},
		{"nor one beside a disabled one of the name", []atspi.Node{button("Bold", 10, 10), button("Copy", 80, 10), button("Copy", 150, 10, "disabled")}, `
n2 "Bold" @40,20; n3 "Copy" @110; "Copy" [disabled]`},
		{"what is out of the row's height", []atspi.Node{button("A", 10, 10), at(0, "push button", "B", 80, 21, 60, 12), at(0, "push button", "C", 150, 10, 60, 20)}, `
n2 "A" @40,20; n3 "B" @110,27; n4 "C"`},
		{"texts in a row", []atspi.Node{at(0, "label", "Page 1", 10, 10, 60, 20), at(0, "label", "100%", 80, 10, 60, 20)}, `
"Page 1" @40,20; "100%"`},
		{"rows have a place each, whatever names they have", []atspi.Node{button("Rent", 10, 10), button("Close", 80, 10), button("Food", 10, 40), button("Close", 80, 40)}, `
n2 "Rent" @40,20; n3 "Close"
n4 "Food" @40,50; n5 "Close"`},
		{"a column: the uppermost is told, by the left edge, the right one or the middle", []atspi.Node{
			at(0, "check box", "A", 10, 10, 60, 20), at(0, "check box", "B", 10, 40, 90, 20), at(0, "check box", "C", 40, 70, 60, 20), at(0, "check box", "D", 50, 100, 40, 20),
		}, `
n2 checkbox "A" @40,20
n3 checkbox "B"
n4 checkbox "C"
n5 checkbox "D"`},
		{"what is disabled in it ends it not", []atspi.Node{button("A", 10, 10), button("B", 10, 40, "disabled"), button("C", 10, 70)}, `
n2 "A" @40,20
"B" [disabled]
n4 "C"`},
		{"equal names and none in a column", []atspi.Node{button("A", 10, 10), button("Menu", 10, 40), button("Menu", 10, 70), button("", 10, 100), button("E", 10, 130)}, `
n2 "A" @40,20
n3 "Menu"
n4 "Menu" @40,80
n5 button @40,110
n6 "E"`},
		{"to a side, far below, or of quite another height", []atspi.Node{
			button("A", 10, 10), button("B", 30, 40), button("C", 30, 100), at(0, "text", "Body", 30, 130, 60, 90, "editable"),
		}, `
n2 "A" @40,20
n3 "B" @60,50
n4 "C" @60,110
n5 textbox "Body" @60,175`},
		{"rows between end a column", []atspi.Node{button("A", 10, 10), button("B", 10, 40), button("C", 80, 40), button("D", 10, 70)}, `
n2 "A" @40,20
n3 "B" @40,50; n4 "C"
n5 "D" @40,80`},
		{"so does another container", []atspi.Node{button("A", 10, 10), at(0, "panel", "More", 0, 32, 300, 60), at(2, "check box", "B", 10, 35, 60, 20), at(2, "check box", "C", 10, 60, 60, 20)}, `
n2 "A" @40,20
"More":
 n4 checkbox "B" @40,45
 n5 checkbox "C"`},
		{"from right to left all of a row are told, and of a column one", []atspi.Node{
			button("ביטול", 10, 10), button("אישור", 80, 10), button("שמור", 80, 40), button("סגור", 80, 70),
		}, `
n3 "אישור" @110,20; n2 "ביטול" @40
n4 "שמור" @110,50
n5 "סגור"`},
		{"rows of a list, and those of another form", []atspi.Node{
			at(0, "table", "Files", 0, 0, 400, 200), at(1, "table cell", "a", 0, 20, 200, 20), at(1, "table cell", "1 kB", 200, 20, 200, 20),
			at(1, "table cell", "b", 0, 40, 200, 20), at(1, "table cell", "1 kB", 200, 40, 200, 20), at(1, "table cell", "c", 0, 60, 100, 20),
		}, `
table "Files":
 n3 "a" @100,30; n4 "1 kB"
 n5 "b"; n6 "1 kB"
 n7 "c" @50,70`},
		{"a sheet has its places: empty cells are reckoned by them", []atspi.Node{
			at(0, "table", "Sheet", 0, 0, 400, 200), at(1, "table cell", "A1", 0, 20, 100, 20), at(1, "table cell", "B1", 100, 20, 200, 20), at(1, "table cell", "A2", 0, 40, 100, 20),
		}, `
table "Sheet":
 n3 A1 = "x" @50,30; n4 B1 = "x" @200
 n5 A2 = "x" @50,50`},
		{"and a line tells of its headers, which no program tells", []atspi.Node{
			at(0, "table", "Sheet", 20, 20, 300, 40),
			at(1, "table column header", "A", 20, 0, 100, 20), at(1, "table column header", "B", 120, 0, 200, 20),
			at(1, "table row header", "1", 0, 20, 20, 20), at(1, "table row header", "2", 0, 40, 20, 20),
			at(1, "table cell", "A1", 20, 20, 100, 20), at(1, "table cell", "B1", 120, 20, 200, 20), at(1, "table cell", "A2", 20, 40, 100, 20),
		}, `
table "Sheet":
 n7 A1 = "x" @70,30; n8 B1 = "x" @220
 n9 A2 = "x" @70,50
 2 column headers, from n3 A @70,10 to n4 B @220,10
 2 row headers, from n5 1 @10,30 to n6 2 @10,50`},
		{"one alone is the first and the last", []atspi.Node{
			at(0, "table", "Sheet", 20, 20, 300, 40), at(1, "table column header", "A", 20, 0, 100, 20), at(1, "table row header", "1", 0, 20, 20, 20),
			at(1, "table cell", "A1", 20, 20, 100, 20),
		}, `
table "Sheet":
 1 column header, n3 A @70,10
 1 row header, n4 1 @10,30
 1 empty cell, n5 A1 @70,30`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for i := range tt.nodes {
				if isAddress(tt.nodes[i]) {
					tt.nodes[i].Text = "x"
				}
			}
			assert.Equal(t, "window \"Form\" focused"+tt.want+"\n", form(tt.nodes).Text(0))
		})
	}
}

// long is a row that no line holds, and a column below it.
func long() *Observation {
	var nodes []atspi.Node
	for i := range 12 {
		nodes = append(nodes, at(0, "push button", fmt.Sprintf("Command number %d of a bar", i), 5+i*30, 10, 25, 20))
	}
	for i := range 4 {
		nodes = append(nodes, at(0, "check box", fmt.Sprintf("Option %d", i), 10, 60+i*25, 90, 20))
	}
	return form(nodes)
}

// A line that goes on in a row says so.
func TestTextOfALongRow(t *testing.T) {
	text := long().Text(0)
	assert.Contains(t, text, "\nn2 \"Command number 0 of a bar\" @17,20; n3 ")
	assert.Regexp(t, `\n; n\d+ "Command number \d+ of a bar"; n`, text)
	assert.Equal(t, 2, strings.Count(text, "@"), "the row and the column")
}

// What follows from a line that is left out has its place: the first line with an ID always
// has one.
func TestTextBudgetKeepsPlaces(t *testing.T) {
	o := long()
	for i := range o.Tree.Nodes[1:3] { // so much that the first lines are left out
		o.Tree.Nodes[i+1].Help = strings.Repeat("x", maxHelp)
	}
	whole := o.Text(0)
	alone := 0
	for budget := 20; budget < len(whole)/bytesPerToken+20; budget++ {
		text := o.Text(budget)
		require.LessOrEqual(t, len(text), budget*bytesPerToken)
		first := regexp.MustCompile(`(?m)^.*\bn\d+ .*$`).FindString(text)
		require.NotRegexp(t, `^;`, first, text)
		if first != "" {
			require.Contains(t, first, "@", text)
		}
		if first != "" && !strings.HasPrefix(first, "n2 ") {
			alone++
		}
	}
	assert.NotZero(t, alone)
}

// For who aims by points, all have their places.
func TestTextOnTellsEveryPlace(t *testing.T) {
	o := long()
	text := o.TextOn(0, 0)
	assert.Equal(t, 16, strings.Count(text, "@"))
	assert.NotContains(t, text, "\n; ")
	id := regexp.MustCompile(`n\d+ `)
	assert.Equal(t, id.FindAllString(o.Text(0), -1), id.FindAllString(text, -1))
}
