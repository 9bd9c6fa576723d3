package macro

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/monitor"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// patience is how long a player looks for what a step needs, and then for what
// it leads to.
const patience = 10 * time.Second

// maxHeals is how often a model is asked for one step.
const maxHeals = 3

// A Player does a macro on a live desktop. What it writes is the trajectory of a
// run of its own: with the steps that a model has healed it is the new version
// of the recorded one, which stays as it is, and can be loaded as a macro.
type Player struct {
	Desktop run.Desktop
	Journal run.Journal // new: it is written from the first event on, by this player alone

	Params   map[string]string                                             // values for parameters of the macro, as by [Macro.Set]
	Heal     func(context.Context, HealRequest) ([]actuator.Action, error) // asked for a step that diverges; nil: healing is off
	Watch    func(run.Event)                                               // is told each event once it is written
	Log      *slog.Logger                                                  // nil: silent
	Patience time.Duration                                                 // how long to look for what a step needs or leads to; 0 for 10 s
	Models   map[string]string                                             // for the journal: by role, beside the actor "macro"
	Settings map[string]any                                                // for the journal, without secrets

	rec run.Recorder
}

// RecordCall writes a model call to the journal; it is what [llm.Client.Record]
// of the model that heals must be.
func (p *Player) RecordCall(ctx context.Context, call llm.Call) error { return p.rec.Call(ctx, call) }

// A Result is how a macro ended.
type Result struct {
	Outcome run.Outcome // done, blocked where the desktop diverged, stopped, or error
	Answer  string      // what stopped it
	Steps   int         // of the recording that were done, or healed
	Healed  int         // steps for which a model was asked
	Usage   llm.Usage   // of the model
	Calls   int
	Dollars float64
	Elapsed time.Duration
}

// A player is the state of one replay.
type player struct {
	*Player
	m       *Macro
	live    *scene // the newest look
	kept    bool   // it is in the journal
	screens monitor.Screens
	healed  int
}

// A turn is a recorded step that is being done.
type turn struct {
	*Step
	next int // the first action that was not performed yet
}

// Play does all steps of a macro. A desktop that is not what a step needs, or
// not what it led to, ends it with a [*DivergedError], unless a model heals the
// step. A parameter that is unknown, or secret and not given, is an error before
// anything is done.
func (p *Player) Play(ctx context.Context, m *Macro) (Result, error) {
	for _, name := range slices.Sorted(maps.Keys(p.Params)) {
		if err := m.Set(name, p.Params[name]); err != nil {
			return Result{Outcome: run.OutcomeFailed}, err
		}
	}
	if err := m.complete(); err != nil {
		return Result{Outcome: run.OutcomeFailed}, err
	}
	p.rec.Begin(p.Journal, p.Watch)
	begin := time.Now()
	r := &player{Player: p, m: m}
	done, err := r.steps(ctx)
	return r.end(ctx, Result{Steps: done, Healed: r.healed, Elapsed: time.Since(begin)}, err)
}

func (r *player) steps(ctx context.Context) (done int, err error) {
	if err := r.rec.Emit(ctx, r.head()); err != nil {
		return 0, err
	}
	if err := r.see(ctx); err != nil {
		return 0, err
	}
	if err := r.keep(ctx); err != nil {
		return 0, err
	}
	for i := range r.m.Steps {
		if err := r.whole(ctx, &turn{Step: &r.m.Steps[i]}); err != nil {
			return i, err
		}
		r.log().InfoContext(ctx, "step", "n", r.m.Steps[i].Of)
	}
	return len(r.m.Steps), nil
}

func (r *player) head() run.RunStarted {
	models := map[string]string{string(llm.Actor): "macro"}
	if r.Heal != nil {
		maps.Copy(models, r.Models)
	}
	return run.RunStarted{
		Schema: run.Schema, Task: r.m.sub(r.m.Task), Planning: "off", Guard: "none", Models: models,
		Settings: r.Settings, Replay: &run.Replay{Run: r.m.Run, How: "macro"},
	}
}

