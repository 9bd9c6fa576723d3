package macro

import (
	"image"
	"image/draw"
	"strconv"

	"desktop-agent/screen"
)

// A Target is what a point of a recorded action is for.
type Target struct {
	Window  screen.Window   // whose tree the node is in, or the topmost one at the point; zero if there is none
	Path    []string        // the nodes from the window's root to it, such as `push button "Save"`; empty if the tree tells nothing
	Role    string          // of the node; "" if there is none
	Name    string          // of the node, as recorded
	Box     image.Rectangle // of the node, in device pixels of the recorded frame
	At      image.Point     // the point, in device pixels of the recorded frame
	Picture *image.RGBA     // what it looks like: part of the recorded frame, at its place; nil if the frame is missing

	scene  *scene
	node   int // -1 if there is none
	window int // index of Window; -1 if there is none
	top    int // index of the topmost window at the point; -1 if there is none
	empty  bool
}

// String says in words what the target is.
func (t *Target) String() string {
	words := t.scene.Describe(screen.Place{Window: t.window, Node: t.node}, strconv.Quote)
	if t.node >= 0 && t.window >= 0 {
		words += " in " + t.Window.String()
	}
	return words
}

// newTarget derives what an image point of a recorded scene is for. frame may be
// nil.
func newTarget(s *scene, frame *image.RGBA, at image.Point) Target {
	t := Target{scene: s, At: s.Image.Mapping.ToDevice(at), node: s.node(at)}
	t.top = s.PlaceAtDevice(t.At).Window
	t.window = t.top
	if t.node >= 0 {
		n := s.Tree.Nodes[t.node]
		t.Role, t.Name, t.Box = n.Role, n.Name, n.Box
		if w := s.window[t.node]; w >= 0 {
			t.window = w
		}
		for i := t.node; i >= 0; i = s.Tree.Nodes[i].Parent {
			t.Path = append([]string{s.Tree.Nodes[i].String()}, t.Path...)
		}
	}
	if t.window >= 0 {
		t.Window = s.Windows[t.window]
	}
	if frame != nil {
		t.crop(frame)
	}
	return t
}

// The sizes of the picture of a target, in device pixels: the smallest that
// shows something is taken.
var cropSizes = []image.Point{{48, 32}, {96, 64}, {192, 128}}

// crop keeps what the target looks like: in an empty place of a window, the
// whole window.
func (t *Target) crop(frame *image.RGBA) {
	limit := frame.Rect
	if t.top >= 0 {
		limit = limit.Intersect(t.scene.Windows[t.top].Box)
	}
	whole := t.node >= 0 && !spacious(t.Role, t.Box) && t.Box.Dx() <= 200 && t.Box.Dy() <= 100 && t.At.In(t.Box)
	for i := range len(cropSizes) + 1 {
		box := limit
		if i < len(cropSizes) {
			size := cropSizes[i]
			box = image.Rectangle{Min: t.At.Sub(size.Div(2)), Max: t.At.Add(size.Div(2))}
		}
		if whole && i == 0 {
			box = t.Box.Inset(-2)
		}
		box = box.Intersect(limit)
		if box.Empty() {
			return
		}
		t.Picture = image.NewRGBA(box)
		draw.Draw(t.Picture, box, frame, box.Min, draw.Src)
		plain := featureless(t.Picture, box)
		t.empty = t.empty || i == 0 && plain
		if !plain {
			return
		}
	}
}
