package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"desktop-agent/internal/confirm"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// An attempt is what a worker is given of a step: copies.
type attempt struct {
	step  planner.Step
	plan  *planner.Plan
	leave func()  // gives back its place among the steps that are done; nil before it has one
	path  string  // of the step, such as "s2" or "s2.s1"
	asked bool    // a step needs its result whose doer does not see the screen
	given []given // what the steps gave that it needs
	facts []string

	again  bool          // the same was attempted, and cannot be taken back
	effect string        // with that effect
	before *run.OpenStep // of a program that ended amid it; nil for none
}

// A given is the result of a step that another one needs.
type given struct{ Step, Goal, Output string }

// attempt is what is handed out of a step.
func (e *Engine) attempt(p *planner.Plan, s *planner.Step) *attempt {
	plan := p.Clone()
	a := &attempt{step: *plan.Step(s.ID), plan: plan, path: e.prefix + s.ID}
	a.before = e.past.open(a.path)
	if e.Facts != nil {
		a.facts = e.Facts()
	}
	a.asked = slices.ContainsFunc(plan.Steps, func(other planner.Step) bool { return slices.Contains(other.Needs, s.ID) && !other.OnScreen() })
	for _, id := range s.Needs {
		if need := plan.Step(id); need != nil && need.Result != nil {
			a.given = append(a.given, given{need.ID, need.Goal, need.Result.Output})
		}
	}
	return a
}

// ended is what came of a step, with all its attempts.
type ended struct {
	status   planner.Status
	output   string
	data     string // JSON; "" for none
	err      string
	evidence *planner.Evidence
	sub      *planner.Plan
	tries    int
	began    time.Time
	at       time.Time
	by       run.Where
	effect   worldmodel.Effect // the worst that was attempted
	final    bool              // and cannot be taken back
	acted    bool              // something was attempted
	exit     bool              // a tool says that the task is done
}

// record puts into the plan what came of a step.
func (d *ended) record(s *planner.Step) {
	if s == nil {
		return
	}
	s.Status, s.Error, s.Attempts = d.status, d.err, s.Attempts+d.tries
	if d.status == planner.Completed {
		s.Error = ""
	}
	if d.output != "" || d.data != "" {
		s.Result = &planner.Result{Output: d.output, Data: d.data, At: d.at}
	}
	if d.sub != nil {
		s.Sub = d.sub
	}
	s.Evidence = d.evidence
}

// attempted adds what a hand attempted.
func (d *ended) attempted(effect worldmodel.Effect, final, any bool) {
	if any {
		d.acted, d.effect, d.final = true, d.effect.Worse(effect), d.final || final
	}
}

// event tells the end of a step.
func (d *ended) event(path string) run.StepEnded {
	e := run.StepEnded{
		Step: path, Status: d.status, Error: d.err, Output: d.output, Data: d.data, Evidence: d.evidence, Attempts: d.tries, Effect: d.effect, Final: d.final,
		By: d.by.Agent, On: d.by.Display, Millis: d.at.Sub(d.began).Milliseconds(), Exit: d.exit,
	}
	return e
}

// Errors of a step.
var (
	errStepTime  = errors.New("the step took longer than it may")
	errTooDeep   = errors.New("agents start agents at most") // so and so deep
	errNotOffers = errors.New("there are no tools here")
)

// outcome is what one attempt gave.
type outcome struct {
	output   string
	data     string
	evidence *planner.Evidence
	sub      *planner.Plan
	err      error // why it failed; nil if it did not
	exit     bool
}

// known says how well it is known that a step is done, where nothing else does.
func (o outcome) known(s *planner.Step) outcome {
	if o.err == nil && o.evidence == nil {
		o.evidence = Known(s, o.output, time.Now())
	}
	return o
}

// perform does a step: its attempts, and its fallback. The error ends the run; that the
// step failed is no such error.
func (x *Execution) perform(ctx context.Context, a *attempt) (*ended, error) {
	e := x.engine
	d := &ended{began: time.Now(), by: run.Where{Agent: x.engine.name()}}
	if a.again {
		done, why := e.mayRepeat(ctx, a.step.Goal, a.effect)
		if done || why != nil {
			d.attempted(worldmodel.Effect(a.effect), true, true) // nor does a step try it again whose plan this is in
			return d.with(outcome{err: why, output: seenDone(done)}.known(&planner.Step{})), nil
		}
	}
	o := outcome{err: errTriesUsed}
	for try := a.first(); try <= e.Settings.Retries+1; try++ {
		var err error
		o, err = x.try(ctx, a, d, "")
		if err != nil || o.err == nil || ctx.Err() != nil { // once the run is over, nothing is tried again
			return d.with(o), err
		}
		if d.final || errors.Is(o.err, errTooDeep) || errors.Is(o.err, errSubFailed) {
			break
		}
	}
	if d.final || a.step.Fallback == "" {
		return d.with(o), nil
	}
	back, err := x.try(ctx, a, d, a.step.Fallback)
	if err == nil && back.err != nil {
		back.err = fmt.Errorf("%w; and the fallback: %w", o.err, back.err)
	}
	return d.with(back), err
}

// errTriesUsed is why a step is not tried again that was being done when the program ended.
var errTriesUsed = errors.New("all its tries came to nothing")

// seenDone is what a step gave of which the user says that it is done.
func seenDone(done bool) string {
	if done {
		return "the user says that it is done"
	}
	return ""
}

