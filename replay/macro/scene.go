package macro

import (
	"image"
	"regexp"
	"strings"

	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// A scene is what lies where at one moment, recorded or live.
type scene struct {
	*screen.Observation
	window []int    // for each node, the index of the window that it is in; -1 if none is known
	rank   []int    // for each node, its number among the siblings of its role, from 0
	depth  []int    // for each node, how many are above it
	called []string // for each node, its name without what differs from run to run
	kids   [][]int
	odd    map[int]bool // windows of which the tree tells another place or size
}

// recordedScene makes a scene of an event.
func recordedScene(was *run.Observed) *scene {
	return newScene(replay.Recall(was))
}

func newScene(o *screen.Observation) *scene {
	o = o.Told() // a text that was read is told by its pixels: it comes late, and may be read otherwise
	n := len(o.Tree.Nodes)
	s := &scene{
		Observation: o, window: o.NodeWindows(), rank: make([]int, n), depth: make([]int, n),
		called: make([]string, n), kids: make([][]int, n), odd: map[int]bool{},
	}
	ranks := map[rankKey]int{}
	for i, node := range o.Tree.Nodes {
		s.called[i] = plain(node.Name)
		if node.Parent < 0 {
			if w := s.window[i]; w >= 0 && !covers(node.Box, s.Windows[w].Box) {
				s.odd[w] = true
			}
			continue
		}
		s.depth[i] = s.depth[node.Parent] + 1
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

// covers reports whether a box is that of a window, or of its frame: some
// programs tell coordinates of which they do not say the scale or the origin.
func covers(box, window image.Rectangle) bool {
	area := func(r image.Rectangle) int { return r.Dx() * r.Dy() }
	return 4*area(box.Intersect(window)) >= 3*area(window) && area(box) <= 2*area(window)
}

// node returns the node that a click at an image point would hit; -1 if none, see
// [screen.Observation.ButtonOf].
func (s *scene) node(at image.Point) int {
	i := s.PlaceAt(at).Node
	if i >= 0 && s.window[i] >= 0 && s.odd[s.window[i]] {
		return -1
	}
	return s.ButtonOf(i)
}

// focusedNode returns the innermost node with the focus in a window; -1 if none
// is known.
func (s *scene) focusedNode(window int) int {
	best := -1
	for i, n := range s.Tree.Nodes {
		if s.window[i] == window && n.Has("focused") && (best < 0 || s.depth[i] >= s.depth[best]) {
			best = i
		}
	}
	return best
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
	return w.Passive() || w.Popup && w.Type == "notification"
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
	case "table", "tree table", "list", "list box", "tree", "terminal", "canvas", "layered pane":
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
	text, _ = screen.Unmarked(text)
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
