package run_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
)

// TestWorked holds that the time in which no program worked on a run counts for nothing, and
// that the steps are as many as the highest number says, whoever told the last event.
func TestWorked(t *testing.T) {
	var w run.Worked
	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	add := func(after time.Duration, step int, data run.EventData) {
		at = at.Add(after)
		w.Add(run.Event{Time: at, Step: step, Data: data})
	}
	add(time.Hour, 0, run.RunStarted{})
	assert.Zero(t, w.Time)
	add(2*time.Minute, 4, run.Noted{})
	add(3*time.Minute, 3, run.Noted{}) // of another who acts
	add(2*time.Hour, 4, run.Resumed{})
	add(time.Minute, 4, run.RunEnded{})
	assert.Equal(t, run.Worked{Time: 6 * time.Minute, Steps: 4, At: at}, w)
}

// TestEndOfResumed holds that the last event of a run tells the time of all programs that
// worked on it, as the result does.
func TestEndOfResumed(t *testing.T) {
	journal := &runtest.Journal{}
	s := runtest.Open(t, run.Settings{}, &run.Options{NoDesktop: true, Journal: func() (run.Journal, error) { return journal, nil }})
	require.NoError(t, s.Continue(t.Context(), run.Sofar{Resumed: run.Resumed{From: 7}, Spent: llm.Spent{Time: 5 * time.Minute}}))
	result, err := s.Hand.End(t.Context(), nil, time.Minute)
	require.NoError(t, err)
	assert.Equal(t, 6*time.Minute, result.Elapsed)
	events := journal.Events()
	assert.EqualValues(t, 6*60_000, events[len(events)-1].Data.(run.RunEnded).Millis)
}
