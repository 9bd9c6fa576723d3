package run

import (
	"context"
	"errors"
	"time"

	"desktop-agent/llm"
	"desktop-agent/planner"
)

// A Stop, as an error, ends a run with an outcome that is a result.
type Stop struct {
	Outcome Outcome
	Answer  string        // what the actor said, or why it stops
	Grade   planner.Grade // how well it is known that the task is done
}

func (e *Stop) Error() string { return string(e.Outcome) + ": " + e.Answer }

// A Result is how a run ended.
type Result struct {
	Outcome Outcome
	Grade   planner.Grade // how well it is known that the task is done; "" if it is not, or nobody looked
	Answer  string        // what the actor said at the end, or what stopped it
	Steps   int
	Usage   llm.Usage
	Calls   int // of models
	Dollars float64
	Elapsed time.Duration // of programs: that none worked on the run is not in it (see [Worked])
	// Overridden is how many objections to what was done were overridden.
	Overridden int
}

// Sum returns how a run, or a part of one, ended. err is what ended it, or nil if it is
// done. What is a result is no error any more: a [*Stop], a run that the user stopped, a
// budget that is used up. A desktop that broke is the error, also where what broke
// because of it came first.
func (s *Scope) Sum(ctx context.Context, err error, elapsed time.Duration) (Result, error) {
	result := Result{Outcome: OutcomeDone, Steps: s.Turns(), Elapsed: elapsed}
	if r := s.Recorder(); r != nil {
		result.Usage, result.Calls, result.Dollars = r.Totals()
		result.Overridden = r.overridden()
		result.Elapsed += r.before()
	}
	stop, isStop := errors.AsType[*Stop](err)
	switch {
	case isStop:
		result.Outcome, result.Answer, result.Grade, err = stop.Outcome, stop.Answer, stop.Grade, nil
	case err == nil:
	case errors.Is(context.Cause(ctx), ErrDesktopGone):
		err = context.Cause(ctx)
		result.Outcome, result.Answer = OutcomeFailed, err.Error()
	case ctx.Err() != nil:
		result.Outcome, result.Answer, err = OutcomeStopped, context.Cause(ctx).Error(), nil
	case errors.Is(err, llm.ErrBudget):
		result.Outcome, result.Answer, err = OutcomeOutOfBudget, err.Error(), nil
	default:
		result.Outcome, result.Answer = OutcomeFailed, err.Error()
	}
	return result, err
}

// End ends the run in which the hand acted, with its last event ([Scope.End]): no model is asked,
// and no event written, after that.
func (h *Hand) End(ctx context.Context, err error, elapsed time.Duration) (Result, error) {
	h.finish(ctx)
	return h.Scope.End(ctx, err, elapsed)
}

// End writes the last event, whatever happened. err is what ended the run, or nil if it is
// done; what becomes of it is told by [Scope.Sum]. A run with a hand ends by [Hand.End].
func (s *Scope) End(ctx context.Context, err error, elapsed time.Duration) (Result, error) {
	result, err := s.Sum(ctx, err, elapsed)
	ended := RunEnded{
		Outcome: result.Outcome, Grade: result.Grade, Answer: result.Answer, Steps: result.Steps,
		Usage: result.Usage, Calls: result.Calls, Dollars: result.Dollars, Millis: result.Elapsed.Milliseconds(),
		Overridden: result.Overridden,
	}
	if err != nil {
		ended.Error = err.Error()
	}
	if lost := s.Emit(ctx, ended); lost != nil && !errors.Is(err, ErrJournal) {
		err = errors.Join(err, lost)
	}
	return result, err
}
