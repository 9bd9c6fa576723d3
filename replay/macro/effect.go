package macro

import (
	"fmt"
	"slices"
	"strings"

	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// An effect is what came of a step, in terms that hold with another theme, font,
// size or place too. Its numbers are those of the recorded scene after the step.
type effect struct {
	focus  int   // the window with the focus; -1 if it is none
	opened []int // windows
	closed []int // windows of the scene before
	marked []int // windows whose mark of unsaved changes came or went
	texts  []int // nodes that were edited
	states []stateChange
	came   []int // nodes with a name
	picked []int // nodes with a name that came into the content of a window, selected
}

// A stateChange is a node that has or lacks a state now.
type stateChange struct {
	node  int
	state string
	on    bool
}

// lasting are the states that a step may be about.
var lasting = []string{"checked", "selected", "pressed", "expanded"}

// effectOf compares the recorded scenes before and after a step.
func effectOf(was, led *scene) effect {
	e := effect{focus: screen.FocusedWindow(led.Windows)}
	byID := map[uint32]int{}
	for i, w := range was.Windows {
		byID[w.ID] = i
	}
	still := map[uint32]bool{}
	for i, w := range led.Windows {
		still[w.ID] = true
		before, known := byID[w.ID]
		if !known {
			if !passing(w) {
				e.opened = append(e.opened, i)
			}
			continue
		}
		_, mark := screen.Unmarked(w.Title)
		if _, earlier := screen.Unmarked(was.Windows[before].Title); mark != earlier {
			e.marked = append(e.marked, i)
		}
	}
	for i, w := range was.Windows {
		if !still[w.ID] && !passing(w) {
			e.closed = append(e.closed, i)
		}
	}
	e.nodes(was, led, byID)
	return e
}

// nodes compares the trees. There were the windows of these IDs before the step.
func (e *effect) nodes(was, led *scene, windows map[uint32]int) {
	paths, names, selected := map[string]int{}, map[label]int{}, map[label]bool{}
	for i, n := range was.Tree.Nodes {
		paths[was.key(i)] = i
		names[label{n.Role, n.Name}]++
		if n.Has("selected") {
			selected[label{n.Role, n.Name}] = true
		}
	}
	content := make([]bool, len(led.Tree.Nodes))
	for i, n := range led.Tree.Nodes {
		if n.Parent >= 0 {
			content[i] = content[n.Parent] || varying(led.Tree.Nodes[n.Parent].Role)
		}
		names[label{n.Role, n.Name}]--
		if n.Parent >= 0 && n.Name != "" && !content[i] && names[label{n.Role, n.Name}] < 0 && led.window[i] >= 0 {
			e.came = append(e.came, i)
		}
		before, known := paths[led.key(i)]
		known = known && was.Tree.Nodes[before].Role == n.Role
		if w := led.window[i]; content[i] && w >= 0 && n.Name != "" && selectable(n) && n.Has("selected") && !selected[label{n.Role, n.Name}] {
			if _, old := windows[led.Windows[w].ID]; old && (!known || was.Tree.Nodes[before].Name != n.Name) {
				e.picked = append(e.picked, i)
			}
		}
		if !known {
			continue
		}
		b := was.Tree.Nodes[before]
		if n.Text != b.Text && n.Has("editable") && n.Role != "terminal" {
			e.texts = append(e.texts, i)
		}
		for _, state := range lasting {
			if state == "selected" && !selectable(n) {
				continue
			}
			if n.Has(state) != b.Has(state) && n.Name == b.Name && (n.Name != "" || !content[i]) {
				e.states = append(e.states, stateChange{i, state, n.Has(state)})
			}
		}
	}
}

// selectable reports whether a node that is selected was chosen: of a menu's entry
// it only says that the pointer is over it.
func selectable(n atspi.Node) bool { return !strings.Contains(n.Role, "menu") }

// key names a node by its window and its path.
func (s *scene) key(node int) string {
	var b strings.Builder
	for i := node; i >= 0; i = s.Tree.Nodes[i].Parent {
		if n := s.Tree.Nodes[i]; n.Parent >= 0 {
			fmt.Fprintf(&b, "%s %d/", n.Role, s.rank[i])
		}
	}
	if w := s.window[node]; w >= 0 {
		fmt.Fprintf(&b, "%d", s.Windows[w].ID)
	}
	return b.String()
}

// none reports whether a step is known by nothing but the focus.
func (e *effect) none() bool {
	return len(e.opened)+len(e.closed)+len(e.marked)+len(e.texts)+len(e.states)+len(e.came) == 0
}

// lacks returns what of an effect is not there, in words, and what is there
// instead; "" if nothing is missing. before compares the scene before the step
// with the present one, after the scene after it.
func (e *effect) lacks(before, after *pair) (expected, found string) {
	for _, check := range []func(before, after *pair) (string, string){
		e.lacksWindow, e.lacksClosing, e.lacksMark, e.lacksText, e.lacksState, e.lacksNames, e.lacksFocus,
	} {
		if expected, found = check(before, after); expected != "" {
			return expected, found
		}
	}
	return "", ""
}

func (e *effect) lacksWindow(_, after *pair) (string, string) {
	for _, w := range e.opened {
		if len(after.windows(w)) == 0 {
			return after.told(w).String() + " opens", "there is no such window; there are " + listWindows(after.now)
		}
	}
	return "", ""
}

func (e *effect) lacksClosing(before, after *pair) (string, string) {
	for _, w := range e.closed {
		left := len(before.windows(w))
		for i := range after.was.Windows {
			if slices.Contains(before.windowsLike(after.was, i), w) {
				left--
			}
		}
		if left > 0 {
			return before.told(w).String() + " closes", "it is still open"
		}
	}
	return "", ""
}

// windowsLike returns the windows of the scene before that one of another
// recorded scene looks like by class, kind and title.
func (p *pair) windowsLike(other *scene, window int) (list []int) {
	v := other.Windows[window]
	for i, w := range p.was.Windows {
		if w.Class == v.Class && w.Type == v.Type && w.Popup == v.Popup && (w.Popup || p.name(w.Title) == p.name(v.Title)) {
			list = append(list, i)
		}
	}
	return list
}

func (e *effect) lacksMark(_, after *pair) (string, string) {
	for _, w := range e.marked {
		recorded := after.told(w)
		_, want := screen.Unmarked(recorded.Title)
		list := after.windows(w)
		ok := slices.ContainsFunc(list, func(i int) bool {
			_, mark := screen.Unmarked(after.now.Windows[i].Title)
			return mark == want
		})
		if !ok {
			return "the title " + fmt.Sprintf("%q", recorded.Title), "there are " + listWindows(after.now)
		}
	}
	return "", ""
}

func (e *effect) lacksText(_, after *pair) (string, string) {
	for _, i := range e.texts {
		n := after.was.Tree.Nodes[i]
		if after.silent(after.was.window[i]) {
			continue
		}
		found, _, why := after.find(i, after.was.window[i])
		if found < 0 {
			return n.String() + " with the recorded text", why
		}
		if got := after.now.Tree.Nodes[found].Text; steady(got) != steady(after.sub(n.Text)) {
			return fmt.Sprintf("%v holds %q", n, after.sub(n.Text)), fmt.Sprintf("it holds %q", got)
		}
	}
	return "", ""
}

func (e *effect) lacksState(_, after *pair) (string, string) {
	for _, c := range e.states {
		n := after.was.Tree.Nodes[c.node]
		if after.silent(after.was.window[c.node]) {
			continue
		}
		found, _, why := after.find(c.node, after.was.window[c.node])
		not := ""
		if !c.on {
			not = "not "
		}
		expected := fmt.Sprintf("%v is %s%s", n, not, c.state)
		if found < 0 {
			return expected, why
		}
		if after.now.Tree.Nodes[found].Has(c.state) != c.on {
			return expected, "it is the other way round"
		}
	}
	return "", ""
}

// lacksNames asks for half of the names that came: some tell the time, or are
// beyond the edge of a smaller window.
func (e *effect) lacksNames(_, after *pair) (string, string) {
	there := map[label]bool{}
	for i, n := range after.now.Tree.Nodes {
		there[label{n.Role, after.now.called[i]}] = true
	}
	asked, seen, missing := 0, 0, ""
	for _, i := range e.came {
		n, w := after.was.Tree.Nodes[i], after.was.window[i]
		live := after.windows(w)
		if after.silent(w) || len(live) > 0 && after.translated(w, live[0]) {
			continue // nothing is told, or by other names
		}
		asked++
		if there[label{n.Role, after.name(n.Name)}] {
			seen++
		} else if missing == "" {
			missing = fmt.Sprintf("%v in %v", n, after.told(w))
		}
	}
	if 2*seen < asked {
		return missing + " shows", fmt.Sprintf("of %d such nodes %d are there", asked, seen)
	}
	return "", ""
}

// lacksPicked asks for one of the selected nodes that came into a window's content,
// such as the row of a file that was pasted. It is apart from what lacks asks for:
// content differs from run to run, and is worth waiting for only because what is
// selected decides what a menu offers to the next step.
func (e *effect) lacksPicked(after *pair) (expected, found string) {
	for _, i := range e.picked {
		n, w := after.was.Tree.Nodes[i], after.was.window[i]
		live := after.windows(w)
		if len(live) == 0 || after.silent(w) || after.translated(w, live[0]) {
			continue
		}
		for k, m := range after.now.Tree.Nodes {
			if slices.Contains(live, after.now.window[k]) && m.Has("selected") && m.Role == n.Role && after.now.called[k] == after.name(n.Name) {
				return "", ""
			}
		}
		if expected == "" {
			expected = fmt.Sprintf("%s is selected in %s", n, after.told(w))
			found = "nothing of what came selected is there and selected"
		}
	}
	return expected, found
}

func (e *effect) lacksFocus(_, after *pair) (string, string) {
	if e.focus < 0 {
		return "", ""
	}
	if i := screen.FocusedWindow(after.now.Windows); !slices.Contains(after.windows(e.focus), i) {
		return "the focus in " + after.told(e.focus).String(), "the focus is in " + focusWords(after.now)
	}
	return "", ""
}

// silent reports whether the live tree tells nothing of a window that is there.
func (p *pair) silent(window int) bool {
	live := p.windows(window)
	return len(live) > 0 && !slices.ContainsFunc(live, p.now.told)
}

// told returns a recorded window with the values of parameters in its title.
func (p *pair) told(window int) screen.Window {
	w := p.was.Windows[window]
	w.Title = p.sub(w.Title)
	return w
}

func focusWords(s *scene) string {
	if i := screen.FocusedWindow(s.Windows); i >= 0 {
		return s.Windows[i].String()
	}
	return "no window"
}

func listWindows(s *scene) string {
	var list []string
	for _, w := range s.Windows {
		if !w.Hidden {
			list = append(list, w.String())
		}
	}
	if len(list) == 0 {
		return "no windows"
	}
	return strings.Join(list, ", ")
}
