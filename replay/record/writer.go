package record

import (
	"context"
	"fmt"
	"image"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/monitor"
	"desktop-agent/run"
)

// A step is a gesture as the journal keeps it.
type step struct {
	before     *observation // what the person saw; nil if nothing newer than at the step before
	actions    []actuator.Action
	params     []run.Param
	detail     string // what a reader must know of it
	begin, end time.Time
}

// A writer writes steps to the journal, as an agent does its own.
type writer struct {
	scope   *run.Scope
	n       int // of the last step
	frames  int
	screens monitor.Screens
	shown   *observation // the newest that is in the journal
	open    *step        // the last step, whose effect is not known yet
}

// observe writes an observation and its frame.
func (w *writer) observe(ctx context.Context, l *observation) error {
	w.frames++
	l.FrameID = fmt.Sprintf("f%04d", w.frames)
	w.shown = l
	return w.scope.ObserveAt(ctx, l.At, l.Observation, w.screens.Name(l.Bare))
}

// write closes the step before, and writes this one up to its effect.
func (w *writer) write(ctx context.Context, s *step) error {
	if err := w.close(ctx, s.before); err != nil {
		return err
	}
	w.n++
	w.scope.Turn()
	proposed := run.Proposed{FrameID: w.shown.FrameID, Params: s.params}
	for _, a := range s.actions {
		proposed.Actions = append(proposed.Actions, run.Recorded{Action: a})
	}
	if err := w.scope.EmitAt(ctx, s.begin, proposed); err != nil {
		return err
	}
	for i, a := range s.actions {
		if i > 0 {
			if err := w.scope.EmitAt(ctx, s.begin, run.Acted{Index: i - 1, Status: actuator.Delivered}); err != nil {
				return err
			}
		}
		acting := run.Acting{Index: i, Action: run.Recorded{Action: a}}
		for _, p := range actuator.Points(a) {
			acting.Device = append(acting.Device, w.shown.Image.Mapping.ToDevice(image.Pt(p.X, p.Y)))
		}
		if err := w.scope.EmitAt(ctx, s.begin, acting); err != nil {
			return err
		}
	}
	w.open = s
	return nil
}

// close writes what the step before led to. after is nil if it was not seen.
func (w *writer) close(ctx context.Context, after *observation) error {
	if after == w.shown {
		after = nil
	}
	if s := w.open; s != nil {
		last := len(s.actions) - 1
		acted := run.Acted{Index: last, Status: actuator.Delivered, Detail: s.detail, Millis: s.end.Sub(s.begin).Milliseconds()}
		if after != nil && actuator.Shows(s.actions[last]) && run.NothingChanged(s.actions[last], 0, w.shown.Bare, w.shown.Observation, after.Observation) {
			acted.Status = actuator.NoEffect
		}
		w.open = nil
		if err := w.scope.EmitAt(ctx, s.end, acted); err != nil {
			return err
		}
	}
	if after == nil {
		return nil
	}
	return w.observe(ctx, after)
}
