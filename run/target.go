package run

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"strconv"

	"desktop-agent/actuator"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// Name says of actions which elements they aim at, and where these are, on the
// observation that they were chosen on: of a handle that a model wrote, and of a pixel
// what is there; of words, what they mean by the tree. A handle that is not in the list of
// that observation, and words that do not mean one element, are errors that the model reads.
// What is waited for by its name may not be there yet.
func Name(list []actuator.Action, o *screen.Observation) ([]actuator.Action, error) {
	named := make([]actuator.Action, len(list))
	for i, a := range list {
		var bad error
		a = actuator.Moved(a, func(p actuator.Point) actuator.Point {
			if p.Element.Words != "" && bad == nil {
				p, bad = inWords(p, o)
			}
			if bad != nil {
				return p
			}
			if p.Element.ID == "" {
				return withElement(p, o)
			}
			n, ok := o.Element(string(p.Element.ID))
			if !ok {
				bad = unlisted(p.Element.ID)
				return p
			}
			at := inside(o, o.Tree.Nodes[n].Box)
			if clickable, err := clickPoint(o, n); err == nil {
				at = clickable
			}
			return pointOn(o, at, ElementOf(p.Element.ID, o.Tree.Nodes[n]))
		})
		if w, ok := a.(actuator.WaitUntil); ok && w.For == actuator.ElementSign {
			if n, ok := o.Element(w.What); ok {
				w.Element = ElementOf(actuator.Handle(w.What), o.Tree.Nodes[n])
			} else if _, ok := byName(w); !ok {
				bad = unlisted(actuator.Handle(w.What))
			}
			a = w
		}
		if bad != nil {
			return nil, bad
		}
		named[i] = a
	}
	return named, nil
}

func unlisted(id actuator.Handle) error {
	return &actuator.ParseError{Message: fmt.Sprintf("there is no %s in the list of the newest screenshot, so nothing was done; use an ID that stands there", id)}
}

// ElementOf is a node as an action names it, with a name of bounded length: what was read
// from the picture is called what it says.
func ElementOf(id actuator.Handle, n atspi.Node) actuator.Element {
	called := n.Called()
	if n.Read && called == "" {
		called = n.Text
	}
	name := []rune(called)
	if len(name) > maxElementName {
		name = name[:maxElementName]
	}
	return actuator.Element{ID: id, Role: n.Role, Name: string(name)}
}

// maxElementName is how many characters of an element's name an action has.
const maxElementName = 200

// withElement adds to a pixel what is there, unless it is only a window.
func withElement(p actuator.Point, o *screen.Observation) actuator.Point {
	p.Element = actuator.Element{}
	if at := o.PlaceAt(image.Pt(p.X, p.Y)); at.Node >= 0 && o.Tree.Nodes[at.Node].Parent >= 0 {
		p.Element = ElementOf("", o.Tree.Nodes[at.Node])
	}
	return p
}

// pointOn is a place of an element, given in device pixels, on the image of an
// observation.
func pointOn(o *screen.Observation, device image.Point, e actuator.Element) actuator.Point {
	at := o.Image.Mapping.ToImage(device)
	return actuator.Point{X: at.X, Y: at.Y, Element: e}
}

// PointerOn returns where the pointer is on the image of an observation, with what is there;
// nil if nothing tells.
func PointerOn(o *screen.Observation) *actuator.Point {
	if o == nil || o.Image.Mapping.Size == (image.Point{}) {
		return nil
	}
	p := withElement(pointOn(o, o.Cursor, actuator.Element{}), o)
	return &p
}

// inside returns the middle of what an observation's image has of a box, or else the
// pixel of the image that is nearest to it.
func inside(o *screen.Observation, box image.Rectangle) image.Point {
	source := o.Image.Mapping.Source
	if part := box.Intersect(source); !part.Empty() {
		box = part
	}
	at := box.Min.Add(box.Max).Div(2)
	return image.Pt(min(max(at.X, source.Min.X), source.Max.X-1), min(max(at.Y, source.Min.Y), source.Max.Y-1))
}

