package agent

import (
	"context"
	"fmt"

	"desktop-agent/llm"
	"desktop-agent/run"
)

// emit writes an event of the run.
func (a *Agent) emit(ctx context.Context, data run.EventData) error { return a.rec.Emit(ctx, data) }

// RecordCall writes a model call to the journal; it is what [llm.Client.Record]
// of the run's models must be.
func (a *Agent) RecordCall(ctx context.Context, call llm.Call) error { return a.rec.Call(ctx, call) }

// observe looks at the desktop, and stores the frame and what was seen.
func (r *episode) observe(ctx context.Context) error {
	now, err := r.Desktop.Observe(ctx)
	if err != nil {
		return err
	}
	if err := r.Journal.Frame(context.WithoutCancel(ctx), now); err != nil {
		return fmt.Errorf("%w: frame %s: %w", run.ErrJournal, now.FrameID, err)
	}
	r.now, r.screen = now, r.screenName(now)
	return r.emit(ctx, run.Saw(now, r.screen))
}
