package run_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
)

// A guardOf rules on checks as it is told, and allows all else.
type guardOf func(run.Concern) (string, error)

func (guardOf) Name() string                                              { return "of the test" }
func (guardOf) Allow(context.Context, run.Intent) (run.Guarded, error)    { return run.Guarded{}, nil }
func (g guardOf) Accept(_ context.Context, c run.Concern) (string, error) { return g(c) }

// TestChecks holds that a check is accepted by a guard that says so, and by nothing else,
// and that the journal tells what came of it.
func TestChecks(t *testing.T) {
	c := run.Concern{Call: "call_1", Checks: []llm.Check{{ID: "sc", Code: "malicious_instructions", Message: "why"}}}
	for name, tt := range map[string]struct {
		guard  run.Guard
		exempt run.Exemption
		want   run.Checked
	}{
		"accepted":  {guard: guardOf(func(run.Concern) (string, error) { return "a person", nil }), want: run.Checked{Accepted: true, By: "a person"}},
		"denied":    {guard: guardOf(func(run.Concern) (string, error) { return "", errors.New("a person said no") }), want: run.Checked{Reason: "a person said no"}},
		"broken":    {guard: guardOf(func(run.Concern) (string, error) { panic("oops") }), want: run.Checked{Reason: "the guard broke: oops"}},
		"none":      {want: run.Checked{Reason: "there is no guard that could ask a person"}},
		"not asked": {guard: guardOf(func(run.Concern) (string, error) { return "a person", nil }), exempt: run.ExemptSetup, want: run.Checked{Reason: "there is no guard that could ask a person"}},
	} {
		var journal run.Memory
		hand := runtest.Open(t, run.Settings{}, &run.Options{
			NoDesktop: true, Guard: tt.guard, Exempt: tt.exempt, Journal: func() (run.Journal, error) { return &journal, nil },
		}).Hand
		refusal, err := hand.Accept(t.Context(), c)
		require.NoError(t, err, name)
		tt.want.Call, tt.want.Checks = c.Call, c.Checks
		events := journal.Events()
		require.Equal(t, run.EventData(tt.want), events[len(events)-1].Data, name)
		require.Equal(t, tt.want.Accepted, refusal == "", name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	hand := run.NewHand(nil, run.NewRecorder(&run.Memory{}, nil).Scope(run.Where{}), nil)
	_, err := hand.Accept(ctx, c)
	require.ErrorIs(t, err, context.Canceled)
}

// An accepter is a starter that is asked about checks, too.
type accepter struct {
	*starter
	accept func()
}

func (a *accepter) Accept(context.Context, run.Concern) (string, error) {
	a.accept()
	return "a person", nil
}

// TestGuardThatBreaksOnAConcern holds that a guard accepts nothing which breaks when it is
// asked, and is not asked which broke when it was told the task.
func TestGuardThatBreaksOnAConcern(t *testing.T) {
	c := run.Concern{Call: "call_1", Checks: []llm.Check{{ID: "sc"}}}
	for _, tt := range breaks {
		for _, atStart := range []bool{false, true} {
			name := tt.name + " when it is asked"
			if atStart {
				name = tt.name + " at the start"
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var asked atomic.Int32
					g := &accepter{starter: newStarter()}
					g.accept = func() { asked.Add(1); tt.how() }
					if atStart {
						g.start, g.accept = tt.how, func() { asked.Add(1) }
					}
					h, m := newHand(&device{}, g)
					h.Begin(t.Context(), "x")
					began := time.Now()
					refusal, err := h.Accept(t.Context(), c)
					require.NoError(t, err)
					assert.LessOrEqual(t, time.Since(began), run.DefaultGuardLimit)
					assert.Equal(t, "the provider of the model raised a safety check that was not accepted: "+tt.told, refusal)
					assert.Equal(t, atStart, asked.Load() == 0)
					events := m.Events()
					require.Len(t, events, 1)
					assert.Equal(t, run.Checked{Call: c.Call, Checks: c.Checks, Reason: tt.told}, events[0].Data)
					time.Sleep(time.Hour) // what hangs ends
				})
			})
		}
	}
}
