package run

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/internal/permit"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// A setter has programs set what their elements hold; [atspi.Reader] is one.
type setter interface {
	Set(ctx context.Context, p permit.Permit, n atspi.Node, text string) error
}

// set performs an [actuator.Set]: on the element of its handle, or else on what is at
// its point.
func (d liveDevice) set(ctx context.Context, a actuator.Set, f actuator.Frame) error {
	if d.setter == nil {
		return fmt.Errorf("%w: no program can be asked to set a text here: click and type", actuator.ErrRefused)
	}
	if err := actuator.Validate(a, f.Bounds()); err != nil {
		return fmt.Errorf("%w: %w", actuator.ErrRefused, err)
	}
	if a.At.Element.Role == screen.RoleTextLine {
		return fmt.Errorf("%w: %s was read from the picture, and no program tells of it: click on it, select what it holds, and type", actuator.ErrRefused, a.At.Element)
	}
	now, err := d.looked(d.Screen.Snapshot(ctx))
	if err != nil {
		return fmt.Errorf("%w: %w", actuator.ErrRefused, err)
	}
	n := now.PlaceAtDevice(f.ToDevice(image.Pt(a.At.X, a.At.Y))).Node
	if a.At.Element.ID != "" {
		var why string
		if n, why = find(a.At.Element, now, now); why != "" {
			return fmt.Errorf("%w: %s", actuator.ErrRefused, why)
		}
	}
	if n < 0 {
		return fmt.Errorf("%w: there is no element at (%d, %d) that could be set: click and type", actuator.ErrRefused, a.At.X, a.At.Y)
	}
	err = d.setter.Set(ctx, permit.Grant(), now.Tree.Nodes[n], string(a.Text))
	switch {
	case errors.Is(err, atspi.ErrNotSettable):
		return fmt.Errorf("%w: %w: click on it, select what it holds, and type", actuator.ErrRefused, err)
	case errors.Is(err, atspi.ErrNotSet):
		return fmt.Errorf("%w: %w: click on it, select what it holds, and type", actuator.ErrNoEffect, err)
	}
	return err
}

// The pace at which it is looked whether a wait is over: a look is not begun before
// the one before has been over for untilPace, and for as long again as it took, so
// that programs which are slow to tell of their elements have time to work.
const untilPace = 150 * time.Millisecond

// waitUntil performs an [actuator.WaitUntil]. The output says how long it took.
func (d liveDevice) waitUntil(ctx context.Context, a actuator.WaitUntil) (string, error) {
	if err := actuator.Validate(a, image.Rectangle{}); err != nil {
		return "", fmt.Errorf("%w: %w", actuator.ErrRefused, err)
	}
	began := time.Now()
	limit := time.Duration(a.Milliseconds) * time.Millisecond
	end := time.NewTimer(limit)
	defer end.Stop()
	var seen sightings
	for last := false; ; {
		looked := time.Now()
		holds, err := d.holds(ctx, a, &seen)
		if err != nil {
			return "", err
		}
		if holds {
			return fmt.Sprintf("held after %.1f s", time.Since(began).Seconds()), nil
		}
		if last {
			return "", fmt.Errorf("%w: %s within %v", actuator.ErrNoEffect, didNot(a), limit)
		}
		pace := time.NewTimer(untilPace + time.Since(looked))
		select {
		case <-ctx.Done():
			pace.Stop()
			return "", context.Cause(ctx)
		case <-end.C:
			last = true // it may have come since the last look
		case <-pace.C:
		}
		pace.Stop()
	}
}

// didNot says what did not happen.
func didNot(a actuator.WaitUntil) string {
	if a.Gone {
		return "it was not gone"
	}
	return "it did not come"
}

// sightings are what has been seen of what is waited for. A program that does not answer may
// show it still, and if none is known, any may; and so may a window that others cover, or
// that is minimised, where it was seen, and if it was seen nowhere, any.
type sightings struct {
	pids    []int    // of the programs that told it
	windows []uint32 // where it was
	read    []spot   // where it was read from the picture
	lines   bool     // it was read from the picture, there or elsewhere
}

// A spot is a part of a window, in pixels from its corner.
type spot struct {
	window uint32
	box    image.Rectangle
}

// saw adds where it can be seen now.
func (s *sightings) saw(now *screen.Observation, list []screen.Place) {
	if !now.Unread { // what can be seen was read anew
		s.read = slices.DeleteFunc(s.read, func(p spot) bool { return !p.covered(now) })
	}
	windows := now.NodeWindows()
	for _, at := range list {
		if pid := now.PID(at); !slices.Contains(s.pids, pid) {
			s.pids = append(s.pids, pid)
		}
		s.lines = s.lines || at.Node >= 0 && now.Tree.Nodes[at.Node].Read
		if at.Node < 0 || windows[at.Node] < 0 {
			continue
		}
		w, n := now.Windows[windows[at.Node]], now.Tree.Nodes[at.Node]
		if !slices.Contains(s.windows, w.ID) {
			s.windows = append(s.windows, w.ID)
		}
		if n.Read {
			s.read = append(s.read, spot{w.ID, n.Box.Sub(w.Box.Min)})
		}
	}
}

// told reports whether it was seen, and was never read from the picture: then it has gone once
// it is not told, whatever is not read yet.
func (s *sightings) told() bool { return len(s.pids) > 0 && !s.lines }

