package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"desktop-agent/planner"
	"desktop-agent/run"
)

// done is what a worker hands back: the end of a step, or what a reflection on one says.
type done struct {
	step      string
	ended     *ended
	reflected *reflection
	err       error // that ends the run
}

// Execute does the steps of the plan in the order that their needs leave, until all are
// final, and checks the goal. What was done stays in the result however it ends.
//
// For each step: it is selected; begins (the event, the check of its parameters, the
// guard's approvals); is done, again if that failed and may be; its fallback is tried; the
// result is recorded or the error dealt with; and last the state is kept and it is looked
// whether the plan must change.
func (x *Execution) Execute(ctx context.Context) (Result, error) {
	if err := x.begin(); err != nil {
		return Result{}, err
	}
	start := time.Now()
	x.engine.Session.Scope.Follow() // the steps of the plan take the turns
	work, cancel := context.WithCancelCause(ctx)
	err := x.takeUp(work)
	if err == nil {
		err = x.loop(work)
	}
	cancel(errOver)
	x.drain()
	err = x.close(ctx, err)
	sum, err := x.engine.Session.Scope.Sum(ctx, err, time.Since(start))
	result := x.outline()
	result.Result, result.Output = sum, cmp.Or(x.answer, sum.Answer)
	result.Success = sum.Outcome == run.OutcomeDone
	return result, err
}

// errOver is why what still runs at the end of a plan is ended.
var errOver = errors.New("the plan is over")

