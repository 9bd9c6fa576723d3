package actuator

// Points returns the points of the image that an action aims at, in order.
func Points(a Action) []Point {
	one := func(p *Point) []Point {
		if p == nil {
			return nil
		}
		return []Point{*p}
	}
	switch a := a.(type) {
	case Move:
		return []Point{a.At}
	case Click:
		return one(a.At)
	case ButtonDown:
		return one(a.At)
	case ButtonUp:
		return one(a.At)
	case Drag:
		return a.Path
	case Scroll:
		return one(a.At)
	}
	return nil
}
