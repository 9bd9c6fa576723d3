package run_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/run"
)

// TestBeforeItBegan holds that a recorder which has no journal says so, and breaks
// nothing.
func TestBeforeItBegan(t *testing.T) {
	ctx := t.Context()
	for _, s := range []*run.Scope{nil, {}, (&run.Recorder{}).Scope(run.Where{}), run.NewRecorder(nil, nil).Scope(run.Where{})} {
		require.ErrorIs(t, s.Emit(ctx, run.Planned{}), run.ErrJournal)
		require.ErrorIs(t, s.Call(ctx, llm.Call{Request: &llm.Request{}}), run.ErrJournal)
		require.ErrorIs(t, s.Observe(ctx, nil, ""), run.ErrJournal)
		_, err := s.End(ctx, errors.New("x"), 0)
		require.ErrorIs(t, err, run.ErrJournal)
		assert.NotPanics(t, func() {
			s.Turn()
			s.Follow()
			s.Recorder().Watch(func(run.Event) {})
		})
		_, calls, _ := s.Recorder().Totals()
		assert.Zero(t, calls)
		assert.Equal(t, s.Turns(), s.Step())
		assert.Equal(t, s.Turns(), s.Beside(run.Where{}).Step())
		h := run.NewHand(&device{}, s, previewer{})
		_, err = h.Do(ctx, run.Intent{Action: click, Frame: whole{}})
		require.ErrorIs(t, err, run.ErrJournal)
		ruling, err := h.Preview(ctx, run.Intent{Action: click, Frame: whole{}})
		require.NoError(t, err)
		assert.Equal(t, "previewed", ruling.By)
	}
	_, err := (*run.Hand)(nil).Preview(ctx, run.Intent{Action: click})
	require.NoError(t, err)
	assert.NotPanics(t, func() { (*run.Hand)(nil).Missed(ctx) })
}

// A previewer is a guard that allows everything, and says so before.
type previewer struct{ guard }

func (previewer) Preview(context.Context, run.Intent) (run.Guarded, error) {
	return run.Guarded{By: "previewed"}, nil
}

// TestScopes holds that two who act share a journal: one order of events, steps
// and conversations of their own.
func TestScopes(t *testing.T) {
	m := &run.Memory{}
	r := run.NewRecorder(m, nil)
	a, b := r.Scope(run.Where{Agent: "a", Display: ":1", PlanStep: 1}), r.Scope(run.Where{Agent: "b", Display: ":2", PlanStep: 2})
	ask := func(s *run.Scope, texts ...string) {
		req := &llm.Request{Role: llm.Actor, Purpose: "propose"}
		for _, text := range texts {
			req.Messages = append(req.Messages, llm.UserText(text))
		}
		require.NoError(t, s.Call(t.Context(), llm.Call{Request: req, Usage: llm.Usage{Input: 10}}))
	}
	a.Turn()
	ask(a, "one")
	b.Turn()
	b.Turn()
	ask(b, "one", "two")
	ask(a, "one", "three")
	events := m.Events()
	require.Len(t, events, 3)
	for i, want := range []struct {
		agent, display string
		step, plan     int
		shared         int
	}{{"a", ":1", 1, 1, 0}, {"b", ":2", 2, 2, 0}, {"a", ":1", 1, 1, 1}} {
		e := events[i]
		assert.Equal(t, i+1, e.Seq)
		assert.Equal(t, want.agent, e.Agent)
		assert.Equal(t, want.display, e.Display)
		assert.Equal(t, want.step, e.Step)
		assert.Equal(t, want.plan, e.PlanStep)
		assert.Equal(t, want.shared, e.Data.(run.ModelCalled).Shared, "of its own conversation")
	}
	usage, calls, _ := r.Totals()
	assert.Equal(t, 30, usage.Input)
	assert.Equal(t, 3, calls)
}

// TestWatcherThatCallsBack holds that a watcher may write events, which it is told
// of in turn.
func TestWatcherThatCallsBack(t *testing.T) {
	var s *run.Scope
	var told []int
	m := &run.Memory{}
	s = run.NewRecorder(m, func(e run.Event) {
		told = append(told, e.Seq)
		if e.Seq == 1 {
			assert.NoError(t, s.Emit(context.Background(), run.BatchStopped{Reason: "called back"}))
			_, calls, _ := s.Recorder().Totals()
			assert.Zero(t, calls)
		}
	}).Scope(run.Where{})
	require.NoError(t, s.Emit(t.Context(), run.Planned{}))
	require.NoError(t, s.Emit(t.Context(), run.Planned{}))
	assert.Equal(t, []int{1, 2, 3}, told)
}

