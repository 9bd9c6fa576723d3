package agent

import (
	"desktop-agent/actuator"
	"desktop-agent/screen"
	"desktop-agent/worldmodel"
)

// A past is what the evidence for steps and for the goal is held against.
type past struct {
	first *screen.Observation // of the run
	began *screen.Observation // when the current step became current
	step  string              // the ID of the current step
	typed []string            // texts that were entered, oldest first
	unmet []string            // what the checks of the goal missed, oldest first
}

// maxTyped is how many texts are kept in mind: of the older ones none is still in a
// field, or it was there when the step began.
const maxTyped = 100

// looked keeps in mind what was there when the run and the current step began.
func (p *past) looked(now *screen.Observation, step string) {
	if p.first == nil {
		p.first = told(now)
	}
	if p.began == nil || p.step != step {
		p.began, p.step = told(now), step
	}
}

// did keeps in mind what an action has entered.
func (p *past) did(a actuator.Action) {
	if text, ok := actuator.Entered(a); ok && text != "" {
		p.typed = append(p.typed, text)
		p.typed = p.typed[max(0, len(p.typed)-maxTyped):]
	}
}

func (p *past) ofStep() worldmodel.Past { return worldmodel.Past{Began: p.began, Typed: p.typed} }

func (p *past) ofRun() worldmodel.Past { return worldmodel.Past{Began: p.first, Typed: p.typed} }

// told is an observation without its pictures.
func told(o *screen.Observation) *screen.Observation {
	c := *o
	c.Frame, c.Bare, c.Image.Data = nil, nil, nil
	return &c
}

// beginStep keeps in mind what was there if another step became the current one.
func (r *episode) beginStep() {
	step := ""
	if r.plan != nil {
		if s := r.plan.Current(); s != nil {
			step = s.ID
		}
	}
	r.past.looked(r.now, step)
}
