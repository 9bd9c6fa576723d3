package guard

import (
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// retry is a situation that never comes: what has it does not bind.
const retry = "\x00"

// keyOf names what is the same action to an objection: in words, without the place,
// and with what it is about.
func keyOf(in run.Intent, c Class) string {
	words := actuator.DescribeOn(in.Action, func(p actuator.Point) string {
		if p.Element.Role != "" {
			return p.Element.Role + " " + p.Element.Name
		}
		return "there"
	})
	return string(c.Effect) + "\n" + words + "\n" + c.Target
}

// kindOf names what a person allows for the rest of a run: such an action, with such an
// effect, on the same thing.
func kindOf(in run.Intent, c Class) string {
	return string(c.Effect) + "\n" + actuator.Name(in.Action) + "\n" + c.Target
}

// situationOf is what may make another thing of the same action: what a dialog says,
// what is selected, and what the batch did before.
func situationOf(in run.Intent, c Class) string {
	parts := []string{c.Dialog}
	if in.On != nil {
		for _, n := range in.On.Tree.Nodes {
			if n.Has("selected") {
				parts = append(parts, n.Role+" "+n.Called())
			}
		}
	}
	for _, a := range in.Done {
		parts = append(parts, actuator.DescribeFull(a))
	}
	return strings.Join(parts, "\n")
}

// bound returns the objection that binds: the same in the same situation is refused
// without asking anybody again. count says that this is such a time.
func (g *Guard) bound(key string, in run.Intent, c Class, count bool) *Block {
	g.mu.Lock()
	defer g.mu.Unlock()
	o := g.state.objections[key]
	if o == nil || o.situation != situationOf(in, c) {
		return nil
	}
	if count {
		o.times++
	}
	return &Block{By: o.by, Name: actuator.Name(in.Action), Effect: c.Effect, Reason: o.reason, Times: o.times}
}

// object keeps an objection. What was only not foreseen, or not answered in time, may
// be asked again, and does not bind; but it counts.
func (g *Guard) object(key string, in run.Intent, c Class, d decision, f *worldmodel.Foresight) *Block {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state.objections == nil {
		g.state.objections, g.state.newest = map[string]*objection{}, map[worldmodel.Effect]string{}
	}
	o := g.state.objections[key]
	if o == nil {
		o = &objection{}
		g.state.objections[key] = o
	}
	o.times++
	o.by, o.reason, o.situation = d.by, d.reason, situationOf(in, c)
	if d.by == "no foresight" && g.World != nil || d.by == byNoAnswer {
		o.situation = retry
	} else {
		g.state.newest[d.effect] = d.reason
	}
	b := &Block{By: d.by, Name: actuator.Name(in.Action), Effect: d.effect, Reason: d.reason, Times: o.times}
	if f != nil && f.Better != nil {
		b.Better = *f.Better
	}
	return b
}

// objected reports whether the same was refused before, for what it would cause.
func (g *Guard) objected(key string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	o := g.state.objections[key]
	return o != nil && o.situation != retry
}

// objectionTo returns what was said against an action before, or else against another
// one with the same effect; "" for nothing.
func (g *Guard) objectionTo(key string, e worldmodel.Effect) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if o := g.state.objections[key]; o != nil && o.situation != retry {
		return o.reason
	}
	return g.state.newest[e]
}

// lift takes an objection back.
func (g *Guard) lift(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.state.objections, key)
}

// grant allows a kind of action for the rest of the run.
func (g *Guard) grant(kind string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state.always == nil {
		g.state.always = map[string]bool{}
	}
	g.state.always[kind] = true
}

func (g *Guard) granted(kind string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state.always[kind]
}
