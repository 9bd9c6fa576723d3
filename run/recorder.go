package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"desktop-agent/llm"
	"desktop-agent/screen"
)

// ErrJournal is wrapped by the error that stops a run because an event or a
// frame could not be written.
var ErrJournal = errors.New("journal")

// A Journal keeps what happens. Both methods return once the event or the frame
// is safe; an error stops the run before the next act. The rules that hold of each
// are those of [desktop-agent/run/runtest.TestJournal].
type Journal interface {
	Frame(context.Context, *screen.Observation) error
	Event(context.Context, Event) error
}

// A Recorder writes the events of one run to its journal: it numbers them, keeps
// them in order, and adds up what model calls cost. Those who act write through a
// [Scope] of it. Its methods may be called from several goroutines.
type Recorder struct {
	journal Journal
	hide    func(string) string // takes secrets out; nil: there are none

	// retrace takes events that are in the journal already; nil: none are.
	retrace func(context.Context, Event) (known bool, err error)

	mu      sync.Mutex // events are written one at a time, in order
	onward  bool       // no event is in the journal already any more
	seq     int
	at      time.Time // of the newest event
	broken  error
	spent   llm.Spent                      // by calls of models
	earlier time.Duration                  // that a program before this one worked on the run
	ignored int                            // objections that were overridden
	asked   map[Conversation][]llm.Message // of the last call of each

	look     sync.Mutex // held while a frame is stored and its event is written: they belong together
	displays atomic.Int64

	tell    sync.Mutex // guards the fields below, and is never held while watch is called
	watch   []func(Event)
	told    []Event // written, and not yet told
	telling bool    // somebody is calling watch
}

// A Conversation is what the calls of models of one agent in one role for one purpose make:
// each begins with messages of the one before.
type Conversation struct {
	Agent   string
	Role    llm.Role
	Purpose string
}

// NewRecorder begins the journal of a run. watch, if not nil, is told each event
// once it is written, one at a time and in order. It may take its time and may
// write events itself: nobody else has to wait for it.
func NewRecorder(j Journal, watch func(Event)) *Recorder {
	r := &Recorder{journal: j, asked: map[Conversation][]llm.Message{}}
	if watch != nil {
		r.Watch(watch)
	}
	return r
}

// Watch has another one be told of each event that is written from now on, as [NewRecorder]
// says.
func (r *Recorder) Watch(watch func(Event)) {
	if r == nil { // of a scope without a recorder: nothing is written
		return
	}
	r.tell.Lock()
	defer r.tell.Unlock()
	r.watch = append(slices.Clip(r.watch), watch)
}

// nextDisplay returns what the IDs of the frames of another display begin with.
func (r *Recorder) nextDisplay() string { return fmt.Sprintf("d%d-", r.displays.Add(1)+1) }

// Where says to whom events belong, where several share a journal.
type Where struct {
	Agent    string // who acts, such as "agent", "macro" or "person"
	Display  string // the display that it acts on, such as ":0"; "" where there is none
	PlanStep int    // the step of a plan that has one episode for each; 0 where there is none
}

// Scope returns a writer of the events of one who acts, before its first step.
func (r *Recorder) Scope(w Where) *Scope { return &Scope{rec: r, where: w, turns: &atomic.Int64{}} }

// Totals returns what all model calls cost, and how many there were.
func (r *Recorder) Totals() (usage llm.Usage, calls int, dollars float64) {
	if r == nil {
		return usage, 0, 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spent.Usage, r.spent.Calls, r.spent.Dollars
}

// overridden returns how many objections to what was done were overridden.
func (r *Recorder) overridden() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ignored
}

// write writes an event and then has it told to who watches. Once an event was
// lost, nothing more is written: a journal has no holes. fill, if not nil, makes
// the data while the order of events is fixed. first, if not nil, is done right before:
// no other frame is stored in between.
func (r *Recorder) write(ctx context.Context, e Event, fill func() EventData, first func() error) error {
	if r.retracing() {
		return r.again(ctx, e, fill, first)
	}
	return r.fresh(ctx, e, fill, first)
}

// retracing reports whether events may be in the journal already.
func (r *Recorder) retracing() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.retrace != nil && !r.onward
}

