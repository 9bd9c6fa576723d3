package screen

import "image"

// untell marks the elements of a container whose places follow from those that are told. It
// gets their rows, nil for one that takes no part. An element with an ID is acted on by it,
// and its place is there to find it in the picture: in a row that of the first is told, and
// the others lie to the right of it in their order; of elements that stand below each other,
// each in a line of its own, that of the uppermost is, and the others follow downwards.
//
// A place is told where that would not be so, or not be clear: of what has no name, or no
// ID and is no text; of what has the name of another that is told without; of what lies out
// of the row's height, or to the left (as all do where one writes from right to left); and of
// what stands below at a distance or to a side, or is of quite another height.
func untell(rows [][]*element) {
	var column []*element
	for _, r := range rows {
		untellRow(r)
		if len(r) != 1 || len(column) > 0 && !stacked(column[len(column)-1], r[0]) {
			untellColumn(column)
			column = nil
		}
		if len(r) == 1 {
			column = append(column, r[0])
		}
	}
	untellColumn(column)
}

// untellRow marks the elements of a row that have their place from those to the left.
func untellRow(row []*element) {
	controls := holdsControls(row)
	seen := withoutPlace(row)
	var told *element // the last that is
	for k, e := range row {
		switch {
		case !e.placed || e.prose && controls:
		case told != nil && e.distinct(seen) && rightOf(row[k-1], e) && told.hit.Y >= e.box.Min.Y && told.hit.Y < e.box.Max.Y:
			e.untold, seen[e.name] = true, true
		default:
			told = e
		}
	}
}

// untellColumn marks the elements of a column that have their place from those above.
func untellColumn(column []*element) {
	seen := withoutPlace(column)
	told := false
	for _, e := range column {
		if e.placed {
			if told && e.distinct(seen) {
				e.untold, seen[e.name] = true, true
			}
			told = true
		}
	}
}

// distinct reports whether an element can do without its place: it is acted by with its ID,
// or is a text, and no other of its row or column without a place has its name.
func (e *element) distinct(seen map[string]bool) bool {
	return (e.id || e.prose) && e.name != "" && !seen[e.name]
}

// withoutPlace returns the names of the elements that have no place: those that nothing can
// be done with.
func withoutPlace(list []*element) map[string]bool {
	seen := map[string]bool{}
	for _, e := range list {
		if !e.placed {
			seen[e.name] = true
		}
	}
	return seen
}

// rightOf reports whether an element begins and has its middle to the right of that of
// another.
func rightOf(before, e *element) bool {
	return e.box.Min.X > before.box.Min.X && e.target().X > before.target().X
}

// target is where a click would hit an element, if one could.
func (e *element) target() image.Point {
	if e.placed {
		return e.hit
	}
	return middle(e.box)
}

// stacked reports whether an element stands right below another that is about as high, so
// that both are seen as one column.
func stacked(above, e *element) bool {
	a, b := above.box, e.box
	less, more := min(a.Dy(), b.Dy()), max(a.Dy(), b.Dy())
	gap := b.Min.Y - a.Max.Y
	aligned := a.Min.X == b.Min.X || a.Max.X == b.Max.X || above.target().X == e.target().X
	return aligned && less > 0 && more <= 2*less && gap <= more && -4*gap <= less
}
