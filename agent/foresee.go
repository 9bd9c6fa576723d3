package agent

import (
	"cmp"
	"context"
	"fmt"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// foresight is what the guard foresaw of the last batch.
func (r *episode) foresight() *worldmodel.Foresight { return run.Foreseen(r.last.results) }

// blocked decides what becomes of a run whose actor proposes again and again what the
// guard refuses: it never is what was refused. By the settings the run goes on
// without it ("wait"), the user is asked what to do instead ("ask"; if nobody is there
// it stops), or the run stops ("stop").
func (r *episode) blocked(ctx context.Context, b batch) error {
	if len(b.results) == 0 {
		return nil
	}
	last := b.results[len(b.results)-1]
	if last.Status != actuator.Refused || last.Ruling.Times < cmp.Or(r.Settings.Agent.MaxBlocked, run.DefaultMaxBlocked) {
		return nil
	}
	why := fmt.Sprintf("the guard refused %d times to %s: %s", last.Ruling.Times, actuator.Describe(last.Action), last.Ruling.Reason)
	stop := &run.Stop{Outcome: run.OutcomeBlocked, Answer: why}
	switch r.Settings.Agent.OnBlock {
	case run.OnBlockWait:
		return nil
	case run.OnBlockStop:
		return stop
	}
	if r.Ask == nil {
		return stop
	}
	question := "The agent goes round in circles: " + why + ". What shall it do instead?"
	answer, err := r.asked(ctx, question)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return stop
	}
	r.last.answer = answer
	return r.emit(ctx, run.Answered{Question: question, Answer: answer})
}
