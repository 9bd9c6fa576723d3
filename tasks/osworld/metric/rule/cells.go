package rule

import (
	"fmt"
	"strconv"
	"strings"
)

// An area is a rectangle of cells; all bounds are included and count from 1.
type area struct{ left, top, right, bottom int }

const maxColumn, maxRow = 16384, 1048576 // of a spreadsheet

// areas reads ranges such as "A1:B2 $C$3 D:D".
func areas(text string) ([]area, error) {
	var list []area
	for part := range strings.FieldsSeq(text) {
		first, last, isRange := strings.Cut(strings.ToUpper(strings.ReplaceAll(part, "$", "")), ":")
		if !isRange {
			last = first
		}
		column1, row1, ok1 := cell(first)
		column2, row2, ok2 := cell(last)
		// A part without rows means whole columns, one without columns whole rows.
		if !ok1 || !ok2 || (column1 == 0) != (column2 == 0) || (row1 == 0) != (row2 == 0) ||
			(column1 == 0 || row1 == 0) && !isRange {
			return nil, fmt.Errorf("%.60q is not a range of cells", part)
		}
		if column1 == 0 {
			column1, column2 = 1, maxColumn
		}
		if row1 == 0 {
			row1, row2 = 1, maxRow
		}
		list = append(list, area{min(column1, column2), min(row1, row2), max(column1, column2), max(row1, row2)})
	}
	return list, nil
}

// cell splits such as "AB12" into column and row, 0 for one that is not there.
func cell(s string) (column, row int, ok bool) {
	n := 0
	for n < len(s) && n < 3 && s[n] >= 'A' && s[n] <= 'Z' {
		column = column*26 + int(s[n]-'A') + 1
		n++
	}
	if n < len(s) {
		r, err := strconv.ParseUint(s[n:], 10, 24)
		if err != nil || r == 0 || r > maxRow {
			return 0, 0, false
		}
		row = int(r)
	}
	return column, row, s != "" && column <= maxColumn
}

// within reports whether every area of a lies in one of b.
func within(a, b []area) bool {
	for _, x := range a {
		found := false
		for _, y := range b {
			found = found || x.left >= y.left && x.top >= y.top && x.right <= y.right && x.bottom <= y.bottom
		}
		if !found {
			return false
		}
	}
	return true
}

func (r Rule) cells(value, ref any) (bool, error) {
	refs, ok := ref.([]any)
	if !ok || len(refs) != 2 {
		return false, r.wrong("two texts with ranges")
	}
	var bounds [2][]area
	for i := range bounds {
		text, ok := refs[i].(string)
		if !ok {
			return false, r.wrong("two texts with ranges")
		}
		list, err := areas(text)
		if err != nil {
			return false, fmt.Errorf("rule %s: ref: %w", r.Method, err)
		}
		bounds[i] = list
	}
	text, ok := value.(string)
	if !ok {
		return false, nil
	}
	got, err := areas(text)
	if err != nil {
		return false, nil //nolint:nilerr // damaged results do not fit, they are no error
	}
	return within(bounds[0], got) && within(got, bounds[1]), nil
}
