package run

import (
	"context"
	"errors"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/screen"
)

// A Concern is what a provider has against a call of its own model, before that is done.
type Concern struct {
	Call    string // its ID
	Checks  []llm.Check
	Actions []actuator.Action   // what the call asks for
	Index   int                 // of the first of them, within the batch
	On      *screen.Observation // what it was chosen on
}

// An Accepter is a guard that can have exactly these checks accepted.
type Accepter interface {
	// Accept returns who accepted them, or an error, which the actor reads. Nothing is
	// accepted by default, nor for another call.
	Accept(context.Context, Concern) (by string, err error)
}

// Accept asks whether a call may be done against which its provider has something. It
// returns why not, for the actor to read; "" if a person or a policy accepted exactly
// these checks. Where there is no guard that could, they are not accepted. What came of it
// is written as [Checked] before it is returned.
func (h *Hand) Accept(ctx context.Context, c Concern) (refusal string, err error) {
	e := Checked{Call: c.Call, Checks: c.Checks}
	by, denied := h.accept(ctx, c)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if denied == nil {
		e.Accepted, e.By = true, by
	} else {
		e.Reason = denied.Error()
		refusal = "the provider of the model raised a safety check that was not accepted: " + e.Reason
	}
	return refusal, h.Scope.Emit(ctx, e)
}

// errNoAccepter says that nobody can accept a check.
var errNoAccepter = errors.New("there is no guard that could ask a person")

// accept asks the guard; one that broke, or breaks on it, accepts nothing.
func (h *Hand) accept(ctx context.Context, c Concern) (by string, err error) {
	g, ok := h.guard.(Accepter)
	if !ok || h.exempt != "" {
		return "", errNoAccepter
	}
	if broken := h.shared().broken.Load(); broken != nil {
		return "", *broken
	}
	return bounded(ctx, h, func(asked context.Context) (string, error) { return g.Accept(asked, c) })
}
