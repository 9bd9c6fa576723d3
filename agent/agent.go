// Package agent drives a desktop to finish a task.
//
// An [Agent] looks at the desktop, asks its [Actor] for a batch of actions,
// reviews it, performs it and looks again, until the task is done or a limit is
// reached. Everything that happens is an [run.Event] in the journal; an event that
// cannot be written stops the run before the next act.
//
//	s, err := run.Open(ctx, settings, &run.Options{Client: client, Journal: journal})
//	…
//	defer s.Close()
//	a, err := agent.New(s)
//	…
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

// A Reader reads a region of the picture without knowing what is expected there; see
// [worldmodel.Model.Transcribe].
type Reader interface {
	Transcribe(ctx context.Context, now, began *screen.Observation, region worldmodel.Region) (worldmodel.Transcript, error)
}

// A Reviewer is asked now and then whether the run makes sense; see [monitor.Monitor].
type Reviewer interface {
	Due(step int, signals []monitor.Signal) bool
	Review(context.Context, monitor.ReviewRequest) (*monitor.Guidance, error)
}

// A Budget tells what is left, as fractions from 1 to 0; see [llm.Budget].
type Budget interface {
	Remaining() llm.Remaining
	Pause() (resume func()) // stops the clock, while a person is asked
}

// An Agent works on one task. The fields up to Scope must be set.
type Agent struct {
	Desktop run.Desktop
	Hand    *run.Hand
	Actor   *Actor
	World   World
	Scope   *run.Scope // of a new journal

	Planner  Planner   // nil: planning is off
	Grounder *Grounder // nil: what the actor names in words is looked for in the tree alone

	Home    planner.Home                                                          // of the desktop, if it is the run's own; nil: files prove nothing
	Reader  Reader                                                                // nil: what only the picture has is claimed
	Monitor Reviewer                                                              // nil: only the detectors run
	Budget  Budget                                                                // nil: no limit but MaxSteps
	Ask     func(ctx context.Context, question string) (answer string, err error) // nil: nobody can be asked
	News    func() string                                                         // what happened beside the task and the actor is to be told, once; nil: nothing does
	// Rehearse tries the task elsewhere before anything is done for it, if what the guard
	// makes of it asks for that; nil: it is not tried.
	Rehearse func(ctx context.Context, task string, judged *run.TaskJudged) (*run.Rehearsed, error)
	Log      *slog.Logger // nil: silent

	AssessAlways  bool            // the world model is asked what came of a batch also where there is no plan
	MaxSteps      int             // turns of the actor; 0 for [run.DefaultMaxSteps]
	MaxBadReplies int             // replies in a row that are no action; 0 for [run.DefaultMaxBadReplies]
	MaxRefusals   int             // claims to be done that the screen does not confirm; 0 for [run.DefaultMaxRefusals]
	MaxDoubts     int             // claims that the task cannot be done, and that are looked at before one stands; 0 for none
	Detectors     *monitor.Limits // nil for the defaults
	Settings      run.Settings    // for the journal
	Replay        *run.Replay     // for the journal: the run that this one replays; nil if it is none
}

// A Result is how a run ended.
type Result struct {
	run.Result
	Plan        *planner.Plan          // as it stands at the end; nil without planning
	Foreseen    worldmodel.Calibration // how often what the guard foresaw of an action came true
	Predictions worldmodel.Calibration // how often the actor's expectation came true
}

// An episode is the state of one task. Only the goroutine of Run changes it.
type episode struct {
	*Agent
	task     string
	plan     *planner.Plan
	history  history
	now      *screen.Observation // the newest observation
	before   *screen.Observation // the one before the last batch; nil at first
	last     batch               // the last batch that was performed
	turns    []monitor.Turn
	screen   string // the name of the screen of now
	past     past
	notes    notes
	found    found
	turn     int  // of this episode, from 1; 0 before
	previous int  // the step of the turn before; 0 if there is none
	bounded  bool // it ends with the one step of its plan
	needed   bool // somebody reads what the actor answers

	planTries  int               // failed attempts to make a plan
	extended   bool              // the goal was checked since the plan was exhausted
	reached    bool              // and was found to be reached, which the actor is to be told
	confirmed  *planner.Evidence // of the check of the goal that ended the episode
	badReplies int
	refusals   int
	doubts     int             // claims that the task cannot be done, and that were not believed
	stopped    actuator.Action // the first action of the last batch, if that was stopped before it
	trouble    trouble         // what was objected to, and when the monitor is asked again
	seen       seen            // what the world model said of the batch before the last
	hits       worldmodel.Calibration
	foreseen   worldmodel.Calibration
}

