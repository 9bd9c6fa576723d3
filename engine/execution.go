package engine

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"desktop-agent/internal/canon"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// An Execution is one plan that is executed, once. Its methods may be called from several
// goroutines; only Execute changes the plan.
type Execution struct {
	engine *Engine

	mu       sync.RWMutex // guards the plan
	plan     *planner.Plan
	initial  *planner.Plan
	begun    bool
	requests chan request  // of those outside who want a revision; nil before Execute
	over     chan struct{} // closed when Execute returns

	running map[string]*attempt
	results chan done
	waiting int    // reflections that are not over
	exit    string // why the plan is over before its last step; "" if it is not
	answer  string // with that
	clear   bool   // the analysis says that there is nothing to reflect on
	thrifty bool   // a rest of the plan that costs less was asked for
	worst   worst
	spent   map[string]string // what was attempted, cannot be taken back and failed: the effect, by [spentKey]
}

// Attempted notes that a step was attempted before, by somebody who did not live to tell
// what came of it, and cannot be taken back: it is not done again unless the user says so.
// It is for a plan that is gone on with, before Execute.
func (x *Execution) Attempted(id string, effect worldmodel.Effect) {
	x.lock(func() {
		if s := x.plan.Step(id); s != nil {
			x.spend(s, effect)
		}
	})
}

func (x *Execution) spend(s *planner.Step, effect worldmodel.Effect) {
	if x.spent == nil {
		x.spent = map[string]string{}
	}
	x.spent[spentKey(s)] = string(effect)
	if s.Executor == planner.Tool && s.Fallback != "" { // what was attempted may have been this
		other := *s
		other.Action = s.Fallback
		x.spent[spentKey(&other)] = string(effect)
	}
}

// spentKey names what is the same deed: the same call of the same tool, whatever the step
// is called now; else the step.
func spentKey(s *planner.Step) string {
	if s.Executor == planner.Tool {
		return "tool\n" + s.Action + "\n" + canon.JSON(s.Parameters)
	}
	return "step\n" + s.ID
}

// worst is the worst that was attempted in all steps.
type worst struct {
	effect     worldmodel.Effect
	final, any bool
}

// request is a revision that somebody outside wants.
type request struct {
	planner.RevisionRequest
	done chan error
}

// lock changes the plan.
func (x *Execution) lock(change func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	change()
}

// emit writes an event of the engine, and tells the hook.
func (x *Execution) emit(ctx context.Context, data run.EventData) error {
	return x.engine.emitFor(ctx, x.engine.Session.Scope, data)
}

func (e *Engine) emitFor(ctx context.Context, scope *run.Scope, data run.EventData) error {
	if err := scope.Emit(ctx, data); err != nil || e.Hooks.Event == nil {
		return err
	}
	e.events.Lock()
	defer e.events.Unlock()
	if err := e.Hooks.Event(ctx, data); err != nil {
		return fmt.Errorf("the hook of events, at %s: %w", run.Kind(data), err)
	}
	return nil
}

