package macro

import (
	"image"
	"regexp"
	"slices"
	"strings"

	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// A scene is what lies where at one moment, recorded or live.
type scene struct {
	*screen.Observation
	window []int    // for each node, the index of the window that it is in; -1 if none is known
	rank   []int    // for each node, its number among the siblings of its role, from 0
	depth  []int    // for each node, how many are above it
	called []string // for each node, its name without what differs from run to run
	kids   [][]int
	byID   map[string]int
	odd    map[int]bool // windows of which the tree tells another place or size
}

// recordedScene makes a scene of an event.
func recordedScene(was *run.Observed) *scene {
	o := &screen.Observation{FrameID: was.FrameID, Windows: was.Windows, Cursor: was.Cursor}
	o.Image.Mapping, o.Tree.Nodes = was.Mapping, was.Targets
	return newScene(o)
}

func newScene(o *screen.Observation) *scene {
	n := len(o.Tree.Nodes)
	s := &scene{
		Observation: o, window: make([]int, n), rank: make([]int, n), depth: make([]int, n),
		called: make([]string, n), kids: make([][]int, n), byID: make(map[string]int, n), odd: map[int]bool{},
	}
	ranks := map[rankKey]int{}
	for i, node := range o.Tree.Nodes {
		s.byID[node.ID], s.called[i] = i, plain(node.Name)
		if node.Parent < 0 {
			s.window[i] = s.windowOf(node)
			if w := s.window[i]; w >= 0 && !covers(node.Box, s.Windows[w].Box) {
				s.odd[w] = true
			}
			continue
		}
		s.window[i], s.depth[i] = s.window[node.Parent], s.depth[node.Parent]+1
		s.kids[node.Parent] = append(s.kids[node.Parent], i)
		key := rankKey{node.Parent, node.Role}
		s.rank[i] = ranks[key]
		ranks[key]++
	}
	return s
}

type rankKey struct {
	parent int
	role   string
}

// windowOf returns the window that a node without a parent stands for: of the
// same process, with the same title, and where it is.
func (s *scene) windowOf(root atspi.Node) int {
	best, most := -1, 0
	for i, w := range s.Windows {
		same := w.Title != "" && w.Title == root.Name
		overlap := w.Box.Intersect(root.Box)
		fills := 4*overlap.Dx()*overlap.Dy() >= 3*w.Box.Dx()*w.Box.Dy()
		if w.PID != 0 && root.PID != 0 && w.PID != root.PID && !same || !same && !fills {
			continue
		}
		score := 1
		if same {
			score += 4
		}
		if fills {
			score += 2
		}
		if w.PID == root.PID {
			score++
		}
		if score > most {
			best, most = i, score
		}
	}
	return best
}

// covers reports whether a box is that of a window, or of its frame: some
// programs tell coordinates of which they do not say the scale or the origin.
func covers(box, window image.Rectangle) bool {
	area := func(r image.Rectangle) int { return r.Dx() * r.Dy() }
	return 4*area(box.Intersect(window)) >= 3*area(window) && area(box) <= 2*area(window)
}

// node returns the node that a click at an image point would hit; -1 if none.
func (s *scene) node(at image.Point) int {
	n, ok := s.NodeAt(at)
	if !ok {
		return -1
	}
	i := s.byID[n.ID]
	if w := s.window[i]; w >= 0 && s.odd[w] {
		return -1
	}
	return i
}

// top returns the topmost window that covers a device pixel; -1 if none does.
func (s *scene) top(p image.Point) int {
	for i := len(s.Windows) - 1; i >= 0; i-- {
		if w := s.Windows[i]; !w.Hidden && p.In(w.Box) && !passing(w) {
			return i
		}
	}
	return -1
}

// focus returns the window that has the focus; -1 if none has.
func (s *scene) focus() int {
	return slices.IndexFunc(s.Windows, func(w screen.Window) bool { return w.Focused })
}

// focusedNode returns the innermost node with the focus in a window; -1 if none
// is known.
func (s *scene) focusedNode(window int) int {
	best := -1
	for i, n := range s.Tree.Nodes {
		if s.window[i] == window && has(n, "focused") && (best < 0 || s.depth[i] >= s.depth[best]) {
			best = i
		}
	}
	return best
}

// within reports whether a node is another one or inside of it.
func (s *scene) within(node, outer int) bool {
	for node >= 0 && node != outer {
		node = s.Tree.Nodes[node].Parent
	}
	return node >= 0
}

// told reports whether the tree tells anything of a window, at the right place.
func (s *scene) told(window int) bool {
	if s.odd[window] {
		return false
	}
	n := 0
	for _, w := range s.window {
		if w == window {
			n++
		}
	}
	return n > 1
}

// passing reports whether a window comes and goes by itself.
func passing(w screen.Window) bool {
	return w.Popup && (w.Type == "tooltip" || w.Type == "notification" || w.Type == "dnd")
}

func has(n atspi.Node, state string) bool { return slices.Contains(n.States, state) }

// operable reports whether a click on a node of the role does something of its
// own.
func operable(role string) bool {
	if strings.Contains(role, "button") || strings.Contains(role, "menu item") || strings.Contains(role, "combo") {
		return true
	}
	switch role {
	case "menu", "check box", "link", "entry", "text", "password text", "slider", "page tab", "list item", "tree item",
		"table cell", "table column header", "table row header", "scroll bar", "switch", "terminal":
		return true
	}
	return false
}

// spacious reports whether a place in a node of the role is more than the node.
func spacious(role string, box image.Rectangle) bool {
	if box.Dy() < 64 || box.Dx() < 64 {
		return false
	}
	switch role {
	case "text", "entry", "terminal", "canvas", "drawing area", "panel", "filler", "scroll pane", "viewport", "table", "tree table",
		"list", "list box", "tree", "image", "layered pane", "unknown", "section", "paragraph", "redundant object", "root pane",
		"frame", "window", "dialog", "grouping", "split pane", "application", "html container", "internal frame", "glass pane":
		return true
	}
	return strings.HasPrefix(role, "document")
}

// varying reports whether what is inside a node of the role is content, not the
// program's own arrangement.
func varying(role string) bool {
	switch role {
	case "table", "tree table", "list", "list box", "tree", "terminal", "canvas", "icon view", "layered pane":
		return true
	}
	return strings.HasPrefix(role, "document")
}

var (
	pathText = regexp.MustCompile(`[^\s"'()\[\]]*/([^\s"'()\[\]/]*)`)
	longRun  = regexp.MustCompile(`[0-9]{5,}`)
	mailLike = regexp.MustCompile(`[\w.-]+@[\w.-]+`)
)

// plain returns a title or a name without what differs from run to run: the mark
// of unsaved changes, folders, long numbers, and user with host.
func plain(text string) string {
	text, _ = unmark(text)
	return strings.Join(strings.Fields(steady(text)), " ")
}

// steady returns text without folders, long numbers, and user with host.
func steady(text string) string {
	if strings.ContainsAny(text, "/@0123456789") {
		text = pathText.ReplaceAllString(text, "$1")
		text = longRun.ReplaceAllString(text, "#")
		text = mailLike.ReplaceAllString(text, "@")
	}
	return text
}

// unmark returns a title without its mark of unsaved changes, and whether there
// was one.
func unmark(title string) (string, bool) {
	for _, mark := range []string{"*", "●", "•"} {
		if rest, ok := strings.CutPrefix(title, mark); ok {
			return strings.TrimSpace(rest), true
		}
		if rest, ok := strings.CutSuffix(title, mark); ok {
			return strings.TrimSpace(rest), true
		}
	}
	for _, mark := range []string{" (modified)", " [modified]", " [+]", "[+]"} {
		if rest, ok := strings.CutSuffix(title, mark); ok {
			return rest, true
		}
	}
	return title, false
}