// Run works on the task until it is done or cannot go on. A task that fails is a
// result; an error means that the run itself broke.
func (a *Agent) Run(ctx context.Context, task string) (Result, error) {
	start := time.Now()
	r := &episode{Agent: a, task: task}
	again, err := r.again(ctx, r.begin(ctx))
	for cut := again; cut && err == nil; {
		cut, err = r.again(ctx, r.makePlan(ctx))
	}
	if err == nil {
		err = r.turnsOf(ctx, again)
	}
	ended, err := a.Hand.End(ctx, err, time.Since(start))
	return Result{Result: ended, Plan: r.plan, Predictions: r.hits, Foreseen: r.foreseen}, err
}

// turnsOf takes turns until something ends them. looked says that the first one's step has
// begun already, with a look.
func (r *episode) turnsOf(ctx context.Context, looked bool) error {
	for n := range cmp.Or(r.MaxSteps, run.DefaultMaxSteps) {
		r.turn, r.previous = n+1, r.Scope.Step()
		if looked {
			r.previous--
		}
		if err := r.reachedStep(ctx); err != nil {
			return err
		}
		if !looked {
			r.Scope.Turn()
		}
		var err error
		if looked, err = r.again(ctx, r.oneStep(ctx)); err != nil {
			return err
		}
	}
	return &run.Stop{Outcome: run.OutcomeOutOfSteps, Answer: fmt.Sprintf("%d steps were not enough", r.turn)}
}

// again looks anew, in a step of its own, if the program that did the run ended while it
// thought: what was thought then is about another screen.
func (r *episode) again(ctx context.Context, err error) (bool, error) {
	if !errors.Is(err, run.ErrCut) {
		return false, err
	}
	r.Scope.Turn()
	return true, r.observe(ctx)
}

// begin observes for the first time and makes the plan.
func (r *episode) begin(ctx context.Context) error {
	if err := r.emit(ctx, r.head()); err != nil {
		return err
	}
	r.Hand.Begin(ctx, r.task) // the guard looks at it while the plan is made
	if err := r.rehearse(ctx); err != nil {
		return err
	}
	if err := r.observe(ctx); err != nil {
		return err
	}
	r.beginStep()
	return r.makePlan(ctx)
}

// oneStep is the loop that the design draws. It begins with the newest
// observation, and ends with the next one and the record of what was done. What an
// action will cause is foreseen in the hand, by its guard.
func (r *episode) oneStep(ctx context.Context) error {
	turn, err := r.assessAndPropose(ctx)
	if err == nil {
		err = r.closed(ctx, turn.Actions)
	}
	if err == nil && turn.bad == nil {
		r.badReplies = 0
		turn, err = r.review(ctx, turn)
	}
	if err != nil {
		return err
	}
	if turn.bad != nil {
		return r.badReply(turn)
	}
	batch, err := r.act(ctx, turn)
	if err != nil {
		return err
	}
	chosen, before := r.now, r.screen
	if err := r.observe(ctx); err != nil {
		return err
	}
	if err := r.record(ctx, turn, batch, chosen, before); err != nil {
		return err
	}
	if err := r.blocked(ctx, batch); err != nil {
		return err
	}
	if err := r.done(ctx, batch); err != nil {
		return err
	}
	return r.stuck()
}

// head is the first event.
func (r *episode) head() run.RunStarted {
	h := run.RunStarted{
		Schema: run.Schema, Task: r.task, Planning: "suggestive", Guard: r.Hand.GuardName(), Parser: r.Actor.Format.Name,
		Models: r.Settings.Models.Models(), Settings: r.Settings, Replay: r.Replay,
	}
	if r.Planner == nil {
		h.Planning = "off"
	}
	return h
}

func (a *Agent) log() *slog.Logger {
	if a.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return a.Log
}
