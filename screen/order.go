package screen

import (
	"image"
	"slices"
	"strings"

	"desktop-agent/screen/atspi"
)

// inOrder returns the children of a node as one reads them: rows from top to bottom,
// and each from left to right, or from right to left where the window is in such a
// script. Programs tell them in the order in which they made them. Menus and lists
// are told as they are, and so are documents, where lines break.
func (l *layout) inOrder(i int) []int {
	list := l.kids[i]
	role := l.Tree.Nodes[i].Role
	switch role {
	case "menu", "popup menu", "menu bar", "list", "list box", "tree", "page tab list", "table row", "paragraph", "heading":
		return list
	}
	const most = 500 // more of them are content, which is in order
	if len(list) > most || l.inDocument(i) {
		return list
	}
	boxes := make([]image.Rectangle, len(l.Tree.Nodes))
	for _, c := range list {
		boxes[c] = l.Tree.Nodes[c].Box
	}
	return read(list, boxes, l.rightToLeft, 0)
}

// inDocument reports whether a node is a document or in one.
func (l *layout) inDocument(i int) bool {
	for ; i >= 0; i = l.Tree.Nodes[i].Parent {
		if strings.HasPrefix(l.Tree.Nodes[i].Role, "document") {
			return true
		}
	}
	return false
}

// read orders boxes by cutting them apart: into rows, each row into columns, each
// column into rows again.
func read(list []int, boxes []image.Rectangle, rightToLeft bool, depth int) []int {
	const deepest = 16
	if len(list) < 2 || depth > deepest {
		return list
	}
	rows := cut(list, func(i int) (int, int) { return boxes[i].Min.Y, boxes[i].Max.Y })
	if len(rows) == 1 {
		rows = cut(list, func(i int) (int, int) { return boxes[i].Min.X, boxes[i].Max.X })
		if rightToLeft {
			slices.Reverse(rows)
		}
	}
	if len(rows) == 1 {
		return list // they lie over each other
	}
	var ordered []int
	for _, row := range rows {
		ordered = append(ordered, read(row, boxes, rightToLeft, depth+1)...)
	}
	return ordered
}

// cut cuts a list where no interval goes on but for a small part.
func cut(list []int, interval func(int) (from, to int)) (parts [][]int) {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b int) int {
		from, _ := interval(a)
		other, _ := interval(b)
		return from - other
	})
	end, least := 0, 0 // of the part so far: where it ends, and the shortest in it
	for k, i := range sorted {
		from, to := interval(i)
		if k == 0 || from >= end-min(least, to-from)/4 {
			parts, end, least = append(parts, nil), to, to-from
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], i)
		end, least = max(end, to), min(least, to-from)
	}
	for _, part := range parts { // as they were: what is cut no further stays in order
		slices.SortFunc(part, func(a, b int) int { return slices.Index(list, a) - slices.Index(list, b) })
	}
	return parts
}

// sameRow reports whether two boxes lie in one row.
func sameRow(a, b image.Rectangle) bool {
	overlap := min(a.Max.Y, b.Max.Y) - max(a.Min.Y, b.Min.Y)
	return 2*overlap >= min(a.Dy(), b.Dy()) && overlap > 0
}

// rightToLeft reports whether a window's rows begin at the right.
func (v *view) rightToLeft(root int) bool {
	end := root + 1
	for end < len(v.Tree.Nodes) && v.Tree.Nodes[end].Parent >= root {
		end++
	}
	return atspi.RightToLeft(v.Tree.Nodes[root:end])
}
