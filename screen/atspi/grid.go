package atspi

import (
	"image"
	"math"
	"strings"
)

const (
	maxCells   = 2500 // of one table
	stateCells = 400  // a table with more cells is asked for the states of those with text only
	probeStep  = 24   // pixels between the points where a table is asked for its first cell
	sampleStep = 12   // pixels between the points where a long list is asked for its items
	columnStep = 48   // and where a container of icons is asked for its columns
	maxSamples = 600
	maxParts   = 8       // of one cell
	maxRows    = 100_000 // a table with more has them for use, not in use: they are not counted
)

// A line is a row or a column of a table: its index, and the pixels that it
// takes across.
type line struct{ index, min, max int }

// A table is what is read of a table too large to be asked for all its
// children: a spreadsheet has billions. The cell at its corner tells the first
// row and column; the first cells of the rows and columns from there on tell
// where each is, up to the edge of the table's visible part.
type table struct {
	*walk
	object        *object
	visible       image.Rectangle
	rows, columns []line
	scans         int // directions still being scanned
	size          int32
	addressed     bool // its cells are called by column and row, so they need not be asked: see addresses
}

// grid reads the cells of a table that can be seen.
func (w *walk) grid(o *object, size int32) {
	t := &table{walk: w, object: o, visible: w.extent(o), size: size}
	if !t.visible.Empty() {
		t.firstCell(t.visible.Min.Y + 3)
	}
}

// firstCell looks for the first cell from height y on downwards: headers, which
// are no cells, come before it.
func (t *table) firstCell(y int) {
	if y >= t.visible.Max.Y || y > t.visible.Min.Y+8*probeStep {
		return
	}
	next := func() { t.firstCell(y + probeStep) }
	t.ask(t.object.ref, component, "GetAccessibleAtPoint", func(body []any) {
		ref, ok := reference{}, false
		if len(body) > 0 {
			ref, ok = newReference(body[0])
		}
		if !ok || ref == t.object.ref {
			next()
			return
		}
		t.ask(ref, accessible, "GetIndexInParent", func(body []any) {
			index, ok := first[int32](body)
			if !ok || index < 0 {
				next()
				return
			}
			t.position(index, next)
		})
	}, int32(t.visible.Min.X+3), int32(y), uint32(0))
}

// position asks for the row and column of a cell, and goes on from there.
func (t *table) position(index int32, otherwise func()) {
	t.ask(t.object.ref, tables, "GetRowColumnExtentsAtIndex", func(body []any) {
		if len(body) < 3 {
			otherwise()
			return
		}
		row, _ := body[1].(int32)
		column, _ := body[2].(int32)
		if ok, _ := body[0].(bool); !ok || row < 0 || column < 0 {
			otherwise()
			return
		}
		t.scans = 2
		t.scan(int(row), int(column), 0, 1)
		t.scan(int(row), int(column), 1, 0)
	}, index)
}

// scan asks for a stretch of cells downwards or to the right, notes where they
// are, and goes on until a cell is beyond the visible part.
func (t *table) scan(row, column, down, right int) {
	const stretch = 32
	boxes := make([]image.Rectangle, stretch)
	placed := make([]bool, stretch)
	left := stretch
	finish := func() {
		if left--; left > 0 {
			return
		}
		if t.note(row, column, down, right, boxes, placed) && len(t.rows)+len(t.columns) < maxCells {
			t.scan(row+down*stretch, column+right*stretch, down, right)
			return
		}
		if t.scans--; t.scans == 0 {
			t.cells()
		}
	}
	for i := range stretch {
		t.cell(row+down*i, column+right*i, func(ref reference, ok bool) {
			if !ok {
				finish()
				return
			}
			t.ask(ref, component, "GetExtents", func(body []any) {
				boxes[i], placed[i] = rectangle(body)
				finish()
			}, uint32(0))
		})
	}
}

// note keeps the rows or columns of a stretch that can be seen, and reports
// whether there may be more after it.
func (t *table) note(row, column, down, right int, boxes []image.Rectangle, placed []bool) (more bool) {
	for i, box := range boxes {
		switch {
		case !placed[i]:
			return false
		case box.Empty(): // hidden, or beyond the edge
		case down == 1 && box.Min.Y >= t.visible.Max.Y, right == 1 && box.Min.X >= t.visible.Max.X:
			return false
		case down == 1 && box.Max.Y > t.visible.Min.Y:
			t.rows, more = append(t.rows, line{row + i, box.Min.Y, box.Max.Y}), true
		case right == 1 && box.Max.X > t.visible.Min.X:
			t.columns, more = append(t.columns, line{column + i, box.Min.X, box.Max.X}), true
		}
	}
	return more
}

// cell asks for the object of one cell.
func (t *table) cell(row, column int, then func(reference, bool)) {
	t.ask(t.object.ref, tables, "GetAccessibleAt", func(body []any) {
		if len(body) == 0 {
			then(reference{}, false)
			return
		}
		then(newReference(body[0]))
	}, int32(row), int32(column))
}