// errNotAgain is why a step is not done: what it does may have been done.
var errNotAgain = errors.New("it was attempted before and cannot be taken back, so it is not done again")

// again reports whether what a step does was attempted before and cannot be taken back.
func (x *Execution) again(s *planner.Step) (bool, string) {
	effect, again := x.spent[spentKey(s)]
	return again, effect
}

// mayRepeat asks the user whether something may be done a second time, for which err is nil.
// done says that it need not: the user has seen that it worked.
func (e *Engine) mayRepeat(ctx context.Context, goal, effect string) (done bool, err error) {
	if e.Ask == nil {
		return false, errNotAgain
	}
	answer, err := e.noted(ctx, fmt.Sprintf("The step “%s” was attempted before, and it is not known whether it worked (effect: %s). Do it again? "+
		"Answer yes to have it done again, done if you see that it worked, or no", goal, cmp.Or(effect, "not known")))
	switch {
	case errors.Is(err, planner.ErrNobody):
		return false, errNotAgain
	case err != nil:
		return false, fmt.Errorf("%w: %w", errNotAgain, err)
	}
	switch word, rest := confirm.Read(answer); {
	case word == confirm.Yes && rest == "":
		return false, nil
	case word == "done" && rest == "":
		return true, nil
	case word == confirm.No:
		return false, fmt.Errorf("%w: the user says no", errNotAgain)
	}
	return false, fmt.Errorf("%w: the user does not say yes, but “%s”", errNotAgain, llm.Excerpt(llm.OneLine(answer), 300))
}

// with closes what became of a step by its last attempt.
func (d *ended) with(o outcome) *ended {
	d.at = time.Now()
	d.output, d.data, d.evidence, d.exit = o.output, o.data, o.evidence, o.exit
	d.sub = o.sub
	switch {
	case o.err == nil:
		d.status = planner.Completed
	case errors.Is(o.err, errOver):
		d.status, d.err = planner.Pending, o.err.Error()
	default:
		d.status, d.err = planner.Failed, o.err.Error()
	}
	return d
}

// try makes one attempt, within its time, which does not run while a person is asked.
func (x *Execution) try(ctx context.Context, a *attempt, d *ended, fallback string) (outcome, error) {
	e := x.engine
	leave, err := e.places.take(ctx) // its time begins once it has one
	if err != nil {
		return outcome{err: fmt.Errorf("%w: %w", errOver, err)}, nil
	}
	defer leave()
	a.leave = leave
	d.tries++
	part := e.Session.Part(run.Where{Agent: e.name(), Display: e.displayOf(&a.step), PlanStep: number(a.path)})
	if !a.step.OnScreen() {
		part = e.Session.Deskless(part.Scope.Where())
	}
	d.by = part.Scope.Where()
	begun := run.StepStarted{Step: a.path, Goal: a.step.Goal, Executor: a.step.Executor, Action: a.step.Action, Attempt: a.step.Attempts + d.tries, Fallback: fallback}
	if begun.Executor == "" {
		begun.Executor = planner.GUI
	}
	if err := e.emitFor(ctx, part.Scope, begun); err != nil {
		return outcome{err: err}, err
	}
	limit := cmp.Or(e.Settings.StepTimeout, run.DefaultStepTimeout)
	if a.step.Executor == planner.Agent || a.step.Sub != nil {
		limit = cmp.Or(e.Settings.AgentTimeout, run.DefaultAgentTimeout)
	}
	limited, cancel := run.Within(ctx, limit, fmt.Errorf("%w (%v)", errStepTime, limit))
	defer cancel()
	o := x.execute(limited, part, a, d, fallback).known(&a.step)
	effect, final, any := part.Hand.Attempted()
	d.attempted(effect, final, any)
	switch {
	case errors.Is(o.err, run.ErrJournal):
		return o, o.err
	case ctx.Err() != nil && o.err != nil:
		o.err = fmt.Errorf("%w: %w", errOver, context.Cause(ctx))
		return o, nil // who ended the context knows why
	case limited.Err() != nil && o.err != nil:
		o.err = context.Cause(limited)
	}
	if o.err != nil && fatal(ctx, o.err) {
		return o, o.err
	}
	return o, nil
}

// execute does a step by who it names.
func (x *Execution) execute(ctx context.Context, part *run.Session, a *attempt, d *ended, fallback string) outcome {
	e := x.engine
	if a.step.Sub != nil && a.step.Executor != planner.Agent {
		inner := *e
		inner.Session, inner.prefix = part, a.path+"." // which has no display unless the step has it for itself
		inner.Hooks.Approve, inner.Hooks.PlanGenerated = nil, nil
		a.leave()
		return inner.within(ctx, d, a.step.Sub.Clone())
	}
	switch a.step.Executor {
	case planner.Tool:
		return e.doTool(ctx, part, a, fallback)
	case planner.Self:
		return e.doSelf(ctx, part, a, fallback)
	case planner.Agent:
		return x.doAgent(ctx, a, d, fallback)
	case planner.GUI, "":
		return e.doGUI(ctx, part, a, fallback)
	}
	return outcome{err: fmt.Errorf("nobody does steps of %q", a.step.Executor)}
}

// name is who acts.
func (e *Engine) name() string { return cmp.Or(e.who, e.Session.Scope.Where().Agent) }

// displayOf is the display on which a step is done; "" for none.
func (e *Engine) displayOf(s *planner.Step) string {
	if s.OnScreen() {
		return e.Session.Display
	}
	return ""
}
