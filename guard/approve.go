package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"

	"desktop-agent/actuator"
	"desktop-agent/internal/within"
	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// A Mode is when a person is asked before an action.
type Mode string

// The modes of approval.
const (
	Never  Mode = "never"  // the guard decides alone
	Risky  Mode = "risky"  // what the guard would refuse, and what cannot be undone
	Always Mode = "always" // all that is not harmless
)

// An Approver asks a person. An error is no answer, and means no.
type Approver func(context.Context, Approval) (Answer, error)

// An Approval is what a person is asked. It is for this one action on this one frame.
type Approval struct {
	Action  string // in words, with the text that is typed
	Target  string // what it is about, in words
	Effect  worldmodel.Effect
	Reason  string // why it is asked
	Refused bool   // the guard would refuse it
	Once    bool   // yes or no: nothing is allowed beside it, and nothing done in its place
	Undo    string // how it could be undone; "" if it cannot be, or is not known
	Task    string
	FrameID string
	Picture llm.Image       // the frame with the action drawn on it; empty if there is none
	Bounds  image.Rectangle // of that frame, in which points of an edited action lie
}

// An Answer is a person's answer.
type Answer struct {
	Yes    bool
	Always bool   // for this kind, in this run
	Reason string // of a no, which the actor reads
	// Instead is done in place of the action, by mouse and keyboard on the same frame; nil
	// for none. It needs no further approval. To an [Approval] for once it is a no.
	Instead actuator.Action
}

// errUnanswered says that no answer came in time.
var errUnanswered = errors.New("nobody approved it")

// errChanged says that an answer came too late.
var errChanged = errors.New("the screen changed while a person was asked: look again, and propose it once more if it is still right")

// ask asks a person about an action. It returns why it is not approved; the run's
// clock stands still meanwhile. A yes counts only for the screen on which it was
// asked.
func (g *Guard) ask(ctx context.Context, in run.Intent, q Approval) (always bool, err error) {
	if g.Pause != nil {
		defer g.Pause()()
	}
	defer run.Asking(ctx)()
	before, err := g.capture(ctx, in)
	if err != nil {
		return false, err
	}
	limit := cmp.Or(g.ApprovalLimit, run.DefaultApprovalLimit)
	asked, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	a, err := within.Do(asked, "the question", func() (Answer, error) { return g.Ask(asked, q) })
	switch {
	case asked.Err() != nil:
		return false, fmt.Errorf("%w within %v", errUnanswered, limit)
	case err != nil:
		return false, fmt.Errorf("nobody approved it: %w", err)
	case a.Instead != nil && q.Once:
		return false, fmt.Errorf("a person said no, and would %s instead, which was not done", actuator.Describe(a.Instead))
	case a.Instead != nil:
		return false, g.edited(ctx, in, a.Instead, before)
	case !a.Yes && a.Reason != "":
		return false, errors.New("a person said no: " + llm.OneLine(a.Reason))
	case !a.Yes:
		return false, errors.New("a person said no")
	}
	return a.Always, g.changed(ctx, in, before)
}

// edited returns the action that a person has chosen in place of another, as a
// [run.Instead]; or why it cannot be done.
func (g *Guard) edited(ctx context.Context, in run.Intent, a actuator.Action, before run.Capture) error {
	if actuator.KindOf(a) != actuator.Input {
		return fmt.Errorf("a person chose to %s instead, which is nothing that mouse and keyboard do", actuator.Describe(a))
	}
	if in.On != nil {
		named, err := run.Name([]actuator.Action{a}, in.On)
		if err != nil {
			return fmt.Errorf("what a person chose instead cannot be done: %w", err)
		}
		a = named[0]
	}
	in.Action = a
	if err := g.changed(ctx, in, before); err != nil {
		return err
	}
	return &run.Instead{Action: a}
}

// capture takes in what shows whether the screen stays as it is.
func (g *Guard) capture(ctx context.Context, in run.Intent) (c run.Capture, err error) {
	desktop := g.desktopOf(in)
	if desktop == nil || in.On == nil {
		return c, nil
	}
	return desktop.Capture(ctx)
}

// desktopOf returns the desktop on which an action is to be performed; nil if it is not
// known.
func (g *Guard) desktopOf(in run.Intent) run.Desktop {
	if in.Desktop != nil {
		return in.Desktop
	}
	return g.Desktop
}

// changed returns why an action is not any more what was approved.
func (g *Guard) changed(ctx context.Context, in run.Intent, before run.Capture) error {
	desktop := g.desktopOf(in)
	if desktop == nil || in.On == nil {
		return nil
	}
	now, err := desktop.Capture(ctx)
	if err != nil {
		return err
	}
	if desktop.WindowChange(before, now) != "" {
		return errChanged
	}
	if in.Index == 0 && desktop.Surprise(ctx, run.Aim{Action: in.Action, Done: in.Done, Chosen: in.On, Now: now}) != "" {
		return errChanged
	}
	return nil
}

// approval is what a person is asked about an action.
func (g *Guard) approval(in run.Intent, c Class, d decision, f *worldmodel.Foresight) Approval {
	q := Approval{
		Action: actuator.DescribeFull(in.Action), Target: c.Target, Effect: d.effect, Reason: d.reason, Refused: !d.allowed, Task: g.task(),
	}
	if f != nil && f.Undoable && f.Undo != nil {
		q.Undo = *f.Undo
	}
	if in.On != nil {
		q.FrameID, q.Bounds = in.On.FrameID, in.On.Image.Mapping.Bounds()
		if marked, ok := worldmodel.Mark(in.Action, in.On); ok {
			q.Picture = marked
		} else if len(in.On.Image.Data) > 0 {
			q.Picture = llm.Image{Data: in.On.Image.Data, Type: in.On.Image.Type, FrameID: in.On.FrameID}
		}
	}
	return q
}
