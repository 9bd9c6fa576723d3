package record

import (
	"image"
	"slices"
	"time"

	"desktop-agent/actuator"
)

const (
	clickTime  = 500 * time.Millisecond // between the presses of a double click
	clickReach = 5                      // pixels between them
	dragReach  = 8                      // pixels that make a drag of a click, as GTK has it
	wheelPause = 500 * time.Millisecond // ends a turn of the wheel
	wheelReach = 16                     // pixels within which it stays one
	textPause  = 1500 * time.Millisecond
	arrowPause = 500 * time.Millisecond
	maxNotches = 100   // in one action
	maxPresses = 100   // in one action
	maxRun     = 2_000 // keys of a run
)

// A gesture is what a person does in one go: a click, a drag, a turn of the
// wheel, a key, or a run of keys that go into a text.
type gesture struct {
	begin, end time.Time
	first      event
	action     actuator.Action // with points in device pixels; nil of a run
	run        []stroke        // of a run
	closed     bool

	// What the session adds.
	shifts int          // how many shifts came before it
	after  time.Time    // when the gesture before was done
	before *observation // what the person saw
	asked  bool         // whether a quick look is needed
	quick  bool         // a quick look is being taken
}

// A stroke is a key of a run: a character, or a key that edits.
type stroke struct {
	rune rune
	keys []actuator.Key
}

// isRun reports whether the gesture is a run of keys.
func (g *gesture) isRun() bool { return g.action == nil }

// An assembler makes gestures of events. It is used by one goroutine.
type assembler struct {
	stop  []actuator.Key // the hotkey: modifiers in the order of held.keys, then the key
	begun func(*gesture)
	done  func(*gesture) // it is complete

	open    *gesture
	until   time.Time // when it is complete if nothing more comes; zero while a button is down
	pressed int       // the button that is down; 0 for none
	path    []image.Point
	dead    rune         // the accent that waits for its letter
	lone    actuator.Key // a modifier that went down with nothing after it
	missed  int          // input that no action says
}

// feed takes an event. It returns true at the hotkey.
func (a *assembler) feed(e event) (stop bool) {
	lone := a.lone
	if e.kind != motion {
		a.lone = ""
	}
	switch e.kind {
	case keyDown:
		return a.key(e)
	case keyUp:
		if lone != "" && lone == e.base.name {
			a.single(e, actuator.Press{Keys: []actuator.Key{lone}, Count: 1})
		}
	case buttonDown:
		a.buttonDown(e)
	case buttonUp:
		a.buttonUp(e)
	case motion:
		if a.pressed != 0 {
			a.path = append(a.path, e.pos)
		}
	case focusMoved:
		if a.open != nil && a.open.isRun() {
			a.finish()
		}
	}
	return false
}

// tick completes what has waited long enough.
func (a *assembler) tick(now time.Time) {
	if a.open != nil && !a.until.IsZero() && !now.Before(a.until) {
		a.finish()
	}
}

// finish completes the gesture that is open. A button that is down is left to
// itself: what it does is not known.
func (a *assembler) finish() {
	if a.pressed != 0 {
		a.missed++
	}
	a.pressed, a.path = 0, nil
	if a.dead != 0 {
		a.dead = 0
		a.missed++
	}
	if g := a.open; g != nil {
		a.open, g.closed = nil, true
		a.done(g)
	}
}

// start opens a gesture.
func (a *assembler) start(e event, action actuator.Action, wait time.Duration) {
	a.finish()
	a.open = &gesture{begin: e.at, end: e.at, first: e, action: action}
	a.wait(e.at, wait)
	a.begun(a.open)
}

// wait says when the open gesture is complete; never by itself for 0.
func (a *assembler) wait(now time.Time, d time.Duration) {
	if a.until = (time.Time{}); d > 0 {
		a.until = now.Add(d)
	}
}

// single is a gesture that is complete at once.
func (a *assembler) single(e event, action actuator.Action) {
	a.start(e, action, 0)
	a.finish()
}

// edits are the keys that belong to a run of text: they move the focus nowhere.
var edits = []actuator.Key{"backspace", "delete", "home", "end"}

// arrows are the keys that are joined if they are pressed again and again.
var arrows = []actuator.Key{"up", "down", "left", "right", "pageup", "pagedown"}

// moves reports whether an event may move the focus.
func (e event) moves() bool {
	switch e.kind {
	case motion, keyUp:
		return false
	case keyDown:
		text := e.key.rune != 0 || e.key.dead != 0 || slices.Contains(edits, e.key.name)
		return !e.key.mod && (e.held.shortcut() || !text)
	}
	return true
}

// key takes a key that was pressed.
func (a *assembler) key(e event) (stop bool) {
	switch {
	case e.key.mod || e.base.mod:
		if e.base.name == "win" && !e.repeat && e.held == (held{}) {
			a.lone = e.base.name
		}
		return false
	case a.isStop(e):
		a.finish()
		return true
	case e.moves():
		a.shortcut(e)
		return false
	case a.open == nil || !a.open.isRun() || e.at.Sub(a.open.end) > textPause || len(a.open.run) >= maxRun:
		a.start(e, nil, textPause)
	}
	a.open.end = e.at
	a.wait(e.at, textPause)
	switch r := e.key.rune; {
	case e.key.dead != 0 && a.dead == 0:
		a.dead = e.key.dead
	case e.key.dead != 0: // twice: the accent itself
		a.type_(accent(a.dead, e.key.dead))
	case r != 0 && a.dead != 0:
		a.type_(accent(a.dead, r))
	case r != 0:
		a.type_(r)
	default:
		keys := []actuator.Key{e.key.name}
		if e.held.shift {
			keys = []actuator.Key{"shift", e.key.name}
		}
		a.open.run = append(a.open.run, stroke{keys: keys})
	}
	return false
}

