// Package agent drives a desktop to finish a task.
//
// An [Agent] looks at the desktop, asks its [Actor] for a batch of actions,
// reviews it, performs it and looks again, until the task is done or a limit is
// reached. Everything that happens is an [run.Event] in the journal; an event that
// cannot be written stops the run before the next act.
//
//	a := &agent.Agent{Desktop: &run.Live{Screen: s, Device: d}, Actor: actor, …}
//	result, err := a.Run(ctx, "Save the document as notes.txt")
package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/monitor"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/worldmodel"
)

// A Planner makes and revises plans; see [planner.Planner].
type Planner interface {
	Generate(ctx context.Context, task string, now *screen.Observation) (*planner.Plan, error)
	Revise(context.Context, *planner.Plan, planner.RevisionRequest) (*planner.Plan, error)
}

// A World reads from the screen what came of an action; see [worldmodel.Model].
type World interface {
	Assess(context.Context, worldmodel.AssessRequest) (*worldmodel.Assessment, error)
	CheckGoal(context.Context, worldmodel.GoalRequest) (*worldmodel.GoalCheck, error)
}

// A Reviewer is asked now and then whether the run makes sense; see [monitor.Monitor].
type Reviewer interface {
	Due(step int, signals []monitor.Signal) bool
	Review(context.Context, monitor.ReviewRequest) (*monitor.Guidance, error)
}

// A Budget tells what is left, as fractions from 1 to 0; see [llm.Budget].
type Budget interface {
	Remaining() llm.Remaining
}

// An Agent works on one task at a time. The fields up to Journal must be set.
type Agent struct {
	Desktop run.Desktop
	Actor   *Actor
	World   World
	Journal run.Journal

	Planner Planner                                                               // nil: planning is off
	Monitor Reviewer                                                              // nil: only the detectors run
	Guard   run.Guard                                                             // nil: no guard is active, and the run's first event says so
	Budget  Budget                                                                // nil: no limit but MaxSteps
	Ask     func(ctx context.Context, question string) (answer string, err error) // nil: nobody can be asked
	Watch   func(run.Event)                                                       // is told each event once it is written
	Log     *slog.Logger                                                          // nil: silent

	MaxSteps      int             // turns of the actor; 0 for 50
	MaxBadReplies int             // replies in a row that are no action; 0 for 4
	MaxRefusals   int             // claims to be done that the screen does not confirm; 0 for 3
	Detectors     *monitor.Limits // nil for the defaults
	Settings      map[string]any  // for the journal: the settings of the run, without secrets
	Models        map[string]string
	Replay        *run.Replay // for the journal: the run that this one replays; nil if it is none

	rec run.Recorder
}

// A Result is how a run ended.
type Result struct {
	Outcome     run.Outcome
	Answer      string // what the actor said at the end, or what stopped it
	Steps       int
	Usage       llm.Usage
	Calls       int
	Dollars     float64
	Elapsed     time.Duration
	Plan        *planner.Plan          // as it stands at the end; nil without planning
	Predictions worldmodel.Calibration // how often the actor's expectation came true
}

// An episode is the state of one task. Only the goroutine of Run changes it.
type episode struct {
	*Agent
	task    string
	plan    *planner.Plan
	history history
	now     *screen.Observation // the newest observation
	before  *screen.Observation // the one before the last batch; nil at first
	last    batch               // the last batch that was performed
	turns   []monitor.Turn
	screens monitor.Screens
	screen  string // the name of the screen of now

	planTries  int  // failed attempts to make a plan
	extended   bool // the goal was checked since the plan was exhausted
	badReplies int
	refusals   int
	stopped    actuator.Action // the first action of the last batch, if that was stopped before it
	hits       worldmodel.Calibration
}

// errEnd ends the loop with an outcome that is a result.
type errEnd struct {
	outcome run.Outcome
	answer  string
}

func (e *errEnd) Error() string { return string(e.outcome) + ": " + e.answer }

// Run works on task until it is done or cannot go on. A task that fails is a
// result; an error means that the run itself broke.
func (a *Agent) Run(ctx context.Context, task string) (Result, error) {
	start := time.Now()
	a.rec.Begin(a.Journal, a.Watch)
	r := &episode{Agent: a, task: task}
	err := r.begin(ctx)
	for n := 1; err == nil; n++ {
		if n > cmp.Or(a.MaxSteps, 50) {
			err = &errEnd{run.OutcomeOutOfSteps, fmt.Sprintf("%d steps were not enough", n-1)}
			break
		}
		a.rec.Turn()
		err = r.oneStep(ctx)
	}
	return r.end(ctx, err, time.Since(start))
}

// begin looks for the first time and makes the plan.
func (r *episode) begin(ctx context.Context) error {
	if err := r.emit(ctx, r.head()); err != nil {
		return err
	}
	if err := r.observe(ctx); err != nil {
		return err
	}
	return r.makePlan(ctx)
}

// oneStep is the loop that the design draws: assess beside propose, review,
// act, record. A foreseeing world model will sit in review, and the guard's
// place is in act.
func (r *episode) oneStep(ctx context.Context) error {
	turn, err := r.assessAndPropose(ctx)
	if err != nil {
		return err
	}
	if turn.bad != nil {
		return r.badReply(turn)
	}
	r.badReplies = 0
	turn, err = r.review(ctx, turn)
	if err != nil {
		return err
	}
	if turn.bad != nil {
		return r.badReply(turn)
	}
	return r.act(ctx, turn)
}

// end writes the last event, whatever happened.
func (r *episode) end(ctx context.Context, err error, elapsed time.Duration) (Result, error) {
	result := Result{Steps: r.rec.Step(), Elapsed: elapsed, Plan: r.plan, Predictions: r.hits}
	result.Usage, result.Calls, result.Dollars = r.rec.Totals()
	switch stop, isEnd := errors.AsType[*errEnd](err); {
	case isEnd:
		result.Outcome, result.Answer, err = stop.outcome, stop.answer, nil
	case errors.Is(context.Cause(ctx), run.ErrDesktopGone):
		err = context.Cause(ctx)
		result.Outcome, result.Answer = run.OutcomeFailed, err.Error()
	case ctx.Err() != nil:
		result.Outcome, result.Answer, err = run.OutcomeStopped, context.Cause(ctx).Error(), nil
	case errors.Is(err, llm.ErrBudget):
		result.Outcome, result.Answer, err = run.OutcomeOutOfBudget, err.Error(), nil
	default:
		result.Outcome, result.Answer = run.OutcomeFailed, err.Error()
	}
	ended := run.RunEnded{
		Outcome: result.Outcome, Answer: result.Answer, Steps: result.Steps,
		Usage: result.Usage, Calls: result.Calls, Dollars: result.Dollars, Millis: elapsed.Milliseconds(),
	}
	if err != nil {
		ended.Error = err.Error()
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if lost := r.emit(last, ended); lost != nil && !errors.Is(err, run.ErrJournal) {
		err = errors.Join(err, lost)
	}
	return result, err
}

// head is the first event.
func (r *episode) head() run.RunStarted {
	h := run.RunStarted{
		Schema: run.Schema, Task: r.task, Planning: "suggestive", Guard: "none", Parser: r.Actor.Format.Name,
		Models: r.Models, Settings: r.Settings, Replay: r.Replay,
	}
	if r.Planner == nil {
		h.Planning = "off"
	}
	if r.Guard != nil {
		h.Guard = fmt.Sprintf("%T", r.Guard)
	}
	return h
}

func (a *Agent) log() *slog.Logger {
	if a.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return a.Log
}
