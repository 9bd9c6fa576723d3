package screen

import (
	"image"
	"slices"

	"desktop-agent/screen/atspi"
)

// minTarget is how many device pixels of a control must be seen, each way, for a
// click to be aimed at it, unless it has no more: a row that a list shows a strip
// of, eight pixels at most, is scrolled into view first.
const minTarget = 9

// PointOf returns where a click hits a node, in device pixels and in pixels of the
// image: the middle of the part that can be seen or, if something lies over that, of
// the largest part over which nothing does. It is the opposite of [Observation.PlaceAt], which
// finds the node again, or something within it that does nothing by itself. ok is
// false for a node that cannot be hit: it is covered, out of view but for a strip,
// or its program does not tell where its window is.
func (o *Observation) PointOf(node int) (device, image image.Point, ok bool) {
	return o.view().pointOf(node)
}

func (v *view) pointOf(i int) (device, at image.Point, ok bool) {
	area := v.area(i)
	if arrow := v.arrow(i); !arrow.Empty() {
		area = area.Intersect(arrow)
	}
	if v.window[i] == nowhere || v.odd[v.root[i]] || v.strip(i, area) {
		return device, at, false
	}
	covers := v.covers(i, area, func(w Window) bool { return !w.Passive() })
	if !slices.ContainsFunc(covers, middle(area).In) {
		if device, at, ok = v.hits(i, area); ok {
			return device, at, true
		}
	}
	for _, others := range [][]image.Rectangle{v.inside(i, area), nil} {
		part := largest(area, append(slices.Clip(covers), others...))
		if part.Empty() || v.strip(i, part) {
			continue
		}
		if device, at, ok = v.hits(i, part); ok {
			return device, at, true
		}
	}
	return image.Point{}, image.Point{}, false
}

// arrow returns where the arrow is of a button that unfolds what is below it, as GTK draws
// it: before the label, in a row that is as wide as all of it and reacts to a click at the
// arrow and the label only. Unfolded, the button's box is that of what is in it, too.
func (v *view) arrow(i int) image.Rectangle {
	n := v.Tree.Nodes[i]
	if n.Role != "toggle button" || !n.Has("expanded") && !n.Has("collapsed") {
		return image.Rectangle{}
	}
	row := n.Box
	for j := i + 1; j < len(v.Tree.Nodes) && v.Tree.Nodes[j].Parent >= i; j++ {
		if m := v.Tree.Nodes[j]; m.Parent == i && !m.Box.Empty() {
			row.Max.Y = min(row.Max.Y, m.Box.Min.Y)
		}
	}
	if v.rightToLeft(v.root[i]) {
		row.Min.X = max(row.Min.X, row.Max.X-row.Dy())
	} else {
		row.Max.X = min(row.Max.X, row.Min.X+row.Dy())
	}
	return row
}

// hits returns the middle of a part of a node, if a click there hits the node.
func (v *view) hits(i int, part image.Rectangle) (device, at image.Point, ok bool) {
	device = middle(part)
	at = device
	if v.mapped {
		at = v.Image.Mapping.ToImage(device)
		device = v.Image.Mapping.ToDevice(at)
	}
	if !device.In(part) {
		return device, at, false // the image is so much smaller that it has no pixel of it
	}
	hit := v.placeAt(device)
	if v.Tree.Nodes[i].Read { // it is no node that could be hit; its window is, or the open list that it is in
		return device, at, hit.Window == v.window[i] || v.popped[i] && hit.Node == v.Tree.Nodes[i].Parent
	}
	if hit.Node == i {
		return device, at, true
	}
	return device, at, hit.Node >= 0 && !isOperable(v.Tree.Nodes[hit.Node]) &&
		(v.window[hit.Node] == v.window[i] || v.window[hit.Node] == loose)
}

// area returns the box of a node without what its window, the image and what it
// scrolls in cut off.
func (v *view) area(i int) image.Rectangle {
	n := &v.Tree.Nodes[i]
	box := n.Box
	if v.mapped {
		box = box.Intersect(v.shown)
	}
	if v.popped[i] || v.odd[v.root[i]] {
		return box
	}
	if w := v.window[i]; w >= 0 {
		// The window manager's frame is the program's own in some toolkits.
		box = box.Intersect(v.Windows[w].Box.Union(v.Tree.Nodes[v.root[i]].Box))
	}
	for p := n.Parent; p >= 0; p = v.Tree.Nodes[p].Parent {
		if parent := &v.Tree.Nodes[p]; atspi.CutsOff(parent.Role) {
			box = box.Intersect(parent.Box)
		}
	}
	return box
}

// pageDialog reports whether a node is a dialog, which a page shows in its own window.
func pageDialog(n atspi.Node) bool { return n.Parent >= 0 && (n.Role == "dialog" || n.Role == "alert") }

