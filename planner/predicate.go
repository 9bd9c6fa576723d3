package planner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"desktop-agent/llm"
	"desktop-agent/screen"
)

// A Predicate is a condition that code evaluates: on an observation, or on the files
// of a home that is the run's own. It says in full what a step's condition says in words,
// or as much of it as code can tell.
type Predicate struct {
	Kind  PredicateKind `json:"kind"`
	Role  string        `json:"role" jsonschema:"of an element as the list of the screen calls it, such as tab, textbox or window; empty for any"`
	Name  string        `json:"name" jsonschema:"what the element is called, or the path of a file within the home folder; empty if none"`
	Value string        `json:"value" jsonschema:"the title, text or state; empty if none"`
}

// A PredicateKind is what a predicate looks at.
type PredicateKind string

// The kinds of predicates.
const (
	TitleIs   PredicateKind = "title_is"   // a window has this whole title
	TitleHas  PredicateKind = "title_has"  // the title of a window has these whole words, and no mark of unsaved changes that they lack
	TextIs    PredicateKind = "text_is"    // an element holds this whole text, or value
	TextHas   PredicateKind = "text_has"   // the text of an element has these whole words
	StateIs   PredicateKind = "state_is"   // an element is in a state
	Shown     PredicateKind = "shown"      // an element or a window can be seen
	Gone      PredicateKind = "gone"       // an element or a window that was there is not any more
	FileThere PredicateKind = "file_there" // a file of the home exists
	FileSaved PredicateKind = "file_saved" // a file of the home was written after the last edit
)

// Values lists the kinds, for the schema of replies.
func (PredicateKind) Values() []string {
	return []string{string(TitleIs), string(TitleHas), string(TextIs), string(TextHas), string(StateIs), string(Shown), string(Gone), string(FileThere), string(FileSaved)}
}

// ofFile reports whether it is about a file.
func (k PredicateKind) ofFile() bool { return k == FileThere || k == FileSaved }

// A Home tells of the files of a home that is the run's own.
type Home interface {
	// Files returns those of some names that are there, and those that changed since a
	// time, the newest first.
	Files(ctx context.Context, names []string, since time.Time) ([]File, error)
}

// A State is what a predicate is evaluated on. Nothing else decides.
type State struct {
	Now *screen.Observation
	// Before are observations in which something may have been that is gone, the
	// newest first.
	Before []*screen.Observation
	Typed  []string // what the run has entered
	Files  Files
}

// Files is what is known of the files of a run's home.
type Files struct {
	Own    bool      // the home is the run's own; else no file says anything
	Edited time.Time // when the run last edited something, or began
	List   []File    // those that were looked for and are there, and those that changed since the run began
}

// A File is a file of the home.
type File struct {
	Path     string // within the home, with slashes
	Size     int64  // bytes
	Modified time.Time
}

// states are what an element can be in, by the state that AT-SPI tells and whether
// that is to be there.
var states = map[string]struct {
	name string
	on   bool
}{
	"checked": {"checked", true}, "unchecked": {"checked", false}, "not checked": {"checked", false},
	"selected": {"selected", true}, "not selected": {"selected", false},
	"enabled": {"disabled", false}, "disabled": {"disabled", true}, "not enabled": {"disabled", true},
	"pressed": {"pressed", true}, "not pressed": {"pressed", false},
	"expanded": {"expanded", true}, "collapsed": {"collapsed", true}, "not expanded": {"expanded", false},
	"focused": {"focused", true}, "not focused": {"focused", false},
}

// maxPredicate bounds each part of a predicate, in characters.
const maxPredicate = 240

