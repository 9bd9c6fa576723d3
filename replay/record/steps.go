package record

import (
	"fmt"
	"image"
	"slices"

	"desktop-agent/actuator"
	"desktop-agent/run"
)

// step makes a step of a gesture; nil if nothing of it can be recorded.
func (s *session) step(g *gesture) *step {
	st := &step{begin: g.begin, end: g.end}
	if g.before != nil && g.before.At.After(s.shown.At) {
		st.before, s.shown = g.before, g.before
	}
	if !shows(s.shown.Observation, g.first) {
		s.result.Unsure++
		st.detail = "it came before the screen could be looked at: the frame does not show what it was for"
	}
	if g.isRun() {
		s.text(g, st)
	} else if a, ok := onImage(g.action, s.shown); ok {
		st.actions = []actuator.Action{a}
	} else {
		s.asm.missed++ // outside the monitor that is recorded
	}
	if len(st.actions) == 0 {
		return nil
	}
	return st
}

// text adds the actions of a run, without its text if that is a secret.
func (s *session) text(g *gesture, st *step) {
	strict, loose := spans(s.shifts, g.shifts)
	into := judge(g.begin, g.end, s.readings, strict, loose)
	if into == plain || into == mute && s.TextUnseen {
		st.actions = actions(g.run)
		return
	}
	if !slices.ContainsFunc(g.run, func(k stroke) bool { return k.rune != 0 }) {
		return // nothing but corrections of what is not known
	}
	// Runs with nothing between them but a pause went into the same field,
	// whose whole text the parameter will be.
	if s.secret == g.shifts {
		return
	}
	s.secret = g.shifts
	name := ""
	if into == password {
		s.result.Secrets++
		name = fmt.Sprintf("password%d", s.result.Secrets)
	} else {
		s.result.Withheld++
		name = fmt.Sprintf("text%d", s.result.Withheld)
	}
	st.actions = []actuator.Action{actuator.Type{Text: Withheld}}
	st.params = []run.Param{{Name: name, Secret: true}}
	st.detail = "the text is not recorded: it is the parameter " + name
}

// onImage returns an action with points in pixels of an observation's image
// instead of the desktop; false if one is outside it.
func onImage(a actuator.Action, l *observation) (actuator.Action, bool) {
	ok := true
	to := func(p actuator.Point) actuator.Point {
		at := l.Image.Mapping.ToImage(image.Pt(p.X, p.Y))
		ok = ok && image.Pt(p.X, p.Y).In(l.Image.Mapping.Source) && at.In(l.Image.Mapping.Bounds())
		return actuator.Point{X: at.X, Y: at.Y}
	}
	return actuator.Moved(a, to), ok
}
