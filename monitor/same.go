package monitor

import (
	"slices"

	"desktop-agent/actuator"
	"desktop-agent/screen/atspi"
)

// Same reports whether two batches do the same: each action the same thing to the same
// element, or at the same place. Points by reach pixels apart at most, across and down,
// are one place, so that a model that aims a little beside cannot hide that it repeats
// itself.
func Same(a, b []actuator.Action, reach int) bool {
	return slices.EqualFunc(a, b, func(a, b actuator.Action) bool { return sameAction(a, b, reach) })
}

func sameAction(a, b actuator.Action, reach int) bool {
	p, q := actuator.Points(a), actuator.Points(b)
	return actuator.Same(aimless(a), aimless(b)) &&
		slices.EqualFunc(p, q, func(p, q actuator.Point) bool { return samePlace(p, q, reach) })
}

// aimless is an action without what it aims at.
func aimless(a actuator.Action) actuator.Action {
	return actuator.Moved(a, func(actuator.Point) actuator.Point { return actuator.Point{} })
}

// samePlace reports whether two points are one to a person. Names tell elements that
// lie side by side apart; in one that shows content, places are different things.
func samePlace(p, q actuator.Point, reach int) bool {
	a, b := p.Element, q.Element
	if a.ID != "" && b.ID != "" {
		return a.ID == b.ID
	}
	if distinct(a) && distinct(b) {
		return a.Role == b.Role && a.Name == b.Name
	}
	return max(p.X-q.X, q.X-p.X, p.Y-q.Y, q.Y-p.Y) <= reach
}

// distinct reports whether the name of an element tells it from those beside it.
func distinct(e actuator.Element) bool {
	return e.Name != "" && atspi.Operable(e.Role) && !atspi.ShowsContent(e.Role)
}
