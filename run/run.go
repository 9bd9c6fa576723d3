// Package run is what a run is: its events and their recorder, the desktop it works
// on, and what it needs from others.
package run

import (
	"context"
	"errors"

	"desktop-agent/actuator"
	"desktop-agent/screen"
)

// Schema is the version of the events that this package writes.
const Schema = 2

// A Desktop can be looked at and acted on; [Live] is a real one.
type Desktop interface {
	// Observe waits until the screen is still and takes everything in.
	Observe(context.Context) (*screen.Observation, error)
	// Glance takes in what shows whether a batch may go on, once the screen is
	// still if something was done before.
	Glance(context.Context) (Glance, error)
	// Do performs an action. It returns an error of [actuator.ErrRefused] if
	// nothing was sent; after any other it is unknown whether it was.
	Do(context.Context, actuator.Action, actuator.Frame) (output string, err error)
}

// A Past is a [Desktop] that was recorded: it tells what a live one shows
// between the frames of a journal.
type Past interface {
	Desktop
	// Screen names the screen of the newest observation; see [monitor.Screens].
	Screen() string
	// Stopped returns why the batch of this step was stopped before the action
	// of this index; "" if it was not.
	Stopped(index int) string
	// Still reports whether the action of this index changed nothing.
	Still(index int) bool
}

// A Guard has the last word on every action, right before it is performed. An
// error refuses the action; its text is read by the actor.
type Guard interface {
	Allow(context.Context, actuator.Action, *screen.Observation) error
}

// A Journal keeps what happens. Both methods return once the event or the frame
// is safe; an error stops the run before the next act.
type Journal interface {
	Frame(context.Context, *screen.Observation) error
	Event(context.Context, Event) error
}

// ErrNobody is what [Agent.Ask] returns where nobody can be asked.
var ErrNobody = errors.New("nobody can be asked")

// ErrDesktopGone, as the cause of a cancelled context, says that the desktop
// broke: the run ends with an error, not as one that the user stopped.
var ErrDesktopGone = errors.New("the desktop is gone")
