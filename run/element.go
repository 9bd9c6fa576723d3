package run

import (
	"context"
	"errors"
	"fmt"
	"image"
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
	now, err := d.Screen.Look(ctx)
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
	for last := false; ; {
		looked := time.Now()
		holds, err := d.holds(ctx, a)
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

// holds looks whether a wait is over.
func (d liveDevice) holds(ctx context.Context, a actuator.WaitUntil) (bool, error) {
	if a.For == actuator.WindowSign {
		windows, err := d.Screen.Windows(ctx)
		return titled(windows, a.What) != a.Gone, err
	}
	if a.For == actuator.TextSign {
		return d.holdsText(ctx, a)
	}
	now, err := d.Screen.Look(ctx)
	if err != nil {
		return false, err
	}
	if now.Tree.Err != nil || a.Gone && len(now.Tree.Hung) > 0 {
		return false, nil // what does not answer has not gone
	}
	return shows(now, a) != a.Gone, nil
}

// holdsText looks whether a text came or went, also where no program tells it and it is
// read from the picture. What could not be read has not gone.
func (d liveDevice) holdsText(ctx context.Context, a actuator.WaitUntil) (bool, error) {
	now, err := d.Screen.Read(ctx)
	if err != nil {
		return false, err
	}
	if _, there := now.Find(a.What); there || !a.Gone {
		return there != a.Gone, nil
	}
	return now.Tree.Err == nil && len(now.Tree.Hung) == 0 && !now.Unread, nil
}

// titled reports whether a window has words in its title; small letters are like capitals.
func titled(windows []screen.Window, words string) bool {
	words = strings.ToLower(strings.TrimSpace(words))
	for _, w := range windows {
		if !w.Hidden && strings.Contains(strings.ToLower(w.Title), words) {
			return true
		}
	}
	return false
}

// byName returns the kind and name of the element that is waited for, if it is any that
// has these, which need not be there yet.
func byName(a actuator.WaitUntil) (e actuator.Element, ok bool) {
	e, err := actuator.ParseListed(a.What)
	return e, err == nil && e.ID == ""
}

// shows reports whether an element is on the screen. What the list has as the header of a
// window is one too.
func shows(o *screen.Observation, a actuator.WaitUntil) bool {
	if e, ok := byName(a); ok {
		header := strings.HasSuffix(e.Role, "window") || strings.HasSuffix(e.Role, "dialog")
		return header && titled(o.Windows, e.Name) || len(o.Elements(e.Role, e.Name)) > 0
	}
	if a.Element.ID != "" || a.Element.Role == "" {
		_, ok := o.Element(a.What)
		return ok
	}
	for _, n := range o.Tree.Nodes { // of another run, whose handles mean nothing here
		if is := elementOf("", n); is.Role == a.Element.Role && is.Name == a.Element.Name {
			return true
		}
	}
	return false
}
