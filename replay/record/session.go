package record

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/run"
)

const (
	keptObservations = 4                      // so many of the newest are kept
	quickLimit       = 100 * time.Millisecond // a quick look that is taken later than this after the input is none
	observeLimit     = 5 * time.Second        // for one that is waited for
	endLimit         = 10 * time.Second       // for all that is left to do at the end
	maxBatch         = 50                     // actions of a step
	stepRoom         = 256                    // steps that may wait to be written
)

// A session is one recording. Its fields belong to the goroutine of run, but for
// the queue.
type session struct {
	*Recorder
	source  *source
	watcher *watcher
	asm     assembler

	mu    sync.Mutex
	queue []event
	ready chan struct{} // has room for one: something is in the queue

	observations []*observation // oldest first
	readings     []reading
	shifts       []shift
	pending      []*gesture   // oldest first; the last one may be open
	last         *gesture     // the newest that was begun
	shown        *observation // what the newest step was recorded with
	secret       int          // how many shifts came before the last secret; -1 if there was none
	observing    bool         // a quick look is being taken
	quick        chan quickObservation
	held         *step // the newest, as long as more may belong to it
	steps        chan *step
	ended        bool // no more input is taken
	result       Result
	start        time.Time
}

// A quickObservation is one that was taken.
type quickObservation struct {
	gesture *gesture
	look    *observation // nil if it failed
}

func newSession(r *Recorder) *session {
	s := &session{Recorder: r, secret: -1, ready: make(chan struct{}, 1), quick: make(chan quickObservation, 1), steps: make(chan *step, stepRoom)}
	s.asm = assembler{stop: r.stopKeys(), begun: s.begun, done: func(*gesture) {}}
	s.watcher = &watcher{screen: r.Screen, log: r.log(), out: make(chan *observation), wake: make(chan struct{}, 1)}
	return s
}

