package macro

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// A Player does a macro on a live desktop. What it writes is the trajectory of a
// run of its own: with the steps that a model has healed it is the new version
// of the recorded one, which stays as it is, and can be loaded as a macro.
type Player struct {
	Desktop run.Desktop
	Hand    *run.Hand
	Scope   *run.Scope // of a new journal: it is written from the first event on, by this player alone

	Params   map[string]string                                             // values for parameters of the macro, as by [Macro.Set]
	Heal     func(context.Context, HealRequest) ([]actuator.Action, error) // asked for a step that diverges; nil: healing is off
	Log      *slog.Logger                                                  // nil: silent
	Settings run.Settings                                                  // its part Macro holds; the rest is for the journal
}

// New returns a player on the desktop of a session.
func New(s *run.Session) *Player {
	return &Player{Desktop: s.Desktop, Hand: s.Hand, Scope: s.Scope, Log: s.Log, Settings: s.Settings}
}

// A Result is how a macro ended: done, blocked where the desktop diverged, stopped,
// out of budget, or error.
type Result struct {
	run.Result     // but Steps are those of the recording that were done, or healed
	Healed     int // steps for which a model was asked
}

// A player is the state of one replay.
type player struct {
	*Player
	m      *Macro
	set    run.MacroSettings
	live   *scene // the newest observation
	kept   bool   // it is in the journal
	healed int

	down   []actuator.Action // what lets go what is down, in the order in which it went down
	listed int               // how many actions the newest proposal has
}

// A turn is a recorded step that is being done.
type turn struct {
	*Step
	next int               // the first action that was not performed yet
	held []actuator.Action // what lets go what the recording has down before the step
}

// Play does all steps of a macro. A desktop that is not what a step needs, or
// not what it led to, ends it with a [*DivergedError], unless a model heals the
// step. A parameter that is unknown, or secret and not given, is an error before
// anything is done.
func (p *Player) Play(ctx context.Context, m *Macro) (Result, error) {
	failed := Result{Result: run.Result{Outcome: run.OutcomeFailed}}
	for _, name := range slices.Sorted(maps.Keys(p.Params)) {
		if err := m.Set(name, p.Params[name]); err != nil {
			return failed, err
		}
	}
	if err := m.complete(); err != nil {
		return failed, err
	}
	begin := time.Now()
	r := &player{Player: p, m: m, set: p.Settings.Macro.WithDefaults()}
	done, err := r.steps(ctx)
	ended, endErr := p.Hand.End(ctx, ending(err), time.Since(begin))
	ended.Steps = done
	if _, diverged := errors.AsType[*DivergedError](err); diverged || endErr == nil {
		endErr = errors.Join(err, endErr) // a result too, which the caller looks into
	}
	return Result{Result: ended, Healed: r.healed}, endErr
}

// ending is the error that ends the run. A desktop that diverged, or whatever kept
// a model from helping then, blocks it.
func ending(err error) error {
	_, isDiverged := errors.AsType[*DivergedError](err)
	if isDiverged && !errors.Is(err, llm.ErrBudget) {
		return &run.Stop{Outcome: run.OutcomeBlocked, Answer: err.Error()}
	}
	return err
}

func (r *player) steps(ctx context.Context) (done int, err error) {
	if err := r.Scope.Emit(ctx, r.head()); err != nil {
		return 0, err
	}
	r.Hand.Begin(ctx, r.m.sub(r.m.Task))
	if err := r.see(ctx); err != nil {
		return 0, err
	}
	if err := r.keep(ctx); err != nil {
		return 0, err
	}
	var held []actuator.Action
	for i := range r.m.Steps {
		t := &turn{Step: &r.m.Steps[i], held: held}
		if err := r.whole(ctx, t); err != nil {
			r.drop(ctx)
			return i, err
		}
		held = t.holds(len(t.Actions))
		r.log().InfoContext(ctx, "step", "n", r.m.Steps[i].Of)
	}
	return len(r.m.Steps), nil
}

func (r *player) head() run.RunStarted {
	models := map[string]string{}
	if r.Heal != nil {
		models = r.Settings.Models.Models()
	}
	models[string(llm.Actor)] = "macro"
	return run.RunStarted{
		Schema: run.Schema, Task: r.m.sub(r.m.Task), Planning: "off", Guard: r.Hand.GuardName(), Models: models,
		Settings: r.Settings, Replay: &run.Replay{Run: r.m.Run, How: "macro"},
	}
}

// whole does a step, with a model's help where that is on.
func (r *player) whole(ctx context.Context, t *turn) error {
	bad, err := r.attempt(ctx, t)
	for heals := 0; err == nil && bad != nil; heals++ {
		alone := r.Heal == nil || heals >= r.set.MaxHeals
		if !alone {
			if err := r.letGo(ctx, run.FromRecording); err != nil {
				return err
			}
			t.rewind()
		}
		if err := r.keep(ctx); err != nil {
			return err
		}
		event := run.Diverged{Of: t.Of, Frame: t.frame(bad), Expected: bad.expected, Found: bad.found}
		if alone {
			return errors.Join(r.diverged(t, bad, heals), r.Scope.Emit(ctx, event))
		}
		if heals == 0 {
			r.healed++
		}
		r.Scope.Turn()
		event.Healing = true
		if err := r.Scope.Emit(ctx, event); err != nil {
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
	bad, err := r.until(ctx, func() *trouble { return cmp.Or(r.effect(t), r.content(t)) })
	if err != nil {
		return nil, err
	}
	if bad != nil && bad.kind == late {
		r.log().WarnContext(ctx, "content did not come", "n", t.Of)
		bad = nil
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

// content returns what of the content that a step led to is not there on the newest
// look.
func (r *player) content(t *turn) *trouble {
	if t.led == nil {
		return nil
	}
	if expected, found := t.effect.lacksPicked(newPair(t.led, r.live, r.m.sub)); expected != "" {
		return &trouble{late, expected, found}
	}
	return nil
}

// until looks again until there is no trouble, for as long as the player has
// patience. Each look waits for the screen to be still.
func (r *player) until(ctx context.Context, check func() *trouble) (*trouble, error) {
	for begin := time.Now(); ; {
		bad := check()
		if bad == nil || time.Since(begin) > r.set.Patience {
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
	r.kept = true
	o := r.live.Observation
	return r.Scope.Observe(ctx, o, r.Desktop.ScreenName(o))
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
