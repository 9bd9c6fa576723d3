package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
)

// economize asks once for a rest of the plan that costs less, when the budget of the run, of
// what has the least left, is nearly used and there are steps that could go. It is advice: where the revision
// itself cannot be paid any more, the plan goes on as it is.
func (x *Execution) economize(ctx context.Context) error {
	e := x.engine
	if x.thrifty || e.prefix != "" || e.Planner == nil || e.Session.Client == nil || e.Session.Client.Budget == nil {
		return nil // of plans within plans the one around them decides
	}
	what, part := e.Session.Client.Budget.Remaining().Least()
	if part > cmp.Or(e.Settings.LowBudget, run.DefaultPlanBudget) || x.unbegun() < 2 || x.shortened() {
		return nil
	}
	x.thrifty = true
	_, err := x.revise(ctx, planner.RevisionRequest{
		Source: "budget", Trigger: planner.TokenBudget, Strategy: planner.ReplanRemaining,
		Guidance: fmt.Sprintf("only %.0f %% of the budget of %s is left: write only the steps without which the task is not reached, as few as can be, and the cheapest way for each", 100*part, what),
	})
	switch {
	case ctx.Err() == nil && errors.Is(err, llm.ErrBudget):
		e.log().WarnContext(ctx, "plan not shortened", "err", err)
	case fatal(ctx, err), isStop(err):
		return err
	}
	return nil
}

// unbegun counts the steps that nobody has begun.
func (x *Execution) unbegun() (n int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, s := range x.plan.Steps {
		if s.Status == planner.Pending || s.Status == planner.Blocked {
			n++
		}
	}
	return n
}

// shortened reports whether the plan was, before it was gone on with.
func (x *Execution) shortened() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.ContainsFunc(x.plan.Revisions, func(r planner.Revision) bool { return r.Trigger == planner.TokenBudget })
}
