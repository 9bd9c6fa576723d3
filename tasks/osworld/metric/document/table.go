package document

import (
	"fmt"
	"strconv"
	"strings"

	"desktop-agent/tasks"
	"desktop-agent/tasks/office"
)

// maxSlots is how many cells all tables of a document may have, a merged cell
// counting once for each place that it takes.
const maxSlots = 500_000

// A table is a w:tbl as a grid: each place has the cell that covers it, so that a
// merged cell is there several times. Places that no cell covers are nil.
type table struct {
	Columns int
	Rows    [][]*office.Node
}

// newTable lays out the cells of a table, and takes their number from slots.
func newTable(n *office.Node, slots *int) (table, error) {
	var t table
	for range n.Child("w:tblGrid").All("w:gridCol") {
		t.Columns++
	}
	widest := 0
	for tr := range n.All("w:tr") {
		var above []*office.Node
		if len(t.Rows) > 0 {
			above = t.Rows[len(t.Rows)-1]
		}
		row := make([]*office.Node, min(number(tr.Child("w:trPr", "w:gridBefore"), 0), maxSpan))
		for tc := range tr.All("w:tc") {
			cell := tc
			if merge := tc.Child("w:tcPr", "w:vMerge"); merge != nil && merge.Attr("w:val") != "restart" && len(row) < len(above) {
				cell = above[len(row)]
			}
			span := min(number(tc.Child("w:tcPr", "w:gridSpan"), 1), maxSpan)
			if *slots -= span; *slots < 0 {
				return t, fmt.Errorf("%w: its tables have more than %d cells", office.ErrTooLarge, maxSlots)
			}
			for range span {
				row = append(row, cell)
			}
		}
		if *slots -= len(row); *slots < 0 {
			return t, fmt.Errorf("%w: its tables have more than %d cells", office.ErrTooLarge, maxSlots)
		}
		widest = max(widest, len(row))
		t.Rows = append(t.Rows, row)
	}
	if t.Columns == 0 {
		t.Columns = widest
	}
	return t, nil
}

const maxSpan = 1024 // columns; Word makes no more than 63

// number reads a whole number that is not negative.
func number(n *office.Node, absent int) int {
	v, err := strconv.Atoi(n.Attr("w:val"))
	if err != nil || v < absent {
		return absent
	}
	return v
}

// cellText returns the text of the cell at a place of the grid.
func (t table) cellText(row, column int) string {
	if column >= len(t.Rows[row]) || t.Rows[row][column] == nil {
		return ""
	}
	return strings.Join(textsOf(paragraphsOf(t.Rows[row][column])), "\n")
}

// tables (compare_docx_tables) compares the tables of two documents: their
// number, the rows and columns of each, and the text of each cell without the
// blanks around it.
func (judge) tables(got, want *docx, _ tasks.Params) (tasks.Score, error) {
	return score(tableDifference(got, want))
}

// tableDifference describes the first difference of the tables, "" if there is none.
func tableDifference(got, want *docx) string {
	if len(got.tables) != len(want.tables) {
		return fmt.Sprintf("there are %d tables, not %d", len(got.tables), len(want.tables))
	}
	for i, w := range want.tables {
		g := got.tables[i]
		if len(g.Rows) != len(w.Rows) || g.Columns != w.Columns {
			return fmt.Sprintf("table %d has %d rows and %d columns, not %d and %d",
				i+1, len(g.Rows), g.Columns, len(w.Rows), w.Columns)
		}
		for row := range w.Rows {
			for column := range min(w.Columns, max(len(w.Rows[row]), len(g.Rows[row]))) {
				gotText, wantText := strings.TrimSpace(g.cellText(row, column)), strings.TrimSpace(w.cellText(row, column))
				if gotText != wantText {
					return fmt.Sprintf("table %d, row %d, column %d is %s, not %s",
						i+1, row+1, column+1, quote(gotText), quote(wantText))
				}
			}
		}
	}
	return ""
}