// answered reports whether what is not told has gone.
func (s *sightings) answered(now *screen.Observation) bool {
	return now.Tree.Err == nil && !slices.ContainsFunc(s.pids, now.Tree.Hangs) && (len(s.pids) > 0 || len(now.Tree.Hung) == 0)
}

// covered reports whether a part of a window cannot be seen.
func (p spot) covered(now *screen.Observation) bool {
	i := slices.IndexFunc(now.Windows, func(w screen.Window) bool { return w.ID == p.window })
	return i >= 0 && now.Covered(i, p.box.Add(now.Windows[i].Box.Min))
}

// covered reports whether one of all nodes that are it, none of which can be seen, is where it
// was, whether that is minimised, which programs tell nothing of then, or whether a place is
// covered where it was read.
func (s *sightings) covered(now *screen.Observation, all []int) bool {
	windows := now.NodeWindows()
	return slices.ContainsFunc(now.Windows, func(w screen.Window) bool { return w.Hidden && slices.Contains(s.windows, w.ID) }) ||
		slices.ContainsFunc(s.read, func(p spot) bool { return p.covered(now) }) || slices.ContainsFunc(all, func(i int) bool {
		return len(s.windows) == 0 || windows[i] < 0 || slices.Contains(s.windows, now.Windows[windows[i]].ID)
	})
}

// over reports whether a wait for an element or a text is over. What does not answer, what
// could not be read, and what is covered, has not gone.
func (s *sightings) over(now *screen.Observation, a actuator.WaitUntil) bool {
	seen, header := shown(now, a)
	s.saw(now, seen)
	text := a.For == actuator.TextSign
	if there := header || len(seen) > 0; there || !a.Gone {
		return there != a.Gone && (text || now.Tree.Err == nil)
	}
	unread := isRead(a) && now.Unread && !s.told()
	return !unread && !s.covered(now, toldOf(now, a)) && s.answered(now)
}

// isRead reports whether what is waited for may be in the picture alone.
func isRead(a actuator.WaitUntil) bool {
	e, ok := byName(a)
	return a.For == actuator.TextSign || a.Element.Role == screen.RoleTextLine || ok && isLine(e)
}

// isLine reports whether an element is meant that is read from the picture.
func isLine(e actuator.Element) bool { return strings.EqualFold(e.Role, screen.RoleTextLine) }

// holds looks whether a wait is over.
func (d liveDevice) holds(ctx context.Context, a actuator.WaitUntil, seen *sightings) (bool, error) {
	if a.For == actuator.WindowSign {
		windows, err := d.Screen.Windows(ctx)
		return titled(windows, a.What, a.Gone) != a.Gone, err
	}
	look := d.Screen.Snapshot
	if isRead(a) {
		look = d.Screen.Read // also where no program tells it
	}
	now, err := d.looked(look(ctx))
	if err != nil {
		return false, err
	}
	return seen.over(now, a), nil
}

// titled reports whether a window has words in its title; small letters are like capitals.
// One that is minimised cannot be seen, but has not gone.
func titled(windows []screen.Window, words string, gone bool) bool {
	words = strings.ToLower(strings.TrimSpace(words))
	for _, w := range windows {
		if (gone || !w.Hidden) && strings.Contains(strings.ToLower(w.Title), words) {
			return true
		}
	}
	return false
}

// byName returns the kind and name of the element that is waited for, if it is any that
// has these, which need not be there yet.
func byName(a actuator.WaitUntil) (e actuator.Element, ok bool) {
	e, err := actuator.ParseListed(a.What)
	return e, a.For == actuator.ElementSign && err == nil && e.ID == ""
}

// shown returns where what is waited for can be seen, and whether what the list has as the
// header of a window is it: one with the words in its title, as nobody knows the whole title
// of what is not there yet.
func shown(o *screen.Observation, a actuator.WaitUntil) (seen []screen.Place, header bool) {
	see := func(nodes []int) {
		for _, i := range nodes {
			seen = append(seen, screen.Place{Window: -1, Node: i})
		}
	}
	if a.For == actuator.TextSign {
		for _, f := range o.Findings(a.What) {
			seen = append(seen, f.Place)
		}
	} else if e, ok := byName(a); ok {
		header = screen.NamesWindow(e.Role) && titled(o.Windows, e.Name, a.Gone)
		see(o.Elements(e.Role, e.Name))
		if isLine(e) {
			see(o.Lines(e.Name))
		}
	} else if a.Element.ID != "" || a.Element.Role == "" {
		if i, ok := o.Element(a.What); ok && (!o.Tree.Nodes[i].Read || ElementOf("", o.Tree.Nodes[i]).Name == a.Element.Name) {
			see([]int{i}) // a line that another has taken the place of has its ID
		}
	} else {
		for i, n := range o.Tree.Nodes { // of another run, whose handles mean nothing here
			if is := ElementOf("", n); is.Role == a.Element.Role && is.Name == a.Element.Name {
				see([]int{i})
			}
		}
	}
	return seen, header
}

// toldOf returns the nodes that are what is waited for by its words, also where other windows
// cover them or theirs is minimised.
func toldOf(o *screen.Observation, a actuator.WaitUntil) (list []int) {
	if a.For == actuator.TextSign {
		for _, f := range o.AllFindings(a.What) {
			if f.Node >= 0 {
				list = append(list, f.Node)
			}
		}
	} else if e, ok := byName(a); ok {
		list = o.AllElements(e.Role, e.Name)
	}
	return list
}