// Locate returns an action with the elements that it aims at by their handles where
// they are now; in pixels of the image of chosen, the observation that it was chosen
// on. now is a look at the same screen. why is not "" if one of them is not there, is
// another thing now, or cannot be reached, or if what a click hits, or a button that goes
// down, is disabled: the model reads it.
func Locate(a actuator.Action, chosen, now *screen.Observation) (located actuator.Action, why string) {
	located = actuator.Moved(a, func(p actuator.Point) actuator.Point {
		if why != "" {
			return p
		}
		if p.Element.ID == "" {
			if n := disabledAt(a, p, chosen, now); n >= 0 {
				why = disabled(ElementOf("", now.Tree.Nodes[n]))
			}
			return p
		}
		n, gone := find(p.Element, chosen, now)
		if why = gone; why != "" {
			return p
		}
		if usesElement(a) && now.Tree.Nodes[n].Has("disabled") {
			why = disabled(p.Element)
			return p
		}
		seen := *now
		seen.Image.Mapping = chosen.Image.Mapping
		at, err := clickPoint(&seen, n)
		if err != nil {
			why = fmt.Sprintf("%s %v", p.Element, err)
			return p
		}
		return pointOn(chosen, at, p.Element)
	})
	return located, why
}

func disabled(e actuator.Element) string {
	return fmt.Sprintf("%s is disabled: something else must be done first", e)
}

// disabledAt returns the node at a point of the image of chosen that is now, on a look
// at the same screen, and does not take a click; -1 if there is none. A button that goes down
// there clicks nothing either; one that comes up is let go wherever it is.
func disabledAt(a actuator.Action, p actuator.Point, chosen, now *screen.Observation) int {
	if button, ok := actuator.Pushed(a); !ok || button != actuator.Left {
		return -1
	}
	n := now.PlaceAtDevice(chosen.Image.Mapping.ToDevice(image.Pt(p.X, p.Y))).Node
	for ; n >= 0; n = now.Tree.Nodes[n].Parent {
		if atspi.Operable(now.Tree.Nodes[n].Role) {
			break
		}
	}
	if n < 0 || !now.Tree.Nodes[n].Has("disabled") {
		return -1
	}
	return n
}

// hitsDisabled reports whether an action clicks, or begins to, on what was disabled when it was chosen.
func hitsDisabled(a actuator.Action, chosen *screen.Observation) bool {
	for _, p := range actuator.Points(a) {
		if p.Element.ID == "" && disabledAt(a, p, chosen, chosen) >= 0 {
			return true
		}
	}
	return false
}

// usesElement reports whether an action needs an element that can be used: the pointer
// may rest on a disabled one too, and the wheel scrolls what is around it.
func usesElement(a actuator.Action) bool {
	switch a.(type) {
	case actuator.Move, actuator.Scroll:
		return false
	default: // also what is not known here: it is not done on what is disabled
		return true
	}
}

// find returns the node that is the element of a handle, on a look at the screen. why
// says why there is none that the model can have meant.
func find(e actuator.Element, chosen, now *screen.Observation) (n int, why string) {
	n, ok := now.Element(string(e.ID))
	switch {
	case !ok && now.Tree.Err != nil && !(wasRead(e, chosen) && chosen.Tree.Err != nil):
		return -1, "the list of the screen cannot be read now: aim at a point of the screenshot"
	case !ok && now.Unread && wasRead(e, chosen):
		return -1, fmt.Sprintf("%s may be there or not, as the picture is not all read yet: wait, or aim at a point of the screenshot", e)
	case !ok && silent(e, chosen, now) != "":
		return -1, fmt.Sprintf("%s may be there or not, as %s does not answer now: wait, and look again", e, silent(e, chosen, now))
	case !ok && scrolls(e, chosen):
		return -1, fmt.Sprintf("%s is gone or out of view: look at the new list, and scroll to it if it is not there", e)
	case !ok:
		return -1, fmt.Sprintf("%s is gone: look at the new list", e)
	}
	is := ElementOf(e.ID, now.Tree.Nodes[n])
	if is.Role != e.Role || is.Name != e.Name && !renamed(is.Role) || relabelled(e, chosen, now.Tree.Nodes[n]) {
		return -1, fmt.Sprintf("%s is another thing now, %s: look at the new list", e, is)
	}
	if was, ok := chosen.Element(string(e.ID)); ok && mistakable(e, chosen, now, was, n) {
		return -1, fmt.Sprintf("%s stands on the screen more than once, and not where it stood: look at the new list", e)
	}
	return n, ""
}

// mistakable reports whether an element, which has an index in each of two looks, may be another
// one that is called the same: it has moved, and its program does not tell that it is the same
// object. Where it says what it said, only what says the same too can be meant.
func mistakable(e actuator.Element, chosen, now *screen.Observation, was, is int) bool {
	before, after := chosen.Tree.Nodes[was], now.Tree.Nodes[is]
	if before.Box == after.Box || before.Key != "" && before.Key == after.Key {
		return false
	}
	twin := func(nodes []atspi.Node, n int) bool {
		return slices.ContainsFunc(screen.Twins(nodes, n), func(i int) bool {
			return before.Text != after.Text || nodes[i].Text == nodes[n].Text
		})
	}
	return after.Role == screen.RoleTextLine && (repeated(e, chosen) || repeated(e, now)) ||
		twin(chosen.Tree.Nodes, was) || twin(now.Tree.Nodes, is)
}

