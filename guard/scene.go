package guard

import (
	"image"
	"slices"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
	"desktop-agent/worldmodel"
	"desktop-agent/worldmodel/lexicon"
)

// A scene is an action with what is on the screen around it.
type scene struct {
	in      run.Intent
	nodes   []atspi.Node
	windows []screen.Window
	inside  []int             // of each node, the window; -1 if not known
	focus   element           // where keys go
	certain bool              // whether keys go to focus for certain
	keys    []actuator.Key    // that are held down
	lines   map[string]string // what was typed into terminals and not entered, by [scene.lineKey]
}

// An element is one of the tree with what it is part of, or none: an empty spot of a window.
type element struct {
	index     int // of node
	node      *atspi.Node
	root      bool // the element is the window itself
	label     string
	read      string // what is aimed at, where that was read from the picture: the element is what it stands in
	window    int    // -1: not known
	program   lexicon.Program
	dialog    bool
	known     bool      // the program tells of its elements
	web       bool      // in a page
	statement string    // what the dialog says, without its buttons
	text      string    // all that the dialog says
	buttons   []element // of the dialog
	title     string    // of the window
	bar       bool      // part of a scroll bar, a spin button or the like
}

func sceneOf(in run.Intent, held []actuator.Key) *scene {
	s := &scene{in: in, focus: element{index: -1, window: -1, program: lexicon.Another}}
	s.keys = actuator.KeysHeldAfter(in.Done, held)
	if c, ok := in.Action.(actuator.Click); ok {
		s.keys = append(s.keys, c.Modifiers...)
	}
	if in.On == nil {
		return s
	}
	s.nodes, s.windows, s.inside = in.On.Tree.Nodes, in.On.Windows, in.On.NodeWindows()
	s.focus, s.certain = s.focused()
	return s
}

// held reports whether a modifier is down.
func (s *scene) held(name string) bool {
	return slices.ContainsFunc(s.keys, func(k actuator.Key) bool { return strings.HasPrefix(string(k), name) })
}

// focused is where keys go: what was clicked last in the batch, or else what has the
// focus. After Tab it is not known which element that is. It is not certain where something
// in the batch has moved the focus, or may have, and nobody knows where to.
func (s *scene) focused() (at element, certain bool) {
	for i, a := range slices.Backward(s.in.Done) {
		before := s.before(i)
		switch a := a.(type) {
		case actuator.Click:
			if a.Button == actuator.Left {
				return before.at(a.At), true
			}
			return before.lost()
		case actuator.ButtonDown: // what is pressed gets the focus
			if p := before.point(a.At); p != nil && a.Button == actuator.Left {
				return before.at(p), true
			}
			return before.lost()
		case actuator.ButtonUp:
			if from := before.pressed(); a.Button == actuator.Left && before.clicks(from, before.point(a.At)) {
				return before.at(from), true
			}
			return before.lost()
		case actuator.Drag:
			if path := before.drawn(a.Path); len(path) > 1 && a.Button == actuator.Left && before.clicks(&path[0], &path[len(path)-1]) {
				return before.at(&path[0]), true
			}
			return before.lost()
		case actuator.Press:
			if opens(a.Keys) {
				return before.lost()
			}
			if leaves(a.Keys) {
				return s.somewhere(), true
			}
		case actuator.KeyDown, actuator.Hold:
			if keys := actuator.Pressed(a); leaves(keys) || opens(keys) {
				return before.lost()
			}
		case actuator.Type:
			if strings.Contains(string(a.Text), "\t") {
				return s.somewhere(), true
			}
		case actuator.Paste:
			if a.Text != nil && strings.Contains(string(*a.Text), "\t") {
				return before.lost()
			}
		case actuator.Move, actuator.Scroll, actuator.KeyUp, actuator.Copy, actuator.SetClipboard, actuator.Set,
			actuator.Wait, actuator.WaitUntil, actuator.CallTool: // it leaves the focus where it is
		default: // where the focus is then is not known
			if !actuator.ForAgent(a) {
				return before.lost()
			}
		}
	}
	top := screen.FocusedWindow(s.windows)
	i := s.in.On.FocusedNode()
	if i < 0 {
		return s.somewhere(), true
	}
	return s.of(i, top), true
}

// before is the scene before an action of the batch, by its index.
func (s *scene) before(i int) *scene {
	before := *s
	before.in.Done = s.in.Done[:i]
	return &before
}

