package atspi

import (
	"image"
	"strconv"
)

// uneven is how many pixels rows that are frozen may be higher in all: there is a line below them.
const uneven = 3

// sheet adds what LibreOffice does not tell of a sheet but where its corner is: the rows
// that are frozen above the table, and the headers.
func (t *table) sheet() {
	corner, pane := t.corner()
	above := t.visible.Min.Sub(corner.Max)
	if pane == nil || t.rows[0].index == 0 && above.Y > uneven || t.columns[0].index == 0 && above.X > uneven {
		return // or it has moved while it was read
	}
	for o := t.object; o != pane; o = o.parent { // what holds the table begins there, too
		o.box.Min = corner.Min
	}
	t.freeze(corner.Max.Y)
	header := func(name string, of role, box image.Rectangle) {
		t.object.children = append(t.object.children, &object{
			parent: t.object, role: of, name: name, box: box,
			known: true, placed: true, visible: true, states: 1 << stateEnabled,
		})
	}
	for _, c := range t.columns {
		header(columnName(c.index), roleTableColumnHeader, image.Rect(c.min, corner.Min.Y, c.max, corner.Max.Y))
	}
	for _, r := range t.rows {
		header(rowName(r.index), roleTableRowHeader, image.Rect(corner.Min.X, r.min, corner.Max.X, r.max))
	}
}

// addresses asks for the name of the cell at the corner, as it stands for all: LibreOffice calls
// each by its column and row, and to ask a thousand is a seventh of what reading a sheet takes.
func (t *table) addresses(then func()) {
	column, row := t.columns[0], t.rows[0]
	t.cell(row.index, column.index, func(ref reference, ok bool) {
		if !ok {
			then()
			return
		}
		t.property(ref, accessible, "Name", func(v any) {
			t.addressed = v == any(address(column, row))
			then()
		})
	})
}

// address returns what a cell of a sheet is called, such as "B7".
func address(column, row line) string { return columnName(column.index) + rowName(row.index) }

// rowName returns the number of a row, of which the first has index 0.
func rowName(index int) string { return strconv.Itoa(index + 1) }

// columnName returns the letters of a column, of which the first has index 0.
func columnName(index int) (name string) {
	for n := index + 1; n > 0; n = (n - 1) / 26 {
		name = string(rune('A'+(n-1)%26)) + name
	}
	return name
}

// freeze adds the rows of a sheet that are frozen above the table. LibreOffice tells only
// of the part that scrolls; but it tells what is in any cell, and where the corner ends
// at which row and column headers meet: what lies between that and the table are rows from
// the first on. How high each is nobody says; they are taken to be as high as others, and
// left out where that does not fill the place.
func (t *table) freeze(top int) {
	height := t.rows[0].max - t.rows[0].min
	if height <= 0 || len(t.rows) < 2 {
		return
	}
	if second := t.rows[1]; t.rows[0].min <= t.visible.Min.Y && second.max > second.min {
		height = second.max - second.min // the first may be cut
	}
	room := t.visible.Min.Y - top
	n := room / height
	if n < 1 || room-n*height > uneven || n > t.rows[0].index {
		return
	}
	frozen := make([]line, n)
	for i := range frozen {
		frozen[i] = line{i, top + i*height, top + (i+1)*height}
	}
	t.rows = append(frozen, t.rows...)
}

// corner returns the panel in the corner where the headers of a sheet meet, beside and
// below which there are cells, and the pane that it is in; nil for none.
func (t *table) corner() (corner image.Rectangle, pane *object) {
	const near = 4 // levels of the tree above the table
	p := t.object.parent
	for range near {
		if p == nil {
			break
		}
		for _, c := range p.children {
			if c == nil || c.role != rolePanel || !c.placed || c.box.Empty() || c.box.Min != p.box.Min {
				continue
			}
			if beside := (image.Rectangle{Min: c.box.Max, Max: t.visible.Max}); t.visible.In(beside) {
				return c.box, p
			}
		}
		p = p.parent
	}
	return image.Rectangle{}, nil
}
