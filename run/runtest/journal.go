package runtest

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"desktop-agent/run"
	"desktop-agent/screen"
)

// A Journal keeps events in memory, and refuses them where a test wants it.
type Journal struct {
	run.Memory
	// Refuse, if not nil, returns the error with which an event is not written, as on
	// a full disk. Nothing more is written then.
	Refuse func(run.Event) error

	mu     sync.Mutex
	broken error
}

// ErrFull is the error of a journal whose disk is full.
var ErrFull = errors.New("the disk is full")

// Full refuses events of a kind, such as "acting".
func Full(kind string) *Journal {
	return &Journal{Refuse: func(e run.Event) error {
		if e.Kind == kind {
			return ErrFull
		}
		return nil
	}}
}

// Event keeps an event, unless it or one before was refused.
func (j *Journal) Event(ctx context.Context, e run.Event) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil && j.Refuse != nil {
		j.broken = j.Refuse(e)
	}
	if j.broken != nil {
		return j.broken
	}
	return j.Memory.Event(ctx, e)
}

// Frame keeps the ID of a frame, unless an event was refused.
func (j *Journal) Frame(ctx context.Context, o *screen.Observation) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return j.broken
	}
	return j.Memory.Frame(ctx, o)
}

// All returns the data of all events of one type, in order.
func All[T run.EventData](events []run.Event) (list []T) {
	for _, e := range events {
		if d, ok := e.Data.(T); ok {
			list = append(list, d)
		}
	}
	return list
}

// A JournalSubject is a journal that [TestJournal] tries, and what is known of it.
type JournalSubject struct {
	// New returns an empty journal.
	New func(testing.TB) run.Journal
	// Kept returns what a journal has kept, after it was closed if it can be: the
	// events, and the IDs of the frames.
	Kept func(testing.TB, run.Journal) ([]run.Event, []string)
	// NoFrames, if not "", is why the journal keeps no frames.
	NoFrames string
	// AnyOrder, if not "", is why the journal takes events in any order: then only
	// who writes them keeps them in order.
	AnyOrder string
	// Break has the next event fail. nil: nothing can fail.
	Break func(run.Journal)
}

// TestJournal holds what every [run.Journal] promises:
//
//   - Events that come in the order of their numbers are kept in that order, each as
//     it was, and frames with the ID of their observation.
//   - A frame is there before the event that tells of it: it is taken first.
//   - An event that is out of order is refused, and changes nothing.
//   - Frames and events may come from several goroutines.
//   - Once an event was not written, nothing more is; what was written before stays.
//   - A journal that can be closed may be closed twice, and takes nothing more then:
//     the error is [fs.ErrClosed].
//
// Through a [run.Recorder], the first of these errors wraps [run.ErrJournal] and stays.
func TestJournal(t testing.TB, s *JournalSubject) {
	t.Helper()
	for _, rule := range []struct {
		name string
		hold func(testing.TB, *JournalSubject) error
	}{
		{"events in order", holdKept},
		{"an event out of order", holdOrder},
		{"several goroutines", holdGoroutines},
		{"after an error", holdBroken},
		{"closed", holdClosed},
	} {
		if err := rule.hold(t, s); err != nil {
			t.Errorf("%s: %v", rule.name, err)
		}
	}
}

// sample is a short run, without the frames: one number after the other from 1.
func sample() (list []run.Event) {
	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	settings := run.Settings{Agent: run.AgentSettings{Planning: "off"}}
	for i, data := range []run.EventData{
		run.RunStarted{Schema: run.Schema, Task: "Save it", Planning: "off", Guard: "none", Settings: settings},
		run.Observed{FrameID: "f0001", At: at, Frame: image.Pt(40, 30), Screen: "1"},
		run.Proposed{FrameID: "f0001", Thought: "I wait.", Expect: "It is \"done\"\n\t<&>."},
		run.BatchStopped{Reason: "another window has the focus"},
		run.Observed{FrameID: "f0002", At: at, Frame: image.Pt(40, 30), Screen: "2"},
		run.RunEnded{Outcome: run.OutcomeDone, Answer: "saved", Steps: 1},
	} {
		list = append(list, run.Event{
			Seq: i + 1, Time: at.Add(time.Duration(i) * time.Second), Step: min(i, 1), Agent: "agent", Display: ":1",
			Kind: run.Kind(data), Data: data,
		})
	}
	return list
}

// frame is an observation of this ID, to be stored.
func frame(id string) *screen.Observation {
	picture := image.NewRGBA(image.Rect(0, 0, 40, 30))
	for i := range picture.Pix {
		picture.Pix[i] = 0xff
	}
	o := &screen.Observation{FrameID: id, Frame: picture, Bare: picture}
	o.Image = encoded(picture)
	return o
}

// write writes events, each with the frame that it tells of before it.
func write(ctx context.Context, j run.Journal, events []run.Event) error {
	for _, e := range events {
		if o, ok := e.Data.(run.Observed); ok {
			if err := j.Frame(ctx, frame(o.FrameID)); err != nil {
				return fmt.Errorf("frame %s: %w", o.FrameID, err)
			}
		}
		if err := j.Event(ctx, e); err != nil {
			return fmt.Errorf("event %d (%s): %w", e.Seq, e.Kind, err)
		}
	}
	return nil
}

