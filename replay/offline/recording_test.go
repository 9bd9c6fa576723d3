package offline

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
)

// changes is the step from which the recorded screen is another one.
const changes = 30

var move = actuator.Move{At: actuator.Point{X: 5, Y: 5}}

// onDisk returns a run in which each step moves the pointer, and the screen changes once. In
// its first step a model is called.
func onDisk(t testing.TB) *replay.Run {
	ctx := t.Context()
	j, err := replay.Create(t.TempDir())
	require.NoError(t, err)
	scope, d := run.NewRecorder(j, nil).Scope(run.Where{Agent: "agent"}), &runtest.Desktop{}
	put := func(data run.EventData) { require.NoError(t, scope.Emit(ctx, data)) }
	see := func() {
		seen, err := d.Observe(ctx)
		require.NoError(t, err)
		require.NoError(t, scope.Observe(ctx, seen, d.ScreenName(seen)))
	}
	put(run.RunStarted{Schema: run.Schema, Task: "Look", Planning: "off", Guard: "none"})
	see()
	for step := range changes + 10 {
		scope.Turn()
		for range map[bool]int{true: 8}[step == 0] {
			put(run.ModelCalled{
				Role: llm.WorldModel, Purpose: "assess", Usage: usage,
				Response: &llm.Response{Text: "all well", Usage: usage, Calls: []llm.ToolCall{{ID: "1", Name: "note", Arguments: "{}"}}},
			})
		}
		put(run.Acting{Action: run.Recorded{Action: move}})
		put(run.Acted{Status: actuator.Delivered})
		if step+1 == changes {
			d.Tick = 7
		}
		see()
	}
	put(run.RunEnded{Outcome: run.OutcomeDone})
	require.NoError(t, j.Close())
	stored, err := replay.Open(j.Dir())
	require.NoError(t, err)
	return stored
}

// recorded returns the replay of that run.
func recorded(t testing.TB, o *Options) *recording {
	played := newRecording(onDisk(t), o)
	played.open()
	t.Cleanup(played.close)
	_, played.cancel = context.WithCancelCause(t.Context())
	return played
}

// earlier returns that run as one that goes on begins with it, at a step.
func earlier(t testing.TB, step func() int) *past {
	rec := newRecording(onDisk(t), &Options{})
	rec.resume, rec.want = true, whatIsThere
	rec.open()
	t.Cleanup(rec.close)
	return &past{recording: rec, story: &story{}, step: step, changed: func(run.Limits) {}}
}

// TestPastIsDesktop holds that what a run begins with that goes on is a desktop.
func TestPastIsDesktop(t *testing.T) {
	step := 0
	p := earlier(t, func() int { return step })
	runtest.TestDesktop(t, &runtest.DesktopSubject{
		Desktop: p, Device: p, Action: move,
		Recorded: "what is done again is looked up in the journal",
		Next:     func() { step++ },
		Change:   func(testing.TB) { step = changes },
	})
	require.Less(t, step, changes+5)
	require.NoError(t, p.broken)
}

// TestPastIsModel holds that the replies with which such a run begins are a model.
func TestPastIsModel(t *testing.T) {
	llmtest.TestModel(t, &llmtest.Subject{
		New: func(t testing.TB) llm.Model { return earlier(t, func() int { return 1 }) }, Calls: 8, Counted: true,
		Request: assessing,
		Fail: map[string]llmtest.Failure{"nothing more was asked": {
			New: func(t testing.TB) llm.Model {
				p := earlier(t, func() int { return changes + 10 }) // where the record ends
				for range 8 {
					_, err := p.Complete(t.Context(), assessing())
					require.NoError(t, err)
				}
				return p
			},
			Want: run.ErrCut, Other: "the loop looks anew",
		}},
	})
}

var usage = llm.Usage{Input: 100, Cached: 40, Output: 10}

// TestRecordingIsDesktop holds that a recorded desktop is a desktop, with its pixels and
// without.
func TestRecordingIsDesktop(t *testing.T) {
	for _, pixels := range []bool{true, false} {
		played, step := recorded(t, &Options{Pixels: pixels}), 0
		s := &runtest.DesktopSubject{
			Desktop: played, Device: played, Action: move,
			Recorded: "a replay reads no image that nobody looks at, and tells what the journal has",
			Next: func() {
				step++
				require.NoError(t, played.Event(t.Context(), run.Event{Step: step, Kind: "observed", Data: run.Observed{}}))
			},
			Change: func(testing.TB) { step = changes },
		}
		if !pixels {
			s.NoPixels = "the journal is believed"
		}
		runtest.TestDesktop(t, s)
		require.Less(t, step, changes+5)
		require.Empty(t, played.broken)
	}
}

// TestRecordingIsModel holds that recorded replies are a model.
func TestRecordingIsModel(t *testing.T) {
	llmtest.TestModel(t, &llmtest.Subject{
		New: func(t testing.TB) llm.Model { return recorded(t, &Options{}) }, Calls: 8, Counted: true,
		Request: assessing,
	})
}

// assessing is a request as the model of the recorded run got it.
func assessing() *llm.Request {
	return &llm.Request{Role: llm.WorldModel, Purpose: "assess", Messages: []llm.Message{llm.UserText("what now?")}}
}

// TestRecordingIsJournal holds that a replay which is written anew is a journal.
func TestRecordingIsJournal(t *testing.T) {
	inner := func(j run.Journal) *runtest.Journal { return j.(*recording).opt.Journal.(*runtest.Journal) }
	runtest.TestJournal(t, &runtest.JournalSubject{
		New:      func(t testing.TB) run.Journal { return recorded(t, &Options{Journal: &runtest.Journal{}}) },
		AnyOrder: "the recorder numbers events, and the journal behind the recording sees to it",
		Kept: func(_ testing.TB, j run.Journal) ([]run.Event, []string) {
			return inner(j).Events(), inner(j).Frames()
		},
		Break: func(j run.Journal) { inner(j).Refuse = func(run.Event) error { return errors.New("full") } },
	})
}
