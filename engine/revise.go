package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// revise changes the plan as a request asks for, or says why it stays as it is. All who
// want a change come here.
func (x *Execution) revise(ctx context.Context, r planner.RevisionRequest) (changed bool, err error) {
	e := x.engine
	plan := x.Plan()
	if hook := e.Hooks.RevisionNeeded; hook != nil {
		r.Strategy = cmp.Or(hook(ctx, plan.Clone(), r), r.Strategy)
	}
	r.Strategy = cmp.Or(r.Strategy, e.Config.Strategy)
	if e.Planner == nil && r.Strategy == planner.Abort {
		return false, x.abort(cmp.Or(r.Guidance, "it was asked for"))
	}
	if e.Planner == nil {
		return false, errNotRevised
	}
	if r.Now, err = x.observe(ctx); err != nil {
		return false, err
	}
	catalog := e.catalog()
	r.History, r.Catalog = told(plan), &catalog
	next, err := e.Planner.Revise(ctx, plan, r)
	switch {
	case fatal(ctx, err):
		return false, err
	case errors.Is(err, planner.ErrUnchanged):
		return false, nil
	case err != nil:
		e.log().WarnContext(ctx, "plan not revised", "err", err)
		return false, errors.Join(err, x.emit(ctx, run.Planned{Step: x.engine.of(), Plan: plan, Error: err.Error()}))
	case next.State == planner.PlanFailed:
		x.lock(func() { x.plan = next.Clone() })
		return false, &run.Stop{Outcome: run.OutcomeBlocked, Answer: next.Reason}
	}
	if lost := kept(plan, next); lost != "" {
		return false, x.emit(ctx, run.Planned{Step: x.engine.of(), Plan: plan, Error: "the revision was refused: " + lost})
	}
	x.lock(func() {
		x.plan = next.Clone()
		x.plan.State = planner.PlanRunning
		x.plan.Block()
	})
	x.exit = ""
	return true, x.emit(ctx, run.Planned{Step: x.engine.of(), Plan: x.Plan()})
}

// errNotRevised says that plans are executed as they are.
var errNotRevised = errors.New("plans are not revised here")

// observe looks at the screen for a revision, unless somebody is at the display.
func (x *Execution) observe(ctx context.Context) (*screen.Observation, error) {
	s := x.engine.Session
	if s.Desktop == nil {
		return nil, nil
	}
	for id := range x.running {
		if x.engine.resource(x.plan.Step(id)) != "" {
			return nil, nil
		}
	}
	now, err := s.Desktop.Observe(ctx)
	if err != nil {
		return nil, err
	}
	return now, s.Scope.Observe(ctx, now, s.Desktop.ScreenName(now))
}

// kept says which step a revision has lost or changed that it may not: what is running or
// over stays as it is.
func kept(old, next *planner.Plan) string {
	for _, s := range old.Steps {
		now := next.Step(s.ID)
		switch {
		case s.Status != planner.Running && s.Status != planner.Completed && s.Status != planner.Passed:
		case now == nil:
			return fmt.Sprintf("step %s, which is %s, is gone", s.ID, s.Status)
		case now.Status != s.Status || now.Goal != s.Goal || now.Action != s.Action || now.Parameters != s.Parameters:
			return fmt.Sprintf("step %s, which is %s, is another one", s.ID, s.Status)
		}
	}
	return ""
}

// told is what was done, in words: whose step, and how it ended.
func told(p *planner.Plan) (list []string) {
	for _, s := range p.Steps {
		if !s.Status.Final() {
			continue
		}
		text := fmt.Sprintf("%s (%s): %s", s.ID, s.Goal, s.Status)
		if s.Error != "" {
			text += ": " + s.Error
		}
		list = append(list, text)
	}
	return list
}