// closed closes a journal that can be.
func closed(j run.Journal) error {
	if c, ok := j.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// kept closes a journal and compares what it has with the events that it was given.
func (s *JournalSubject) kept(t testing.TB, j run.Journal, want []run.Event) error {
	if err := closed(j); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	got, frames := s.Kept(t, j)
	if len(got) != len(want) {
		return fmt.Errorf("it kept %d events of %d", len(got), len(want))
	}
	var seen []string
	for i, e := range got {
		if w := want[i]; e.Seq != w.Seq || e.Step != w.Step || e.Kind != w.Kind || e.Agent != w.Agent || e.Display != w.Display ||
			!reflect.DeepEqual(e.Data, w.Data) {
			return fmt.Errorf("event %d is %+v, and was %+v", i+1, e, w)
		}
		if o, ok := e.Data.(run.Observed); ok {
			seen = append(seen, o.FrameID)
		}
	}
	if s.NoFrames == "" && !slices.Equal(frames, seen) {
		return fmt.Errorf("it kept the frames %q, and was given %q", frames, seen)
	}
	return nil
}

func holdKept(t testing.TB, s *JournalSubject) error {
	j := s.New(t)
	if err := write(t.Context(), j, sample()); err != nil {
		return err
	}
	return s.kept(t, j, sample())
}

func holdOrder(t testing.TB, s *JournalSubject) error {
	if s.AnyOrder != "" {
		return nil
	}
	j, events := s.New(t), sample()
	for i, e := range events {
		for _, seq := range []int{e.Seq - 1, e.Seq + 1, 0} {
			other := e
			if other.Seq = seq; j.Event(t.Context(), other) == nil {
				return fmt.Errorf("an event %d was taken where event %d is next", seq, e.Seq)
			}
		}
		if err := write(t.Context(), j, events[i:i+1]); err != nil {
			return fmt.Errorf("after one that is out of order: %w", err)
		}
	}
	return s.kept(t, j, events)
}

func holdGoroutines(t testing.TB, s *JournalSubject) error {
	const n = 20
	j := s.New(t)
	first := sample()[0].Data
	scope := run.NewRecorder(j, nil).Scope(run.Where{Agent: "agent", Display: ":1"})
	errs := make([]error, n)
	var all sync.WaitGroup
	if err := scope.Emit(t.Context(), first); err != nil {
		return err
	}
	for i := range errs {
		all.Go(func() {
			o := frame(fmt.Sprintf("f%04d", i))
			errs[i] = errors.Join(scope.Observe(t.Context(), o, "1"), scope.Emit(t.Context(), run.BatchStopped{Reason: o.FrameID}))
		})
	}
	all.Wait()
	if err := errors.Join(append(errs, closed(j))...); err != nil {
		return err
	}
	events, frames := s.Kept(t, j)
	if len(events) != 2*n+1 || s.NoFrames == "" && len(frames) != n {
		return fmt.Errorf("it kept %d events of %d, and %d frames of %d", len(events), 2*n+1, len(frames), n)
	}
	for i, e := range events {
		if e.Seq != i+1 {
			return fmt.Errorf("event %d is at place %d", e.Seq, i+1)
		}
	}
	return nil
}

func holdBroken(t testing.TB, s *JournalSubject) error {
	if s.Break == nil {
		return nil
	}
	j, events := s.New(t), sample()
	if err := write(t.Context(), j, events[:3]); err != nil {
		return err
	}
	s.Break(j)
	if err := j.Event(t.Context(), events[3]); err == nil {
		return errors.New("an event that cannot be written was taken")
	}
	for _, e := range []run.Event{events[3], events[4]} {
		if j.Event(t.Context(), e) == nil {
			return fmt.Errorf("event %d was taken after one that was lost", e.Seq)
		}
	}
	if s.NoFrames == "" && j.Frame(t.Context(), frame("f0009")) == nil {
		return errors.New("a frame was taken after an event that was lost")
	}
	_ = closed(j) // it may tell that it is broken
	got, _ := s.Kept(t, j)
	if len(got) != 3 {
		return fmt.Errorf("it kept %d events, and had 3 before the error", len(got))
	}

	j = s.New(t)
	scope := run.NewRecorder(j, nil).Scope(run.Where{})
	if err := scope.Emit(t.Context(), events[0].Data); err != nil {
		return err
	}
	s.Break(j)
	first, second := scope.Emit(t.Context(), events[3].Data), scope.Emit(t.Context(), events[5].Data)
	if !errors.Is(first, run.ErrJournal) || second == nil || second.Error() != first.Error() {
		return fmt.Errorf("a recorder of it says %v and then %v", first, second)
	}
	return nil
}

func holdClosed(t testing.TB, s *JournalSubject) error {
	j, events := s.New(t), sample()
	c, ok := j.(io.Closer)
	if !ok {
		return nil
	}
	if err := write(t.Context(), j, events[:3]); err != nil {
		return err
	}
	for range 2 {
		if err := c.Close(); err != nil {
			return fmt.Errorf("close: %w", err)
		}
	}
	if err := j.Event(t.Context(), events[3]); !errors.Is(err, fs.ErrClosed) {
		return fmt.Errorf("an event after it was closed: want %w, got: %v", fs.ErrClosed, err)
	}
	if err := j.Frame(t.Context(), frame("f0002")); s.NoFrames == "" && !errors.Is(err, fs.ErrClosed) {
		return fmt.Errorf("a frame after it was closed: want %w, got: %v", fs.ErrClosed, err)
	}
	return nil
}