// over reports whether a part of a page lies over a node: by its layer or, of a dialog in the
// same one, as it comes later.
func (v *view) over(box, i int) bool {
	b, n := &v.Tree.Nodes[box], &v.Tree.Nodes[i]
	if above := b.Layer > n.Layer || b.Layer == n.Layer && box > i && pageDialog(*b); !above || v.window[box] != v.window[i] || v.popped[i] {
		return false
	}
	return !atspi.Within(v.Tree.Nodes, i, box) && !atspi.Within(v.Tree.Nodes, box, i)
}

// covers returns what lies over a part of a node: windows of a kind, dialogs and layers of
// the page that it is on, and the bars by which the part is scrolled.
func (v *view) covers(i int, area image.Rectangle, kind func(Window) bool) []image.Rectangle {
	window := v.window[i]
	if window < 0 || v.popped[i] {
		return nil
	}
	var list []image.Rectangle
	if v.Windows[window].Hidden {
		return []image.Rectangle{area}
	}
	for _, w := range v.Windows[window+1:] {
		if !w.Hidden && w.Box.Overlaps(area) && kind(w) {
			list = append(list, w.Box)
		}
	}
	for _, d := range v.boxes {
		if box := v.Tree.Nodes[d].Box; v.over(d, i) && box.Overlaps(area) {
			list = append(list, box)
		}
	}
	for _, bar := range v.bars {
		if v.window[bar] == window && bar != i && !atspi.Within(v.Tree.Nodes, i, bar) {
			if box := v.Tree.Nodes[bar].Box; box.Overlaps(area) && !area.In(box) {
				list = append(list, box)
			}
		}
	}
	return list
}

// inside returns the controls that lie over a part of a node in its own window: a
// click on them is for them.
func (v *view) inside(i int, area image.Rectangle) (list []image.Rectangle) {
	const most = 32 // more of them are a list or a document, whose middle nobody clicks
	size := v.Tree.Nodes[i].Box.Dx() * v.Tree.Nodes[i].Box.Dy()
	for j := range v.Tree.Nodes {
		n := &v.Tree.Nodes[j]
		if j == i || v.window[j] != v.window[i] || n.Layer < v.Tree.Nodes[i].Layer || !n.Box.Overlaps(area) || n.Box.Dx()*n.Box.Dy() > size || !isOperable(*n) || atspi.Within(v.Tree.Nodes, i, j) {
			continue
		}
		if list = append(list, n.Box); len(list) == most {
			break
		}
	}
	return list
}

// strip reports whether a part of a node is too small to hit where there is more of
// the node, or of its like: trees tell the parts that are in view, so a row that is
// cut off is known by its siblings.
func (v *view) strip(i int, part image.Rectangle) bool {
	if part.Empty() {
		return true
	}
	thin := func(got, whole int) bool { return got < minTarget && got < whole }
	n := &v.Tree.Nodes[i]
	if thin(part.Dx(), n.Box.Dx()) || thin(part.Dy(), n.Box.Dy()) {
		return true
	}
	if part.Dy() >= minTarget || n.Parent < 0 || !atspi.Clickable(n.Role) {
		return false
	}
	for j := n.Parent + 1; j < len(v.Tree.Nodes) && v.Tree.Nodes[j].Depth > v.Tree.Nodes[n.Parent].Depth; j++ {
		if m := &v.Tree.Nodes[j]; m.Parent == n.Parent && m.Role == n.Role && 2*n.Box.Dy() <= m.Box.Dy() {
			return true
		}
	}
	return false
}

// largest returns the largest rectangle of an area that others leave free.
func largest(area image.Rectangle, others []image.Rectangle) (best image.Rectangle) {
	if len(others) == 0 && !area.Empty() {
		return area
	}
	xs, ys := []int{area.Min.X, area.Max.X}, []int{area.Min.Y, area.Max.Y}
	for _, r := range others {
		if r = r.Intersect(area); !r.Empty() {
			xs, ys = append(xs, r.Min.X, r.Max.X), append(ys, r.Min.Y, r.Max.Y)
		}
	}
	slices.Sort(xs)
	slices.Sort(ys)
	xs, ys = slices.Compact(xs), slices.Compact(ys)
	// For each pair of horizontal edges, the widest run of columns that is free.
	for t, top := range ys {
		for _, bottom := range ys[t+1:] {
			from := 0
			for c := 1; c < len(xs); c++ {
				column := image.Rect(xs[c-1], top, xs[c], bottom)
				if slices.ContainsFunc(others, column.Overlaps) {
					from = c
					continue
				}
				if run := image.Rect(xs[from], top, xs[c], bottom); easier(run, best) {
					best = run
				}
			}
		}
	}
	return best
}

// easier reports whether a rectangle is easier to hit than another: both ways large
// enough first, then by area.
func easier(a, b image.Rectangle) bool {
	wide := func(r image.Rectangle) bool { return min(r.Dx(), r.Dy()) >= minTarget }
	if wide(a) != wide(b) {
		return wide(a)
	}
	return a.Dx()*a.Dy() > b.Dx()*b.Dy()
}

func middle(r image.Rectangle) image.Point { return r.Min.Add(r.Max).Div(2) }