// Validate returns what is wrong with a predicate, in words for the model that wrote
// it, or nil. own says whether the home is the run's own.
func (p Predicate) Validate(own bool) error {
	for _, part := range []string{p.Role, p.Name, p.Value} {
		if utf8.RuneCountInString(part) > maxPredicate {
			return fmt.Errorf("shorten the predicate to %d characters a part", maxPredicate)
		}
	}
	if p.Kind.ofFile() {
		return p.validateFile(own)
	}
	switch p.Kind {
	case TitleIs, TitleHas:
		if !sayable(p.Value) {
			return fmt.Errorf("a predicate %s needs the title in value", p.Kind)
		}
	case TextIs, TextHas:
		switch {
		case !sayable(p.Value):
			return fmt.Errorf("a predicate %s needs the text in value", p.Kind)
		case p.Role == "" && p.Name == "":
			return fmt.Errorf("a predicate %s needs the role or the name of the element", p.Kind)
		}
	case StateIs:
		if _, ok := states[clean(p.Value)]; !ok {
			return fmt.Errorf("a predicate state_is has in value one of checked, not checked, selected, enabled, disabled, expanded, collapsed, pressed, focused, and not %q", llm.Excerpt(p.Value, 40))
		}
		if !sayable(p.Name) {
			return errors.New("a predicate state_is needs the name of the element")
		}
	case Shown, Gone:
		if !sayable(p.Name) {
			return fmt.Errorf("a predicate %s needs the name of the element, or with the role window a title", p.Kind)
		}
	default:
		return fmt.Errorf("the kind %q of the predicate is not one of %s; write null if none fits", llm.Excerpt(string(p.Kind), 40), strings.Join(p.Kind.Values(), ", "))
	}
	return nil
}

func (p Predicate) validateFile(own bool) error {
	switch {
	case !own:
		return fmt.Errorf("a predicate %s is about a file, and the files of this desktop are not looked at; write null, or what the screen shows", p.Kind)
	case strings.TrimSpace(p.Name) == "":
		return fmt.Errorf("a predicate %s needs the path of the file in name, such as \"Documents/notes.txt\"", p.Kind)
	case strings.ContainsAny(p.Name, "*?\\\x00"):
		return fmt.Errorf("the path %q of the predicate must name one file", llm.Excerpt(p.Name, 80))
	case strings.HasPrefix(p.Name, "/"):
		return fmt.Errorf("the path %q of the predicate must be within the home folder, such as \"Documents/notes.txt\"", llm.Excerpt(p.Name, 80))
	case slices.Contains(strings.Split(p.Name, "/"), ".."):
		return fmt.Errorf("the path %q of the predicate leaves the home folder", llm.Excerpt(p.Name, 80))
	}
	return nil
}

// sayable reports whether a text names anything.
func sayable(s string) bool { return strings.ContainsFunc(s, isWordRune) }

