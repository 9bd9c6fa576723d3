package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"desktop-agent/llm"
)

// ErrJournal is wrapped by the error that stops a run because an event or a
// frame could not be written.
var ErrJournal = errors.New("journal")

// A Recorder writes the events of a run: it numbers them, keeps them in order,
// and adds up what model calls cost. Its methods may be called from several
// goroutines, all but Begin only after that.
type Recorder struct {
	mu      sync.Mutex // events are written one at a time, in order
	journal Journal
	watch   func(Event)
	seq     int
	step    int
	broken  error
	usage   llm.Usage
	calls   int
	dollars float64
	asked   map[[2]string][]llm.Message // of the last call, by role and purpose
}

// Begin begins a run, before its first step. watch, if not nil, is told each event
// once it is written.
func (r *Recorder) Begin(j Journal, watch func(Event)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.journal, r.watch, r.seq, r.step, r.broken = j, watch, 0, 0, nil
	r.usage, r.calls, r.dollars, r.asked = llm.Usage{}, 0, 0, map[[2]string][]llm.Message{}
}

// Turn begins the next step.
func (r *Recorder) Turn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.step++
}

// Step returns the step that events belong to; 0 before the first.
func (r *Recorder) Step() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.step
}

// Totals returns what the model calls cost, and how many there were.
func (r *Recorder) Totals() (usage llm.Usage, calls int, dollars float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.usage, r.calls, r.dollars
}

// Emit writes an event to the journal, and then shows it to who watches. Once
// an event was lost, nothing more is written: a journal has no holes. Its error
// wraps [ErrJournal].
func (r *Recorder) Emit(ctx context.Context, data EventData) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.write(ctx, data)
}

// write is Emit while r.mu is held.
func (r *Recorder) write(ctx context.Context, data EventData) error {
	if r.broken != nil {
		return r.broken
	}
	e := Event{Seq: r.seq + 1, Time: time.Now(), Step: r.step, Kind: data.kind(), Data: data}
	// What happened is written also when the run is being stopped.
	if err := r.journal.Event(context.WithoutCancel(ctx), e); err != nil {
		r.broken = fmt.Errorf("%w: %w", ErrJournal, err)
		return r.broken
	}
	r.seq++
	if r.watch != nil {
		r.watch(e)
	}
	return nil
}

// Call writes a model call, and adds it up; it is what [llm.Client.Record] of
// the run's models must be.
func (r *Recorder) Call(ctx context.Context, call llm.Call) error {
	req := call.Request
	e := ModelCalled{
		Role: req.Role, Purpose: req.Purpose, Prompt: req.Prompt, Model: req.Model, Response: call.Response,
		Millis: call.Latency.Milliseconds(), Attempts: call.Attempts, Usage: call.Usage, Dollars: call.Dollars,
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
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	r.dollars += call.Dollars
	r.usage = r.usage.Plus(call.Usage)
	// A conversation grows at its end: only that is written.
	key := [2]string{string(req.Role), req.Purpose}
	e.Shared = shared(r.asked[key], req.Messages)
	for _, m := range req.Messages[e.Shared:] {
		e.Messages = append(e.Messages, Written(m))
	}
	r.asked[key] = req.Messages
	return r.write(ctx, e)
}

// shared returns how many messages two conversations begin with in common, as
// the journal keeps them.
func shared(before, now []llm.Message) (n int) {
	for n < min(len(before), len(now)) && sameMessage(before[n], now[n]) {
		n++
	}
	return n
}

func sameMessage(a, b llm.Message) bool {
	return a.From == b.From && a.CallID == b.CallID && slices.Equal(a.Calls, b.Calls) &&
		slices.EqualFunc(a.Parts, b.Parts, samePart)
}

func samePart(a, b llm.Part) bool {
	switch a := a.(type) {
	case llm.Text:
		return a == b
	case llm.Image:
		b, ok := b.(llm.Image)
		return ok && a.FrameID == b.FrameID
	}
	return false
}

// Written returns a message as the journal keeps it.
func Written(m llm.Message) Message {
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
