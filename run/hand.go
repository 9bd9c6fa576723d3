package run

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/screen"
	"desktop-agent/worldmodel"
)

// A Hand is the only way to a device. What it is asked to do takes one way:
//
//	intend → guard → acting → device → acted
//
// The guard is asked first, and what it rules is written as [Guarded]; what it does
// not allow is then written as [Refused] and never as [Acting]. What it allows is
// written before it is done, and not done if that fails. What the guard makes of the
// task as a whole is written as [TaskJudged], before anything else.
type Hand struct {
	// Scope takes what is done.
	Scope *Scope
	// GuardLimit is how long the guard may take; [DefaultGuardLimit] if 0.
	GuardLimit time.Duration
	// Desktop is what the hand acts on, for who decides about an action; nil: not known.
	Desktop Desktop
	// Log gets what became of actions, without any text or key; nil: silent.
	Log *slog.Logger

	device Device    // nobody else has it
	tools  Toolbox   // what actions may call that are no mouse and no keyboard, and nobody else has; nil: none
	guard  Guard     // is asked about each action; nil: there is none, and the run's first event says so
	exempt Exemption // why it is not asked, if not ""; the journal shows it with each action
	once   sync.Once
	told   *told // what the guard makes of the task; shared by the hands of one run
	tried  tried
}

// tried is the worst that was attempted with a hand.
type tried struct {
	sync.Mutex
	any    bool
	effect worldmodel.Effect
	final  bool
}

// NewHand returns a hand for a device that is no live one, such as that of a
// recorded desktop; g may be nil. The hand of a live desktop belongs to its [Session],
// and so does who its guard is.
func NewHand(d Device, s *Scope, g Guard) *Hand { return &Hand{device: d, Scope: s, guard: g} }

// Offer returns the tools that an action may call; none of a hand that has none.
func (h *Hand) Offer() []Tool {
	if h == nil || h.tools == nil {
		return nil
	}
	return h.tools.Offer()
}

// Beside returns a hand for another who acts in the same run: with the same device, guard,
// limits and tools, and events of its own. Two hands on one display must not act at the
// same time.
func (h *Hand) Beside(s *Scope) *Hand {
	return &Hand{
		Scope: s, GuardLimit: h.GuardLimit, Desktop: h.Desktop, Log: h.Log,
		device: h.device, tools: h.tools, guard: h.guard, exempt: h.exempt, told: h.shared(),
	}
}

// Attempted tells the worst effect of what was attempted with this hand, whether or not it
// arrived, and whether it cannot be taken back for certain: such a thing is never done a
// second time without asking. What was refused was not attempted. any is false if nothing
// was.
func (h *Hand) Attempted() (effect worldmodel.Effect, final, any bool) {
	h.tried.Lock()
	defer h.tried.Unlock()
	return h.tried.effect, h.tried.final, h.tried.any
}

// attempt notes that an action was attempted. What no guard has looked at is taken for
// what cannot be taken back, unless it is known that it changes nothing.
func (h *Hand) attempt(in Intent, ruling Guarded) {
	effect, final := attempted(in.Action, in.Effect, ruling)
	h.tried.Lock()
	defer h.tried.Unlock()
	h.tried.any, h.tried.final = true, h.tried.final || final
	h.tried.effect = h.tried.effect.Worse(effect)
}

// attempted says what an action that was attempted may have done, and whether that cannot
// be taken back. of is the effect of a tool, and ruling that of the guard, if one was asked.
func attempted(a actuator.Action, of worldmodel.Effect, ruling Guarded) (effect worldmodel.Effect, final bool) {
	effect, final = of, of.Side()
	if ruling != (Guarded{}) {
		effect = effect.Worse(ruling.Effect)
		undoable := ruling.Foresight != nil && ruling.Foresight.Undoable
		// The table lets pass without an effect what is harmless for certain.
		final = effect.Side() && !undoable && (effect != "" || ruling.By != "table")
	} else if of == "" && !actuator.Shows(a) && actuator.KindOf(a) != actuator.Service {
		final = false // it only looks, waits or moves the pointer
	}
	return effect, final
}