// clean makes words comparable.
func clean(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// tidy puts right what models write beside the point: spaces, "~/" before a path, and
// an empty object for none.
func (p *Predicate) tidy() *Predicate {
	if p == nil || *p == (Predicate{}) {
		return nil
	}
	t := Predicate{Kind: p.Kind, Role: clean(p.Role), Name: cleanLine(p.Name), Value: cleanLine(p.Value)}
	if t.Kind.ofFile() && t.Name != "" && !strings.Contains(t.Name, "..") {
		t.Name = path.Clean(strings.TrimPrefix(t.Name, "~/"))
	}
	return &t
}

// JSON is the predicate as a model writes it.
func (p Predicate) JSON() (string, error) {
	data, err := json.Marshal(p)
	return string(data), err
}

// String says it in words, for a person.
func (p Predicate) String() string {
	element := strings.TrimSpace(p.Role)
	if p.Name != "" {
		element = strings.TrimSpace(fmt.Sprintf("%s %q", element, p.Name))
	}
	switch p.Kind {
	case TitleIs:
		return fmt.Sprintf("a window is titled %q", p.Value)
	case TitleHas:
		return fmt.Sprintf("the title of a window has %q", p.Value)
	case TextIs:
		return fmt.Sprintf("%s holds %q", element, p.Value)
	case TextHas:
		return fmt.Sprintf("the text of %s has %q", element, p.Value)
	case StateIs:
		return fmt.Sprintf("%s is %s", element, p.Value)
	case Shown:
		return element + " is there"
	case Gone:
		return element + " is gone"
	case FileThere:
		return fmt.Sprintf("the file %q is there", p.Name)
	case FileSaved:
		return fmt.Sprintf("the file %q was saved after the last edit", p.Name)
	}
	return string(p.Kind)
}

// Holds evaluates a predicate. What cannot be told does not hold: a program that did
// not answer, a tree that could not be read, files of a home that is not the run's.
func (p Predicate) Holds(s State) bool {
	if s.Now == nil || p.Validate(s.Files.Own) != nil {
		return false
	}
	switch p.Kind {
	case TitleIs, TitleHas:
		return slices.ContainsFunc(s.Now.Windows, func(w screen.Window) bool { return !w.Hidden && p.titled(w.Title) })
	case TextIs, TextHas:
		return slices.ContainsFunc(s.Now.Elements(p.Role, p.Name), func(i int) bool { return p.holdsText(s, i) })
	case StateIs:
		want := states[clean(p.Value)]
		found := s.Now.Elements(p.Role, p.Name)
		// Of several that are called so, none may say otherwise: which is meant is not known.
		return len(found) > 0 && !slices.ContainsFunc(found, func(i int) bool { return s.Now.Tree.Nodes[i].Has(want.name) != want.on })
	case Shown:
		return p.shown(s.Now)
	case Gone:
		return slices.ContainsFunc(s.Before, func(was *screen.Observation) bool { return was != nil && p.goneSince(was, s.Now) })
	case FileThere, FileSaved:
		return slices.ContainsFunc(s.Files.List, func(f File) bool {
			return p.names(s.Files.List, f) && (p.Kind == FileThere || f.Size > 0 && f.Modified.After(s.Files.Edited))
		})
	}
	return false
}

// names reports whether a predicate is about a file of a list: by its path in the home, or
// by its name alone where no other file of the list has it.
func (p Predicate) names(list []File, f File) bool {
	if f.Path == p.Name {
		return true
	}
	called := func(f File) bool { return path.Base(f.Path) == p.Name }
	return called(f) && !slices.ContainsFunc(list, func(other File) bool { return other.Path != f.Path && called(other) })
}

// untold returns why nobody knows whether a predicate holds: a program that did not answer
// may have the element that it names; "" if that is known.
func (p Predicate) untold(now *screen.Observation) string {
	switch p.Kind {
	case TextIs, TextHas, StateIs, Shown, Gone:
	default:
		return ""
	}
	switch {
	case now.Tree.Err != nil:
		return "no program tells what it shows now"
	case len(now.Tree.Hung) > 0:
		return fmt.Sprintf("%q did not answer now", llm.Excerpt(now.Tree.Hung[0].Name, 40))
	}
	return ""
}

// planned reports whether a predicate holds when it is planned: then it proves nothing
// of what is done later. What is to go is not there then.
func (p Predicate) planned(s State) bool {
	if p.Kind == Gone {
		return !p.shown(s.Now) && !p.minimised(s.Now) && len(s.Now.AllElements(p.Role, p.Name)) == 0 && p.untold(s.Now) == ""
	}
	return p.Holds(s)
}

func (p Predicate) titled(title string) bool {
	if p.Kind == TitleIs {
		return screen.SameText(title, p.Value)
	}
	// A mark of unsaved changes counts, as it does in a whole title.
	_, wanted := screen.Unmarked(p.Value)
	_, marked := screen.Unmarked(title)
	return screen.HoldsText(title, p.Value) && (wanted || !marked)
}

func (p Predicate) holdsText(s State, i int) bool {
	n := s.Now.Tree.Nodes[i]
	if p.Name == "" && s.Now.IsField(i) && slices.ContainsFunc(s.Typed, func(t string) bool { return strings.Contains(t, p.Value) }) {
		return false // what was typed into any field shows what was entered, and not what came of it
	}
	told := []string{n.Text, n.Formula}
	if n.Text == "" && p.Name == "" {
		told = append(told, n.Name) // what a label says is its name
	}
	if n.Length > utf8.RuneCountInString(n.Text)+n.Start && p.Kind == TextIs || n.Start > 0 && p.Kind == TextIs {
		told = nil // only a part of its text is known
	}
	return slices.ContainsFunc(told, func(text string) bool {
		if p.Kind == TextIs {
			return screen.SameText(text, p.Value)
		}
		return screen.HoldsText(text, p.Value)
	})
}

// shown reports whether the element, or the window, can be seen.
func (p Predicate) shown(o *screen.Observation) bool {
	if slices.ContainsFunc(o.Windows, func(w screen.Window) bool { return !w.Hidden && p.isWindow(w) }) {
		return true
	}
	return len(o.Elements(p.Role, p.Name)) > 0
}

// isWindow reports whether a window is the one that the predicate is about, by its title:
// the whole one, as of any element that proves something.
func (p Predicate) isWindow(w screen.Window) bool {
	return screen.NamesWindow(p.Role) && screen.SameText(w.Title, p.Name)
}

// minimised reports whether the window is there, and cannot be seen.
func (p Predicate) minimised(o *screen.Observation) bool {
	return slices.ContainsFunc(o.Windows, func(w screen.Window) bool { return w.Hidden && p.isWindow(w) })
}

// covered reports whether the element is told in a window in which it was seen, though it
// cannot be seen.
func (p Predicate) covered(was, now *screen.Observation) bool {
	in := func(o *screen.Observation, nodes []int) (windows []uint32) {
		of := o.NodeWindows()
		for _, i := range nodes {
			if w := of[i]; w >= 0 {
				windows = append(windows, o.Windows[w].ID)
			}
		}
		return windows
	}
	seen := in(was, was.Elements(p.Role, p.Name))
	return slices.ContainsFunc(in(now, now.AllElements(p.Role, p.Name)), func(w uint32) bool { return slices.Contains(seen, w) })
}

// goneSince reports whether what an observation had is not there in another. An
// element is gone only from where it was: what held it is still there, and shows all
// that it has. A list that was scrolled, another page and a window over it prove nothing.
func (p Predicate) goneSince(was, now *screen.Observation) bool {
	if !p.shown(was) || p.shown(now) || p.covered(was, now) || now.Tree.Err != nil {
		return false
	}
	if slices.ContainsFunc(was.Windows, p.isWindow) {
		return !slices.ContainsFunc(now.Windows, p.isWindow) && !slices.ContainsFunc(was.Windows, func(w screen.Window) bool { return p.isWindow(w) && now.Tree.Hangs(w.PID) })
	}
	return !slices.ContainsFunc(was.Elements(p.Role, p.Name), func(i int) bool { return now.Tree.Hangs(was.Tree.Nodes[i].PID) || !now.WholeWithout(was, i) })
}

// A Proof is a step that its predicate completed.
type Proof struct {
	Step int    // from 1
	Why  string // in words
}

// Prove completes the steps whose predicates hold, each by evidence of its own, and
// passes those before them that have none. It asks nobody.
func (p *Plan) Prove(s State) (list []Proof) {
	for n := p.ProgressStep(); n <= len(p.Steps); n++ {
		predicate := p.Steps[n-1].Predicate
		if predicate == nil || !predicate.Holds(s) {
			continue
		}
		ev := Evidence{FrameID: s.Now.FrameID, At: s.Now.At, Quote: predicate.String(), Source: SourcePredicate, Grade: Proved}
		if err := p.Reach(n, ev); err != nil {
			continue // the frame is not newer than the step
		}
		list = append(list, Proof{n, fmt.Sprintf("step %d is completed (%s): %s", n, Proved, predicate)})
	}
	return list
}

// FilesNamed returns the paths that predicates of the open steps name.
func (p *Plan) FilesNamed() (list []string) {
	if p == nil {
		return nil
	}
	for _, s := range p.Steps[p.ProgressStep()-1:] {
		if s.Predicate != nil && s.Predicate.Kind.ofFile() {
			list = append(list, s.Predicate.Name)
		}
	}
	return list
}