// TestWatcherThatIsSlow holds that nobody waits for a watcher but who told it
// first, and that it is told everything, in order.
func TestWatcherThatIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []int
		s := run.NewRecorder(&run.Memory{}, func(e run.Event) {
			time.Sleep(time.Minute)
			told = append(told, e.Seq)
		}).Scope(run.Where{})
		var all sync.WaitGroup
		all.Go(func() { assert.NoError(t, s.Emit(t.Context(), run.Planned{})) })
		synctest.Wait()
		begin := time.Now()
		for range 5 {
			require.NoError(t, s.Emit(t.Context(), run.Planned{}))
		}
		assert.Zero(t, time.Since(begin), "the journal does not wait")
		all.Wait()
		assert.Equal(t, []int{1, 2, 3, 4, 5, 6}, told)
	})
}

// TestOrder holds that events of many goroutines are numbered without a gap, and
// watched in that order.
func TestOrder(t *testing.T) {
	m := &run.Memory{}
	var told []int
	s := run.NewRecorder(m, func(e run.Event) { told = append(told, e.Seq) }).Scope(run.Where{})
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { assert.NoError(t, s.Emit(t.Context(), run.Planned{})) })
	}
	all.Wait()
	require.Len(t, told, 50)
	for i, e := range m.Events() {
		assert.Equal(t, i+1, e.Seq)
		assert.Equal(t, i+1, told[i])
	}
}

// TestPast holds that times never go back.
func TestPast(t *testing.T) {
	m := &run.Memory{}
	s := run.NewRecorder(m, nil).Scope(run.Where{})
	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	for _, d := range []time.Duration{time.Minute, time.Second, 2 * time.Minute} {
		require.NoError(t, s.EmitAt(t.Context(), at.Add(d), run.Planned{}))
	}
	var got []time.Duration
	for _, e := range m.Events() {
		got = append(got, e.Time.Sub(at))
	}
	assert.Equal(t, []time.Duration{time.Minute, time.Minute, 2 * time.Minute}, got)
}

// TestEnd holds which outcome and which error each end of a run has.
func TestEnd(t *testing.T) {
	broken := errors.New("the endpoint says 500")
	gone := fmt.Errorf("%w: Xvfb ended", run.ErrDesktopGone)
	user := errors.New("interrupted")
	for _, tt := range []struct {
		name    string
		cause   error // why the context ended; nil if it did not
		err     error
		outcome run.Outcome
		answer  string
		wantErr error
	}{
		{"done", nil, nil, run.OutcomeDone, "", nil},
		{"a stop", nil, &run.Stop{Outcome: run.OutcomeInfeasible, Answer: "no such menu"}, run.OutcomeInfeasible, "no such menu", nil},
		{"a wrapped stop", nil, fmt.Errorf("step 3: %w", &run.Stop{Outcome: run.OutcomeBlocked}), run.OutcomeBlocked, "", nil},
		{"broken", nil, broken, run.OutcomeFailed, broken.Error(), broken},
		{"by the user", user, broken, run.OutcomeStopped, "interrupted", nil},
		{"a stop right before the user's", user, &run.Stop{Outcome: run.OutcomeDone, Answer: "saved"}, run.OutcomeDone, "saved", nil},
		{"out of budget", nil, fmt.Errorf("tokens: %w", llm.ErrBudget), run.OutcomeOutOfBudget, "tokens: " + llm.ErrBudget.Error(), nil},
		{"the desktop is gone", gone, broken, run.OutcomeFailed, gone.Error(), gone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if tt.cause != nil {
				cancel(tt.cause)
			}
			m := &run.Memory{}
			s := run.NewRecorder(m, nil).Scope(run.Where{})
			s.Turn()
			result, err := s.End(ctx, tt.err, 1500*time.Millisecond)
			assert.Equal(t, tt.wantErr, err)
			assert.Equal(t, tt.outcome, result.Outcome)
			assert.Equal(t, tt.answer, result.Answer)
			ended := m.Events()[0].Data.(run.RunEnded)
			assert.Equal(t, tt.outcome, ended.Outcome)
			assert.Equal(t, tt.answer, ended.Answer)
			assert.Equal(t, 1, ended.Steps)
			assert.EqualValues(t, 1500, ended.Millis)
			if tt.wantErr != nil {
				assert.Equal(t, tt.wantErr.Error(), ended.Error)
			}
		})
	}
}
