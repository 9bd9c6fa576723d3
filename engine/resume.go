package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
)

// Resume goes on with a run whose program was ended, on a session that has taken up its
// journal (see [run.Session.Continue]). What was done stays, with its results. Steps that
// were being done are done again, by who is told what was done of them; but what was
// attempted and cannot be taken back is not repeated by itself: the user is asked. A run
// that has come to its end is an [ErrPlanAlreadyExecuted], and one whose plan is not in its
// journal an [ErrPlanNotInitialized].
func (e *Engine) Resume(ctx context.Context, b *run.Begun) (Result, error) {
	if err := cmp.Or(Resumable(b), e.usable()); err != nil {
		return Result{}, err
	}
	e.past = &past{Begun: b}
	task := b.Started.Task
	return e.run(ctx, task, nil, func(ctx context.Context) (*Execution, error) {
		if b.Plan == nil && !b.Undivided {
			return e.Plan(ctx, task)
		}
		x := &Execution{engine: e, plan: b.Plan.Clone(), clear: b.Clear}
		if b.Plan == nil {
			x.plan = &planner.Plan{Version: planner.Version, Mode: planner.Deliberate, Task: task}
		}
		switch p := x.plan; {
		case b.Rejected != "":
			return x, rejected(b.Rejected)
		case len(p.Steps) == 0:
			return x, nil
		case p.State == planner.PlanFailed: // that was written, and the end was not
			return x, &run.Stop{Outcome: run.OutcomeBlocked, Answer: p.Reason}
		case b.Approved || slices.ContainsFunc(p.Steps, func(s planner.Step) bool { return s.Attempts > 0 || s.Status.Final() }):
			p.State, p.Reason = planner.PlanRunning, ""
		}
		return x, x.approve(ctx)
	})
}

// Resumable returns why a run cannot be gone on with, whatever session there is.
func Resumable(b *run.Begun) error {
	switch {
	case b == nil || b.Started.Task == "":
		return fmt.Errorf("%w: there is nothing to go on with", ErrPlanNotInitialized)
	case b.Ended:
		return ErrPlanAlreadyExecuted
	case b.Plan == nil && b.Started.Given:
		return fmt.Errorf("%w: the program ended before it wrote the plan of the file down", ErrPlanNotInitialized)
	}
	return nil
}

// rejected ends a run whose plan nobody wants.
func rejected(reason string) *run.Stop {
	return &run.Stop{Outcome: run.OutcomeBlocked, Answer: "the plan was rejected: " + cmp.Or(reason, "no reason was given")}
}

// A past is what is left to be taken up of a run that was begun. Plans within the plan take
// up their own part of it. nil has nothing.
type past struct {
	mu sync.Mutex
	*run.Begun
	told bool
}

// open takes up a step that was begun and did not end; nil if it was not begun.
func (p *past) open(path string) *run.OpenStep {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.Open[path]
	delete(p.Open, path)
	return o
}

// news tells an actor once that the run was interrupted.
func (p *past) news() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told {
		return ""
	}
	p.told = true
	return p.News
}

// A share is what a plan takes up of a past.
type share struct {
	open    map[string]*run.OpenStep // by the IDs of its steps, as all below
	spent   []run.Spent
	failed  []string
	reflect []string
	heed    *run.Reflected
	exit    string
}

// share takes what belongs to a plan, but for the steps that are open: these are taken when
// they begin.
func (p *past) share(of string) (s share) {
	p.mu.Lock()
	defer p.mu.Unlock()
	mine := func(path string) bool { return path != "" && run.PlanOf(path) == of }
	id := func(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }
	take := func(list []string) (taken, left []string) {
		for _, path := range list {
			if mine(path) {
				taken = append(taken, id(path))
			} else {
				left = append(left, path)
			}
		}
		return taken, left
	}
	s.open = map[string]*run.OpenStep{}
	for path, o := range p.Open {
		if mine(path) {
			s.open[id(path)] = o
		}
	}
	for _, spent := range p.Spent {
		if mine(spent.Path) {
			s.spent = append(s.spent, spent)
		}
	}
	s.failed, p.Failed = take(p.Failed)
	s.reflect, p.Reflect = take(p.Reflect)
	if h, ok := p.Heed[of]; ok {
		s.heed = &h
		delete(p.Heed, of)
	}
	s.exit = p.Exit[of]
	delete(p.Exit, of)
	return s
}

// of is the step whose plans the engine executes; "" for those of the run.
func (e *Engine) of() string { return strings.TrimSuffix(e.prefix, ".") }

