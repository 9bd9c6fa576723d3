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
	if len(list) < 2 {
		return list
	}
	role := l.Tree.Nodes[i].Role
	switch role {
	case "menu", "popup menu", "menu bar", "list", "list box", "tree", "page tab list", "table row", "paragraph", "heading":
		return list
	}
	const most = 500 // more of them are content, which is in order
	if len(list) > most || l.inDocument(i) {
		return list
	}
	return l.read(list, 0)
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

// read orders nodes by cutting them apart: into rows, each row into columns, each
// column into rows again.
func (l *layout) read(list []int, depth int) []int {
	const deepest = 16
	if len(list) < 2 || depth > deepest {
		return list
	}
	box := func(i int) image.Rectangle { return l.Tree.Nodes[i].Box }
	rows := cut(list, func(i int) (int, int) { return box(i).Min.Y, box(i).Max.Y })
	if len(rows) == 1 {
		rows = cut(list, func(i int) (int, int) { return box(i).Min.X, box(i).Max.X })
		if l.rightToLeft {
			slices.Reverse(rows)
		}
	}
	if len(rows) == 1 {
		return list // they lie over each other
	}
	var ordered []int
	for _, row := range rows {
		ordered = append(ordered, l.read(row, depth+1)...)
	}
	return ordered
}

// cut cuts a list where no interval goes on but for a small part.
func cut(list []int, interval func(int) (from, to int)) (parts [][]int) {
	type piece struct{ at, from, to int } // at is its place in the list
	pieces := make([]piece, len(list))
	for at, i := range list {
		from, to := interval(i)
		pieces[at] = piece{at, from, to}
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return a.from - b.from })
	end, least, begins := 0, 0, 0 // of the part so far: where it ends, the shortest in it, and its first piece
	cutOff := func(k int) {
		part := make([]int, 0, k-begins)
		slices.SortFunc(pieces[begins:k], func(a, b piece) int { return a.at - b.at }) // as they were: what is cut no further stays in order
		for _, p := range pieces[begins:k] {
			part = append(part, list[p.at])
		}
		parts, begins = append(parts, part), k
	}
	for k, p := range pieces {
		length := p.to - p.from
		if k == 0 {
			end, least = p.to, length
		} else if p.from >= end-min(least, length)/4 {
			cutOff(k)
			end, least = p.to, length
		}
		end, least = max(end, p.to), min(least, length)
	}
	cutOff(len(pieces))
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
