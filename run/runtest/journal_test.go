package runtest_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm/llmtest"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/screen"
)

// inMemory is why a journal takes events in any order.
const inMemory = "the recorder numbers them, and nobody else writes"

// TestJournals holds that journals in memory are journals.
func TestJournals(t *testing.T) {
	runtest.TestJournal(t, &runtest.JournalSubject{
		New: func(testing.TB) run.Journal { return &run.Memory{} }, AnyOrder: inMemory,
		Kept: func(_ testing.TB, j run.Journal) ([]run.Event, []string) {
			return j.(*run.Memory).Events(), j.(*run.Memory).Frames()
		},
	})
	runtest.TestJournal(t, &runtest.JournalSubject{
		New: func(testing.TB) run.Journal { return &runtest.Journal{} }, AnyOrder: inMemory,
		Kept: func(_ testing.TB, j run.Journal) ([]run.Event, []string) {
			return j.(*runtest.Journal).Events(), j.(*runtest.Journal).Frames()
		},
		Break: func(j run.Journal) { j.(*runtest.Journal).Refuse = func(run.Event) error { return runtest.ErrFull } },
	})
}

// A broken journal does one thing otherwise than it should. It is careful for the
// rest: it keeps an order, and can be closed.
type broken struct {
	run.Memory
	how    string
	mu     sync.Mutex
	fails  bool
	closes int
}

func (b *broken) Event(ctx context.Context, e run.Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.Memory.Events())
	switch {
	case b.closes > 0 && b.how != "writes after it was closed":
		return fs.ErrClosed
	case b.fails && b.how != "goes on after an error":
		return runtest.ErrFull
	case b.fails && e.Kind == "batch_stopped":
		if b.how == "goes on after an error" && n == 3 {
			b.fails = false
		}
		return runtest.ErrFull
	case e.Seq != n+1 && b.how != "takes any order":
		return errors.New("out of order")
	case b.how == "loses an event" && e.Kind == "proposed":
		return nil
	case b.how == "changes an event" && e.Kind == "proposed":
		e.Data = run.Proposed{}
	case b.how == "refuses an event" && e.Kind == "proposed":
		return runtest.ErrFull
	}
	return b.Memory.Event(ctx, e)
}

func (b *broken) Frame(ctx context.Context, o *screen.Observation) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closes > 0 && b.how != "writes frames after it was closed":
		return fs.ErrClosed
	case b.fails && b.how != "keeps frames after an error":
		return runtest.ErrFull
	case b.how == "loses a frame" && o.FrameID == "f0002":
		return nil
	}
	return b.Memory.Frame(ctx, o)
}

func (b *broken) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closes++; b.closes > 1 && b.how == "cannot be closed twice" {
		return fs.ErrClosed
	}
	return nil
}

// TestJournalFinds holds that each rule of the suite finds a journal that breaks it.
func TestJournalFinds(t *testing.T) {
	for how, want := range map[string][]string{
		"":                                   nil,
		"loses an event":                     {"events in order: "},
		"changes an event":                   {"events in order: event 3 is "},
		"refuses an event":                   {"events in order: event 3 (proposed): the disk is full"},
		"loses a frame":                      {"events in order: it kept the frames ", "several goroutines: it kept 41 events of 41, and 19 frames of 20"},
		"takes any order":                    {"an event out of order: an event 0 was taken where event 1 is next"},
		"goes on after an error":             {"after an error: event 4 was taken after one that was lost"},
		"keeps frames after an error":        {"after an error: a frame was taken"},
		"cannot be closed twice":             {"closed: close: "},
		"writes after it was closed":         {"closed: an event after it was closed"},
		"writes frames after it was closed":  {"closed: a frame after it was closed"},
		"does not mind that nothing is kept": {"events in order: it kept 0 events of 6", "several goroutines: it kept 0 events of 41"},
	} {
		t.Run(how, func(t *testing.T) {
			said := llmtest.Failures(t, func(t testing.TB) {
				runtest.TestJournal(t, &runtest.JournalSubject{
					New: func(testing.TB) run.Journal { return &broken{how: how} },
					Kept: func(_ testing.TB, j run.Journal) ([]run.Event, []string) {
						if how == "does not mind that nothing is kept" {
							return nil, nil
						}
						return j.(*broken).Events(), j.(*broken).Frames()
					},
					Break: func(j run.Journal) { j.(*broken).fails = true },
				})
			})
			for _, w := range want {
				assert.True(t, slices.ContainsFunc(said, func(s string) bool { return len(s) >= len(w) && s[:len(w)] == w }), "want %q in %q", w, said)
			}
			require.Equal(t, len(want) > 0, len(said) > 0, "%q", said)
		})
	}
}
