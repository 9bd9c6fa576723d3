package agent

import (
	"context"
	"errors"
	"fmt"

	"desktop-agent/actuator"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// act performs a batch. It stops at the first surprise: an action that was refused
// or may not have arrived, a window that came or went, a target that no longer
// looks as it did. An element that is aimed at by its handle is looked for right
// before, on the screen as it is then. What the actor proposes again after that is done: something
// under it may move all the time. What came of the last action is still to be
// seen.
func (r *episode) act(ctx context.Context, t turn) (batch, error) {
	b, err := r.perform(ctx, t)
	if err != nil {
		return b, err
	}
	if b.stopped != "" {
		if len(b.results) == 0 && !b.refused {
			r.stopped = nextDone(t.Actions)
		}
		if err := r.emit(ctx, run.BatchStopped{Reason: b.stopped, Refused: b.refused}); err != nil {
			return b, err
		}
	}
	return b, r.letGo(ctx, &b)
}

// perform performs a batch up to its end, or up to where it stops.
func (r *episode) perform(ctx context.Context, t turn) (batch, error) {
	insisted := r.stopped
	r.stopped = nil
	b := batch{proposal: t.Proposal}
	before, err := r.Desktop.Capture(ctx)
	if err != nil {
		return b, err
	}
	for i, a := range t.Actions {
		if ok, err := r.accept(ctx, t, &b, i); err != nil || !ok {
			return b, err
		}
		if fact, ok := a.(actuator.Note); ok {
			if err := r.note(ctx, fact); err != nil {
				return b, err
			}
			b.noted = append(b.noted, i)
			continue
		}
		if actuator.ForAgent(a) {
			return b, r.special(ctx, &b, a)
		}
		again := len(b.results) == 0 && insisted != nil && actuator.Same(a, insisted)
		aim := run.Aim{Action: a, Done: t.Actions[:i], Chosen: r.now, Now: before, Again: again}
		if aim.Action, b.stopped, err = r.Desktop.Locate(ctx, aim); err != nil {
			return b, err
		}
		if b.refused = b.stopped != ""; b.refused {
			break
		}
		if b.stopped = r.Desktop.Surprise(ctx, aim); b.stopped != "" {
			break
		}
		b.before = before.Bare
		act, err := r.Hand.Do(ctx, run.Intent{Action: aim.Action, On: r.now, Index: i, Done: t.Actions[:i], Source: run.FromModel, History: r.history.ofRun(10)})
		if err != nil {
			return b, err
		}
		b.results = append(b.results, act)
		r.past.did(r.Scope.Step(), act.Action, t.Actions[:i], act, r.now)
		next := nextDone(t.Actions[i+1:])
		if next == nil {
			continue // notes, at most
		}
		if act.Status != actuator.Delivered {
			b.stopped = "the action before it was " + string(act.Status)
			break
		}
		if act.Edited {
			b.stopped = "a person chose another action than the one before it"
			break
		}
		after, err := r.Desktop.Capture(ctx)
		if err != nil {
			return b, err
		}
		same := func() bool { return before.Unchanged(aim.Action, after) }
		unchanged := func() bool { return r.Desktop.Unchanged(i, same) }
		if focuses(aim.Action, next, r.now) {
			unchanged = nil
		}
		if err := act.Close(ctx, unchanged); err != nil {
			return b, err
		}
		if actuator.KindOf(next) == actuator.Pause { // that a window came or went is what it may be for: told after it
			after.Windows = before.Windows
		} else if awaited(aim.Action) {
			// That it went was waited for.
		} else if !actuator.ForAgent(next) {
			if b.stopped = r.Desktop.WindowChange(run.Raised(before, after, aim.Action, r.now), after); b.stopped != "" {
				break
			}
		}
		before = after
	}
	if b.stopped == "" {
		_, err = r.accept(ctx, t, &b, len(t.Actions))
	}
	return b, err
}

// letGo lets go what a batch has left down.
func (r *episode) letGo(ctx context.Context, b *batch) (err error) {
	var up []actuator.Action
	for _, act := range b.results {
		up = act.LetsGo(up)
	}
	b.released, err = r.Hand.LetGo(ctx, up, run.Intent{On: r.now, Index: len(b.proposal.Actions), Done: b.proposal.Actions, Source: run.FromModel})
	return err
}

// special does what an action asks of the agent. What stands behind it in the
// batch is not done.
func (r *episode) special(ctx context.Context, b *batch, a actuator.Action) error {
	b.said = actuator.DescribeFull(a)
	switch a := a.(type) {
	case actuator.Infeasible:
		return r.infeasible(ctx, b, a.Reason)
	case actuator.Done:
		b.claim = &a
	case actuator.Zoom:
		b.zoom = &a.Region
	case actuator.Ask:
		return r.ask(ctx, b, a)
	default:
		return fmt.Errorf("the agent does not know what %s asks of it", actuator.Name(a))
	}
	return nil
}

// ask puts a question to the user.
func (r *episode) ask(ctx context.Context, b *batch, a actuator.Ask) error {
	if r.Ask == nil {
		b.alone = true
		return nil
	}
	answer, err := r.asked(ctx, a.Question)
	if errors.Is(err, planner.ErrNobody) {
		b.alone = true
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return &run.Stop{Outcome: run.OutcomeBlocked, Answer: "no answer to: " + a.Question}
	}
	b.answer = answer
	return r.emit(ctx, run.Answered{Question: a.Question, Answer: answer})
}

// asked asks the user, which no limit of time counts, nor the budget.
func (r *episode) asked(ctx context.Context, question string) (string, error) {
	defer run.Asking(ctx)()
	if r.Budget != nil {
		defer r.Budget.Pause()()
	}
	return r.Ask(ctx, question)
}

// focuses reports whether an action only gives the focus to what is typed into next, and
// which had it when the batch was written: that nothing is to be seen of it is as it
// should be.
func focuses(a, next actuator.Action, seen *screen.Observation) bool {
	c, ok := a.(actuator.Click)
	if _, types := next.(actuator.Type); !ok || !types || c.At == nil || c.At.Element.ID == "" {
		return false
	}
	n, there := seen.Element(string(c.At.Element.ID))
	return there && seen.Tree.Nodes[n].Has("focused")
}

// awaited reports whether an action has waited for a window to go: what lies below it was
// seen when the batch was written. What a window that came shows was not.
func awaited(a actuator.Action) bool {
	w, ok := a.(actuator.WaitUntil)
	return ok && w.For == actuator.WindowSign && w.Gone
}
