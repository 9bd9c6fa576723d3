package agent

import (
	"cmp"
	"context"
	"fmt"

	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// done decides on a batch's claim that the task is done, if it makes one: only a
// fresh observation that shows the goal ends the run. A refusal is read by the
// actor.
func (r *episode) done(ctx context.Context, b batch) error {
	if b.claim == nil {
		return nil
	}
	check, _, err := r.checkGoal(ctx, cmp.Or(b.claim.Answer, "the task is done"))
	if err != nil {
		return err
	}
	if check.Accepted {
		return &run.Stop{Outcome: run.OutcomeDone, Answer: b.claim.Answer, Grade: check.Grade}
	}
	r.refusals++
	if limit := cmp.Or(r.MaxRefusals, 3); r.refusals >= limit {
		return &run.Stop{Outcome: run.OutcomeBlocked, Answer: fmt.Sprintf(
			"the actor said %d times that the task is done, and it was not confirmed: %s", limit, check.Missing)}
	}
	r.last.denied = check.Missing
	return nil
}

// checkGoal asks whether the newest observation shows the goal, and writes the
// answer to the journal. known is false if the world model could not tell, which
// confirms nothing.
func (r *episode) checkGoal(ctx context.Context, claim string) (e run.GoalChecked, known bool, err error) {
	e = run.GoalChecked{FrameID: r.now.FrameID}
	req := worldmodel.GoalRequest{Task: r.task, Claim: claim, Plan: r.plan.Clone(), History: r.history.words(20),
		Refused: r.past.unmet, Now: r.now, Past: r.past.ofRun()}
	check, err := r.World.CheckGoal(ctx, req)
	switch {
	case fatal(ctx, err):
		return e, false, err
	case err != nil:
		e.Missing = "the check of the goal failed: " + err.Error()
	default:
		e.Evidence = check.Evidence
		found, ok, why := worldmodel.Confirmed(check, r.now, r.past.ofRun())
		if e.Accepted, e.Why = ok, why; ok {
			e.Grade, e.Source = found.Grade, found.Source
		} else {
			e.Why, e.Missing = "", why
			r.past.unmet = append(r.past.unmet, why)
		}
	}
	return e, err == nil, r.emit(ctx, e)
}
