package screen

import (
	"context"
	"fmt"
	"image"
	"time"

	"desktop-agent/screen/atspi"
)

// A Change is what became of the element at a point since an observation.
type Change struct {
	Was *atspi.Node // what lay there; nil if no element was known there
	Now *atspi.Node // what a click there would hit now; nil if no element is known there
}

// Any reports whether the point has another element than before.
func (c Change) Any() bool {
	switch {
	case c.Was == nil:
		return false // nobody relied on what was not known
	case c.Now == nil:
		return true
	}
	return !sameElement(*c.Was, *c.Now)
}

// sameElement reports whether a node can be taken for another one by who acts on it:
// they are of one role, and of one name; where that is what the element shows, of one
// label, if both have one.
func sameElement(a, b atspi.Node) bool {
	if _, shows := contentOf(0, a); shows {
		return a.Role == b.Role && !b.Relabelled(a)
	}
	return a.Role == b.Role && a.Called() == b.Called()
}

// ChangeAt tells whether a point, in device pixels, still has the element that the
// newest observation shows there. The element's program is asked for it alone; where
// it does not tell, as its object is gone, the whole tree is read. A tree that cannot
// be read changes nothing.
func (s *Screen) ChangeAt(ctx context.Context, o *Observation, at image.Point) (Change, error) {
	place := o.PlaceAtDevice(at)
	if s.opt.Tree == nil || place.Node < 0 {
		return Change{}, nil
	}
	was := o.Tree.Nodes[place.Node]
	change, err := turn(ctx, s, func(d *display) (Change, error) {
		d.looks() // asking makes the program work, and says nothing of what it does by itself
		defer d.looked()
		if r, ok := s.opt.Tree.(ElementReader); ok {
			if now, err := r.Now(ctx, was); err == nil && at.In(now.Box) {
				return Change{&was, &now}, nil
			}
		}
		return s.elementAt(ctx, d, was, at)
	})
	if err != nil {
		return change, fmt.Errorf("element: %w", err)
	}
	return change, nil
}

// elementAt reads the whole tree for what lies at a point now.
func (s *Screen) elementAt(ctx context.Context, d *display, was atspi.Node, at image.Point) (Change, error) {
	o := Observation{At: time.Now()}
	var err error
	if o.Windows, err = d.windows(); err != nil {
		return Change{}, err
	}
	if o.Tree, _ = s.readTree(ctx); o.Tree.Err != nil || len(o.Tree.Hung) > 0 {
		return Change{}, ended(ctx)
	}
	o.Tree.place(o.Windows)
	change := Change{Was: &was}
	if i := o.PlaceAtDevice(at).Node; i >= 0 {
		change.Now = &o.Tree.Nodes[i]
	}
	return change, nil
}
