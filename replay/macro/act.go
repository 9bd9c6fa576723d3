package macro

import (
	"context"
	"errors"
	"image"
	"slices"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/run"
)

// An aimed action is one for the live desktop.
type aimed struct {
	actuator.Action
	at      []image.Point // its points in device pixels
	located []run.Located // without the index
	blank   bool          // its text stays out of the journal
	param   string        // whose value is its text; "" if none
}

// words describes what is left of a step.
func (t *turn) words(describe func(actuator.Action) string) string {
	var list []string
	for _, a := range t.Actions[min(t.next, len(t.Actions)):] {
		list = append(list, describe(a.Action))
	}
	if len(list) == 0 {
		return "done"
	}
	return strings.Join(list, ", then ")
}

// upto returns the end of the actions that belong to one look at the desktop:
// before one with a point it is looked at again, unless a button is held down.
func (t *turn) upto() int {
	held := false
	for i := t.next; i < len(t.Actions); i++ {
		a := t.Actions[i]
		if i > t.next && len(a.Targets) > 0 && !held {
			return i
		}
		held = actuator.ButtonHeld(a.Action, held)
	}
	return len(t.Actions)
}

// aim finds the targets of actions on the newest look, and whether they can be
// performed now.
func (r *player) aim(ctx context.Context, t *turn, end int) ([]aimed, *trouble) {
	p := newPair(t.was, r.live, r.m.sub)
	p.pictures = r.set.Pictures
	first := t.Actions[t.next]
	if actuator.KindOf(first.Action) != actuator.Pause {
		if bad := p.ready(actuator.UsesFocus(first.Action)); bad != nil {
			return nil, bad
		}
	}
	if t.next == 0 && actuator.Writes(first.Action) {
		if bad := p.typeable(); bad != nil {
			return nil, bad
		}
	}
	var list []aimed
	for k := t.next; k < end; k++ {
		a := &t.Actions[k]
		out := aimed{Action: r.m.given(a), blank: a.secret, param: r.m.nameOf(a)}
		var to []image.Point
		for i := range a.Targets {
			s, bad := p.locate(ctx, &a.Targets[i])
			if bad != nil {
				return nil, bad
			}
			out.located = append(out.located, located(0, &a.Targets[i], s))
			to = append(to, s.image)
		}
		out.Action = moved(out.Action, between(actuator.Points(a.Action), to))
		for _, pt := range actuator.Points(out.Action) {
			out.at = append(out.at, r.live.Image.Mapping.ToDevice(image.Pt(pt.X, pt.Y)))
		}
		list = append(list, out)
	}
	return list, nil
}

// between maps the points of a path whose ends have moved.
func between(points []actuator.Point, ends []image.Point) []actuator.Point {
	if len(ends) == 0 {
		return nil
	}
	first, last := points[0], points[len(points)-1]
	from, to := ends[0], ends[len(ends)-1]
	one := func(v, a, b, c, d int) int {
		if a == b {
			return v - a + c
		}
		return c + (v-a)*(d-c)/(b-a)
	}
	out := make([]actuator.Point, len(points))
	for i, p := range points {
		out[i] = actuator.Point{X: one(p.X, first.X, last.X, from.X, to.X), Y: one(p.Y, first.Y, last.Y, from.Y, to.Y)}
	}
	out[0] = actuator.Point{X: from.X, Y: from.Y}
	out[len(out)-1] = actuator.Point{X: to.X, Y: to.Y}
	return out
}

// nameOf returns the parameter that is the whole text of an action.
func (m *Macro) nameOf(a *Action) string {
	for _, p := range m.params {
		for _, at := range p.whole {
			if &m.Steps[at.step].Actions[at.action] == a {
				return p.Name
			}
		}
	}
	return ""
}

// batch performs the next actions of a step that belong to one observation.
func (r *player) batch(ctx context.Context, t *turn) (*trouble, error) {
	end := t.upto()
	var list []aimed
	var capture run.Capture
	bad, err := r.until(ctx, func() (bad *trouble) {
		list, bad = r.aim(ctx, t, end)
		return bad
	})
	// What was observed must still be so. Something may move all the time: then
	// the newest observation counts.
	for n := range r.set.MaxChecks {
		if bad != nil || err != nil {
			return bad, err
		}
		if capture, err = r.Desktop.Capture(ctx); err != nil {
			return nil, err
		}
		if sameWindows(capture.Windows, r.live.Windows) && (n >= r.set.MaxChecks/2 || r.sameSpots(ctx, list, capture)) {
			break
		}
		if n == r.set.MaxChecks-1 {
			return &trouble{inTheWay, "windows that stay", "they come, go or move all the time"}, nil
		}
		if err = r.see(ctx); err == nil {
			list, bad = r.aim(ctx, t, end)
		}
	}
	if bad != nil || err != nil {
		return bad, err
	}
	if err := r.keep(ctx); err != nil {
		return nil, err
	}
	r.Scope.Turn()
	again := r.missing(t)
	list = append(again, list...)
	if err := r.propose(ctx, t.Thought, t.Expect, list); err != nil {
		return nil, err
	}
	return r.perform(ctx, list, capture, run.FromRecording, func(i int) {
		if i >= len(again) {
			t.next++
		}
	})
}

