package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/monitor"
	"desktop-agent/run"
)

// review gives the verdict on a proposal. Detectors always run; the monitor is asked
// when one fires and every few steps. What it objects to is proposed again, once, and
// the plan is changed only if it says that the plan is wrong. What the actor proposes
// then is done: it is advice, and fails open. That it overrides the objection is kept.
//
// Whether an action may be done at all is not decided here, but by the guard of the
// hand, which fails closed.
func (r *episode) review(ctx context.Context, t turn) (turn, error) {
	if err := r.checkExhausted(ctx, t); err != nil {
		return t, err
	}
	signals := r.signals(t)
	o, err := r.objection(ctx, t, signals)
	if err != nil {
		return t, err
	}
	if o.guidance == nil {
		return t, r.emit(ctx, run.Reviewed{Verdict: run.Go, Signals: signals, Error: o.failed})
	}
	replan := o.guidance.Fundamental && r.plan != nil
	verdict := run.Regenerate
	if replan {
		verdict = run.Replan
	}
	e := run.Reviewed{Verdict: verdict, Signals: signals, Guidance: o.guidance.Text, Reason: o.guidance.Source, Error: o.failed}
	if err := r.emit(ctx, e); err != nil {
		return t, err
	}
	made := r.withhold(t, o)
	if replan {
		if err := r.revise(ctx, o.guidance.Source, o.guidance.Text); err != nil {
			return t, err
		}
	}
	again, err := r.regenerate(ctx, t, o, signals)
	if err != nil || again.bad != nil {
		return again, err
	}
	e = run.Reviewed{Verdict: run.Go, Signals: r.signals(again), Reason: "proposed again"}
	if monitor.Same(t.Actions, again.Actions, r.reach()) {
		e.Overridden, e.Guidance, made.overridden = true, o.guidance.Text, true
	}
	return again, r.emit(ctx, e)
}

// withhold keeps in mind that a proposal was objected to.
func (r *episode) withhold(t turn, o objection) *objected {
	m := r.monitorTurn(t)
	m.Withheld = true
	r.turns = append(r.turns, m)
	made := &objected{step: r.Scope.Step(), proposal: describeAll(t.Actions), text: o.guidance.Text}
	if o.byMonitor {
		r.trouble.objections = append(r.trouble.objections, made)
	}
	return made
}

// An objection is what was said against a proposal.
type objection struct {
	guidance  *monitor.Guidance // nil if nothing was
	byMonitor bool
	failed    string // why the monitor could not be asked; "" if it was, or needed not
}

// objection returns what the monitor has to say against a proposal, or else the world
// model, if what came of the last actions makes it say stop. A proposal that ends with
// the claim to be done is looked at by the check of the goal.
func (r *episode) objection(ctx context.Context, t turn, signals []monitor.Signal) (o objection, err error) {
	step := r.Scope.Step()
	fresh := r.trouble.watch.Fresh(step, signals, r.Detectors)
	if r.Monitor != nil && !endsWithDone(t.Actions) && r.Monitor.Due(r.turn, fresh) {
		if len(fresh) > 0 {
			if err := r.unheard(); err != nil {
				return o, err
			}
		}
		g, err := r.Monitor.Review(ctx, monitor.ReviewRequest{
			Task: r.task, Plan: r.plan.Clone(), Now: r.now, Proposal: t.Proposal, Signals: signals, History: r.history.words(10),
			Objections: r.trouble.words(),
		})
		switch {
		case fatal(ctx, err):
			return o, err
		case err != nil:
			r.log().WarnContext(ctx, "no review", "err", err)
			o.failed = err.Error()
		default:
			r.trouble.watch.Asked(step, signals, g != nil)
		}
		if err == nil && g != nil {
			o.guidance, o.byMonitor = g, true
			return o, nil
		}
	}
	if t.stop != "" {
		o.guidance = &monitor.Guidance{Text: t.stop, Source: "worldmodel"}
	}
	return o, nil
}

// regenerate asks the actor again, with what was said against its proposal and what code
// has noticed.
func (r *episode) regenerate(ctx context.Context, t turn, o objection, signals []monitor.Signal) (turn, error) {
	told := slices.DeleteFunc(noticed(signals), func(s string) bool { return strings.Contains(t.report, s) })
	advice, err := prompts.Render("propose.advice", advicePrompt{
		Text: o.guidance.Text, LastActions: !o.byMonitor, Noticed: told, Proposal: describeAll(t.Actions),
	})
	if err != nil {
		return t, err
	}
	again := turn{question: t.question}
	again.advice, again.plan = advice, r.suggested()
	if again.proposal, err = r.propose(ctx, ctx, again.question); err != nil {
		return again, err
	}
	return again, r.tellProposed(ctx, again)
}

// noticed is what the detectors say, but for budgets, which are told apart.
func noticed(signals []monitor.Signal) (list []string) {
	for _, s := range signals {
		if s.Kind != monitor.LowBudget {
			list = append(list, s.Detail)
		}
	}
	return list
}

// checkExhausted looks at the goal when it is known that all steps of the plan are
// done and the actor goes on: if the goal is not reached, the plan is extended by
// what is missing. If it is, the actor hears of it in its next turn. What it has
// proposed is done in any case: a check that is wrong must not hold back the action
// that was missing.
func (r *episode) checkExhausted(ctx context.Context, t turn) error {
	if r.plan == nil || !r.plan.Finished() || r.extended || endsWithDone(t.Actions) {
		return nil
	}
	check, known, err := r.checkGoal(ctx, "")
	if err != nil || !known {
		return err // not known: asked again in the next step
	}
	r.extended, r.reached = true, check.Accepted
	if check.Accepted {
		return nil
	}
	return r.revise(ctx, "goal_check", check.Missing)
}

// signals is what the detectors notice in a proposal.
func (r *episode) signals(t turn) []monitor.Signal {
	return monitor.Detect(append(slices.Clone(r.turns), r.monitorTurn(t)), r.left(), r.Detectors)
}

// monitorTurn is what the detectors know of a turn whose actions were chosen on
// the newest observation. The statuses of a proposal are not known yet.
func (r *episode) monitorTurn(t turn) monitor.Turn {
	m := monitor.Turn{Step: r.Scope.Step(), Actions: t.Actions, Screen: r.screen, Missed: r.seen.missed}
	if r.plan != nil {
		m.ProgressStep = r.plan.ProgressStep()
	}
	return m
}

// left is what remains of the budgets.
func (r *episode) left() monitor.BudgetLeft {
	steps := cmp.Or(r.MaxSteps, run.DefaultMaxSteps)
	left := monitor.BudgetLeft{"steps": float64(steps-r.turn) / float64(steps)}
	if r.Budget != nil {
		b := r.Budget.Remaining()
		left["tokens"], left["dollars"], left["time"] = b.Tokens, b.Dollars, b.Time
	}
	return left
}

func endsWithDone(list []actuator.Action) bool {
	if len(list) == 0 {
		return false
	}
	_, done := list[len(list)-1].(actuator.Done)
	return done
}

func describeAll(list []actuator.Action) string {
	words := make([]string, len(list))
	for i, a := range list {
		words[i] = actuator.DescribeFull(a)
	}
	return fmt.Sprintf("[%s]", strings.Join(words, "; "))
}