// again writes an event unless the journal of a run that is resumed has it, with its frame.
func (r *Recorder) again(ctx context.Context, e Event, fill func() EventData, first func() error) error {
	if fill != nil {
		r.mu.Lock()
		spent := r.spent
		e.Data = fill()
		r.spent = spent // it was added up
		r.mu.Unlock()
	}
	e.Data, e.Kind = hidden(e.Data, r.hide), e.Data.kind()
	if known, err := r.retrace(ctx, e); known || err != nil {
		return err
	}
	return r.fresh(ctx, e, nil, first)
}

// fresh writes an event.
func (r *Recorder) fresh(ctx context.Context, e Event, fill func() EventData, first func() error) error {
	err := func() error {
		if first != nil {
			r.look.Lock()
			defer r.look.Unlock()
			if err := first(); err != nil {
				return err
			}
		}
		return r.append(ctx, e, fill)
	}()
	if err != nil {
		return err
	}
	r.spread()
	return nil
}

// append numbers an event and gives it to the journal.
func (r *Recorder) append(ctx context.Context, e Event, fill func() EventData) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if fill != nil {
		e.Data = fill()
	}
	if r.broken != nil {
		return r.broken
	}
	e.Data = hidden(e.Data, r.hide)
	if e.Time.Before(r.at) {
		e.Time = r.at
	}
	e.Seq, e.Kind = r.seq+1, e.Data.kind()
	// What happened is written also when the run is being stopped.
	if err := r.journal.Event(context.WithoutCancel(ctx), e); err != nil {
		r.broken = fmt.Errorf("%w: %w", ErrJournal, err)
		return r.broken
	}
	r.seq, r.at = e.Seq, e.Time
	if reviewed, ok := e.Data.(Reviewed); ok && reviewed.Overridden {
		r.ignored++
	}
	r.tell.Lock()
	defer r.tell.Unlock()
	if len(r.watch) > 0 {
		r.told = append(r.told, e)
	}
	return nil
}

// resume has the events go on where those of an earlier program end.
func (r *Recorder) resume(so Sofar, known func(context.Context, Event) (bool, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retrace, r.earlier = known, so.Time
	r.seq, r.at, r.spent, r.ignored = so.Resumed.From, so.At, so.Spent, so.Overridden
}

// goOn has events written again. What models were asked is written anew as a whole.
func (r *Recorder) goOn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.onward = true
	clear(r.asked)
}

// before returns how long a program before this one worked on the run.
func (r *Recorder) before() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.earlier
}

// spread tells what was written, unless somebody is doing that already: then
// that one goes on with what has come since.
func (r *Recorder) spread() {
	r.tell.Lock()
	defer r.tell.Unlock()
	if r.telling {
		return
	}
	r.telling = true
	defer func() { r.telling = false }()
	for len(r.told) > 0 {
		e := r.told[0]
		r.told = r.told[1:]
		watch := r.watch
		func() {
			r.tell.Unlock()
			defer r.tell.Lock()
			for _, f := range watch {
				f(e)
			}
		}()
	}
}

// frame stores the frame of an observation.
func (r *Recorder) frame(ctx context.Context, o *screen.Observation) error {
	if r.retracing() { // it is there
		return nil
	}
	if err := r.journal.Frame(context.WithoutCancel(ctx), o); err != nil {
		return fmt.Errorf("%w: frame %s: %w", ErrJournal, o.FrameID, err)
	}
	return nil
}

// A Scope writes the events of one who acts. Its methods may be called from
// several goroutines.
type Scope struct {
	rec   *Recorder
	where Where
	turns *atomic.Int64 // of all who act in the run

	mu      sync.Mutex
	step    int
	follows bool // it has no steps of its own: its events belong to the newest of the run
}

// Follow has the events belong, from now on, to the newest step of all who act in the run.
// It is for who only looks after them.
func (s *Scope) Follow() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follows = true
}

// Beside returns a writer for another who acts in the same run, as of its newest step.
// Those who act beside each other number their steps together: no two have the same.
func (s *Scope) Beside(w Where) *Scope {
	if s == nil {
		return nil
	}
	return &Scope{rec: s.rec, where: w, turns: s.turns, step: s.Turns()}
}

// Where returns to whom the events belong.
func (s *Scope) Where() Where {
	if s == nil {
		return Where{}
	}
	return s.where
}