// end writes the last event, whatever happened.
func (r *player) end(ctx context.Context, result Result, err error) (Result, error) {
	_, isDiverged := errors.AsType[*DivergedError](err)
	switch {
	case err == nil:
		result.Outcome = run.OutcomeDone
	case errors.Is(context.Cause(ctx), run.ErrDesktopGone):
		result.Outcome, result.Answer = run.OutcomeFailed, context.Cause(ctx).Error()
		err = context.Cause(ctx)
	case ctx.Err() != nil:
		result.Outcome, result.Answer = run.OutcomeStopped, context.Cause(ctx).Error()
	case errors.Is(err, llm.ErrBudget):
		result.Outcome, result.Answer = run.OutcomeOutOfBudget, err.Error()
	case isDiverged: // or what asked for help failed
		result.Outcome, result.Answer = run.OutcomeBlocked, err.Error()
	default:
		result.Outcome, result.Answer = run.OutcomeFailed, err.Error()
	}
	result.Usage, result.Calls, result.Dollars = r.rec.Totals()
	ended := run.RunEnded{
		Outcome: result.Outcome, Answer: result.Answer, Steps: r.rec.Step(), Usage: result.Usage,
		Calls: result.Calls, Dollars: result.Dollars, Millis: result.Elapsed.Milliseconds(),
	}
	if result.Outcome == run.OutcomeFailed {
		ended.Error = result.Answer
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if lost := r.rec.Emit(last, ended); lost != nil && !errors.Is(err, run.ErrJournal) {
		err = errors.Join(err, lost)
	}
	return result, err
}

// whole does a step, with a model's help where that is on.
func (r *player) whole(ctx context.Context, t *turn) error {
	bad, err := r.attempt(ctx, t)
	for heals := 0; err == nil && bad != nil; heals++ {
		if err := r.keep(ctx); err != nil {
			return err
		}
		event := run.Diverged{Of: t.Of, Frame: t.frame(bad), Expected: bad.expected, Found: bad.found}
		if r.Heal == nil || heals == maxHeals {
			return errors.Join(r.diverged(t, bad, heals), r.rec.Emit(ctx, event))
		}
		if heals == 0 {
			r.healed++
		}
		r.rec.Turn()
		event.Healing = true
		if err := r.rec.Emit(ctx, event); err != nil {
			return err
		}
		var again bool
		if bad, again, err = r.heal(ctx, t, bad, heals); again && err == nil {
			bad, err = r.attempt(ctx, t)
		}
	}
	return err
}

// attempt performs what is left of a step and looks whether it led to what it
// should.
func (r *player) attempt(ctx context.Context, t *turn) (*trouble, error) {
	for t.next < len(t.Actions) {
		if bad, err := r.batch(ctx, t); bad != nil || err != nil {
			return bad, err
		}
	}
	bad, err := r.until(ctx, func() *trouble { return r.effect(t) })
	if err != nil {
		return nil, err
	}
	return bad, r.keep(ctx)
}

// effect returns what of a step's effect is not there on the newest look.
func (r *player) effect(t *turn) *trouble {
	if t.led == nil {
		return nil
	}
	before, after := newPair(t.was, r.live, r.m.sub), newPair(t.led, r.live, r.m.sub)
	if expected, found := t.effect.lacks(before, after); expected != "" {
		return &trouble{noEffect, expected, found}
	}
	return nil
}

// until looks again until there is no trouble, for as long as the player has
// patience. Each look waits for the screen to be still.
func (r *player) until(ctx context.Context, check func() *trouble) (*trouble, error) {
	limit := r.Patience
	if limit == 0 {
		limit = patience
	}
	for begin := time.Now(); ; {
		bad := check()
		if bad == nil || time.Since(begin) > limit {
			return bad, nil
		}
		if err := r.see(ctx); err != nil {
			return nil, err
		}
	}
}

// see takes a new look.
func (r *player) see(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	o, err := r.Desktop.Observe(ctx)
	if err != nil {
		return fmt.Errorf("observe: %w", err)
	}
	r.live, r.kept = newScene(o), false
	return nil
}

// keep writes the newest look to the journal, unless it is there.
func (r *player) keep(ctx context.Context) error {
	if r.kept {
		return nil
	}
	o := r.live.Observation
	if err := r.Journal.Frame(context.WithoutCancel(ctx), o); err != nil {
		return fmt.Errorf("%w: frame %s: %w", run.ErrJournal, o.FrameID, err)
	}
	r.kept = true
	return r.rec.Emit(ctx, run.Saw(o, r.screens.Name(o.Bare)))
}

// frame is the recorded frame that shows what a trouble lacks.
func (t *turn) frame(bad *trouble) string {
	if bad.kind == noEffect && t.led != nil {
		return t.led.FrameID
	}
	return t.was.FrameID
}

// diverged makes the error of a trouble.
func (r *player) diverged(t *turn, bad *trouble, heals int) *DivergedError {
	e := &DivergedError{
		Of: t.Of, Doing: t.words(actuator.Describe), Expected: bad.expected, Found: bad.found, Frame: t.frame(bad),
		Live: r.live.Bare, Healed: heals,
	}
	if r.live.Bare == nil {
		e.Live = r.live.Frame
	}
	if img, err := r.m.run.Frame(e.Frame); err == nil {
		e.Recorded = img
	}
	if bad.kind != noEffect {
		for _, a := range t.Actions[min(t.next, len(t.Actions)):] {
			for _, target := range a.Targets {
				e.marks = append(e.marks, target.outline())
			}
		}
	}
	return e
}

func (p *Player) log() *slog.Logger {
	if p.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return p.Log
}

var _ run.Desktop = (*run.Live)(nil)

// sameWindows reports whether two lists tell of the same windows at the same
// places.
func sameWindows(a, b []screen.Window) bool {
	lasting := func(list []screen.Window) (rest []screen.Window) {
		for _, w := range list {
			if !passing(w) && !w.Hidden {
				w.Title, w.PID = "", 0
				rest = append(rest, w)
			}
		}
		return rest
	}
	return slices.Equal(lasting(a), lasting(b))
}
