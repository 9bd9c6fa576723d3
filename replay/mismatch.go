package replay

import (
	"fmt"
	"image"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// A MismatchError says that the live screen is not what a recorded action needs.
// Compared are, in this order:
//
//   - the size of the screen, and how the image sent to the model lies on it;
//   - title and class of the window that has the focus;
//   - for each point of an action, title and class of the topmost window there;
//   - for each point, role and name of the accessibility node there;
//   - where no node was recorded, or one that has neither a name nor text to
//     enter, or where a busy program has not told its nodes: the pixels around
//     the point.
//
// Nothing is moved to where a node is now: what is elsewhere is a mismatch.
type MismatchError struct {
	Step     int    // of the recorded run
	Action   string // in words, without what it types
	Expected string // as recorded
	Found    string // on the live screen
	Frame    string // the live frame
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("the live screen does not match the recording at step %d (%s): expected %s, found %s on frame %s",
		e.Step, e.Action, e.Expected, e.Found, e.Frame)
}

// check compares the live screen with the one that a reply was about.
func (m *Recorded) check(r *Call, o *screen.Observation) error {
	if r.Proposal == nil {
		return nil
	}
	for _, a := range r.Proposal.Actions {
		if actuator.KindOf(a.Action) != actuator.Input {
			continue
		}
		expected, found, err := m.differs(a.Action, r.Proposal.Seen, o)
		if err != nil {
			return fmt.Errorf("compare with frame %s of the recording: %w", r.Proposal.FrameID, err)
		}
		if expected != found {
			return &MismatchError{
				Step: r.Step, Action: actuator.Describe(a.Action), Expected: expected, Found: found, Frame: o.FrameID,
			}
		}
	}
	return nil
}

// differs returns in words what was expected and what was found; they are equal
// if all that the action needs is the same.
func (m *Recorded) differs(a actuator.Action, was *run.Observed, o *screen.Observation) (expected, found string, err error) {
	if was.Frame != o.Frame.Rect.Size() || was.Mapping != o.Image.Mapping {
		return geometry(was.Frame, was.Mapping), geometry(o.Frame.Rect.Size(), o.Image.Mapping), nil
	}
	then := Recall(was)
	if expected, found = focus(then), focus(o); expected != found {
		return expected, found, nil
	}
	for _, p := range actuator.Points(a) {
		at := image.Pt(p.X, p.Y)
		where := fmt.Sprintf(" at (%d, %d)", at.X, at.Y)
		wanted, there := then.PlaceAt(at), o.PlaceAt(at)
		if expected, found = topWindow(then, wanted), topWindow(o, there); expected != found {
			return expected + where, found + where, nil
		}
		expected, found = node(then, wanted), node(o, there)
		untold := o.Tree.Hangs(o.PID(there)) && (there.Node < 0 || within(then, wanted.Node, found))
		if wanted.Node >= 0 && expected != found && !untold {
			return expected + where, found + " there" + elsewhere(then.Tree.Nodes[wanted.Node], o), nil
		}
		if wanted.Node < 0 || untold || !tells(then.Tree.Nodes[wanted.Node]) {
			_, recorded, err := m.run.Pixels(was)
			if err != nil {
				return "", "", err
			}
			if other, alike := screen.Alike(recorded, o.Bare, was.Mapping.ToDevice(at)); !alike {
				return "the recorded picture" + where, fmt.Sprintf("another one (%.0f %% of the pixels around it differ)", 100*other), nil
			}
		}
	}
	return "", "", nil
}

func geometry(size image.Point, m screen.Mapping) string {
	return fmt.Sprintf("a screen of %d×%d with %v sent as %d×%d", size.X, size.Y, m.Source, m.Size.X, m.Size.Y)
}

// describeWindow says which window it is, of which program.
func describeWindow(w screen.Window) string { return fmt.Sprintf("%v (%s)", w, w.Class) }

func focus(o *screen.Observation) string {
	if w, ok := o.Focused(); ok {
		return "the focus in " + describeWindow(w)
	}
	return "the focus in no window"
}

func topWindow(o *screen.Observation, at screen.Place) string {
	if at.Window < 0 {
		return "no window"
	}
	return describeWindow(o.Windows[at.Window])
}

// node says in words what is at a place, see [screen.Observation.ButtonOf].
func node(o *screen.Observation, at screen.Place) string {
	if at.Node < 0 {
		return "nothing"
	}
	return o.Tree.Nodes[o.ButtonOf(at.Node)].String()
}

// tells reports whether a node says by its role and name what is there.
func tells(n atspi.Node) bool {
	return n.Name != "" || strings.Contains(n.Role, "text") || n.Role == "entry" || n.Role == "terminal"
}

// within reports whether a node lies in one that is described so, which is not itself: of
// what was there before only the words are known ([atspi.Within] is of nodes of one tree).
func within(o *screen.Observation, node int, in string) bool {
	for node >= 0 {
		if node = o.Tree.Nodes[node].Parent; node >= 0 && o.Tree.Nodes[node].String() == in {
			return true
		}
	}
	return false
}

// elsewhere says where a node is now, for the reader: no action is moved there.
func elsewhere(wanted atspi.Node, o *screen.Observation) string {
	for i, n := range o.Tree.Nodes {
		if n.Role != wanted.Role || n.Name != wanted.Name {
			continue
		}
		if _, at, ok := o.PointOf(i); ok {
			return fmt.Sprintf(" (%v is at (%d, %d) now)", n, at.X, at.Y)
		}
	}
	return ""
}
