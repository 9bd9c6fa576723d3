package getter

import (
	"context"
	"slices"
)

const (
	// maxLines is how many rows and columns of a spreadsheet are read.
	maxLines = 200
	// cornerStep is the pixels between the points where the first cell is looked
	// for: headers may come before it.
	cornerStep = 12
	cornerLook = 20
)

// cells returns the cells of a spreadsheet that can be seen, row by row. It has
// billions; those that can be seen lie together, and the one at the upper left
// corner says where.
func (r *treeReader) cells(ctx context.Context, at ref, o *object) []ref {
	var columns int32
	r.ask(ctx, at, question{getting, []any{table, "NColumns"}, &columns})
	first := r.corner(ctx, at, o)
	if columns <= 0 {
		return nil
	}
	row, column := int(first)/int(columns), int(first)%int(columns)
	var found []ref
	width := maxLines
	for n := range maxLines {
		line := r.line(ctx, at, row+n, column, width)
		if len(line) == 0 {
			break
		}
		width = len(line) // rows are as long as the first
		found = append(found, line...)
	}
	return found
}

// corner returns the index of the first cell that can be seen, 0 if that is not
// known.
func (r *treeReader) corner(ctx context.Context, at ref, o *object) int32 {
	for n := range cornerLook {
		var cell ref
		x, y := int32(o.box.Min.X+3), int32(o.box.Min.Y+3+n*cornerStep)
		r.ask(ctx, at, question{component + ".GetAccessibleAtPoint", []any{x, y, uint32(0)}, &cell})
		if cell.null() || cell == at {
			continue
		}
		index := int32(-1)
		r.ask(ctx, cell, question{accessible + ".GetIndexInParent", nil, &index})
		if index >= 0 {
			return index
		}
	}
	return 0
}

// line returns the cells of a row that can be seen, from a column on.
func (r *treeReader) line(ctx context.Context, at ref, row, column, width int) []ref {
	const stretch = 25
	var line []ref
	for len(line) < width {
		refs := make([]ref, min(stretch, width-len(line)))
		questions := make([]question, len(refs))
		for i := range refs {
			questions[i] = question{table + ".GetAccessibleAt", []any{int32(row), int32(column + len(line) + i)}, &refs[i]}
		}
		r.ask(ctx, at, questions...)
		asked := len(refs)
		if end := slices.IndexFunc(refs, ref.null); end >= 0 {
			refs = refs[:end]
		}
		states := make([][]uint32, len(refs))
		questions = questions[:len(refs)]
		for i := range states {
			questions[i] = question{accessible + ".GetState", nil, &states[i]}
		}
		r.askAll(ctx, questions, func(i int) ref { return refs[i] })
		for i, cell := range refs {
			if len(states[i]) == 0 || states[i][0]>>25&1 == 0 { // not showing
				return line
			}
			line = append(line, cell)
		}
		if len(refs) < asked {
			return line
		}
	}
	return line
}