// cells asks for the cells where the rows and columns cross.
func (t *table) cells() {
	if len(t.columns) == 0 || len(t.rows) == 0 {
		return
	}
	t.property(t.object.ref, tables, "NRows", func(v any) {
		if n, _ := v.(int32); n > 0 && n <= maxRows {
			t.object.before, t.object.after = t.rows[0].index, max(0, int(n)-1-t.rows[len(t.rows)-1].index)
		}
	})
	if t.size == math.MaxInt32 {
		t.sheet()
		t.addresses(t.fill)
		return
	}
	t.headers()
	t.fill()
}

// fill adds the cells.
func (t *table) fill() {
	rows := t.rows[:min(len(t.rows), max(1, maxCells/len(t.columns)))]
	headers, cells := len(t.object.children), len(rows)*len(t.columns)
	t.object.children = append(t.object.children, make([]*object, cells)...)
	every := cells <= stateCells
	for i, r := range rows {
		for j, c := range t.columns {
			t.cell(r.index, c.index, func(ref reference, ok bool) {
				if !ok || t.shown >= t.maxNodes {
					return
				}
				t.shown++
				o := &object{
					ref: ref, parent: t.object, role: roleTableCell, known: true, placed: true, visible: true,
					box:    image.Rect(c.min, r.min, c.max, r.max),
					states: 1 << stateEnabled,
				}
				t.object.children[headers+i*len(t.columns)+j] = o
				if t.addressed {
					o.name = address(c, r)
				}
				t.describeCell(o, every)
			})
		}
	}
}

// headers asks for the headers of the columns that can be seen.
func (t *table) headers() {
	for _, c := range t.columns {
		t.ask(t.object.ref, tables, "GetColumnHeader", func(body []any) {
			if ref, ok := only(body); ok {
				t.object.children = append(t.object.children, t.look(ref, t.object))
			}
		}, int32(c.index))
	}
}

// describeCell asks for the name and the text of a cell.
func (t *table) describeCell(o *object, states bool) {
	askStates := func() {
		t.ask(o.ref, accessible, "GetState", func(body []any) {
			if words, ok := first[[]uint32](body); ok {
				o.states = newStateSet(words)
			}
		})
	}
	// LibreOffice drops cells while one is edited: nobody knows what they hold.
	if !t.addressed {
		t.property(o.ref, accessible, "Name", func(v any) {
			_, o.visible = v.(string)
			o.name = t.nameIn(v)
		})
	}
	t.ask(o.ref, texts, "GetText", func(body []any) {
		text, ok := first[string](body)
		if !ok && o.name == "" {
			t.children(o, maxParts) // such as an icon and a name
		}
		if !ok && t.addressed {
			o.visible = false
		}
		if o.text = cut(text, maxText); text == "" {
			return
		}
		if !states {
			askStates()
		}
		t.readFormula(o)
	}, int32(0), int32(-1))
	if states {
		askStates()
	}
}

// readFormula asks what a cell computes, which LibreOffice tells as an attribute.
func (t *table) readFormula(o *object) {
	t.attribute(o, "Formula", func(formula string) {
		if o.formula = cut(formula, maxText); formula != "" && !strings.ContainsAny(formula[:1], "={") {
			o.formula = "=" + o.formula // as a person reads it
		}
	})
}

// sample finds the children of a long container that is no table by asking
// what is at many points of it.
func (w *walk) sample(o *object, n int) {
	visible := w.extent(o)
	if visible.Empty() {
		return
	}
	step := image.Pt(visible.Dx(), sampleStep)
	if o.role != roleList && o.role != roleListBox && o.role != roleTree {
		step = image.Pt(columnStep, columnStep)
	}
	samples := 0
	for y := visible.Min.Y + step.Y/2; y < visible.Max.Y; y += step.Y {
		for x := visible.Min.X + min(step.X/2, columnStep); x < visible.Max.X && samples < maxSamples; x += step.X {
			samples++
			w.ask(o.ref, component, "GetAccessibleAtPoint", func(body []any) {
				if len(body) == 0 {
					return
				}
				if ref, ok := newReference(body[0]); ok {
					if child := w.look(ref, o); child != nil {
						o.children = append(o.children, child)
					}
				}
			}, int32(x), int32(y), uint32(0))
		}
	}
	// Answers come in order, so this one comes when the children are known.
	w.ask(o.ref, accessible, "GetState", func([]any) {
		if len(o.children) == 0 {
			return
		}
		index := func(of *object, then func(int)) {
			w.ask(of.ref, accessible, "GetIndexInParent", func(body []any) {
				if i, ok := first[int32](body); ok && i >= 0 && int(i) < n {
					then(int(i))
				}
			})
		}
		index(o.children[0], func(i int) { o.before = i })
		index(o.children[len(o.children)-1], func(i int) { o.after = n - 1 - i })
	})
}
