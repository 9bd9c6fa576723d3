package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"desktop-agent/agent"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// The two errors of a plan that cannot be executed.
var (
	ErrPlanAlreadyExecuted = errors.New("the plan has been executed: make a new one")
	ErrPlanNotInitialized  = errors.New("the plan lacks what it needs to be executed")
)

// ErrExitConversation, from a tool, ends the plan as one that has reached its goal; what
// the plan says success is decides whether it has.
var ErrExitConversation = errors.New("the tool says that the task is done")

// A Planner makes and revises deliberate plans; see [planner.Planner].
type Planner interface {
	// Deliberate makes a plan. It is nil, or has no steps, where none is needed or none came
	// of it, and the record says which.
	Deliberate(context.Context, planner.Request) (*planner.Plan, *planner.Record, error)
	Revise(context.Context, *planner.Plan, planner.RevisionRequest) (*planner.Plan, error)
}

// An Engine executes plans on the session of a run. The fields up to Session must be set;
// [New] sets them all as the settings of the session say.
type Engine struct {
	Session *run.Session

	Planner  Planner                                    // nil: plans come from elsewhere, and are not revised
	Validate func(*planner.Plan, planner.Catalog) error // of a plan before it is executed, with what its steps may use; nil: it is taken as it is
	// Ask asks the user; nil: nobody can be asked. Steps side by side may ask at once.
	Ask   func(ctx context.Context, question string) (answer string, err error)
	Facts func() []string // that were remembered in the run, for who does a step; nil: none
	Hooks Hooks
	Log   *slog.Logger // nil: silent

	// Agent changes who does an episode on the screen, such as what it reads by; nil: it is
	// as the settings say.
	Agent func(*agent.Agent)
	// Now is the clock of the plan; nil for time.Now. What is seen before a step began does
	// not complete it.
	Now func() time.Time

	// Branch opens the session of an agent with a desktop of its own; nil for
	// [run.Session.Branch].
	Branch func(ctx context.Context, agent string) (*run.Session, error)

	// Earlier is what was said before the task, the oldest first, for who makes the plan.
	Earlier []string

	Settings run.ExecutionSettings // but for MaxParallel, which holds as it was when [New] was called
	Config   planner.Config        // when and how plans are revised, and how deep they are in each other

	events *sync.Mutex  // held while Hooks.Event is called; shared by plans within plans
	places places       // of the steps that are done at the same time; shared by plans within plans
	depth  int          // of the agents: 0 for that of the run
	prefix string       // of the steps of a plan within a plan, such as "s2."
	who    string       // the agent whose plans they are; "" for that of the run
	past   *past        // of a run that is gone on with; nil of others
	deeds  *screenDeeds // on the screen of the session; shared by plans within plans
}

// Hooks decide at three places, and hear of everything else. nil is the default of each.
type Hooks struct {
	// PlanGenerated may change a plan, or return an error to end the run.
	PlanGenerated func(context.Context, *planner.Plan) (*planner.Plan, error)
	// Approve says whether a plan is executed, as it is or edited. The clock of the run
	// stands still meanwhile. An error ends the run.
	Approve func(context.Context, *planner.Plan) (planner.Decision, error)
	// RevisionNeeded says what a revision is to do; "" for what the request says.
	RevisionNeeded func(context.Context, *planner.Plan, planner.RevisionRequest) planner.Strategy
	// Event hears of what the engine does, once it is in the journal: [run.Planning],
	// [run.PlanMade], [run.Planned], [run.PlanApproved], [run.StepStarted], [run.StepEnded],
	// [run.Reflected]. It is called from one goroutine at a time. An error ends the run; at
	// [run.Planning], which only tells, it is logged.
	Event func(context.Context, run.EventData) error
	// Message hears what is said in the run, one at a time and in order; nobody waits for
	// it. An error is logged, and ends nothing.
	Message func(Message) error
}

// agentDepth is how deep agents may be in each other: one deeper is refused.
func (e *Engine) agentDepth() int { return cmp.Or(e.Settings.AgentDepth, run.DefaultAgentDepth) }