// run does the recording, and ends all that it began.
func (s *session) run(ctx context.Context) (result Result, err error) {
	source, err := openSource(ctx, s.Display, s.take, s.watcher.draw)
	if err != nil {
		return s.result, err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	s.source, s.watcher.picture = source, source.picture
	first, err := s.Screen.Observe(ctx)
	if err != nil {
		return s.result, err
	}
	s.start = first.At
	s.watcher.last = first.Bare
	s.saw(&observation{first, first.At, time.Now()})
	w := &writer{scope: s.Scope}
	if err := s.begin(ctx, w); err != nil {
		return s.result, err
	}
	s.shown = s.observations[0]
	if s.Ready != nil {
		s.Ready()
	}

	// What is begun here may be finished when ctx has ended.
	alive, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var parts sync.WaitGroup
	failed := make(chan error, 2)
	written := make(chan struct{})
	parts.Go(func() { failed <- s.watcher.run(alive) })
	go func() {
		defer close(written)
		failed <- s.writeSteps(alive, w)
		for range s.steps { // after an error: whoever sends them must not wait
		}
	}()
	err = s.loop(ctx, alive, failed)
	close(s.steps)
	<-written
	cancel()
	parts.Wait()
	for range len(failed) {
		err = errors.Join(err, <-failed)
	}
	s.result.Elapsed, s.result.Steps, s.result.Missed = time.Since(s.start), w.n, s.asm.missed
	if err == nil {
		err = &run.Stop{Outcome: s.result.Outcome}
	}
	ended, err := s.Scope.End(context.WithoutCancel(ctx), err, s.result.Elapsed)
	s.result.Outcome = ended.Outcome
	return s.result, err
}

// begin writes the first events.
func (s *session) begin(ctx context.Context, w *writer) error {
	err := s.Scope.EmitAt(ctx, s.start, run.RunStarted{
		Schema: run.Schema, Task: s.Task, Planning: "off", Guard: run.NoGuard,
		Models: map[string]string{string(llm.Actor): "person"}, Settings: s.Settings,
	})
	if err != nil {
		return err
	}
	return w.observe(ctx, s.observations[0])
}

// writeSteps writes steps until there are no more, and then what the last led to.
func (s *session) writeSteps(ctx context.Context, w *writer) error {
	for st := range s.steps {
		var err error
		if st.actions == nil {
			err = w.close(ctx, st.before)
		} else {
			err = w.write(ctx, st)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take queues an event; any goroutine may call it.
func (s *session) take(e event) {
	s.mu.Lock()
	if n := len(s.queue); e.kind == motion && n > 0 && s.queue[n-1].kind == motion && s.queue[n-1].held == e.held && n > maxQueue {
		s.queue[n-1] = e // nobody reads for a long time
	} else {
		s.queue = append(s.queue, e)
	}
	s.mu.Unlock()
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// maxQueue is how many events wait before motion is thinned.
const maxQueue = 100_000

// loop takes what happens until the recording ends.
func (s *session) loop(ctx, alive context.Context, failed <-chan error) error {
	timer := time.NewTicker(50 * time.Millisecond)
	timer.Stop()
	defer timer.Stop()
	ticking := false
	for {
		select {
		case <-s.ready:
			if stop := s.drain(alive); stop {
				s.result.Outcome = run.OutcomeDone
				return s.finish(alive, failed)
			}
		case l := <-s.watcher.out:
			s.saw(l)
		case g := <-s.quick:
			s.tookQuick(g)
		case now := <-timer.C:
			s.asm.tick(now)
		case err := <-failed:
			s.leave()
			return err
		case <-s.source.done():
			s.leave()
			return s.source.err()
		case <-ctx.Done():
			s.drain(alive)
			s.asm.finish()
			s.dropInterrupt()
			s.result.Outcome = run.OutcomeStopped
			return s.finish(alive, failed)
		}
		s.emit(time.Now())
		if busy := len(s.pending) > 0 || s.held != nil; busy != ticking { // no timer while nothing is open
			if ticking = busy; busy {
				timer.Reset(50 * time.Millisecond)
			} else {
				timer.Stop()
			}
		}
	}
}

// drain takes what is in the queue. It returns true at the hotkey.
func (s *session) drain(ctx context.Context) bool {
	s.mu.Lock()
	events := s.queue
	s.queue = nil
	s.mu.Unlock()
	for _, e := range events {
		if e.at.Before(s.start) {
			continue
		}
		if e.kind != motion && e.kind != focusMoved {
			s.result.Events++
		}
		moves := e.moves()
		if moves {
			s.shifts = append(s.shifts, shift{e.at, e.kind == keyDown && e.key.name == "enter" && e.held == (held{})})
		}
		if e.kind != motion {
			s.watcher.poke(moves)
		}
		s.asm.tick(e.at)
		if s.asm.feed(e) {
			return true
		}
		s.observeQuickly(ctx)
	}
	return false
}

// begun takes a gesture that has begun, with the newest look before it.
func (s *session) begun(g *gesture) {
	if s.last != nil {
		g.after = s.last.end
	}
	s.last, g.shifts = g, len(s.shifts)
	s.pending = append(s.pending, g)
	for _, l := range s.observations {
		s.offer(g, l)
	}
}

// offer gives a gesture a look, if it was taken between the gesture before and
// this one, and is newer than the one it has.
func (s *session) offer(g *gesture, l *observation) {
	if l.At.Before(g.after) || l.At.After(g.begin) || g.before != nil && !l.At.After(g.before.At) {
		return
	}
	g.before = l
}

// observeQuickly takes a quick look if the newest gesture has none that shows what it
// is about. Only the newest event is new enough for that.
func (s *session) observeQuickly(ctx context.Context) {
	g := s.last
	if g == nil || g.asked || s.observing || s.Quick == nil || g.closed && time.Since(g.begin) > quickLimit {
		return
	}
	g.asked = true
	if g.first.kind != buttonDown {
		return // what it shows would be mixed with what the keys do
	}
	if g.before != nil && shows(g.before.Observation, g.first) {
		return
	}
	s.observing, g.quick = true, true
	go func() {
		ctx, cancel := context.WithTimeout(ctx, observeLimit)
		defer cancel()
		began := time.Now()
		o, err := s.Quick.Observe(ctx)
		if err != nil {
			s.quick <- quickObservation{gesture: g}
			return
		}
		s.quick <- quickObservation{g, &observation{o, began, time.Now()}}
	}()
}

// tookQuick takes a quick observation in. It is good if it shows what was there when the
// gesture began.
func (s *session) tookQuick(q quickObservation) {
	s.observing, q.gesture.quick = false, false
	if l, g := q.look, q.gesture; l != nil && l.At.Sub(g.begin) <= quickLimit && !l.At.Before(g.after) && shows(l.Observation, g.first) {
		g.before = l
	}
}

// saw takes a look.
func (s *session) saw(l *observation) {
	s.observations = append(s.observations, l)
	if len(s.observations) > keptObservations {
		s.observations = slices.Delete(s.observations, 0, len(s.observations)-keptObservations)
	}
	s.readings = append(s.readings, reading{l.began, l.done, fieldOf(l.Observation), focusOf(l.Observation)})
	for _, g := range s.pending {
		s.offer(g, l)
	}
	s.forget()
}

// forget drops what is too old to tell of any gesture to come.
func (s *session) forget() {
	const kept = 1000
	if n := len(s.readings); n > 2*kept {
		s.readings = slices.Delete(s.readings, 0, n-kept)
	}
}

// emit hands on the gestures of which all is known, in order.
func (s *session) emit(now time.Time) {
	for len(s.pending) > 0 && s.known(s.pending[0], now) {
		g := s.pending[0]
		s.pending = slices.Delete(s.pending, 0, 1)
		if st := s.step(g); st != nil {
			s.add(st)
		}
	}
	if s.held != nil && len(s.pending) == 0 && s.observations[len(s.observations)-1].At.After(s.held.end) {
		s.hand()
	}
}

// add takes a step. What came before the desktop was seen again belongs to the
// step before: of neither is known what it led to by itself.
func (s *session) add(st *step) {
	if s.held == nil || st.before != nil || len(s.held.actions)+len(st.actions) > maxBatch {
		s.hand()
		s.held = st
		return
	}
	for _, p := range st.params {
		p.Index += len(s.held.actions)
		s.held.params = append(s.held.params, p)
	}
	s.held.actions = append(s.held.actions, st.actions...)
	s.held.end, s.held.detail = st.end, cmp.Or(s.held.detail, st.detail)
}

// hand hands on the step that is held back.
func (s *session) hand() {
	if s.held != nil {
		s.steps <- s.held
		s.held = nil
	}
}

// known reports whether nothing more is to be learned of a gesture: the looks
// that were on their way have come, and of text what it went into is known.
func (s *session) known(g *gesture, now time.Time) bool {
	if !g.closed || g.quick {
		return false
	}
	if s.ended || now.Sub(g.end) > observeLimit {
		return true
	}
	newest := s.readings[len(s.readings)-1]
	if g.isRun() {
		return newest.at.After(g.end)
	}
	return g.before != nil || newest.at.After(g.begin)
}

// dropInterrupt takes back a ctrl+c right at the end.
func (s *session) dropInterrupt() {
	interrupts := func(a actuator.Action, end time.Time) bool {
		p, ok := a.(actuator.Press)
		return ok && slices.Equal(p.Keys, []actuator.Key{"ctrl", "c"}) && time.Since(end) < time.Second
	}
	if n := len(s.pending); n > 0 {
		if g := s.pending[n-1]; interrupts(g.action, g.end) {
			s.pending = s.pending[:n-1]
		}
		return
	}
	if s.held == nil {
		return
	}
	n := len(s.held.actions)
	if !interrupts(s.held.actions[n-1], s.held.end) {
		return
	}
	if s.held.actions = s.held.actions[:n-1]; n == 1 {
		s.held = nil
	}
}

// leave hands on all that was taken, when nothing more can be seen.
func (s *session) leave() {
	s.asm.finish()
	s.ended = true
	for s.observing {
		s.tookQuick(<-s.quick)
	}
	s.emit(time.Now())
	s.hand()
}

// finish waits for a last look, and hands on what is left.
func (s *session) finish(ctx context.Context, failed <-chan error) error {
	s.asm.finish()
	now := time.Now()
	s.watcher.poke(true)
	limit := time.NewTimer(endLimit)
	defer limit.Stop()
	for waiting := true; waiting; {
		select {
		case l := <-s.watcher.out:
			s.saw(l)
			waiting = !l.began.After(now)
		case g := <-s.quick:
			s.tookQuick(g)
		case err := <-failed:
			return err
		case <-limit.C:
			waiting = false
		}
	}
	s.leave()
	if l := s.observations[len(s.observations)-1]; s.last == nil || !l.At.Before(s.last.end) {
		s.steps <- &step{before: l}
	}
	return ctx.Err()
}