// A Device performs actions. Nobody but a [Hand] calls it.
type Device interface {
	// Do performs an action whose points f maps. It returns an error of
	// [actuator.ErrRefused] if nothing was sent; after any other it is not known
	// whether it was.
	Do(ctx context.Context, a actuator.Action, f actuator.Frame) (output string, err error)
}

// A Toolbox has the tools of a run; see [desktop-agent/tools.Registry].
type Toolbox interface {
	// Offer returns all tools, by their names.
	Offer() []Tool
	// Do calls a tool. It returns an error of [actuator.ErrRefused] if nothing was sent;
	// after any other it is not known what came of it.
	Do(ctx context.Context, name string, arguments []byte) (output string, err error)
}

// ToolFailed is what the output of a tool begins with that says itself that it failed.
const ToolFailed = "The tool failed: "

// CommandTool is the name of the tool that runs a program, whose arguments tell which.
const CommandTool = "run_command"

// A Tool is a tool as models and the guard know it.
type Tool struct {
	llm.Tool
	Effect worldmodel.Effect // the worst that a call may do
}

// An Exemption is why a hand does not ask a guard.
type Exemption string

// All exemptions there are.
const (
	// ExemptDoctor is what the user has asked for by name: the check of mouse and
	// keyboard, in a window of its own.
	ExemptDoctor Exemption = "doctor"
	// ExemptSetup is what a task's author wrote, to set the task up or to look at
	// its result, on the task's own computer.
	ExemptSetup Exemption = "set-up"
)

// An Intent is an action that is about to be performed.
type Intent struct {
	Action actuator.Action     // exactly as it will be performed
	On     *screen.Observation // what it was chosen on; nil where nothing was looked at
	Frame  actuator.Frame      // maps its points; nil for the mapping of On
	Index  int                 // within the batch, from 0
	Done   []actuator.Action   // of the batch, those that were performed before it
	Source Source              // who chose it
	// Written is the action as the journal may have it; nil for Action. It
	// withholds a text.
	Written actuator.Action
	// Effect is the worst that a tool may do; "" for what is no tool, or none that is known.
	Effect worldmodel.Effect
	// Exit is the error of a tool that is none: it ends what called it. nil: each is one.
	Exit error
	// History is what was done in the run before the batch, in words, oldest first.
	History []string

	// Where it will be performed; the hand fills them in.
	Display string  // "" where there is none
	Desktop Desktop // nil where it is not known
}

// A Source is who chose an action.
type Source string

// The sources of actions.
const (
	FromModel     Source = "model"     // the actor
	FromHealing   Source = "healing"   // a model that was asked for a step of a macro
	FromRecording Source = "recording" // a macro
	FromProgram   Source = "program"   // this program, under an exemption
)

// frame returns what maps the points of the action.
func (in Intent) frame() actuator.Frame {
	if in.Frame == nil && in.On != nil {
		return in.On.Image.Mapping
	}
	return in.Frame
}

// recorded is the action as the journal may have it.
func (in Intent) recorded() Recorded {
	if in.Written != nil {
		return Recorded{Action: in.Written}
	}
	return Recorded{Action: in.Action}
}

// device returns the points of the action in device pixels.
func (in Intent) device() (list []image.Point) {
	f := in.frame()
	if f == nil {
		return nil
	}
	for _, p := range actuator.Points(in.Action) {
		list = append(list, f.ToDevice(image.Pt(p.X, p.Y)))
	}
	return list
}