// New puts an engine together that works by the session, as its settings say.
func New(s *run.Session) (*Engine, error) {
	set := s.Settings.Agent.Execution
	switch set.Mode {
	case "", Sequential, Parallel, Adaptive:
	default:
		return nil, fmt.Errorf("execution %q: use sequential, parallel or adaptive", set.Mode)
	}
	if set.MaxParallel < 0 || set.Retries < 0 || set.StepActions < 0 {
		return nil, errors.New("execution: a limit is negative; 0 is its default")
	}
	e := &Engine{events: &sync.Mutex{}, deeds: &screenDeeds{}, places: newPlaces(set.MaxParallel), Session: s, Settings: set, Log: s.Log, Config: s.Settings.Plan.WithDefaults()}
	catalog := CatalogOf(s)
	e.Validate = func(p *planner.Plan, c planner.Catalog) error { return p.ValidateFor(c, e.Config) }
	if r := s.Scope.Recorder(); r != nil {
		r.Watch(e.hear)
	}
	if s.Client == nil {
		return e, nil
	}
	maker := &planner.Planner{
		Model: s.Client, MaxRevisions: s.Settings.Agent.MaxRevisions, ScreenTokens: s.Settings.Agent.ScreenTokens, Log: s.Log, Config: e.Config, Catalog: catalog,
		Ask: func(ctx context.Context, question string) (string, error) {
			if e.Ask == nil {
				return "", planner.ErrNobody
			}
			return e.noted(ctx, question)
		},
	}
	maker.Notify = notice
	if s.Home != nil {
		maker.Home = &run.NotedHome{Home: s.Home, Scope: s.Scope}
	}
	e.Planner = maker
	return e, nil
}

// CatalogOf is what the steps of a plan may use in a session.
func CatalogOf(s *run.Session) planner.Catalog {
	c := planner.Catalog{Agents: Profiles(), Screen: s.Desktop != nil}
	for _, t := range s.Hand.Offer() {
		c.Tools = append(c.Tools, t.Tool)
	}
	return c
}

// The modes of execution.
const (
	Sequential = "sequential" // one step at a time
	Parallel   = "parallel"   // each step as soon as what it needs is there, and nobody else is at its display
	Adaptive   = "adaptive"   // one step at a time, until two or more are ready that are not in each other's way
)

// Result is what became of a task.
type Result struct {
	run.Result
	Success   bool
	Initial   *planner.Plan // as it was approved; nil if there was none
	Final     *planner.Plan // as it stands at the end
	Steps     map[string]planner.Result
	Output    string
	Revisions int
	State     planner.PlanState
}

// Run makes a plan for a task, has it approved and executes it, and writes the first and
// the last event. A task that fails is a result; an error means that the run itself broke.
func (e *Engine) Run(ctx context.Context, task string) (Result, error) {
	return e.run(ctx, task, e.head(task, false), func(ctx context.Context) (*Execution, error) { return e.Plan(ctx, task) })
}

// RunPlan is Run with a plan that there is already.
func (e *Engine) RunPlan(ctx context.Context, plan *planner.Plan) (Result, error) {
	if plan == nil {
		return Result{}, fmt.Errorf("%w: there is no plan", ErrPlanNotInitialized)
	}
	return e.run(ctx, plan.Task, e.head(plan.Task, true), func(ctx context.Context) (*Execution, error) {
		x, err := e.Begin(plan)
		if err == nil {
			err = x.emit(ctx, run.Planned{Step: x.engine.of(), Plan: x.Plan()})
		}
		if err != nil {
			return nil, err
		}
		return x, x.approve(ctx)
	})
}

// run does a task by the execution that make returns. first is the first event; nil if the
// run has one.
func (e *Engine) run(ctx context.Context, task string, first run.EventData, make func(context.Context) (*Execution, error)) (Result, error) {
	start := time.Now()
	var result Result
	err := e.usable()
	if err != nil {
		return result, err
	}
	e.Session.Scope.Follow()
	if first != nil {
		if err = e.Session.Scope.Emit(ctx, first); err == nil {
			e.Session.Hand.Begin(ctx, task)
		}
	}
	if err == nil {
		var x *Execution
		if x, err = make(ctx); err == nil {
			e.tellRestricted(ctx, e.name())
		}
		switch {
		case err != nil:
		case x.plan.Direct != "" && len(x.plan.Steps) == 0:
			result, err = x.outline(), &run.Stop{Outcome: run.OutcomeDone, Answer: x.plan.Direct, Grade: planner.Claimed}
		case len(x.plan.Steps) == 0:
			result, err = x.outline(), e.undivided(ctx, task)
		default:
			if result, err = x.Execute(ctx); err == nil {
				err = result.stop()
			}
		}
	}
	var ended run.Result
	ended, err = e.Session.Hand.End(ctx, err, time.Since(start))
	result.Result, result.Output = ended, cmp.Or(result.Output, ended.Answer)
	result.Success = ended.Outcome == run.OutcomeDone
	return result, err
}

