package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"desktop-agent/llm"
	"desktop-agent/screen"
)

// Schema is the version of the events that this package writes.
const Schema = 1

// ErrJournal is wrapped by the error that stops a run because an event or a
// frame could not be written.
var ErrJournal = errors.New("journal")

// A recorder numbers events and adds up what the model calls cost.
type recorder struct {
	mu      sync.Mutex // events are written one at a time, in order
	broken  error
	usage   llm.Usage
	calls   int
	dollars float64
}

// emit writes an event to the journal, and then shows it to who watches. Once
// an event was lost, nothing more is written: a journal has no holes.
func (a *Agent) emit(ctx context.Context, data EventData) error {
	a.rec.mu.Lock()
	defer a.rec.mu.Unlock()
	if a.rec.broken != nil {
		return a.rec.broken
	}
	e := Event{Seq: int(a.seq.Add(1)), Time: time.Now(), Step: int(a.step.Load()), Kind: data.kind(), Data: data}
	// What happened is written also when the run is being stopped.
	if err := a.Journal.Event(context.WithoutCancel(ctx), e); err != nil {
		a.rec.broken = fmt.Errorf("%w: %w", ErrJournal, err)
		return a.rec.broken
	}
	if a.Watch != nil {
		a.Watch(e)
	}
	return nil
}

// RecordCall writes a model call to the journal; it is what [llm.Client.Record]
// of the run's models must be.
func (a *Agent) RecordCall(ctx context.Context, call llm.Call) error {
	req := call.Request
	e := ModelCalled{
		Role: req.Role, Purpose: req.Purpose, Prompt: req.Prompt, Model: req.Model,
		Messages: make([]Message, 0, len(req.Messages)), Response: call.Response,
		Millis: call.Latency.Milliseconds(), Attempts: call.Attempts, Usage: call.Usage, Dollars: call.Dollars,
	}
	for _, m := range req.Messages {
		e.Messages = append(e.Messages, recordMessage(m))
	}
	for _, t := range req.Tools {
		e.Tools = append(e.Tools, t.Name)
	}
	if req.Schema != nil {
		e.Schema = req.Schema.Name
	}
	if call.Err != nil {
		e.Error = call.Err.Error()
	}
	a.rec.mu.Lock()
	a.rec.calls++
	a.rec.dollars += call.Dollars
	a.rec.usage = a.rec.usage.Plus(call.Usage)
	a.rec.mu.Unlock()
	return a.emit(ctx, e)
}

func recordMessage(m llm.Message) Message {
	out := Message{From: m.From, Calls: m.Calls, CallID: m.CallID}
	for _, part := range m.Parts {
		switch p := part.(type) {
		case llm.Text:
			if out.Text != "" {
				out.Text += "\n"
			}
			out.Text += string(p)
		case llm.Image:
			out.Images = append(out.Images, p.FrameID)
		}
	}
	return out
}

// reset begins a new run.
func (r *recorder) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken, r.usage, r.calls, r.dollars = nil, llm.Usage{}, 0, 0
}

func (r *recorder) totals() (llm.Usage, int, float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.usage, r.calls, r.dollars
}

// observe looks at the desktop, and stores the frame and what was seen.
func (r *run) observe(ctx context.Context) error {
	now, err := r.Desktop.Observe(ctx)
	if err != nil {
		return err
	}
	if err := r.Journal.Frame(context.WithoutCancel(ctx), now); err != nil {
		return fmt.Errorf("%w: frame %s: %w", ErrJournal, now.FrameID, err)
	}
	r.now, r.screen = now, r.screens.Name(now.Bare)
	e := Observed{
		FrameID: now.FrameID, At: now.At, Mapping: now.Image.Mapping, Frame: now.Frame.Rect.Size(),
		Cursor: now.Cursor, Monitors: now.Monitors, Windows: now.Windows, Text: now.Text(r.Actor.ScreenTokens),
		Targets: targets(now), Hung: now.Tree.Hung, Settled: now.Settled, Timing: now.Timing,
	}
	if now.Tree.Err != nil {
		e.TreeErr = now.Tree.Err.Error()
	}
	return r.emit(ctx, e)
}

func targets(o *screen.Observation) []Target {
	list := make([]Target, len(o.Tree.Nodes))
	for i, n := range o.Tree.Nodes {
		list[i] = Target{ID: n.ID, PID: n.PID, Parent: n.Parent, Role: n.Role, Name: n.Name, Box: n.Box}
	}
	return list
}