func (a *assembler) type_(r rune) {
	if a.dead = 0; r == 0 {
		a.missed++
		return
	}
	a.open.run = append(a.open.run, stroke{rune: r})
}

// shortcut takes a key that is no text.
func (a *assembler) shortcut(e event) {
	keys := a.chord(e)
	if keys == nil {
		a.missed++
		return
	}
	name := keys[len(keys)-1]
	if a.open != nil && slices.Contains(arrows, name) {
		p, ok := a.open.action.(actuator.Press)
		if ok && slices.Equal(p.Keys, keys) && p.Count < maxPresses && e.at.Sub(a.open.end) <= arrowPause {
			p.Count++
			a.open.action, a.open.end = p, e.at
			a.wait(e.at, arrowPause)
			return
		}
	}
	press := actuator.Press{Keys: keys, Count: 1}
	if slices.Contains(arrows, name) {
		a.start(e, press, arrowPause)
		return
	}
	a.single(e, press)
}

// chord returns the keys of a shortcut: a key with the modifiers that are held.
func (a *assembler) chord(e event) []actuator.Key {
	name := e.base.name
	if name == "" || e.base.rune != 0 && e.key.rune == 0 && e.key.name != "" {
		name = e.key.name
	}
	if name == "" {
		return nil
	}
	return append(e.held.keys(), name)
}

func (a *assembler) isStop(e event) bool {
	return len(a.stop) > 0 && slices.Equal(a.chord(e), a.stop)
}

// buttons names those that actions know.
var buttons = map[int]actuator.Button{1: actuator.Left, 2: actuator.Middle, 3: actuator.Right}

// wheel tells how far each of the wheel's buttons turns it.
var wheel = map[int]image.Point{4: {Y: -1}, 5: {Y: 1}, 6: {X: -1}, 7: {X: 1}}

func (a *assembler) buttonDown(e event) {
	if by, ok := wheel[e.button]; ok {
		a.turn(e, by)
		return
	}
	name, ok := buttons[e.button]
	if !ok || a.pressed != 0 {
		a.missed++ // a button that no action names, or two at once
		return
	}
	if a.open != nil {
		c, ok := a.open.action.(actuator.Click)
		again := ok && c.Button == name && c.Count < 3 && slices.Equal(c.Modifiers, e.held.keys()) &&
			near(*c.At, e.pos, clickReach) && e.at.Before(a.until)
		if again {
			c.Count++
			a.open.action = c
			a.down(e)
			return
		}
	}
	a.start(e, actuator.Click{At: point(e.pos), Button: name, Count: 1, Modifiers: e.held.keys()}, 0)
	a.down(e)
}

func (a *assembler) down(e event) {
	a.pressed, a.path = e.button, []image.Point{e.pos}
	a.open.end = e.at
	a.until = time.Time{}
}

func (a *assembler) buttonUp(e event) {
	if e.button != a.pressed || a.open == nil {
		return
	}
	c := a.open.action.(actuator.Click)
	pressedAt, path := a.open.end, append(a.path, e.pos)
	a.pressed, a.path, a.open.end = 0, nil, e.at
	if far(path) < dragReach {
		a.wait(pressedAt, clickTime)
		if !e.at.Before(a.until) {
			a.finish()
		}
		return
	}
	if c.Count > 1 { // a double click that goes on as a drag: no action says it
		a.missed++
	}
	drag := actuator.Drag{Button: c.Button, Modifiers: c.Modifiers}
	for _, p := range simplify(path, maxPath) {
		drag.Path = append(drag.Path, actuator.Point{X: p.X, Y: p.Y})
	}
	a.open.action = drag
	a.finish()
}

// turn takes a notch of the wheel.
func (a *assembler) turn(e event, by image.Point) {
	if a.open != nil {
		s, ok := a.open.action.(actuator.Scroll)
		again := ok && slices.Equal(s.Modifiers, e.held.keys()) && near(*s.At, e.pos, wheelReach) && e.at.Before(a.until) &&
			s.DX*by.X >= 0 && s.DY*by.Y >= 0 && max(s.DX, -s.DX, s.DY, -s.DY) < maxNotches
		if again {
			s.DX, s.DY = s.DX+by.X, s.DY+by.Y
			a.open.action, a.open.end = s, e.at
			a.wait(e.at, wheelPause)
			return
		}
	}
	a.start(e, actuator.Scroll{At: point(e.pos), DX: by.X, DY: by.Y, Modifiers: e.held.keys()}, wheelPause)
}

func point(p image.Point) *actuator.Point { return &actuator.Point{X: p.X, Y: p.Y} }

func near(p actuator.Point, q image.Point, reach int) bool {
	d := image.Pt(p.X, p.Y).Sub(q)
	return d.X*d.X+d.Y*d.Y <= reach*reach
}

// actions makes actions of a run. A text has at most maxText characters.
func actions(run []stroke) []actuator.Action {
	var list []actuator.Action
	for _, s := range run {
		var last actuator.Action
		if n := len(list); n > 0 {
			last = list[n-1]
		}
		typed, typing := last.(actuator.Type)
		pressed, pressing := last.(actuator.Press)
		switch {
		case s.rune != 0 && typing:
			list[len(list)-1] = actuator.Type{Text: typed.Text + actuator.Secret(s.rune)}
		case s.rune != 0:
			list = append(list, actuator.Type{Text: actuator.Secret(s.rune)})
		case pressing && slices.Equal(pressed.Keys, s.keys) && pressed.Count < maxPresses:
			pressed.Count++
			list[len(list)-1] = pressed
		default:
			list = append(list, actuator.Press{Keys: s.keys, Count: 1})
		}
	}
	return list
}
