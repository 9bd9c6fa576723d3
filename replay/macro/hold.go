package macro

import (
	"context"
	"slices"

	"desktop-agent/actuator"
	"desktop-agent/run"
)

// letGo lets go what is down, and looks again: a menu may have gone with it. A model that is
// asked would not know of it, nor would the step after what it does.
func (r *player) letGo(ctx context.Context, source run.Source) error {
	if len(r.down) == 0 {
		return nil
	}
	in := run.Intent{On: r.live.Observation, Index: r.listed, Source: source}
	if _, err := r.Hand.LetGo(ctx, r.down, in); err != nil {
		return err
	}
	r.down = nil
	return r.see(ctx)
}

// drop lets go what is down when the replay ends before its end. What cannot be let go, the
// device tells.
func (r *player) drop(ctx context.Context) {
	in := run.Intent{On: r.live.Observation, Index: r.listed, Source: run.FromRecording}
	if _, err := r.Hand.LetGo(ctx, r.down, in); err != nil || ctx.Err() != nil {
		_ = r.Hand.Release()
	}
}

// holds returns what lets go what the recording has down before an action of the step.
func (t *turn) holds(before int) []actuator.Action {
	held := t.held
	for _, a := range t.Actions[:before] {
		held = actuator.Releases(a.Action, held)
	}
	return held
}

// missing are the keys that the recording has down where a step goes on, and that went up for
// a model: they go down again. Where no model was asked, what is down is as recorded.
func (r *player) missing(t *turn) (list []aimed) {
	if r.healed == 0 {
		return nil
	}
	for _, up := range t.holds(t.next) {
		if key, ok := up.(actuator.KeyUp); ok && !slices.Contains(r.down, up) {
			list = append(list, aimed{Action: actuator.KeyDown(key)})
		}
	}
	return list
}

// rewind has a step go on where the button went down that was let go in the middle: what it
// draws is done in one go.
func (t *turn) rewind() {
	from, held := t.next, false
	for i, a := range t.Actions[:t.next] {
		now := actuator.ButtonHeld(a.Action, held)
		if now && !held {
			from = i
		}
		held = now
	}
	if held && t.next < len(t.Actions) {
		t.next = from
	}
}