// stop is the end of a run that a result is.
func (r Result) stop() error {
	return &run.Stop{Outcome: r.Outcome, Answer: cmp.Or(r.Answer, r.Output), Grade: r.Grade}
}

// head is the first event; nil where nothing can be executed. given says that the plan is
// there already.
func (e *Engine) head(task string, given bool) run.EventData {
	if e.usable() != nil {
		return nil
	}
	s := e.Session
	return run.RunStarted{
		Schema: run.Schema, Task: task, Planning: Deliberate, Guard: s.Hand.GuardName(), Parser: s.Settings.Agent.Format,
		Models: s.Settings.Models.Models(), Settings: s.Settings, Given: given,
	}
}

// Deliberate is the name of the planning that an engine does, in the settings and in the
// first event.
const Deliberate = "deliberate"

// usable returns why nothing can be executed.
func (e *Engine) usable() error {
	if e == nil || e.Session == nil || e.Session.Hand == nil || e.events == nil {
		return fmt.Errorf("%w: it has no session; engine.New puts an engine together", ErrPlanNotInitialized)
	}
	return nil
}

// Plan makes a plan for a task, and has it approved. Where no plan could be made, or none
// is needed, the one of the execution has no steps.
func (e *Engine) Plan(ctx context.Context, task string) (*Execution, error) {
	if err := e.usable(); err != nil {
		return nil, err
	}
	if e.Planner == nil {
		return nil, fmt.Errorf("%w: there is no planner, and no plan", ErrPlanNotInitialized)
	}
	var now *screen.Observation
	if e.Session.Desktop != nil {
		var err error
		if now, err = e.Session.Desktop.Observe(ctx); err != nil {
			return nil, err
		}
		if err := e.Session.Scope.Observe(ctx, now, e.Session.Desktop.ScreenName(now)); err != nil {
			return nil, err
		}
	}
	plan, record, err := e.deliberate(ctx, planner.Request{Task: task, Earlier: e.Earlier, Now: now})
	if lost := e.made(ctx, record); lost != nil {
		return nil, lost
	}
	switch {
	case fatal(ctx, err):
		return nil, err
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	x := &Execution{engine: e, plan: plan, clear: record != nil && planner.Clear(record.Phases)}
	if plan == nil { // advice fails open: the task is done without a plan
		why := "none is needed"
		if record != nil && record.Result != planner.MadeDirect {
			why = string(record.Result)
		}
		x.plan = &planner.Plan{Version: planner.Version, Mode: planner.Deliberate, Task: task}
		if err != nil {
			why += ": " + err.Error()
		}
		e.log().WarnContext(ctx, "no plan", "why", why)
		return x, x.emit(ctx, run.Planned{Step: x.engine.of(), Error: "no plan: " + why})
	}
	if hook := e.Hooks.PlanGenerated; hook != nil {
		if x.plan, err = hook(ctx, plan.Clone()); err != nil {
			return nil, fmt.Errorf("the hook of a generated plan: %w", err)
		}
		if x.plan == nil {
			return nil, fmt.Errorf("%w: the hook of a generated plan returned none; return the plan as it is to leave it so", ErrPlanNotInitialized)
		}
		if err := e.valid(x.plan); err != nil {
			return nil, err
		}
	}
	if err := x.emit(ctx, run.Planned{Step: x.engine.of(), Plan: x.plan.Clone()}); err != nil || len(x.plan.Steps) == 0 {
		return x, err
	}
	return x, x.approve(ctx)
}

// Begin returns the execution of a plan: one from a file, or one that was begun and is to
// be gone on with. Steps that were running are done again.
func (e *Engine) Begin(plan *planner.Plan) (*Execution, error) {
	if err := e.usable(); err != nil {
		return nil, err
	}
	if plan == nil || len(plan.Steps) == 0 {
		return nil, fmt.Errorf("%w: there is no plan, or it has no steps", ErrPlanNotInitialized)
	}
	if err := e.valid(plan); err != nil {
		return nil, err
	}
	x := &Execution{engine: e, plan: plan.Clone()}
	for i := range x.plan.Steps {
		if s := &x.plan.Steps[i]; s.Status == planner.Running {
			s.Status = planner.Pending
		}
	}
	return x, nil
}

func (e *Engine) valid(plan *planner.Plan) error {
	if e.Validate == nil || plan == nil {
		return nil
	}
	return e.Validate(plan, e.catalog())
}

// catalog is what the steps of a plan may use that this engine makes or executes: its
// agent may have another display than that of the run, or none, and may be as deep as
// agents are.
func (e *Engine) catalog() planner.Catalog {
	c := CatalogOf(e.Session)
	if e.depth >= e.agentDepth() {
		c.Agents = nil
	}
	return c
}

// approve has a plan approved, if somebody is to be asked.
func (x *Execution) approve(ctx context.Context) error {
	hook := x.engine.Hooks.Approve
	if hook == nil || x.plan.State == planner.PlanRunning {
		return nil
	}
	resume := x.engine.pause()
	d, err := hook(ctx, x.plan.Clone())
	resume()
	if err != nil {
		return fmt.Errorf("approval of the plan: %w", err)
	}
	e := run.PlanApproved{Approved: d.Plan != nil, Reason: d.Reason, By: d.By}
	if d.Plan == nil {
		x.lock(func() { x.plan.State, x.plan.Reason = planner.PlanFailed, "rejected: "+d.Reason })
		if err := x.emit(ctx, e); err != nil {
			return err
		}
		return rejected(d.Reason)
	}
	if err := x.engine.valid(d.Plan); err != nil {
		return fmt.Errorf("the approved plan: %w", err)
	}
	e.Edited = !samePlan(x.plan, d.Plan)
	x.lock(func() { x.plan = d.Plan.Clone() })
	if err := x.emit(ctx, e); err != nil || !e.Edited {
		return err
	}
	return x.emit(ctx, run.Planned{Step: x.engine.of(), Plan: x.plan.Clone()})
}

// Question asks the user, for whom Ask is set. Neither the clock of the run nor that of a
// step runs meanwhile.
func (e *Engine) Question(ctx context.Context, question string) (answer string, err error) {
	defer e.pause()()
	defer run.Asking(ctx)()
	return e.Ask(ctx, question)
}

// noted is Question, with the answer in the journal: the question is the engine's own.
func (e *Engine) noted(ctx context.Context, question string) (string, error) {
	answer, err := e.Question(ctx, question)
	if err != nil {
		return "", err
	}
	return answer, e.Session.Scope.Emit(ctx, run.Answered{Question: question, Answer: answer})
}

// now is the time by the clock of the plan.
func (e *Engine) now() time.Time {
	if e.Now == nil {
		return time.Now()
	}
	return e.Now()
}

// pause stops the clock of the run, until the function that it returns is called.
func (e *Engine) pause() (resume func()) {
	if c := e.Session.Client; c != nil && c.Budget != nil {
		return c.Budget.Pause()
	}
	return func() {}
}

// undivided does a task without a plan, as the loop does it where planning is off; where
// there is no display, by tools.
func (e *Engine) undivided(ctx context.Context, task string) error {
	before := e.past.open("")
	if before != nil && before.Doubt && !e.inherits() {
		effect, _ := before.Attempted()
		if _, why := e.mayRepeat(ctx, task, string(effect)); why != nil {
			return &run.Stop{Outcome: run.OutcomeBlocked, Answer: why.Error()}
		}
	}
	if e.Session.Desktop == nil {
		text, err := e.byTools(ctx, e.Session, toolTask{Task: task, Goal: task, before: talkOf(before)})
		switch {
		case errors.Is(err, errNoEnd):
			return &run.Stop{Outcome: run.OutcomeOutOfSteps, Answer: err.Error()}
		case errors.Is(err, errNotByTools):
			return &run.Stop{Outcome: run.OutcomeBlocked, Answer: err.Error()}
		case err != nil:
			return err
		}
		return &run.Stop{Outcome: run.OutcomeDone, Answer: text, Grade: planner.Claimed}
	}
	a, err := e.agent(e.Session)
	if err != nil {
		return err
	}
	if task, err = begun(task, before); err != nil {
		return err
	}
	ended, err := a.Episode(ctx, agent.Assignment{Task: task})
	if err != nil {
		return err
	}
	return &run.Stop{Outcome: ended.Outcome, Answer: ended.Answer, Grade: ended.Grade}
}

// agent returns an agent for one episode on the desktop of a session.
func (e *Engine) agent(s *run.Session) (*agent.Agent, error) {
	if err := s.NeedsDesktop(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlanNotInitialized, err)
	}
	a, err := agent.New(s)
	if err != nil {
		return nil, err
	}
	if a.Planner = nil; e.Ask != nil {
		a.Ask = e.Question
	}
	if e.past != nil && e.depth == 0 {
		a.News = e.past.news
	}
	if e.Agent != nil {
		e.Agent(a)
	}
	return a, nil
}

// fatal reports whether an error of an adviser ends the run.
func fatal(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || errors.Is(err, llm.ErrBudget) || errors.Is(err, run.ErrJournal))
}

func (e *Engine) log() *slog.Logger {
	if e.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return e.Log
}
