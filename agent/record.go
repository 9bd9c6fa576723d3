package agent

import (
	"context"

	"desktop-agent/run"
	"desktop-agent/screen"
)

// emit writes an event of the run.
func (a *Agent) emit(ctx context.Context, data run.EventData) error { return a.Scope.Emit(ctx, data) }

// observe takes in the desktop, and stores the frame and what was seen.
func (r *episode) observe(ctx context.Context) error {
	now, err := r.Desktop.Observe(ctx)
	if err != nil {
		return err
	}
	r.now, r.screen = now, r.Desktop.ScreenName(now)
	return r.Scope.Observe(ctx, now, r.screen)
}

// record closes a turn, once it is seen what came of it: the last result of the
// batch, which was still open, and what the actor and the detectors know of it.
// chosen is the observation that the batch was chosen on, and before the name of its
// screen.
func (r *episode) record(ctx context.Context, t turn, b batch, chosen *screen.Observation, before string) error {
	if n := len(b.results); n > 0 {
		last := b.results[n-1]
		same := func() bool { return run.NothingChanged(last.Action, n-1, b.before, chosen, r.now) }
		if err := last.Close(ctx, func() bool { return r.Desktop.Unchanged(last.Index, same) }); err != nil {
			return err
		}
		r.before = chosen
	}
	m := r.monitorTurn(t)
	m.Screen, m.Statuses, m.Answered = before, b.statuses(), b.answer != ""
	r.turns = append(r.turns, m)
	r.trouble.came(b.words())
	r.past.came(r.Scope.Step(), r.now)
	r.remember(t, b)
	return nil
}