// repeated reports whether several lines that say the same were read from the picture: one may
// be taken for another, as nothing but its text and place tells which it is.
func repeated(e actuator.Element, o *screen.Observation) bool {
	count := 0
	for _, n := range o.Tree.Nodes {
		if is := ElementOf("", n); n.Read && is.Role == e.Role && is.Name == e.Name {
			count++
		}
	}
	return count > 1
}

// wasRead reports whether an element was read from the picture, where no program tells it.
func wasRead(e actuator.Element, chosen *screen.Observation) bool {
	n, ok := chosen.Element(string(e.ID))
	return ok && chosen.Tree.Nodes[n].Read
}

// silent returns the program of an element if it does not answer: what it shows then is not
// known; "" if it does.
func silent(e actuator.Element, chosen, now *screen.Observation) string {
	pid := 0 // any
	if n, ok := chosen.Element(string(e.ID)); ok {
		pid = chosen.Tree.Nodes[n].PID
	}
	name, _ := now.Tree.Hanging(pid)
	return name
}

// renamed reports whether elements of a role may be called otherwise while they stay
// what they are: by what they show, or by the title of what is open in them. Whether they
// can be operated does not matter.
func renamed(role string) bool { return atspi.Titled(role) || atspi.ShowsContent(role) }

// relabelled reports whether a node is another field than the element of a handle was.
func relabelled(e actuator.Element, chosen *screen.Observation, is atspi.Node) bool {
	n, ok := chosen.Element(string(e.ID))
	return ok && atspi.ShowsContent(is.Role) && is.Relabelled(chosen.Tree.Nodes[n])
}

// scrolls reports whether an element was in something that is scrolled.
func scrolls(e actuator.Element, o *screen.Observation) bool {
	n, ok := o.Element(string(e.ID))
	for ok && o.Tree.Nodes[n].Parent >= 0 {
		n = o.Tree.Nodes[n].Parent
		if atspi.Scrolls(o.Tree.Nodes[n].Role) {
			return true
		}
	}
	return false
}

// clickPoint returns the device pixel of a node to click at. The error says what is
// in the way.
func clickPoint(o *screen.Observation, n int) (image.Point, error) {
	if device, _, ok := o.PointOf(n); ok {
		return device, nil
	}
	box := o.Tree.Nodes[n].Box
	if m := o.Image.Mapping; m.Size != (image.Point{}) {
		box = box.Intersect(m.Source)
	}
	place := o.PlaceAtDevice(box.Min.Add(box.Max).Div(2))
	if box.Empty() || atspi.Within(o.Tree.Nodes, place.Node, n) { // a strip of it is seen at most
		return image.Point{}, errors.New("is out of view: scroll to it, or move its window")
	}
	return image.Point{}, fmt.Errorf("is covered by %s: use or close that first", cover(o, place))
}

// cover names what lies at a place: the dialog or window, rather than a part of it.
func cover(o *screen.Observation, at screen.Place) string {
	if at.Window >= 0 {
		w := o.Windows[at.Window]
		if w.Type == "dialog" && w.Title != "" {
			return "the dialog " + strconv.Quote(w.Title)
		}
		if w.Popup && w.Title == "" && at.Node >= 0 {
			return "a menu, with " + ElementOf("", o.Tree.Nodes[at.Node]).String()
		}
		return "the " + w.String()
	}
	return o.Describe(at, strconv.Quote)
}

// Locate is [Desktop.Locate] of one that shows nothing but what was observed.
func (c *Comparison) Locate(_ context.Context, aim Aim) (actuator.Action, string, error) {
	a, why := Locate(aim.Action, aim.Chosen, aim.Chosen)
	return a, why, nil
}

// Locate looks where the elements are now, and whether what was disabled still is. What was
// read from the picture is read again.
func (l *Live) Locate(ctx context.Context, aim Aim) (actuator.Action, string, error) {
	if !actuator.ByHandle(aim.Action) && !hitsDisabled(aim.Action, aim.Chosen) {
		return aim.Action, "", nil
	}
	look := l.Screen.Snapshot
	if slices.ContainsFunc(actuator.Points(aim.Action), func(p actuator.Point) bool { return wasRead(p.Element, aim.Chosen) }) {
		look = l.Screen.Read
	}
	now, err := l.looked(look(ctx))
	if err != nil {
		return nil, "", err
	}
	a, why := Locate(aim.Action, aim.Chosen, now)
	return a, why, nil
}