// errNotBegun is the error of a scope without a recorder.
var errNotBegun = fmt.Errorf("%w: there is none: a scope comes from a recorder (run.NewRecorder)", ErrJournal)

// usable returns why nothing can be written through a scope.
func (s *Scope) usable() error {
	if s == nil || s.rec == nil || s.rec.journal == nil {
		return errNotBegun
	}
	return nil
}

// Recorder returns the recorder that the scope writes through; nil if it has none.
func (s *Scope) Recorder() *Recorder {
	if s == nil {
		return nil
	}
	return s.rec
}

// Turn begins the next step.
func (s *Scope) Turn() {
	if s == nil || s.turns == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.step = int(s.turns.Add(1))
}

// Turns returns how many steps all who act in the run have begun together.
func (s *Scope) Turns() int {
	if s == nil || s.turns == nil {
		return 0
	}
	return int(s.turns.Load())
}

// Step returns the step that events belong to; 0 before the first.
func (s *Scope) Step() int {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.follows {
		return s.Turns()
	}
	return s.step
}

// Emit writes an event. Its error wraps [ErrJournal].
func (s *Scope) Emit(ctx context.Context, data EventData) error {
	return s.EmitAt(ctx, time.Now(), data)
}

// EmitAt writes an event of a moment that is past. Times never go back: one
// before that of the event before becomes the same.
func (s *Scope) EmitAt(ctx context.Context, at time.Time, data EventData) error {
	if err := s.usable(); err != nil {
		return err
	}
	return s.rec.write(ctx, s.event(at, data), nil, nil)
}

// event is an event of the present step.
func (s *Scope) event(at time.Time, data EventData) Event {
	return Event{
		Time: at, Step: s.Step(), Data: data, Agent: s.where.Agent, Display: s.where.Display, PlanStep: s.where.PlanStep,
	}
}

// Observe stores the frame of an observation, and what was seen. name is the
// screen's, by [Desktop.ScreenName].
func (s *Scope) Observe(ctx context.Context, o *screen.Observation, name string) error {
	return s.ObserveAt(ctx, time.Now(), o, name)
}

// ObserveAt is Observe of a moment that is past, as in [Scope.EmitAt].
func (s *Scope) ObserveAt(ctx context.Context, at time.Time, o *screen.Observation, name string) error {
	if err := s.usable(); err != nil {
		return err
	}
	return s.rec.write(ctx, s.event(at, observed(o, name)), nil, func() error { return s.rec.frame(ctx, o) })
}

// Call writes a model call, and adds it up; it is what [llm.Client.Record] of
// the run's models must be.
func (s *Scope) Call(ctx context.Context, call llm.Call) error {
	if err := s.usable(); err != nil {
		return err
	}
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
	r := s.rec
	return r.write(ctx, s.event(time.Now(), nil), func() EventData {
		r.spent = r.spent.Plus(e.Spent())
		// A conversation grows at its end: only that is written.
		key := Conversation{s.where.Agent, req.Role, req.Purpose}
		e.Shared = shared(r.asked[key], req.Messages)
		for _, m := range req.Messages[e.Shared:] {
			e.Messages = append(e.Messages, Written(m))
		}
		r.asked[key] = req.Messages
		return e
	}, nil)
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
	return a.From == b.From && a.CallID == b.CallID && a.Failed == b.Failed && slices.Equal(a.Accepted, b.Accepted) &&
		slices.EqualFunc(a.Calls, b.Calls, llm.ToolCall.Equal) &&
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
	out := Message{From: m.From, Calls: m.Calls, CallID: m.CallID, Accepted: m.Accepted, Failed: m.Failed}
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

// A Memory is a [Journal] that keeps events in memory, and of frames their IDs:
// for what needs no file, and for tests. The zero value is empty.
type Memory struct {
	mu     sync.Mutex
	events []Event
	frames []string
}

// Frame notes the frame's ID.
func (m *Memory) Frame(_ context.Context, o *screen.Observation) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.frames = append(m.frames, o.FrameID)
	return nil
}

// Event keeps an event.
func (m *Memory) Event(_ context.Context, e Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, e)
	return nil
}

// Events returns the events so far, in order.
func (m *Memory) Events() []Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.events)
}

// Frames returns the IDs of the frames so far, in order.
func (m *Memory) Frames() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.frames)
}