// takeUp puts into an execution what its journal tells of it, and does what was due when
// the program ended: it looks what came of calls, deals with failures, and reflects.
func (x *Execution) takeUp(ctx context.Context) error {
	e := x.engine
	if e.past == nil {
		return nil
	}
	s := e.past.share(e.of())
	for _, spent := range s.spent {
		x.lock(func() { x.spend(&spent.Step, spent.Effect) })
	}
	for _, id := range slices.Sorted(maps.Keys(s.open)) {
		how, err := x.takeUpStep(ctx, id, s.open[id])
		switch {
		case err != nil:
			return err
		case how == planner.Completed:
			s.reflect = append(s.reflect, id)
		case how == planner.Failed:
			s.failed = append(s.failed, id)
		}
	}
	switch {
	case s.exit != "":
		x.finishEarly(ctx, "a tool said that the task is done", s.exit)
	case s.heed != nil:
		answer := s.heed.Answer
		if err := x.heed(ctx, s.heed.Step, reflection{Verdict: s.heed.Verdict, Reason: s.heed.Reason, Guidance: &s.heed.Guidance, Answer: &answer}); err != nil {
			return err
		}
	}
	for _, id := range s.failed {
		if step := x.Plan().Step(id); step != nil && step.Status == planner.Failed {
			if err := x.failed(ctx, *step, &ended{final: x.isSpent(step)}); err != nil {
				return err
			}
		}
	}
	for _, id := range s.reflect {
		if step := x.Plan().Step(id); step != nil && step.Status == planner.Completed && x.open() {
			x.beginReflection(ctx, *step)
		}
	}
	return nil
}

func (x *Execution) isSpent(s *planner.Step) bool {
	again, _ := x.again(s)
	return again
}

// takeUpStep takes up a step that was being done. One whose call came to its end is over,
// and its new status returned; of one that waits again it is noted whether the user has to
// be asked before.
func (x *Execution) takeUpStep(ctx context.Context, id string, o *run.OpenStep) (planner.Status, error) {
	step := x.Plan().Step(id)
	if step == nil || step.Status.Final() {
		return "", nil
	}
	effect, final := o.Attempted()
	act := o.Newest()
	if step.Executor != planner.Tool || step.Sub != nil || len(o.Talk) > 0 || act == nil || act.Acted == nil {
		if x.engine.mustAsk(step, o) {
			x.Attempted(id, effect)
		}
		return "", nil
	}
	came := answered(act.Acted.Status, act.Acted.Detail, act.Acted.Output)
	if came.err != nil && !final { // this try came to nothing
		o.Tries++
		return "", nil
	}
	x.engine.past.open(x.engine.prefix + id)
	now := time.Now()
	d := (&ended{began: now, by: x.engine.Session.Scope.Where(), acted: true, effect: effect, final: final}).with(came.known(step))
	x.worst.add(d)
	x.lock(func() {
		s := x.plan.Step(id)
		d.record(s)
		if d.status == planner.Failed {
			x.spend(s, effect)
		}
		x.plan.Block()
	})
	return d.status, x.emit(ctx, d.event(x.engine.prefix+id))
}

// mustAsk reports whether a step that was being done may be begun again only if the user
// says so.
func (e *Engine) mustAsk(s *planner.Step, o *run.OpenStep) bool {
	_, final := o.Attempted()
	switch {
	case s.Sub != nil: // its own steps say
		return false
	case s.Executor == planner.Agent && s.Action == ProfileDesktop, e.depth > 0 && s.OnScreen():
		return final // its desktop is gone, so nobody can see what came of it
	case s.OnScreen() && e.inherits():
		return false // who looks at the screen sees what came of it, and the guard does not let the same be done
	}
	return o.Doubt
}

// inherits reports whether the guard knows of what was in doubt.
func (e *Engine) inherits() bool {
	_, ok := e.Session.Hand.Guard().(run.Heir)
	return ok
}

// first is the number of the try with which a step goes on.
func (a *attempt) first() int {
	switch b := a.before; {
	case b == nil:
		return 1
	case b.Fallback != "" && a.step.Fallback != "":
		return 1 << 30 // its tries are over: its fallback is next
	default:
		return 1 + b.Tries
	}
}

// deeds tells what was done of a step by a program that ended, a line for each; "" for
// nothing.
func deeds(o *run.OpenStep) string {
	if o == nil {
		return ""
	}
	var lines []string
	for _, a := range o.Acts {
		lines = append(lines, "- "+llm.Excerpt(a.Words(), 300))
	}
	if most := 40; len(lines) > most {
		lines = append([]string{fmt.Sprintf("- (%d before)", len(lines)-most)}, lines[len(lines)-most:]...)
	}
	for _, n := range o.Notes {
		lines = append(lines, "- noted: "+n)
	}
	return strings.Join(lines, "\n")
}

// begun tells with a task what was done of it.
func begun(task string, o *run.OpenStep) (string, error) {
	text, err := prompts.Render("begun", deeds(o))
	return task + text, err
}

// talkOf is the conversation so far of an agent that calls tools.
func talkOf(o *run.OpenStep) []run.Said {
	if o == nil {
		return nil
	}
	return o.Talk
}

// said returns what was said in a turn; of none that was not recorded.
func said(list []run.Said, turn int) run.Said {
	if turn < len(list) {
		return list[turn]
	}
	return run.Said{}
}

// errNotCalled is what came of a call that was not made, or that may be made again.
var errNotCalled = errors.New("the program that runs you ended before that was known: call it again if it is still needed")

// cameOf is what came of the call i of what was said before the program ended.
func cameOf(s run.Said, i int) outcome {
	if i >= len(s.Acts) || s.Acts[i].Acted == nil {
		return outcome{err: errNotCalled}
	}
	came := s.Acts[i].Acted
	if came.Status == actuator.Refused {
		return outcome{err: errors.New("refused: " + came.Detail)}
	}
	return answered(came.Status, came.Detail, came.Output)
}