// Plan returns a copy of the plan as it stands.
func (x *Execution) Plan() *planner.Plan {
	if x == nil {
		return nil
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.plan.Clone()
}

// A State is where an execution stands.
type State struct {
	Plan        *planner.Plan
	Statuses    map[string]planner.Status // by the ID of the step
	Results     map[string]planner.Result // of the steps that have one
	Current     []string                  // the steps that are being done
	Revisions   []planner.Revision
	StartedAt   time.Time // zero before
	CompletedAt time.Time // zero before
}

// State returns where it stands, in copies.
func (x *Execution) State() State {
	p := x.Plan()
	s := State{Plan: p, Statuses: map[string]planner.Status{}, Results: results(p)}
	if p == nil {
		return s
	}
	s.Revisions, s.StartedAt, s.CompletedAt = p.Revisions, p.StartedAt, p.EndedAt
	for _, step := range p.Steps {
		s.Statuses[step.ID] = step.Status
		if step.Status == planner.Running {
			s.Current = append(s.Current, step.ID)
		}
	}
	return s
}

func results(p *planner.Plan) map[string]planner.Result {
	list := map[string]planner.Result{}
	if p != nil {
		for _, s := range p.Steps {
			if s.Result != nil {
				list[s.ID] = *s.Result
			}
		}
	}
	return list
}

// errNotRunning is the error of a revision of what is not being executed.
var errNotRunning = errors.New("the plan is not being executed")

// Revise asks for a change of the plan on the user's behalf, while it is being executed,
// and waits for it: [planner.ErrUnchanged] and [planner.ErrRevisionsUsed] say that nothing
// came of it.
func (x *Execution) Revise(ctx context.Context, reason string) error {
	x.mu.RLock()
	requests, over := x.requests, x.over
	x.mu.RUnlock()
	if requests == nil {
		return errNotRunning
	}
	r := request{planner.RevisionRequest{Source: "user", Trigger: planner.UserRequest, Guidance: reason}, make(chan error, 1)}
	select {
	case requests <- r:
	case <-over:
		return errNotRunning
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// outline is the result as the plan stands.
func (x *Execution) outline() Result {
	p := x.Plan()
	r := Result{Initial: x.initial.Clone(), Final: p, Steps: results(p)}
	if p != nil {
		r.Revisions, r.State = len(p.Revisions), p.State
	}
	return r
}

// begin has the plan be executed, which is done once.
func (x *Execution) begin() error {
	if x == nil || x.engine == nil || x.plan == nil {
		return fmt.Errorf("%w: it comes from Engine.Plan or Engine.Begin", ErrPlanNotInitialized)
	}
	if err := x.engine.usable(); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.begun, x.plan.State == planner.PlanCompleted, x.plan.State == planner.PlanFailed:
		return ErrPlanAlreadyExecuted
	case len(x.plan.Steps) == 0:
		return fmt.Errorf("%w: it has no steps", ErrPlanNotInitialized)
	}
	if err := x.engine.lacks(x.plan); err != nil {
		return err
	}
	x.over = make(chan struct{})
	x.begun, x.requests, x.results, x.running = true, make(chan request), make(chan done), map[string]*attempt{}
	x.initial = x.plan.Clone()
	x.plan.State, x.plan.Reason = planner.PlanRunning, ""
	if x.plan.StartedAt.IsZero() {
		x.plan.StartedAt = x.engine.now()
	}
	x.plan.Block()
	return nil
}

// lacks returns what open steps of a plan need and the session does not have.
func (e *Engine) lacks(p *planner.Plan) error {
	s := e.Session
	for _, step := range p.Steps {
		if step.Status.Final() {
			continue
		}
		what := ""
		switch step.Executor {
		case planner.GUI, "":
			if s.Desktop == nil {
				what = "a display; name one, or take a private desktop"
			}
		case planner.Tool:
			if len(s.Hand.Offer()) == 0 {
				what = "tools; name a file of servers or a folder"
			}
		case planner.Self, planner.Agent:
			if s.Client == nil && step.Sub == nil {
				what = "a model"
			}
		}
		if what != "" {
			return fmt.Errorf("%w: step %s (%s) needs %s", ErrPlanNotInitialized, step.ID, step.Executor, what)
		}
	}
	return nil
}

// samePlan reports whether two plans say the same.
func samePlan(a, b *planner.Plan) bool { return reflect.DeepEqual(a.Clone(), b.Clone()) }

// number is the number in the ID of the step at the top, for what has one for each.
func number(path string) (n int) {
	top, _, _ := strings.Cut(path, ".")
	for _, d := range strings.TrimPrefix(top, "s") {
		if d < '0' || d > '9' {
			return 0
		}
		n = 10*n + int(d-'0')
	}
	return n
}