// sameSpots reports whether the places of actions look as they did, and have the
// elements that they had.
func (r *player) sameSpots(ctx context.Context, list []aimed, capture run.Capture) bool {
	return !slices.ContainsFunc(list, func(a aimed) bool {
		return r.Desktop.Surprise(ctx, run.Aim{Action: a.Action, Chosen: r.live.Observation, Now: capture}) != ""
	})
}

// propose writes what is about to be done in the step of the new run that has
// begun.
func (r *player) propose(ctx context.Context, thought, expect string, list []aimed) error {
	e := run.Proposed{FrameID: r.live.FrameID, Thought: r.m.sub(thought), Expect: r.m.sub(expect)}
	var events []run.EventData
	for i, a := range list {
		e.Actions = append(e.Actions, a.recorded())
		if a.param != "" {
			e.Params = append(e.Params, run.Param{Index: i, Name: a.param, Secret: a.blank})
		}
		for _, l := range a.located {
			l.Index = i
			events = append(events, l)
		}
	}
	r.listed = len(list)
	for _, data := range append([]run.EventData{e}, events...) {
		if err := r.Scope.Emit(ctx, data); err != nil {
			return err
		}
	}
	return nil
}

// secretText stands in a journal for a text that it must not have: an action
// without any text could not be read.
const secretText = "•"

// recorded is the action as the journal may have it.
func (a *aimed) recorded() run.Recorded {
	if a.blank {
		return run.Recorded{Action: actuator.WithText(a.Action, secretText)}
	}
	return run.Recorded{Action: a.Action}
}

// perform does actions that were proposed. It ends early, without trouble, where
// the windows change in between, or a person chose another action: the rest then
// needs a new look. done is called with the index of each action of which something
// may have arrived.
func (r *player) perform(ctx context.Context, list []aimed, capture run.Capture, source run.Source, done func(i int)) (*trouble, error) {
	for i, a := range list {
		act, err := r.Hand.Do(ctx, run.Intent{
			Action: a.Action, Written: a.recorded().Action, On: r.live.Observation, Index: i, Done: actions(list[:i]), Source: source,
		})
		if err != nil {
			return nil, err
		}
		r.down = act.LetsGo(r.down)
		if act.Status != actuator.Refused {
			done(i)
		}
		before := capture
		if i == len(list)-1 || act.Status != actuator.Delivered || act.Edited {
			return r.after(ctx, act, before)
		}
		if capture, err = r.Desktop.Capture(ctx); err != nil {
			return nil, err
		}
		same := func() bool { return before.Unchanged(act.Action, capture) }
		if err := act.Close(ctx, func() bool { return r.Desktop.Unchanged(act.Index, same) }); err != nil {
			return nil, err
		}
		if !sameWindows(before.Windows, capture.Windows) {
			return nil, errors.Join(r.see(ctx), r.keep(ctx))
		}
	}
	return nil, nil
}

// actions are those of a list, as they are performed.
func actions(list []aimed) (plain []actuator.Action) {
	for _, a := range list {
		plain = append(plain, a.Action)
	}
	return plain
}

// after looks at what came of the last action, and writes it.
func (r *player) after(ctx context.Context, act *run.Act, before run.Capture) (*trouble, error) {
	chosen := r.live.Observation
	if err := r.see(ctx); err != nil {
		return nil, errors.Join(err, act.Close(ctx, nil))
	}
	same := func() bool { return run.NothingChanged(act.Action, act.Index, before.Bare, chosen, r.live.Observation) }
	if err := act.Close(ctx, func() bool { return r.Desktop.Unchanged(act.Index, same) }); err != nil {
		return nil, err
	}
	if act.Status == actuator.Refused || act.Status == actuator.Unknown {
		return &trouble{missing, actuator.Describe(act.Action) + " arrives", "it was " + string(act.Status) + ": " + act.Detail}, nil
	}
	return nil, nil
}

// outline is the box of a target on its recorded frame.
func (t *Target) outline() image.Rectangle {
	if t.node >= 0 && !spacious(t.Role, t.Box) {
		return t.Box
	}
	return image.Rectangle{Min: t.At, Max: t.At}.Inset(-16)
}