// lost is where keys went before something that moves the focus nobody knows where to.
func (s *scene) lost() (at element, certain bool) {
	at, _ = s.focused()
	return at, false
}

// pressed is where the left button went down last; nil if that is not known.
func (s *scene) pressed() *actuator.Point {
	return actuator.PressedAt(actuator.Left, s.in.Done, run.PointerOn(s.in.On))
}

// clicks reports whether a button that goes down at one point and up at another does what a
// click at the first does to the focus: they are the same, or in the same text, of which a part
// is marked then.
func (s *scene) clicks(from, to *actuator.Point) bool {
	if from == nil || to == nil {
		return false
	}
	a, b := s.at(from), s.at(to)
	return from.X == to.X && from.Y == to.Y || a.index >= 0 && a.index == b.index && (a.editable() || a.terminal())
}

// leaves reports whether keys may move the focus.
func leaves(keys []actuator.Key) bool {
	return slices.ContainsFunc(keys, func(k actuator.Key) bool { return k == "tab" || k == "enter" || k == "esc" })
}

// opens reports whether keys may open a menu, or go to another window: what is pressed next
// chooses there.
func opens(keys []actuator.Key) bool {
	return slices.ContainsFunc(keys, func(k actuator.Key) bool {
		return strings.HasPrefix(string(k), "alt") || strings.HasPrefix(string(k), "win") || k == "menu" || k == "f10"
	})
}

// anywhere reports whether the action, which is harmless where keys are taken to go, is
// harmless wherever they go.
func (s *scene) anywhere(c Class) bool {
	if c.Effect == worldmodel.EffectNone {
		return true
	}
	keys := actuator.Pressed(s.in.Action)
	name := s.chord(keys)
	return len(keys) > 0 && slices.Contains(table.Keys.Harmless, name) && s.inTerminal(name).Harmless
}

// somewhere is the window with the focus, of which it is not known where in it.
func (s *scene) somewhere() element {
	top := screen.FocusedWindow(s.windows)
	for i := range s.nodes {
		if top >= 0 && s.inside[i] == top {
			p := s.of(i, top)
			p.node, p.index, p.root, p.label = nil, -1, false, ""
			return p
		}
	}
	p := element{index: -1, window: top, program: lexicon.Another}
	if top >= 0 {
		p.program, p.title, p.dialog = programOf(s.windows[top]), s.windows[top].Title, s.windows[top].Type == "dialog"
	}
	return p
}

// point is where an action aims: nil means where the pointer is.
func (s *scene) point(p *actuator.Point) *actuator.Point {
	if p != nil {
		return p
	}
	return actuator.PointerAfter(s.in.Done, run.PointerOn(s.in.On))
}

// drawn is the path of a drag, from where it begins.
func (s *scene) drawn(along []actuator.Point) []actuator.Point {
	if len(along) != 1 {
		return along
	}
	if from := s.point(nil); from != nil {
		return []actuator.Point{*from, along[0]}
	}
	return along
}

// at is what a click at a point hits.
func (s *scene) at(p *actuator.Point) element {
	p = s.point(p)
	if p == nil || s.in.On == nil {
		return element{index: -1, window: -1, program: lexicon.Another}
	}
	hit, read := s.in.On.PlaceAt(image.Pt(p.X, p.Y)), ""
	n, byHandle := s.in.On.Element(string(p.Element.ID)) // it was aimed at by that, and found again
	if byHandle && s.nodes[n].Read {
		read = s.nodes[n].Text
	} else {
		if byHandle {
			hit.Node, hit.Window = n, max(hit.Window, s.inside[n])
		}
		read = s.lineAt(image.Pt(p.X, p.Y), hit)
	}
	if hit.Node < 0 {
		out := element{index: -1, window: hit.Window, program: lexicon.Another, read: read}
		if hit.Window >= 0 {
			w := s.windows[hit.Window]
			out.program, out.title, out.dialog = programOf(w), w.Title, w.Type == "dialog"
		}
		return out
	}
	out := s.of(hit.Node, hit.Window)
	out.read = read
	return out
}

