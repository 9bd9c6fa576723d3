package planner

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"desktop-agent/internal/within"
)

// A Decision is what a person says to a plan.
type Decision struct {
	Plan   *Plan  // that may be executed, as it was shown or as it was edited; nil if it was rejected
	Reason string // why it was rejected
	By     string // who decided: the name of a person, or [ByPolicy]; "" if that is not known
}

// ByPolicy says that nobody answered, and that the settings decided. ByNobody, where it is
// told who approved a plan, says that nobody was asked.
const (
	ByPolicy = "policy"
	ByNobody = "none"
)

// An Approver shows a plan to a person, who may edit it, and waits for the answer. check
// tells what is wrong with an edited plan. An error means that there was no answer.
type Approver func(ctx context.Context, plan *Plan, check func(*Plan) error) (Decision, error)

// errUnanswered is why the wait for an answer ended.
var errUnanswered = errors.New("no answer in time")

// Approve asks a person whether a plan may be executed, for as long as the configuration
// says. Where nobody is there (ask is nil), fails or answers in time, the configuration
// says what becomes of the plan; that it is executed then holds only for the plan as it
// was shown. An error is the end of ctx. The plan that is given stays as it is.
func (p *Planner) Approve(ctx context.Context, plan *Plan, ask Approver) (Decision, error) {
	c := p.Config.WithDefaults()
	var d Decision
	err := ErrNobody
	if ask != nil {
		limited, cancel := context.WithTimeoutCause(ctx, c.ApprovalLimit, errUnanswered)
		defer cancel()
		resume := p.pause()
		shown := plan.Clone()
		d, err = within.Do(limited, "the approver", func() (Decision, error) {
			return ask(limited, shown, func(edited *Plan) error { return edited.ValidateFor(p.Catalog, p.Config) })
		})
		resume()
	}
	switch {
	case ctx.Err() != nil:
		return Decision{}, context.Cause(ctx)
	case err == nil && d.Plan == nil:
		d.Reason = cmp.Or(cleanLine(d.Reason), "without a reason")
		return d, nil
	case err == nil:
		if wrong := d.Plan.ValidateFor(p.Catalog, c); wrong != nil {
			return Decision{Reason: "the plan that was approved is not valid: " + wrong.Error(), By: d.By}, nil
		}
		return d, nil
	case c.Unanswered == ExecuteUnanswered:
		return Decision{Plan: plan.Clone(), By: ByPolicy}, nil
	}
	return Decision{Reason: fmt.Sprintf("%v", err), By: ByPolicy}, nil
}