// An Act is an action that a hand was asked to perform, with what is known of it
// so far. Unless the guard refused it, its last event is written by [Act.Close],
// once it has been looked at what it changed.
type Act struct {
	Action actuator.Action
	Index  int // within the batch
	Status actuator.Status
	Detail string        // why it was refused, is unknown or came to nothing; how long it took, of a WaitUntil
	Output string        // the clipboard, after Copy; what a tool answered
	Took   time.Duration // of performing it
	Ruling Guarded       // of the guard; empty if none was asked
	Edited bool          // a person chose Action in place of what was asked for
	Exit   bool          // the tool returned [Intent.Exit]

	scope  *Scope
	err    error // Detail, unless it arrived
	closed bool
}

func (a *Act) ruled() (actuator.Status, Guarded) { return a.Status, a.Ruling }

// Do performs an action, if the guard allows it. That it was refused, or that it
// is not known whether it arrived, is told in the act and is no error: an error
// means that the run cannot go on.
func (h *Hand) Do(ctx context.Context, in Intent) (*Act, error) {
	if err := h.usable(in); err != nil {
		return nil, err
	}
	in.Effect, in.Display, in.Desktop = h.effect(in.Action), h.Scope.where.Display, h.Desktop
	act := &Act{Action: in.Action, Index: in.Index, Status: actuator.Delivered, scope: h.Scope}
	refusal, err := h.judge(ctx)
	if err != nil {
		return nil, err
	}
	if refusal == nil {
		act.Ruling, refusal = h.ask(ctx, in)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if other, ok := errors.AsType[*Instead](refusal); ok {
		act.Edited, act.Detail, refusal = true, fmt.Sprintf("a person chose it in place of: %s", actuator.Describe(in.Action)), nil
		in.Action, in.Written, in.Effect = other.Action, nil, h.effect(other.Action)
		act.Action = in.Action
	}
	if act.Ruling != (Guarded{}) {
		act.Ruling.Index, act.Ruling.Allowed = in.Index, refusal == nil
		if err := h.Scope.Emit(ctx, act.Ruling); err != nil {
			return nil, err
		}
	}
	if refusal != nil {
		act.Status, act.Detail, act.closed = actuator.Refused, refusal.Error(), true
		act.err = fmt.Errorf("%w: %w", actuator.ErrRefused, refusal)
		return act, h.Scope.Emit(ctx, Refused{
			Index: in.Index, Action: in.recorded(), Device: in.device(), Guard: h.GuardName(), Reason: act.Detail,
		})
	}
	e := Acting{Index: in.Index, Action: in.recorded(), Device: in.device(), Exempt: h.exempt}
	if err := h.Scope.Emit(ctx, e); err != nil {
		return nil, err // not recorded, so not done
	}
	began := time.Now()
	act.Output, err = h.perform(ctx, in)
	if in.Exit != nil && errors.Is(err, in.Exit) {
		act.Exit, err = true, nil
	}
	act.Took, act.err = time.Since(began), err
	if !errors.Is(err, actuator.ErrRefused) {
		h.attempt(in, act.Ruling)
	}
	switch {
	case err == nil:
		if actuator.KindOf(in.Action) == actuator.Pause { // it is no text of a program
			act.Detail, act.Output = act.Output, ""
		}
	case ctx.Err() != nil:
		return nil, context.Cause(ctx) // what became of it is not known, and its last event is missing
	case errors.Is(err, actuator.ErrNoEffect):
		act.Status, act.Detail = actuator.NoEffect, strings.TrimPrefix(err.Error(), actuator.ErrNoEffect.Error()+": ")
	case errors.Is(err, actuator.ErrRefused):
		act.Status, act.Detail = actuator.Refused, strings.TrimPrefix(err.Error(), actuator.ErrRefused.Error()+": ")
	default:
		act.Status, act.Detail = actuator.Unknown, err.Error()
	}
	return act, nil
}

// perform calls a tool, or has the device do an action.
func (h *Hand) perform(ctx context.Context, in Intent) (output string, err error) {
	call, ok := in.Action.(actuator.CallTool)
	switch {
	case ok && h.tools != nil:
		return h.tools.Do(ctx, call.Tool, []byte(call.Arguments))
	case h.device == nil:
		return "", fmt.Errorf("%w: there are no tools here", actuator.ErrRefused)
	}
	return h.device.Do(ctx, in.Action, in.frame()) // a recorded one knows what a tool answered; a live one refuses
}

// effect is what a tool may do, as far as that is known.
func (h *Hand) effect(a actuator.Action) worldmodel.Effect {
	call, ok := a.(actuator.CallTool)
	if !ok {
		return ""
	}
	for _, t := range h.Offer() {
		if t.Name == call.Tool {
			return t.Effect
		}
	}
	return ""
}

// Perform is Do where nobody looks at what came of it. What was refused, or may not
// have arrived, is an error.
func (h *Hand) Perform(ctx context.Context, in Intent) error {
	act, err := h.Do(ctx, in)
	if err == nil {
		err = act.Close(ctx, nil)
	}
	if err != nil {
		return err
	}
	return act.err
}

// usable returns why nothing can be done with a hand.
func (h *Hand) usable(in Intent) error {
	switch {
	case h == nil:
		return errors.New("hand: there is none: open a session (run.Open)")
	case in.Action == nil:
		return errors.New("hand: there is no action to perform")
	case h.device == nil && actuator.KindOf(in.Action) != actuator.Service:
		return errors.New("hand: there is no device: open a session (run.Open)")
	}
	return h.Scope.usable()
}

// LetsGo returns what lets go what is down after the act, in the order in which it went down;
// before is the same before it. What was refused did not go down.
func (a *Act) LetsGo(before []actuator.Action) []actuator.Action {
	after := actuator.Releases(a.Action, before)
	if a.Status == actuator.Refused && len(after) > len(before) {
		return before
	}
	return after
}

// LetGo lets go what is down, last to first, as the guard allows it: whoever acts next would
// not know of it. up is what does it, see [Act.LetsGo], and the index of in that of the first.
// What does not arrive is let go all the same, by [Hand.Release]. It returns in words what was
// done.
func (h *Hand) LetGo(ctx context.Context, up []actuator.Action, in Intent) (released []string, err error) {
	for _, a := range slices.Backward(up) {
		in.Action = a
		act, err := h.Do(ctx, in)
		if err == nil {
			err = act.Close(ctx, nil)
		}
		if err != nil {
			return released, err
		}
		if act.Status != actuator.Delivered {
			if err := h.Release(); err != nil {
				return released, fmt.Errorf("%s: %w", actuator.Describe(a), err)
			}
		}
		released = append(released, actuator.Describe(a))
		in.Index++
	}
	return released, nil
}

// Release lets every key and button go that an action left down.
func (h *Hand) Release() error {
	if h == nil {
		return nil
	}
	if d, ok := h.device.(interface{ Release() error }); ok {
		return d.Release()
	}
	return nil
}

// NothingSeen is the detail of a shortcut that changed nothing on the screen, and need
// not; see [actuator.Silent].
const NothingSeen = "no visible change"

// Close writes the last event of the act, unless it has one already. unchanged,
// if not nil, tells whether nothing on the screen has changed for certain: an action that
// should show had no effect then.
func (a *Act) Close(ctx context.Context, unchanged func() bool) error {
	if a.closed {
		return nil
	}
	due, silent := actuator.Shows(a.Action), actuator.Silent(a.Action)
	if a.Status == actuator.Delivered && (due || silent) && unchanged != nil && unchanged() {
		if due {
			a.Status = actuator.NoEffect
		} else {
			a.Detail = NothingSeen
		}
	}
	a.closed = true
	return a.scope.Emit(ctx, Acted{
		Index: a.Index, Status: a.Status, Detail: a.Detail, Output: a.Output, Millis: a.Took.Milliseconds(),
	})
}