// lineAt returns what the line says that was read from the picture at a point: where there is
// none, but some are so near that they may be the labels of what is drawn there, one that does
// harm, or else the nearest. "" if there is none in that window, or if a click there hits
// something else that has a name.
func (s *scene) lineAt(p image.Point, hit screen.Place) (text string) {
	named := false
	if hit.Node >= 0 {
		n := s.nodes[hit.Node]
		named = n.Called() != "" && (atspi.Clickable(n.Role) || slices.Contains(table.Roles.Entry, n.Role))
	}
	if m := s.in.On.Image.Mapping; m.Size != (image.Point{}) {
		p = m.ToDevice(p)
	}
	harms, best := false, 0
	for i, n := range s.nodes {
		away := outside(p, n.Box)
		if !n.Read || n.Text == "" || s.inside[i] != hit.Window || named && !atspi.Within(s.nodes, i, hit.Node) || away > n.Box.Dy()/2 {
			continue
		}
		if away == 0 {
			return n.Text
		}
		label := lexicon.LabelOf(n.Text)
		_, harm := label.Means()
		harm = harm || label.Confirms() || label.Trash()
		if text == "" || harm && !harms || harm == harms && away < best {
			text, harms, best = n.Text, harm, away
		}
	}
	return text
}

// outside is how far a point is from a box, in pixels; 0 inside of it.
func outside(p image.Point, box image.Rectangle) int {
	return max(box.Min.X-p.X, p.X-box.Max.X+1, box.Min.Y-p.Y, p.Y-box.Max.Y+1, 0)
}

// of is an element with what it is part of.
func (s *scene) of(i, window int) element {
	p := element{index: i, node: &s.nodes[i], root: s.nodes[i].Parent < 0, window: window, program: lexicon.Another, known: true, label: s.nodes[i].Called()}
	if s.inside[i] >= 0 {
		p.window = s.inside[i]
	}
	if p.window >= 0 {
		w := s.windows[p.window]
		p.program, p.title, p.dialog = programOf(w), w.Title, w.Type == "dialog"
	}
	if p.node.Role == "terminal" {
		p.program = lexicon.Terminal
	}
	top := i
	for at := i; at >= 0; at = s.nodes[at].Parent {
		role := s.nodes[at].Role
		p.web = p.web || role == "document web"
		p.bar = p.bar || at != i && slices.Contains([]string{"scroll bar", "spin button", "combo box", "editbar"}, role)
		p.dialog = p.dialog || slices.Contains(table.Roles.Dialog, role)
		top = at
	}
	if p.dialog {
		s.read(&p, top)
	}
	return p
}

// read takes in what a dialog says. top is the dialog, or the window that it is.
func (s *scene) read(p *element, top int) {
	var statement, all strings.Builder
	statement.WriteString(p.title + "\n")
	for i, n := range s.nodes {
		if !atspi.Within(s.nodes, i, top) {
			continue
		}
		all.WriteString(n.Name + "\n")
		switch n.Role {
		case "push button":
			b := element{index: i, node: &s.nodes[i], label: n.Called(), window: p.window, program: p.program, dialog: true, known: true, title: p.title}
			p.buttons = append(p.buttons, b)
		case "label", "static", "heading", "paragraph", "alert", "dialog", "text", "section", "info bar":
			if !n.Has("editable") {
				statement.WriteString(n.Name + "\n" + n.Text + "\n")
			}
		}
	}
	p.statement = statement.String()
	p.text = p.statement + all.String()
	for i := range p.buttons {
		p.buttons[i].statement, p.buttons[i].text = p.statement, p.text
	}
}

// is reports whether an element is known, and of one of some roles.
func (p element) is(roles ...string) bool {
	return p.node != nil && slices.Contains(roles, p.node.Role)
}

// maxSign is how many words what is drawn in a document may have to be taken for the label of
// something.
const maxSign = 4

// sign is what was read there, as far as it may be the label of what is clicked: the lines of a
// terminal are not, and prose in a document is not.
func (p element) sign() lexicon.Label {
	if p.terminal() || p.program == lexicon.Document && !p.dialog && len(strings.Fields(p.read)) > maxSign {
		return ""
	}
	return lexicon.LabelOf(p.read)
}

// terminal reports whether keys at the place go to a terminal.
func (p element) terminal() bool { return p.program == lexicon.Terminal }

// editable reports whether the element holds text that can be written.
func (p element) editable() bool { return p.node.Has("editable") || p.node.Settable }

// field reports whether keys that are typed there go into a text.
func (p element) field() bool {
	return p.is(table.Roles.Text...) || p.node != nil && p.editable()
}

// actionable reports whether a click does more to the element than to select it.
func (p element) actionable() bool {
	return p.node.Role == "link" || p.node.Role == "image" && p.web
}