// loop is the one goroutine that owns the plan.
func (x *Execution) loop(ctx context.Context) error {
	for {
		if ctx.Err() != nil { // a result may have come first
			return context.Cause(ctx)
		}
		if x.exit == "" {
			if err := x.economize(ctx); err != nil {
				return err
			}
			if err := x.start(ctx); err != nil {
				return err
			}
		}
		if len(x.running) == 0 && x.waiting == 0 {
			over, err := x.exhausted(ctx)
			if err != nil || over {
				return err
			}
			continue
		}
		select {
		case d := <-x.results:
			if err := x.take(ctx, d); err != nil {
				return err
			}
		case r := <-x.requests:
			changed, err := x.revise(ctx, r.RevisionRequest)
			if fatal(ctx, err) || isStop(err) {
				r.done <- err
				return err
			}
			if err == nil && !changed {
				err = planner.ErrUnchanged
			}
			r.done <- err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func isStop(err error) bool {
	_, stop := errors.AsType[*run.Stop](err)
	return stop
}

// start starts the steps that may begin now.
func (x *Execution) start(ctx context.Context) error {
	var chosen []*attempt
	x.lock(func() {
		x.plan.Block()
		for _, s := range x.engine.choose(x.plan, x.running, x.waiting) {
			s.Status, s.Error = planner.Running, ""
			if s.StartedAt.IsZero() {
				s.StartedAt = x.engine.now()
			}
			a := x.engine.attempt(x.plan, s)
			a.again, a.effect = x.again(s)
			chosen = append(chosen, a)
		}
	})
	for _, a := range chosen {
		x.running[a.step.ID] = a
		go func() {
			ended, err := x.perform(ctx, a)
			x.results <- done{step: a.step.ID, ended: ended, err: err}
		}()
	}
	return nil
}

// take takes what a worker hands back.
func (x *Execution) take(ctx context.Context, d done) error {
	if d.ended == nil && d.reflected == nil {
		delete(x.running, d.step)
		return d.err
	}
	if d.reflected != nil {
		x.waiting--
		if d.err != nil {
			return d.err
		}
		return x.heed(ctx, d.step, *d.reflected)
	}
	delete(x.running, d.step)
	x.worst.add(d.ended)
	var after planner.Step
	open := false
	x.lock(func() {
		s := x.plan.Step(d.step)
		d.ended.record(s)
		if s.Status == planner.Failed && d.ended.final {
			x.spend(s, d.ended.effect)
		}
		after = *s
		x.plan.Block()
		for _, s := range x.plan.Steps {
			open = open || !s.Status.Final()
		}
	})
	if err := errors.Join(d.err, x.emit(ctx, d.ended.event(x.engine.prefix+d.step))); err != nil {
		return err
	}
	if d.ended.exit {
		x.finishEarly(ctx, "a tool says that the task is done", d.ended.output)
		return nil
	}
	if after.Status == planner.Failed {
		return x.failed(ctx, after, d.ended)
	}
	if open {
		x.beginReflection(ctx, after)
	}
	return nil
}

// beginReflection has a step reflected on that is done. Where the analysis says that there
// is nothing to reflect on, only one that did not go as planned is.
func (x *Execution) beginReflection(ctx context.Context, step planner.Step) {
	if x.exit != "" || !x.engine.reflects() || x.clear && step.Attempts <= 1 {
		return
	}
	x.waiting++
	plan := x.Plan()
	go func() {
		r, err := x.reflect(ctx, plan, step)
		x.results <- done{step: step.ID, reflected: &r, err: err}
	}()
}

// add adds what was attempted in a step.
func (w *worst) add(d *ended) {
	if d.acted {
		w.any, w.effect, w.final = true, w.effect.Worse(d.effect), w.final || d.final
	}
}

// failed deals with a step that failed, and its fallback too. Where failures are not
// tolerated, or too many steps have failed, the plan is revised; where that changes nothing,
// the plan fails. What needs the step is skipped.
func (x *Execution) failed(ctx context.Context, step planner.Step, ended *ended) error {
	tolerated := x.engine.Settings.ContinueOnFailure && !x.tooMany()
	if !tolerated {
		r := planner.RevisionRequest{
			Source: "engine", Trigger: planner.StepFailure, StepID: step.ID, Guidance: fmt.Sprintf("step %s (%s) failed: %s", step.ID, step.Goal, step.Error),
		}
		if ended.final {
			r.Guidance += ". It was attempted, and cannot be taken back: do not do it again, find out what became of it"
		}
		changed, err := x.revise(ctx, r)
		switch {
		case fatal(ctx, err), isStop(err):
			return err
		case changed:
			return nil
		case !x.engine.Settings.ContinueOnFailure:
			why := fmt.Sprintf("step %s failed: %s", step.ID, step.Error)
			if err != nil {
				why += fmt.Sprintf(" (the plan was not revised: %v)", err)
			}
			return x.abort(why)
		}
	}
	x.lock(func() { x.plan.SkipDependents(step.ID) })
	return nil
}

// tooMany reports whether so many steps have failed that the plan is looked at again.
func (x *Execution) tooMany() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.plan.FailureRate() >= cmp.Or(x.engine.Config.Threshold, planner.DefaultThreshold)
}

// abort ends the plan as one that failed. What was done stays.
func (x *Execution) abort(why string) error {
	x.lock(func() { x.plan.State, x.plan.Reason = planner.PlanFailed, "aborted: "+why })
	return &run.Stop{Outcome: run.OutcomeBlocked, Answer: why}
}

// finishEarly has no further step begin: the goal is said to be reached.
func (x *Execution) finishEarly(ctx context.Context, why, answer string) {
	x.engine.log().InfoContext(ctx, "the plan is said to be done early", "why", why)
	x.exit, x.answer = why, answer
}

// exhausted decides what becomes of a plan of which nothing runs and nothing can begin.
func (x *Execution) exhausted(ctx context.Context) (over bool, err error) {
	check, err := x.checkGoal(ctx)
	if err != nil {
		return false, err
	}
	if check.met {
		x.answer = cmp.Or(check.answer, x.answer)
		x.lock(func() {
			for i := range x.plan.Steps {
				if s := &x.plan.Steps[i]; !s.Status.Final() {
					s.Status = planner.Skipped
				}
			}
			x.plan.State = planner.PlanCompleted
		})
		return true, &run.Stop{Outcome: run.OutcomeDone, Answer: x.answer, Grade: check.grade}
	}
	open := x.exit != "" && x.open()
	x.exit = ""
	if open { // it was too early: the steps that there are go on
		return false, nil
	}
	changed, err := x.revise(ctx, planner.RevisionRequest{Source: "goal_check", Trigger: planner.UnexpectedResult, Guidance: check.missing})
	if err == nil && changed && x.open() { // else nothing of it could begin, for ever
		return false, nil
	}
	if fatal(ctx, err) || isStop(err) {
		return false, err
	}
	x.lock(func() { x.plan.State, x.plan.Reason = planner.PlanFailed, "the goal is not reached: "+check.missing })
	return true, &run.Stop{Outcome: run.OutcomeBlocked, Answer: "all steps are over, and the goal is not reached: " + check.missing}
}

// open reports whether a step can still begin.
func (x *Execution) open() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.plan.Ready()) > 0
}

// drain waits for the workers, whose context has ended, and keeps what they hand back.
func (x *Execution) drain() {
	for len(x.running) > 0 || x.waiting > 0 {
		d := <-x.results
		if d.reflected != nil {
			x.waiting--
			continue
		}
		delete(x.running, d.step)
		if d.ended != nil {
			x.worst.add(d.ended)
			x.lock(func() { d.ended.record(x.plan.Step(d.step)) })
			_ = x.emit(context.Background(), d.ended.event(x.engine.prefix+d.step)) // the end is told all the same
		}
	}
}

// close writes how the plan stands at the end.
func (x *Execution) close(ctx context.Context, err error) error {
	close(x.over)
	x.lock(func() {
		x.requests = nil
		if x.plan.State == planner.PlanRunning {
			stopped := ctx.Err() != nil
			switch {
			case stopped: // it can be gone on with
				x.plan.Reason = "stopped"
			default:
				x.plan.State = planner.PlanFailed
				x.plan.Reason = fmt.Sprint(err)
			}
		}
		x.plan.EndedAt = x.engine.now()
	})
	if lost := x.emit(context.WithoutCancel(ctx), run.Planned{Step: x.engine.of(), Plan: x.Plan()}); lost != nil && !errors.Is(err, run.ErrJournal) {
		return errors.Join(err, lost)
	}
	return err
}
