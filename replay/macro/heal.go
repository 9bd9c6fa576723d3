package macro

import (
	"context"
	"fmt"
	"image"
	"slices"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// A HealRequest asks for one step of a macro that cannot be done as recorded.
type HealRequest struct {
	Task     string
	Of       int      // the step of the recorded run
	Thought  string   // as recorded
	Expect   string   // as recorded
	Actions  []string // what of the step is left to do, in words, with what it is for
	Expected string   // in words
	Found    string   // in words
	Done     bool     // the step was performed: only what it should lead to is not there
	Try      int      // from 1 to [run.MacroSettings.MaxHeals]
	Live     *screen.Observation
	Frame    string      // ID of the recorded frame that shows what was expected
	Recorded image.Image // that frame; nil if it is missing
}

// heal asks a model for a step, does what it says, and looks what came of it:
// again says that the step can now be done as recorded, no trouble and not again
// that it is done.
func (r *player) heal(ctx context.Context, t *turn, bad *trouble, heals int) (_ *trouble, again bool, err error) {
	d := r.diverged(t, bad, heals)
	q := HealRequest{
		Task: r.m.sub(r.m.Task), Of: t.Of, Thought: r.m.sub(t.Thought), Expect: r.m.sub(t.Expect), Expected: bad.expected, Found: bad.found,
		Done: bad.kind == noEffect, Try: heals + 1, Live: r.live.Observation, Frame: d.Frame, Recorded: d.Recorded,
	}
	for _, a := range r.missing(t) {
		q.Actions = append(q.Actions, actuator.DescribeFull(a.Action))
	}
	for i := range t.Actions[t.next:] {
		q.Actions = append(q.Actions, r.m.describe(&t.Actions[t.next+i]))
	}
	actions, err := r.Heal(ctx, q)
	if ctx.Err() != nil {
		return nil, false, context.Cause(ctx)
	}
	if err != nil {
		d.Healed = heals + 1
		return nil, false, fmt.Errorf("%w; healing: %w", d, err)
	}
	list, why := r.take(actions)
	if why != "" {
		d.Healed, d.Found = heals+1, d.Found+", and the model says: "+why
		return nil, false, d
	}
	if len(list) > 0 {
		if failed, err := r.do(ctx, t, list); failed != nil || err != nil {
			return failed, false, err
		}
	}
	acted := slices.ContainsFunc(list, func(a aimed) bool { return actuator.Shows(a.Action) })
	return r.judge(ctx, t, bad, acted)
}

// take makes actions for the live image of what a model says. why is not empty
// if it gives up.
func (r *player) take(actions []actuator.Action) (list []aimed, why string) {
	actions, err := run.Name(actions, r.live.Observation)
	if err != nil {
		return nil, err.Error()
	}
	for _, a := range actions {
		switch a := a.(type) {
		case actuator.Done:
			return list, ""
		case actuator.Infeasible:
			return nil, "it cannot be done: " + a.Reason
		case actuator.Ask:
			return nil, "a person is needed: " + a.Question
		case actuator.Zoom, actuator.Note:
			continue
		default: // who heals is told
			if actuator.ForAgent(a) {
				return nil, "it asks for something that is not known here: " + actuator.Describe(a)
			}
		}
		if a, why = run.Locate(a, r.live.Observation, r.live.Observation); why != "" {
			return nil, why
		}
		out := aimed{Action: a}
		for _, p := range actuator.Points(a) {
			device := r.live.Image.Mapping.ToDevice(image.Pt(p.X, p.Y))
			out.at = append(out.at, device)
			target := newTarget(r.live, nil, image.Pt(p.X, p.Y))
			out.located = append(out.located, run.Located{How: "model", Target: target.String(), Was: device, Now: device, Score: 1})
		}
		list = append(list, out)
	}
	return list, ""
}

// do performs what a model says.
func (r *player) do(ctx context.Context, t *turn, list []aimed) (*trouble, error) {
	bounds := r.live.Image.Mapping.Bounds()
	for _, a := range list {
		if err := actuator.Validate(a.Action, bounds); err != nil {
			return &trouble{missing, "an action for this screen", "what the model said is none: " + err.Error()}, nil
		}
	}
	capture, err := r.Desktop.Capture(ctx)
	if err != nil {
		return nil, err
	}
	if !sameWindows(capture.Windows, r.live.Windows) {
		if err := r.see(ctx); err != nil {
			return nil, err
		}
		return &trouble{inTheWay, "the screen that the model saw", "the windows have changed since"}, nil
	}
	if err := r.propose(ctx, "Healed: "+t.Thought, t.Expect, list); err != nil {
		return nil, err
	}
	bad, err := r.perform(ctx, list, capture, run.FromHealing, func(int) {})
	if err == nil {
		err = r.letGo(ctx, run.FromHealing)
	}
	if bad != nil || err != nil {
		return bad, err
	}
	return nil, r.keep(ctx)
}

// judge looks whether a step is done after a model has helped, or can be done
// now.
func (r *player) judge(ctx context.Context, t *turn, bad *trouble, acted bool) (_ *trouble, again bool, err error) {
	if bad.kind == missing && t.effect.none() && acted {
		return nil, false, nil // nothing tells whether it is done, but what was asked for was
	}
	rest, err := r.until(ctx, func() *trouble {
		again = false
		lacking := r.effect(t)
		if lacking == nil && (bad.kind == noEffect || !t.effect.none()) {
			return nil
		}
		if bad.kind == noEffect || t.next == len(t.Actions) {
			return lacking
		}
		_, still := r.aim(ctx, t, t.upto())
		again = still == nil
		return still
	})
	return rest, again && rest == nil, err
}

// describe says in words what an action is and what it is for.
func (m *Macro) describe(a *Action) string {
	text := actuator.DescribeFull(m.given(a))
	if a.secret {
		text = actuator.Describe(a.Action)
	}
	for i := range a.Targets {
		text += fmt.Sprintf(" [%s]", m.sub(a.Targets[i].String()))
	}
	return text
}