// local reports whether what is done there stays on this computer, as far as the
// program tells: it is no browser, mail or chat, and runs no commands.
func (p element) local() bool {
	return p.window >= 0 && !p.web && (p.program == lexicon.Document || p.program == lexicon.Files || p.program == lexicon.Another)
}

// empty reports whether a place is a container with nothing in it that is known, in a
// window that tells of its elements and whose work can be undone.
func (s *scene) empty(at element) bool {
	return (at.program == lexicon.Document && at.sign() == "" || at.program == lexicon.Files) && !at.dialog && at.known
}

// riskyButtons reports whether a dialog has a button that does harm, or says so.
func (s *scene) riskyButtons(at element) bool {
	return len(at.buttons) == 0 || !s.inDialog(at).Harmless
}

// overwrites reports whether a file dialog is asked to save under a name that is in
// its list.
func (s *scene) overwrites(at element) bool {
	if !at.dialog || at.window < 0 && at.index < 0 {
		return false
	}
	var typed []string
	var names []string
	for i, n := range s.nodes {
		if s.inside[i] != at.window {
			continue
		}
		switch {
		case slices.Contains([]string{"text", "entry"}, n.Role) && n.Text != "" && n.Has("editable", "focused"):
			typed = append(typed, n.Text)
		case slices.Contains(table.Roles.Entry, n.Role):
			names = append(names, n.Called(), n.Text)
		}
	}
	for _, a := range s.in.Done { // and what was typed since
		if text, ok := actuator.Entered(a); ok {
			typed = append(typed, strings.TrimRight(text, "\r\n"))
		}
	}
	if text, ok := actuator.Entered(s.in.Action); ok {
		typed = append(typed, strings.TrimRight(text, "\r\n"))
	}
	return slices.ContainsFunc(typed, func(t string) bool { return t != "" && slices.Contains(names, t) })
}

// aimed is the place that an action is about: where it points last, or else the focus.
func (s *scene) aimed() element {
	switch a := s.in.Action.(type) {
	case actuator.Click:
		return s.at(a.At)
	case actuator.ButtonUp:
		return s.at(a.At)
	default: // by the types of its fields
	}
	if points := actuator.Points(s.in.Action); len(points) > 0 {
		return s.at(&points[len(points)-1])
	}
	return s.focus
}

// partly reports whether a program that the action goes to did not answer in time: a dialog
// of it may say more, and have more buttons, than is known, and so may what is clicked.
func (s *scene) partly() bool {
	if s.in.On == nil || actuator.KindOf(s.in.Action) != actuator.Input {
		return false
	}
	places := []element{s.aimed()}
	points := actuator.Points(s.in.Action)
	switch a := s.in.Action.(type) {
	case actuator.Drag:
		points = s.drawn(a.Path)
	case actuator.ButtonUp:
		if from := s.pressed(); from != nil {
			points = append(points, *from)
		}
	default: // it begins where it points
	}
	for _, p := range points {
		places = append(places, s.at(&p))
	}
	return slices.ContainsFunc(places, func(at element) bool {
		return s.in.On.Tree.Hangs(s.in.On.PID(screen.Place{Window: at.window, Node: at.index}))
	})
}

// folder is what the field of a file manager says in which the folder stands.
func (s *scene) folder(at element) string {
	if at.program != lexicon.Files {
		return ""
	}
	for i, n := range s.nodes {
		if s.inside[i] == at.window && slices.Contains(table.Roles.Text, n.Role) && strings.HasPrefix(n.Text, "/") {
			return n.Text
		}
	}
	return ""
}

// target names what an action is about.
func (s *scene) target() string {
	if actuator.KindOf(s.in.Action) != actuator.Input {
		return ""
	}
	at := s.aimed()
	var words []string
	quote := func(q string) string { return `"` + clip(q) + `"` }
	if at.read != "" {
		words = append(words, screen.RoleTextLine+" "+quote(at.read))
	}
	if at.node != nil && !(at.root && at.read != "") {
		if len(words) > 0 {
			words = append(words, "in")
		}
		words = append(words, at.node.Describe(quote))
	}
	if at.title != "" {
		words = append(words, `in window "`+clip(at.title)+`"`)
	}
	return strings.Join(words, " ")
}

// clip shortens a text that a program has chosen, and keeps it on one line.
func clip(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return text
}
