package run

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/worldmodel"
)

// Turns put together what several events tell of one thing: a call of the actor and the
// proposal that was read from its reply, a proposal and its actions, an action, what was
// ruled on it and what came of it. Events are added in their order; the zero value has none.
//
// A turn is what one who acts does in a step. Several may act beside each other, so that
// events of others stand within it.
type Turns struct {
	on  map[turnKey]*turn    // that go on
	saw map[string]*Observed // the newest observation of each agent
	now *Observed            // the newest of all
	did map[turnKey][]*Deed  // the newest batch of each who acts, by keys without a step
}

// A Part is what an event is a part of.
type Part struct {
	Call     *Call     // of a [ModelCalled]
	Proposal *Proposal // of a [Proposed]
	Deed     *Deed     // of an [Acting] or a [Refused]; of an [Acted], nil if nothing was begun that goes on
	Seen     *Observed // the newest observation of who acts, that of the event included; nil if there is none
	// Foreseen is of an [Assessed]: what the world model was asked about, if that is what the
	// guard foresaw; nil if it is what the actor expected. See [Foreseen].
	Foreseen *worldmodel.Foresight
}

// A Call is a call of a model, and what came of it.
type Call struct {
	ModelCalled
	Proposal *Proposal // what the actor's reply proposes on what it saw; nil if nothing
}

// A Proposal is what the actor wants to do, and what came of it.
type Proposal struct {
	Proposed
	Seen  *Observed // the observation that it is about; nil if that is not the newest
	Deeds []*Deed   // its actions that were begun
}

// Undone returns the actions that were never begun.
func (p *Proposal) Undone() (list []actuator.Action) {
	for i, a := range p.Actions {
		if !slices.ContainsFunc(p.Deeds, of(i)) {
			list = append(list, a.Action)
		}
	}
	return list
}

// A Deed is one action with what became of it.
type Deed struct {
	Acting             // the same of what was refused
	Step     int       // in which it began
	Began    time.Time // when that was written
	Ruling   Guarded   // of the guard; empty if none was asked
	Proposal *Proposal // whose action it is; nil if nothing was proposed
	Seen     *Observed // the newest observation of who acts when it began; nil if there was none
	Acted    *Acted    // nil if nobody knows what came of it, as the program ended before
}

// Status says what came of it; "" if nobody knows.
func (d *Deed) Status() actuator.Status {
	if d.Acted == nil {
		return ""
	}
	return d.Acted.Status
}

func (d *Deed) ruled() (actuator.Status, Guarded) { return d.Status(), d.Ruling }

// Foreseen is what the guard foresaw of the last action of a batch that was not refused; nil if
// it foresaw nothing. The world model is asked whether that came, and not what the actor
// expected: it is of the exact action, by who does not want it done.
func Foreseen[A interface {
	ruled() (actuator.Status, Guarded)
}](batch []A) *worldmodel.Foresight {
	for _, a := range slices.Backward(batch) {
		if status, ruling := a.ruled(); status != actuator.Refused {
			return ruling.Foresight
		}
	}
	return nil
}

// A turnKey is what a turn is told apart by.
type turnKey struct {
	agent          string
	planStep, step int
}

// A turn is what a turn that goes on is at.
type turn struct {
	call     *Call           // the newest reply of the actor without a proposal
	proposal *Proposal       // the newest
	ruled    map[int]Guarded // what was ruled on actions that were not begun yet, by their indices
	open     []*Deed         // of which it is not known what came, in their order
}

// PurposeTools is the purpose for which an actor without a display is asked.
const PurposeTools = "tools"

