package agent

import (
	"context"
	"errors"
	"image"
	"reflect"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// act performs a batch and looks at what came of it. The batch stops at the
// first surprise: an action that was refused or may not have arrived, a window
// that came or went, a target that no longer looks as it did. What the actor
// proposes again after that is done: something under it may move all the time.
func (r *episode) act(ctx context.Context, t turn) error {
	chosen, insisted := r.now, r.stopped
	r.stopped = nil
	b := batch{proposal: t.Proposal}
	before, err := r.Desktop.Glance(ctx)
	if err != nil {
		return err
	}
	for i, a := range t.Actions {
		if isSpecial(a) {
			return r.special(ctx, t, b, a)
		}
		again := i == 0 && insisted != nil && reflect.DeepEqual(a, insisted)
		if b.stopped = r.surprise(t.Actions[:i], a, chosen, before, again); b.stopped != "" {
			break
		}
		b.before = before.Bare
		res, err := r.perform(ctx, i, a, chosen)
		if err != nil {
			return err
		}
		b.results, b.written = append(b.results, res), false
		if i == len(t.Actions)-1 {
			break
		}
		if res.status != actuator.Delivered {
			b.stopped = "the action before it was " + string(res.status)
			break
		}
		after, err := r.Desktop.Glance(ctx)
		if err != nil {
			return err
		}
		if err := r.acted(ctx, &b, r.still(i, func() bool { return screen.SamePicture(before.Bare, after.Bare) })); err != nil {
			return err
		}
		if !isSpecial(t.Actions[i+1]) {
			if b.stopped = r.windowChange(before, after); b.stopped != "" {
				break
			}
		}
		before = after
	}
	if b.stopped != "" && len(b.results) == 0 {
		r.stopped = t.Actions[0]
	}
	return r.look(ctx, t, b)
}

// look takes the observation after a batch, which is also the one before the
// next, and closes the turn.
func (r *episode) look(ctx context.Context, t turn, b batch) error {
	chosen, m := r.now, r.monitorTurn(t)
	if b.stopped != "" {
		if err := r.emit(ctx, run.BatchStopped{Reason: b.stopped}); err != nil {
			return err
		}
	}
	if err := r.observe(ctx); err != nil {
		return err
	}
	if n := len(b.results); n > 0 {
		if !b.written { // the result of the last action is still open
			// The tree is only known before the first action.
			still := func() bool {
				return screen.SamePicture(b.before, r.now.Bare) && (n > 1 || screen.SameTree(chosen, r.now))
			}
			if err := r.acted(ctx, &b, r.still(n-1, still)); err != nil {
				return err
			}
		}
		r.before = chosen
	}
	m.Statuses = b.statuses()
	r.turns = append(r.turns, m)
	r.remember(t, b)
	return nil
}

// perform writes an action to the journal and then does it.
func (r *episode) perform(ctx context.Context, index int, a actuator.Action, chosen *screen.Observation) (result, error) {
	e := run.Acting{Index: index, Action: run.Recorded{Action: a}}
	for _, p := range actuator.Points(a) {
		e.Device = append(e.Device, chosen.Image.Mapping.ToDevice(image.Pt(p.X, p.Y)))
	}
	if err := r.emit(ctx, e); err != nil {
		return result{}, err // not recorded, so not done
	}
	res := result{action: a, status: actuator.Delivered, index: index}
	if r.Guard != nil {
		if err := r.Guard.Allow(ctx, a, chosen); err != nil {
			res.status, res.detail = actuator.Refused, err.Error()
			return res, nil
		}
	}
	var err error
	began := time.Now()
	res.output, err = r.Desktop.Do(ctx, a, chosen.Image.Mapping)
	res.took = time.Since(began)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return res, err
	case errors.Is(err, actuator.ErrRefused):
		res.status, res.detail = actuator.Refused, err.Error()
	default:
		res.status, res.detail = actuator.Unknown, err.Error()
	}
	return res, nil
}

// acted writes the result of the last action of a batch. still says that
// nothing changed although something should have.
func (r *episode) acted(ctx context.Context, b *batch, still bool) error {
	res := &b.results[len(b.results)-1]
	if still && res.status == actuator.Delivered && actuator.Shows(res.action) {
		res.status = actuator.NoEffect
	}
	b.written = true
	return r.emit(ctx, run.Acted{
		Index: res.index, Status: res.status, Detail: res.detail, Output: res.output,
		Millis: res.took.Milliseconds(),
	})
}

// isSpecial reports whether an action asks something of the agent.
func isSpecial(a actuator.Action) bool {
	switch a.(type) {
	case actuator.Zoom, actuator.Done, actuator.Infeasible, actuator.Ask:
		return true
	}
	return false
}

// special does what an action asks of the agent. What stands behind it in the
// batch is not done.
func (r *episode) special(ctx context.Context, t turn, b batch, a actuator.Action) error {
	b.said = actuator.DescribeFull(a)
	switch a := a.(type) {
	case actuator.Infeasible:
		return &errEnd{run.OutcomeInfeasible, a.Reason}
	case actuator.Done:
		return r.done(ctx, t, b, a)
	case actuator.Zoom:
		b.zoom = &a.Region
	case actuator.Ask:
		return r.ask(ctx, t, b, a)
	}
	return r.look(ctx, t, b)
}

// ask puts a question to the user.
func (r *episode) ask(ctx context.Context, t turn, b batch, a actuator.Ask) error {
	if r.Ask == nil {
		b.alone = true
		return r.look(ctx, t, b)
	}
	answer, err := r.Ask(ctx, a.Question)
	if errors.Is(err, run.ErrNobody) {
		b.alone = true
		return r.look(ctx, t, b)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return &errEnd{run.OutcomeBlocked, "no answer to: " + a.Question}
	}
	b.answer = answer
	if err := r.emit(ctx, run.Answered{Question: a.Question, Answer: answer}); err != nil {
		return err
	}
	return r.look(ctx, t, b)
}
