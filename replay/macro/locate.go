package macro

import (
	"context"
	"fmt"
	"image"
	"slices"
	"strings"

	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// A spot is where a target was found on the live desktop.
type spot struct {
	device image.Point
	image  image.Point // in pixels of the live image
	how    string      // as in [run.Located]
	score  float64
}

// A trouble is why a step cannot go on, or that its effect is missing.
type trouble struct {
	kind            kind
	expected, found string
}

func (t *trouble) Error() string { return "expected " + t.expected + "; " + t.found }

// A kind tells what an answer to a trouble can be.
type kind int

const (
	inTheWay kind = iota // another window has the focus or is on top
	missing              // what the step is for is not found
	noEffect             // the step was done, and what it led to is not there
	late                 // the step was done, and content that it led to is not there: worth waiting for, no reason to stop
)

// locate finds a target in the pair's live scene.
func (p *pair) locate(ctx context.Context, t *Target) (spot, *trouble) {
	gone := func(format string, args ...any) *trouble {
		return &trouble{missing, t.String(), fmt.Sprintf(format, args...)}
	}
	if t.window >= 0 && len(p.windows(t.window)) == 0 {
		return spot{}, gone("there is no such window; there are %s", listWindows(p.now))
	}
	why := "the recorded tree does not tell what is there"
	if t.node >= 0 && p.was.window[t.node] >= 0 {
		var found int
		var score float64
		found, score, why = p.find(t.node, p.was.window[t.node])
		if found >= 0 && p.now.odd[p.now.window[found]] {
			found, why = -1, "the tree tells another place than where its window is"
		}
		if found >= 0 {
			return p.inNode(ctx, t, found, score)
		}
	}
	if t.top < 0 {
		return spot{}, gone("it was outside of all windows, where things may be anywhere")
	}
	if t.Picture == nil {
		return spot{}, gone("%s, and there is no picture to look for", why)
	}
	return p.byPicture(ctx, t, why)
}

// inNode finds the place within a live node.
func (p *pair) inNode(ctx context.Context, t *Target, node int, score float64) (spot, *trouble) {
	n := p.now.Tree.Nodes[node]
	area := n.Box
	if w := p.now.window[node]; w >= 0 && !p.popped(t) {
		area = area.Intersect(p.now.Windows[w].Box)
	}
	if m := p.now.Image.Mapping; !m.Source.Empty() {
		area = area.Intersect(m.Source)
	}
	if area.Empty() {
		return spot{}, &trouble{missing, t.String(), "it is outside of what can be seen"}
	}
	if !spacious(t.Role, t.Box) {
		return p.inControl(t, node, area, score)
	}
	if t.Picture == nil && t.Box.Size() != n.Box.Size() {
		return spot{}, &trouble{missing, t.String(), "there is no picture that tells where in it"}
	}
	at := image.Pt(
		n.Box.Min.X+(t.At.X-t.Box.Min.X)*n.Box.Dx()/max(1, t.Box.Dx()),
		n.Box.Min.Y+(t.At.Y-t.Box.Min.Y)*n.Box.Dy()/max(1, t.Box.Dy()))
	if t.Picture == nil || t.empty {
		size := cropSizes[0]
		around := image.Rectangle{Min: at.Sub(size.Div(2)), Max: at.Add(size.Div(2))}.Intersect(area)
		if t.empty && p.now.Bare != nil && !featureless(p.now.Bare, around) {
			return spot{}, &trouble{missing, "an empty place of " + t.String(), "it is not empty"}
		}
		return p.confirm(t, node, at, "place", score)
	}
	m, ok := searchPatch(ctx, p.now.Bare, area, t.Picture, p.pictures)
	if !ok {
		return spot{}, &trouble{missing, "the recorded picture in " + t.String(), fmt.Sprintf("no place in it looks like that (%.2f, and another one %.2f)", m.score, m.second)}
	}
	return p.confirm(t, node, m.point(t), m.how(), m.score)
}

// point is where the target's point is in a match.
func (m match) point(t *Target) image.Point {
	off := t.At.Sub(m.of)
	return m.at.Add(image.Pt(int((float64(off.X)+.5)*m.scale), int((float64(off.Y)+.5)*m.scale)))
}

func (m match) how() string {
	if m.scale == 1 {
		return "patch"
	}
	return "scaled_patch"
}

// inControl finds a place in a control: where it was, or another one that hits
// the same.
func (p *pair) inControl(t *Target, node int, area image.Rectangle, score float64) (spot, *trouble) {
	n := p.now.Tree.Nodes[node]
	at := image.Pt(
		n.Box.Min.X+along(t.At.X-t.Box.Min.X, t.Box.Dx(), n.Box.Dx(), t.Box.Dy(), n.Box.Dy()),
		n.Box.Min.Y+(t.At.Y-t.Box.Min.Y)*n.Box.Dy()/max(1, t.Box.Dy()))
	tries := []image.Point{at}
	if t.Role != "slider" && t.Role != "scroll bar" && t.Role != "table cell" && t.Role != "list item" {
		if open, _, ok := p.now.PointOf(node); ok {
			tries = append(tries, open)
		}
		tries = append(tries,
			area.Min.Add(image.Pt(area.Dx()/4, area.Dy()/2)), area.Min.Add(image.Pt(area.Dx()*3/4, area.Dy()/2)))
	}
	var first *trouble
	for _, at := range tries {
		if !at.In(area) {
			continue
		}
		s, bad := p.confirm(t, node, at, "tree", score)
		if bad == nil {
			return s, nil
		}
		if first == nil {
			first = bad
		}
	}
	if first == nil {
		first = &trouble{missing, t.String(), "its place is outside of what can be seen"}
	}
	return spot{}, first
}

// along maps an offset in a control's width: near an edge it keeps its distance
// to that edge, in the measure of the heights, and else its share of the width.
func along(off, width, now, height, high int) int {
	if height <= 0 || width <= 0 {
		return now / 2
	}
	switch {
	case off < height && 2*off < width:
		return min(off*high/height, now/2)
	case width-off < height:
		return max(now-(width-off)*high/height, now/2)
	}
	return off * now / width
}

// popped reports whether the target was in a menu above its window.
func (p *pair) popped(t *Target) bool {
	return t.top >= 0 && t.top != t.window && p.was.Windows[t.top].Popup
}

// confirm holds that a click at a device pixel hits a live node, in the window
// that it should.
func (p *pair) confirm(t *Target, node int, at image.Point, how string, score float64) (spot, *trouble) {
	s := spot{device: at, how: how, score: score}
	if bad := p.mapped(t, &s, p.now.Tree.Nodes[node].Box); bad != nil {
		return spot{}, bad
	}
	if bad := p.uncovered(t, s.device, p.now.window[node], node); bad != nil {
		return spot{}, bad
	}
	n := p.now.Tree.Nodes[node]
	// A list may know more of itself than is drawn: only an enabled node is
	// what it was, unless it was not then either.
	if n.Has("disabled") && !t.scene.Tree.Nodes[t.node].Has("disabled") {
		return spot{}, &trouble{missing, t.String(), "it is disabled"}
	}
	hit := p.now.node(s.image)
	if hit == node || hit >= 0 && atspi.Within(p.now.Tree.Nodes, hit, node) && p.passive(hit, node) {
		return s, nil
	}
	what := "nothing"
	if hit >= 0 {
		what = p.now.Tree.Nodes[hit].String()
	}
	return spot{}, &trouble{missing, t.String(), "a click there would hit " + what}
}

// passive reports whether no node from one up to another, which it is inside of,
// does something of its own.
func (p *pair) passive(node, outer int) bool {
	for ; node != outer; node = p.now.Tree.Nodes[node].Parent {
		if atspi.Clickable(p.now.Tree.Nodes[node].Role) {
			return false
		}
	}
	return true
}

// mapped finds the image pixel of a spot. The image may be smaller than the
// screen: what its pixel stands for must still be in the box.
func (p *pair) mapped(t *Target, s *spot, box image.Rectangle) *trouble {
	m := p.now.Image.Mapping
	s.image = m.ToImage(s.device)
	if !s.image.In(m.Bounds()) {
		return &trouble{missing, t.String(), "it is outside of the image"}
	}
	if s.device = m.ToDevice(s.image); !s.device.In(box) {
		return &trouble{missing, t.String(), "it is too small on the image"}
	}
	return nil
}

// uncovered holds that the topmost window at a device pixel is the one that it
// should be.
func (p *pair) uncovered(t *Target, at image.Point, window, node int) *trouble {
	top := p.now.PlaceAtDevice(at).Window
	if p.popped(t) {
		if top >= 0 && slices.Contains(p.windows(t.top), top) && (node < 0 || p.now.filled(node, p.now.Windows[top].Box)) {
			return nil
		}
	} else if top == window || window < 0 && slices.Contains(p.windows(t.top), top) {
		return nil
	}
	over := "the desktop"
	if top >= 0 {
		over = p.now.Windows[top].String()
	}
	return &trouble{inTheWay, t.String() + " in the open", over + " is on top of it"}
}

// filled reports whether a node and those beside it are where the menu's window
// is that they are in.
func (s *scene) filled(node int, menu image.Rectangle) bool {
	up := s.Tree.Nodes[node].Parent
	if up < 0 {
		return true
	}
	var box image.Rectangle
	for _, kid := range s.kids[up] {
		box = box.Union(s.Tree.Nodes[kid].Box)
	}
	return covers(box, menu) || box.In(menu) && 2*box.Dy() >= menu.Dy()
}

// byPicture finds a target by what it looks like, within its window.
func (p *pair) byPicture(ctx context.Context, t *Target, why string) (spot, *trouble) {
	windows := p.windows(t.top)
	if len(windows) != 1 || p.now.Bare == nil {
		return spot{}, &trouble{missing, t.String(), why + ", and it is not clear in which window to look for its picture"}
	}
	area := p.now.Windows[windows[0]].Box
	m, ok := searchPatch(ctx, p.now.Bare, area, t.Picture, p.pictures)
	if !ok {
		return spot{}, &trouble{missing, t.String(), fmt.Sprintf("%s, and no one place looks like it (%.2f, and another one %.2f)", why, m.score, m.second)}
	}
	s := spot{device: m.point(t), how: m.how(), score: m.score}
	if t.empty && !featureless(p.now.Bare, image.Rectangle{Min: s.device, Max: s.device}.Inset(-16)) {
		return spot{}, &trouble{missing, "an empty place of " + t.String(), "it is not empty"}
	}
	if bad := p.mapped(t, &s, area); bad != nil {
		return spot{}, bad
	}
	if bad := p.uncovered(t, s.device, windows[0], -1); bad != nil {
		return spot{}, bad
	}
	// What the tree tells of the place must not be something else.
	if hit := p.now.node(s.image); hit >= 0 && !p.fits(t, hit, windows[0]) {
		return spot{}, &trouble{missing, t.String(), "what looks like it is " + p.now.Tree.Nodes[hit].String()}
	}
	return s, nil
}

// fits reports whether a live node may be a target that was found by its picture.
func (p *pair) fits(t *Target, hit, window int) bool {
	n := p.now.Tree.Nodes[hit]
	if t.node < 0 {
		return n.Name == "" && !atspi.Clickable(n.Role) || n.Parent < 0
	}
	if !p.now.told(window) || n.Parent < 0 {
		return true // a program that tells nothing
	}
	was := p.was.Tree.Nodes[t.node]
	if was.Name == "" {
		return n.Role == was.Role && n.Name == ""
	}
	return n.Role == was.Role && p.now.called[hit] == p.name(was.Name)
}

// ready returns why a step cannot begin: something has the focus that was not
// there when it was recorded. keys says that the step begins with the keyboard.
func (p *pair) ready(keys bool) *trouble {
	was, now := screen.FocusedWindow(p.was.Windows), screen.FocusedWindow(p.now.Windows)
	expected := "no window with the focus"
	if was >= 0 {
		expected = "the focus in " + p.told(was).String()
	}
	if keys {
		if was < 0 || !slices.Contains(p.windows(was), now) {
			return &trouble{inTheWay, expected, "the focus is in " + focusWords(p.now)}
		}
		if slices.ContainsFunc(p.now.Windows, isMenu) && !slices.ContainsFunc(p.was.Windows, isMenu) {
			return &trouble{inTheWay, expected, "a menu is open, which takes the keys"}
		}
		return nil
	}
	if now < 0 {
		return nil
	}
	for i := range p.was.Windows {
		if slices.Contains(p.windows(i), now) {
			return nil
		}
	}
	w := p.now.Windows[now]
	for i := range p.was.Windows {
		for _, v := range p.windows(i) {
			if w.Type == "dialog" || v < now && p.now.Windows[v].Box.Overlaps(w.Box) {
				return &trouble{inTheWay, expected, "the focus is in " + focusWords(p.now) + ", which was not there"}
			}
		}
	}
	return nil
}

func isMenu(w screen.Window) bool { return w.Popup && !w.Hidden && strings.Contains(w.Type, "menu") }

// typeable returns why text must not be typed: the node with the focus is
// another one than recorded, where both are known.
func (p *pair) typeable() *trouble {
	w := screen.FocusedWindow(p.was.Windows)
	if w < 0 {
		return nil
	}
	node := p.was.focusedNode(w)
	if node < 0 || !p.now.told(screen.FocusedWindow(p.now.Windows)) {
		return nil
	}
	expected := "the focus in " + p.was.Tree.Nodes[node].String()
	found, _, why := p.find(node, w)
	if found < 0 {
		return &trouble{missing, expected, why}
	}
	if n := p.now.Tree.Nodes[found]; !n.Has("focused") {
		return &trouble{missing, expected, "it does not have it"}
	}
	return nil
}

// located makes the event of a spot.
func located(index int, t *Target, s spot) run.Located {
	return run.Located{Index: index, How: s.how, Target: t.String(), Was: t.At, Now: s.device, Score: s.score}
}