// Add adds the next event, and returns what it is a part of.
func (t *Turns) Add(e Event) (p Part) {
	if t.on == nil {
		t.on, t.saw, t.did = map[turnKey]*turn{}, map[string]*Observed{}, map[turnKey][]*Deed{}
	}
	t.over(e)
	switch data := e.Data.(type) {
	case Observed:
		t.now, t.saw[e.Agent] = &data, &data
	case ModelCalled:
		p.Call = &Call{ModelCalled: data}
		if data.Role == llm.Actor && data.Purpose != PurposeTools { // such calls are no proposals
			t.turn(e).call = p.Call
		}
	case Proposed:
		p.Proposal = &Proposal{Proposed: data}
		for _, o := range []*Observed{t.now, t.saw[e.Agent]} { // others may look at their displays meanwhile
			if o != nil && o.FrameID == data.FrameID {
				p.Proposal.Seen = o
			}
		}
		at := t.turn(e)
		if at.call != nil && p.Proposal.Seen != nil {
			at.call.Proposal = p.Proposal
		}
		at.call, at.proposal = nil, p.Proposal
	case Assessed:
		p.Foreseen = Foreseen(t.did[turnKey{agent: e.Agent, planStep: e.PlanStep}])
	case Guarded:
		t.turn(e).ruled[data.Index] = data
	case Refused:
		p.Deed = t.deed(e, Acting{Index: data.Index, Action: data.Action, Device: data.Device})
		p.Deed.Acted = &Acted{Index: data.Index, Status: actuator.Refused, Detail: data.Reason}
	case Acting:
		p.Deed = t.deed(e, data)
		at := t.turn(e)
		at.open = append(slices.DeleteFunc(at.open, of(data.Index)), p.Deed)
		if at.proposal != nil {
			at.proposal.Deeds = append(at.proposal.Deeds, p.Deed)
		}
	case Acted:
		at := t.turn(e)
		if i := slices.IndexFunc(at.open, of(data.Index)); i >= 0 {
			p.Deed = at.open[i]
			p.Deed.Acted = &data
			at.open = slices.Delete(at.open, i, i+1)
		}
	}
	p.Seen = t.saw[e.Agent]
	return p
}

// of tells actions of an index.
func of(index int) func(*Deed) bool { return func(d *Deed) bool { return d.Index == index } }

// turn returns what the turn of an event is at.
func (t *Turns) turn(e Event) *turn {
	key := turnKey{e.Agent, e.PlanStep, e.Step}
	if t.on[key] == nil {
		t.on[key] = &turn{ruled: map[int]Guarded{}}
	}
	return t.on[key]
}

// deed returns an action that is begun or refused now.
func (t *Turns) deed(e Event, a Acting) *Deed {
	at := t.turn(e)
	d := &Deed{Acting: a, Step: e.Step, Began: e.Time, Ruling: at.ruled[a.Index], Proposal: at.proposal, Seen: t.saw[e.Agent]}
	delete(at.ruled, a.Index)
	if at.proposal == nil || a.Index >= len(at.proposal.Actions) { // it only lets go what the batch has left down
		return d
	}
	who := turnKey{agent: e.Agent, planStep: e.PlanStep}
	batch := t.did[who]
	if len(batch) > 0 && batch[0].Proposal != d.Proposal {
		batch = nil
	}
	t.did[who] = append(batch, d)
	return d
}

// over ends the turns that an event shows to be over: nothing more comes of them.
func (t *Turns) over(e Event) {
	maps.DeleteFunc(t.on, func(key turnKey, at *turn) bool {
		switch data := e.Data.(type) {
		case Resumed: // what came of an act that was in doubt is told after it
			return len(at.open) == 0
		case RunEnded:
			return true
		case StepEnded:
			return data.Step == fmt.Sprintf("s%d", key.planStep)
		case Observed, Proposed:
			// Of a step of a plan, who decides by a screen does one thing after the other; a
			// tool may be at work beside it.
			if key.planStep != 0 && at.call == nil && at.proposal == nil {
				return false
			}
		default:
			if key.planStep != 0 {
				return false
			}
		}
		return key.agent == e.Agent && key.planStep == e.PlanStep && key.step < e.Step
	})
}

// GoesOn reports whether something may still come of a step.
func (t *Turns) GoesOn(step int) bool {
	for key, at := range t.on {
		if key.step == step && (at.call != nil || at.proposal != nil || len(at.open) > 0) {
			return true
		}
	}
	return false
}
